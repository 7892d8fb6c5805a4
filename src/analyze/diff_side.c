/* diff_side.c - what a comparison needs to know of one run, so that its recording can be closed again. */
#include "analyze/diff_impl.h"
#include "analyze/resources.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct vti_calls_options merged = {.is_merged = true,
                                                .track = VT_NONE,
                                                .process = VT_NONE};

void vti_diff_side_fini(struct vti_diff_side *side)
{
    vti_profile_fini(&side->counted);
    vti_profile_fini(&side->spans);
    vti_calls_fini(&side->trees);
    vti_calls_fini(&side->span_tree);
    vti_diff_side_free_parts(side);
    free(side->command);
    free(side->cpu);
    memset(side, 0, sizeof *side);
}

static double own_time(const struct vti_profile *profile)
{
    double seconds = 0;

    for (size_t i = 0; i < profile->row_count; i++)
        seconds += profile->rows[i].numbers.self_s;
    return seconds * 1e9;
}

static int keep_texts(struct vti_diff_side *side, const char *command, const char *cpu)
{
    side->command = strdup(command);
    side->cpu = strdup(cpu);
    return side->command && side->cpu ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

static int keep_facts(struct vti_diff_side *side, const vt_recording *recording)
{
    struct vt_recording_info info;
    struct vt_host_info host = {.cpu = ""};

    vt_recording_info(recording, &info);
    vt_recording_host(recording, 0, &host);
    side->start_realtime_ns = info.start_realtime_ns;
    side->duration_ns = (double)info.duration_ns;
    side->lost_events = info.lost_events;
    side->is_closed = info.is_closed;
    side->is_sampled = side->trees.is_estimated;
    return keep_texts(side, info.command, host.cpu);
}

/* Also how long it lasted, of a program that recorded no event: from the first reading of its processes to the last. */
static int keep_load(struct vti_diff_side *side, vt_recording *recording)
{
    struct vti_resources resources;
    bool is_timed = side->duration_ns > 0;
    int code = vti_resources_load(&resources, recording);

    if (!code)
        side->others_busy = vti_resources_others(&resources);
    for (size_t i = 0; i < resources.tree_count && !code && !is_timed; i++)
        side->duration_ns = fmax(side->duration_ns, (double)resources.trees[i].end_ns -
                                                        (double)resources.trees[i].begin_ns);
    vti_resources_fini(&resources);
    return code;
}

/* The table of another profiler counts where there are no trees: it has no paths. */
static int load_counted(struct vti_diff_side *side, vt_recording *recording)
{
    int code = vti_calls_load_trees(&side->trees, recording, &merged);

    if (code)
        return code;
    if (side->trees.call_count)
        return vti_profile_make(&side->counted, &side->trees);
    code = vti_profile_load(&side->counted, recording, &merged);
    if (!code &&
        !side->counted.is_imported) { /* calls of the time line: they are among the spans */
        vti_profile_fini(&side->counted);
        side->counted = (struct vti_profile){0};
    }
    return code;
}

int vti_diff_side_load(struct vti_diff_side *side, vt_recording *recording)
{
    int code;

    memset(side, 0, sizeof *side);
    code = load_counted(side, recording);
    if (!code)
        code = vti_calls_load_spans(&side->span_tree, recording, &merged);
    if (!code && !side->span_tree.call_count) {
        vti_calls_fini(&side->span_tree);
        code = vti_calls_load_traces(&side->span_tree, recording);
    }
    if (!code)
        code = vti_profile_make(&side->spans, &side->span_tree);
    if (!code)
        code = keep_facts(side, recording);
    if (!code)
        code = keep_load(side, recording);
    /* Spans are around calls: together they would count the same time twice. */
    side->self_ns = own_time(side->counted.row_count ? &side->counted : &side->spans);
    return code;
}

int vti_diff_side_read(struct vti_diff_side *side, const char *path)
{
    int code;

    memset(side, 0, sizeof *side);
    code = vti_profile_open(&side->counted, path, &merged);
    if (!code)
        code = keep_texts(side, "", "");
    side->is_closed = true;
    side->self_ns = own_time(&side->counted);
    return code;
}
