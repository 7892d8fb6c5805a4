/*
 * chrome.c - a trace in Chrome's JSON becomes a recording: spans (B and E, X), marks (i), counters (C), names
 * of processes and threads. Other kinds of events are left out.
 *
 * Events may stand in any order, so they are gathered (48 bytes each; arguments stay where they are) and
 * written when all are known.
 */
#include "base/error.h"
#include "import/chrome_impl.h"

#include <stdlib.h>
#include <string.h>

/* Of a time, in nanoseconds: a stamp and a duration add up, and what lies between two of these sums is a number, too. */
#define NS_LEAST -1e18
#define NS_MOST 4e18

/* The fields of one event. */
struct fields {
    struct vti_buf name, phase;
    int64_t pid, tid;
    int64_t begin_ns, length_ns;
    const char *start, *args;
    const char *no_begin, *no_length; /* why there is none; NULL: there is one */
};

static bool fits(const uint8_t *data, size_t size)
{
    struct vti_json_scan scan = {.at = (const char *)data, .end = (const char *)data + size};

    if (vti_json_take(&scan, '['))
        return vti_json_peek(&scan) == '{' || vti_json_peek(&scan) == ']';
    return vti_json_take(&scan, '{') &&
           (vti_json_peek(&scan) == '"' || vti_json_peek(&scan) == '}');
}

static int refuse(const struct vti_chrome *chrome, const struct vti_json_scan *scan,
                  const char *what)
{
    return vti_fail(VTI_E_DAMAGED, "%s: byte %zu: %s", chrome->input->path,
                    (size_t)(scan->at - (const char *)chrome->input->data), what);
}

/* An event that says nothing we could use: counted, and the first one is remembered with its reason. */
void vti_chrome_leave_out(struct vti_chrome *chrome, const char *event, const char *why)
{
    if (!chrome->unused++ || event < chrome->unused_at) {
        chrome->unused_at = event;
        chrome->unused_why = why;
    }
}

enum time_state { TIME_OK, TIME_NO_NUMBER, TIME_OUT_OF_RANGE };

/* Microseconds with up to three decimals are whole nanoseconds: exact also where a double is not. */
static enum time_state parse_time(const char *number, int64_t *ns)
{
    char *end;
    double us;
    long long whole;

    us = strtod(number, &end);
    if (end == number || *end || strspn(number, "0123456789+-.eE") != (size_t)(end - number))
        return TIME_NO_NUMBER;
    if (!(us * 1000 > NS_LEAST && us * 1000 < NS_MOST))
        return TIME_OUT_OF_RANGE;
    whole = strtoll(number, &end, 10);
    if (*end == 'e' || *end == 'E' || (*end == '.' && strpbrk(end, "eE"))) {
        *ns = (int64_t)(us * 1000);
        return TIME_OK;
    }
    *ns = whole * 1000;
    if (*end == '.') {
        int64_t part = (int64_t)(strtod(end, NULL) * 1000 + 0.5);

        *ns += number[0] == '-' ? -part : part;
    }
    return TIME_OK;
}

/* A number, or a text that is one. What is neither is stepped over. */
static enum time_state scan_time(struct vti_json_scan *scan, int64_t *ns, struct vti_buf *scratch)
{
    char first = vti_json_peek(scan);
    enum time_state state;
    const char *text;
    size_t len;

    if (first == '"') {
        return vti_json_scan_string(scan, scratch) ? parse_time((const char *)scratch->data, ns)
                                                   : TIME_NO_NUMBER;
    }
    if (first != '-' && (first < '0' || first > '9')) {
        vti_json_skip(scan);
        return TIME_NO_NUMBER;
    }
    if (!vti_json_scan_number(scan, &text, &len))
        return TIME_NO_NUMBER;
    vti_buf_clear(scratch);
    vti_buf_add(scratch, text, len);
    vti_buf_add_u8(scratch, 0);
    state = scratch->failed ? TIME_NO_NUMBER : parse_time((const char *)scratch->data, ns);
    scan->failed |= state == TIME_NO_NUMBER; /* "1-2" is not JSON */
    return state;
}

