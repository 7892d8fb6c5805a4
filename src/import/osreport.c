/*
 * osreport.c - a report of osprofiler (`osprofiler trace show --json`) becomes spans of a trace.
 *
 * The report nests spans and rounds their times to milliseconds, but keeps the notifications that it was made from: those are taken, wherever they
 * stand. Depth is the file's to choose, so what is open is kept in a list and not on the stack.
 */
#include "base/error.h"
#include "base/json_scan.h"
#include "base/uuid.h"
#include "import/span_list.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_BYTES (64u << 10) /* in which a report shows what it is */
#define PAYLOAD "meta.raw_payload."

enum { IS_ARRAY = 1, IS_FIRST = 2 };

struct osreport {
    const struct vti_import_input *input;
    struct vti_import_target *target;
    struct vti_json_scan scan;
    struct vti_buf open; /* a byte for each object and array around: the flags above */
    struct vti_buf key, name, base, id, parent, time, project, service,
        host; /* of a notification */
    struct vti_span_list list;
    struct vti_map *places; /* service, project and host to index of the process */
    struct vti_listed_process *processes;
    size_t process_room;
    uint64_t unusable;
    bool has_project; /* the notification under way: "" is one, null is none */
};

/* ---- notifications --------------------------------------------------------------------------- */

/* A text; what else stands there is stepped over and counts as "". */
static void take_text(struct vti_json_scan *scan, struct vti_buf *to)
{
    vti_buf_clear(to);
    if (vti_json_peek(scan) != '"')
        vti_json_skip(scan);
    else
        vti_json_scan_string(scan, to);
}

/* Takes one apart; *info is where its facts stand. */
static void take_fields(struct osreport *report, struct vti_bytes *info)
{
    struct vti_json_scan *scan = &report->scan;
    const struct {
        const char *key;
        struct vti_buf *to;
    } fields[] = {{"name", &report->name},      {"base_id", &report->base},
                  {"trace_id", &report->id},    {"parent_id", &report->parent},
                  {"timestamp", &report->time}, {"project", &report->project},
                  {"service", &report->service}};
    bool is_first = true;

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        vti_buf_clear(fields[i].to);
    *info = (struct vti_bytes){NULL, 0};
    report->has_project = false;
    vti_json_take(scan, '{');
    while (vti_json_next_key(scan, &is_first, &report->key)) {
        const char *key = (const char *)report->key.data;
        size_t at = 0;

        while (at < sizeof fields / sizeof *fields && strcmp(key, fields[at].key))
            at++;
        if (at < sizeof fields / sizeof *fields) {
            if (fields[at].to == &report->project)
                report->has_project = vti_json_peek(scan) == '"';
            take_text(scan, fields[at].to);
            continue;
        }
        vti_json_peek(scan);
        if (!strcmp(key, "info") && scan->at < scan->end && *scan->at == '{')
            info->data = scan->at;
        vti_json_skip(scan);
        if (!strcmp(key, "info") && info->data)
            info->len = (size_t)(scan->at - info->data);
    }
}

/* The host stands among the facts. */
static void take_host(struct osreport *report, const struct vti_bytes *info)
{
    struct vti_json_scan scan = {.at = info->data};
    bool is_first = true;

    vti_buf_clear(&report->host);
    if (!info->len)
        return;
    scan.end = info->data + info->len;
    vti_json_take(&scan, '{');
    while (vti_json_next_key(&scan, &is_first, &report->key)) {
        if (strcmp((const char *)report->key.data, "host"))
            vti_json_skip(&scan);
        else
            take_text(&scan, &report->host);
    }
}

static int64_t find_process(struct osreport *report)
{
    int is_new;
    int64_t at;

    vti_buf_clear(&report->key);
    vti_buf_add(&report->key, report->service.data, report->service.len);
    vti_buf_add_u8(&report->key, 0);
    vti_buf_add(&report->key, report->project.data, report->project.len);
    vti_buf_add_u8(&report->key, 0);
    vti_buf_add(&report->key, report->host.data, report->host.len);
    vti_buf_add_u8(&report->key, 0);
    vti_buf_add_u8(&report->key, report->has_project);
    if (report->key.failed)
        return VTI_E_NOMEM;
    at = vti_map_add(report->places, report->key.data, report->key.len, &is_new);
    if (at >= 0 && is_new) {
        const char *text = vti_map_key(report->places, (uint32_t)at, NULL);

        if (vti_grow(&report->processes, (size_t)at, &report->process_room,
                     sizeof *report->processes))
            return VTI_E_NOMEM;
        report->processes[at] = (struct vti_listed_process){
            text, report->has_project ? text + strlen(text) + 1 : NULL};
    }
    return at;
}

/* Whether it is one that begins a span or one that ends it, and the span's name. */
static bool split_name(const struct vti_buf *name, bool *is_stop, struct vti_bytes *span)
{
    const char *text = (const char *)name->data;
    size_t len = name->len;

    *is_stop = len > 5 && !memcmp(text + len - 5, "-stop", 5);
    if (!*is_stop && (len <= 6 || memcmp(text + len - 6, "-start", 6)))
        return false;
    *span = (struct vti_bytes){text, len - (*is_stop ? 5 : 6)};
    return true;
}

static bool has_type(const struct vti_bytes *info)
{
    return info->len && memmem(info->data, info->len, "\"etype\"", 7);
}

