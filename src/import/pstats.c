/*
 * pstats.c - a file of cProfile becomes a recording: its rows and pairs as they are, because no tree can be
 * made of them.
 */
#include "analyze/profile.h"
#include "base/error.h"
#include "format/profiles.h"
#include "import/target.h"

#include <string.h>

#define BLOCK_BYTES (1u << 20)

static bool fits(const uint8_t *data, size_t size)
{
    return size > 1 && (data[0] & 0x7f) == '{' && !strchr("\"} \t\r\n", data[1]);
}

/* The site of a row; 0 without memory. */
static uint32_t site_of(struct vti_import_target *target, const struct vti_profile *profile,
                        const struct vti_profile_row *row)
{
    const struct vti_function *function = &profile->calls->functions[row->function];
    struct vti_site_fact site = {.type = VTI_SITE_FUNCTION,
                                 .name = vti_bytes_of(row->name),
                                 .function = vti_bytes_of(row->name),
                                 .file = vti_bytes_of(row->file),
                                 .line = row->line,
                                 .unit = vti_bytes_of(function->language)};

    return vti_import_site(target, &site);
}

static int add_numbers(struct vti_import_target *target, uint32_t site, uint32_t flags,
                       const struct vti_profile_numbers *numbers)
{
    vti_profile_write(&target->entry, &(struct vti_profile_fact){.site = site,
                                                                 .flags = flags,
                                                                 .calls = numbers->calls,
                                                                 .primitive = numbers->primitive,
                                                                 .self_s = numbers->self_s,
                                                                 .total_s = numbers->total_s});
    return site ? 0 : VTI_E_NOMEM;
}

static int add_row(struct vti_import_target *target, const struct vti_profile *profile,
                   const struct vti_profile_row *row)
{
    int code = add_numbers(target, site_of(target, profile, row), 0, &row->numbers);

    vti_buf_add_varint(&target->entry, row->caller_count);
    for (size_t i = 0; i < row->caller_count && !code; i++) {
        const struct vti_profile_arc *arc = &profile->arcs[row->first_caller + i];

        code = add_numbers(target, site_of(target, profile, &profile->rows[arc->caller]),
                           arc->is_count_only ? VTI_PROFILE_COUNT_ONLY : 0, &arc->numbers);
    }
    return code;
}

static int write_rows(struct vti_import_target *target, const struct vti_profile *profile)
{
    uint32_t count = 0;
    int code = 0;

    for (size_t i = 0; i < profile->row_count && !code; i++) {
        if (!profile->rows[i].is_caller_only) {
            code = add_row(target, profile, &profile->rows[i]);
            count++;
        }
        if (!code && (target->entry.len > BLOCK_BYTES || i + 1 == profile->row_count)) {
            code = vti_import_write_sites(target);
            if (!code)
                code = vti_import_block(target, VTI_PROFILE, 0, count, 0);
            count = 0;
        }
    }
    return code;
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    struct vti_profile profile;
    int code = vti_profile_read_pstats(&profile, input->path, input->data, input->size);

    if (code)
        return code;
    code = vti_import_process(target, 0, 0, "imported", 0);
    if (!code)
        code = write_rows(target, &profile);
    if (profile.out_of_range)
        vti_import_note(target, VTI_OUT_OF_RANGE, (unsigned long long)profile.out_of_range,
                        profile.out_of_range == 1 ? "" : "s");
    vti_profile_fini(&profile);
    return code;
}

const struct vti_importer vti_import_pstats = {
    .name = "pstats",
    .summary = "what cProfile writes (.prof)",
    .fits = fits,
    .run = run,
};
