/* missing.c - processes that should have been recorded and were not, or not to their end, become losses. */
#include "drain/missing.h"

#define MISSING_MOST 1000 /* entries for processes of which nothing is known */

static void state_one(struct vti_recorder *recorder, uint32_t process_plus_one)
{
    uint64_t now = vti_recorder_ticks(recorder);
    struct vti_loss_fact loss = {.reason = VTI_LOSS_PROCESS,
                                 .process_plus_one = process_plus_one,
                                 .first = now,
                                 .last = now,
                                 .flags = 1};

    vti_recorder_loss(recorder, &loss);
}

void vti_missing_state(struct vti_recorder *recorder, const struct vti_drain_stats *stats,
                       const struct vti_target *processes)
{
    uint64_t unknown = (uint64_t)stats->refused + stats->unlike + stats->unheard + stats->gave_up;

    for (uint64_t i = 0; i < unknown && i < MISSING_MOST; i++)
        state_one(recorder, 0);
    for (const struct vti_target *p = processes; p; p = p->next)
        if (p->is_left)
            state_one(recorder, p->is_announced ? p->fact.process + 1 : 0);
}
