/* report_trust.c - how far the figures of a recording can be trusted: losses, own cost, clock, what was recorded. */
#include "analyze/values.h"
#include "cli/prose.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "cli/report.h"

#include <string.h>

static void add_losses(const struct vti_report *report, struct vti_sentence *sentence)
{
    const struct vti_losses *losses = &report->study.overview.losses;
    const char *reason = NULL;
    struct vti_buf text = {0};

    for (size_t i = 0; i < losses->count && !reason; i++)
        if (!losses->items[i].is_wanted && !losses->items[i].is_process)
            reason = losses->items[i].reason;
    vti_prose_plural(&text, losses->lost_events, "event");
    if (losses->lost_events || reason)
        vti_sentence_add(sentence, "%.*s lost (%s)", (int)text.len, (const char *)text.data,
                         reason ? reason : "reason unknown");
    else if (!report->study.info.damage_count && !losses->missing_processes)
        vti_sentence_add(sentence, "nothing lost");
    if (losses->missing_processes)
        vti_sentence_add(sentence, VTI_MISSING_PROCESSES,
                         (unsigned long long)losses->missing_processes);
    if (losses->overwritten_events)
        vti_sentence_add(sentence, VTI_KEPT_THE_END,
                         (unsigned long long)losses->overwritten_events);
    vti_buf_clear(&text);
    vti_prose_plural(&text, losses->sliced_events, "event");
    if (losses->sliced_events)
        vti_sentence_add(sentence, "sliced: %.*s before and after cut away", (int)text.len,
                         (const char *)text.data);
    vti_buf_fini(&text);
}

/* Spans whose figures are not the whole story. */
static void add_unusual(const struct vti_report *report, struct vti_sentence *sentence)
{
    uint64_t unfinished = 0;
    uint64_t failed = 0;

    for (size_t i = 0; i < report->study.stats.site_count; i++) {
        unfinished += report->spans[i].unfinished;
        failed += report->spans[i].errors;
    }
    if (failed)
        vti_sentence_add(sentence, "%llu failed", (unsigned long long)failed);
    if (unfinished)
        vti_sentence_add(sentence, "%llu unfinished", (unsigned long long)unfinished);
}

static bool has_known_cost(const vt_recording *recording)
{
    struct vt_process_info process;

    for (uint32_t i = 0; vt_recording_process(recording, i, &process); i++)
        if (process.pair_ns > 0)
            return true;
    return false;
}

/* How it was recorded: which kinds of data there are, and so what the figures are made of. */
static void add_mode(const struct vti_report *report, struct vti_sentence *sentence)
{
    const struct vti_study *study = &report->study;
    const struct {
        bool is_there;
        const char *what;
    } kinds[] = {{study->stats.span_count > 0, "spans"},
                 {study->calls.call_count > 0, "calls"},
                 {study->functions.is_imported, "an imported profile"},
                 {study->lines.function_count > 0, "lines"},
                 {study->calls.is_estimated || study->lines.is_estimated, "samples"}};
    struct vti_buf text = {0};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is_there)
            vti_buf_printf(&text, "%s%s", text.len ? " + " : "", kinds[i].what);
    if (text.len)
        vti_sentence_add(sentence, "made of %.*s", (int)text.len, (const char *)text.data);
    vti_buf_fini(&text);
}

int vti_report_print_trust(const struct vti_report *report)
{
    const struct vt_recording_info *info = &report->study.info;
    struct vti_sentence sentence;
    char number[VTI_NUMBER_BYTES];
    char share[VTI_NUMBER_BYTES];
    char rate[VTI_RATE_BYTES];

    putchar('\n');
    vti_sentence_start(&sentence, "trust: ");
    add_losses(report, &sentence);
    add_unusual(report, &sentence);
    if (info->damage_count)
        vti_sentence_add(&sentence, "%u range%s of the file damaged", info->damage_count,
                         info->damage_count == 1 ? "" : "s");
    if (!info->is_closed)
        vti_sentence_add(&sentence, "recording not closed");
    if (has_known_cost(report->study.recording))
        vti_sentence_add(&sentence, "own cost %s (%s) %s",
                         vti_text_duration(number, (double)report->study.overhead_ns),
                         vti_text_share(share, report->study.overhead_share),
                         report->study.is_raw ? "left in" : "subtracted");
    else
        vti_sentence_add(&sentence, "own cost not known");
    add_mode(report, &sentence);
    if (vti_recording_is_imported(report->study.recording))
        vti_sentence_add(&sentence, "imported, clock not known");
    else if (!strcmp(info->clock, "monotonic"))
        vti_sentence_add(&sentence, "monotonic clock");
    else if (*info->clock)
        vti_sentence_add(&sentence, "clock %s %s", info->clock,
                         vti_text_rate(rate, info->ticks_per_ns));
    else
        vti_sentence_add(&sentence, "clock unknown");
    return vti_sentence_print(&sentence);
}
