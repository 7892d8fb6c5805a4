/*
 * nest.c - which sources are in others, and which show the same as others: those are not added up.
 *
 * Processors that count each die show the counter of the whole package for each: the same number twice in a row, and
 * moving, is one counter, until they differ: not only once, as of two readings with a step in between.
 */
#include "energy/meter.h"

#include <stdio.h>
#include <string.h>

#define DOUBT 0.8 /* of its parts, so many times in a row */
#define DOUBTS_MOST 5
#define DOUBTS_S 1 /* … and so long: some are renewed only now and then */
#define APART_MOST 3

static bool is_contained(const struct vti_counter *counter, const struct vti_counter *platform)
{
    bool is_board = strcmp(platform->source.from, "hwmon") == 0;

    if (counter == platform || counter->source.inside >= 0)
        return false;
    /* psys is of the processor's maker and has what he knows of; a meter of the board has everything. */
    return is_board || counter->source.part == VT_ENERGY_CPU ||
           counter->source.part == VT_ENERGY_MEMORY || counter->source.part == VT_ENERGY_PLATFORM;
}

void vti_nest_platform(vt_energy *meter)
{
    const struct vti_counter *platform = NULL;

    for (size_t i = 0; i < meter->count; i++) {
        const struct vti_counter *counter = meter->counters[i];

        if (counter->source.part == VT_ENERGY_PLATFORM && counter->source.inside < 0 &&
            (!platform || !strcmp(counter->source.from, "hwmon")))
            platform = counter;
    }
    for (size_t i = 0; platform && i < meter->count; i++)
        if (is_contained(meter->counters[i], platform))
            meter->counters[i]->source.inside = vti_meter_index(meter, platform);
}

/* Boards whose firmware does not fill it in: what is less than its parts is not all. */
void vti_nest_doubt(vt_energy *meter)
{
    for (size_t i = 0; i < meter->count; i++) {
        struct vti_counter *platform = meter->counters[i];
        int32_t first = -1;
        bool is_less;

        if (platform->source.part != VT_ENERGY_PLATFORM || platform->source.inside >= 0)
            continue;
        for (size_t k = 0; k < meter->count; k++)
            if (meter->counters[k]->source.inside == (int32_t)i) {
                platform->parts_j += meter->counters[k]->step_j;
                first = first < 0 ? (int32_t)k : first;
            }
        if (platform->step_s <= 0)
            continue; /* it said nothing: that is no less than they are */
        is_less = first >= 0 && platform->step_j < DOUBT * platform->parts_j;
        platform->doubts = is_less ? platform->doubts + 1 : 0;
        platform->doubts_s = is_less ? platform->doubts_s + platform->step_s : 0;
        platform->parts_j = 0;
        if (platform->doubts < DOUBTS_MOST || platform->doubts_s < DOUBTS_S)
            continue;
        for (size_t k = 0; k < meter->count; k++)
            if (meter->counters[k]->source.inside == (int32_t)i)
                meter->counters[k]->source.inside = -1;
        platform->source.inside = first;
        snprintf(platform->source.note, sizeof platform->source.note,
                 "less than what is in it: not added up");
    }
}

static bool can_mirror(const struct vti_counter *a, const struct vti_counter *b)
{
    return a->kind == VTI_COUNTER_COUNTS && b->kind == VTI_COUNTER_COUNTS && a->has_value &&
           b->has_value && a->source.part == b->source.part && a->unit == b->unit &&
           !strcmp(a->source.from, b->source.from) && strcmp(a->source.from, "nvml") != 0;
}

static bool is_same(const struct vti_counter *a, const struct vti_counter *b)
{
    return a->last.is_set && b->last.is_set && a->value == b->value &&
           a->last.value == b->last.value && a->value != a->last.value;
}

/* Two that went alike by chance: all that it counted is its own. */
static void part(const vt_energy *meter, struct vti_counter *counter)
{
    const struct vti_counter *other = meter->counters[counter->source.inside];

    if (!counter->has_value || !other->has_value)
        return;
    counter->apart = counter->value == other->value ? 0 : counter->apart + 1;
    if (counter->apart < APART_MOST)
        return;
    counter->is_mirror = false;
    counter->source.inside = other->source.inside;
    snprintf(counter->source.note, sizeof counter->source.note, "showed the same as %s, once",
             other->source.name);
}

/* Before the values become joules: `last` is still that of the reading before. */
void vti_nest_mirrors(vt_energy *meter)
{
    for (size_t i = 1; i < meter->count; i++) {
        struct vti_counter *counter = meter->counters[i];

        if (counter->is_mirror)
            part(meter, counter);
        for (size_t k = 0; k < i && vti_meter_is_of_part(meter, counter); k++) {
            const struct vti_counter *other = meter->counters[k];

            if (!vti_meter_is_of_part(meter, other) || !can_mirror(other, counter) ||
                !is_same(counter, other))
                continue;
            counter->source.inside = (int32_t)k;
            counter->is_mirror = true;
            counter->apart = 0;
            snprintf(counter->source.note, sizeof counter->source.note, "shows the same as %s",
                     other->source.name);
            break;
        }
    }
}
