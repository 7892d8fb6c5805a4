/*
 * source.c - one recording that is followed: opened, taken in as it grows, summed up a block at a time.
 *
 * Reading goes on where it stopped, block by block, so that a refresh costs what is new and can be given up after any block. A
 * recording that nobody writes any more and that is summed up is kept open only as long as there are few.
 */
#include "base/crc32c.h"
#include "base/error.h"
#include "base/written.h"
#include "live/state.h"
#include "live/tick.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RUN_CHARS 13 /* a dash and 48 bits */
#define END_FIXED_BYTES 32
#define LOOK_NS 1000000000 /* between two looks for who writes */
#define AGE_MOST_S 3600LL

int64_t vti_source_unix(const struct vti_source *source, int64_t ns)
{
    int64_t start = source->recording->facts.clocks.start_realtime_ns;
    int64_t sum;

    return __builtin_add_overflow(start, ns, &sum) ? start : sum;
}

int64_t vti_source_ns(const struct vti_source *source, uint32_t domain, uint64_t ticks)
{
    struct vti_clocks *clocks = &source->recording->facts.clocks;
    int64_t at = vti_ids_find(&clocks->ids, domain);

    return vti_clock_ns(&clocks->clocks[at < 0 ? 0 : at], ticks);
}

/* How long ago it was written to; one that was left behind long ago does not grow. */
static int64_t age_ns(const struct stat *about)
{
    struct timespec now;
    int64_t seconds;

    clock_gettime(CLOCK_REALTIME, &now);
    seconds = (int64_t)now.tv_sec - (int64_t)about->st_mtim.tv_sec;
    return seconds < 0 ? 0 : seconds < AGE_MOST_S ? seconds * 1000000000 : AGE_MOST_S * 1000000000;
}

int vti_source_open(struct vti_source **result, struct vti_live *live, const char *path)
{
    struct vti_source *source = calloc(1, sizeof *source);
    struct stat about = {0};
    int code = source ? 0 : vti_fail(VTI_E_NOMEM, "%s: out of memory", path);

    *result = NULL;
    if (code)
        return code;
    source->live = live;
    source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    source->path = strdup(path);
    code = source->path ? vt_recording_open(&source->recording, path)
                        : vti_fail(VTI_E_NOMEM, "%s: out of memory", path);
    if (!code && !stat(path, &about))
        source->file_bytes = (uint64_t)about.st_size;
    if (code) {
        vti_source_close(source);
        return code;
    }
    memcpy(source->head, source->recording->map.data, sizeof source->head);
    source->about = about;
    source->number = live->source_number++;
    source->is_growing = !source->recording->is_closed;
    source->grown_ns = live->now_ns - age_ns(&about);
    vti_step_log_init(&source->steps, source->recording, NULL);
    source->has_steps = true;
    *result = source;
    return 0;
}

static void free_sums(struct vti_source *source)
{
    vti_source_tracks_fini(source);
    vti_asyncs_fini(&source->asyncs);
    vti_ids_fini(&source->async_sites);
    free(source->async_groups);
    source->async_groups = NULL;
    if (source->has_steps)
        vti_step_log_fini(&source->steps);
    source->has_steps = false;
    vti_task_codec_fini(&source->codec);
}

void vti_source_close(struct vti_source *source)
{
    if (!source)
        return;
    free_sums(source);
    if (source->fd >= 0)
        close(source->fd);
    free(source->watched);
    free(source->meters);
    free(source->points);
    vti_map_free(source->watched_map);
    free(source->watched_at);
    vt_recording_close(source->recording);
    free(source->path);
    free(source);
}

void vti_source_rest(struct vti_source *source)
{
    free_sums(source);
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
    vt_recording_close(source->recording);
    source->recording = NULL;
}

/* Names of a spool's files have the run before their number: TIME-RUN-NUMBER.vt */
bool vti_source_is_same_run(const struct vti_source *a, const struct vti_source *b)
{
    const char *left = strrchr(a->path, '/');
    const char *right = strrchr(b->path, '/');
    const char *left_run = left ? strchr(left, '-') : NULL;
    const char *right_run = right ? strchr(right, '-') : NULL;

    return a != b && left_run && right_run && strlen(left_run) > RUN_CHARS &&
           left_run[RUN_CHARS] == '-' && !strncmp(left_run, right_run, RUN_CHARS + 1);
}

/* ---- growing ----------------------------------------------------------------------------------- */

/* Whether the kernel's lock of a spool's file, or an open descriptor, shows somebody who writes. */
static bool has_writer(struct vti_source *source)
{
    int fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
    bool is_sure;

    if (fd >= 0)
        close(fd);
    if (is_locked)
        return true;
    if (!source->writer || !vti_written_by(source->writer, source->path))
        source->writer = vti_written_by_whom(source->path, &is_sure);
    return source->writer != 0;
}

static void look_for_writer(struct vti_source *source)
{
    int64_t now_ns = source->live->now_ns;

    if (source->recording->is_closed) {
        source->is_growing = false;
        return;
    }
    if (source->looked_ns && now_ns - source->looked_ns < LOOK_NS)
        return;
    source->looked_ns = now_ns;
    source->is_growing = has_writer(source) || now_ns - source->grown_ns < VTI_WRITTEN_QUIET_NS;
}

/* Who ships a spool deletes its files when they are closed and sent; what was written last is read all the same. */
static int refresh(struct vti_source *source)
{
    vt_recording *recording = source->recording;
    char *path = recording->path;
    char gone[32];
    int code;

    if (recording->is_closed)
        return 0;
    if (source->fd < 0 || !access(path, F_OK))
        return vt_recording_refresh(recording);
    snprintf(gone, sizeof gone, "/proc/self/fd/%d", source->fd);
    recording->path = gone;
    code = vt_recording_refresh(recording);
    recording->path = path;
    return code;
}

