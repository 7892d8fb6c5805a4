/*
 * live.c - opens, refreshes and closes a live state.
 *
 * A refresh takes in what files have grown by, sums it up for as long as it may, and makes the lists that are shown. Until
 * everything that was there before is summed up, rates are 0: what happened then does not happen now.
 */
#include "live/live.h"

#include "base/error.h"
#include "live/state.h"
#include "live/tick.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define STREAM_MOST 20000
#define TURN_NS 30000000000 /* recent times are of half a minute to a minute */

static char *whole_path(const char *path)
{
    char *whole = realpath(path, NULL);

    return whole ? whole : strdup(path);
}

int vti_live_open(struct vti_live **result, const char *target,
                  const struct vti_live_options *options)
{
    struct vti_live *live = calloc(1, sizeof *live);
    int code = 0;

    *result = NULL;
    if (!live)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    live->target = strdup(target);
    live->path = whole_path(target);
    live->stream_max = options && options->stream_max ? options->stream_max : STREAM_MOST;
    live->now_ns = vti_tick_now();
    live->now_unix_ns = vti_tick_unix();
    live->turned_ns = live->now_ns;
    if (!live->target || !live->path)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        code = vti_live_find_target(live);
    if (code) {
        vti_live_close(live);
        return code;
    }
    *result = live;
    return 0;
}

static void free_lists(struct vti_live *live)
{
    struct vti_live_list *lists[] = {
        &live->processes, &live->threads, &live->span_list, &live->functions, &live->task_groups,
        &live->task_runs, &live->workers, &live->step_list, &live->losses,    &live->recordings};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->items);
}

void vti_live_close(struct vti_live *live)
{
    if (!live)
        return;
    vti_live_dask_close(live);
    vti_live_outside_close(live);
    vti_source_close(live->outside);
    for (size_t i = 0; i < live->source_count; i++)
        vti_source_close(live->sources[i]);
    free(live->sources);
    vti_map_free(live->seen);
    vti_live_functions_fini(live);
    vti_selves_free(live->selves);
    vti_live_tables_fini(live);
    free_lists(live);
    vti_names_fini(&live->names);
    free(live->target);
    free(live->path);
    free(live);
}

/* ---- refreshing -------------------------------------------------------------------------------- */

static int take_in(struct vti_live *live)
{
    int changed = 0;
    int code = 0;

    if (live->kind == VTI_LIVE_FOLDER || live->kind == VTI_LIVE_SPOOL)
        code = changed = vti_live_look_at_folder(live);
    live->file_bytes = 0;
    for (size_t i = 0; i < live->source_count; i++) {
        int got = vti_source_refresh(live->sources[i]);

        /* A file that became shorter, or was replaced just now: nothing more comes from it, and the next refresh begins anew. */
        if (got < 0)
            live->sources[i]->is_done = true;
        if (got < 0 && live->kind == VTI_LIVE_FILE && !vti_live_is_replaced(live))
            code = got;
        changed += got > 0;
        live->file_bytes += live->sources[i]->file_bytes;
    }
    return code < 0 ? code : changed;
}

/* How much of everything is summed up. */
static void measure(struct vti_live *live)
{
    uint64_t done = 0;
    uint64_t all = 0;
    bool is_all = !live->has_waiting;

    for (size_t i = 0; i < live->source_count; i++) {
        const struct vti_source *source = live->sources[i];

        done += source->blocks_done;
        all += source->blocks_all > source->blocks_done ? source->blocks_all : source->blocks_done;
        is_all &= source->is_caught_up;
    }
    live->is_caught_up = is_all; /* nothing to sum up is all of it */
    live->caught_up = is_all ? 1 : all ? (double)done / (double)all : 0;
    if (!is_all && live->caught_up > 0.999)
        live->caught_up = 0.999;
}

static int sum_up(struct vti_live *live, int64_t until_ns)
{
    int code = 0;

    for (size_t i = 0; i < live->source_count && code >= 0; i++) {
        code = vti_source_sum(live->sources[i], until_ns);
        /* One that cannot be read any further does not keep the others from it. */
        if (code < 0 && code != VTI_E_NOMEM && live->kind != VTI_LIVE_FILE)
            code = live->sources[i]->is_done = true;
        if (code >= 0)
            live->sources[i]->is_caught_up = code > 0;
        if (vti_tick_is_over(until_ns))
            break;
    }
    measure(live);
    return code;
}

