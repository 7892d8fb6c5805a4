/* traces_load.c - the spans of recordings that belong to traces, with what their processes say of themselves. */
#include "analyze/traces_impl.h"

#include "base/error.h"
#include "base/uuid.h"
#include "format/facts.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

#define ERROR_MOST_NS (INT64_C(1) << 60) /* of a clock; beyond any time that there is */

struct job {
    struct vti_traces *traces;
    const vt_recording *recording;
    uint32_t at; /* of the recording */
    int64_t start_ns;
    const uint8_t *only;
    bool has_clocks; /* more than one host: all traces tell how their clocks differ */
    uint32_t track;  /* the one asked for last, and what it says */
    uint32_t process;
    const char *thread;
    uint32_t site; /* likewise */
    const char *name;
};

static const char *text_of(struct job *job, const char *text)
{
    return vti_traces_text(job->traces, text ? text : "", text ? strlen(text) : 0);
}

/* What the anchors of a host's clocks leave open, and the links between them. */
static int64_t clock_error(const struct job *job, const struct vt_host_info *host)
{
    const struct vti_clocks *clocks = &job->recording->facts.clocks;
    int64_t most = 0;
    int64_t link = host->error_ns > 0 ? host->error_ns : 0;

    for (size_t i = 0; i < clocks->count; i++)
        for (size_t k = 0; k < clocks->clocks[i].anchor_count; k++)
            if (clocks->clocks[i].host == host->id && clocks->clocks[i].anchors[k].error_ns > most)
                most = clocks->clocks[i].anchors[k].error_ns;
    return most + (link < ERROR_MOST_NS ? link : ERROR_MOST_NS);
}

/* Where a process ran. An import knows no host: its clock may be any. */
static int take_host(struct job *job, uint32_t process, uint32_t host_id)
{
    struct vti_trace_process *to = &job->traces->processes[process];
    struct vt_host_info host;
    char clock[32];

    for (uint32_t i = 0; vt_recording_host(job->recording, i, &host); i++) {
        if (host.id != host_id || !host.name || !host.name[0])
            continue;
        if (strcmp(host.name, VTI_HOST_IMPORTED)) {
            to->host = text_of(job, host.name);
            return to->host
                       ? vti_traces_clock(job->traces, process, to->host, clock_error(job, &host))
                       : VTI_E_NOMEM;
        }
        to->is_log = host.os && !strcmp(host.os, VTI_OS_LOG);
    }
    to->is_imported = true;
    snprintf(clock, sizeof clock, "\n%u", job->at);
    return vti_traces_clock(job->traces, process, clock, 0);
}

static int64_t process_of(struct job *job, uint32_t id)
{
    struct vt_process_info info;
    struct vti_trace_process *process;
    bool is_new;
    int64_t at = vti_traces_process(job->traces, job->at, id, &is_new);

    if (at < 0 || !is_new)
        return at;
    process = &job->traces->processes[at];
    if (!vt_recording_process_by_id(job->recording, id, &info))
        return at;
    process->pid = info.pid;
    process->service = text_of(job, info.name);
    if (!process->service || take_host(job, (uint32_t)at, info.host))
        return VTI_E_NOMEM;
    return at;
}

static int take_track(struct job *job, uint32_t id)
{
    struct vt_track_info track = {.process = VT_NONE, .name = ""};
    char number[32];
    int64_t process;

    if (id == job->track && job->thread)
        return 0;
    vt_recording_track_by_id(job->recording, id, &track);
    process = process_of(job, track.process);
    if (process < 0)
        return VTI_E_NOMEM;
    snprintf(number, sizeof number, "%u", track.tid);
    job->thread = text_of(job, track.name && track.name[0] ? track.name : number);
    job->track = id;
    job->process = (uint32_t)process;
    return job->thread ? 0 : VTI_E_NOMEM;
}

static int take_name(struct job *job, uint32_t id)
{
    struct vt_site_info site = {.name = ""};

    if (id == job->site && job->name)
        return 0;
    vt_recording_site_by_id(job->recording, id, &site);
    job->name = text_of(job, site.name);
    job->site = id;
    return job->name ? 0 : VTI_E_NOMEM;
}

/* A value whose text is copied, with a zero behind it. */
static int take_value(struct job *job, struct vti_value *to, const struct vt_value *from)
{
    char *text;

    *to = (struct vti_value){.type = (enum vti_value_type)from->type};
    switch (from->type) {
    case VT_VALUE_INT:
        to->i = from->i;
        break;
    case VT_VALUE_UINT:
        to->u = from->u;
        break;
    case VT_VALUE_DOUBLE:
        to->d = from->d;
        break;
    case VT_VALUE_TEXT:
        text = vti_traces_alloc(job->traces, from->text.len + 1);
        if (!text)
            return VTI_E_NOMEM;
        if (from->text.len)
            memcpy(text, from->text.data, from->text.len);
        text[from->text.len] = 0;
        to->text = (struct vti_bytes){text, from->text.len};
        break;
    case VT_VALUE_NONE:
        break;
    }
    return 0;
}

