/*
 * check_runs.c - several recorded runs of each side, function by function.
 *
 * Own times of one run are as noisy as the machine: where more were recorded, the median of each function counts.
 */
#include "base/error.h"
#include "cli/check.h"
#include "model/model.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

static int load_side(struct vti_diff_side *side, const char *path)
{
    vt_recording *recording = NULL;
    int code = vt_recording_open(&recording, path);

    if (!code)
        code = vti_diff_side_load(side, recording);
    if (recording)
        vt_recording_close(recording);
    return code;
}

int vti_check_runs_add(struct vti_check_runs *runs, const char *base, const char *now)
{
    struct vti_diff_side *sides = runs->sides[runs->count];
    struct vti_diff *diff = &runs->diffs[runs->count];
    int code;

    runs->count++;
    code = load_side(&sides[0], base);
    if (!code)
        code = load_side(&sides[1], now);
    return code ? code : vti_diff_make(diff, &sides[0], &sides[1]);
}

void vti_check_runs_fini(struct vti_check_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        vti_diff_fini(&runs->diffs[i]);
        vti_diff_side_fini(&runs->sides[i][0]);
        vti_diff_side_fini(&runs->sides[i][1]);
    }
    free(runs->candidates);
    memset(runs, 0, sizeof *runs);
}

/* ---- the same function in every run -------------------------------------------------------------- */

static int by_identity(const void *left, const void *right)
{
    const struct vti_diff_function *a = *(const struct vti_diff_function *const *)left;
    const struct vti_diff_function *b = *(const struct vti_diff_function *const *)right;
    int order = strcmp(a->name, b->name);

    if (!order)
        order = strcmp(a->file, b->file);
    if (!order)
        order = strcmp(a->language, b->language);
    if (!order)
        order = (a->line > b->line) - (a->line < b->line);
    return order ? order : (a->base_line > b->base_line) - (a->base_line < b->base_line);
}

/* The functions of a run, to be searched; the caller frees. */
static const struct vti_diff_function **index_of(const struct vti_diff *diff)
{
    const struct vti_diff_function **index = calloc(diff->function_count + 1, sizeof *index);

    for (size_t i = 0; index && i < diff->function_count; i++)
        index[i] = &diff->functions[i];
    if (index)
        qsort(index, diff->function_count, sizeof *index, by_identity);
    return index;
}

static int by_loss(const void *left, const void *right)
{
    const struct vti_candidate *a = left;
    const struct vti_candidate *b = right;
    double one = a->now_s - a->base_s;
    double other = b->now_s - b->base_s;

    return one < other ? 1 : one > other ? -1 : strcmp(a->function->name, b->function->name);
}

static void add_candidate(struct vti_check_runs *runs, const struct vti_diff_function *function,
                          const struct vti_diff_function **const *indices)
{
    double base[VTI_CHECK_RECORDED] = {function->base.self_ns / 1e9};
    double now[VTI_CHECK_RECORDED] = {function->now.self_ns / 1e9};
    size_t count = 1;

    for (size_t i = 1; i < runs->count; i++) {
        const struct vti_diff_function *const *same = bsearch(
            &function, indices[i], runs->diffs[i].function_count, sizeof *indices[i], by_identity);

        if (same) {
            base[count] = (*same)->base.self_ns / 1e9;
            now[count++] = (*same)->now.self_ns / 1e9;
        }
    }
    runs->candidates[runs->candidate_count++] = (struct vti_candidate){
        function, vti_median(base, count), vti_median(now, count), false};
}

int vti_check_runs_order(struct vti_check_runs *runs)
{
    const struct vti_diff_function **indices[VTI_CHECK_RECORDED] = {NULL};
    const struct vti_diff *first = &runs->diffs[0];
    int code = 0;

    runs->candidates = calloc(first->function_count + 1, sizeof *runs->candidates);
    for (size_t i = 1; i < runs->count; i++)
        if (!(indices[i] = index_of(&runs->diffs[i])))
            code = VTI_E_NOMEM;
    if (!runs->candidates)
        code = VTI_E_NOMEM;
    for (size_t i = 0; i < first->function_count && !code; i++)
        add_candidate(runs, &first->functions[i], indices);
    if (!code)
        qsort(runs->candidates, runs->candidate_count, sizeof *runs->candidates, by_loss);
    for (size_t i = 0; i < VTI_CHECK_RECORDED; i++)
        free(indices[i]);
    return code ? vti_fail(code, "out of memory") : 0;
}