static int enter(struct osreport *report, const struct vti_bytes *info, bool is_stop,
                 struct vti_bytes name, int64_t ns)
{
    struct vti_trace_ids ids;
    struct vti_listed_span *span;
    uint32_t *place;
    int64_t process;
    int code;

    vti_uuid_parse(ids.base, (const char *)report->base.data, report->base.len);
    vti_uuid_parse(ids.span, (const char *)report->id.data, report->id.len);
    vti_uuid_parse(ids.parent, (const char *)report->parent.data, report->parent.len);
    place = vti_span_list_find(&report->list, &ids);
    process = place ? find_process(report) : VTI_E_NOMEM;
    if (process < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (!*place) {
        code = vti_span_list_add(&report->list, report->target, &ids, name, ns);
        if (code)
            return code;
        *place = (uint32_t)report->list.count;
    }
    span = &report->list.spans[*place - 1];
    span->process = (uint32_t)process;
    if (is_stop) {
        span->end_ns = ns > span->begin_ns ? ns : span->begin_ns;
        span->at_end = *info;
        span->has_failed = has_type(info);
    } else {
        span->begin_ns = ns;
        span->at_begin = *info;
        if (span->end_ns != VTI_NO_END && span->end_ns < ns)
            span->end_ns = ns;
    }
    return 0;
}

static int take_payload(struct osreport *report)
{
    struct vti_bytes info, name;
    bool is_stop;
    int64_t ns;

    take_fields(report, &info);
    if (report->scan.failed)
        return 0;
    if (!report->base.len || !report->id.len || !split_name(&report->name, &is_stop, &name) ||
        !vti_span_time((const char *)report->time.data, report->time.len, &ns)) {
        report->unusable++;
        return 0;
    }
    take_host(report, &info);
    return enter(report, &info, is_stop, name, ns);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Into the value that stands next, if there is anything inside. */
static void descend(struct osreport *report)
{
    char sign = vti_json_peek(&report->scan);

    if (sign != '{' && sign != '[') {
        vti_json_skip(&report->scan);
        return;
    }
    vti_json_take(&report->scan, sign);
    vti_buf_add_u8(&report->open, IS_FIRST | (sign == '[' ? IS_ARRAY : 0));
}

/* One step: the next member of what is open, or out of it. */
static int step(struct osreport *report)
{
    uint8_t *flags = &report->open.data[report->open.len - 1];
    bool is_first = *flags & IS_FIRST;
    bool is_more = *flags & IS_ARRAY ? vti_json_next_item(&report->scan, &is_first)
                                     : vti_json_next_key(&report->scan, &is_first, &report->key);

    *flags = (uint8_t)((*flags & IS_ARRAY) | (is_first ? IS_FIRST : 0));
    if (!is_more)
        report->open.len--;
    else if (!(*flags & IS_ARRAY) && vti_json_peek(&report->scan) == '{' &&
             !strncmp((const char *)report->key.data, PAYLOAD, sizeof PAYLOAD - 1))
        return take_payload(report);
    else
        descend(report);
    return 0;
}

static int read_all(struct osreport *report)
{
    int code = 0;

    descend(report);
    while (!code && report->open.len && !report->scan.failed && !report->open.failed)
        code = step(report);
    if (!code && report->scan.failed)
        code = vti_fail(VTI_E_DAMAGED, "%s: byte %zu: not JSON, or cut off", report->input->path,
                        (size_t)(report->scan.at - (const char *)report->input->data));
    if (!code && !report->list.count)
        code = vti_fail(VTI_E_EMPTY, "%s: a report without spans", report->input->path);
    return code;
}

static bool fits(const uint8_t *data, size_t size)
{
    struct vti_json_scan scan = {.at = (const char *)data, .end = (const char *)data + size};

    return vti_json_peek(&scan) == '{' &&
           memmem(data, size < LOOK_BYTES ? size : LOOK_BYTES, PAYLOAD, sizeof PAYLOAD - 1);
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    const char *data = (const char *)input->data;
    struct osreport report = {.input = input,
                              .target = target,
                              .scan = {.at = data, .end = data + input->size},
                              .list = {.prefix = ""}};
    struct vti_buf *texts[] = {&report.open,    &report.key,    &report.name, &report.base,
                               &report.id,      &report.parent, &report.time, &report.project,
                               &report.service, &report.host};
    uint64_t far = 0;
    int code = vti_span_list_init(&report.list);

    if (!code && vti_map_create(&report.places))
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        code = read_all(&report);
    if (!code)
        code = vti_span_list_trim(&report.list, &far, input);
    if (!code && (report.unusable || far))
        vti_import_note(target,
                        "notifications not used: %llu, spans before 1970 or many years from the "
                        "others: %llu",
                        (unsigned long long)report.unusable, (unsigned long long)far);
    report.list.processes = report.processes;
    if (!code)
        code = vti_span_list_write(&report.list, input, target);
    vti_span_list_fini(&report.list);
    vti_map_free(report.places);
    free(report.processes);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        vti_buf_fini(texts[i]);
    return code;
}

const struct vti_importer vti_import_osreport = {
    .name = "osreport",
    .summary = "a report of osprofiler, as `osprofiler trace show --json` writes it",
    .fits = fits,
    .run = run,
    .is_direct = true,
};
