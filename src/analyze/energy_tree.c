/*
 * energy_tree.c - the readings of a meter become intervals, prices of CPU time, and sums.
 *
 * The arithmetic is that of the meter (src/energy/take.c, sum.c): a program that measures itself and its recording tell the
 * same. A source that stays away leaves its time unknown; what it counted meanwhile is there when it comes back.
 */
#include "analyze/energy_impl.h"
#include "base/error.h"
#include "energy/share.h"

#include <math.h>
#include <stdlib.h>

#define STILL_S                                                                                    \
    0.05 /* counters are not renewed all the time: the last reading may find nothing new */

/* ---- sources --------------------------------------------------------------------------------- */

bool vti_energy_is_of_part(const struct vti_energy_log_tree *log, uint32_t number)
{
    const struct vti_energy_log_source *source = &log->sources[number];

    return source->is_defined && source->part < VT_ENERGY_PART_COUNT &&
           (source->inside >= log->source_count ||
            log->sources[source->inside].part != source->part);
}

bool vti_energy_is_added_up(const struct vti_energy_log_tree *log, uint32_t number)
{
    return vti_energy_is_of_part(log, number) && log->sources[number].inside >= log->source_count;
}

double vti_energy_seconds(const struct vti_energy_interval *interval)
{
    return ((double)interval->end_ns - (double)interval->begin_ns) / 1e9;
}

bool vti_energy_step_to(const struct vti_energy_log_tree *log, uint32_t number, size_t at,
                        struct vti_energy_step *step)
{
    const struct vti_energy_log_reading *reading = &log->readings[at];
    bool has_last = step->has_last;
    uint64_t before = step->value;
    uint64_t after;

    if (!vti_energy_log_value(log, reading, number, &after))
        return false;
    step->has_last = true;
    step->value = after;
    step->from = step->to;
    step->to = at;
    if (!has_last || after < before || reading->lost >> number & 1)
        return false;
    step->joules = (double)(after - before) / 1e6;
    step->seconds = ((double)reading->time_ns - (double)log->readings[step->from].time_ns) / 1e9;
    return true;
}

/* ---- intervals ------------------------------------------------------------------------------- */

static double difference(const struct vti_resource_point *from, const struct vti_resource_point *to,
                         enum vti_resource which)
{
    if (!from || !to || !(from->known & to->known & 1u << which))
        return NAN;
    return to->values[which] > from->values[which]
               ? (double)(to->values[which] - from->values[which]) / 1e9
               : 0;
}

static void set_processes(const struct vti_energy_tree *tree, struct vti_energy_interval *interval)
{
    const struct vti_resource_series *series = &tree->processes->series;
    const struct vti_resource_point *from = vti_resource_at(series, interval->begin_ns);
    const struct vti_resource_point *to = vti_resource_at(series, interval->end_ns);

    interval->own_s = difference(from, to, VTI_RESOURCE_CPU_NS);
    interval->busy_s = difference(from, to, VTI_RESOURCE_MACHINE_NS);
    if (to && to->known & 1u << VTI_RESOURCE_MEMORY_BYTES && tree->log->memory_bytes)
        interval->resident = fmin(
            (double)to->values[VTI_RESOURCE_MEMORY_BYTES] / (double)tree->log->memory_bytes, 1);
}

/* What a source used is spread over the time since it was known before. */
static void add_to_intervals(struct vti_energy_tree *tree, uint32_t number)
{
    uint32_t part = tree->log->sources[number].part;
    struct vti_energy_step step = {0};

    for (size_t i = 0; i < tree->log->reading_count; i++) {
        if (!vti_energy_step_to(tree->log, number, i, &step))
            continue;
        tree->parts[part].has_source = true;
        for (size_t k = step.from; k < i && step.seconds > 0; k++) {
            struct vti_energy_interval *interval = &tree->intervals[k];
            double joules = step.joules * vti_energy_seconds(interval) / step.seconds;

            interval->parts[part] = (isnan(interval->parts[part]) ? 0 : interval->parts[part]) +
                                    joules;
        }
    }
}

