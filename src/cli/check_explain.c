/*
 * check_explain.c - what carries a difference: functions and spans of two recordings, by analyze/diff.h, and the lines of the one
 * that changed most.
 */
#include "base/error.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_REASONS 5
#define LEAST_PART 0.05 /* of the largest change: less carries nothing */

int vti_check_reason(struct vti_checking *checking, const struct vti_reason *reason)
{
    if (vti_grow(&checking->reasons, checking->reason_count, &checking->reason_room,
                 sizeof *checking->reasons))
        return VTI_E_NOMEM;
    checking->reasons[checking->reason_count++] = *reason;
    return 0;
}

char *vti_check_record(struct vti_checking *checking, int side, const char *name,
                       const char *const *options)
{
    char *path = vti_bencher_path(&checking->bencher, name);
    struct vti_spawned spawned = {0};

    if (path &&
        (vti_bencher_record(&checking->bencher, &checking->lines[side], options, path, &spawned) ||
         spawned.status)) {
        free(path);
        path = NULL;
    }
    vti_spawned_fini(&spawned);
    return path;
}

static bool is_sampled(const struct vti_diff_function *function)
{
    return !function->base.calls && !function->now.calls;
}

static int keep(struct vti_checking *checking, struct vti_candidate *candidate)
{
    const struct vti_diff_function *function = candidate->function;
    const char *file = strrchr(function->file, '/');
    struct vti_reason reason = {
        .kind = !strcmp(function->language, "span") ? "span" : "function",
        .base_s = candidate->base_s,
        .now_s = candidate->now_s,
        .base_count = is_sampled(function) ? NAN : (double)function->base.calls,
        .now_count = is_sampled(function) ? NAN : (double)function->now.calls,
    };
    uint32_t line = function->line ? function->line : function->base_line;
    int made;

    candidate->is_kept = true;
    file = file ? file + 1 : function->file;
    if (*file && *file != '~' && line)
        made = asprintf(&reason.text, "%s  %s:%u", function->name, file, line);
    else
        made = asprintf(&reason.text, "%s", function->name);
    if (made < 0)
        return VTI_E_NOMEM;
    if (vti_check_reason(checking, &reason)) {
        free(reason.text);
        return VTI_E_NOMEM;
    }
    return 0;
}

/* ---- which functions ----------------------------------------------------------------------------- */

/* Whether it is what a row of the comparison is about, whose count has grown and decides. */
static bool is_of(const struct vti_compared *row, const struct vti_diff_function *function)
{
    bool is_span = !strcmp(function->language, "span");
    char label[VTI_LABEL_BYTES];

    return !strcmp(row->name, vti_measure_label(label, is_span ? "spans" : "calls", function->name,
                                                is_span ? "" : function->file));
}

static bool has_decided(const struct vti_checking *checking,
                        const struct vti_diff_function *function)
{
    for (size_t i = 0; i < checking->comparison.count; i++) {
        const struct vti_compared *row = &checking->comparison.rows[i];

        if (row->kind == VTI_QUANTITY_COUNT && row->gates && row->verdict == VTI_VERDICT_WORSE &&
            is_of(row, function))
            return true;
    }
    return false;
}

static bool is_called_more(const struct vti_diff_function *function)
{
    return function->match == VTI_DIFF_BOTH && function->now.calls > function->base.calls;
}

/* Counts have decided: what they are of, then what else is called more often. Times of single runs come in any order. */
static int gather_counts(struct vti_checking *checking, const struct vti_check_runs *runs)
{
    int code = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < runs->candidate_count && !code; i++) {
            const struct vti_diff_function *function = runs->candidates[i].function;

            if (checking->reason_count < MOST_REASONS && is_called_more(function) &&
                has_decided(checking, function) == !pass)
                code = keep(checking, &runs->candidates[i]);
        }
    return code;
}

/* The largest change of own time first, then what is called more often. */
static int gather_times(struct vti_checking *checking, const struct vti_check_runs *runs)
{
    double largest = 0;
    int code = 0;

    for (size_t i = 0; i < runs->candidate_count && !code; i++) {
        struct vti_candidate *candidate = &runs->candidates[i];
        double change = candidate->now_s - candidate->base_s;

        if (checking->reason_count >= MOST_REASONS)
            break;
        largest = fmax(largest, change);
        if (candidate->is_kept)
            continue;
        if ((change > 0 && change >= LEAST_PART * largest) || is_called_more(candidate->function))
            code = keep(checking, candidate);
    }
    return code;
}

/* The Python function that comes first: its lines tell more. */
static const char *hottest_of(const struct vti_checking *checking,
                              const struct vti_check_runs *runs)
{
    for (size_t i = 0; i < checking->reason_count; i++)
        for (size_t j = 0; j < runs->candidate_count; j++) {
            const struct vti_diff_function *function = runs->candidates[j].function;
            size_t len = strlen(function->name);
            const char *text = checking->reasons[i].text;

            if (!strcmp(function->language, "python") && !strncmp(text, function->name, len) &&
                (!text[len] || text[len] == ' '))
                return function->name;
        }
    return NULL;
}

