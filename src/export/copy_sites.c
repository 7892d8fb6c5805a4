/*
 * copy_sites.c - the sites of recordings in a new one: written when they are first used, equal ones
 * once, twins of one input apart.
 */
#include "base/error.h"
#include "export/copy.h"

#include <stdlib.h>

#define BLOCK_ENTRIES 4096u /* of what belongs to a track */

static int describe(struct vti_copy *copy, const struct vti_site *from, uint32_t *id)
{
    struct vti_site_fact site = {.type = from->type,
                                 .name = vti_bytes_of(from->name),
                                 .function = vti_bytes_of(from->function),
                                 .file = vti_bytes_of(from->file),
                                 .line = from->line,
                                 .unit = vti_bytes_of(from->unit)};
    int is_new = 0;
    int64_t at;

    /* With number 0 it is the key that makes equal sites one. */
    vti_buf_clear(&copy->key);
    vti_site_write(&copy->key, &site);
    vti_buf_add_varint(&copy->key, from->twin);
    at = copy->key.failed ? -1 : vti_map_add(copy->sites, copy->key.data, copy->key.len, &is_new);
    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    *id = site.site = (uint32_t)at + 1;
    if (is_new) {
        vti_site_write(&copy->new_sites, &site);
        copy->new_site_count++;
    }
    return 0;
}

int vti_copy_site(struct vti_copy *copy, struct vti_copy_input *input, uint32_t old, uint32_t *id)
{
    struct vti_copy_sites *sites = &input->numbers->sites;
    const struct vti_facts *facts = &input->recording->facts;
    struct vt_site_info info;
    struct vti_site made_up;
    uint32_t known = sites->ids.count;
    int64_t at = vti_ids_add(&sites->ids, old);
    int64_t defined;

    if (at < 0 || vti_grow(&sites->numbers, known, &sites->capacity, sizeof *sites->numbers))
        return VTI_E_NOMEM;
    if (at == known) {
        sites->numbers[at] = 0;
        defined = vti_ids_find(&facts->site_ids, old);
        vt_recording_site_by_id(input->recording, old, &info);
        made_up = (struct vti_site){.type = info.type,
                                    .line = info.line,
                                    .name = info.name,
                                    .function = info.function,
                                    .file = info.file,
                                    .unit = info.unit};
        if (describe(copy, defined < 0 ? &made_up : &facts->sites[defined], &sites->numbers[at]))
            return VTI_E_NOMEM;
    }
    *id = sites->numbers[at];
    return 0;
}

int vti_copy_sites_write(struct vti_copy *copy)
{
    int code = 0;

    if (copy->new_site_count)
        code = vti_writer_facts(copy->writer, VTI_SITES, &copy->new_sites, copy->new_site_count, 0,
                                0);
    vti_buf_clear(&copy->new_sites);
    copy->new_site_count = 0;
    return code;
}

int vti_copy_owned_write(struct vti_copy *copy, enum vti_kind kind, uint32_t track, uint64_t last,
                         uint32_t *count)
{
    int code = vti_copy_sites_write(copy);

    if (!code && *count)
        code = vti_writer_owned(copy->writer, kind, track, &copy->entry, *count, last);
    vti_buf_clear(&copy->entry);
    *count = 0;
    return code;
}

/* ---- what belongs to a track ----------------------------------------------------------------- */

void vti_copy_track_start(struct vti_copy_track *to, uint32_t at)
{
    const struct vti_track *track = to->input->recording->facts.tracks[at];

    to->track = vti_renumber(&to->input->numbers->tracks, track->id);
    to->last = track->end;
}

int vti_copy_track_end(const struct vti_copy_track *to, enum vti_kind kind, uint32_t *count)
{
    return vti_copy_owned_write(to->copy, kind, to->track, to->last, count);
}

int vti_copy_track_add(const struct vti_copy_track *to, enum vti_kind kind, uint32_t *count)
{
    return ++*count == BLOCK_ENTRIES ? vti_copy_track_end(to, kind, count) : 0;
}
