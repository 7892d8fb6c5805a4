/*
 * counter.c - one source of energy: what it said last, and what that makes in joules.
 *
 * Counters go up and begin anew at a range that the kernel tells. A step back is such a wrap only if the power that
 * follows from it is possible; a step that might hide further wraps is not known at all.
 */
#include "energy/counter.h"

#define SLACK_S 0.1 /* counters are renewed every millisecond or more: short intervals look steep */

void vti_counter_ask(struct vti_counter *counter)
{
    counter->has_value = false;
    if (counter->read && !counter->source.is_over)
        counter->has_value = counter->read(counter, &counter->value);
}

bool vti_counter_read_file(struct vti_counter *counter, uint64_t *value)
{
    if (vti_number_file_read(&counter->file, value))
        return true;
    if (counter->file.is_gone)
        counter->has_last = false; /* what comes back may begin anew */
    return false;
}

static bool counted(struct vti_counter *counter, double *joules)
{
    double most = counter->most_watts * counter->open_s;
    uint64_t steps;
    bool is_wrap = counter->value < counter->last;

    if (is_wrap && (!counter->range || counter->last > counter->range))
        return false;
    steps = is_wrap ? counter->range - counter->last + counter->value
                    : counter->value - counter->last;
    *joules = (double)steps * counter->unit;
    if (*joules > most + counter->most_watts * SLACK_S)
        return false;
    if (counter->range && *joules + (double)counter->range * counter->unit <= most)
        return false; /* once more would be as possible */
    counter->source.wraps += is_wrap;
    return true;
}

static bool step_known(struct vti_counter *counter, double load, double *joules)
{
    const struct vt_energy_source *source = &counter->source;

    switch (counter->kind) {
    case VTI_COUNTER_COUNTS:
        return counted(counter, joules);
    case VTI_COUNTER_WATTS:
        *joules = ((double)counter->value + (double)counter->last) / 2 * counter->unit *
                  counter->open_s;
        return *joules <= counter->most_watts * counter->open_s;
    default:
        load = load > 1 ? 1 : load;
        *joules = (source->idle_watts + (source->watts - source->idle_watts) * load) *
                  counter->open_s;
        return true;
    }
}

void vti_counter_step(struct vti_counter *counter, uint64_t now_ns, double load)
{
    struct vt_energy_source *source = &counter->source;
    double joules = 0;

    counter->step_j = counter->step_s = 0;
    if (counter->source.is_over)
        return;
    if (counter->taken_ns && now_ns > counter->taken_ns)
        counter->open_s += (double)(now_ns - counter->taken_ns) / 1e9;
    if (counter->kind == VTI_COUNTER_LOAD) {
        counter->has_value = load >= 0 || !counter->taken_ns || source->watts == source->idle_watts;
        counter->has_last = counter->taken_ns != 0;
    }
    counter->taken_ns = now_ns;
    source->is_known = counter->has_value;
    if (counter->has_value && counter->has_last && step_known(counter, load, &joules)) {
        source->joules += joules;
        counter->step_j = joules;
        counter->step_s = counter->open_s;
    } else if (counter->has_value) {
        source->gaps += counter->has_last;
        counter->lost_s += counter->open_s;
    } else {
        source->gaps++;
    }
    if (counter->has_value) {
        counter->open_s = 0;
        counter->has_last = true;
        counter->last = counter->value;
    } else if (counter->kind != VTI_COUNTER_COUNTS) {
        counter->lost_s += counter->open_s; /* power says nothing of what was before */
        counter->open_s = 0;
        counter->has_last = false;
    }
    source->unknown_s = counter->lost_s + counter->open_s;
}
