/* items.c - work that the program counts (VT_ITEMS, venturi.items): how much so far, how quickly, for how many joules. */
#include "analyze/values.h"
#include "base/error.h"
#include "live/state.h"
#include "venturi/span.h"

#include <math.h>
#include <string.h>

static void add(struct vti_live_tally *tally, double value)
{
    tally->is_counted = true;
    tally->sum += value;
    if (isfinite(tally->sum) && tally->sum > tally->most)
        tally->most = tally->sum;
}

void vti_source_take_counter(struct vti_source *source, const struct vti_event *event)
{
    struct vti_live *live = source->live;
    struct vt_site_info site;

    vt_recording_site_by_id(source->recording, event->site, &site);
    if (!strcmp(site.name, VT_ITEMS_NAME))
        add(&live->items, vti_counter_number(&event->value));
    else if (!strcmp(site.name, VT_ITEMS_DONE_NAME))
        add(&live->effective, vti_counter_number(&event->value));
}

uint64_t vti_tally_whole(const struct vti_live_tally *tally)
{
    return !(tally->sum > 0) ? 0 : tally->sum < 0x1p63 ? (uint64_t)tally->sum : (uint64_t)1 << 63;
}

/* As src/analyze/items.c has it: less than nothing is no amount of work. */
static bool is_amount(const struct vti_live_tally *tally)
{
    return tally->is_counted && tally->sum >= 0 && isfinite(tally->sum);
}

/* From the first reading of all to the last; of programs that ran one after the other that is nobody's time. */
static double wall_of(const struct vti_live *live)
{
    int64_t begin_ns = INT64_MAX;
    int64_t end_ns = 0;

    if (live->kind == VTI_LIVE_FOLDER)
        return NAN;
    for (size_t i = 0; i < live->source_count; i++) {
        const struct vti_source *source = live->sources[i];

        if (source->read_from_unix_ns && source->read_from_unix_ns < begin_ns)
            begin_ns = source->read_from_unix_ns;
        if (source->read_to_unix_ns > end_ns)
            end_ns = source->read_to_unix_ns;
    }
    if (end_ns <= begin_ns) {
        begin_ns = live->start_unix_ns;
        end_ns = live->last_unix_ns;
    }
    if (live->items_since_unix_ns > begin_ns)
        begin_ns = live->items_since_unix_ns;
    return end_ns > begin_ns ? ((double)end_ns - (double)begin_ns) / 1e9 : NAN;
}

static double rate_of(const struct vti_live *live, const struct vti_live_tally *tally)
{
    return vti_rate_of(&tally->rate, &live->beat, vti_tally_whole(tally));
}

void vti_live_items(const struct vti_live *live, struct vti_live_items *items)
{
    double joules = live->energy.is_known ? live->energy.own_joules - live->items_since_joules
                                          : NAN;

    *items = (struct vti_live_items){
        .is_counted = is_amount(&live->items),
        .has_effective = is_amount(&live->effective),
        .most = live->items.is_counted ? live->items.most : NAN,
        .most_effective = live->effective.is_counted ? live->effective.most : NAN,
        .effective = NAN,
        .effective_per_s = NAN,
        .wall_s = wall_of(live),
        .joules_per_1000 = NAN};
    if (items->is_counted) {
        items->raw = live->items.sum;
        items->raw_per_s = rate_of(live, &live->items);
    }
    if (items->has_effective) {
        items->effective = live->effective.sum;
        items->effective_per_s = rate_of(live, &live->effective);
    }
    if (items->raw > 0)
        items->joules_per_1000 = joules / items->raw * 1000;
}

void vti_live_items_reset(struct vti_live *live)
{
    live->items = live->effective = (struct vti_live_tally){0};
    live->items_since_unix_ns = live->now_unix_ns;
    live->items_since_joules = live->energy.is_known && !isnan(live->energy.own_joules)
                                   ? live->energy.own_joules
                                   : 0;
}