static int make_intervals(struct vti_energy_tree *tree)
{
    const struct vti_energy_log_tree *log = tree->log;

    tree->interval_count = log->reading_count ? log->reading_count - 1 : 0;
    tree->intervals = calloc(tree->interval_count + 1, sizeof *tree->intervals);
    if (!tree->intervals)
        return VTI_E_NOMEM;
    for (size_t i = 0; i < tree->interval_count; i++) {
        tree->intervals[i] = (struct vti_energy_interval){.begin_ns = log->readings[i].time_ns,
                                                          .end_ns = log->readings[i + 1].time_ns,
                                                          .parts = {NAN, NAN, NAN, NAN},
                                                          .own_s = NAN,
                                                          .busy_s = NAN,
                                                          .resident = NAN,
                                                          .share = NAN,
                                                          .full_watts = NAN,
                                                          .dynamic_watts = NAN};
        if (tree->processes)
            set_processes(tree, &tree->intervals[i]);
    }
    for (uint32_t i = 0; i < log->source_count; i++)
        if (vti_energy_is_of_part(log, i))
            add_to_intervals(tree, i);
    return 0;
}

/* ---- shares and prices ----------------------------------------------------------------------- */

/* Intervals [first, end) of which shares are settled together. */
struct window {
    size_t first;
    double own_s, busy_s, wall_s;
};

static bool is_known(const struct vti_energy_interval *interval)
{
    return !isnan(interval->own_s) && !isnan(interval->busy_s);
}

/* The power of the window, divided by the CPUs that were busy in it. */
static void set_prices(struct vti_energy_tree *tree, const struct window *window, size_t end,
                       uint32_t part)
{
    double cpus = fmax(fmax(window->busy_s, window->own_s) / window->wall_s, VTI_SHARE_REST_CPUS);
    double joules = 0;
    double seconds = 0;

    for (size_t i = window->first; i < end; i++)
        if (is_known(&tree->intervals[i]) && !isnan(tree->intervals[i].parts[part])) {
            joules += tree->intervals[i].parts[part];
            seconds += vti_energy_seconds(&tree->intervals[i]);
        }
    for (size_t i = window->first; i < end && seconds > 0; i++) {
        struct vti_energy_interval *interval = &tree->intervals[i];

        if (!is_known(interval) || isnan(interval->parts[part]))
            continue;
        tree->has_prices = true;
        interval->full_watts = joules / seconds / cpus;
        interval->dynamic_watts = (joules / seconds - tree->price_rest_watts) / cpus;
    }
}

static void settle(struct vti_energy_tree *tree, struct window *window, size_t end,
                   struct vti_share *share)
{
    bool has_cpu = tree->parts[VT_ENERGY_CPU].has_source;
    double part = vti_share_take(share, window->own_s, window->busy_s, window->wall_s);

    for (size_t i = window->first; i < end; i++)
        if (is_known(&tree->intervals[i]))
            tree->intervals[i].share = part;
    if (window->wall_s > 0)
        set_prices(tree, window, end, has_cpu ? VT_ENERGY_CPU : VT_ENERGY_PLATFORM);
    *window = (struct window){.first = end};
}

