/*
 * take.c - a reading of a meter: all sources and the machine, and what lies between two readings divided.
 *
 * Shares are settled over windows of up to a second: the machine's busy time comes in steps of 10 ms. Rest and work are
 * never in one window.
 */
#include "energy/meter.h"

#include <stdatomic.h>

#define BASELINE_LOAD 0.1 /* of the CPUs: with more, a machine does not rest */

/* ---- readings ------------------------------------------------------------------------------------ */

/* CPU time of all readings that are over, of all meters: a program may have several, each in a thread of its own. Only what
 * is added while a meter is there counts, as a child begins with its parent's. */
static atomic_uint_fast64_t readings_ns;

/* The program's CPU time. What readings took of it, whichever meter's, is no work of the program's; it is cumulative, so that
 * what one reading still does after this is taken off with the next. */
static void take_own(vt_energy *meter)
{
    struct vti_family_total total;
    uint64_t reading_ns = vti_energy_thread_ns() - meter->begin_ns;
    uint64_t meter_ns = meter->meter_ns + reading_ns;
    uint64_t all_ns = atomic_load(&readings_ns);
    uint64_t own_ns;

    if (!meter->had_own)
        meter->readings_before_ns = all_ns;
    all_ns += reading_ns - meter->readings_before_ns;
    vti_family_total(&meter->family, &total);
    meter->resident_bytes = total.memory_bytes;
    own_ns = total.cpu.all_ns;
    if (meter->is_self)
        own_ns = own_ns > all_ns ? own_ns - all_ns : 0;
    if (meter->had_own)
        meter->step_own_s = own_ns > meter->last_own_ns
                                ? (double)(own_ns - meter->last_own_ns) / 1e9
                                : 0;
    if (!meter->had_own || own_ns > meter->last_own_ns)
        meter->last_own_ns = own_ns;
    meter->step_meter_s = meter->had_own ? (double)(meter_ns - meter->last_meter_ns) / 1e9 : 0;
    meter->last_meter_ns = meter_ns;
    meter->had_own = true;
}

/* What the program and the machine did since the last reading. */
static void take_work(vt_energy *meter, uint64_t now_ns)
{
    meter->step_own_s = meter->step_busy_s = -1;
    meter->step_wall_s = meter->takes ? (double)(now_ns - meter->taken_ns) / 1e9 : 0;
    vti_machine_take(&meter->machine, false);
    if (meter->machine.has_busy) {
        if (meter->had_busy && meter->machine.busy_ns >= meter->last_busy_ns)
            meter->step_busy_s = (double)(meter->machine.busy_ns - meter->last_busy_ns) / 1e9;
        meter->had_busy = true;
        meter->last_busy_ns = meter->machine.busy_ns;
    }
    if (!meter->has_program)
        return;
    vti_family_round(&meter->family, meter->machine.last_pid, now_ns);
    take_own(meter);
}

/* What the machine slept since the last reading; one clock stands meanwhile. */
static double take_sleep(vt_energy *meter, uint64_t now_ns)
{
    uint64_t awake_ns = meter->hooks.awake_ns();
    uint64_t asleep_ns = now_ns > awake_ns ? now_ns - awake_ns : 0;
    double seconds = meter->takes && asleep_ns > meter->asleep_ns
                         ? (double)(asleep_ns - meter->asleep_ns) / 1e9
                         : 0;

    meter->asleep_ns = asleep_ns;
    return seconds;
}

static void settle(vt_energy *meter)
{
    double part = vti_share_take(&meter->share, meter->window_own_s, meter->window_busy_s,
                                 meter->window_wall_s);
    double meter_part = vti_share_apart(meter->window_meter_s, meter->window_busy_s,
                                        meter->window_wall_s);

    for (size_t i = 0; i < meter->count; i++) {
        struct vti_counter *counter = meter->counters[i];

        counter->share_j += part * counter->window_j;
        counter->share_s += part * counter->window_s;
        counter->meter_j += meter_part * counter->window_j;
        counter->window_j = counter->window_s = 0;
    }
    meter->window_own_s = meter->window_busy_s = meter->window_wall_s = meter->window_meter_s = 0;
}

/* Now: memory by what is resident, cards by what they say. */
static void charge_now(vt_energy *meter, struct vti_counter *counter)
{
    uint64_t memory = meter->machine.memory_bytes;
    double part = -1;

    if (counter->own_part)
        part = counter->own_part(meter, counter);
    else if (counter->source.part == VT_ENERGY_MEMORY && memory && meter->has_program)
        part = (double)meter->resident_bytes / (double)memory;
    if (part < 0)
        return;
    part = part < 1 ? part : 1;
    counter->charged_s += meter->step_wall_s;
    counter->share_j += part * counter->step_j;
    counter->share_s += part * counter->step_s;
}

