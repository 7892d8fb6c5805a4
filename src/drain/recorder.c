/*
 * recorder.c - file-wide ids, facts and event blocks of the recording that is being written.
 *
 * As a flight recorder it keeps the event blocks in memory, forgets those that are older than asked,
 * and writes the rest when the recording is closed.
 */
#include "drain/recorder.h"

#include "base/error.h"
#include "base/hash.h"
#include "drain/clock.h"
#include "drain/recorder_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_ATTEMPTS 100
#define ANCHOR_SOONEST_NS 5000000u
#define ANCHOR_LATEST_NS 1000000000u
#define FLUSH_INTERVAL_NS 50000000u
#define FLUSH_BYTES (1u << 20)
#define LOSS_MOST ((uint64_t)1 << 40) /* events that one loss can be believed to be */

void vti_recorder_keep_error(struct vti_recorder *recorder, int code)
{
    if (code < 0 && !recorder->error)
        recorder->error = code;
}

static void write_fact(struct vti_recorder *recorder, enum vti_kind kind, uint64_t first,
                       uint64_t last)
{
    vti_recorder_facts(recorder, kind, 1, first, last);
}

void vti_recorder_facts(struct vti_recorder *recorder, enum vti_kind kind, uint32_t count,
                        uint64_t first, uint64_t last)
{
    if (recorder->writer)
        vti_recorder_keep_error(recorder, vti_writer_facts(recorder->writer, kind,
                                                           &recorder->scratch, count, first, last));
    vti_buf_clear(&recorder->scratch);
}

static int open_output(const char *path, bool force)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_EXCL, 0600);
    struct stat st;

    if (fd < 0 && errno == EEXIST && !stat(path, &st) && !S_ISREG(st.st_mode))
        return vti_fail(VTI_E_WRITE, "%s: is %s", path,
                        S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
    /* Another recording may take the name meanwhile; the last one has it. */
    for (int i = 0; i < OPEN_ATTEMPTS && fd < 0 && errno == EEXIST && force; i++) {
        unlink(path);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_EXCL, 0600);
    }
    if (fd >= 0)
        return fd;
    if (errno == EEXIST)
        return vti_fail(VTI_E_EXISTS, "%s: already exists", path);
    return vti_fail_errno(VTI_E_WRITE, "%s: cannot create", path);
}

/* The file, or the first one of a spool. */
static int open_first(struct vti_recorder *recorder)
{
    const struct vti_drain_options *options = &recorder->options;
    int code;
    int fd;

    if (!recorder->is_spool) {
        fd = open_output(options->output, options->force);
        if (fd >= 0 && options->held)
            *options->held = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        return fd < 0 ? fd : vti_writer_create(&recorder->writer, fd, options->output);
    }
    code = vti_spool_open(&recorder->spool, options->spool, options->spool_limit);
    if (!code)
        code = vti_recorder_begin_file(recorder, &recorder->writer);
    recorder->file = 1;
    recorder->began_ns = vti_clock_now_ns();
    return code;
}

static void join_command(struct vti_buf *joined, char *const *command)
{
    for (; command && *command; command++)
        vti_buf_add(joined, *command, strlen(*command) + 1);
    joined->len -= joined->len > 0;
}