/* Numbers of processes and threads; a text becomes a number that stands for it. */
static int64_t scan_id(struct vti_json_scan *scan, struct vti_buf *scratch)
{
    char number[32] = "";
    const char *text;
    size_t len;

    if (vti_json_peek(scan) == '"') {
        char *end;
        long long value;

        if (!vti_json_scan_string(scan, scratch))
            return 0;
        value = strtoll((const char *)scratch->data, &end, 10);
        if (scratch->len && !*end)
            return value;
        return (int64_t)(vti_hash(scratch->data, scratch->len) & 0x3fffffff) | 0x40000000;
    }
    if (vti_json_peek(scan) != '-' && (vti_json_peek(scan) < '0' || vti_json_peek(scan) > '9')) {
        vti_json_skip(scan);
        return 0;
    }
    if (!vti_json_scan_number(scan, &text, &len))
        return 0;
    memcpy(number, text, len < sizeof number ? len : sizeof number - 1);
    return strtoll(number, NULL, 10);
}

static int64_t find_process(struct vti_chrome *chrome, int64_t pid)
{
    int is_new;
    int64_t at;

    if (vti_grow(&chrome->processes, vti_map_count(chrome->process_ids), &chrome->process_room,
                 sizeof *chrome->processes))
        return VTI_E_NOMEM;
    at = vti_map_add(chrome->process_ids, &pid, sizeof pid, &is_new);
    if (at >= 0 && is_new)
        chrome->processes[at] = (struct vti_chrome_process){.pid = pid};
    return at;
}

static int64_t find_thread(struct vti_chrome *chrome, int64_t pid, int64_t tid)
{
    int64_t key[2] = {pid, tid};
    int64_t process = find_process(chrome, pid);
    int is_new;
    int64_t at;

    if (process < 0 || vti_grow(&chrome->threads, vti_map_count(chrome->thread_ids),
                                &chrome->thread_room, sizeof *chrome->threads))
        return VTI_E_NOMEM;
    at = vti_map_add(chrome->thread_ids, key, sizeof key, &is_new);
    if (at >= 0 && is_new)
        chrome->threads[at] = (struct vti_chrome_thread){
            .pid = pid, .tid = tid, .process = (uint32_t)process};
    return at;
}

/* ---- one event ------------------------------------------------------------------------------- */

static void scan_field(struct vti_json_scan *scan, const char *key, struct fields *fields,
                       struct vti_buf *scratch)
{
    static const char *const begin_errors[] = {NULL, "ts is not a number", "ts out of range"};
    static const char *const length_errors[] = {NULL, "dur is not a number", "dur out of range"};

    if (!strcmp(key, "name") && vti_json_peek(scan) == '"')
        vti_json_scan_string(scan, &fields->name);
    else if (!strcmp(key, "ph") && vti_json_peek(scan) == '"')
        vti_json_scan_string(scan, &fields->phase);
    else if (!strcmp(key, "ts"))
        fields->no_begin = begin_errors[scan_time(scan, &fields->begin_ns, scratch)];
    else if (!strcmp(key, "dur"))
        fields->no_length = length_errors[scan_time(scan, &fields->length_ns, scratch)];
    else if (!strcmp(key, "pid"))
        fields->pid = scan_id(scan, scratch);
    else if (!strcmp(key, "tid"))
        fields->tid = scan_id(scan, scratch);
    else if (!strcmp(key, "args") && vti_json_peek(scan) == '{') {
        fields->args = scan->at;
        vti_json_skip(scan);
    } else {
        vti_json_skip(scan);
    }
}

/* Names that a metadata event gives are in its argument `name`. */
static int take_name(struct vti_chrome *chrome, const struct fields *fields,
                     struct vti_buf *scratch)
{
    struct vti_json_scan scan = {.at = fields->args,
                                 .end = (const char *)chrome->input->data + chrome->input->size};
    bool is_thread = !strcmp((const char *)fields->name.data, "thread_name");
    bool is_first = true;
    bool is_name = false;
    int64_t at;
    char **place;