/* What a rate is made of is kept eight times a second. */
static void keep_rates(struct vti_live *live, bool is_settling)
{
#define KEEP(rate, value)                                                                          \
    (is_settling ? vti_rate_settle(&(rate), (value)) : vti_rate_keep(&(rate), &live->beat, (value)))
    KEEP(live->event_rate, live->events);
    KEEP(live->span_rate, live->spans);
    KEEP(live->byte_rate, live->file_bytes);
    KEEP(live->items.rate, vti_tally_whole(&live->items));
    KEEP(live->effective.rate, vti_tally_whole(&live->effective));
    for (size_t i = 0; i < live->group_count; i++) {
        struct vti_live_group *group = &live->groups[i];

        KEEP(group->count_rate, group->times.shown.count);
        KEEP(group->error_rate, group->errors);
        KEEP(group->busy_rate, (uint64_t)(group->times.shown.sum_ns + group->open_ns));
    }
    for (size_t i = 0; i < live->task_count; i++)
        KEEP(live->tasks[i].rate, live->tasks[i].ended);
    for (size_t i = 0; i < live->seat_count; i++)
        KEEP(live->seats[i].busy_rate, live->seats[i].busy_ns);
    for (size_t i = 0; i < live->step_count; i++) {
        struct vti_live_step_sum *step = &live->steps[i];

        KEEP(step->count_rate, step->count);
        KEEP(step->message_rate, step->messages);
        KEEP(step->failed_rate, step->failed);
    }
    for (size_t i = 0; i < live->source_count; i++)
        for (size_t n = 0; n < live->sources[i]->track_count; n++) {
            struct vti_source_track *track = live->sources[i]->tracks[n];

            KEEP(track->span_rate, track->spans);
            KEEP(track->cpu_rate, track->cpu_ns);
        }
#undef KEEP
}

static void turn_times(struct vti_live *live)
{
    if (live->now_ns - live->turned_ns < TURN_NS)
        return;
    live->turned_ns = live->now_ns;
    for (size_t i = 0; i < live->group_count; i++)
        vti_times_turn(&live->groups[i].times, live->older);
    for (size_t i = 0; i < live->task_count; i++)
        vti_times_turn(&live->tasks[i].times, live->older);
    for (size_t i = 0; i < live->step_count; i++)
        vti_times_turn(&live->steps[i].execute, live->older);
    live->older = !live->older;
}

static void measure_self(struct vti_live *live)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    live->own_cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
                       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

/* Of what is open now, how many and how long; before rates are kept. */
static void count_open(struct vti_live *live)
{
    for (size_t i = 0; i < live->group_count; i++) {
        live->groups[i].running = 0;
        live->groups[i].open_ns = 0;
    }
    for (size_t i = 0; i < live->source_count; i++)
        vti_source_count_open(live->sources[i]);
}

int vti_live_refresh(struct vti_live *live, int64_t budget_ns)
{
    bool was_caught_up = live->is_caught_up;
    uint64_t events = live->events;
    uint64_t tasks = live->stream_last;
    int64_t begin_ns = vti_tick_now();
    int64_t until_ns = budget_ns > 0 ? begin_ns + budget_ns : INT64_MAX;
    int is_anew;
    int changed;
    int code = 0;

    live->now_ns = begin_ns;
    live->now_unix_ns = vti_tick_unix();
    is_anew = vti_live_follow_name(live);
    changed = is_anew < 0 ? is_anew : take_in(live);
    if (changed >= 0)
        code = sum_up(live, until_ns);
    if (live->kind == VTI_LIVE_PROCESS)
        changed = vti_live_outside_refresh(live);
    if (live->dask)
        changed = vti_live_dask_refresh(live, budget_ns);
    live->has_first |= live->is_caught_up && live->first_unix_ns;
    vti_live_settle_selves(live);
    count_open(live);
    measure_self(live);
    if (vti_beat_move(&live->beat, live->now_ns)) {
        keep_rates(live, !live->is_caught_up || !was_caught_up);
        vti_rate_keep(&live->own_cpu_rate, &live->beat, live->own_cpu_ns);
    }
    turn_times(live);
    if (code >= 0)
        code = vti_live_show(live);
    live->refreshes++;
    live->refresh_ns = vti_tick_now() - begin_ns;
    if (changed < 0 || code < 0)
        return changed < 0 ? changed : code;
    return is_anew || changed > 0 || events != live->events || tasks != live->stream_last ||
           was_caught_up != live->is_caught_up || !live->is_caught_up;
}

void vti_live_reset(struct vti_live *live)
{
    vti_live_tables_reset(live);
    vti_live_items_reset(live);
    vti_live_functions_reset(live);
    vti_live_show(live);
}
