/* notifications.c - osprofiler's notifications become spans of traces, whatever order they come in. */
#include "import/notifications.h"

#include "base/error.h"
#include "base/uuid.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (256u << 10)
#define ROUNDED_NS 2000 /* two timestamps of whole microseconds are so far off at most */

struct vti_fact_chunk {
    struct vti_fact_chunk *next;
    size_t used, room;
    char bytes[];
};

/* ---- parts ----------------------------------------------------------------------------------- */

/* A text; what else stands there is stepped over and counts as "". */
static void take_text(struct vti_json_scan *scan, struct vti_buf *to)
{
    vti_buf_clear(to);
    if (vti_json_peek(scan) != '"')
        vti_json_skip(scan);
    else
        vti_json_scan_string(scan, to);
}

static int64_t take_duration(struct vti_json_scan *scan)
{
    char first = vti_json_peek(scan);
    int64_t number = 0;
    const char *text;
    size_t len;

    if (first < '0' || first > '9') {
        vti_json_skip(scan);
        return -1;
    }
    if (!vti_json_scan_number(scan, &text, &len) || len > 18)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

/* Takes one apart; *info is where its facts stand. */
static void take_fields(struct vti_notifications *all, struct vti_json_scan *scan,
                        struct vti_bytes *info)
{
    const struct {
        const char *key;
        struct vti_buf *to;
    } fields[] = {{"name", &all->name},      {"base_id", &all->base},
                  {"trace_id", &all->id},    {"parent_id", &all->parent},
                  {"timestamp", &all->time}, {"project", &all->project},
                  {"service", &all->service}};
    bool is_first = true;

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        vti_buf_clear(fields[i].to);
    *info = (struct vti_bytes){NULL, 0};
    all->has_project = false;
    all->duration_ns = -1;
    vti_json_take(scan, '{');
    while (vti_json_next_key(scan, &is_first, &all->key)) {
        const char *key = (const char *)all->key.data;
        size_t at = 0;

        while (at < sizeof fields / sizeof *fields && strcmp(key, fields[at].key))
            at++;
        if (at < sizeof fields / sizeof *fields) {
            if (fields[at].to == &all->project)
                all->has_project = vti_json_peek(scan) == '"';
            take_text(scan, fields[at].to);
            continue;
        }
        if (!strcmp(key, "duration_ns")) {
            all->duration_ns = take_duration(scan);
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
static void take_host(struct vti_notifications *all, const struct vti_bytes *info)
{
    struct vti_json_scan scan = {.at = info->data};
    bool is_first = true;

    vti_buf_clear(&all->host);
    if (!info->len)
        return;
    scan.end = info->data + info->len;
    vti_json_take(&scan, '{');
    while (vti_json_next_key(&scan, &is_first, &all->key)) {
        if (strcmp((const char *)all->key.data, "host"))
            vti_json_skip(&scan);
        else
            take_text(&scan, &all->host);
    }
}

static int64_t find_process(struct vti_notifications *all)
{
    int is_new;
    int64_t at;

    vti_buf_clear(&all->key);
    vti_buf_add(&all->key, all->service.data, all->service.len);
    vti_buf_add_u8(&all->key, 0);
    vti_buf_add(&all->key, all->project.data, all->project.len);
    vti_buf_add_u8(&all->key, 0);
    vti_buf_add(&all->key, all->host.data, all->host.len);
    vti_buf_add_u8(&all->key, 0);
    vti_buf_add_u8(&all->key, all->has_project);
    if (all->key.failed)
        return VTI_E_NOMEM;
    at = vti_map_add(all->places, all->key.data, all->key.len, &is_new);
    if (at >= 0 && is_new) {
        if (vti_grow(&all->processes, (size_t)at, &all->process_room, sizeof *all->processes))
            return VTI_E_NOMEM;
        all->processes[at] = (struct vti_listed_process){.project = all->has_project ? "" : NULL};
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

/* Facts that live as long as this does. Their host is said by the process. */
static int keep_facts(struct vti_notifications *all, struct vti_bytes *info)
{
    struct vti_fact_chunk *chunk = all->chunks;

    if (!all->keeps_facts || !info->len)
        return 0;
    if (!chunk || chunk->room - chunk->used < info->len) {
        size_t room = info->len > CHUNK_BYTES ? info->len : CHUNK_BYTES;

        chunk = malloc(sizeof *chunk + room);
        if (!chunk)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        *chunk = (struct vti_fact_chunk){.next = all->chunks, .room = room};
        all->chunks = chunk;
    }
    memcpy(chunk->bytes + chunk->used, info->data, info->len);
    info->data = chunk->bytes + chunk->used;
    chunk->used += info->len;
    return 0;
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* Timestamps are whole microseconds; a duration that agrees with them is exact. */
static void refine(struct vti_listed_span *span)
{
    int64_t off;

    if (span->duration_ns < 0 || span->end_ns == VTI_NO_END || !span->at_begin.len)
        return;
    off = span->begin_ns + span->duration_ns - span->end_ns;
    if (off > -ROUNDED_NS && off < ROUNDED_NS)
        span->end_ns += off;
}

static void place_end(struct vti_listed_span *span, const struct vti_bytes *info, int64_t ns,
                      int64_t duration_ns)
{
    span->end_ns = ns > span->begin_ns ? ns : span->begin_ns;
    span->at_end = *info;
    span->has_failed = has_type(info);
    span->duration_ns = duration_ns;
    refine(span);
}

static void place_begin(struct vti_listed_span *span, const struct vti_bytes *info, int64_t ns)
{
    span->begin_ns = ns;
    span->at_begin = *info;
    if (span->end_ns != VTI_NO_END && span->end_ns < ns)
        span->end_ns = ns;
    refine(span);
}

static int enter(struct vti_notifications *all, struct vti_bytes *info, bool is_stop,
                 struct vti_bytes name, int64_t ns)
{
    struct vti_trace_ids ids;
    struct vti_listed_span *span;
    uint32_t *place;
    int64_t process;
    int code;

    vti_uuid_parse(ids.base, (const char *)all->base.data, all->base.len);
    if (all->only && memcmp(ids.base, all->only, sizeof ids.base)) {
        all->foreign++;
        return 0;
    }
    vti_uuid_parse(ids.span, (const char *)all->id.data, all->id.len);
    vti_uuid_parse(ids.parent, (const char *)all->parent.data, all->parent.len);
    place = vti_span_list_find(&all->list, &ids);
    process = place ? find_process(all) : VTI_E_NOMEM;
    if (process < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    code = keep_facts(all, info);
    if (code)
        return code;
    if (!*place) {
        code = vti_span_list_add(&all->list, all->target, &ids, name, ns);
        if (code)
            return code;
        *place = (uint32_t)all->list.count;
        all->list.spans[*place - 1].duration_ns = -1;
    }
    span = &all->list.spans[*place - 1];
    span->process = (uint32_t)process;
    if (is_stop)
        place_end(span, info, ns, all->duration_ns);
    else
        place_begin(span, info, ns);
    return 0;
}

int vti_notifications_take(struct vti_notifications *all, struct vti_json_scan *scan)
{
    struct vti_bytes info, name;
    bool is_stop;
    int64_t ns;

    take_fields(all, scan, &info);
    if (scan->failed)
        return 0;
    if (!all->base.len || !all->id.len || !split_name(&all->name, &is_stop, &name) ||
        !vti_span_time((const char *)all->time.data, all->time.len, &ns)) {
        all->unusable++;
        return 0;
    }
    take_host(all, &info);
    return enter(all, &info, is_stop, name, ns);
}

int vti_notifications_text(struct vti_notifications *all, const char *text, size_t len)
{
    struct vti_json_scan scan = {.at = text, .end = text + len};
    int code = 0;

    if (vti_json_peek(&scan) == '{')
        code = vti_notifications_take(all, &scan);
    else
        scan.failed = true;
    all->unusable += scan.failed;
    return code;
}

/* ---- all of them ----------------------------------------------------------------------------- */

int vti_notifications_init(struct vti_notifications *all, struct vti_import_target *target)
{
    *all = (struct vti_notifications){.target = target, .list = {.prefix = ""}};
    if (vti_map_create(&all->places))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return vti_span_list_init(&all->list);
}

/* The texts of the map may move while it grows, so they are looked up when it does no more. */
static void name_processes(struct vti_notifications *all)
{
    for (uint32_t i = 0; i < vti_map_count(all->places); i++) {
        const char *text = vti_map_key(all->places, i, NULL);

        all->processes[i].name = text;
        if (all->processes[i].project)
            all->processes[i].project = text + strlen(text) + 1;
    }
    all->list.processes = all->processes;
}

int vti_notifications_write(struct vti_notifications *all, const struct vti_import_input *input)
{
    uint64_t far = 0;
    int code = vti_span_list_trim(&all->list, &far, input);

    if (!code && (all->unusable || far))
        vti_import_note(all->target,
                        "notifications not used: %llu, spans before 1970 or many years from the "
                        "others: %llu",
                        (unsigned long long)all->unusable, (unsigned long long)far);
    name_processes(all);
    return code ? code : vti_span_list_write(&all->list, input, all->target);
}

void vti_notifications_fini(struct vti_notifications *all)
{
    struct vti_buf *texts[] = {&all->key,  &all->name,    &all->base,    &all->id,  &all->parent,
                               &all->time, &all->project, &all->service, &all->host};

    while (all->chunks) {
        struct vti_fact_chunk *next = all->chunks->next;

        free(all->chunks);
        all->chunks = next;
    }
    vti_span_list_fini(&all->list);
    vti_map_free(all->places);
    free(all->processes);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        vti_buf_fini(texts[i]);
}
