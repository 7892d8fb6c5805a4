/*
 * traces.c - traces across services: which there are, the processes that their spans come from, the spans and what was said about them.
 *
 * Spans stand as vti_traces has them: trace by trace, depth first, so that whoever shows some of them needs not look at the others.
 */
#include "page/traces.h"

#include "base/error.h"
#include "base/uuid.h"
#include "page/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_OF_US 1000
#define NUMBER_BYTES 40

/* As docs/page.md has them. */
enum { UNFINISHED = 1, FAILED = 2, CRITICAL = 4, ORPHAN = 8 };
enum { OF_BEGIN = 1, IS_NUMBER = 2 };

struct writer {
    struct vti_page *page;
    const struct vti_traces *traces;
    int64_t zero_ns; /* when the page's time begins, since 1970 */
    const char *const *files;
    size_t file_count;
    uint64_t *firsts; /* owned; row of each trace's first span; one more at the end */
};

/* ---- small tables ---------------------------------------------------------------------------- */

static int write_traces(struct writer *writer)
{
    static const struct vti_page_column columns[] = {{"base", VTI_PAGE_TEXT},
                                                     {"begin", VTI_PAGE_UINT},
                                                     {"offset", VTI_PAGE_UINT},
                                                     {"duration", VTI_PAGE_UINT},
                                                     {"spans", VTI_PAGE_UINT},
                                                     {"errors", VTI_PAGE_UINT},
                                                     {"unfinished", VTI_PAGE_UINT},
                                                     {"orphans", VTI_PAGE_UINT},
                                                     {"services", VTI_PAGE_UINT},
                                                     {"hosts", VTI_PAGE_UINT},
                                                     {0}};
    int code = vti_page_begin(writer->page, "traces", columns);

    for (size_t i = 0; i < writer->traces->trace_count && !code; i++) {
        const struct vti_trace *trace = &writer->traces->traces[i];
        char base[VTI_UUID_TEXT];

        vti_uuid_text(trace->base, base);
        code = vti_page_row(writer->page, (union vti_page_value[]){
                                              {vti_page_text(writer->page, base)},
                                              {vti_page_time(trace->begin_ns / NS_OF_US)},
                                              {vti_page_time(trace->begin_ns - writer->zero_ns)},
                                              {vti_page_time(trace->end_ns - trace->begin_ns)},
                                              {trace->span_count},
                                              {trace->error_count},
                                              {trace->unfinished_count},
                                              {trace->orphan_count},
                                              {trace->service_count},
                                              {trace->host_count}});
    }
    return code ? code : vti_page_end(writer->page);
}