int vti_recorder_create(struct vti_recorder **result, const struct vti_drain_options *options)
{
    struct vti_recorder *recorder = calloc(1, sizeof *recorder);
    int code;

    if (!recorder || vti_map_create(&recorder->sites)) {
        free(recorder);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    recorder->options = *options;
    recorder->is_spool = options->spool != NULL;
    recorder->spool.folder = -1;
    recorder->synced_fd = -1;
    code = open_first(recorder);
    if (code) {
        vti_recorder_free(recorder);
        return code;
    }
    recorder->clock = vti_clock_choose();
    vti_flight_init(&recorder->flight, options->ring_ns, options->ring_bytes);
    join_command(&recorder->command, options->command);
    vti_recorder_opening(recorder);
    vti_recorder_keep_error(recorder, vti_writer_flush(recorder->writer));
    vti_recorder_show(recorder);
    *result = recorder;
    return 0;
}

void vti_recorder_free(struct vti_recorder *recorder)
{
    if (!recorder)
        return;
    vti_flight_fini(&recorder->flight);
    if (recorder->writer)
        vti_writer_abandon(recorder->writer);
    if (recorder->synced_fd >= 0)
        close(recorder->synced_fd);
    vti_spool_close(&recorder->spool);
    for (uint32_t i = 0; i < recorder->named_room; i++)
        vti_buf_fini(&recorder->named[i]);
    free(recorder->named);
    vti_map_free(recorder->sites);
    vti_weights_fini(&recorder->weights);
    vti_c_lines_fini(&recorder->c_lines);
    vti_buf_fini(&recorder->command);
    vti_buf_fini(&recorder->scratch);
    free(recorder);
}

uint32_t vti_recorder_site(struct vti_recorder *recorder, struct vti_site_fact *site, uint32_t twin)
{
    int64_t at;
    int is_new;

    /* What is written is also the key, so equal sites of different processes are one. */
    site->site = 0;
    vti_site_write(&recorder->scratch, site);
    vti_buf_add_varint(&recorder->scratch, twin);
    at = vti_map_add(recorder->sites, recorder->scratch.data, recorder->scratch.len, &is_new);
    vti_buf_clear(&recorder->scratch);
    if (at < 0) {
        vti_recorder_keep_error(recorder, (int)at);
        return 0;
    }
    site->site = (uint32_t)at + 1;
    if (is_new) {
        vti_site_write(&recorder->scratch, site);
        write_fact(recorder, VTI_SITES, 0, 0);
    }
    return site->site;
}

struct vti_weights *vti_recorder_weights(struct vti_recorder *recorder)
{
    return &recorder->weights;
}

struct vti_c_lines *vti_recorder_c_lines(struct vti_recorder *recorder)
{
    return &recorder->c_lines;
}

uint32_t vti_recorder_site_count(const struct vti_recorder *recorder)
{
    return vti_map_count(recorder->sites);
}

bool vti_recorder_get_site(const struct vti_recorder *recorder, uint32_t id,
                           struct vti_site_fact *site)
{
    struct vti_reader in;
    size_t len;
    const char *key = vti_map_key(recorder->sites, id - 1, &len);

    vti_reader_init(&in, key, len);
    if (!vti_site_read(&in, site))
        return false;
    site->site = id;
    return true;
}

void vti_recorder_put_site(struct vti_recorder *recorder, const struct vti_site_fact *site)
{
    vti_c_lines_note(&recorder->c_lines, site);
    vti_recorder_keep_name(recorder, site);
    vti_site_write(&recorder->scratch, site);
    write_fact(recorder, VTI_SITES, 0, 0);
}

uint32_t vti_recorder_new_process(struct vti_recorder *recorder)
{
    return recorder->process_count++;
}

uint32_t vti_recorder_new_track(struct vti_recorder *recorder)
{
    return recorder->track_count++;
}

void vti_recorder_process(struct vti_recorder *recorder, const struct vti_process_fact *fact)
{
    vti_process_write(&recorder->scratch, fact);
    write_fact(recorder, VTI_PROCESS, fact->start, fact->end);
}

void vti_recorder_track(struct vti_recorder *recorder, const struct vti_track_fact *fact)
{
    vti_track_write(&recorder->scratch, fact);
    write_fact(recorder, VTI_TRACK, fact->start, fact->end);
}

void vti_recorder_owned(struct vti_recorder *recorder, enum vti_kind kind, uint32_t track,
                        const struct vti_buf *payload, uint32_t count, uint64_t ticks)
{
    if (recorder->writer)
        vti_recorder_keep_error(
            recorder, vti_writer_owned(recorder->writer, kind, track, payload, count, ticks));
}

void vti_recorder_cost(struct vti_recorder *recorder, const struct vti_cost_fact *fact)
{
    vti_cost_write(&recorder->scratch, fact);
    write_fact(recorder, VTI_COSTS, 0, 0);
}

void vti_recorder_sampling(struct vti_recorder *recorder, const struct vti_sampling_fact *fact)
{
    vti_sampling_write(&recorder->scratch, fact);
    write_fact(recorder, VTI_SAMPLING, 0, 0);
}

void vti_recorder_source(struct vti_recorder *recorder, const struct vti_source_fact *fact)
{
    vti_source_write(&recorder->scratch, fact);
    write_fact(recorder, VTI_SOURCES, 0, 0);
}

/* The number is the program's own; one that cannot be is none, so that sums stay sums. */
void vti_recorder_loss(struct vti_recorder *recorder, const struct vti_loss_fact *loss)
{
    struct vti_loss_fact checked = *loss;

    if (checked.events > LOSS_MOST) {
        checked.events = 1;
        checked.flags |= 1;
    }
    if (checked.last < checked.first)
        checked.last = checked.first;
    if (recorder->writer)
        vti_recorder_keep_error(recorder, vti_writer_loss(recorder->writer, &checked));
}

/* What stands in `scratch` is the block. */
static void keep_block(struct vti_recorder *recorder, const struct vti_block_header *header)
{
    bool is_kept = vti_flight_keep(&recorder->flight, header, &recorder->scratch);

    vti_recorder_keep_error(recorder, is_kept ? 0 : VTI_E_NOMEM);
    vti_buf_clear(&recorder->scratch);
}

static void keep_events(struct vti_recorder *recorder, struct vti_encoder *encoder)
{
    struct vti_block_header header;
    struct vti_summary summary;
    int code = vti_encoder_cut(encoder, &recorder->scratch, &header, &summary);

    if (code > 0) {
        keep_block(recorder, &header);
        return;
    }
    vti_recorder_keep_error(recorder, code ? VTI_E_NOMEM : 0);
    vti_buf_clear(&recorder->scratch);
}

void vti_recorder_block(struct vti_recorder *recorder, struct vti_block_header *header,
                        const struct vti_buf *payload, bool forgettable)
{
    struct vti_buf *block = &recorder->scratch;

    if (!recorder->writer)
        return;
    header->payload_bytes = (uint32_t)payload->len;
    vti_buf_add_zeros(block, vti_block_bytes(header));
    block->failed |= payload->failed;
    if (!block->failed) {
        memcpy(block->data + VTI_BLOCK_HEADER_BYTES, payload->data, payload->len);
        vti_block_header_write(block->data, header, block->data + VTI_BLOCK_HEADER_BYTES);
    }
    if (recorder->flight.ns && forgettable) {
        keep_block(recorder, header);
        return;
    }
    vti_recorder_keep_error(
        recorder,
        block->failed ? VTI_E_NOMEM : vti_writer_block(recorder->writer, header, block->data));
    vti_buf_clear(block);
}

void vti_recorder_events(struct vti_recorder *recorder, struct vti_encoder *encoder)
{
    if (!recorder->writer)
        return;
    if (recorder->flight.ns)
        keep_events(recorder, encoder);
    else
        vti_recorder_keep_error(recorder, vti_writer_events(recorder->writer, encoder));
}

void vti_recorder_carried(struct vti_recorder *recorder, struct vti_encoder *encoder)
{
    recorder->carried += vti_encoder_pending(encoder);
    vti_recorder_events(recorder, encoder);
}

uint32_t vti_recorder_clock(const struct vti_recorder *recorder)
{
    return recorder->clock;
}

uint64_t vti_recorder_ticks(const struct vti_recorder *recorder)
{
    return vti_clock_ticks(recorder->clock);
}

double vti_recorder_ticks_per_ns(const struct vti_recorder *recorder)
{
    uint64_t ns = recorder->last_anchor.monotonic_ns - recorder->first_anchor.monotonic_ns;

    return ns ? (double)(recorder->last_anchor.ticks - recorder->first_anchor.ticks) / (double)ns
              : 1;
}

void vti_recorder_moment(const struct vti_recorder *recorder, uint64_t *ticks, int64_t *realtime_ns,
                         double *ns_per_tick)
{
    const struct vti_anchor *first = &recorder->first_anchor;
    struct vti_anchor now;

    vti_anchor_take(recorder->clock, &now);
    *ticks = now.ticks;
    *realtime_ns = (int64_t)now.realtime_ns;
    *ns_per_tick = now.ticks > first->ticks && now.monotonic_ns > first->monotonic_ns
                       ? (double)(now.monotonic_ns - first->monotonic_ns) /
                             (double)(now.ticks - first->ticks)
                       : 1;
}

/* At twice the age of the recording each time, then once a second. */
static bool is_anchor_due(const struct vti_recorder *recorder, uint64_t now_ns)
{
    uint64_t last_ns = recorder->last_anchor.monotonic_ns;
    uint64_t pause_ns = last_ns - recorder->first_anchor.monotonic_ns;

    if (pause_ns < ANCHOR_SOONEST_NS)
        pause_ns = ANCHOR_SOONEST_NS;
    if (pause_ns > ANCHOR_LATEST_NS)
        pause_ns = ANCHOR_LATEST_NS;
    return now_ns >= last_ns + pause_ns;
}

void vti_recorder_tick(struct vti_recorder *recorder, uint64_t now_ns, bool force)
{
    if (!recorder->writer)
        return;
    if (is_anchor_due(recorder, now_ns))
        vti_recorder_anchor(recorder);
    vti_flight_age(&recorder->flight, now_ns);
    if (force || now_ns - recorder->flushed_ns >= FLUSH_INTERVAL_NS ||
        vti_writer_buffered(recorder->writer) >= FLUSH_BYTES) {
        recorder->flushed_ns = now_ns;
        vti_recorder_keep_error(recorder, vti_writer_flush(recorder->writer));
    }
    vti_recorder_sync(recorder, now_ns);
}

void vti_recorder_stats(const struct vti_recorder *recorder, struct vti_drain_stats *stats)
{
    if (recorder->writer) {
        vti_writer_stats(recorder->writer, &stats->file);
        vti_recorder_sum(recorder, &stats->file);
    }
    stats->spool_files = recorder->file;
    stats->spool_lost = recorder->spool.lost;
    stats->processes = recorder->process_count;
    stats->tracks = recorder->track_count;
    stats->clock = recorder->doubts;
    stats->overwritten = recorder->flight.overwritten.events;
}

int vti_recorder_close(struct vti_recorder *recorder, struct vti_drain_stats *stats)
{
    if (!recorder->writer)
        return recorder->error;
    vti_recorder_keep_error(recorder, vti_flight_write(&recorder->flight, recorder->writer));
    vti_recorder_anchor(recorder);
    vti_recorder_stats(recorder, stats);
    if (recorder->is_spool && vti_writer_is_removed(recorder->writer))
        vti_writer_let_go(recorder->writer); /* a full disk is not to be what is said of it */
    if (recorder->synced_fd >= 0)
        close(recorder->synced_fd); /* a copy would keep the lock */
    recorder->synced_fd = -1;
    vti_recorder_keep_error(recorder, vti_writer_close(recorder->writer, &stats->file));
    vti_recorder_sum(recorder, &stats->file);
    recorder->writer = NULL;
    return recorder->error;
}