/* The others by CPU time, when the window ends. */
static void charge(vt_energy *meter)
{
    bool is_known = meter->step_own_s >= 0 && meter->step_busy_s >= 0;

    if (is_known && vti_share_is_rest(meter->window_busy_s, meter->window_wall_s) !=
                        vti_share_is_rest(meter->step_busy_s, meter->step_wall_s))
        settle(meter);
    for (size_t i = 0; i < meter->count; i++) {
        struct vti_counter *counter = meter->counters[i];

        if (counter->source.part == VT_ENERGY_MEMORY || counter->source.part == VT_ENERGY_GPU) {
            charge_now(meter, counter);
        } else if (is_known) {
            counter->charged_s += meter->step_wall_s;
            counter->window_j += counter->step_j;
            counter->window_s += counter->step_s;
        }
    }
    if (!is_known)
        return;
    meter->window_own_s += meter->step_own_s;
    meter->window_busy_s += meter->step_busy_s;
    meter->window_wall_s += meter->step_wall_s;
    meter->window_meter_s += meter->step_meter_s;
    if (vti_share_is_settled(meter->window_busy_s, meter->window_wall_s))
        settle(meter);
}

void vt_energy_take(vt_energy *meter, struct vt_energy_sum *sum)
{
    uint64_t now_ns;
    uint64_t took_ns;
    double asleep_s;
    double load = -1;

    meter->begin_ns = vti_energy_thread_ns();
    now_ns = meter->hooks.now_ns();
    asleep_s = take_sleep(meter, now_ns);
    if (now_ns < meter->taken_ns)
        now_ns = meter->taken_ns;
    take_work(meter, now_ns);
    if (meter->step_busy_s >= 0 && meter->step_wall_s > 0)
        load = meter->step_busy_s / (meter->step_wall_s * meter->machine.cpu_count);
    for (size_t i = 0; i < meter->count; i++) {
        meter->counters[i]->asleep_s = asleep_s;
        vti_counter_ask(meter->counters[i]);
    }
    vti_nest_mirrors(meter);
    for (size_t i = 0; i < meter->count; i++) {
        struct vti_counter *counter = meter->counters[i];

        vti_counter_step(counter, now_ns, load);
        vti_rest_add(&counter->rest, counter->step_j, counter->step_s, load);
    }
    vti_nest_doubt(meter);
    meter->wall_s += meter->step_wall_s;
    meter->own_s += meter->step_own_s > 0 ? meter->step_own_s : 0;
    meter->busy_s += meter->step_busy_s > 0 ? meter->step_busy_s : 0;
    charge(meter);
    if (meter->takes)
        vti_meter_look(meter, now_ns);
    else
        meter->looked_ns = now_ns;
    meter->taken_ns = now_ns;
    meter->takes++;
    if (sum)
        vti_meter_sum(meter, sum);
    took_ns = vti_energy_thread_ns() - meter->begin_ns;
    meter->meter_ns += took_ns;
    atomic_fetch_add(&readings_ns, took_ns);
}

/* ---- rest ---------------------------------------------------------------------------------------- */

/* Whoever works meanwhile makes rest too high: said, since nothing can be done about it. */
static void doubt_baseline(vt_energy *meter)
{
    double cpus_s = (meter->wall_s - meter->baseline_begin_s) * meter->machine.cpu_count;
    double others_s = meter->busy_s - meter->own_s - meter->baseline_others_s;

    if (cpus_s > 0 && others_s >= BASELINE_LOAD * cpus_s)
        vti_meter_advise(meter,
                         "other programs kept %.0f %% of the CPUs busy during the baseline: rest "
                         "is too high, and what goes beyond it too low",
                         100 * (others_s < cpus_s ? others_s / cpus_s : 1));
}

void vt_energy_baseline_begin(vt_energy *meter)
{
    vt_energy_take(meter, NULL);
    meter->is_baseline = true;
    meter->baseline_begin_s = meter->wall_s;
    meter->baseline_others_s = meter->busy_s - meter->own_s;
    for (size_t i = 0; i < meter->count; i++) {
        struct vti_counter *counter = meter->counters[i];

        counter->begin_j = counter->source.joules;
        counter->begin_unknown_s = counter->source.unknown_s;
    }
}

double vt_energy_baseline_end(vt_energy *meter)
{
    double watts = 0;

    if (!meter->is_baseline)
        return -1;
    vt_energy_take(meter, NULL);
    meter->is_baseline = false;
    for (size_t i = 0; i < meter->count; i++) {
        struct vti_counter *counter = meter->counters[i];
        double seconds = meter->wall_s - meter->baseline_begin_s -
                         (counter->source.unknown_s - counter->begin_unknown_s);
        double joules = counter->source.joules - counter->begin_j;

        if (seconds > 0)
            counter->baseline_watts = joules / seconds;
        if (seconds > 0 && counter->kind != VTI_COUNTER_LOAD)
            counter->source.idle_watts = counter->baseline_watts;
        if (counter->source.inside < 0 && !counter->source.is_over && watts >= 0)
            watts = seconds > 0 ? watts + counter->baseline_watts : -1;
    }
    doubt_baseline(meter);
    return watts;
}
