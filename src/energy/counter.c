/*
 * counter.c - one source of energy: what it said last, and what that makes in joules.
 *
 * Counters go up and begin anew at a range that the kernel tells. A step back is such a wrap only if the power that
 * follows from it is possible; a step that might hide further wraps is not known at all. A value that cannot be is one
 * wrong reading, or the beginning of another count: the next one tells. Nothing that runs uses nothing: one that stands
 * still says nothing, and if it then goes on as if no time had passed, that time stays unknown.
 */
#include "energy/counter.h"

#define SLACK_S 0.1 /* counters are renewed every millisecond or more: short intervals look steep */
#define STILL_S 0.05  /* … and some not that often */
#define WRAP_TIMES 20 /* the most power that was seen: more is no wrap */

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
        counter->last.is_set = counter->odd.is_set = false; /* what comes back may begin anew */
    return false;
}

/* One that begins anew, as some do while the machine sleeps, looks the same. */
static bool can_be_wrap(const struct vti_counter *counter, const struct vti_mark *from,
                        double joules)
{
    double watts = WRAP_TIMES * counter->rest.highest_watts;

    if (watts <= 0 || watts > counter->most_watts)
        watts = counter->most_watts;
    return joules <= watts * (from->open_s - from->asleep_s + SLACK_S);
}

static bool counted(struct vti_counter *counter, const struct vti_mark *from, double *joules)
{
    double most = counter->most_watts * from->open_s;
    uint64_t steps;
    bool is_wrap = counter->value < from->value;

    if (is_wrap && (!counter->range || from->value > counter->range))
        return false;
    steps = is_wrap ? counter->range - from->value + counter->value : counter->value - from->value;
    *joules = (double)steps * counter->unit;
    if (*joules > most + counter->most_watts * SLACK_S ||
        (is_wrap && !can_be_wrap(counter, from, *joules)))
        return false;
    if (from->was_still && from->open_s > STILL_S &&
        *joules < counter->rest.lowest_watts * from->open_s / 2)
        return false;
    if (counter->range && *joules + (double)counter->range * counter->unit <= most)
        return false; /* once more would be as possible */
    counter->source.wraps += is_wrap;
    return true;
}

/* On from the last that was credible, else from what was not: then it was the beginning of another count. */
static bool counted_on(struct vti_counter *counter, double *joules)
{
    if ((!counter->odd.is_set || counter->value >= counter->last.value) &&
        counted(counter, &counter->last, joules))
        return true;
    if (!counter->odd.is_set || !counted(counter, &counter->odd, joules))
        return false;
    counter->lost_s += counter->last.open_s - counter->odd.open_s;
    counter->last = counter->odd;
    return true;
}

static bool stands_still(struct vti_counter *counter)
{
    struct vti_mark *at = counter->value == counter->last.value ? &counter->last : &counter->odd;

    if (counter->kind != VTI_COUNTER_COUNTS || !counter->has_value || !counter->last.is_set ||
        !at->is_set || counter->value != at->value || counter->source.joules <= 0)
        return false;
    at->was_still = true;
    return true;
}

static bool step_known(struct vti_counter *counter, double load, double *joules)
{
    const struct vt_energy_source *source = &counter->source;

    switch (counter->kind) {
    case VTI_COUNTER_COUNTS:
        return counted_on(counter, joules);
    case VTI_COUNTER_WATTS:
        *joules = ((double)counter->value + (double)counter->last.value) / 2 * counter->unit *
                  counter->last.open_s;
        return *joules <= counter->most_watts * counter->last.open_s;
    default:
        load = load > 1 ? 1 : load;
        *joules = (source->idle_watts + (source->watts - source->idle_watts) * load) *
                  counter->last.open_s;
        return true;
    }
}

static void pass(struct vti_counter *counter, uint64_t now_ns)
{
    double seconds = 0;

    if (counter->taken_ns && now_ns > counter->taken_ns)
        seconds = (double)(now_ns - counter->taken_ns) / 1e9;
    counter->last.open_s += seconds;
    counter->odd.open_s += seconds;
    counter->last.asleep_s += counter->asleep_s;
    counter->odd.asleep_s += counter->asleep_s;
    counter->taken_ns = now_ns;
}

/* What was not known until now is lost for good. */
static void lose(struct vti_counter *counter)
{
    counter->lost_s += counter->last.open_s;
    counter->last = counter->odd = (struct vti_mark){.is_set = false};
}

void vti_counter_step(struct vti_counter *counter, uint64_t now_ns, double load)
{
    struct vt_energy_source *source = &counter->source;
    bool is_still = stands_still(counter);
    double joules = 0;
    bool is_odd;

    counter->step_j = counter->step_s = 0;
    if (counter->source.is_over)
        return;
    if (counter->kind == VTI_COUNTER_LOAD) {
        counter->has_value = load >= 0 || !counter->taken_ns || source->watts == source->idle_watts;
        counter->last.is_set = counter->taken_ns != 0;
    }
    pass(counter, now_ns);
    counter->has_value &= !is_still;
    source->is_known = counter->has_value;
    is_odd = counter->has_value && counter->last.is_set && !step_known(counter, load, &joules);
    source->gaps += is_odd || (!counter->has_value && !is_still);
    if (is_odd && counter->kind == VTI_COUNTER_COUNTS) {
        counter->odd = (struct vti_mark){.is_set = true, .value = counter->value};
    } else if (counter->has_value) {
        if (is_odd || !counter->last.is_set) {
            lose(counter);
        } else {
            source->joules += joules;
            counter->step_j = joules;
            counter->step_s = counter->last.open_s;
        }
        counter->last = (struct vti_mark){.is_set = true, .value = counter->value};
        counter->odd.is_set = false;
    } else if (counter->kind != VTI_COUNTER_COUNTS) {
        lose(counter); /* power says nothing of what was before */
    }
    source->unknown_s = counter->lost_s;
    if (!is_still || counter->last.open_s > STILL_S)
        source->unknown_s += counter->last.open_s;
}
