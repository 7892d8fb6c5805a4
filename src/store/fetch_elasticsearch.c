/*
 * fetch_elasticsearch.c - traces from Elasticsearch and OpenSearch, as osprofiler's driver and Venturi keep them: a document for each notification.
 *
 * One trace is read by scrolling over its documents; lists and ranks are the store's own sums (fetch_sums.c), so that nothing else is ever
 * downloaded. An id is looked for as a whole, and what comes is compared again: osprofiler's own query matches parts of ids.
 */
#include "store/fetch_elasticsearch.h"

#include "base/error.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 5000 /* documents */
#define PAGES_MOST (VTI_FETCH_EVENTS / 100)
#define TIMEOUT_MS 60000
#define ID_MOST 256

/* ---- requests -------------------------------------------------------------------------------- */

int vti_es_fail_shape(const struct vti_es_reading *reading)
{
    return vti_fail(VTI_E_READ, "%s: answers, but not as Elasticsearch or OpenSearch do",
                    reading->fetch->settings.shown);
}

/* All of it, and nothing behind it. */
static bool is_whole_object(struct vti_bytes answer)
{
    struct vti_json_scan scan = {.at = answer.data, .end = answer.data + answer.len};

    if (!answer.len || vti_json_peek(&scan) != '{')
        return false;
    vti_json_skip(&scan);
    return !scan.failed && !vti_json_peek(&scan) && scan.at == scan.end;
}

/* What any status but 200 means. */
static int fail_status(struct vti_es_reading *reading)
{
    const struct vti_http_answer *answer = &reading->es.answer;
    const char *shown = reading->fetch->settings.shown;
    const bool is_error = vti_es_error(&reading->es, answer);
    const char *reason = (const char *)reading->es.text.data;

    if (answer->status == 404 && is_error)
        return vti_fail(VTI_E_NOT_FOUND, "%s: has no index %s: no traces were written there", shown,
                        reading->fetch->index);
    if (answer->status == 401 || answer->status == 403)
        return vti_fail(VTI_E_READ,
                        "%s: does not let us in (status %ld): VENTURI_STORE_USER and "
                        "VENTURI_STORE_PASSWORD, or _API_KEY, say who we are",
                        shown, answer->status);
    if (answer->status >= 300 && answer->status < 400)
        return vti_fail(VTI_E_READ,
                        "%s: sends us elsewhere (status %ld): give the address it means", shown,
                        answer->status);
    if (is_error && *reason)
        return vti_fail(VTI_E_READ, "%s: status %ld: %s", shown, answer->status, reason);
    return vti_fail(VTI_E_READ, "%s: status %ld: is that the address of Elasticsearch?", shown,
                    answer->status);
}

int vti_es_ask(struct vti_es_reading *reading, const char *method, const char *path)
{
    const char *shown = reading->fetch->settings.shown;
    bool has_body = reading->body.len > 0;
    struct vti_http_request request = {.method = method,
                                       .path = path,
                                       .type = has_body ? "application/json" : NULL,
                                       .body = reading->body.data,
                                       .body_bytes = reading->body.len};
    struct vti_http_answer *answer = &reading->es.answer;
    int code = reading->body.failed ? vti_fail(VTI_E_NOMEM, "out of memory")
                                    : vti_http_ask(reading->es.http, &request, answer);

    vti_buf_clear(&reading->body);
    if (code)
        return code;
    if (!answer->status)
        return vti_fail(VTI_E_READ, "%s: %s", shown, answer->why);
    if (answer->status != 200)
        return fail_status(reading);
    return is_whole_object(vti_es_answer(reading)) ? 0 : vti_es_fail_shape(reading);
}

