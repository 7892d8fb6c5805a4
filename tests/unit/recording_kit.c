/* recording_kit.c - makes small recordings in a folder of their own, for tests of the reader. */
#include "recording_kit.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* cmocka wants the four above it. */
#include <cmocka.h>

#define FIRST_TICK 1000

struct kit kit;

void kit_init(struct kit *kit, uint64_t seed)
{
    const char *base = getenv("TMPDIR");
    int fd;

    memset(kit, 0, sizeof *kit);
    kit->random = seed * 2654435761u + 88172645463325252u;
    snprintf(kit->folder, sizeof kit->folder, "%s/venturi-kit-XXXXXX",
             base && strlen(base) < 32 ? base : "/tmp");
    assert_non_null(mkdtemp(kit->folder));
    snprintf(kit->path, sizeof kit->path, "%s/test.vt", kit->folder);
    fd = open(kit->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(vti_writer_create(&kit->writer, fd, kit->path), 0);
}

void kit_fini(struct kit *kit)
{
    if (kit->writer)
        vti_writer_abandon(kit->writer);
    for (uint32_t i = 0; i < KIT_TRACKS; i++)
        vti_encoder_free(kit->encoders[i]);
    free(kit->spans);
    unlink(kit->path);
    rmdir(kit->folder);
}

int kit_set_up(void **state)
{
    (void)state;
    kit_init(&kit, 1);
    return 0;
}

int kit_tear_down(void **state)
{
    (void)state;
    kit_fini(&kit);
    return 0;
}

void kit_fact(struct kit *kit, enum vti_kind kind, const struct vti_buf *payload, uint32_t count)
{
    assert_false(payload->failed);
    assert_int_equal(vti_writer_facts(kit->writer, kind, payload, count, 0, 0), 0);
}

void kit_clock(struct kit *kit, uint32_t ticks_per_ns)
{
    struct vti_anchor anchors[2] = {
        {FIRST_TICK, 7000000, 1700000000000000000, 10},
        {FIRST_TICK + (uint64_t)1000000 * ticks_per_ns, 8000000, 1700000000001000000, 10}};
    struct vti_clock_fact fact = {.type = VTI_CLOCK_TSC, .anchor_count = 2, .anchors = anchors};
    struct vti_buf payload = {0};

    vti_clock_write(&payload, &fact);
    kit_fact(kit, VTI_CLOCK, &payload, 1);
    vti_buf_fini(&payload);
}

void kit_process(struct kit *kit, const struct vti_process_fact *fact)
{
    struct vti_buf payload = {0};

    vti_process_write(&payload, fact);
    kit_fact(kit, VTI_PROCESS, &payload, 1);
    vti_buf_fini(&payload);
}

static void write_track(struct kit *kit, const struct vti_track_fact *fact)
{
    struct vti_buf payload = {0};

    vti_track_write(&payload, fact);
    kit_fact(kit, VTI_TRACK, &payload, 1);
    vti_buf_fini(&payload);
}

void kit_track(struct kit *kit, uint32_t track, uint32_t process, const char *name)
{
    if (track < KIT_TRACKS)
        kit->processes[track] = process + 1;
    write_track(kit, &(struct vti_track_fact){.track = track,
                                              .process = process,
                                              .tid = 100 + track,
                                              .name = vti_bytes_of(name)});
}

void kit_track_end(struct kit *kit, uint32_t track, uint64_t ticks)
{
    assert_true(track < KIT_TRACKS && kit->processes[track]);
    write_track(kit, &(struct vti_track_fact){.track = track,
                                              .process = kit->processes[track] - 1,
                                              .tid = 100 + track,
                                              .end = ticks,
                                              .name = vti_bytes_of("ended")});
}

void kit_site(struct kit *kit, uint32_t site, const char *name)
{
    struct vti_site_fact fact = {
        .site = site, .name = vti_bytes_of(name), .file = vti_bytes_of("test.c"), .line = site};
    struct vti_buf payload = {0};

    vti_site_write(&payload, &fact);
    kit_fact(kit, VTI_SITES, &payload, 1);
    vti_buf_fini(&payload);
}

struct vti_encoder *kit_encoder(struct kit *kit, uint32_t track)
{
    assert_true(track < KIT_TRACKS);
    if (!kit->encoders[track])
        assert_int_equal(vti_encoder_create(&kit->encoders[track], track), 0);
    return kit->encoders[track];
}

void kit_begin(struct kit *kit, uint32_t track, uint64_t ticks, uint32_t site)
{
    vti_encoder_begin(kit_encoder(kit, track), ticks, site);
}

void kit_end(struct kit *kit, uint32_t track, uint64_t ticks)
{
    vti_encoder_end(kit_encoder(kit, track), ticks);
}

void kit_add(struct kit *kit, uint32_t track, const struct vti_event *event)
{
    vti_encoder_add(kit_encoder(kit, track), event);
}

void kit_cut(struct kit *kit, uint32_t track)
{
    assert_true(vti_writer_events(kit->writer, kit_encoder(kit, track)) >= 0);
}

void kit_cut_all(struct kit *kit)
{
    for (uint32_t i = 0; i < KIT_TRACKS; i++)
        if (kit->encoders[i])
            kit_cut(kit, i);
}

void kit_flush(struct kit *kit)
{
    assert_int_equal(vti_writer_flush(kit->writer), 0);
}

void kit_close(struct kit *kit)
{
    struct vti_writer_stats stats;
    struct vti_writer *writer = kit->writer;

    kit_cut_all(kit);
    kit->writer = NULL;
    assert_int_equal(vti_writer_close(writer, &stats), 0);
}

void kit_abandon(struct kit *kit)
{
    kit_cut_all(kit);
    kit_flush(kit);
    vti_writer_abandon(kit->writer);
    kit->writer = NULL;
}

uint64_t kit_number(struct kit *kit, uint64_t below)
{
    kit->random ^= kit->random << 13;
    kit->random ^= kit->random >> 7;
    kit->random ^= kit->random << 17;
    return (kit->random >> 11) % below;
}

static size_t note_span(struct kit *kit, struct kit_span span)
{
    if (kit->span_count == kit->span_capacity) {
        kit->span_capacity = kit->span_capacity ? kit->span_capacity * 2 : 1024;
        kit->spans = realloc(kit->spans, kit->span_capacity * sizeof *kit->spans);
        assert_non_null(kit->spans);
    }
    kit->spans[kit->span_count] = span;
    return kit->span_count++;
}

static void random_track(struct kit *kit, uint32_t track, size_t left, uint32_t most_depth,
                         uint32_t names, uint32_t block_events, uint32_t gap, bool leaves_open)
{
    struct vti_encoder *encoder = kit_encoder(kit, track);
    size_t *stack = calloc(most_depth, sizeof *stack); /* indices of open spans */
    uint64_t ticks = FIRST_TICK + kit_number(kit, gap + 1);
    uint64_t pause = 0;
    uint32_t depth = 0;

    assert_non_null(stack);
    while (left || (depth && !leaves_open)) {
        bool begins = left && depth < most_depth && (depth == 0 || kit_number(kit, 2));

        ticks += kit_number(kit, gap) + pause;
        pause = kit_number(kit, 1000) ? 0 : (uint64_t)gap * 1000;
        if (begins) {
            uint32_t site = 1 + (uint32_t)kit_number(kit, names);

            vti_encoder_begin(encoder, ticks, site);
            stack[depth] = note_span(
                kit,
                (struct kit_span){.track = track, .site = site, .depth = depth, .begin = ticks});
            for (uint32_t i = 0; i < depth; i++)
                kit->spans[stack[i]].inside++;
            depth++;
            left--;
        } else {
            struct kit_span *span = &kit->spans[stack[--depth]];

            vti_encoder_end(encoder, ticks);
            span->end = ticks;
            span->is_finished = true;
            if (depth) {
                kit->spans[stack[depth - 1]].children += span->end - span->begin;
                kit->spans[stack[depth - 1]].direct++;
            }
        }
        if (vti_encoder_pending(encoder) >= block_events / 2 + kit_number(kit, block_events))
            kit_cut(kit, track);
    }
    while (depth) {
        struct kit_span *span = &kit->spans[stack[--depth]];

        span->end = ticks;
        if (depth) {
            kit->spans[stack[depth - 1]].children += span->end - span->begin;
            kit->spans[stack[depth - 1]].direct++;
        }
    }
    kit->ticks = ticks > kit->ticks ? ticks : kit->ticks;
    /* What is left open lasts as long as the thread. */
    if (kit->processes[track])
        kit_track_end(kit, track, ticks);
    free(stack);
}

void kit_random(struct kit *kit, uint32_t tracks, size_t spans, uint32_t depth, uint32_t names,
                uint32_t block_events, uint32_t gap, bool leaves_open)
{
    for (uint32_t i = 0; i < tracks; i++)
        random_track(kit, i, spans, depth, names, block_events, gap, leaves_open);
}

void kit_make_random(struct kit *kit, bool closes)
{
    kit_clock(kit, 1);
    kit_process(kit, &(struct vti_process_fact){.pid = 1});
    kit_track(kit, 0, 0, "a");
    kit_track(kit, 1, 0, "b");
    kit_random(kit, 2, 400, 6, 9, 20, 50, true);
    if (closes)
        kit_close(kit);
    else
        kit_abandon(kit);
}

uint8_t *kit_read(const struct kit *kit, size_t *size)
{
    FILE *file = fopen(kit->path, "rb");
    uint8_t *bytes;
    long end;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    end = ftell(file);
    assert_true(end >= 0);
    rewind(file);
    bytes = malloc((size_t)end + 1);
    assert_non_null(bytes);
    *size = fread(bytes, 1, (size_t)end, file);
    assert_int_equal(*size, end);
    fclose(file);
    return bytes;
}

void kit_write(const struct kit *kit, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(kit->path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

vt_recording *kit_open(const struct kit *kit)
{
    vt_recording *recording;

    if (vt_recording_open(&recording, kit->path))
        fail_msg("%s", vt_read_error());
    return recording;
}

const char *kit_site_name(const vt_recording *recording, uint32_t site)
{
    struct vt_site_info info;

    assert_true(vt_recording_site_by_id(recording, site, &info));
    return info.name;
}

int kit_collect(const struct vt_span *span, void *arg)
{
    struct kit_list *list = arg;
    struct vt_attr *attrs = NULL;

    list->spans = realloc(list->spans, (list->count + 1) * sizeof *list->spans);
    assert_non_null(list->spans);
    if (span->attr_count) {
        /* They live only during the call. */
        attrs = malloc(span->attr_count * sizeof *attrs);
        assert_non_null(attrs);
        memcpy(attrs, span->attrs, span->attr_count * sizeof *attrs);
    }
    list->spans[list->count] = *span;
    list->spans[list->count++].attrs = attrs;
    return list->stop_after && list->count == list->stop_after ? 77 : 0;
}

struct kit_list kit_list_spans(vt_recording *recording, const struct vt_filter *filter)
{
    struct kit_list list = {0};

    assert_int_equal(vt_recording_spans(recording, filter, kit_collect, &list), 0);
    return list;
}

void kit_list_free(struct kit_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((void *)list->spans[i].attrs);
    free(list->spans);
}

void kit_check(const struct kit *kit, vt_recording *recording, const struct vt_filter *filter)
{
    struct kit_list list = kit_list_spans(recording, filter);
    size_t found = 0;

    /* Both in order of begin within a track. */
    for (size_t i = 0; i < kit->span_count; i++) {
        const struct kit_span *want = &kit->spans[i];
        int64_t begin = (int64_t)want->begin - 1000;
        int64_t end = (int64_t)want->end - 1000;
        const struct vt_span *span = NULL;

        if (filter &&
            (begin >= filter->to_ns || (end <= filter->from_ns && begin < filter->from_ns) ||
             (filter->track != VT_NONE && filter->track != want->track)))
            continue;
        for (size_t k = 0; k < list.count && !span; k++)
            if (list.spans[k].track == want->track && list.spans[k].depth == want->depth &&
                list.spans[k].begin_ns == begin && list.spans[k].site == want->site &&
                list.spans[k].end_ns == end && list.spans[k].inside == want->inside)
                span = &list.spans[k];
        assert_non_null(span);
        assert_int_equal(span->self_ns, (end - begin) - (int64_t)want->children);
        assert_int_equal(span->is_finished, want->is_finished);
        found++;
    }
    assert_int_equal(found, list.count);
    kit_list_free(&list);
}