/* Tasks by their names, as `venturi tasks` has them: all of a name together. */
static int add_tasks(struct vti_checking *checking, const struct vti_bench_entry *base,
                     const struct vti_bench_entry *now)
{
    int code = 0;

    for (size_t i = 0; i < now->count && !code; i++) {
        const struct vti_quantity *time = &now->quantities[i];
        const struct vti_quantity *was = vti_bench_find(base, time->name);
        char counted[512];
        const struct vti_quantity *counts[2];
        struct vti_reason reason = {.kind = "task", .now_s = time->values[0]};

        if (time->kind != VTI_QUANTITY_TIME || strncmp(time->name, "task:", 5))
            continue;
        snprintf(counted, sizeof counted, "tasks:%s", time->name + 5);
        counts[0] = vti_bench_find(base, counted);
        counts[1] = vti_bench_find(now, counted);
        reason.base_s = was ? was->values[0] : 0;
        reason.base_count = counts[0] ? counts[0]->values[0] : 0;
        reason.now_count = counts[1] ? counts[1]->values[0] : 0;
        if (reason.now_s <= reason.base_s && reason.now_count <= reason.base_count)
            continue;
        reason.text = strdup(time->name + 5);
        code = reason.text ? vti_check_reason(checking, &reason) : VTI_E_NOMEM;
        if (code)
            free(reason.text);
    }
    return code;
}

static int measure_side(struct vti_bench *bench, const char *path)
{
    vt_recording *recording = NULL;
    int code = vt_recording_open(&recording, path);

    if (!code)
        code = vti_measure_bench(bench, recording, NULL);
    if (recording)
        vt_recording_close(recording);
    return code;
}

static int tasks_of(struct vti_checking *checking, char *const paths[2])
{
    struct vti_bench sides[2] = {0};
    int code = measure_side(&sides[0], paths[0]);

    if (!code)
        code = measure_side(&sides[1], paths[1]);
    if (!code)
        code = add_tasks(checking, &sides[0].entries[0], &sides[1].entries[0]);
    vti_bench_fini(&sides[0]);
    vti_bench_fini(&sides[1]);
    return code;
}

static bool is_needed(const struct vti_checking *checking)
{
    return checking->has_base && vti_comparison_verdict(&checking->comparison) == VTI_VERDICT_WORSE;
}

static bool times_decide(const struct vti_checking *checking)
{
    return vti_check_times(&checking->comparison) == VTI_VERDICT_WORSE;
}

static int reasons_of(struct vti_checking *checking, struct vti_check_runs *runs, char **hottest)
{
    const char *name;
    int code = vti_check_runs_order(runs);

    checking->reason_runs = runs->count;
    if (!code && vti_check_worse_count(&checking->comparison))
        code = gather_counts(checking, runs);
    if (!code && (times_decide(checking) || !checking->reason_count))
        code = gather_times(checking, runs);
    name = code ? NULL : hottest_of(checking, runs);
    if (name)
        *hottest = strdup(name);
    return code;
}

/* A program that records nothing by itself is sampled. */
static int sample(struct vti_checking *checking)
{
    static const char *const options[] = {"--native", NULL};
    char *paths[2] = {vti_check_record(checking, 0, "base-native.vt", options),
                      vti_check_record(checking, 1, "new-native.vt", options)};
    struct vti_check_runs runs = {.count = 0};
    char *hottest = NULL;
    int code = paths[0] && paths[1] ? vti_check_runs_add(&runs, paths[0], paths[1]) : VTI_E_READ;

    if (!code)
        code = reasons_of(checking, &runs, &hottest);
    vti_check_runs_fini(&runs);
    free(hottest);
    free(paths[0]);
    free(paths[1]);
    return code;
}

/* A recorded run of a side: one that was made for its counts, or one that is made now. */
static char *recorded(struct vti_checking *checking, int side, size_t run)
{
    static const char *const options[] = {"--only-mine", NULL};
    static const char *const names[2][VTI_CHECK_RECORDED] = {
        {"base.vt", "base-again.vt", "base-third.vt"}, {"new.vt", "new-again.vt", "new-third.vt"}};
    char *path = vti_bencher_path(&checking->bencher, names[side][run]);

    if (path && !access(path, F_OK))
        return path;
    free(path);
    return vti_check_record(checking, side, names[side][run], options);
}

/* Where times have decided, more runs than one: the first ones of a side may have been disturbed. */
static int load_runs(struct vti_checking *checking, struct vti_check_runs *runs, bool is_live)
{
    size_t wanted = is_live && times_decide(checking) ? VTI_CHECK_RECORDED : 1;
    int code = vti_check_runs_add(runs, checking->recordings[0], checking->recordings[1]);

    for (size_t run = 1; run < wanted && !code; run++) {
        char *paths[2] = {recorded(checking, 0, run), recorded(checking, 1, run)};

        code = paths[0] && paths[1] ? vti_check_runs_add(runs, paths[0], paths[1]) : VTI_E_READ;
        free(paths[0]);
        free(paths[1]);
    }
    return code;
}

/* A verdict stands without an explanation: what cannot be had is left out. */
int vti_check_explain(struct vti_checking *checking)
{
    bool is_live = checking->lines[0].words && checking->lines[1].words;
    struct vti_check_runs runs = {.count = 0};
    char *hottest = NULL;
    int code = 0;

    if (!is_needed(checking) || checking->reason_count)
        return 0;
    for (int side = 0; side < 2 && is_live; side++)
        if (!checking->recordings[side])
            checking->recordings[side] = recorded(checking, side, 0);
    if (checking->recordings[0] && checking->recordings[1]) {
        code = load_runs(checking, &runs, is_live);
        if (!code)
            code = reasons_of(checking, &runs, &hottest);
        if (!code)
            code = tasks_of(checking, checking->recordings);
        if (!code && !checking->reason_count && is_live)
            code = sample(checking);
        if (!code && hottest && is_live)
            code = vti_check_explain_lines(checking, hottest);
    }
    vti_check_runs_fini(&runs);
    free(hottest);
    return code == VTI_E_NOMEM ? vti_cmd_error("check", code) : 0;
}
