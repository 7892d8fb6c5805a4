/*
 * opening.c - what stands at the beginning of a recording, and how a spool goes on with the next one.
 *
 * Ids are those of the run, the same in all its files; the clock begins with the run, so that their times are on one
 * axis. What processes have to say again is target.c's.
 */
#include "drain/clock.h"
#include "drain/recorder_state.h"

#include "base/error.h"
#include "format/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SITES_BLOCK 1024u
#define TRY_AGAIN_NS 1000000000u
#define SYNC_NS 1000000000u

/* ---- facts ---------------------------------------------------------------------------------------- */

static void write_meta(struct vti_recorder *recorder, const char *key, struct vti_bytes value)
{
    struct vti_meta_fact fact = {vti_bytes_of(key), value};

    vti_meta_write(&recorder->scratch, &fact);
    vti_recorder_facts(recorder, VTI_META, 1, 0, 0);
}

static void write_command(struct vti_recorder *recorder)
{
    if (recorder->command.len)
        write_meta(recorder, "command",
                   (struct vti_bytes){(char *)recorder->command.data, recorder->command.len});
}

void vti_recorder_command(struct vti_recorder *recorder, struct vti_bytes command)
{
    if (recorder->command.len || !command.len)
        return;
    vti_buf_add(&recorder->command, command.data, command.len);
    write_command(recorder);
}

static void write_anchor_of(struct vti_recorder *recorder, const struct vti_anchor *anchor)
{
    struct vti_clock_fact fact = {0, 0, recorder->clock, 1, anchor};

    vti_clock_write(&recorder->scratch, &fact);
    vti_recorder_facts(recorder, VTI_CLOCK, 1, 0, 0);
}

void vti_recorder_anchor(struct vti_recorder *recorder)
{
    vti_anchor_take(recorder->clock, &recorder->last_anchor);
    vti_clock_look(&recorder->doubts);
    write_anchor_of(recorder, &recorder->last_anchor);
}

/* A later file: the beginning of the run as the machine's clock has it now, should that have been set meanwhile. */
static void write_clock(struct vti_recorder *recorder)
{
    struct vti_anchor first = recorder->first_anchor;
    uint64_t age_ns;

    if (recorder->file > 1) {
        vti_anchor_take(recorder->clock, &recorder->last_anchor);
        age_ns = recorder->last_anchor.monotonic_ns - first.monotonic_ns;
        first.realtime_ns = recorder->last_anchor.realtime_ns > age_ns
                                ? recorder->last_anchor.realtime_ns - age_ns
                                : 0;
        write_anchor_of(recorder, &first);
        write_anchor_of(recorder, &recorder->last_anchor);
    } else {
        vti_recorder_anchor(recorder);
        recorder->first_anchor = recorder->last_anchor;
    }
}

static void write_spool(struct vti_recorder *recorder)
{
    char number[24];

    snprintf(number, sizeof number, "%llu", (unsigned long long)recorder->file);
    write_meta(recorder, "spool.run", vti_bytes_of(recorder->spool.run));
    write_meta(recorder, "spool.file", vti_bytes_of(number));
    snprintf(number, sizeof number, "%llu", (unsigned long long)recorder->spool.limit);
    write_meta(recorder, "spool.limit", vti_bytes_of(number));
}

static void write_sites(struct vti_recorder *recorder)
{
    uint32_t last = vti_recorder_site_count(recorder);
    struct vti_site_fact site;
    uint32_t count = 0;

    for (uint32_t id = 1; id <= last; id++) {
        if (vti_recorder_is_named(recorder, id))
            vti_buf_add(&recorder->scratch, recorder->named[id].data, recorder->named[id].len);
        else if (vti_recorder_get_site(recorder, id, &site))
            vti_site_write(&recorder->scratch, &site);
        else
            continue;
        if (++count == SITES_BLOCK) {
            vti_recorder_facts(recorder, VTI_SITES, count, 0, 0);
            count = 0;
        }
    }
    if (count)
        vti_recorder_facts(recorder, VTI_SITES, count, 0, 0);
}

void vti_recorder_opening(struct vti_recorder *recorder)
{
    const struct vti_drain_options *options = &recorder->options;
    char folder[4096];

    write_clock(recorder);
    write_meta(recorder, "venturi", vti_bytes_of(VENTURI_VERSION));
    write_command(recorder);
    write_meta(recorder, "directory", vti_bytes_of(getcwd(folder, sizeof folder) ? folder : ""));
    write_meta(recorder, "policy",
               vti_bytes_of(options->ring_ns    ? "ring"
                            : options->block_ms ? "block"
                                                : "drop"));
    if (recorder->is_spool)
        write_spool(recorder);
    for (const char *const *stated = options->stated; stated && *stated; stated += 2)
        write_meta(recorder, stated[0], vti_bytes_of(stated[1]));
    vti_host_write_this(&recorder->scratch, 0);
    vti_recorder_facts(recorder, VTI_HOST, 1, 0, 0);
    /* Two anchors give the rate of the clock, however soon the recording is cut off. */
    vti_recorder_anchor(recorder);
    write_sites(recorder);
}

/* ---- files of a spool ------------------------------------------------------------------------------ */

bool vti_recorder_is_named(const struct vti_recorder *recorder, uint32_t id)
{
    return id < recorder->named_room && recorder->named[id].len;
}

