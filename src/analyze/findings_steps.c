/* findings_steps.c - rules about steps of a pipeline: what they lost, and what failed in them. */
#include "analyze/findings_impl.h"

#define LOST_SHARE 0.01   /* of all messages: from here on sums are visibly off */
#define FAILED_SHARE 0.05 /* of a step's: no longer an exception */
#define FAILED_STEPS 3    /* the worst ones; the table has all */

static const char *why_lost(const struct vti_step_sums *steps)
{
    if (!steps->sourceless)
        return "for want of room";
    return steps->sourceless == steps->lost
               ? "because a process had more than 4,096 sources of steps"
               : "for want of room, or because a process had more than 4,096 sources of steps";
}

void vti_find_lost_steps(struct vti_finder *finder)
{
    static const struct vti_evidence whole = {.what = "recording", .id = VT_NONE};
    const struct vti_step_sums *steps = &finder->study->steps;
    double all = (double)steps->lost;
    char number[VTI_NUMBER_BYTES];
    char part[VTI_NUMBER_BYTES];
    double share;

    for (uint32_t i = 0; i < steps->ids.count; i++)
        all += (double)steps->sums[i].entries + (double)steps->sums[i].documents;
    if (!steps->lost)
        return;
    share = (double)steps->lost / all;
    vti_finding_say(finder, share >= LOST_SHARE ? VTI_SEVERITY_WARNING : VTI_SEVERITY_NOTICE, share,
                    &whole, "", "%s record%s of steps %s lost %s, %s of all.",
                    vti_text_count(number, steps->lost), steps->lost == 1 ? "" : "s",
                    steps->lost == 1 ? "was" : "were", why_lost(steps),
                    vti_text_share(part, share));
}

static double failed_share(const struct vti_step_sum *sum)
{
    return sum->messages ? (double)sum->failed / (double)sum->messages : 0;
}

/* The one with the largest share below that of `before`, or after it among equals; NULL: no more. */
static const struct vti_step_sum *next_worst(const struct vti_step_sums *steps,
                                             const struct vti_step_sum *before)
{
    const struct vti_step_sum *worst = NULL;

    for (uint32_t i = 0; i < steps->ids.count; i++) {
        const struct vti_step_sum *sum = &steps->sums[i];
        double share = failed_share(sum);

        if (share < FAILED_SHARE || (before && (share > failed_share(before) ||
                                                (share >= failed_share(before) && sum <= before))))
            continue;
        if (!worst || share > failed_share(worst))
            worst = sum;
    }
    return worst;
}

void vti_find_step_failures(struct vti_finder *finder)
{
    const struct vti_step_sums *steps = &finder->study->steps;
    const struct vti_step_sum *sum = next_worst(steps, NULL);

    for (unsigned i = 0; i < FAILED_STEPS && sum; i++, sum = next_worst(steps, sum)) {
        struct vti_evidence evidence = {
            .what = "step", .name = (char *)sum->source, .id = sum->site};
        char failed[VTI_NUMBER_BYTES];
        char all[VTI_NUMBER_BYTES];
        char part[VTI_NUMBER_BYTES];
        char name[VTI_CLIP_BYTES];

        vti_finding_say(finder, VTI_SEVERITY_WARNING, failed_share(sum), &evidence, "",
                        "%s failed for %s of %s messages (%s).", vti_clip(name, sum->source, "", 0),
                        vti_text_count(failed, sum->failed), vti_text_count(all, sum->messages),
                        vti_text_share(part, failed_share(sum)));
    }
}
