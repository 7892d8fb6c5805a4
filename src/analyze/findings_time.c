/* findings_time.c - rules about where the time went: functions, spans, lines, slow ones among many, waiting. */
#include "analyze/findings_impl.h"

#include <math.h>
#include <string.h>

/* Shares and counts from which on something is worth a sentence. */
#define SELF_SHARE 0.25     /* of all own time: less than a quarter is one among several */
#define SELF_SHARE_MOST 0.5 /* more than everything else together */
#define LINE_SHARE 0.5      /* of its function: more than all its other lines … */
#define LINE_OF_ALL 0.1     /* … in a function that matters */
#define LINES_LEAST 3       /* of a function of one or two lines it goes without saying */
#define TAIL_RATIO 10.0     /* p99 to p50: below that it is the usual spread */
#define TAIL_COUNT 200      /* so many calls make two of a hundred: p99 is no single mishap */
#define TAIL_SHARE 0.02     /* of all time, so much in the slowest 1 % at least */
#define SUSPENDED_RATIO 2.0 /* suspended to running */
#define SUSPENDED_WALL 0.25 /* of the time that passed */

void vti_find_self_time(struct vti_finder *finder)
{
    for (int w = 0; w < VTI_WORLDS; w++) {
        const struct vti_world *world = &finder->worlds[w];
        const struct vti_subject *top = NULL;
        struct vti_evidence evidence;
        char name[VTI_CLIP_BYTES];
        char time[VTI_NUMBER_BYTES];
        char calls[VTI_TIMES_BYTES];
        double share;

        for (size_t i = 0; i < world->count && !top; i++)
            if (!world->subjects[i].is_async)
                top = &world->subjects[i];
        if (!top || world->count < 2 || world->self_ns <= 0)
            continue;
        share = top->self_ns / world->self_ns;
        if (!(share >= SELF_SHARE))
            continue;
        evidence = vti_subject_evidence(top);
        vti_finding_say(finder, share >= SELF_SHARE_MOST ? VTI_SEVERITY_NOTICE : VTI_SEVERITY_INFO,
                        share, &evidence, top->doubt,
                        "%s itself takes %.0f %% of the time of all %ss: %s%s.",
                        vti_subject_text(name, top), share * 100, world->what,
                        vti_text_duration(time, top->self_ns),
                        vti_text_in_calls(calls, top->count, world->call));
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct costly {
    const struct vti_lines_function *function;
    const struct vti_lines_line *line;
    double share; /* of its function */
    double of_all;
};

static double all_lines(const struct vti_lines *lines)
{
    double sum = 0;

    for (size_t i = 0; i < lines->function_count; i++)
        sum += fmax(vti_lines_total(&lines->functions[i]), 0);
    return sum;
}

static void look_at_lines(struct costly *most, const struct vti_lines_function *function,
                          double all)
{
    double total = vti_lines_total(function);

    if (function->line_count < LINES_LEAST || !(total >= LINE_OF_ALL * all) || !(total > 0))
        return;
    for (size_t i = 0; i < function->line_count; i++) {
        double share = function->lines[i].time / total;
        double of_all = function->lines[i].time / all;

        if (share >= LINE_SHARE && of_all > most->of_all)
            *most = (struct costly){function, &function->lines[i], fmin(share, 1), of_all};
    }
}

void vti_find_line(struct vti_finder *finder)
{
    const struct vti_lines *lines = &finder->study->lines;
    struct costly most = {0};
    double all = all_lines(lines);
    struct vti_evidence evidence = {.what = "line", .id = VT_NONE};
    char name[VTI_CLIP_BYTES];
    char time[VTI_NUMBER_BYTES];

    for (size_t i = 0; all > 0 && i < lines->function_count; i++)
        look_at_lines(&most, &lines->functions[i], all);
    if (!most.line)
        return;
    evidence.name = (char *)most.function->name;
    evidence.file = (char *)most.function->file;
    evidence.line = most.line->line;
    vti_finding_say(
        finder, VTI_SEVERITY_NOTICE, most.of_all, &evidence,
        most.line->how == VTI_LINE_SAMPLED ? "estimated from samples" : "",
        "Line %u takes %.0f %% of the time of %s: %s.", most.line->line, most.share * 100,
        vti_clip(name, *most.function->plain ? most.function->plain : most.function->name,
                 most.function->file, most.function->line),
        vti_text_duration(time, most.line->time * lines->unit_s * 1e9));
}

/* ---- slow ones among many -------------------------------------------------------------------- */

static double tail_share(const struct vti_world *world, const struct vti_subject *subject)
{
    double all = subject->is_async ? subject->total_ns : world->self_ns;

    if (subject->count < TAIL_COUNT || !(subject->p50_ns > 0) || !(all > 0) ||
        !(subject->p99_ns / subject->p50_ns >= TAIL_RATIO))
        return 0;
    return fmin((double)subject->count / 100 * subject->p99_ns / all, 1);
}

void vti_find_tail(struct vti_finder *finder)
{
    for (int w = 0; w < VTI_WORLDS; w++) {
        const struct vti_world *world = &finder->worlds[w];
        const struct vti_subject *most = NULL;
        struct vti_evidence evidence;
        double share = TAIL_SHARE;
        char name[VTI_CLIP_BYTES];
        char usual[VTI_NUMBER_BYTES];
        char slow[VTI_NUMBER_BYTES];
        char count[VTI_NUMBER_BYTES];

        for (size_t i = 0; i < world->count; i++)
            if (tail_share(world, &world->subjects[i]) >= share) {
                most = &world->subjects[i];
                share = tail_share(world, most);
            }
        if (!most)
            continue;
        evidence = vti_subject_evidence(most);
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, share, &evidence, most->doubt,
                        "%s is sometimes much slower: half of its %s %ss take at most %s, "
                        "1 in 100 takes %s or more (%.0f times that).",
                        vti_subject_text(name, most), vti_text_count(count, most->count),
                        world->call, vti_text_duration(usual, most->p50_ns),
                        vti_text_duration(slow, most->p99_ns), most->p99_ns / most->p50_ns);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

void vti_find_suspended(struct vti_finder *finder)
{
    const struct vti_world *world = &finder->worlds[VTI_WORLD_FUNCTIONS];
    const struct vti_subject *most = NULL;
    double wall_ns = (double)finder->study->wall_ns;
    struct vti_evidence evidence;
    char name[VTI_CLIP_BYTES];
    char waited[VTI_NUMBER_BYTES];
    char ran[VTI_NUMBER_BYTES];

    for (size_t i = 0; i < world->count; i++) {
        const struct vti_subject *subject = &world->subjects[i];

        if (subject->suspended_ns >= SUSPENDED_RATIO * subject->total_ns &&
            subject->suspended_ns >= SUSPENDED_WALL * wall_ns && subject->suspended_ns > 0 &&
            (!most || subject->suspended_ns > most->suspended_ns))
            most = subject;
    }
    if (!most)
        return;
    evidence = vti_subject_evidence(most);
    vti_finding_say(finder, VTI_SEVERITY_NOTICE,
                    most->suspended_ns / (most->suspended_ns + most->total_ns), &evidence,
                    most->doubt,
                    "%s mostly waits: suspended for %s in all (await or yield), it ran for %s.",
                    vti_subject_text(name, most), vti_text_duration(waited, most->suspended_ns),
                    vti_text_duration(ran, most->total_ns));
}
