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
#include "drain/flight.h"
#include "format/host.h"

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

struct vti_recorder {
    struct vti_writer *writer; /* owned; NULL once closed */
    struct vti_map *sites;     /* owned: description -> file-wide id - 1 */
    struct vti_weights weights;
    struct vti_c_lines c_lines;
    struct vti_buf scratch;
    enum vti_clock_type clock;
    struct vti_anchor first_anchor;
    struct vti_anchor last_anchor;
    uint64_t flushed_ns;
    bool has_command;
    uint32_t process_count;
    uint32_t track_count;
    struct vti_flight flight;
    int error; /* the first one */
};

static void keep_error(struct vti_recorder *recorder, int code)
{
    if (code < 0 && !recorder->error)
        recorder->error = code;
}

static void write_fact(struct vti_recorder *recorder, enum vti_kind kind, uint64_t first,
                       uint64_t last)
{
    if (recorder->writer)
        keep_error(recorder,
                   vti_writer_facts(recorder->writer, kind, &recorder->scratch, 1, first, last));
    vti_buf_clear(&recorder->scratch);
}

static void write_meta(struct vti_recorder *recorder, const char *key, struct vti_bytes value)
{
    struct vti_meta_fact fact = {vti_bytes_of(key), value};

    vti_meta_write(&recorder->scratch, &fact);
    write_fact(recorder, VTI_META, 0, 0);
}

void vti_recorder_command(struct vti_recorder *recorder, struct vti_bytes command)
{
    if (recorder->has_command || !command.len)
        return;
    recorder->has_command = true;
    write_meta(recorder, "command", command);
}

static void write_command(struct vti_recorder *recorder, char *const *command)
{
    struct vti_buf joined = {0};

    for (; command && *command; command++)
        vti_buf_add(&joined, *command, strlen(*command) + 1);
    if (joined.len)
        vti_recorder_command(recorder, (struct vti_bytes){(char *)joined.data, joined.len - 1});
    vti_buf_fini(&joined);
}

static void write_host(struct vti_recorder *recorder)
{
    vti_host_write_this(&recorder->scratch, 0);
    write_fact(recorder, VTI_HOST, 0, 0);
}

static void write_anchor(struct vti_recorder *recorder)
{
    struct vti_clock_fact fact = {0, 0, recorder->clock, 1, &recorder->last_anchor};

    vti_anchor_take(recorder->clock, &recorder->last_anchor);
    vti_clock_write(&recorder->scratch, &fact);
    write_fact(recorder, VTI_CLOCK, 0, 0);
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

static void write_opening(struct vti_recorder *recorder, const struct vti_drain_options *options)
{
    char folder[4096];

    write_anchor(recorder);
    recorder->first_anchor = recorder->last_anchor;
    write_meta(recorder, "venturi", vti_bytes_of(VENTURI_VERSION));
    write_command(recorder, options->command);
    write_meta(recorder, "directory", vti_bytes_of(getcwd(folder, sizeof folder) ? folder : ""));
    write_meta(recorder, "policy",
               vti_bytes_of(options->ring_ns    ? "ring"
                            : options->block_ms ? "block"
                                                : "drop"));
    for (const char *const *stated = options->stated; stated && *stated; stated += 2)
        write_meta(recorder, stated[0], vti_bytes_of(stated[1]));
    write_host(recorder);
    /* Two anchors give the rate of the clock, however soon the recording is cut off. */
    write_anchor(recorder);
}

int vti_recorder_create(struct vti_recorder **result, const struct vti_drain_options *options)
{
    struct vti_recorder *recorder = calloc(1, sizeof *recorder);
    int code;
    int fd;

    if (!recorder || vti_map_create(&recorder->sites)) {
        free(recorder);
        return vti_fail(VTI_E_NOMEM, "%s: out of memory", options->output);
    }
    fd = open_output(options->output, options->force);
    if (fd >= 0 && options->held)
        *options->held = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    code = fd < 0 ? fd : vti_writer_create(&recorder->writer, fd, options->output);
    if (code) {
        vti_recorder_free(recorder);
        return code;
    }
    recorder->clock = vti_clock_choose();
    vti_flight_init(&recorder->flight, options->ring_ns, options->ring_bytes);
    write_opening(recorder, options);
    keep_error(recorder, vti_writer_flush(recorder->writer));
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
    vti_map_free(recorder->sites);
    vti_weights_fini(&recorder->weights);
    vti_c_lines_fini(&recorder->c_lines);
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
        keep_error(recorder, (int)at);
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
        keep_error(recorder,
                   vti_writer_owned(recorder->writer, kind, track, payload, count, ticks));
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
        keep_error(recorder, vti_writer_loss(recorder->writer, &checked));
}

/* What stands in `scratch` is the block. */
static void keep_block(struct vti_recorder *recorder, const struct vti_block_header *header)
{
    bool is_kept = vti_flight_keep(&recorder->flight, header, &recorder->scratch);

    keep_error(recorder, is_kept ? 0 : VTI_E_NOMEM);
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
    keep_error(recorder, code ? VTI_E_NOMEM : 0);
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
    keep_error(recorder, block->failed ? VTI_E_NOMEM
                                       : vti_writer_block(recorder->writer, header, block->data));
    vti_buf_clear(block);
}

void vti_recorder_events(struct vti_recorder *recorder, struct vti_encoder *encoder)
{
    if (!recorder->writer)
        return;
    if (recorder->flight.ns)
        keep_events(recorder, encoder);
    else
        keep_error(recorder, vti_writer_events(recorder->writer, encoder));
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
        write_anchor(recorder);
    vti_flight_age(&recorder->flight, now_ns);
    if (force || now_ns - recorder->flushed_ns >= FLUSH_INTERVAL_NS ||
        vti_writer_buffered(recorder->writer) >= FLUSH_BYTES) {
        recorder->flushed_ns = now_ns;
        keep_error(recorder, vti_writer_flush(recorder->writer));
    }
}

void vti_recorder_stats(const struct vti_recorder *recorder, struct vti_drain_stats *stats)
{
    if (recorder->writer)
        vti_writer_stats(recorder->writer, &stats->file);
    stats->processes = recorder->process_count;
    stats->tracks = recorder->track_count;
    stats->overwritten = recorder->flight.overwritten.events;
}

int vti_recorder_close(struct vti_recorder *recorder, struct vti_drain_stats *stats)
{
    if (!recorder->writer)
        return recorder->error;
    keep_error(recorder, vti_flight_write(&recorder->flight, recorder->writer));
    write_anchor(recorder);
    vti_recorder_stats(recorder, stats);
    keep_error(recorder, vti_writer_close(recorder->writer, &stats->file));
    recorder->writer = NULL;
    return recorder->error;
}
