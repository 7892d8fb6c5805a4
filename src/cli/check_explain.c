/*
 * check_explain.c - what carries a difference: functions and spans of two recordings, by analyze/diff.h, and the lines of the one
 * that changed most.
 */
#include "analyze/diff.h"
#include "base/error.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double change_of(const struct vti_diff_function *function)
{
    return function->now.self_ns - function->base.self_ns;
}

static int keep(struct vti_checking *checking, const struct vti_diff_function *function)
{
    const char *file = strrchr(function->file, '/');
    struct vti_reason reason = {
        .kind = !strcmp(function->language, "span") ? "span" : "function",
        .base_s = function->base.self_ns / 1e9,
        .now_s = function->now.self_ns / 1e9,
        .base_count = (double)function->base.calls,
        .now_count = (double)function->now.calls,
    };
    uint32_t line = function->line ? function->line : function->base_line;
    int made;

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

/* In the order of the diff: the largest change of own time first, then what is called more often. */
static int gather(struct vti_checking *checking, const struct vti_diff *diff, const char **hottest)
{
    double largest = 0;
    int code = 0;

    for (size_t i = 0; i < diff->function_count && !code; i++) {
        const struct vti_diff_function *function = &diff->functions[i];

        if (checking->reason_count >= MOST_REASONS)
            break;
        if (change_of(function) > 0 && change_of(function) >= LEAST_PART * largest) {
            largest = fmax(largest, change_of(function));
            if (!*hottest && !strcmp(function->language, "python"))
                *hottest = function->name;
            code = keep(checking, function);
        } else if (function->match == VTI_DIFF_BOTH && function->now.calls > function->base.calls) {
            code = keep(checking, function);
        }
    }
    return code;
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

static int diff_of(struct vti_checking *checking, char *const paths[2], char **hottest)
{
    struct vti_diff_side sides[2] = {0};
    struct vti_diff diff = {0};
    const char *name = NULL;
    int code = load_side(&sides[0], paths[0]);

    if (!code)
        code = load_side(&sides[1], paths[1]);
    if (!code)
        code = vti_diff_make(&diff, &sides[0], &sides[1]);
    if (!code)
        code = gather(checking, &diff, &name);
    if (!code && name)
        *hottest = strdup(name);
    vti_diff_fini(&diff);
    vti_diff_side_fini(&sides[0]);
    vti_diff_side_fini(&sides[1]);
    return code;
}

/* A program that records nothing by itself is sampled. */
static int sample(struct vti_checking *checking)
{
    static const char *const options[] = {"--native", NULL};
    char *paths[2] = {vti_check_record(checking, 0, "base-native.vt", options),
                      vti_check_record(checking, 1, "new-native.vt", options)};
    char *hottest = NULL;
    int code = paths[0] && paths[1] ? diff_of(checking, paths, &hottest) : 0;

    free(hottest);
    free(paths[0]);
    free(paths[1]);
    return code;
}

static int record_now(struct vti_checking *checking)
{
    static const char *const options[] = {"--only-mine", NULL};

    for (int side = 0; side < 2; side++)
        if (!checking->recordings[side]) {
            checking->recordings[side] = vti_check_record(checking, side,
                                                          side ? "new.vt" : "base.vt", options);
            if (!checking->recordings[side])
                return VTI_E_READ;
        }
    return 0;
}

/* A verdict stands without an explanation: what cannot be had is left out. */
int vti_check_explain(struct vti_checking *checking)
{
    char *hottest = NULL;
    int code = 0;

    if (!is_needed(checking) || checking->reason_count)
        return 0;
    if (checking->lines[0].words && checking->lines[1].words)
        code = record_now(checking);
    if (!code && checking->recordings[0] && checking->recordings[1])
        code = diff_of(checking, checking->recordings, &hottest);
    if (!code && checking->recordings[0] && checking->recordings[1])
        code = tasks_of(checking, checking->recordings);
    if (!code && !checking->reason_count && checking->lines[0].words)
        code = sample(checking);
    if (!code && hottest && checking->lines[0].words)
        code = vti_check_explain_lines(checking, hottest);
    free(hottest);
    return code == VTI_E_NOMEM ? vti_cmd_error("check", code) : 0;
}
