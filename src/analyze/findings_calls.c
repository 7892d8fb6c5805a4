/* findings_calls.c - rules about who calls whom how often: very short calls, many for each one around, recursion. */
#include "analyze/findings_impl.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TINY_COUNT 10000    /* calls: fewer cost nothing that anybody would notice */
#define TINY_SHARE 0.1      /* of all calls */
#define TINY_RATIO 1.0      /* of one call's own time to what recording it costs */
#define PER_CALL 10.0       /* calls for each call of the caller, on average … */
#define PER_CALL_COUNT 100  /* … so many in all … */
#define PER_CALL_CALLERS 10 /* … from so many: from a few it is a loop, which every program has */
#define PER_CALL_SHARE 0.1  /* … that take so much of all time */
#define RECURSION_DEPTH 100 /* below that trees, parsers and sorting are */

static uint64_t all_calls(const struct vti_world *world)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < world->count; i++)
        sum += world->subjects[i].count;
    return sum;
}

void vti_find_tiny_calls(struct vti_finder *finder)
{
    for (int w = 0; w < VTI_WORLDS; w++) {
        const struct vti_world *world = &finder->worlds[w];
        const struct vti_subject *most = NULL;
        double all = (double)all_calls(world);
        struct vti_evidence evidence;
        char name[VTI_CLIP_BYTES];
        char own[VTI_NUMBER_BYTES];
        char cost[VTI_NUMBER_BYTES];
        char times[VTI_TIMES_BYTES];

        for (size_t i = 0; i < world->count && world->cost_ns > 0; i++) {
            const struct vti_subject *subject = &world->subjects[i];

            if (subject->count >= TINY_COUNT && (double)subject->count >= TINY_SHARE * all &&
                subject->self_ns / (double)subject->count < TINY_RATIO * world->cost_ns &&
                (!most || subject->count > most->count))
                most = subject;
        }
        if (!most)
            continue;
        evidence = vti_subject_evidence(most);
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, (double)most->count / all / 2, &evidence,
                        most->doubt,
                        "%s is very short: run %s for %s each, less than what recording it costs "
                        "(%s), so its times are rough.",
                        vti_subject_text(name, most), vti_text_times(times, most->count),
                        vti_text_duration(own, most->self_ns / (double)most->count),
                        vti_text_duration(cost, world->cost_ns));
    }
}

/* ---- many calls for each call of the caller -------------------------------------------------- */

static double pair_share(const struct vti_world *world, const struct vti_profile_arc *arc)
{
    const struct vti_profile_row *caller = &world->profile->rows[arc->caller];
    double share;

    if (arc->caller == arc->callee || arc->is_count_only ||
        caller->numbers.calls < PER_CALL_CALLERS || arc->numbers.calls < PER_CALL_COUNT ||
        (double)arc->numbers.calls < PER_CALL * (double)caller->numbers.calls)
        return 0;
    share = arc->numbers.total_s * 1e9 / world->self_ns;
    return share >= PER_CALL_SHARE ? fmin(share, 1) : 0;
}

void vti_find_n_plus_one(struct vti_finder *finder)
{
    for (int w = 0; w < VTI_WORLDS; w++) {
        const struct vti_world *world = &finder->worlds[w];
        const struct vti_profile_arc *most = NULL;
        const struct vti_subject *caller;
        const struct vti_subject *callee;
        struct vti_evidence evidence;
        double share = 0;
        char one[VTI_CLIP_BYTES];
        char other[VTI_CLIP_BYTES];
        char number[VTI_NUMBER_BYTES];

        for (size_t i = 0; i < world->profile->arc_count && world->self_ns > 0; i++)
            if (pair_share(world, &world->profile->arcs[i]) > share) {
                most = &world->profile->arcs[i];
                share = pair_share(world, most);
            }
        caller = most ? vti_subject_of_row(world, most->caller) : NULL;
        callee = most ? vti_subject_of_row(world, most->callee) : NULL;
        if (!caller || !callee)
            continue;
        evidence = vti_subject_evidence(callee);
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, share, &evidence, callee->doubt,
                        "%s runs %.0f times for each %s of %s: %s in all, %.0f %% of the time of "
                        "all %ss.",
                        vti_subject_text(one, callee),
                        (double)most->numbers.calls / (double)caller->count, world->call,
                        vti_subject_text(other, caller),
                        vti_text_count(number, most->numbers.calls), share * 100, world->what);
    }
}

/* ---- recursion ------------------------------------------------------------------------------- */

struct depths {
    const struct vti_calls *calls;
    uint32_t *open; /* by function: how many of it are around */
    uint32_t deepest, function;
};

static int enter(uint32_t call, void *arg)
{
    struct depths *depths = arg;
    uint32_t function = depths->calls->calls[call].function;

    if (++depths->open[function] > depths->deepest) {
        depths->deepest = depths->open[function];
        depths->function = function;
    }
    return 0;
}

static int leave(uint32_t call, void *arg)
{
    struct depths *depths = arg;

    depths->open[depths->calls->calls[call].function]--;
    return 0;
}

static void say_deepest(struct vti_finder *finder, const struct vti_world *world,
                        const struct depths *depths)
{
    for (size_t i = 0; i < world->count; i++) {
        const struct vti_subject *subject = &world->subjects[i];
        struct vti_evidence evidence = vti_subject_evidence(subject);
        char name[VTI_CLIP_BYTES];

        if (subject->row != VT_NONE &&
            world->profile->rows[subject->row].function == depths->function) {
            vti_finding_say(finder, VTI_SEVERITY_INFO,
                            world->self_ns > 0 ? subject->total_ns / world->self_ns / 2 : 0,
                            &evidence, subject->doubt, "%s calls itself up to %u levels deep.",
                            vti_subject_text(name, subject), depths->deepest);
            return;
        }
    }
}

void vti_find_recursion(struct vti_finder *finder)
{
    for (int w = 0; w < VTI_WORLDS && !finder->code; w++) {
        const struct vti_world *world = &finder->worlds[w];
        struct depths depths = {.calls = world->profile->calls};

        if (!depths.calls || !depths.calls->call_count)
            continue;
        depths.open = calloc(depths.calls->function_count + 1, sizeof *depths.open);
        finder->code = depths.open ? vti_calls_walk(depths.calls, enter, leave, &depths)
                                   : VTI_E_NOMEM;
        free(depths.open);
        if (!finder->code && depths.deepest >= RECURSION_DEPTH)
            say_deepest(finder, world, &depths);
    }
}
