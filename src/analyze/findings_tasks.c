/* findings_tasks.c - rules about task graphs: what failed, and whether workers, dependencies or data kept the longest run from being shorter. */
#include "analyze/findings_impl.h"

#include "base/bytes.h"
#include "base/utf8.h"
#include "venturi/task.h"

#include <stdio.h>
#include <string.h>

#define WALL_LEAST 1e7 /* ns of a run: what is shorter is over before anybody waits for it */
#define TASKS_LEAST 4  /* of a run: less are no graph to speak of */
#define PATH_SHARE 0.7 /* of the run: then other workers can save less than a third */
#define IDLE_SHARE                                                                                 \
    0.4 /* of the workers' time: a third is what the begin and the end of many graphs cost */
#define BUSY_SHARE 0.85 /* of the workers' time: they were what the run waited for */
#define WIDER 2         /* times more tasks at once than workers, for more of them to be worth it */
#define ERROR_MOST 160  /* bytes of an error in a sentence */
#define ERROR_BYTES (3 * ERROR_MOST + 8)
#define MOVING_SHARE 0.25 /* of what workers did */

struct longest {
    uint32_t at;
    const struct vti_task_run *run;
    const struct vti_run_times *times;
    const struct vti_task_path *path;
    double wall_ns;
    double share;  /* of the recording */
    char name[64]; /* "the run", "run 2" */
    struct vti_evidence evidence;
};

/* The run that took the longest: what the rules are about. False: there is none that is worth a word. */
static bool find_longest(const struct vti_finder *finder, struct longest *longest)
{
    const struct vti_study *study = finder->study;
    const struct vti_tasks *tasks = &study->tasks;

    *longest = (struct longest){.at = VTI_NO_TASK};
    for (uint32_t i = 0; i < tasks->run_count; i++) {
        const struct vti_run_times *times = &study->task_times.runs[i];
        double wall_ns = (double)times->end_ns - (double)times->begin_ns;

        if (wall_ns < WALL_LEAST || times->ran < TASKS_LEAST || wall_ns <= longest->wall_ns)
            continue;
        longest->at = i;
        longest->times = times;
        longest->wall_ns = wall_ns;
    }
    if (longest->at == VTI_NO_TASK)
        return false;
    longest->run = &tasks->runs[longest->at];
    longest->path = &study->task_paths.runs[longest->at];
    longest->share = study->wall_ns > 0 ? longest->wall_ns / (double)study->wall_ns : 1;
    longest->evidence = (struct vti_evidence){
        .what = "tasks", .name = (char *)longest->run->scheduler, .id = longest->at};
    if (tasks->run_count == 1)
        snprintf(longest->name, sizeof longest->name, "the run");
    else
        snprintf(longest->name, sizeof longest->name, "run %u", (unsigned)longest->at + 1);
    return true;
}

static double share_of(int64_t part, int64_t all)
{
    return all > 0 ? (double)part / (double)all : 0;
}

/* ---- what failed ----------------------------------------------------------------------------- */

/* What went wrong first, for which run. */
struct failures {
    const struct vti_task *first;
    uint64_t failed, not_begun, all;
};

static struct failures count_failures(const struct vti_tasks *tasks)
{
    struct failures found = {0};

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        const struct vti_task *task = &tasks->tasks[i];
        bool has_failed = vti_task_has_failed(task) && task->state != VT_TASK_LOST;

        if (task->action != VT_ACTION_COMPUTE || task->is_repeated)
            continue;
        found.all++;
        found.failed += has_failed;
        found.not_begun += task->state == VT_TASK_SKIPPED || task->state == VT_TASK_CANCELLED;
        if (has_failed && (!found.first || task->end_ns < found.first->end_ns))
            found.first = task;
    }
    return found;
}

/* An error is a sentence already: longer than a name, and it may name the task itself. */
static void clip_error(char to[ERROR_BYTES], const char *error)
{
    size_t len = strlen(error), most = len < ERROR_MOST ? len : ERROR_MOST;
    struct vti_buf text = {0};

    while (most < len && most && ((unsigned char)error[most] & 0xc0) == 0x80)
        most--; /* whole characters */
    vti_utf8_repair(&text, error, most);
    snprintf(to, ERROR_BYTES, "%.*s%s", text.failed ? 0 : (int)text.len,
             text.len ? (const char *)text.data : "", most < len ? "\xe2\x80\xa6" : "");
    vti_buf_fini(&text);
}

void vti_find_task_failures(struct vti_finder *finder)
{
    const struct vti_tasks *tasks = &finder->study->tasks;
    const struct failures found = count_failures(tasks);
    const struct vti_task *first = found.first;
    struct vti_evidence evidence = {.what = "tasks"};
    char key[VTI_CLIP_BYTES], error[ERROR_BYTES], rest[80] = "";
    bool is_named;

    if (!first)
        return;
    evidence.id = first->run;
    evidence.name = (char *)first->key;
    if (found.not_begun)
        snprintf(rest, sizeof rest, "; %llu task%s not begun", (unsigned long long)found.not_begun,
                 found.not_begun == 1 ? " was" : "s were");
    clip_error(error, tasks->runs[first->run].error);
    vti_clip(key, *first->key ? first->key : first->name, "", 0);
    is_named = strstr(error, key);
    vti_finding_say(finder, VTI_SEVERITY_WARNING, (double)found.failed / (double)found.all,
                    &evidence, "", "%llu of %llu tasks %s%s%s%s%s%s.",
                    (unsigned long long)found.failed, (unsigned long long)found.all,
                    first->state == VT_TASK_FAILED ? "failed" : "failed or took too long",
                    is_named            ? ""
                    : found.failed == 1 ? ", it was "
                                        : ", the first was ",
                    is_named ? "" : key, *error ? ": " : "", error, rest);
}