static int take_attrs(struct job *job, struct vti_trace_span *to, const struct vt_span *from)
{
    struct vti_trace_attr *attrs;
    bool is_instant = from->begin_ns == from->end_ns && (from->flags & VT_FLAG_FAILED);
    bool has_failed =
        false; /* the time does not tell: what is said from its error on is of the end */

    if (!from->attr_count)
        return 0;
    attrs = vti_traces_alloc(job->traces, from->attr_count * sizeof *attrs);
    if (!attrs)
        return VTI_E_NOMEM;
    for (uint32_t i = 0; i < from->attr_count; i++) {
        struct vt_site_info key = {.name = ""};

        vt_recording_site_by_id(job->recording, from->attrs[i].key, &key);
        attrs[i].key = text_of(job, key.name);
        has_failed |= is_instant && key.name && !strcmp(key.name, "etype");
        attrs[i].is_of_begin = from->attrs[i].is_of_begin && !has_failed;
        if (!attrs[i].key || take_value(job, &attrs[i].value, &from->attrs[i].value))
            return VTI_E_NOMEM;
        if (attrs[i].is_of_begin || attrs[i].value.type != VTI_VALUE_TEXT)
            continue;
        if (!strcmp(attrs[i].key, "etype"))
            to->error_type = attrs[i].value.text.data;
        else if (!strcmp(attrs[i].key, "message") || !strcmp(attrs[i].key, "db.original_exception"))
            to->error_message = attrs[i].value.text.data;
    }
    to->attrs = attrs;
    to->attr_count = from->attr_count;
    return 0;
}

static int take_error(struct job *job, struct vti_trace_span *to, const struct vt_span *from)
{
    to->has_error = from->has_error || (from->flags & VT_FLAG_FAILED) || to->error_type[0];
    if (!to->error_type[0] && from->error_type.len)
        to->error_type = vti_traces_text(job->traces, from->error_type.data, from->error_type.len);
    if (!to->error_message[0] && from->error_message.len)
        to->error_message = vti_traces_text(job->traces, from->error_message.data,
                                            from->error_message.len);
    return to->error_type && to->error_message ? 0 : VTI_E_NOMEM;
}

/* Texts and facts; of a trace that is not asked for as much as decides which of two records of a span is kept. */
static int take_texts(struct job *job, struct vti_trace_span *to, const struct vt_span *from,
                      bool is_other)
{
    int code = take_name(job, from->site);

    to->name = job->name;
    if (is_other) {
        to->attr_count = from->attr_count;
        to->has_error = from->has_error || (from->flags & VT_FLAG_FAILED);
        return code;
    }
    if (!code)
        code = take_attrs(job, to, from);
    return code ? code : take_error(job, to, from);
}

static int take_span(const struct vt_span *from, void *arg)
{
    struct job *job = arg;
    struct vti_trace_span span = {.name = "", .error_type = "", .error_message = ""};
    bool is_other;
    int code;

    if (!from->has_trace || vti_uuid_is_zero(from->trace_base)) {
        job->traces->untraced_spans += from->async_id != 0;
        return 0;
    }
    is_other = job->only && memcmp(from->trace_base, job->only, sizeof from->trace_base);
    if (is_other && !job->has_clocks)
        return 0;
    code = take_track(job, from->track);
    if (!code)
        code = take_texts(job, &span, from, is_other);
    if (code)
        return code;
    memcpy(span.id, from->trace_span, sizeof span.id);
    memcpy(span.parent_id, from->trace_parent, sizeof span.parent_id);
    span.site = from->site;
    span.order = from->async_id;
    span.process = job->process;
    span.thread = job->thread;
    if (__builtin_add_overflow(job->start_ns, from->begin_ns, &span.begin_ns) ||
        __builtin_add_overflow(job->start_ns, from->end_ns, &span.end_ns))
        span.begin_ns = span.end_ns = INT64_MAX; /* of a file that lies about its clock */
    span.is_finished = from->is_finished;
    span.is_cut = !from->is_finished && (from->flags & VT_FLAG_IN_GAP);
    if (!from->is_finished && job->traces->processes[job->process].is_imported)
        span.end_ns = span.begin_ns; /* the end of a log is that of no span */
    return vti_traces_span(job->traces, from->trace_base, &span);
}

int vti_traces_load(struct vti_traces *traces, vt_recording *const *recordings, size_t count,
                    const uint8_t *only)
{
    static const struct vt_filter all = {INT64_MIN, INT64_MAX, VT_NONE};
    struct job job = {.traces = traces, .only = only, .has_clocks = count > 1};
    int code = vti_traces_start(traces);

    if (!code)
        ((struct vti_trace_owned *)traces->owned)->only = only;
    for (size_t i = 0; i < count; i++)
        job.has_clocks |= recordings[i]->facts.host_ids.count > 1;
    for (size_t i = 0; i < count && !code; i++) {
        struct vt_recording_info info;

        vt_recording_info(recordings[i], &info);
        job.recording = recordings[i];
        job.at = (uint32_t)i;
        job.start_ns = info.start_realtime_ns;
        job.thread = job.name = NULL;
        code = vt_recording_spans(recordings[i], &all, take_span, &job);
    }
    if (!code)
        code = vti_traces_build(traces);
    if (code)
        vti_traces_fini(traces);
    return code == VTI_E_NOMEM ? vti_fail(code, "out of memory") : code;
}