/* Which fields there are, so that both kinds of index can be asked. */
static int look_at_fields(struct vti_es_reading *reading)
{
    struct vti_bytes fields;
    int code;

    vti_buf_clear(&reading->path);
    vti_buf_printf(&reading->path,
                   "/%s/_field_caps?ignore_unavailable=true&fields=base_id,base_id.keyword,"
                   "duration_ns,timestamp",
                   reading->fetch->index);
    vti_buf_add_u8(&reading->path, 0);
    if (reading->path.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    code = vti_es_ask(reading, "GET", (const char *)reading->path.data);
    if (code)
        return code;
    fields = vti_es_member(vti_es_answer(reading), "fields");
    if (!fields.len || *fields.data != '{')
        return vti_es_fail_shape(reading);
    if (!vti_es_member(fields, "base_id").len)
        return vti_fail(VTI_E_NOT_FOUND, "%s: index %s holds no traces",
                        reading->fetch->settings.shown, reading->fetch->index);
    reading->has_keywords = vti_es_member(fields, "base_id.keyword").len > 0;
    reading->has_durations = vti_es_member(fields, "duration_ns").len > 0;
    return 0;
}

const char *vti_es_field(const struct vti_es_reading *reading, const char *name)
{
    static const char *const with[] = {"base_id.keyword",   "name.keyword",
                                       "service.keyword",   "trace_id.keyword",
                                       "info.host.keyword", "info.etype.keyword"};
    size_t len = strlen(name);

    for (size_t i = 0; reading->has_keywords && i < sizeof with / sizeof *with; i++)
        if (!strncmp(with[i], name, len) && with[i][len] == '.' && !strchr(with[i] + len + 1, '.'))
            return with[i];
    return name;
}

/* ---- one trace ------------------------------------------------------------------------------- */

static int fail_endless(const struct vti_es_reading *reading)
{
    return vti_fail(VTI_E_READ, "%s: its pages of documents (scroll) do not come to an end",
                    reading->fetch->settings.shown);
}

/* A number of old, an object since 7. */
static double total_of(struct vti_bytes answer)
{
    double plain = vti_es_number(VTI_ES_PATH(answer, "hits", "total"), HUGE_VAL);
    struct vti_bytes relation = VTI_ES_PATH(answer, "hits", "total", "relation");

    if (relation.len && (relation.len != 4 || memcmp(relation.data, "\"eq\"", 4)))
        return HUGE_VAL; /* at least so many */
    return vti_es_number(VTI_ES_PATH(answer, "hits", "total", "value"), plain);
}

/* Pages that were read. */
struct scrolling {
    struct vti_buf id;
    struct vti_buf seen; /* the first document of a page whose number was a power of two */
    size_t pages, count; /* documents of the last one */
    double hits, total;  /* of all; the store's own number, or infinite */
};

/* No document comes twice: a store that goes in circles meets one of those pages again. */
static int look_at_first(struct vti_es_reading *reading, struct scrolling *scrolling,
                         struct vti_bytes hit)
{
    struct vti_buf *seen = &scrolling->seen;

    scrolling->pages++;
    if (seen->len && seen->len == hit.len && !memcmp(seen->data, hit.data, hit.len))
        return fail_endless(reading);
    if (!(scrolling->pages & (scrolling->pages - 1))) {
        vti_buf_clear(seen);
        vti_buf_add(seen, hit.data, hit.len);
    }
    return 0;
}

static int take_page(struct vti_es_reading *reading, struct scrolling *scrolling)
{
    struct vti_bytes answer = vti_es_answer(reading);
    struct vti_es_items items;
    struct vti_bytes hit;
    int code = 0;

    scrolling->count = 0;
    if (!vti_es_text(vti_es_member(answer, "_scroll_id"), &scrolling->id))
        return vti_es_fail_shape(reading);
    if (!scrolling->pages)
        scrolling->total = total_of(answer);
    vti_es_items(&items, VTI_ES_PATH(answer, "hits", "hits"));
    while (!code && vti_es_item(&items, &hit)) {
        struct vti_bytes source = vti_es_member(hit, "_source");

        if (!scrolling->count++)
            code = look_at_first(reading, scrolling, hit);
        if (!code && ++scrolling->hits > scrolling->total)
            code = fail_endless(reading);
        if (!code && source.len)
            code = vti_fetch_add(reading->fetch, source.data, source.len);
    }
    if (code == 1)
        snprintf(reading->fetch->note, sizeof reading->fetch->note,
                 "only %llu notifications were read", (unsigned long long)reading->fetch->events);
    return code;
}

static void scroll_body(struct vti_es_reading *reading, const struct vti_buf *scroll, bool is_end)
{
    struct vti_json json;

    vti_buf_clear(&reading->body);
    vti_json_init(&json, &reading->body);
    vti_json_object(&json);
    if (!is_end)
        vti_json_add_string(&json, "scroll", "2m");
    vti_json_key(&json, "scroll_id");
    vti_json_bytes(&json, (const char *)scroll->data, scroll->len);
    vti_json_object_end(&json);
}

/* Page by page until one is empty; a store that never ends is left after as many as any has. */
static int read_pages(struct vti_es_reading *reading)
{
    static const char fields[] =
        "filter_path=_scroll_id,hits.total,hits.hits._index,hits.hits._id,hits.hits._source";
    struct scrolling scrolling = {.pages = 0};
    struct vti_buf *scroll = &scrolling.id;
    char next[160];
    int code;

    snprintf(next, sizeof next, "/_search/scroll?%s", fields);

    vti_buf_clear(&reading->path);
    vti_buf_printf(&reading->path, "/%s/_search?scroll=2m&%s", reading->fetch->index, fields);
    vti_buf_add_u8(&reading->path, 0);
    code = vti_es_ask(reading, "POST", (const char *)reading->path.data);
    if (!code)
        code = take_page(reading, &scrolling);
    while (!code && scrolling.count && scroll->len && scrolling.pages < PAGES_MOST) {
        scroll_body(reading, scroll, false);
        code = vti_es_ask(reading, "POST", next);
        if (!code)
            code = take_page(reading, &scrolling);
    }
    if (scroll->len) { /* it would go by itself, later */
        char message[512];

        snprintf(message, sizeof message, "%s", code < 0 ? vti_error_message(code) : "");
        scroll_body(reading, scroll, true);
        vti_es_ask(reading, "DELETE", "/_search/scroll");
        if (code < 0)
            vti_fail(code, "%s", message);
    }
    vti_buf_fini(&scrolling.id);
    vti_buf_fini(&scrolling.seen);
    return code < 0 ? code : 0;
}

static void begin_query(struct vti_json *json, struct vti_es_reading *reading)
{
    vti_buf_clear(&reading->body);
    vti_json_init(json, &reading->body);
    vti_json_object(json);
    vti_json_add_uint(json, "size", PAGE);
    vti_json_key(json, "sort");
    vti_json_raw(json, "[\"_doc\"]");
    vti_json_key(json, "query");
    vti_json_object(json);
}

static int read_one(struct vti_es_reading *reading, const char *id)
{
    struct vti_json json;

    begin_query(&json, reading);
    vti_json_key(&json, "term");
    vti_json_object(&json);
    vti_json_add_string(&json, vti_es_field(reading, "base_id"), id);
    vti_json_object_end(&json);
    vti_json_object_end(&json);
    vti_json_object_end(&json);
    return read_pages(reading);
}

/* Those that the store's sums name. */
static int read_found(struct vti_es_reading *reading, const char *sort, const char *prefix,
                      uint32_t count)
{
    struct vti_buf ids = {0}, text = {0};
    struct vti_es_items items;
    struct vti_bytes bucket;
    struct vti_json json;
    int code;

    vti_es_query_traces(reading, sort, count, prefix);
    code = vti_es_search(reading, "traces");
    vti_es_items(&items,
                 code ? (struct vti_bytes){NULL, 0}
                      : VTI_ES_PATH(vti_es_answer(reading), "aggregations", "traces", "buckets"));
    vti_json_init(&json, &ids);
    vti_json_array(&json);
    while (vti_es_item(&items, &bucket))
        if (vti_es_text(vti_es_member(bucket, "key"), &text) && text.len <= ID_MOST)
            vti_json_bytes(&json, (const char *)text.data, text.len);
    vti_json_array_end(&json);
    vti_buf_add_u8(&ids, 0);
    if (!code && ids.len > 3) {
        begin_query(&json, reading);
        vti_json_key(&json, "terms");
        vti_json_object(&json);
        vti_json_key(&json, vti_es_field(reading, "base_id"));
        vti_json_raw(&json, (const char *)ids.data);
        vti_json_object_end(&json);
        vti_json_object_end(&json);
        vti_json_object_end(&json);
        code = read_pages(reading);
    }
    vti_buf_fini(&ids);
    vti_buf_fini(&text);
    return code;
}

static int show(struct vti_es_reading *reading)
{
    struct vti_fetch *fetch = reading->fetch;
    char id[VTI_UUID_TEXT];
    uint8_t base[VTI_UUID];
    int code = vti_fetch_begin(fetch);

    if (code)
        return code;
    if (vti_fetch_is_id(fetch->word, id)) {
        vti_uuid_parse(base, id, strlen(id));
        fetch->all.only = base;
        code = read_one(reading, id);
    } else if (!strcmp(fetch->word, "last")) {
        code = read_found(reading, "begin", NULL, 2);
    } else if (!strcmp(fetch->word, "slowest")) {
        code = read_found(reading, "time", NULL, 4);
    } else {
        code = read_one(reading, fetch->word);
        if (!code && !fetch->all.list.count && vti_fetch_is_prefix(fetch->word, id))
            code = read_found(reading, "begin", id, VTI_FETCH_CANDIDATES);
    }
    if (!code)
        code = vti_fetch_write(fetch);
    fetch->all.only = NULL;
    return code;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool is_name(const char *index)
{
    size_t len = strspn(index, "abcdefghijklmnopqrstuvwxyz0123456789-_.*,+");

    return len && !index[len] && index[0] != '_' && len < 500;
}

static int run(struct vti_fetch *fetch)
{
    struct vti_es_reading reading = {.fetch = fetch, .es = {.settings = &fetch->settings}};
    int code;

    if (!is_name(fetch->index))
        return vti_fail(VTI_E_USAGE, "%s: index= names no index", fetch->settings.shown);
    if (!fetch->settings.timeout_ms)
        fetch->settings.timeout_ms = TIMEOUT_MS;
    code = vti_http_open(&reading.es.http, &fetch->settings, VTI_ES_PORT);
    if (!code)
        code = look_at_fields(&reading);
    if (!code)
        code = fetch->what == VTI_FETCH_SHOW   ? show(&reading)
               : fetch->what == VTI_FETCH_LIST ? vti_es_list(&reading)
                                               : vti_es_rank(&reading);
    vti_http_answer_fini(&reading.es.answer);
    vti_http_close(reading.es.http);
    vti_buf_fini(&reading.es.key);
    vti_buf_fini(&reading.es.text);
    vti_buf_fini(&reading.es.kind);
    vti_buf_fini(&reading.body);
    vti_buf_fini(&reading.path);
    return code;
}

const struct vti_fetcher vti_fetch_elasticsearch = {
    .schemes = "elasticsearch opensearch http https",
    .run = run,
};
