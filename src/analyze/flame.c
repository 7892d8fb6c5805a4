/*
 * flame.c - paths of calls become frames. flame_fold.c puts them in order and leaves the small ones out.
 *
 * Takes time in proportion to the calls, times the levels asked for when it goes from the bottom up.
 */
#include "analyze/flame_impl.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MOST 8000000u /* half a gigabyte of them: nobody can look at more */

struct builder {
    struct vti_flame *flame;
    const struct vti_calls *calls;
    const struct vti_flame_options *options;
    struct vti_map *known; /* frames by parent, function and track */
    bool is_exact;         /* the focus is a whole name, not a part of one */
};

/* ---- one frame ------------------------------------------------------------------------------- */

/* The frame for a function (or a thread) within `parent`, a new one if there is none yet; negative on failure. */
static int64_t find_frame(struct builder *builder, uint32_t parent, uint32_t function,
                          uint32_t track)
{
    struct vti_flame *flame = builder->flame;
    uint32_t key[3] = {parent, function, function == VT_NONE ? track : VT_NONE};
    int is_new = 0;
    int64_t at = vti_map_add(builder->known, key, sizeof key, &is_new);

    if (at < 0 || vti_grow(&flame->frames, flame->count, &flame->room, sizeof *flame->frames))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (!is_new)
        return at;
    if (flame->count >= FRAMES_MOST)
        return vti_fail(VTI_E_LIMIT, "more than %u different paths", FRAMES_MOST);
    flame->frames[flame->count++] = (struct vti_flame_frame){
        .parent = parent,
        .function = function,
        .track = key[2],
        .depth = parent == VT_NONE ? 0 : flame->frames[parent].depth + 1};
    return at;
}

static void add_call(struct vti_flame_frame *frame, const struct vti_call *call, double total_ns)
{
    frame->calls += call->calls + call->resumes;
    frame->total_ns += total_ns;
    frame->self_ns += call->self_ns > 0 ? call->self_ns : 0;
    frame->is_estimated |= call->is_estimated || call->samples;
}

/* ---- focus ----------------------------------------------------------------------------------- */

static bool is_wanted(const struct builder *builder, uint32_t function)
{
    const struct vti_function *it = &builder->calls->functions[function];
    const char *focus = builder->options->focus;

    if (!focus)
        return false;
    if (builder->is_exact)
        return !strcmp(it->name, focus) || !strcmp(it->function, focus);
    return strstr(it->name, focus) != NULL;
}

/* Whole names first; parts of names if there is no such. */
static int find_focus(struct builder *builder)
{
    if (!builder->options->focus)
        return 0;
    builder->is_exact = true;
    for (int pass = 0; pass < 2; pass++, builder->is_exact = false)
        for (uint32_t i = 0; i < builder->calls->function_count; i++)
            if (is_wanted(builder, i))
                return 0;
    return vti_fail(VTI_E_NOT_FOUND, "nothing is called '%s'", builder->options->focus);
}

/* ---- from the top down ----------------------------------------------------------------------- */

static double positive(double ns)
{
    return ns > 0 ? ns : 0;
}

#define OUTSIDE (VT_NONE - 1) /* not in the picture */

/* The frame around a call: that of its caller, a thread, or none (VT_NONE). */
static int64_t frame_around(struct builder *builder, const uint32_t *frames,
                            const struct vti_call *call)
{
    int64_t thread;

    if (call->parent != VT_NONE && frames[call->parent] != OUTSIDE)
        return frames[call->parent];
    if (builder->options->focus && !is_wanted(builder, call->function))
        return OUTSIDE;
    if (!builder->options->is_by_thread)
        return VT_NONE;
    thread = find_frame(builder, VT_NONE, VT_NONE, call->track);
    if (thread >= 0) {
        builder->flame->frames[thread].total_ns += positive(call->total_ns);
        builder->flame->frames[thread].calls++;
    }
    return thread;
}

static int build_down(struct builder *builder)
{
    const struct vti_calls *calls = builder->calls;
    uint32_t *frames = calloc(calls->call_count + 1, sizeof *frames); /* of each call */
    int64_t at = frames ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    for (size_t i = 0; at >= 0 && i < calls->call_count; i++) {
        const struct vti_call *call = &calls->calls[i];

        at = frame_around(builder, frames, call);
        if (at >= 0 && at != OUTSIDE) {
            at = find_frame(builder, (uint32_t)at, call->function, call->track);
            if (at >= 0)
                add_call(&builder->flame->frames[at], call, positive(call->total_ns));
        }
        if (at >= 0)
            frames[i] = (uint32_t)at;
    }
    free(frames);
    return at < 0 ? (int)at : 0;
}

/* ---- from the bottom up ---------------------------------------------------------------------- */

/* The time of a call goes to its function, and to each of its callers in turn within that. */
static int add_callers(struct builder *builder, const struct vti_call *call, double ns)
{
    const struct vti_calls *calls = builder->calls;
    int64_t at = VT_NONE;

    for (uint32_t level = 0; call && level < builder->options->depth; level++) {
        at = find_frame(builder, (uint32_t)at, call->function, call->track);
        if (at < 0)
            return (int)at;
        builder->flame->frames[at].total_ns += ns;
        builder->flame->frames[at].calls += call->calls;
        builder->flame->frames[at].is_estimated |= call->is_estimated || call->samples;
        if (level == 0)
            builder->flame->frames[at].self_ns += ns;
        call = call->parent == VT_NONE ? NULL : &calls->calls[call->parent];
    }
    if (call)
        builder->flame->deeper = 1;
    return 0;
}

/* Of a focus the outermost calls count, with all that is within them: who calls it. */
static int build_up(struct builder *builder)
{
    const struct vti_calls *calls = builder->calls;
    bool *is_within = calloc(calls->call_count + 1, sizeof *is_within);
    int code = is_within ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    for (size_t i = 0; !code && i < calls->call_count; i++) {
        const struct vti_call *call = &calls->calls[i];
        bool is_around = call->parent != VT_NONE && is_within[call->parent];

        is_within[i] = is_around || is_wanted(builder, call->function);
        if (builder->options->focus && is_within[i] && !is_around)
            code = add_callers(builder, call, positive(call->total_ns));
        else if (!builder->options->focus && call->self_ns > 0)
            code = add_callers(builder, call, call->self_ns);
    }
    free(is_within);
    return code;
}

int vti_flame_make(struct vti_flame *flame, const struct vti_calls *calls,
                   const struct vti_flame_options *options)
{
    struct builder builder = {.flame = flame, .calls = calls, .options = options};
    int code;

    *flame = (struct vti_flame){0};
    code = find_focus(&builder);
    if (!code)
        code = vti_map_create(&builder.known);
    if (!code)
        code = options->is_bottom_up ? build_up(&builder) : build_down(&builder);
    if (!code)
        code = vti_flame_fold(flame, calls, options);
    vti_map_free(builder.known);
    return code;
}

void vti_flame_fini(struct vti_flame *flame)
{
    free(flame->frames);
    *flame = (struct vti_flame){0};
}