static void make_shares(struct vti_energy_tree *tree)
{
    struct vti_share share = {0};
    struct window window = {0};

    for (size_t i = 0; i < tree->interval_count; i++) {
        const struct vti_energy_interval *interval = &tree->intervals[i];
        double wall_s = vti_energy_seconds(interval);

        if (!is_known(interval))
            continue;
        if (vti_share_is_rest(window.busy_s, window.wall_s) !=
            vti_share_is_rest(interval->busy_s, wall_s))
            settle(tree, &window, i, &share);
        window.own_s += interval->own_s;
        window.busy_s += interval->busy_s;
        window.wall_s += wall_s;
        if (vti_share_is_settled(window.busy_s, window.wall_s))
            settle(tree, &window, i + 1, &share);
    }
    settle(tree, &window, tree->interval_count, &share);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* What one source used in all. */
struct charge {
    double gross_j, known_s, share_j, share_s;
    bool has_any, has_share;
    size_t last; /* reading */
};

static struct charge charge_of(const struct vti_energy_tree *tree, uint32_t number)
{
    uint32_t part = tree->log->sources[number].part;
    struct vti_energy_step step = {0};
    struct charge charge = {0};

    for (size_t i = 0; i < tree->log->reading_count; i++) {
        const struct vti_energy_interval *interval = &tree->intervals[i ? i - 1 : 0];
        double share = part == VT_ENERGY_GPU      ? NAN
                       : part == VT_ENERGY_MEMORY ? interval->resident
                                                  : interval->share;

        charge.last = tree->log->readings[i].known >> number & 1 ? i : charge.last;
        if (!vti_energy_step_to(tree->log, number, i, &step))
            continue;
        charge.has_any = true;
        charge.gross_j += step.joules;
        charge.known_s += step.seconds;
        if (isnan(share))
            continue;
        charge.has_share = true;
        charge.share_j += share * step.joules;
        charge.share_s += share * step.seconds;
    }
    return charge;
}

static void add_known(double *sum, double joules)
{
    if (!isnan(joules))
        *sum = (isnan(*sum) ? 0 : *sum) + joules;
}

static void add_use(struct vti_energy_use *use, const struct charge *charge, double rest_watts,
                    uint32_t how)
{
    use->has_source = true;
    use->how = how > use->how ? how : use->how;
    add_known(&use->gross_j, charge->gross_j);
    if (!charge->has_share)
        return;
    add_known(&use->full_j, charge->share_j);
    if (!isnan(rest_watts))
        add_known(&use->dynamic_j, vti_share_dynamic(charge->share_j, charge->share_s, rest_watts));
}

/* An estimate that ended when a counter came is not missed after that, nor what the end cut off. */
static double missed(const struct vti_energy_tree *tree, uint32_t number,
                     const struct charge *charge)
{
    const struct vti_energy_log_tree *log = tree->log;
    int64_t end_ns = log->readings[log->reading_count - 1].time_ns;
    double seconds;

    for (uint32_t i = 0; i < log->source_count; i++)
        if (log->sources[number].how == VT_ENERGY_ESTIMATED && vti_energy_is_added_up(log, i) &&
            log->sources[i].part == log->sources[number].part &&
            log->sources[i].how < VT_ENERGY_ESTIMATED)
            end_ns = log->readings[charge->last].time_ns;
    if ((double)end_ns - (double)log->readings[charge->last].time_ns < STILL_S * 1e9)
        end_ns = log->readings[charge->last].time_ns;
    seconds = ((double)end_ns - (double)log->readings[0].time_ns) / 1e9 - charge->known_s;
    return seconds > 1e-6 ? seconds : 0;
}

static void sum_up(struct vti_energy_tree *tree)
{
    const struct vti_energy_log_tree *log = tree->log;

    for (uint32_t i = 0; i < log->source_count && tree->interval_count; i++) {
        struct charge charge;

        if (!vti_energy_is_of_part(log, i))
            continue;
        charge = charge_of(tree, i);
        if (charge.has_any)
            add_use(&tree->parts[log->sources[i].part], &charge, tree->rests[i],
                    log->sources[i].how);
        if (!vti_energy_is_added_up(log, i))
            continue;
        if (charge.has_any)
            add_use(&tree->all, &charge, tree->rests[i], log->sources[i].how);
        tree->unknown_s = fmax(tree->unknown_s, missed(tree, i, &charge));
    }
    for (size_t i = 0; i < tree->interval_count; i++) {
        const struct vti_energy_interval *interval = &tree->intervals[i];

        tree->wall_s += vti_energy_seconds(interval);
        add_known(&tree->own_s, interval->own_s);
        add_known(&tree->busy_s, interval->busy_s);
    }
}

int vti_energy_tree_make(struct vti_energy_tree *tree, const struct vti_energy_log_tree *log,
                         const struct vti_resources *resources)
{
    const struct vti_energy_use nothing = {.gross_j = NAN, .full_j = NAN, .dynamic_j = NAN};

    *tree = (struct vti_energy_tree){.log = log, .all = nothing, .own_s = NAN, .busy_s = NAN};
    for (unsigned i = 0; i < VT_ENERGY_PART_COUNT; i++)
        tree->parts[i] = nothing;
    for (size_t i = 0; i < resources->tree_count; i++)
        if (resources->trees[i].number == log->number)
            tree->processes = &resources->trees[i];
    if (make_intervals(tree))
        return VTI_E_NOMEM;
    vti_energy_find_rest(tree);
    make_shares(tree);
    sum_up(tree);
    return 0;
}
