/* trace_notes.c - what the reader of a trace must know: clocks that were moved, spans that are missing or were there twice, losses. */
#include "analyze/overview.h"
#include "base/number.h"
#include "cli/trace.h"

static void add_skews(struct vti_buf *notes, const struct vti_traces *traces)
{
    for (size_t i = 0; i < traces->process_count; i++) {
        const struct vti_trace_process *process = &traces->processes[i];
        char time[VTI_NUMBER_BYTES];
        int64_t skew = process->skew_ns;

        if (!skew)
            continue;
        vti_text_duration(time, (double)(skew < 0 ? -skew : skew));
        vti_buf_printf(notes,
                       "times of %s%s%s are moved %s by %s, so that no span begins before its "
                       "parent: its clock differs",
                       process->service, *process->host ? " on " : "", process->host,
                       skew < 0 ? "back" : "forward", time);
        vti_buf_add_u8(notes, 0);
    }
}

static void add_losses(struct vti_buf *notes, vt_recording *const *recordings,
                       const char *const *files, size_t file_count)
{
    for (size_t i = 0; i < file_count; i++) {
        struct vt_recording_info info;
        struct vti_losses losses;

        vt_recording_info(recordings[i], &info);
        if (info.damage_count) {
            vti_buf_printf(notes, "%s: parts of it are damaged (venturi info says which)",
                           files[i]);
            vti_buf_add_u8(notes, 0);
        }
        if (vti_losses_query(recordings[i], &losses))
            continue;
        if (losses.lost_events) {
            vti_buf_printf(notes, "%s: %llu events were lost, spans may be missing", files[i],
                           (unsigned long long)losses.lost_events);
            vti_buf_add_u8(notes, 0);
        }
        vti_losses_free(&losses);
    }
}

void vti_trace_notes(struct vti_trace_view *view, vt_recording *const *recordings,
                     size_t file_count)
{
    struct vti_buf *notes = &view->notes;
    uint32_t circles = 0;

    add_skews(notes, view->traces);
    for (uint32_t i = 0; i < view->trace->span_count; i++)
        circles += view->trace->spans[i].is_own_parent;
    if (circles) {
        vti_buf_printf(notes,
                       "spans that name themselves or a span inside of them as their parent: %u; "
                       "their ids are wrong",
                       circles);
        vti_buf_add_u8(notes, 0);
    }
    if (view->trace->orphan_count > circles) {
        vti_buf_printf(notes,
                       "spans whose parent is in none of the files: %u; give those of the other "
                       "services too",
                       view->trace->orphan_count - circles);
        vti_buf_add_u8(notes, 0);
    }
    if (view->traces->duplicate_spans) {
        vti_buf_printf(notes, "spans that were there twice and are shown once: %llu",
                       (unsigned long long)view->traces->duplicate_spans);
        vti_buf_add_u8(notes, 0);
    }
    add_losses(notes, recordings, view->files, file_count);
}
