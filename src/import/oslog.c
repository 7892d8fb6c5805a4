/*
 * oslog.c - a trace log as osprofiler writes it in Mistral becomes spans of traces.
 *
 * A span begins with the timestamp of its start and lasts as long as its stop says: the log measures both apart, and the duration is what
 * `venturi rank` adds up. A stop whose start is not in the file (it was rotated away) began that much before it. Lines that are none of
 * these are counted, and the first one is named.
 */
#include "analyze/log_line.h"
#include "analyze/rank.h"
#include "base/error.h"
#include "base/uuid.h"
#include "import/lines.h"
#include "import/span_list.h"

#include <string.h>

#define LOOK_BYTES (64u << 10) /* in which a log shows what it is */
#define NS_PER_SECOND 1e9
#define DURATION_MOST 3e8 /* seconds: ten years */

struct oslog {
    struct vti_import_target *target;
    struct vti_span_list list;
    uint64_t line, unusable, first_unusable, without_start, far;
    const char *reason; /* of the first line that was not used */
};

/* ---- lines ----------------------------------------------------------------------------------- */

static void refuse(struct oslog *log, const char *reason)
{
    if (log->unusable++)
        return;
    log->first_unusable = log->line;
    log->reason = reason;
}

static struct vti_bytes json_of(const struct vti_log_line *line)
{
    bool is_object = line->rest.len && line->rest.at[0] == '{';

    return (struct vti_bytes){line->rest.at, is_object ? line->rest.len : 0};
}

static struct vti_bytes name_of_line(const struct vti_log_line *line)
{
    return (struct vti_bytes){line->name.at, line->name.len};
}

/* What the database said was wrong is all that such a log knows of errors. */
static bool has_failed(const struct vti_bytes *json)
{
    static const char sign[] = "\"original_exception\"";

    return json->len && memmem(json->data, json->len, sign, sizeof sign - 1);
}

static int take_stop(struct oslog *log, const struct vti_log_line *line,
                     const struct vti_trace_ids *ids, int64_t now_ns, uint32_t *latest)
{
    int64_t duration_ns = (int64_t)(line->duration * NS_PER_SECOND + 0.5);
    struct vti_listed_span *span;
    int code = 0;

    if (!*latest) {
        log->without_start++;
        code = vti_span_list_add(&log->list, log->target, ids, name_of_line(line),
                                 now_ns - (duration_ns > 0 ? duration_ns : 0));
        if (code)
            return code;
        *latest = (uint32_t)log->list.count;
    }
    span = &log->list.spans[*latest - 1];
    span->end_ns = line->duration >= 0       ? span->begin_ns + duration_ns
                   : now_ns < span->begin_ns ? span->begin_ns
                                             : now_ns;
    span->at_end = json_of(line);
    span->has_failed = has_failed(&span->at_end);
    *latest = 0;
    return code;
}

static int take_line(struct oslog *log, const char *text, size_t len)
{
    struct vti_trace_ids ids;
    struct vti_log_line line;
    const char *reason = len > VTI_LOG_LINE_MOST ? "is longer than 1 MiB"
                                                 : vti_log_line_parse(&line, text, len);
    uint32_t *latest;
    int64_t now_ns = 0;
    int code;

    log->line++;
    if (!reason && !vti_span_time(line.when.at, line.when.len, &now_ns))
        reason = "has a timestamp that is no time";
    if (!reason && line.is_stop &&
        !(line.duration < DURATION_MOST && line.duration > -DURATION_MOST))
        reason = "has a duration of more than ten years";
    if (reason) {
        refuse(log, reason);
        return 0;
    }
    vti_uuid_parse(ids.base, line.base.at, line.base.len);
    vti_uuid_parse(ids.span, line.span.at, line.span.len);
    vti_uuid_parse(ids.parent, line.parent.at, line.parent.len);
    latest = vti_span_list_find(&log->list, &ids);
    if (!latest)
        return VTI_E_NOMEM;
    if (line.is_stop)
        return take_stop(log, &line, &ids, now_ns, latest);
    code = vti_span_list_add(&log->list, log->target, &ids, name_of_line(&line), now_ns);
    if (!code)
        log->list.spans[log->list.count - 1].at_begin = json_of(&line);
    *latest = (uint32_t)log->list.count;
    return code;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool fits(const uint8_t *data, size_t size)
{
    struct vti_bytes left = {(const char *)data, size < LOOK_BYTES ? size : LOOK_BYTES};
    struct vti_bytes line;
    struct vti_log_line parsed;

    while (vti_next_line(&left, &line))
        if (!vti_log_line_parse(&parsed, line.data, line.len))
            return true;
    return false;
}

static uint64_t count_unfinished(const struct vti_span_list *list)
{
    uint64_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += list->spans[i].end_ns == VTI_NO_END;
    return count;
}

static void say_what_was_odd(struct oslog *log)
{
    uint64_t unfinished = count_unfinished(&log->list);
    struct vti_buf note = {0};

    if (log->unusable)
        vti_buf_printf(&note, "; lines not used: %llu of %llu; the first: line %llu %s",
                       (unsigned long long)log->unusable, (unsigned long long)log->line,
                       (unsigned long long)log->first_unusable, log->reason);
    if (log->far)
        vti_buf_printf(&note, "; spans before 1970 or many years from the others, not used: %llu",
                       (unsigned long long)log->far);
    if (log->list.broken_facts)
        vti_buf_printf(&note, "; lines with broken JSON, facts missing: %llu",
                       (unsigned long long)log->list.broken_facts);
    if (log->without_start)
        vti_buf_printf(&note, "; stops without a start: %llu",
                       (unsigned long long)log->without_start);
    if (unfinished)
        vti_buf_printf(&note, "; starts without a stop: %llu", (unsigned long long)unfinished);
    vti_buf_add_u8(&note, 0);
    if (!note.failed && note.len > 2)
        vti_import_note(log->target, "%s", (const char *)note.data + 2);
    vti_buf_fini(&note);
}

/* The log's name without folder and ending: all that is known of the service. */
static void name_of(char *to, size_t room, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = strcspn(name, ".");

    len = len ? len : strlen(name);
    len = len < room ? len : room - 1;
    memcpy(to, name, len);
    to[len] = 0;
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    char name[256];
    struct vti_listed_process process = {.name = name};
    struct oslog log = {.target = target, .list = {.prefix = "db", .processes = &process}};
    struct vti_bytes left = {(const char *)input->data, input->size};
    struct vti_bytes line;
    int code = vti_span_list_init(&log.list);

    name_of(name, sizeof name, input->path);
    while (!code && vti_next_line(&left, &line))
        code = take_line(&log, line.data, line.len);
    if (!code && !log.list.count)
        code = vti_fail(VTI_E_EMPTY, "%s: holds no trace lines: line %llu %s", input->path,
                        (unsigned long long)log.first_unusable, log.reason);
    target->what = VTI_OS_LOG;
    if (!code)
        code = vti_span_list_trim(&log.list, &log.far, input);
    if (!code)
        code = vti_span_list_write(&log.list, input, target);
    if (!code)
        say_what_was_odd(&log);
    vti_span_list_fini(&log.list);
    return code;
}

const struct vti_importer vti_import_oslog = {
    .name = "oslog",
    .summary = "a trace log of osprofiler, as Mistral writes it",
    .fits = fits,
    .run = run,
    .is_direct = true,
};