void vti_find_dead_workers(struct vti_finder *finder)
{
    const struct vti_tasks *tasks = &finder->study->tasks;
    const struct vti_task *first = NULL;
    uint64_t lost = 0;
    struct vti_evidence evidence = {.what = "tasks"};
    char key[VTI_CLIP_BYTES], worker[VTI_CLIP_BYTES];

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        if (tasks->tasks[i].state != VT_TASK_LOST || tasks->tasks[i].action != VT_ACTION_COMPUTE)
            continue;
        lost++;
        first = first ? first : &tasks->tasks[i];
    }
    if (!first)
        return;
    evidence.id = first->run;
    evidence.name = (char *)first->key;
    vti_finding_say(
        finder, VTI_SEVERITY_WARNING, 1, &evidence, "",
        "%llu task%s lost with %s worker that died, %s %s on %s.", (unsigned long long)lost,
        lost == 1 ? " was" : "s were", lost == 1 ? "the" : "a", lost == 1 ? "it was" : "the first",
        vti_clip(key, *first->key ? first->key : first->name, "", 0),
        vti_clip(worker,
                 first->worker < tasks->worker_count ? tasks->workers[first->worker].label
                                                     : "an unknown worker",
                 "", 0));
}

/* ---- where the time went --------------------------------------------------------------------- */

void vti_find_critical_path(struct vti_finder *finder)
{
    struct longest longest;
    char length[VTI_NUMBER_BYTES], wall[VTI_NUMBER_BYTES];
    double share;

    if (!find_longest(finder, &longest))
        return;
    share = (double)longest.path->length_ns / longest.wall_ns;
    if (share < PATH_SHARE)
        return;
    vti_finding_say(finder, VTI_SEVERITY_NOTICE, share * longest.share, &longest.evidence, "",
                    "The critical path, %u of %llu tasks, is %.0f %% of %s (%s of %s): more "
                    "workers will not help, shorter tasks on it will.",
                    (unsigned)longest.path->count, (unsigned long long)longest.times->tasks,
                    share < 1 ? share * 100 : 100, longest.name,
                    vti_text_duration(length, (double)longest.path->length_ns),
                    vti_text_duration(wall, longest.wall_ns));
}

static enum vti_idle main_reason(const struct vti_worker_times *sums)
{
    enum vti_idle most = VTI_IDLE_DEPENDENCIES;

    for (enum vti_idle i = 0; i < VTI_IDLE_REASONS; i++)
        if (sums->idle_ns[i] > sums->idle_ns[most])
            most = i;
    return most;
}

void vti_find_idle_workers(struct vti_finder *finder)
{
    struct longest longest;
    const struct vti_worker_times *sums;
    char who[48] = "The worker was";
    char each[VTI_NUMBER_BYTES], hint[96] = "";
    enum vti_idle reason;
    double share;

    if (!find_longest(finder, &longest))
        return;
    sums = &longest.times->sums;
    share = share_of(vti_worker_times_idle(sums), vti_worker_times_all(sums));
    if (share < IDLE_SHARE)
        return;
    reason = main_reason(sums);
    if (longest.times->at_once > 1)
        snprintf(who, sizeof who, "The %u workers were", (unsigned)longest.times->at_once);
    if (reason == VTI_IDLE_SCHEDULER)
        snprintf(
            hint, sizeof hint, ": tasks take %s on average",
            vti_text_duration(each, (double)longest.times->task_ns / (double)longest.times->ran));
    vti_finding_say(finder, VTI_SEVERITY_NOTICE, share * longest.share, &longest.evidence, "",
                    "%s idle %.0f %% of the time of %s, most of it %s%s.", who, share * 100,
                    longest.name, vti_idle_text(reason), hint);
}

void vti_find_few_workers(struct vti_finder *finder)
{
    struct longest longest;
    const struct vti_worker_times *sums;
    char best[VTI_NUMBER_BYTES], wall[VTI_NUMBER_BYTES];
    double busy, width;

    if (!find_longest(finder, &longest) || longest.path->length_ns <= 0)
        return;
    sums = &longest.times->sums;
    busy = share_of(sums->compute_ns, vti_worker_times_all(sums));
    width = (double)longest.times->task_ns / (double)longest.path->length_ns;
    if (busy < BUSY_SHARE || width < (double)WIDER * longest.times->at_once)
        return;
    vti_finding_say(finder, VTI_SEVERITY_INFO, busy * longest.share, &longest.evidence, "",
                    "The worker%s of %s computed %.0f %% of the time, and its tasks depend little "
                    "on each other: with more workers it could take as little as %s instead of %s.",
                    longest.times->at_once == 1 ? "" : "s", longest.name, busy * 100,
                    vti_text_duration(best, (double)longest.path->length_ns),
                    vti_text_duration(wall, longest.wall_ns));
}

void vti_find_moving_data(struct vti_finder *finder)
{
    struct longest longest;
    const struct vti_worker_times *sums;
    double share;

    if (!find_longest(finder, &longest))
        return;
    sums = &longest.times->sums;
    share = share_of(sums->moving_ns, vti_ns_add(sums->moving_ns, sums->compute_ns));
    if (share < MOVING_SHARE)
        return;
    vti_finding_say(finder, VTI_SEVERITY_NOTICE, share * longest.share, &longest.evidence, "",
                    "Workers spent %.0f %% of what they did in %s on moving data (transfers, disk, "
                    "deserializing) while they computed nothing.",
                    share * 100, longest.name);
}
