/*
 * tasks_seats.c - which worker of a run came in the place of which other, and when.
 *
 * No entry says it: it follows from the tasks that were lost, or took too long, and from who was not seen again. Numbers and times are a
 * file's to choose, so nothing here is worse than sorting.
 */
#include "analyze/tasks_seats.h"

#include "base/error.h"
#include "venturi/task.h"

#include <stdlib.h>

struct worker {
    int64_t at_ns;
    uint32_t at; /* seat */
};

struct finder {
    struct vti_task_seat *seats;
    struct worker
        *seen; /* all that ran or were there from the begin, by the end of what they did */
    struct worker *lost;  /* of those, as time went by: a queue of the lost, … */
    struct worker *quiet; /* … and a stack of the others */
    struct worker *new;   /* those that came later and ran, by their first task */
    uint32_t seen_count, lost_count, lost_taken, quiet_count, new_count;
    uint32_t gone; /* seats that were taken over, or never used */
};

static int by_time(const void *left, const void *right)
{
    const struct worker *a = left, *b = right;

    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void look_at_tasks(const struct vti_tasks *tasks, const struct vti_task_run *run,
                          struct vti_task_seat *seats)
{
    for (uint32_t i = run->first_task; i < run->first_task + run->task_count; i++) {
        const struct vti_task *task = &tasks->tasks[i];
        uint32_t worker = vti_task_worker(tasks, i);
        struct vti_task_seat *seat;

        if (worker == VTI_NO_TASK || worker - run->first_worker >= run->worker_count)
            continue;
        seat = &seats[worker - run->first_worker];
        seat->is_lost = task->state == VT_TASK_LOST || task->state == VT_TASK_TIMED_OUT;
        if (!vti_task_ran(task))
            continue;
        if (!seat->ran || task->start_ns < seat->first_ns)
            seat->first_ns = task->start_ns;
        if (!seat->ran || task->end_ns > seat->last_ns)
            seat->last_ns = task->end_ns;
        seat->ran = true;
    }
}

/* One comes in the place of another; that of nobody if nobody is left. */
static void replace(struct finder *finder, struct vti_task_seat *seat)
{
    if (finder->lost_taken < finder->lost_count) {
        struct vti_task_seat *other = &finder->seats[finder->lost[finder->lost_taken++].at];

        seat->from_ns = other->to_ns = other->last_ns;
    } else if (finder->quiet_count) {
        finder->seats[finder->quiet[--finder->quiet_count].at].to_ns = seat->from_ns;
    } else {
        return;
    }
    finder->gone++;
}

/* Takes those that were seen before then for the last time from the list; returns how many of it are taken. */
static uint32_t pass(struct finder *finder, uint32_t taken, int64_t until_ns)
{
    for (; taken < finder->seen_count && finder->seen[taken].at_ns < until_ns; taken++) {
        if (finder->seats[finder->seen[taken].at].is_lost)
            finder->lost[finder->lost_count++] = finder->seen[taken];
        else
            finder->quiet[finder->quiet_count++] = finder->seen[taken];
    }
    return taken;
}

static void find_replaced(struct finder *finder, const struct vti_tasks *tasks,
                          const struct vti_task_run *run)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < run->worker_count; i++) {
        struct vti_task_seat *seat = &finder->seats[i];
        bool is_new = tasks->workers[run->first_worker + i].number >= run->begun_workers;

        if (is_new && seat->ran)
            finder->new[finder->new_count++] = (struct worker){seat->first_ns, i};
        if (!is_new || seat->ran)
            finder->seen[finder->seen_count++] = (struct worker){seat->last_ns, i};
    }
    qsort(finder->new, finder->new_count, sizeof *finder->new, by_time);
    qsort(finder->seen, finder->seen_count, sizeof *finder->seen, by_time);
    for (uint32_t i = 0; i < finder->new_count; i++) {
        struct vti_task_seat *seat = &finder->seats[finder->new[i].at];

        seat->from_ns = seat->first_ns;
        taken = pass(finder, taken, seat->first_ns);
        replace(finder, seat);
    }
    pass(finder, taken, INT64_MAX);
    finder->quiet_count =
        0; /* of one that did nothing nobody knows when it came but by who was lost */
    for (uint32_t i = 0; i < run->worker_count; i++) {
        struct vti_task_seat *seat = &finder->seats[i];

        if (seat->ran || tasks->workers[run->first_worker + i].number < run->begun_workers)
            continue;
        seat->from_ns = seat->to_ns;
        finder->gone += finder->lost_taken == finder->lost_count;
        replace(finder, seat);
    }
}

int vti_task_seats_find(const struct vti_tasks *tasks, const struct vti_task_run *run,
                        int64_t begin_ns, int64_t end_ns, struct vti_task_seat *seats,
                        uint32_t *at_once)
{
    struct finder finder = {.seats = seats};
    struct worker *all = NULL;

    for (uint32_t i = 0; i < run->worker_count; i++)
        seats[i] = (struct vti_task_seat){
            .from_ns = begin_ns, .to_ns = end_ns, .first_ns = begin_ns, .last_ns = begin_ns};
    *at_once = run->worker_count;
    if (!run->begun_workers || run->worker_count <= run->begun_workers)
        return 0;
    all = calloc(4 * (size_t)run->worker_count, sizeof *all);
    if (!all)
        return VTI_E_NOMEM;
    finder.seen = all;
    finder.lost = all + run->worker_count;
    finder.quiet = all + 2 * (size_t)run->worker_count;
    finder.new = all + 3 * (size_t)run->worker_count;
    look_at_tasks(tasks, run, seats);
    find_replaced(&finder, tasks, run);
    *at_once -= finder.gone;
    free(all);
    return 0;
}
