/* target.c - the recording that an import writes. Knows nothing of the formats that are read. */
#include "import/target.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int vti_import_open(struct vti_import_target *target, const char *path, bool force,
                    bool (*is_stopped)(void))
{
    int code;

    memset(target, 0, sizeof *target);
    code = vti_copy_open(&target->copy, path, force, is_stopped);
    if (code)
        return code;
    code = vti_map_create(&target->sites);
    if (code)
        vti_import_abandon(target);
    return code;
}

static void fini(struct vti_import_target *target)
{
    vti_map_free(target->sites);
    vti_buf_fini(&target->entry);
    target->sites = NULL;
}

int vti_import_commit(struct vti_import_target *target, struct vti_writer_stats *stats)
{
    fini(target);
    return vti_copy_commit(&target->copy, stats);
}

void vti_import_abandon(struct vti_import_target *target)
{
    fini(target);
    vti_copy_abandon(&target->copy);
}

void vti_import_note(struct vti_import_target *target, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(target->note, sizeof target->note, format, args);
    va_end(args);
}

int vti_import_block(struct vti_import_target *target, enum vti_kind kind, uint32_t owner,
                     uint32_t count, uint64_t last)
{
    int code = target->entry.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;

    if (!code && count)
        code = vti_writer_owned(target->copy.writer, kind, owner, &target->entry, count, last);
    vti_buf_clear(&target->entry);
    return code;
}

int vti_import_start(struct vti_import_target *target, const char *source, uint64_t realtime_ns)
{
    struct vti_anchor anchor = {.realtime_ns = realtime_ns};
    int code;

    vti_meta_write(&target->entry,
                   &(struct vti_meta_fact){vti_bytes_of("venturi"), vti_bytes_of(VENTURI_VERSION)});
    vti_meta_write(&target->entry,
                   &(struct vti_meta_fact){vti_bytes_of("imported"), vti_bytes_of(source)});
    code = vti_import_block(target, VTI_META, 0, 2, 0);
    vti_host_write(&target->entry,
                   &(struct vti_host_fact){.name = vti_bytes_of(VTI_HOST_IMPORTED),
                                           .os = vti_bytes_of(target->what ? target->what : "")});
    if (!code)
        code = vti_import_block(target, VTI_HOST, 0, 1, 0);
    vti_clock_write(&target->entry, &(struct vti_clock_fact){.type = VTI_CLOCK_MONOTONIC_NS,
                                                             .anchor_count = 1,
                                                             .anchors = &anchor});
    return code ? code : vti_import_block(target, VTI_CLOCK, 0, 1, 0);
}

int vti_import_process(struct vti_import_target *target, uint32_t process, uint32_t pid,
                       const char *name, uint64_t end)
{
    vti_process_write(&target->entry,
                      &(struct vti_process_fact){
                          .process = process, .pid = pid, .end = end, .name = vti_bytes_of(name)});
    return vti_import_block(target, VTI_PROCESS, 0, 1, end);
}

int vti_import_track(struct vti_import_target *target, uint32_t track, uint32_t process,
                     uint32_t tid, const char *name, uint64_t end, bool is_lane)
{
    vti_track_write(&target->entry, &(struct vti_track_fact){.track = track,
                                                             .process = process,
                                                             .type = is_lane,
                                                             .tid = tid,
                                                             .end = end,
                                                             .name = vti_bytes_of(name)});
    return vti_import_block(target, VTI_TRACK, 0, 1, end);
}

uint32_t vti_import_site(struct vti_import_target *target, const struct vti_site_fact *site)
{
    struct vti_copy *copy = &target->copy;
    struct vti_site_fact fact = *site;
    int is_new;
    int64_t at;

    fact.site = 0;
    vti_buf_clear(&copy->key);
    vti_site_write(&copy->key, &fact);
    at = copy->key.failed ? -1 : vti_map_add(target->sites, copy->key.data, copy->key.len, &is_new);
    if (at < 0) {
        vti_fail(VTI_E_NOMEM, "out of memory");
        return 0;
    }
    fact.site = (uint32_t)at + 1;
    if (is_new) {
        vti_site_write(&copy->new_sites, &fact);
        copy->new_site_count++;
    }
    return fact.site;
}

int vti_import_write_sites(struct vti_import_target *target)
{
    return vti_copy_sites_write(&target->copy);
}