static int write_processes(struct writer *writer)
{
    static const struct vti_page_column columns[] = {{"service", VTI_PAGE_TEXT},
                                                     {"project", VTI_PAGE_TEXT},
                                                     {"host", VTI_PAGE_TEXT},
                                                     {"file", VTI_PAGE_TEXT},
                                                     {"pid", VTI_PAGE_UINT},
                                                     {"skew", VTI_PAGE_F64},
                                                     {0}};
    int code = vti_page_begin(writer->page, "trace_processes", columns);

    for (size_t i = 0; i < writer->traces->process_count && !code; i++) {
        const struct vti_trace_process *process = &writer->traces->processes[i];
        const char *file = process->recording < writer->file_count
                               ? writer->files[process->recording]
                               : "";

        code = vti_page_row(
            writer->page, (union vti_page_value[]){{vti_page_text(writer->page, process->service)},
                                                   {vti_page_text(writer->page, process->project)},
                                                   {vti_page_text(writer->page, process->host)},
                                                   {vti_page_text(writer->page, file)},
                                                   {process->pid},
                                                   {.d = (double)process->skew_ns}});
    }
    return code ? code : vti_page_end(writer->page);
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* Four bytes of an id as a number: larger ones a browser does not have. */
static uint64_t id_part(const uint8_t id[VTI_UUID], unsigned part)
{
    const uint8_t *at = id + 4 * part;

    return (uint64_t)at[0] << 24 | (uint64_t)at[1] << 16 | (uint64_t)at[2] << 8 | at[3];
}

static uint64_t flags_of(const struct vti_trace_span *span)
{
    return (span->is_finished ? 0u : UNFINISHED) | (span->has_error ? FAILED : 0u) |
           (span->is_critical ? CRITICAL : 0u) | (span->is_orphan ? ORPHAN : 0u);
}

/* A parent that is in none of the files is known by its id alone. */
static uint64_t missing_parent(const struct writer *writer, const struct vti_trace_span *span)
{
    char id[VTI_UUID_TEXT];

    if (!span->is_orphan)
        return 0;
    vti_uuid_text(span->parent_id, id);
    return vti_page_text(writer->page, id);
}

static int write_span(struct writer *writer, size_t at, const struct vti_trace_span *span)
{
    const struct vti_trace *trace = &writer->traces->traces[at];
    uint64_t parent = span->parent == VTI_NO_SPAN ? 0 : writer->firsts[at] + span->parent + 1;

    return vti_page_row(writer->page,
                        (union vti_page_value[]){{at},
                                                 {span->process},
                                                 {parent},
                                                 {vti_page_text(writer->page, span->name)},
                                                 {vti_page_text(writer->page, span->thread)},
                                                 {vti_page_time(span->begin_ns - trace->begin_ns)},
                                                 {vti_page_time(span->end_ns - span->begin_ns)},
                                                 {vti_page_time(span->self_ns)},
                                                 {flags_of(span)},
                                                 {vti_page_text(writer->page, span->error_type)},
                                                 {vti_page_text(writer->page, span->error_message)},
                                                 {id_part(span->id, 0)},
                                                 {id_part(span->id, 1)},
                                                 {id_part(span->id, 2)},
                                                 {id_part(span->id, 3)},
                                                 {missing_parent(writer, span)}});
}

static int write_spans(struct writer *writer)
{
    static const struct vti_page_column columns[] = {{"trace", VTI_PAGE_UINT},
                                                     {"process", VTI_PAGE_UINT},
                                                     {"parent", VTI_PAGE_REF},
                                                     {"name", VTI_PAGE_TEXT},
                                                     {"thread", VTI_PAGE_TEXT},
                                                     {"start", VTI_PAGE_DELTA},
                                                     {"duration", VTI_PAGE_UINT},
                                                     {"self", VTI_PAGE_UINT},
                                                     {"flags", VTI_PAGE_UINT},
                                                     {"error_type", VTI_PAGE_TEXT},
                                                     {"error_message", VTI_PAGE_TEXT},
                                                     {"id_0", VTI_PAGE_UINT},
                                                     {"id_1", VTI_PAGE_UINT},
                                                     {"id_2", VTI_PAGE_UINT},
                                                     {"id_3", VTI_PAGE_UINT},
                                                     {"parent_id", VTI_PAGE_TEXT},
                                                     {0}};
    int code = vti_page_begin(writer->page, "trace_spans", columns);

    for (size_t i = 0; i < writer->traces->trace_count; i++)
        for (uint64_t j = 0; j < writer->firsts[i + 1] - writer->firsts[i] && !code; j++)
            code = write_span(writer, i, &writer->traces->traces[i].spans[j]);
    return code ? code : vti_page_end(writer->page);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static uint64_t value_text(struct vti_page *page, const struct vti_value *value)
{
    char number[NUMBER_BYTES] = "";

    if (value->type == VTI_VALUE_TEXT)
        return vti_page_bytes(page, value->text.data, value->text.len);
    if (value->type == VTI_VALUE_INT)
        snprintf(number, sizeof number, "%" PRId64, value->i);
    else if (value->type == VTI_VALUE_UINT)
        snprintf(number, sizeof number, "%" PRIu64, value->u);
    else if (value->type == VTI_VALUE_DOUBLE)
        number[vti_double_text(number, value->d)] = 0;
    return vti_page_text(page, number);
}

static int write_attrs_of(struct writer *writer, uint64_t row, const struct vti_trace_span *span)
{
    int code = 0;

    for (uint32_t i = 0; i < span->attr_count && !code; i++) {
        const struct vti_trace_attr *attr = &span->attrs[i];
        bool is_number = attr->value.type != VTI_VALUE_TEXT && attr->value.type != VTI_VALUE_NONE;

        code = vti_page_row(writer->page,
                            (union vti_page_value[]){{row},
                                                     {vti_page_text(writer->page, attr->key)},
                                                     {value_text(writer->page, &attr->value)},
                                                     {(attr->is_of_begin ? OF_BEGIN : 0u) |
                                                      (is_number ? IS_NUMBER : 0u)}});
    }
    return code;
}

static int write_attrs(struct writer *writer)
{
    static const struct vti_page_column columns[] = {{"span", VTI_PAGE_DELTA},
                                                     {"key", VTI_PAGE_TEXT},
                                                     {"value", VTI_PAGE_TEXT},
                                                     {"flags", VTI_PAGE_UINT},
                                                     {0}};
    int code = vti_page_begin(writer->page, "trace_attrs", columns);

    for (size_t i = 0; i < writer->traces->trace_count; i++)
        for (uint64_t row = writer->firsts[i]; row < writer->firsts[i + 1] && !code; row++)
            code = write_attrs_of(writer, row,
                                  &writer->traces->traces[i].spans[row - writer->firsts[i]]);
    return code ? code : vti_page_end(writer->page);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The first `most` spans: of a tree that is cut depth first the rest is one still. */
static int count_rows(struct writer *writer, uint64_t most)
{
    uint64_t row = 0;
    uint64_t all = 0;

    writer->firsts = calloc(writer->traces->trace_count + 1, sizeof *writer->firsts);
    if (!writer->firsts)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < writer->traces->trace_count; i++) {
        uint64_t count = writer->traces->traces[i].span_count;

        row += count < most - row ? count : most - row;
        all += count;
        writer->firsts[i + 1] = row;
    }
    if (row < all)
        vti_page_note(writer->page, "folded",
                      "%" PRIu64 " of %" PRIu64 " spans of traces are left out, those of the last "
                      "traces. venturi report --events all writes every one.",
                      all - row, all);
    return 0;
}

static void add_notes(const struct writer *writer)
{
    const struct vti_traces *traces = writer->traces;

    for (size_t i = 0; i < traces->process_count; i++)
        if (traces->processes[i].skew_ns) {
            vti_page_note(writer->page, "estimated",
                          "Clocks of services differed: times of some processes were moved so that "
                          "no span begins before its parent. The traces view says which, and by "
                          "how much.");
            break;
        }
    if (traces->duplicate_spans)
        vti_page_note(writer->page, "missing",
                      "%" PRIu64 " span%s of traces stood in two files and %s shown once.",
                      traces->duplicate_spans, traces->duplicate_spans == 1 ? "" : "s",
                      traces->duplicate_spans == 1 ? "is" : "are");
}

static int write_all(struct writer *writer, uint64_t most)
{
    int code = count_rows(writer, most);

    if (!code)
        code = write_traces(writer);
    if (!code)
        code = write_processes(writer);
    if (!code)
        code = write_spans(writer);
    if (!code)
        code = write_attrs(writer);
    if (!code)
        add_notes(writer);
    free(writer->firsts);
    return code;
}

int vti_page_add_traces(struct vti_page_job *job)
{
    struct writer writer = {.page = job->page,
                            .traces = &job->study->traces,
                            .zero_ns = job->study->info.start_realtime_ns,
                            .files = &job->file,
                            .file_count = 1};

    return writer.traces->trace_count ? write_all(&writer, job->options->events) : 0;
}

static void add_title(struct vti_page *page, const struct vti_traces *traces,
                      const struct vti_buf *title)
{
    struct vti_json *json = vti_page_directory(page);
    const struct vti_trace *only = traces->trace_count == 1 ? traces->traces : NULL;
    char count[NUMBER_BYTES];

    snprintf(count, sizeof count, "%zu traces", traces->trace_count);
    vti_json_key(json, "title");
    if (title)
        vti_json_bytes(json, (const char *)title->data, title->len);
    else
        vti_json_string(json, only && only->span_count ? only->spans[0].name : count);
}

static void add_files(struct vti_page *page, const char *const *files, size_t count)
{
    struct vti_json *json = vti_page_directory(page);

    vti_json_key(json, "files");
    vti_json_array(json);
    for (size_t i = 0; i < count; i++)
        vti_json_string(json, files[i]);
    vti_json_array_end(json);
}

int vti_page_traces(const struct vti_traces *traces, const char *const *files, size_t file_count,
                    const struct vti_buf *title, const struct vti_sink *sink)
{
    static const struct vti_page_options options = {.events = VTI_PAGE_EVENTS};
    struct vti_study study = {.traces = *traces};
    struct vti_page_job job = {
        .file = file_count ? files[0] : "", .options = &options, .study = &study};
    struct writer writer = {.traces = traces, .files = files, .file_count = file_count};
    int64_t end_ns = 0;
    int code = vti_page_open(&job.page, sink);

    if (code)
        return code;
    for (size_t i = 0; i < traces->trace_count; i++)
        if (traces->traces[i].end_ns > end_ns)
            end_ns = traces->traces[i].end_ns;
    if (traces->trace_count)
        writer.zero_ns = traces->traces[0].begin_ns;
    study.info.start_realtime_ns = writer.zero_ns;
    study.info.duration_ns = end_ns - writer.zero_ns;
    writer.page = job.page;
    vti_json_add_string(vti_page_directory(job.page), "kind", "traces");
    add_title(job.page, traces, title);
    add_files(job.page, files, file_count);
    code = write_all(&writer, options.events);
    if (!code)
        code = vti_page_add_findings(&job);
    if (code) {
        vti_page_abandon(job.page);
        return code;
    }
    vti_page_add_recording(&job);
    return vti_page_close(job.page);
}
