/*
 * traces_process.c - what processes say of themselves, and which of them are left when one trace is asked for.
 *
 * A span that enters a process, whose parent is none of its own, tells service, project and host; the first one counts. What programs say under the same
 * keys inside is about something else.
 */
#include "analyze/traces_impl.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum said { SERVICE, PROJECT, HOST, SAID_COUNT };

static const char *const said_keys[SAID_COUNT] = {"service", "project", "host"};

/* When each was said first, plus one and beside the processes. */
struct since {
    int64_t ns[SAID_COUNT];
    bool is_known[SAID_COUNT];
};

/* Made by an import, which names the service itself and tells the project of the first span; a recording without its host is none. */
static bool is_import(const struct vti_trace_process *process)
{
    return process->is_imported && !process->pid;
}

static void take(struct vti_trace_process *process, struct since *since, int64_t begin_ns,
                 const struct vti_trace_attr *attr)
{
    int which = 0;

    while (which < SAID_COUNT && strcmp(attr->key, said_keys[which]))
        which++;
    if (which == SAID_COUNT || !attr->is_of_begin || attr->value.type != VTI_VALUE_TEXT ||
        (since->is_known[which] && since->ns[which] <= begin_ns) ||
        (!attr->value.text.len && which != PROJECT) || (is_import(process) && which == SERVICE))
        return;
    since->is_known[which] = true;
    since->ns[which] = begin_ns;
    if (which == SERVICE)
        process->service = attr->value.text.data;
    else if (which == HOST)
        process->host = attr->value.text.data;
    else
        process->project = attr->value.text.data;
    process->has_project |= which == PROJECT;
}

int vti_traces_say(struct vti_traces *traces)
{
    const struct vti_trace_owned *owned = traces->owned;
    struct since *since = calloc(traces->process_count + 1, sizeof *since);

    if (!since)
        return VTI_E_NOMEM;
    for (size_t i = 0; i < owned->span_count; i++) {
        const struct vti_trace_span *span = &owned->spans[i];
        struct vti_trace_process *process = &traces->processes[span->process];

        if (owned->trace_of[i] == VTI_NO_SPAN ||
            (span->parent != VTI_NO_SPAN && !is_import(process) &&
             owned->spans[span->parent].process == span->process))
            continue;
        for (uint32_t k = 0; k < span->attr_count && span->attrs; k++)
            take(process, &since[span->process], span->begin_ns, &span->attrs[k]);
    }
    free(since);
    return 0;
}

static void keep_processes(struct vti_traces *traces, uint32_t *number)
{
    struct vti_trace_owned *owned = traces->owned;
    uint32_t count = 0;

    for (size_t i = 0; i < owned->span_count; i++)
        if (owned->trace_of[i] != VTI_NO_SPAN)
            number[owned->spans[i].process] = 1;
    for (size_t i = 0; i < traces->process_count; i++) {
        if (!number[i])
            continue;
        traces->processes[count] = traces->processes[i];
        number[i] = count++;
    }
    traces->process_count = count;
    for (size_t i = 0; i < owned->span_count; i++)
        owned->spans[i].process = number[owned->spans[i].process];
}

int vti_traces_keep(struct vti_traces *traces, const uint8_t base[16])
{
    struct vti_trace_owned *owned = traces->owned;
    uint32_t *number = calloc(traces->process_count + 1, sizeof *number);
    uint32_t kept = 0;

    if (!number)
        return VTI_E_NOMEM;
    while (kept < traces->trace_count && memcmp(traces->traces[kept].base, base, 16))
        kept++;
    for (size_t i = 0; i < owned->span_count; i++)
        owned->trace_of[i] = owned->trace_of[i] == kept ? 0 : VTI_NO_SPAN;
    if (kept < traces->trace_count)
        traces->traces[0] = traces->traces[kept];
    traces->trace_count = kept < traces->trace_count;
    keep_processes(traces, number);
    free(number);
    return 0;
}
