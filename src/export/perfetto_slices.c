/* perfetto_slices.c - tasks and steps of a Perfetto trace: slices on tracks that are no threads. */
#include "analyze/tasks_stats.h"
#include "base/protobuf.h"
#include "export/perfetto.h"

#include <string.h>

enum { TRACK_NAME = 2 };

static int describe(struct vti_perfetto *perfetto, uint64_t uuid, uint64_t parent, const char *name)
{
    size_t track = vti_perfetto_open_track(perfetto, uuid, parent);

    vti_proto_string(&perfetto->out, TRACK_NAME, name, strlen(name));
    return vti_perfetto_close_track(perfetto, track);
}

/* The begin, which has all that is said of it, is written; the end follows. */
static int end_slice(struct vti_perfetto *perfetto, uint64_t uuid, int64_t end_ns)
{
    int code = vti_perfetto_close_event(perfetto);

    if (code)
        return code;
    vti_perfetto_open_event(perfetto, VTI_PERFETTO_END, uuid, end_ns);
    return vti_perfetto_close_event(perfetto);
}

int vti_perfetto_task(struct vti_perfetto *perfetto, const struct vti_task_slice *slice,
                      uint64_t uuid, uint64_t parent)
{
    const char *state = vti_task_state_text(slice->task->state);
    const char *action = vti_task_action_text(slice->task->action);
    int code = slice->is_new ? describe(perfetto, uuid, parent, slice->name) : 0;

    if (code)
        return code;
    vti_perfetto_open_event(perfetto, VTI_PERFETTO_BEGIN, uuid, slice->begin_ns);
    vti_perfetto_site(perfetto, slice->task->site);
    vti_perfetto_note_text(perfetto, "key", slice->task->key, strlen(slice->task->key));
    vti_perfetto_note_text(perfetto, "state", state, strlen(state));
    if (slice->task->action)
        vti_perfetto_note_text(perfetto, "action", action, strlen(action));
    return end_slice(perfetto, uuid, slice->end_ns);
}

static void note_seconds(struct vti_perfetto *perfetto, const char *key, uint64_t ns)
{
    if (ns != VTI_STEP_UNKNOWN)
        vti_perfetto_note_double(perfetto, key, (double)ns / 1e9);
}

/* Named as in the documents that stores get. */
int vti_perfetto_step(struct vti_perfetto *perfetto, const struct vti_step_slice *slice,
                      uint64_t uuid, uint64_t parent)
{
    const struct vti_step *step = slice->step;
    int code = slice->is_new ? describe(perfetto, uuid, parent, slice->name) : 0;

    if (code)
        return code;
    vti_perfetto_open_event(perfetto, VTI_PERFETTO_BEGIN, uuid, slice->begin_ns);
    vti_perfetto_site(perfetto, step->site);
    note_seconds(perfetto, "execution_time", step->execute_ns);
    vti_perfetto_note_number(perfetto, "n_messages",
                             step->messages < INT64_MAX ? (int64_t)step->messages : INT64_MAX);
    if (step->is_failed)
        vti_perfetto_note_true(perfetto, "failed");
    note_seconds(perfetto, "pre_execute_time", step->pre_ns);
    note_seconds(perfetto, "post_execute_time", step->post_ns);
    note_seconds(perfetto, "produce_time", step->produce_ns);
    if (step->lag_ns != VTI_STEP_LAG_UNKNOWN)
        vti_perfetto_note_double(perfetto, "queue_time", (double)step->lag_ns / 1e9);
    if (step->extra.len)
        vti_perfetto_note_text(perfetto, "extra", step->extra.data, step->extra.len);
    return end_slice(perfetto, uuid, slice->end_ns);
}