    if (!fields->args || (!is_thread && strcmp((const char *)fields->name.data, "process_name")))
        return 0;
    vti_json_take(&scan, '{');
    while (!is_name && vti_json_next_key(&scan, &is_first, scratch)) {
        is_name = !strcmp((const char *)scratch->data, "name") && vti_json_peek(&scan) == '"';
        if (!is_name)
            vti_json_skip(&scan);
    }
    if (!is_name || !vti_json_scan_string(&scan, scratch))
        return 0;
    at = is_thread ? find_thread(chrome, fields->pid, fields->tid)
                   : find_process(chrome, fields->pid);
    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    place = is_thread ? &chrome->threads[at].name : &chrome->processes[at].name;
    free(*place);
    *place = strdup((const char *)scratch->data);
    return *place ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

static int take_event(struct vti_chrome *chrome, const struct fields *fields)
{
    char phase = (char)fields->phase.data[0];
    struct vti_chrome_event event = {.begin_ns = fields->begin_ns,
                                     .end_ns = INT64_MAX,
                                     .args = fields->args,
                                     .order = (uint32_t)chrome->event_count};
    struct vti_site_fact site = {.name = {(const char *)fields->name.data, fields->name.len}};
    int64_t thread = find_thread(chrome, fields->pid, fields->tid);
    int is_new;
    int64_t name;

    if (thread < 0 ||
        vti_grow(&chrome->events, chrome->event_count, &chrome->event_room, sizeof *chrome->events))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (chrome->event_count >= UINT32_MAX - 1)
        return vti_fail(VTI_E_LIMIT, "%s: too many events", chrome->input->path);
    event.thread = (uint32_t)thread;
    if (phase == 'X')
        event.end_ns = fields->begin_ns + fields->length_ns;
    event.kind = phase == 'C'                                   ? VTI_CHROME_COUNTER
                 : phase == 'i' || phase == 'I' || phase == 'R' ? VTI_CHROME_MARK
                                                                : VTI_CHROME_SPAN;
    site.type = event.kind == VTI_CHROME_MARK ? VTI_SITE_MARK : VTI_SITE_SPAN;
    name = vti_map_add(chrome->names, fields->name.data, fields->name.len, &is_new);
    if (name < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    event.name = (uint32_t)name;
    if (phase == 'E') {
        event.end_ns = INT64_MIN; /* says that it is an end */
        event.args = fields->start;
    } else if (event.kind != VTI_CHROME_SPAN) {
        event.end_ns = event.begin_ns;
    }
    if (phase != 'E' && event.kind != VTI_CHROME_COUNTER) {
        event.site = vti_import_site(chrome->target, &site);
        if (!event.site)
            return VTI_E_NOMEM;
    }
    chrome->events[chrome->event_count++] = event;
    return 0;
}

static int scan_event(struct vti_chrome *chrome, struct vti_json_scan *scan, struct fields *fields,
                      struct vti_buf *scratch)
{
    bool is_first = true;
    const char *why;
    char phase;

    vti_buf_clear(&fields->name);
    vti_buf_clear(&fields->phase);
    vti_buf_add_u8(&fields->name, 0);
    fields->name.len = 0;
    fields->pid = fields->tid = fields->length_ns = 0;
    fields->args = fields->no_length = NULL;
    fields->no_begin = "has no ts";
    vti_json_peek(scan);
    fields->start = scan->at;
    if (!vti_json_take(scan, '{'))
        return refuse(chrome, scan, "not an event");
    while (vti_json_next_key(scan, &is_first, scratch)) {
        char key[8];

        if (scratch->len >= sizeof key) {
            vti_json_skip(scan);
            continue;
        }
        memcpy(key, scratch->data, scratch->len + 1);
        scan_field(scan, key, fields, scratch);
    }
    if (scan->failed)
        return refuse(chrome, scan, "not JSON, or cut off");
    phase = fields->phase.len == 1 ? (char)fields->phase.data[0] : 0;
    if (phase == 'M')
        return take_name(chrome, fields, scratch);
    if (!phase || !strchr("XBEiIRC", phase))
        return 0;
    why = fields->no_begin;
    if (!why && phase == 'X')
        why = fields->no_length ? fields->no_length : fields->length_ns < 0 ? "dur below 0" : NULL;
    if (!why)
        return take_event(chrome, fields);
    vti_chrome_leave_out(chrome, fields->start, why);
    return 0;
}

/* Whether nothing follows, or a comma at most. */
static bool is_at_end(struct vti_json_scan scan)
{
    vti_json_take(&scan, ',');
    return !scan.failed && !vti_json_peek(&scan);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* `may_be_open`: as the format allows, the array need not end; programs that are killed leave it like that. */
static int scan_events(struct vti_chrome *chrome, struct vti_json_scan *scan, bool may_be_open)
{
    struct fields fields = {0};
    struct vti_buf scratch = {0};
    bool is_first = true;
    int code = 0;

    if (!vti_json_take(scan, '['))
        return refuse(chrome, scan, "traceEvents is not an array");
    while (!code && !(may_be_open && is_at_end(*scan)) && vti_json_next_item(scan, &is_first)) {
        code = scan_event(chrome, scan, &fields, &scratch);
        if (!code && chrome->event_count % 65536 == 0 && chrome->input->is_stopped &&
            chrome->input->is_stopped())
            code = vti_fail(VTI_E_TIMEOUT, "interrupted, nothing written");
    }
    if (!code && scan->failed)
        code = refuse(chrome, scan, "not JSON, or cut off");
    vti_buf_fini(&fields.name);
    vti_buf_fini(&fields.phase);
    vti_buf_fini(&scratch);
    return code;
}

static int scan_file(struct vti_chrome *chrome)
{
    struct vti_json_scan scan = {.at = (const char *)chrome->input->data,
                                 .end = (const char *)chrome->input->data + chrome->input->size};
    struct vti_buf key = {0};
    bool is_first = true;
    bool is_found = false;
    int code = 0;

    if (vti_json_peek(&scan) == '[')
        return scan_events(chrome, &scan, true);
    vti_json_take(&scan, '{');
    while (!code && vti_json_next_key(&scan, &is_first, &key)) {
        if (!strcmp((const char *)key.data, "traceEvents")) {
            is_found = true;
            code = scan_events(chrome, &scan, false);
        } else {
            vti_json_skip(&scan);
        }
    }
    vti_buf_fini(&key);
    if (!code && scan.failed)
        return refuse(chrome, &scan, "not JSON, or cut off");
    if (!code && !is_found)
        return refuse(chrome, &scan, "not a Chrome trace: has no traceEvents");
    return code;
}

static void fini(struct vti_chrome *chrome)
{
    for (uint32_t i = 0; chrome->thread_ids && i < vti_map_count(chrome->thread_ids); i++)
        free(chrome->threads[i].name);
    for (uint32_t i = 0; chrome->process_ids && i < vti_map_count(chrome->process_ids); i++)
        free(chrome->processes[i].name);
    free(chrome->threads);
    free(chrome->processes);
    free(chrome->events);
    vti_map_free(chrome->thread_ids);
    vti_map_free(chrome->process_ids);
    vti_map_free(chrome->names);
}

static size_t place_of(const struct vti_chrome *chrome)
{
    return (size_t)(chrome->unused_at - (const char *)chrome->input->data);
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    struct vti_chrome chrome = {.input = input, .target = target};
    int code = 0;

    if (vti_map_create(&chrome.thread_ids) || vti_map_create(&chrome.process_ids) ||
        vti_map_create(&chrome.names))
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        code = scan_file(&chrome);
    if (!code && !chrome.event_count && chrome.unused)
        code = vti_fail(VTI_E_DAMAGED, "%s: byte %zu: %s", input->path, place_of(&chrome),
                        chrome.unused_why);
    else if (!code && !chrome.event_count)
        code = vti_fail(VTI_E_EMPTY, "%s: holds no spans, marks or counters", input->path);
    if (!code)
        code = vti_chrome_write(&chrome);
    if (chrome.unused)
        vti_import_note(target, "%llu event%s could not be used, the first at byte %zu: %s",
                        (unsigned long long)chrome.unused, chrome.unused == 1 ? "" : "s",
                        place_of(&chrome), chrome.unused_why);
    fini(&chrome);
    return code;
}

const struct vti_importer vti_import_chrome = {
    .name = "chrome",
    .summary = "traces in Chrome's JSON",
    .fits = fits,
    .run = run,
};
