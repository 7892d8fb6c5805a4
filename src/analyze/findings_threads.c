/* findings_threads.c - rules about threads: whether they work at the same time, and share the work alike. */
#include "analyze/findings_impl.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

#define SLICES 2000 /* of the time: threads that take turns within one count as taking turns */
#define THREADS_MOST 4096 /* beyond that nobody looks at single ones */
#define SERIAL_SHARE 0.1  /* of all busy time, for a thread to count */
#define SERIAL_MOST 1.15  /* threads busy at a time, on average */
#define WORKERS_LEAST 3   /* of two one has more: that says nothing */
#define IMBALANCE 2.0     /* times the average of all */

/* ---- turns ----------------------------------------------------------------------------------- */

struct turns {
    double busy;      /* all threads, in slices */
    double covered;   /* the same, where several are busy counted once */
    unsigned threads; /* that matter */
};

static int measure_turns(const struct vti_study *study, struct turns *turns)
{
    struct vt_window window;
    double *rows;
    int code = vt_window_query(study->recording, study->begin_ns,
                               study->begin_ns + (study->wall_ns > 0 ? study->wall_ns : 1), SLICES,
                               &window);

    if (code)
        return code;
    rows = calloc(window.track_count + 1, sizeof *rows);
    for (uint32_t p = 0; rows && p < window.pixels; p++) {
        double sum = 0;

        for (uint32_t t = 0; t < window.track_count; t++) {
            sum += window.busy[(size_t)t * window.pixels + p];
            rows[t] += window.busy[(size_t)t * window.pixels + p];
        }
        turns->busy += sum;
        turns->covered += fmin(sum, 1);
    }
    for (uint32_t t = 0; rows && t < window.track_count; t++)
        turns->threads += rows[t] >= SERIAL_SHARE * turns->busy && rows[t] > 0;
    code = rows ? 0 : VTI_E_NOMEM;
    free(rows);
    vt_window_free(&window);
    return code;
}

void vti_find_serial_threads(struct vti_finder *finder)
{
    static const struct vti_evidence whole = {.what = "recording", .id = VT_NONE};
    const struct vti_study *study = finder->study;
    struct turns turns = {0};
    double at_a_time;

    if (!study->info.span_count || study->info.track_count < 2 ||
        study->info.track_count > THREADS_MOST)
        return;
    finder->code = measure_turns(study, &turns);
    if (finder->code || turns.threads < 2 || !(turns.covered > 0))
        return;
    at_a_time = turns.busy / turns.covered;
    if (at_a_time <= SERIAL_MOST)
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, turns.covered / SLICES, &whole,
                        "measured in slices of time",
                        "%u threads take turns: while any of them is in a span, %.2f are on "
                        "average.",
                        turns.threads, at_a_time);
}

/* ---- shares of the work ---------------------------------------------------------------------- */

/* Time of each thread in calls or spans that nothing else is around. */
static void add_roots(double *busy, const struct vti_calls *calls, size_t count)
{
    for (size_t i = 0; i < calls->call_count; i++) {
        const struct vti_call *call = &calls->calls[i];

        if (call->parent == VT_NONE && call->track < count && call->total_ns > 0)
            busy[call->track] += call->total_ns;
    }
}

static bool is_main(const vt_recording *recording, const struct vt_track_info *track)
{
    struct vt_process_info process;

    return vt_recording_process_by_id(recording, track->process, &process) &&
           process.pid == track->tid;
}

/* The main thread starts and waits for the others: it is none of them. */
static void weigh(struct vti_finder *finder, const double *busy, uint32_t count, const char *what)
{
    struct vt_track_info track;
    struct vt_track_info most = {.id = VT_NONE};
    struct vti_evidence evidence = {.what = "thread"};
    double most_ns = 0;
    double sum = 0;
    uint32_t workers = 0;
    char name[VTI_CLIP_BYTES];
    char time[VTI_NUMBER_BYTES];

    for (uint32_t i = 0; i < count && vt_recording_track(finder->study->recording, i, &track);
         i++) {
        if (!(busy[i] > 0) || is_main(finder->study->recording, &track))
            continue;
        workers++;
        sum += busy[i];
        if (busy[i] > most_ns) {
            most_ns = busy[i];
            most = track;
        }
    }
    if (workers < WORKERS_LEAST || most_ns < IMBALANCE * sum / workers)
        return;
    evidence.name = (char *)most.name;
    evidence.id = most.id;
    vti_finding_say(
        finder, VTI_SEVERITY_NOTICE, most_ns / sum, &evidence, "",
        "Thread %s has %.0f %% of the time that %u threads beside the main one spent in "
        "%ss: %s, %.1f times the average.",
        vti_clip(name, most.name, "", 0), most_ns / sum * 100, workers, what,
        vti_text_duration(time, most_ns), most_ns / (sum / workers));
}

void vti_find_imbalance(struct vti_finder *finder)
{
    const struct vti_study *study = finder->study;
    uint32_t count = study->info.track_count;
    bool has_calls;
    double *busy;

    if (count < WORKERS_LEAST)
        return;
    busy = calloc((size_t)count + 1, sizeof *busy);
    if (!busy) {
        finder->code = VTI_E_NOMEM;
        return;
    }
    has_calls = study->calls.call_count;
    add_roots(busy, has_calls ? &study->calls : &study->span_calls, count);
    weigh(finder, busy, count, has_calls ? "call" : "span");
    free(busy);
}