void vti_recorder_keep_name(struct vti_recorder *recorder, const struct vti_site_fact *site)
{
    struct vti_buf *grown;
    uint32_t room;

    if (!recorder->is_spool)
        return;
    if (site->site >= recorder->named_room) {
        room = 2 * site->site + 64;
        grown = realloc(recorder->named, room * sizeof *grown);
        if (!grown)
            return;
        memset(grown + recorder->named_room, 0, (room - recorder->named_room) * sizeof *grown);
        recorder->named = grown;
        recorder->named_room = room;
    }
    vti_buf_clear(&recorder->named[site->site]);
    vti_site_write(&recorder->named[site->site], site);
    if (recorder->named[site->site].failed)
        vti_buf_clear(&recorder->named[site->site]);
}

uint64_t vti_recorder_file(const struct vti_recorder *recorder)
{
    return recorder->file;
}

int vti_recorder_begin_file(struct vti_recorder *recorder, struct vti_writer **writer)
{
    char path[PATH_MAX + VTI_SPOOL_NAME + 1];
    int fd = vti_spool_begin(&recorder->spool);
    int code;

    if (fd < 0)
        return fd;
    snprintf(path, sizeof path, "%s/%s", recorder->spool.path, recorder->spool.name);
    recorder->synced_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    code = vti_writer_create(writer, fd, path);
    if (!code) {
        vti_writer_limit(*writer, recorder->spool.limit); /* where no other can be begun */
        return 0;
    }
    if (recorder->synced_fd >= 0)
        close(recorder->synced_fd);
    recorder->synced_fd = -1;
    vti_spool_drop(&recorder->spool);
    return code;
}

bool vti_recorder_is_full(const struct vti_recorder *recorder, uint64_t now_ns)
{
    struct vti_writer_stats stats;

    if (!recorder->is_spool || !recorder->writer ||
        (recorder->tried_ns && now_ns < recorder->tried_ns + TRY_AGAIN_NS))
        return false;
    vti_writer_stats(recorder->writer, &stats);
    return recorder->is_removed || now_ns >= recorder->began_ns + recorder->spool.file_ns ||
           stats.bytes + vti_writer_buffered(recorder->writer) >= recorder->spool.file_bytes;
}

static void add_stats(struct vti_writer_stats *sum, const struct vti_writer_stats *one)
{
    sum->bytes += one->bytes;
    sum->events += one->events;
    sum->lost_events += one->lost_events;
    sum->disk_lost += one->disk_lost;
    sum->disk_lost_tasks += one->disk_lost_tasks;
    sum->disk_lost_steps += one->disk_lost_steps;
    sum->gone += one->gone;
    sum->gone_tasks += one->gone_tasks;
    sum->gone_steps += one->gone_steps;
    sum->blocks += one->blocks;
    sum->disk_error = one->disk_error;
}

void vti_recorder_sum(const struct vti_recorder *recorder, struct vti_writer_stats *stats)
{
    struct vti_writer_stats sum = recorder->past;

    add_stats(&sum, stats);
    sum.events -= recorder->carried < sum.events ? recorder->carried : sum.events;
    *stats = sum;
}

/* A disk without room for its first facts has none for another file. */
static bool has_begun(struct vti_recorder *recorder)
{
    struct vti_writer_stats stats;

    vti_recorder_keep_error(recorder, vti_writer_flush(recorder->writer));
    vti_writer_stats(recorder->writer, &stats);
    return stats.bytes > VTI_FILE_HEADER_BYTES && !stats.disk_error;
}

int vti_recorder_rotate(struct vti_recorder *recorder, uint64_t now_ns)
{
    const struct vti_anchor last = recorder->last_anchor;
    struct vti_writer *before = recorder->writer;
    int before_fd = recorder->synced_fd;
    struct vti_writer_stats stats;
    int code = vti_recorder_begin_file(recorder, &recorder->writer);

    if (!code) {
        recorder->file++;
        vti_recorder_opening(recorder);
        if (has_begun(recorder))
            goto begun;
        recorder->file--;
        vti_writer_abandon(recorder->writer);
        close(recorder->synced_fd);
        vti_spool_drop(&recorder->spool);
        code = vti_fail(VTI_E_DISK_FULL, "%s: no room for another file", recorder->spool.path);
    }
    recorder->writer = before;
    recorder->synced_fd = before_fd;
    recorder->last_anchor = last;
    recorder->tried_ns = now_ns;
    if (recorder->is_removed)
        vti_writer_let_go(before);
    return code;
begun:
    if (before_fd >= 0)
        close(before_fd);
    vti_recorder_keep_error(recorder, vti_writer_close(before, &stats));
    add_stats(&recorder->past, &stats);
    recorder->tried_ns = 0;
    recorder->is_removed = false;
    recorder->began_ns = now_ns;
    return 0;
}

void vti_recorder_show(struct vti_recorder *recorder)
{
    if (!recorder->is_spool)
        return;
    vti_recorder_keep_error(recorder, vti_writer_flush(recorder->writer));
    vti_recorder_keep_error(recorder, vti_spool_show(&recorder->spool));
}

void vti_recorder_drop(struct vti_recorder *recorder)
{
    if (!recorder->is_spool || !recorder->writer)
        return;
    vti_writer_abandon(recorder->writer);
    recorder->writer = NULL;
    unlinkat(recorder->spool.folder, recorder->spool.name, 0);
}

void vti_recorder_sync(struct vti_recorder *recorder, uint64_t now_ns)
{
    if (recorder->synced_fd < 0 || now_ns < recorder->synced_ns + SYNC_NS)
        return;
    recorder->synced_ns = now_ns;
    recorder->is_removed = vti_writer_is_removed(recorder->writer);
    sync_file_range(recorder->synced_fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}
