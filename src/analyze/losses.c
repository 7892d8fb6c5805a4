/* losses.c - what is missing from a recording, added up by reason and thread. */
#include "analyze/overview.h"

#include "base/error.h"

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

static uint64_t *total_of(struct vti_losses *losses, const char *reason)
{
    if (reason == vti_loss_reason_text(VTI_LOSS_SLICED))
        return &losses->sliced_events;
    if (reason == vti_loss_reason_text(VTI_LOSS_OVERWRITTEN))
        return &losses->overwritten_events;
    return &losses->lost_events;
}

static int add(struct vti_losses *losses, const struct vt_loss_info *loss)
{
    struct vti_loss_stats *item = find_item(losses, loss);
    uint64_t *total = total_of(losses, loss->reason);

    if (!item)
        return VTI_E_NOMEM;
    item->gaps++;
    item->events += loss->events;
    item->is_lower_bound |= loss->is_lower_bound;
    item->begin_ns = loss->begin_ns < item->begin_ns ? loss->begin_ns : item->begin_ns;
    item->end_ns = loss->end_ns > item->end_ns ? loss->end_ns : item->end_ns;
    item->is_process = loss->reason == vti_loss_reason_text(VTI_LOSS_PROCESS);
    item->is_of_steps = loss->reason == vti_loss_reason_text(VTI_LOSS_STEPS) ||
                        loss->reason == vti_loss_reason_text(VTI_LOSS_STEPS_DISK) ||
                        loss->reason == vti_loss_reason_text(VTI_LOSS_STEPS_SOURCES);
    losses->missing_processes += item->is_process;
    item->is_wanted = total != &losses->lost_events;
    *total += loss->events;
    return 0;
}

int vti_losses_query(const vt_recording *recording, struct vti_losses *losses)
{
    struct vt_recording_info info;
    struct vt_loss_info loss;
    int code = 0;

    memset(losses, 0, sizeof *losses);
    for (uint32_t i = 0; !code && vt_recording_loss(recording, i, &loss); i++)
        code = add(losses, &loss);
    vt_recording_info(recording, &info);
    /* The recording's own sum, with what --ring gave up, tells if an entry has been damaged. */
    if (info.lost_events > losses->lost_events + losses->overwritten_events)
        losses->lost_events = info.lost_events - losses->overwritten_events;
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
