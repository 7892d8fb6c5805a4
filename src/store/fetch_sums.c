/*
 * fetch_sums.c - lists of traces as sums that Elasticsearch makes: what comes is rows, however many spans there are.
 */
#include "store/fetch_elasticsearch.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVICES 64
/* The first events of a trace, among which its root is, unless more begin in the same millisecond. */
#define FIRST                                                                                      \
    "{\"top_hits\":{\"size\":8,\"sort\":[{\"timestamp\":\"asc\"}],\"_source\":[\"name\",\"base_"   \
    "id\","                                                                                        \
    "\"parent_id\",\"timestamp\"]}}"
#define NS_PER_MS 1000000

/* ---- asking ---------------------------------------------------------------------------------- */

void vti_es_add_field(struct vti_json *json, const char *agg, const char *kind, const char *field)
{
    vti_json_key(json, agg);
    vti_json_object(json);
    vti_json_key(json, kind);
    vti_json_object(json);
    vti_json_add_string(json, "field", field);
    vti_json_object_end(json);
    vti_json_object_end(json);
}

void vti_es_add_filter(struct vti_json *json, const char *agg, const char *filter)
{
    vti_json_key(json, agg);
    vti_json_object(json);
    vti_json_key(json, "filter");
    vti_json_raw(json, filter);
    vti_json_object_end(json);
}

static void add_parts(struct vti_json *json, const struct vti_es_reading *reading)
{
    char wildcard[128];

    vti_es_add_field(json, "begin", "min", "timestamp");
    vti_es_add_field(json, "end", "max", "timestamp");
    if (reading->has_durations)
        vti_es_add_field(json, "longest", "max", "duration_ns");
    snprintf(wildcard, sizeof wildcard, "{\"wildcard\":{\"%s\":\"*-start\"}}",
             vti_es_field(reading, "name"));
    vti_es_add_filter(json, "starts", wildcard);
    vti_es_add_filter(json, "errors", "{\"exists\":{\"field\":\"info.etype\"}}");
    vti_json_key(json, "services");
    vti_json_object(json);
    vti_json_key(json, "terms");
    vti_json_object(json);
    vti_json_add_string(json, "field", vti_es_field(reading, "service"));
    vti_json_add_uint(json, "size", SERVICES);
    vti_json_object_end(json);
    vti_json_object_end(json);
    vti_es_add_field(json, "hosts", "cardinality", vti_es_field(reading, "info.host"));
    vti_json_key(json, "first");
    vti_json_raw(json, FIRST);
    if (!reading->has_durations)
        return;
    vti_json_key(
        json,
        "roots"); /* begins of ours say that they are; others are looked for among the first */
    vti_json_raw(json, "{\"filter\":{\"term\":{\"is_root\":true}},\"aggs\":{\"first\":" FIRST "}}");
}

/* Largest first; a time that no document says is the store's to guess by its newest. */
static const char *order_of(const struct vti_es_reading *reading, const char *sort)
{
    if (!strcmp(sort, "spans"))
        return "{\"_count\":\"desc\"}";
    if (!strcmp(sort, "errors"))
        return "{\"errors\":\"desc\"}";
    if (!strcmp(sort, "time") && reading->has_durations)
        return "{\"longest\":\"desc\"}";
    return "{\"begin\":\"desc\"}";
}

void vti_es_query_traces(struct vti_es_reading *reading, const char *sort, uint32_t count,
                         const char *prefix)
{
    struct vti_json json;

    vti_buf_clear(&reading->body);
    vti_json_init(&json, &reading->body);
    vti_json_object(&json);
    vti_json_add_uint(&json, "size", 0);
    if (prefix) {
        vti_json_key(&json, "query");
        vti_json_object(&json);
        vti_json_key(&json, "prefix");
        vti_json_object(&json);
        vti_json_add_string(&json, vti_es_field(reading, "base_id"), prefix);
        vti_json_object_end(&json);
        vti_json_object_end(&json);
    }
    vti_json_key(&json, "aggs");
    vti_json_object(&json);
    vti_es_add_field(&json, "all", "cardinality", vti_es_field(reading, "base_id"));
    vti_json_key(&json, "traces");
    vti_json_object(&json);
    vti_json_key(&json, "terms");
    vti_json_object(&json);
    vti_json_add_string(&json, "field", vti_es_field(reading, "base_id"));
    vti_json_add_uint(&json, "size", count);
    vti_json_key(&json, "order");
    vti_json_raw(&json, order_of(reading, sort));
    vti_json_object_end(&json);
    vti_json_key(&json, "aggs");
    vti_json_object(&json);
    add_parts(&json, reading);
    vti_json_object_end(&json);
    vti_json_object_end(&json);
    vti_json_object_end(&json);
    vti_json_object_end(&json);
}

