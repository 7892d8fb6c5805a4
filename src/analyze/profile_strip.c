/* profile_strip.c - a profile without the folders of its files, just as pstats' strip_dirs() makes it. */
#include "analyze/profile_impl.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

/* The arcs of one old row. `last` says for each new row which arc of this one it is the caller of. */
static int take_arcs(struct vti_profile *to, const struct vti_profile *from,
                     const struct vti_profile_row *row, const uint32_t *renumbered, size_t *last)
{
    const struct vti_profile_arc *arcs = &from->arcs[row->first_caller];
    uint32_t callee = renumbered[row - from->rows];

    for (size_t i = 0; i < row->caller_count; i++)
        last[renumbered[arcs[i].caller]] = i;
    for (size_t i = 0; i < row->caller_count; i++) {
        uint32_t caller = renumbered[arcs[i].caller];
        int64_t at;

        if (last[caller] == SIZE_MAX)
            continue;
        at = vti_profile_arc(to, caller, callee);
        if (at < 0)
            return (int)at;
        vti_profile_add_numbers(&to->arcs[at].numbers, &arcs[last[caller]].numbers);
        to->arcs[at].is_count_only = arcs[last[caller]].is_count_only;
        last[caller] = SIZE_MAX;
    }
    return 0;
}

int vti_profile_strip(struct vti_profile *profile)
{
    size_t count = profile->row_count + 1;
    uint32_t *renumbered = calloc(count, sizeof *renumbered);
    size_t *last = malloc(count * sizeof *last);
    struct vti_profile stripped;
    int code = vti_profile_begin(&stripped);

    if (!renumbered || !last)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; !code && i < profile->row_count; i++) {
        const struct vti_profile_row *row = &profile->rows[i];
        int64_t at = vti_profile_take_row(&stripped, profile, row, base_name(row->file));

        code = at < 0 ? (int)at : 0;
        renumbered[i] = (uint32_t)at;
        last[i] = SIZE_MAX;
    }
    for (size_t i = 0; !code && i < profile->row_count; i++)
        code = take_arcs(&stripped, profile, &profile->rows[i], renumbered, last);
    if (!code)
        code = vti_profile_order(&stripped);
    free(renumbered);
    free(last);
    if (code) {
        vti_profile_fini(&stripped);
        return code;
    }
    stripped.out_of_range = profile->out_of_range;
    stripped.calls->sample_ns = profile->calls->sample_ns;
    vti_profile_fini(profile);
    *profile = stripped;
    return 0;
}
