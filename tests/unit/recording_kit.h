/*
 * recording_kit.h - makes small recordings in a folder of their own, for tests of the reader. What
 * goes wrong here fails the test.
 */
#ifndef VENTURI_TESTS_RECORDING_KIT_H
#define VENTURI_TESTS_RECORDING_KIT_H

#include "format/write.h"
#include "venturi/read.h"

#include <stddef.h>
#include <stdint.h>

#define KIT_TRACKS 8

/* A span as it was written, for comparing. */
struct kit_span {
    uint32_t track, site, depth;
    uint64_t begin, end; /* ticks */
    uint64_t children;   /* ticks of the spans directly inside */
    uint64_t inside, direct;
    bool is_finished;
};

struct kit {
    char folder[64];
    char path[96];
    struct vti_writer *writer;
    struct vti_encoder *encoders[KIT_TRACKS];
    uint32_t processes[KIT_TRACKS]; /* of each track, plus one; 0: not defined */
    uint64_t random;
    uint64_t ticks; /* of the last event that kit_random() wrote, over all tracks */
    struct kit_span *spans;
    size_t span_count;
    size_t span_capacity;
};

/* A new folder and an empty recording in it. */
void kit_init(struct kit *kit, uint64_t seed);
void kit_fini(struct kit *kit); /* removes the folder */

/* One for all tests of a program, and what cmocka is to call before and after each of them. */
extern struct kit kit;
int kit_set_up(void **state);
int kit_tear_down(void **state);

/* The facts below are one block each. Domain 0 of host 0 has `ticks_per_ns` and starts at tick
 * 1,000. */
void kit_clock(struct kit *kit, uint32_t ticks_per_ns);
void kit_process(struct kit *kit, const struct vti_process_fact *fact);
void kit_track(struct kit *kit, uint32_t track, uint32_t process, const char *name);
void kit_track_end(struct kit *kit, uint32_t track, uint64_t ticks); /* after kit_track() */
void kit_site(struct kit *kit, uint32_t site, const char *name);
void kit_fact(struct kit *kit, enum vti_kind kind, const struct vti_buf *payload, uint32_t count);

struct vti_encoder *kit_encoder(struct kit *kit, uint32_t track);
void kit_begin(struct kit *kit, uint32_t track, uint64_t ticks, uint32_t site);
void kit_end(struct kit *kit, uint32_t track, uint64_t ticks);
void kit_add(struct kit *kit, uint32_t track, const struct vti_event *event);
void kit_cut(struct kit *kit, uint32_t track); /* a block of what the track has */
void kit_cut_all(struct kit *kit);

void kit_flush(struct kit *kit);
void kit_close(struct kit *kit);   /* cuts, indexes, END */
void kit_abandon(struct kit *kit); /* cuts, flushes, leaves it without an end */

/* Nested spans of `names` sites on some tracks, in blocks of about `block_events`; noted in
 * kit->spans. Gaps are up to `gap` ticks, now and then a thousand times that. Some are left open
 * if `leaves_open`. */
void kit_random(struct kit *kit, uint32_t tracks, size_t spans, uint32_t depth, uint32_t names,
                uint32_t block_events, uint32_t gap, bool leaves_open);

/* A process with two tracks of such spans, in small blocks. */
void kit_make_random(struct kit *kit, bool closes);

uint64_t kit_number(struct kit *kit, uint64_t below);

/* The file's bytes (to be freed), and a file with other bytes in its place. */
uint8_t *kit_read(const struct kit *kit, size_t *size);
void kit_write(const struct kit *kit, const uint8_t *bytes, size_t size);

vt_recording *kit_open(const struct kit *kit);
const char *kit_site_name(const vt_recording *recording, uint32_t site);

/* All spans, with copies of their attributes. */
struct kit_list {
    struct vt_span *spans;
    size_t count;
    size_t stop_after; /* 0: never */
};

/* For vt_recording_spans(); returns 77 after `stop_after` spans. */
int kit_collect(const struct vt_span *span, void *list);
struct kit_list kit_list_spans(vt_recording *recording, const struct vt_filter *filter);
void kit_list_free(struct kit_list *list);

/* Whether the list holds just the spans of kit_random() that the filter wants; a tick is a
 * nanosecond. */
void kit_check(const struct kit *kit, vt_recording *recording, const struct vt_filter *filter);

#endif
