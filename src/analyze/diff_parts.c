/* diff_parts.c - tasks and steps of two runs side by side. A name stands for all of that name. */
#include "analyze/diff_impl.h"
#include "analyze/steps.h"
#include "analyze/tasks_stats.h"
#include "base/error.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vti_diff_side_free_parts(struct vti_diff_side *side)
{
    for (size_t i = 0; i < side->part_count; i++)
        free(side->parts[i].name);
    free(side->parts);
}

/* ---- one run --------------------------------------------------------------------------------- */

static int add(struct vti_diff_side *side, const char *kind, const char *name, uint64_t count,
               double total_ns)
{
    struct vti_diff_part part = {kind, strdup(name), count, total_ns};

    if (!part.name ||
        vti_grow(&side->parts, side->part_count, &side->part_room, sizeof *side->parts)) {
        free(part.name);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    side->parts[side->part_count++] = part;
    return 0;
}

static int load_tasks(struct vti_diff_side *side, vt_recording *recording)
{
    struct vti_tasks tasks = {0};
    struct vti_task_groups groups = {0};
    int code = vti_tasks_load(recording, &tasks);

    if (!code && tasks.task_count)
        code = vti_task_groups_make(&groups, &tasks, VTI_NO_TASK);
    for (uint32_t i = 0; i < groups.count && !code; i++)
        if (*groups.items[i].name) /* transfers and the like have none */
            code = add(side, "task", groups.items[i].name, groups.items[i].ran,
                       (double)groups.items[i].total_ns);
    vti_task_groups_fini(&groups);
    vti_tasks_free(&tasks);
    return code;
}

static int load_steps(struct vti_diff_side *side, vt_recording *recording)
{
    struct vti_step_sums sums;
    int code = vti_step_sums_load(&sums, recording);

    for (uint32_t i = 0; i < sums.ids.count && !code; i++)
        code = add(side, "step", sums.sums[i].source, sums.sums[i].messages,
                   sums.sums[i].measured[VTI_STEP_EXECUTE].sum);
    vti_step_sums_fini(&sums);
    return code;
}

static int by_name(const void *left, const void *right)
{
    const struct vti_diff_part *a = left;
    const struct vti_diff_part *b = right;
    int order = strcmp(a->kind, b->kind);

    return order ? order : strcmp(a->name, b->name);
}

/* Names that stand there twice (a step of two prefixes) become one. */
static void join_names(struct vti_diff_side *side)
{
    size_t kept = 0;

    if (side->part_count)
        qsort(side->parts, side->part_count, sizeof *side->parts, by_name);
    for (size_t i = 1; i < side->part_count; i++) {
        struct vti_diff_part *part = &side->parts[i];

        if (by_name(part, &side->parts[kept])) {
            side->parts[++kept] = *part;
            continue;
        }
        side->parts[kept].count = vti_add_capped(side->parts[kept].count, part->count);
        side->parts[kept].total_ns += part->total_ns;
        free(part->name);
    }
    side->part_count = side->part_count ? kept + 1 : 0;
}

int vti_diff_side_load_parts(struct vti_diff_side *side, vt_recording *recording)
{
    int code = load_tasks(side, recording);

    if (!code)
        code = load_steps(side, recording);
    join_names(side);
    return code;
}

/* ---- both ------------------------------------------------------------------------------------ */

static double change_of(const struct vti_diff_part_pair *pair)
{
    return fabs((pair->now ? pair->now->total_ns : 0) - (pair->base ? pair->base->total_ns : 0));
}

static int by_change(const void *left, const void *right)
{
    const struct vti_diff_part_pair *a = left;
    const struct vti_diff_part_pair *b = right;
    double one = change_of(a);
    double other = change_of(b);

    if (one != other)
        return one < other ? 1 : -1;
    return by_name(a->now ? a->now : a->base, b->now ? b->now : b->base);
}

int vti_diff_match_parts(struct vti_diff *diff)
{
    const struct vti_diff_side *base = diff->base;
    const struct vti_diff_side *now = diff->now;
    size_t i = 0;
    size_t j = 0;

    diff->parts = calloc(base->part_count + now->part_count + 1, sizeof *diff->parts);
    if (!diff->parts)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    while (i < base->part_count || j < now->part_count) {
        struct vti_diff_part_pair *pair = &diff->parts[diff->part_count++];
        int order = j == now->part_count    ? -1
                    : i == base->part_count ? 1
                                            : by_name(&base->parts[i], &now->parts[j]);

        if (order <= 0)
            pair->base = &base->parts[i++];
        if (order >= 0)
            pair->now = &now->parts[j++];
        diff->common_parts += order == 0;
    }
    qsort(diff->parts, diff->part_count, sizeof *diff->parts, by_change);
    return 0;
}
