/* items.c - work that a program counted: the sum of all that was added, as the events say. */
#include "analyze/items.h"

#include "analyze/resources.h"
#include "analyze/values.h"
#include "base/error.h"
#include "venturi/span.h"

#include <math.h>
#include <string.h>

static bool has_counters(const vt_recording *recording)
{
    const struct vti_facts *facts = &recording->facts;

    for (uint32_t i = 0; i < facts->site_ids.count; i++)
        if (!strcmp(facts->sites[i].name, VT_ITEMS_NAME) ||
            !strcmp(facts->sites[i].name, VT_ITEMS_DONE_NAME))
            return true;
    return false;
}

static void take(struct vti_items *items, vt_recording *recording, const struct vt_event *event)
{
    struct vt_site_info site;

    if (event->kind != VT_EVENT_COUNTER)
        return;
    vt_recording_site_by_id(recording, event->site, &site);
    if (!strcmp(site.name, VT_ITEMS_NAME)) {
        items->is_counted = true;
        items->raw += vti_value_number(&event->value);
    } else if (!strcmp(site.name, VT_ITEMS_DONE_NAME)) {
        items->has_effective = true;
        items->effective += vti_value_number(&event->value);
    }
}

static int count(struct vti_items *items, vt_recording *recording)
{
    vt_cursor *cursor;
    struct vt_event event;
    int code = vt_cursor_open(&cursor, recording, NULL);

    if (code)
        return code;
    while ((code = vt_cursor_next(cursor, &event)) > 0)
        take(items, recording, &event);
    vt_cursor_close(cursor);
    return code;
}

/* Less than nothing is no amount of work. */
static void drop_nonsense(struct vti_items *items)
{
    if (!(items->raw >= 0 && isfinite(items->raw))) {
        items->is_counted = false;
        items->raw = 0;
    }
    if (!(items->effective >= 0 && isfinite(items->effective))) {
        items->has_effective = false;
        items->effective = 0;
    }
}

/* From the first reading of all to the last: the start of an interpreter is in it, as in the CPU time. */
static double wall_of(const struct vti_resources *resources)
{
    int64_t begin_ns = INT64_MAX;
    int64_t end_ns = INT64_MIN;

    for (size_t i = 0; i < resources->tree_count; i++) {
        const struct vti_resource_tree *tree = &resources->trees[i];

        begin_ns = tree->begin_ns < begin_ns ? tree->begin_ns : begin_ns;
        end_ns = tree->end_ns > end_ns ? tree->end_ns : end_ns;
    }
    return end_ns > begin_ns ? ((double)end_ns - (double)begin_ns) / 1e9 : 0;
}

int vti_items_load(struct vti_items *items, vt_recording *recording)
{
    struct vti_resources resources = {0};
    struct vt_recording_info info;
    int code;

    *items = (struct vti_items){.cpu_s = -1};
    if (!has_counters(recording))
        return 0;
    code = count(items, recording);
    if (!code)
        code = vti_resources_load(&resources, recording);
    if (!code && resources.tree_count) {
        items->cpu_s = 0;
        for (size_t i = 0; i < resources.tree_count; i++)
            items->cpu_s += resources.trees[i].cpu_s;
        items->cores = resources.trees[0].cpu_count;
    }
    drop_nonsense(items);
    if (!items->has_effective)
        items->effective = items->raw;
    vt_recording_info(recording, &info);
    items->wall_s = wall_of(&resources);
    if (!(items->wall_s > 0))
        items->wall_s = (double)info.duration_ns / 1e9;
    vti_resources_fini(&resources);
    return code;
}
