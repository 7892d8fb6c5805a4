/*
 * profile_imported.c - the function table that a recording was given by `venturi import`: pairs as they
 * are, for which there is no tree.
 *
 * Rows come first and callers in a second pass, so that rows keep their order. Functions that occur more
 * than once (in a merged recording) are added up. What does not parse ends its block.
 */
#include "analyze/profile_impl.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/profiles.h"
#include "model/fact_blocks.h"

struct loading {
    struct vti_profile *profile;
    vt_recording *recording;
    bool wants_callers; /* the second pass */
};

/* The row of the function that a site stands for. */
static int64_t find_row(struct loading *loading, uint32_t id)
{
    struct vt_site_info site;

    vt_recording_site_by_id(loading->recording, id, &site);
    return vti_profile_plain_row(loading->profile, site.file, site.line, site.function);
}

static void add_numbers(struct vti_profile *profile, struct vti_profile_numbers *to,
                        const struct vti_profile_fact *fact)
{
    to->calls = vti_add_capped(to->calls, fact->calls);
    to->primitive = vti_add_capped(to->primitive, fact->primitive);
    to->self_s += vti_profile_seconds(profile, fact->self_s);
    to->total_s += vti_profile_seconds(profile, fact->total_s);
}

static int take_row(struct loading *loading, const struct vti_profile_fact *fact)
{
    int64_t row = find_row(loading, fact->site);

    if (row < 0)
        return (int)row;
    loading->profile->is_imported = true;
    add_numbers(loading->profile, &loading->profile->rows[row].numbers, fact);
    return 0;
}

static int take_caller(struct loading *loading, uint32_t callee_site,
                       const struct vti_profile_fact *fact)
{
    struct vti_profile *profile = loading->profile;
    int64_t callee = find_row(loading, callee_site);
    size_t known = profile->row_count;
    int64_t caller = find_row(loading, fact->site);
    int64_t arc;

    if (callee < 0 || caller < 0)
        return VTI_E_NOMEM;
    if (profile->row_count > known)
        profile->rows[caller].is_caller_only = true;
    arc = vti_profile_arc(profile, (uint32_t)caller, (uint32_t)callee);
    if (arc < 0)
        return (int)arc;
    profile->arcs[arc].is_count_only = fact->flags & VTI_PROFILE_COUNT_ONLY;
    add_numbers(profile, &profile->arcs[arc].numbers, fact);
    return 0;
}

static int take_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct loading *loading = arg;
    struct vti_profile_fact row;
    struct vti_profile_fact caller;
    struct vti_reader in;
    int code = 0;

    if (header->kind != VTI_PROFILE)
        return 0;
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && !code && vti_profile_read(&in, &row); i++) {
        uint64_t callers = vti_reader_count(&in, vti_reader_left(&in));

        if (!loading->wants_callers)
            code = take_row(loading, &row);
        for (uint64_t j = 0; j < callers && !code && vti_profile_read(&in, &caller); j++)
            if (loading->wants_callers)
                code = take_caller(loading, row.site, &caller);
    }
    if (!code && (in.failed || vti_reader_left(&in)))
        vti_damage_note_block(loading->recording, header, payload);
    return code;
}

int vti_profile_load_imported(struct vti_profile *profile, vt_recording *recording)
{
    struct loading loading = {.profile = profile, .recording = recording};
    int code = vti_profile_begin(profile);

    if (!code)
        code = vti_fact_blocks(recording, take_block, &loading);
    loading.wants_callers = true;
    if (!code)
        code = vti_fact_blocks(recording, take_block, &loading);
    if (!code)
        code = vti_profile_order(profile);
    if (code)
        vti_profile_fini(profile);
    return code;
}