int vti_source_refresh(struct vti_source *source)
{
    int code;

    if (!source->recording || source->is_done)
        return 0;
    code = refresh(source);
    if (code < 0)
        return code;
    if (source->recording->map.size != source->file_bytes)
        source->grown_ns = source->live->now_ns;
    source->file_bytes = source->recording->map.size;
    source->lost_events = source->recording->facts.lost_events;
    source->damage = source->recording->damage.count - source->recording->has_tail_damage;
    look_for_writer(source);
    return code;
}

/* ---- blocks of facts ----------------------------------------------------------------------------- */

/* END's list of blocks, of a recording that was opened from its end. */
static const uint8_t *listed(const vt_recording *recording, uint64_t *count)
{
    struct vti_block_header header;
    struct vti_trailer trailer;
    const uint8_t *end;

    *count = 0;
    if (recording->map.size < VTI_TRAILER_BYTES ||
        !vti_trailer_parse(recording->map.data + recording->map.size - VTI_TRAILER_BYTES,
                           &trailer) ||
        !vti_block_find(recording, trailer.end_offset, &header, &end) ||
        header.payload_bytes < END_FIXED_BYTES)
        return NULL;
    *count = vti_get_u32(end + 24);
    if (*count > (header.payload_bytes - END_FIXED_BYTES) / 8)
        *count = (header.payload_bytes - END_FIXED_BYTES) / 8;
    return end + END_FIXED_BYTES;
}

/* The trees themselves are read when somebody asks for functions; rates need to know of when they are. */
static void note_trees(struct vti_source *source, const struct vti_block_header *header)
{
    const struct vti_facts *facts = &source->recording->facts;
    int64_t at = vti_ids_find(&facts->track_ids, header->owner);
    uint32_t clock = at < 0 ? 0 : facts->tracks[at]->clock;
    int64_t unix_ns;

    if (clock >= facts->clocks.count)
        return;
    unix_ns = vti_source_unix(source, vti_clock_ns(&facts->clocks.clocks[clock], header->last));
    if (unix_ns > source->trees_unix_ns)
        source->trees_unix_ns = unix_ns;
}

/* Bytes of the block; 0 if there is none. */
static uint64_t take_fact_at(struct vti_source *source, uint64_t offset, int *code)
{
    struct vti_block_header header;
    const uint8_t *payload;

    if (!vti_block_find(source->recording, offset, &header, &payload))
        return 0;
    switch (header.kind) {
    case VTI_TASKS:
    case VTI_RESOURCES:
    case VTI_ENERGY:
    case VTI_THREAD_CPU:
        if (vti_crc32c(payload, header.payload_bytes) == header.payload_crc)
            *code = vti_source_take_fact(source, &header, payload);
        break;
    case VTI_CALL_TREE:
        note_trees(source, &header);
        break;
    default:
        break;
    }
    return vti_block_bytes(&header);
}

/* 1: all that there are; 0: time is over; or a negative code. */
static int take_facts(struct vti_source *source, int64_t until_ns)
{
    const vt_recording *recording = source->recording;
    const uint8_t *list = NULL;
    uint64_t end = recording->scanned_to;
    int code = 0;

    if (!recording->is_scanned)
        list = listed(recording, &end);
    else if (!source->fact_at)
        source->fact_at = VTI_FILE_HEADER_BYTES;
    while (source->fact_at < end && !code) {
        if (list) {
            take_fact_at(source, vti_get_u64(list + 8 * source->fact_at), &code);
            source->fact_at++;
        } else {
            uint64_t bytes = take_fact_at(source, source->fact_at, &code);

            source->fact_at += bytes ? bytes : VTI_BLOCK_ALIGN;
        }
        if (vti_tick_is_over(until_ns))
            return code ? code : source->fact_at >= end;
    }
    return code ? code : 1;
}

/* ---- events -------------------------------------------------------------------------------------- */

/* A few blocks of a track, then of the next, so that all of them come up to now together. */
static int take_events(struct vti_source *source, int64_t until_ns)
{
    struct vti_facts *facts = &source->recording->facts;
    bool is_more = true;
    int code = 0;

    while (is_more) {
        is_more = false;
        for (uint32_t i = 0; i < facts->track_ids.count; i++) {
            struct vti_source_track *track = vti_source_track_at(source, i);
            uint64_t count = vti_blocks_count(facts->tracks[i]);

            if (!track)
                return VTI_E_NOMEM;
            for (unsigned n = 0; n < 16 && track->next_block < count; n++) {
                code = vti_source_take_block(source, i);
                if (code)
                    return code;
                source->blocks_done++;
            }
            is_more |= track->next_block < count;
            vti_source_settle_track(source, i);
            if (vti_tick_is_over(until_ns))
                return 0;
        }
    }
    return 1;
}

static void count_blocks(struct vti_source *source)
{
    struct vti_facts *facts = &source->recording->facts;

    source->blocks_all = 0;
    for (uint32_t i = 0; i < facts->track_ids.count; i++)
        source->blocks_all += vti_blocks_count(facts->tracks[i]);
}

int vti_source_sum(struct vti_source *source, int64_t until_ns)
{
    int code = 0;

    if (!source->recording || source->is_done)
        return 1;
    code = vti_recording_prepare(source->recording);
    if (code)
        return code;
    count_blocks(source);
    code = take_facts(source, until_ns);
    if (code > 0)
        code = vti_source_take_steps(source, until_ns);
    if (code > 0)
        code = take_events(source, until_ns);
    source->is_done = code > 0 && !source->is_growing;
    if (source->is_done && vti_source_settle_energy(source))
        code = VTI_E_NOMEM;
    return code;
}