/* A store that could not ask all of its parts answers all the same. */
static void note_what_is_missing(struct vti_fetch *fetch, struct vti_bytes answer)
{
    double failed = vti_es_number(VTI_ES_PATH(answer, "_shards", "failed"), 0);
    double all = vti_es_number(VTI_ES_PATH(answer, "_shards", "total"), 0);
    struct vti_bytes late = vti_es_member(answer, "timed_out");

    if (failed > 0)
        snprintf(fetch->note, sizeof fetch->note,
                 "%.0f of %.0f shards failed: what they hold is missing here", failed, all);
    else if (late.len && *late.data == 't')
        snprintf(fetch->note, sizeof fetch->note,
                 "the store ran out of time: not all that it holds is here");
}

int vti_es_search(struct vti_es_reading *reading, const char *sum)
{
    struct vti_bytes answer, sums;
    int code;

    vti_buf_clear(&reading->path);
    vti_buf_printf(&reading->path, "/%s/_search", reading->fetch->index);
    vti_buf_add_u8(&reading->path, 0);
    code = vti_es_ask(reading, "POST", (const char *)reading->path.data);
    if (code)
        return code;
    answer = vti_es_answer(reading);
    sums = VTI_ES_PATH(answer, "aggregations", sum);
    if (!sums.len || *sums.data != '{')
        return vti_es_fail_shape(reading);
    note_what_is_missing(reading->fetch, answer);
    return 0;
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Root and begin, to the microsecond, of the first events; the store's dates have milliseconds. */
static void find_root(struct vti_bytes bucket, struct vti_buf *root, int64_t *begin_ns)
{
    struct vti_bytes roots = vti_es_member(bucket, "roots");
    struct vti_es_items items;
    struct vti_bytes hit;
    struct vti_buf text = {0}, base = {0}, parent = {0};
    bool is_found = false;

    vti_buf_clear(root);
    if (vti_es_number(vti_es_member(roots, "doc_count"), 0) > 0)
        bucket = roots;
    vti_es_items(&items, VTI_ES_PATH(bucket, "first", "hits", "hits"));
    while (vti_es_item(&items, &hit)) {
        struct vti_bytes source = vti_es_member(hit, "_source");
        int64_t ns;
        bool is_root;

        if (vti_es_text(vti_es_member(source, "timestamp"), &text) &&
            vti_span_time((const char *)text.data, text.len, &ns) &&
            (ns < *begin_ns || *begin_ns % NS_PER_MS == 0) && llabs(ns - *begin_ns) < NS_PER_MS)
            *begin_ns = *begin_ns % NS_PER_MS == 0 || ns < *begin_ns ? ns : *begin_ns;
        is_root = vti_es_text(vti_es_member(source, "base_id"), &base) &&
                  vti_es_text(vti_es_member(source, "parent_id"), &parent) &&
                  base.len == parent.len && !memcmp(base.data, parent.data, base.len);
        if (is_found || !vti_es_text(vti_es_member(source, "name"), &text) ||
            (root->len && !is_root))
            continue;
        if (text.len > 6 && !memcmp(text.data + text.len - 6, "-start", 6))
            text.len -= 6;
        else if (text.len > 5 && !memcmp(text.data + text.len - 5, "-stop", 5))
            text.len -= 5;
        vti_buf_clear(root);
        vti_buf_add(root, text.data, text.len);
        is_found = is_root;
    }
    vti_buf_fini(&text);
    vti_buf_fini(&base);
    vti_buf_fini(&parent);
}

static void add_services(struct vti_json *json, struct vti_bytes bucket, struct vti_buf *text)
{
    struct vti_es_items items;
    struct vti_bytes service;
    size_t count = 0;

    vti_json_key(json, "services");
    vti_json_array(json);
    vti_es_items(&items, VTI_ES_PATH(bucket, "services", "buckets"));
    while (vti_es_item(&items, &service))
        if (vti_es_text(vti_es_member(service, "key"), text)) {
            vti_json_bytes(json, (const char *)text->data, text->len);
            count++;
        }
    if (!count)
        vti_json_string(json, ""); /* it is not said */
    vti_json_array_end(json);
}

double vti_es_count(struct vti_bytes bucket, const char *agg)
{
    return vti_es_number(VTI_ES_PATH(bucket, agg, "doc_count"), 0);
}

static void add_trace(struct vti_json *json, struct vti_bytes bucket, bool has_errors_only)
{
    double begin = vti_es_number(VTI_ES_PATH(bucket, "begin", "value"), NAN);
    double end = vti_es_number(VTI_ES_PATH(bucket, "end", "value"), NAN);
    double longest = vti_es_number(VTI_ES_PATH(bucket, "longest", "value"), 0);
    double starts = vti_es_count(bucket, "starts");
    double events = vti_es_number(vti_es_member(bucket, "doc_count"), 0);
    double errors = vti_es_count(bucket, "errors");
    struct vti_buf text = {0}, root = {0};
    int64_t begin_ns, duration_ns;

    if (!(begin > 0 && begin < 9e12 && end >= begin && end < 9e12) ||
        (has_errors_only && errors < 1) || !vti_es_text(vti_es_member(bucket, "key"), &text))
        goto out;
    begin_ns = (int64_t)begin * NS_PER_MS;
    duration_ns = (int64_t)((end - begin) * NS_PER_MS);
    if (longest > (double)duration_ns && longest < (double)duration_ns + 2e6)
        duration_ns = (int64_t)longest; /* milliseconds are coarse: the root's own time is exact */
    find_root(bucket, &root, &begin_ns);
    vti_json_object(json);
    vti_json_key(json, "trace");
    vti_json_bytes(json, (const char *)text.data, text.len);
    vti_json_add_int(json, "begin_ns", begin_ns);
    vti_json_add_int(json, "duration_ns", duration_ns);
    vti_json_add_uint(json, "spans", vti_es_whole(starts > 0 ? starts : (events + 1) / 2));
    vti_json_add_uint(json, "errors", vti_es_whole(errors));
    vti_json_add_uint(json, "unfinished", vti_es_whole(starts - (events - starts)));
    vti_json_add_uint(json, "hosts",
                      vti_es_whole(vti_es_number(VTI_ES_PATH(bucket, "hosts", "value"), 0)));
    vti_json_key(json, "root");
    vti_json_bytes(json, (const char *)root.data, root.len);
    add_services(json, bucket, &text);
    vti_json_object_end(json);
out:
    vti_buf_fini(&text);
    vti_buf_fini(&root);
}

int vti_es_write_rows(const struct vti_fetch *fetch, struct vti_buf *rows)
{
    struct vti_output *out;
    int code = rows->failed ? vti_fail(VTI_E_NOMEM, "out of memory")
                            : vti_output_open(&out, fetch->to, true, true);

    if (code)
        return code;
    vti_output_write(out, rows->data, rows->len);
    return vti_output_commit(out);
}

int vti_es_list_rows(struct vti_buf *rows, struct vti_bytes answer, bool has_errors_only,
                     double *all)
{
    struct vti_bytes bucket, sums = vti_es_member(answer, "aggregations");
    struct vti_es_items items;
    struct vti_json json;

    vti_json_init(&json, rows);
    vti_json_object(&json);
    vti_json_key(&json, "traces");
    vti_json_array(&json);
    vti_es_items(&items, VTI_ES_PATH(sums, "traces", "buckets"));
    while (vti_es_item(&items, &bucket))
        add_trace(&json, bucket, has_errors_only);
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    *all = vti_es_number(VTI_ES_PATH(sums, "all", "value"), 0);
    return rows->failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

int vti_es_list(struct vti_es_reading *reading)
{
    struct vti_fetch *fetch = reading->fetch;
    uint32_t count = fetch->limit < VTI_ES_ROWS ? fetch->limit : VTI_ES_ROWS;
    const char *sort = fetch->has_errors_only ? "errors" : fetch->sort;
    struct vti_buf rows = {0};
    double all = 0;
    int code;

    /* By time, and no document says it: as many as there may be, of which the tool takes the longest. */
    if (!strcmp(sort, "time") && !reading->has_durations)
        count = VTI_ES_ROWS;
    vti_es_query_traces(reading, sort, count, NULL);
    code = vti_es_search(reading, "traces");
    if (!code)
        code = vti_es_list_rows(&rows, vti_es_answer(reading), fetch->has_errors_only, &all);
    if (!code && count == VTI_ES_ROWS && all > count && !fetch->note[0])
        snprintf(fetch->note, sizeof fetch->note,
                 "of about %.0f traces %u are looked at: --limit and --sort choose", all, count);
    if (!code)
        code = vti_es_write_rows(fetch, &rows);
    vti_buf_fini(&rows);
    return code;
}
