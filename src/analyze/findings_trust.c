/* findings_trust.c - rules about how far the figures can be trusted, and about what failed. */
#include "analyze/findings_impl.h"
#include "analyze/program_name.h"

#include <string.h>

#define LOST_SHARE 0.01 /* of all events: from here on tables are visibly off */
#define OVERHEAD_SHARE                                                                             \
    0.1 /* of the threads' time: waiting and caches shift, which cannot be taken off */
#define OVERHEAD_SHARE_MUCH 0.3
#define ERROR_SHARE 0.05       /* of the spans: no longer an exception */
#define ERROR_SITES 3          /* the worst ones; the table has all */
#define CLOCK_ERROR_NS 1000000 /* 1 ms: requests between hosts take about that long */

static const struct vti_evidence whole = {.what = "recording", .id = VT_NONE};

void vti_find_losses(struct vti_finder *finder)
{
    const struct vti_losses *losses = &finder->study->overview.losses;
    uint64_t steps = finder->study->steps.lost; /* they have a rule of their own */
    uint64_t events = losses->lost_events > steps ? losses->lost_events - steps : 0;
    uint64_t lost = events + finder->study->calls.lost_calls;
    double all = (double)lost + (double)finder->study->info.event_count;
    const char *reason = "";
    char number[VTI_NUMBER_BYTES];
    char part[VTI_NUMBER_BYTES];
    double share;

    for (size_t i = 0; finder->study->functions.calls && i < finder->study->functions.row_count;
         i++)
        all += (double)finder->study->functions.rows[i].numbers.calls;
    if (!lost)
        return;
    for (size_t i = 0; i < losses->count && !*reason; i++)
        if (!losses->items[i].is_wanted && !losses->items[i].is_process &&
            !losses->items[i].is_of_steps)
            reason = losses->items[i].reason;
    share = (double)lost / all;
    vti_finding_say(finder, share >= LOST_SHARE ? VTI_SEVERITY_WARNING : VTI_SEVERITY_NOTICE, share,
                    &whole, "",
                    "%s event%s lost%s%s%s, %s of all: counts and times around them are off.",
                    vti_text_count(number, lost), lost == 1 ? " was" : "s were",
                    *reason ? " (" : "", reason, *reason ? ")" : "", vti_text_share(part, share));
}

void vti_find_missing_processes(struct vti_finder *finder)
{
    uint64_t missing = finder->study->overview.losses.missing_processes;
    double all = (double)missing + (double)finder->study->info.process_count;

    if (missing)
        vti_finding_say(finder, VTI_SEVERITY_WARNING, (double)missing / all, &whole, "",
                        "%llu process%s not recorded, or not to the end.",
                        (unsigned long long)missing, missing == 1 ? " was" : "es were");
}

void vti_find_damage(struct vti_finder *finder)
{
    uint32_t count = finder->study->info.damage_count;

    if (count)
        vti_finding_say(finder, VTI_SEVERITY_WARNING, 1, &whole, "",
                        "%u range%s of the file %s damaged: what they held is missing.", count,
                        count == 1 ? "" : "s", count == 1 ? "is" : "are");
}

void vti_find_cut_off(struct vti_finder *finder)
{
    if (!finder->study->info.is_closed)
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, 1, &whole, "",
                        "The recording has no end: it goes on, or what wrote it was stopped.");
}

/* Each file of a spool: its parts are of different times. */
void vti_find_one_of_a_run(struct vti_finder *finder)
{
    char number[32];
    char name[VTI_CLIP_BYTES];

    if (finder->study->recording && vti_spool_part(finder->study->recording, number, sizeof number))
        vti_finding_say(
            finder, VTI_SEVERITY_NOTICE, 1, &whole, "",
            "This is file %s of a run: duration, functions and lines are of the whole run so far, "
            "all else is of this file; `venturi merge DIR/*.vt` has all.",
            vti_clip(name, number, "", 0));
}

void vti_find_overhead(struct vti_finder *finder)
{
    const struct vti_study *study = finder->study;
    double share = study->overhead_share;
    char cost[VTI_NUMBER_BYTES];

    if (share >= OVERHEAD_SHARE)
        vti_finding_say(finder,
                        share >= OVERHEAD_SHARE_MUCH ? VTI_SEVERITY_WARNING : VTI_SEVERITY_NOTICE,
                        share, &whole, "",
                        "Recording took %.0f %% of the threads' time: %s, %s the times shown.",
                        share * 100, vti_text_duration(cost, (double)study->overhead_ns),
                        study->is_raw ? "left in" : "taken off");
}

void vti_find_clock(struct vti_finder *finder)
{
    struct vt_host_info host;
    struct vt_host_info worst = {.error_ns = 0};
    char error[VTI_NUMBER_BYTES];
    char name[VTI_CLIP_BYTES];

    for (uint32_t i = 0; vt_recording_host(finder->study->recording, i, &host); i++)
        if (host.error_ns > worst.error_ns)
            worst = host;
    if (worst.error_ns >= CLOCK_ERROR_NS)
        vti_finding_say(finder, VTI_SEVERITY_NOTICE, 0.5, &whole, "",
                        "The clock of host %s is known to %s only: times between hosts may be off "
                        "by that much.",
                        vti_clip(name, worst.name, "", 0),
                        vti_text_duration(error, (double)worst.error_ns));
}

/* ---- what failed ----------------------------------------------------------------------------- */

static const struct vti_error_stats *first_error(const struct vti_study *study, uint32_t site)
{
    for (size_t i = 0; i < study->overview.error_count; i++)
        if (study->overview.errors[i].site == site)
            return &study->overview.errors[i];
    return NULL;
}

static void say_failed(struct vti_finder *finder, const struct vti_subject *subject)
{
    const struct vti_error_stats *error = first_error(finder->study, subject->id);
    struct vti_evidence evidence = vti_subject_evidence(subject);
    double share = (double)subject->errors / (double)subject->count;
    char name[VTI_CLIP_BYTES];
    char type[VTI_CLIP_BYTES] = "";
    char failed[VTI_NUMBER_BYTES];
    char count[VTI_NUMBER_BYTES];
    char part[VTI_NUMBER_BYTES];

    if (error && *error->type)
        vti_clip(type, error->type, "", 0);
    vti_finding_say(finder, share >= ERROR_SHARE ? VTI_SEVERITY_WARNING : VTI_SEVERITY_NOTICE,
                    share, &evidence, "", "%s failed in %s of %s span%s (%s)%s%s.",
                    vti_subject_text(name, subject), vti_text_count(failed, subject->errors),
                    vti_text_count(count, subject->count), subject->count == 1 ? "" : "s",
                    vti_text_share(part, share), *type ? ", most often with " : "", type);
}

void vti_find_errors(struct vti_finder *finder)
{
    const struct vti_world *world = &finder->worlds[VTI_WORLD_SPANS];
    const struct vti_subject *last = NULL;

    for (int said = 0; said < ERROR_SITES; said++) {
        const struct vti_subject *most = NULL;

        for (size_t i = 0; i < world->count; i++) {
            const struct vti_subject *subject = &world->subjects[i];
            bool is_left = !last || subject->errors < last->errors ||
                           (subject->errors == last->errors && subject > last);

            if (subject->errors && is_left && (!most || subject->errors > most->errors))
                most = subject;
        }
        if (!most)
            return;
        say_failed(finder, most);
        last = most;
    }
}
