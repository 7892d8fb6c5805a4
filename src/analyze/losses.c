/*
 * losses.c - what is missing from a recording, added up by reason and thread.
 *
 * Losses are stated in blocks of their own, or stand between the events where they happened; END has
 * the sum of both.
 */
#include "analyze/losses.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define KINDS_MOST 1000 /* further ones go into the first with their reason */

static bool is_same(const struct vti_loss_stats *item, const struct vt_loss_info *loss)
{
    return item->reason == loss->reason && item->process == loss->process &&
           item->track == loss->track;
}

static struct vti_loss_stats *find_item(struct vti_losses *losses, const struct vt_loss_info *loss)
{
    struct vti_loss_stats *same_reason = NULL;

    for (size_t i = 0; i < losses->count; i++) {
        struct vti_loss_stats *item = &losses->items[i];

        if (is_same(item, loss))
            return item;
        if (item->reason == loss->reason && !same_reason)
            same_reason = item;
    }
    if (losses->count >= KINDS_MOST && same_reason) {
        same_reason->process = same_reason->track = VT_NONE;
        return same_reason;
    }
    if (vti_grow(&losses->items, losses->count, &losses->capacity, sizeof *losses->items))
        return NULL;
    losses->items[losses->count] = (struct vti_loss_stats){.reason = loss->reason,
                                                           .process = loss->process,
                                                           .track = loss->track,
                                                           .begin_ns = loss->begin_ns,
                                                           .end_ns = loss->end_ns};
    return &losses->items[losses->count++];
}

int vti_losses_add(struct vti_losses *losses, const struct vt_loss_info *loss)
{
    struct vti_loss_stats *item = find_item(losses, loss);

    if (!item)
        return VTI_E_NOMEM;
    item->gaps++;
    item->events += loss->events;
    item->is_lower_bound |= loss->is_lower_bound;
    item->is_sliced = loss->reason == vti_loss_reason_text(VTI_LOSS_SLICED);
    item->begin_ns = loss->begin_ns < item->begin_ns ? loss->begin_ns : item->begin_ns;
    item->end_ns = loss->end_ns > item->end_ns ? loss->end_ns : item->end_ns;
    *(item->is_sliced ? &losses->sliced_events : &losses->lost_events) += loss->events;
    return 0;
}

int vti_losses_add_event(struct vti_losses *losses, const struct vti_track *track,
                         struct vti_clock *clock, const struct vti_event *event)
{
    struct vt_loss_info loss = {.reason = vti_loss_reason_text(event->loss_reason),
                                .process = track->process,
                                .track = track->id,
                                .events = event->loss_events};

    loss.end_ns = vti_clock_ns(clock, event->ticks);
    loss.begin_ns = event->loss_ticks > event->ticks
                        ? loss.end_ns
                        : vti_clock_ns(clock, event->ticks - event->loss_ticks);
    return vti_losses_add(losses, &loss);
}

int vti_losses_add_stated(struct vti_losses *losses, const vt_recording *recording)
{
    struct vt_loss_info loss;
    int code = 0;

    for (uint32_t i = 0; !code && vt_recording_loss(recording, i, &loss); i++)
        code = vti_losses_add(losses, &loss);
    return code;
}

static int add_track(struct vti_losses *losses, vt_recording *recording, struct vti_track *track)
{
    struct vti_event event = {0};
    struct vti_walk walk;
    int code = 0;
    int got;

    vti_walk_init(&walk, recording, track, 0, UINT64_MAX);
    while (!code && (got = vti_walk_next(&walk, &event)) != VTI_WALK_END)
        if (got == VTI_WALK_EVENT && event.kind == VTI_EVENT_LOSS)
            code = vti_losses_add_event(losses, track, walk.clock, &event);
    return code;
}

int vti_losses_query(vt_recording *recording, struct vti_losses *losses)
{
    struct vti_facts *facts = &recording->facts;
    struct vt_recording_info info;
    int code;

    memset(losses, 0, sizeof *losses);
    vt_recording_info(recording, &info);
    code = vti_losses_add_stated(losses, recording);
    if (!code && (!info.is_closed || info.lost_events > losses->lost_events))
        for (uint32_t i = 0; i < facts->track_ids.count && !code; i++)
            code = add_track(losses, recording, facts->tracks[i]);
    if (info.lost_events > losses->lost_events)
        losses->lost_events = info.lost_events;
    if (!code)
        return 0;
    vti_losses_free(losses);
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

void vti_losses_free(struct vti_losses *losses)
{
    free(losses->items);
    memset(losses, 0, sizeof *losses);
}
