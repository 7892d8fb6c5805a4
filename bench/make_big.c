/*
 * make_big.c - writes a synthetic recording quickly: make_big OUT SPANS TRACKS DEPTH [open]
 *
 * Nested spans of 200 names on TRACKS threads of one process, log-normal gaps between events. With
 * "open" the recording is left without its end, as after a crash. Same arguments, same events.
 */
#include "base/error.h"
#include "format/write.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES 200
#define GAPS 65536
#define FLUSH_BYTES (4u << 20)
#define TICKS_PER_NS 3

struct maker {
    uint64_t random;
    uint32_t gaps[GAPS];
};

struct track {
    struct vti_encoder *encoder;
    uint64_t ticks;
    uint64_t left; /* spans still to begin */
    uint32_t depth;
    uint32_t site;
};

static uint64_t next_random(struct maker *maker)
{
    maker->random ^= maker->random << 13;
    maker->random ^= maker->random >> 7;
    maker->random ^= maker->random << 17;
    return maker->random;
}

/* Median 60 ns, one in a hundred above 600 ns. */
static void fill_gaps(struct maker *maker)
{
    for (int i = 0; i < GAPS; i++) {
        double u = ((double)(next_random(maker) >> 11) + 1) / 9007199254740993.0;
        double v = (double)(next_random(maker) >> 11) / 9007199254740992.0;
        double normal = sqrt(-2 * log(u)) * cos(2 * M_PI * v);

        maker->gaps[i] = (uint32_t)(exp(log(60) + normal) * TICKS_PER_NS) + 1;
    }
}

static void write_facts(struct vti_writer *writer, uint32_t tracks)
{
    struct vti_anchor anchors[2] = {{1000000000, 5000000000, 1700000000000000000, 50},
                                    {1000000000 + (uint64_t)3600 * 1000000000 * TICKS_PER_NS,
                                     5000000000 + (uint64_t)3600 * 1000000000,
                                     1700000000000000000 + (uint64_t)3600 * 1000000000, 50}};
    struct vti_clock_fact clock = {.type = VTI_CLOCK_TSC, .anchor_count = 2, .anchors = anchors};
    struct vti_host_fact host = {.name = vti_bytes_of("bench"), .cpu_count = 1};
    struct vti_process_fact process = {.pid = 1,
                                       .start = 1000000000,
                                       .name = vti_bytes_of("make_big"),
                                       .pair_millis = 66000,
                                       .inner_millis = 30000};
    struct vti_buf payload = {0};
    char name[32];

    vti_host_write(&payload, &host);
    vti_writer_facts(writer, VTI_HOST, &payload, 1, 0, 0);
    vti_buf_clear(&payload);
    vti_clock_write(&payload, &clock);
    vti_writer_facts(writer, VTI_CLOCK, &payload, 1, 0, 0);
    vti_buf_clear(&payload);
    vti_process_write(&payload, &process);
    vti_writer_facts(writer, VTI_PROCESS, &payload, 1, 0, 0);
    vti_buf_clear(&payload);
    for (uint32_t i = 0; i < tracks; i++) {
        snprintf(name, sizeof name, "worker %u", i);
        vti_track_write(&payload, &(struct vti_track_fact){
                                      .track = i, .tid = 100 + i, .name = vti_bytes_of(name)});
    }
    vti_writer_facts(writer, VTI_TRACK, &payload, tracks, 0, 0);
    vti_buf_clear(&payload);
    for (uint32_t i = 1; i <= NAMES; i++) {
        snprintf(name, sizeof name, "function_%u", i);
        vti_site_write(&payload, &(struct vti_site_fact){.site = i, .name = vti_bytes_of(name)});
    }
    vti_writer_facts(writer, VTI_SITES, &payload, NAMES, 0, 0);
    vti_buf_fini(&payload);
}

/* Mostly the callee that follows from the caller, as in real programs. */
static uint32_t next_site(uint32_t site, uint64_t random)
{
    return random % 8 ? (site * 7 + 3) % NAMES + 1 : (uint32_t)(random >> 8) % NAMES + 1;
}

static void add_block(struct maker *maker, struct track *track, uint32_t most_depth)
{
    while (vti_encoder_pending(track->encoder) < VTI_BLOCK_EVENTS &&
           (track->left || track->depth)) {
        uint64_t random = next_random(maker);
        bool begins = track->left && track->depth < most_depth &&
                      (track->depth == 0 || (random >> 60) % 2 == 0);

        track->ticks += maker->gaps[random % GAPS];
        if (begins) {
            track->site = next_site(track->site, random >> 16);
            vti_encoder_begin(track->encoder, track->ticks, track->site);
            track->depth++;
            track->left--;
        } else {
            vti_encoder_end(track->encoder, track->ticks);
            track->depth--;
        }
    }
}

static int write_all(struct maker *maker, struct vti_writer *writer, struct track *tracks,
                     uint32_t count, uint32_t depth)
{
    bool has_more = true;

    while (has_more) {
        has_more = false;
        for (uint32_t i = 0; i < count; i++) {
            add_block(maker, &tracks[i], depth);
            if (vti_writer_events(writer, tracks[i].encoder) < 0)
                return VTI_E_NOMEM;
            has_more |= tracks[i].left || tracks[i].depth;
        }
        if (vti_writer_buffered(writer) > FLUSH_BYTES && vti_writer_flush(writer))
            return VTI_E_WRITE;
    }
    return vti_writer_flush(writer);
}

static uint64_t number(const char *text, uint64_t most)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    return errno || *end || value > most ? 0 : value;
}

int main(int argc, char **argv)
{
    uint64_t spans = argc > 4 ? number(argv[2], UINT64_MAX / 2) : 0;
    uint32_t count = argc > 4 ? (uint32_t)number(argv[3], 4096) : 0;
    uint32_t depth = argc > 4 ? (uint32_t)number(argv[4], 4096) : 0;
    struct maker maker = {.random = 88172645463325252u};
    struct vti_writer_stats stats;
    struct vti_writer *writer;
    struct track *tracks;
    int result = 0;
    int fd;

    if (!spans || !count || !depth) {
        fprintf(stderr, "usage: make_big OUT SPANS TRACKS DEPTH [open]\n");
        return 2;
    }
    fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    tracks = calloc(count, sizeof *tracks);
    if (fd < 0 || !tracks || vti_writer_create(&writer, fd, argv[1])) {
        fprintf(stderr, "make_big: %s: cannot create\n", argv[1]);
        free(tracks);
        return 2;
    }
    fill_gaps(&maker);
    write_facts(writer, count);
    for (uint32_t i = 0; i < count && !result; i++) {
        tracks[i] = (struct track){.ticks = 1000000000, .left = spans / count};
        result = vti_encoder_create(&tracks[i].encoder, i);
    }
    if (!result)
        result = write_all(&maker, writer, tracks, count, depth);
    vti_writer_stats(writer, &stats);
    if (argc > 5 && !strcmp(argv[5], "open"))
        vti_writer_abandon(writer);
    else if (vti_writer_close(writer, &stats))
        result = VTI_E_WRITE;
    for (uint32_t i = 0; i < count; i++)
        vti_encoder_free(tracks[i].encoder);
    free(tracks);
    printf("{\"name\": \"make_big bytes per event\", \"value\": %.3f, \"unit\": \"bytes\"}\n",
           (double)stats.bytes / (double)stats.events);
    return result ? 1 : 0;
}
