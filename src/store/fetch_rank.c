/*
 * fetch_rank.c - ranks of names as sums that Elasticsearch makes.
 *
 * Documents that Venturi wrote say at each stop how long the span took. Those of osprofiler do not: there begins and ends are put together by a
 * script in the store, to the millisecond that its dates have.
 */
#include "store/fetch_elasticsearch.h"

#include "base/error.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MOST 9007199254740992.0 /* a double has each number up to that */
#define SECONDS_MOST 1e15

/* ---- names ----------------------------------------------------------------------------------- */

static void add_names_agg(struct vti_json *json, const struct vti_es_reading *reading)
{
    vti_json_key(json, "stops");
    vti_json_object(json);
    vti_json_key(json, "filter");
    vti_json_raw(json, "{\"exists\":{\"field\":\"duration_ns\"}}");
    vti_json_key(json, "aggs");
    vti_json_object(json);
    vti_json_key(json, "names");
    vti_json_object(json);
    vti_json_key(json, "terms");
    vti_json_object(json);
    vti_json_add_string(json, "field", vti_es_field(reading, "name"));
    vti_json_add_uint(json, "size", VTI_ES_ROWS);
    vti_json_key(json, "order");
    vti_json_raw(json, "{\"total\":\"desc\"}");
    vti_json_object_end(json);
    vti_json_key(json, "aggs");
    vti_json_object(json);
    vti_es_add_field(json, "total", "sum", "duration_ns");
    vti_es_add_field(json, "max", "max", "duration_ns");
    vti_es_add_field(json, "min", "min", "duration_ns");
    vti_es_add_filter(json, "errors", "{\"exists\":{\"field\":\"info.etype\"}}");
    if (reading->fetch->is_wide) {
        vti_json_key(json, "percentiles");
        vti_json_raw(json, "{\"percentiles\":{\"field\":\"duration_ns\",\"percents\":[50,99]}}");
    }
    vti_json_object_end(json);
    vti_json_object_end(json);
    vti_json_object_end(json);
    vti_json_object_end(json);
}

/* Begins of spans whose ends are documents of ours are told apart by what Venturi writes with them. */
static void add_starts_agg(struct vti_json *json, const struct vti_es_reading *reading)
{
    vti_json_key(json, "starts");
    vti_json_object(json);
    vti_json_key(json, "filter");
    vti_json_raw(json, "{\"term\":{\"is_begin\":true}}");
    vti_json_key(json, "aggs");
    vti_json_object(json);
    vti_json_key(json, "names");
    vti_json_object(json);
    vti_json_key(json, "terms");
    vti_json_object(json);
    vti_json_add_string(json, "field", vti_es_field(reading, "name"));
    vti_json_add_uint(json, "size", VTI_ES_ROWS);
    vti_json_object_end(json);
    vti_json_object_end(json);
    vti_json_object_end(json);
    vti_json_object_end(json);
}

/* osprofiler's: a map from span to its times on each shard, put together once. In milliseconds. */
static void add_pairs_agg(struct vti_json *json, const struct vti_es_reading *reading)
{
    char map[1024];

    snprintf(map, sizeof map,
             "if(doc['%s'].size()==0||doc['%s'].size()==0||doc['timestamp'].size()==0)return;"
             "String n=doc['%s'].value;boolean stop=n.endsWith('-stop');"
             "if(!stop&&!n.endsWith('-start'))return;"
             "String id=doc['%s'].value;long[] s=state.s.get(id);"
             "if(s==null){s=new long[]{-1,-1,0};state.s.put(id,s);"
             "state.n.put(id,n.substring(0,n.length()-(stop?5:6)));}"
             "s[stop?1:0]=doc['timestamp'].value.toInstant().toEpochMilli();"
             "if(doc.containsKey('%s')&&doc['%s'].size()>0)s[2]=1;",
             vti_es_field(reading, "name"), vti_es_field(reading, "trace_id"),
             vti_es_field(reading, "name"), vti_es_field(reading, "trace_id"),
             vti_es_field(reading, "info.etype"), vti_es_field(reading, "info.etype"));
    vti_json_key(json, "plain");
    vti_json_object(json);
    vti_json_key(json, "filter");
    vti_json_raw(json, "{\"bool\":{\"must_not\":[{\"exists\":{\"field\":\"duration_ns\"}},"
                       "{\"exists\":{\"field\":\"is_begin\"}}]}}");
    vti_json_key(json, "aggs");
    vti_json_object(json);
    vti_json_key(json, "pairs");
    vti_json_object(json);
    vti_json_key(json, "scripted_metric");
    vti_json_object(json);
    vti_json_add_string(json, "init_script", "state.s=new HashMap();state.n=new HashMap();");
    vti_json_add_string(json, "map_script", map);
    vti_json_add_string(json, "combine_script", "return state;");
    vti_json_add_string(
        json, "reduce_script",
        "Map s=new HashMap();Map n=new HashMap();for(st in states){if(st==null)continue;"
        "for(e in st.s.entrySet()){long[] o=s.get(e.getKey());long[] v=e.getValue();"
        "if(o==null){s.put(e.getKey(),v);n.put(e.getKey(),st.n.get(e.getKey()));}else{"
        "if(v[0]>=0)o[0]=v[0];if(v[1]>=0)o[1]=v[1];if(v[2]>0)o[2]=1;}}}"
        "Map r=new HashMap();for(e in s.entrySet()){long[] v=e.getValue();"
        "String k=n.get(e.getKey());long[] t=r.get(k);"
        "if(t==null){t=new long[]{0,0,0,-1,0,0};r.put(k,t);}"
        "if(v[2]>0)t[4]+=1;if(v[0]<0||v[1]<0){t[5]+=1;continue;}"
        "long d=v[1]>v[0]?v[1]-v[0]:0L;t[0]+=1;t[1]+=d;if(d>t[2])t[2]=d;"
        "if(t[3]<0||d<t[3])t[3]=d;}List l=new ArrayList();for(e in r.entrySet()){"
        "List row=new ArrayList();row.add(e.getKey());for(x in e.getValue())row.add(x);"
        "l.add(row);}return l;");
    vti_json_object_end(json);
    vti_json_object_end(json);
    vti_json_object_end(json);
    vti_json_object_end(json);
}

struct name_row {
    uint64_t count, errors, unfinished;
    double total, max, min, p50, p99; /* seconds */
};

struct names {
    struct vti_map *map;
    struct name_row *rows;
    size_t room;
    uint32_t odd; /* sums that cannot be */
};

static bool is_possible(double count, double total, double max)
{
    return count >= 0 && count <= COUNT_MOST && total >= 0 && total <= SECONDS_MOST && max >= 0 &&
           max <= SECONDS_MOST;
}

static struct name_row *row_of(struct names *names, const char *name, size_t len)
{
    int is_new;
    int64_t at = vti_map_add(names->map, name, len, &is_new);
    size_t room = names->room;

    if (at < 0)
        return NULL;
    if ((size_t)at >= room) {
        size_t more = room ? room * 2 : 64;
        void *rows = reallocarray(names->rows, more, sizeof *names->rows);

        if (!rows)
            return NULL;
        names->rows = rows;
        names->room = more;
    }
    if (is_new)
        names->rows[at] = (struct name_row){.min = NAN, .p50 = NAN, .p99 = NAN};
    return &names->rows[at];
}

static void add_times(struct name_row *row, double count, double total, double max, double min)
{
    row->count += vti_es_whole(count);
    row->total += total;
    row->max = max > row->max ? max : row->max;
    row->min = min < row->min || isnan(row->min) ? min : row->min;
}

static int take_stops(struct names *names, struct vti_bytes sums, struct vti_buf *text)
{
    struct vti_es_items items;
    struct vti_bytes bucket;

    vti_es_items(&items, VTI_ES_PATH(sums, "stops", "names", "buckets"));
    while (vti_es_item(&items, &bucket)) {
        struct vti_bytes values = VTI_ES_PATH(bucket, "percentiles", "values");
        double count = vti_es_number(vti_es_member(bucket, "doc_count"), 0);
        double total = vti_es_number(VTI_ES_PATH(bucket, "total", "value"), 0) / 1e9;
        double max = vti_es_number(VTI_ES_PATH(bucket, "max", "value"), 0) / 1e9;
        struct name_row *row;

        if (!vti_es_text(vti_es_member(bucket, "key"), text) || text->len < 5)
            continue;
        if (!is_possible(count, total, max)) {
            names->odd++;
            continue;
        }
        row = row_of(names, (const char *)text->data, text->len - 5);
        if (!row)
            return VTI_E_NOMEM;
        add_times(row, count, total, max,
                  vti_es_number(VTI_ES_PATH(bucket, "min", "value"), 0) / 1e9);
        row->errors += vti_es_whole(vti_es_count(bucket, "errors"));
        row->p50 = vti_es_number(vti_es_member(values, "50.0"), NAN) / 1e9;
        row->p99 = vti_es_number(vti_es_member(values, "99.0"), NAN) / 1e9;
    }
    vti_es_items(&items, VTI_ES_PATH(sums, "starts", "names", "buckets"));
    while (vti_es_item(&items, &bucket)) {
        double starts = vti_es_number(vti_es_member(bucket, "doc_count"), 0);
        struct name_row *row;

        if (!vti_es_text(vti_es_member(bucket, "key"), text) || text->len < 6)
            continue;
        if (!is_possible(starts, 0, 0)) {
            names->odd++;
            continue;
        }
        row = row_of(names, (const char *)text->data, text->len - 6);
        if (!row)
            return VTI_E_NOMEM;
        row->unfinished += vti_es_whole(starts - (double)row->count);
    }
    return 0;
}

static int take_pairs(struct names *names, struct vti_bytes sums, struct vti_buf *text)
{
    struct vti_es_items rows, cells;
    struct vti_bytes row, cell;

    vti_es_items(&rows, VTI_ES_PATH(sums, "plain", "pairs", "value"));
    while (vti_es_item(&rows, &row)) {
        double numbers[6] = {0};
        struct name_row *to;

        vti_es_items(&cells, row);
        if (!vti_es_item(&cells, &cell) || !vti_es_text(cell, text))
            continue;
        for (unsigned i = 0; i < 6 && vti_es_item(&cells, &cell); i++)
            numbers[i] = vti_es_number(cell, 0);
        if (!is_possible(numbers[0], numbers[1] / 1e3, numbers[2] / 1e3) ||
            !is_possible(numbers[4], 0, 0) || !is_possible(numbers[5], 0, 0)) {
            names->odd++;
            continue;
        }
        to = row_of(names, (const char *)text->data, text->len);
        if (!to)
            return VTI_E_NOMEM;
        if (numbers[0] > 0)
            add_times(to, numbers[0], numbers[1] / 1e3, numbers[2] / 1e3, numbers[3] / 1e3);
        to->errors += vti_es_whole(numbers[4]);
        to->unfinished += vti_es_whole(numbers[5]);
    }
    return 0;
}

static void add_seconds(struct vti_json *json, const char *key, double value)
{
    if (!isnan(value))
        vti_json_add_double(json, key, value);
}

static void write_names(struct vti_buf *to, const struct names *names)
{
    struct vti_json json;

    vti_json_init(&json, to);
    vti_json_object(&json);
    vti_json_key(&json, "names");
    vti_json_array(&json);
    for (uint32_t i = 0; i < vti_map_count(names->map); i++) {
        const struct name_row *row = &names->rows[i];
        size_t len;
        const char *name = vti_map_key(names->map, i, &len);

        vti_json_object(&json);
        vti_json_key(&json, "name");
        vti_json_bytes(&json, name, len);
        vti_json_add_uint(&json, "count", row->count);
        vti_json_add_uint(&json, "errors", row->errors);
        vti_json_add_uint(&json, "unfinished", row->unfinished);
        add_seconds(&json, "total", row->total);
        add_seconds(&json, "max", row->max);
        add_seconds(&json, "avg", row->count ? row->total / (double)row->count : 0);
        add_seconds(&json, "min", row->min);
        add_seconds(&json, "p50", row->p50);
        add_seconds(&json, "p99", row->p99);
        vti_json_object_end(&json);
    }
    vti_json_array_end(&json);
    vti_json_object_end(&json);
}

int vti_es_rank_rows(struct vti_buf *rows, struct vti_bytes answer, uint32_t *count, uint32_t *odd)
{
    struct vti_bytes sums = vti_es_member(answer, "aggregations");
    struct vti_buf text = {0};
    struct names names = {0};
    int code = vti_map_create(&names.map);

    if (!code)
        code = take_stops(&names, sums, &text);
    if (!code)
        code = take_pairs(&names, sums, &text);
    *count = code ? 0 : vti_map_count(names.map);
    *odd = names.odd;
    if (!code)
        write_names(rows, &names);
    vti_map_free(names.map);
    free(names.rows);
    vti_buf_fini(&text);
    return code || rows->failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

int vti_es_rank(struct vti_es_reading *reading)
{
    struct vti_buf rows = {0};
    struct vti_json json;
    struct vti_fetch *fetch = reading->fetch;
    uint32_t count = 0, odd = 0;
    int code;

    vti_buf_clear(&reading->body);
    vti_json_init(&json, &reading->body);
    vti_json_object(&json);
    vti_json_add_uint(&json, "size", 0);
    vti_json_key(&json, "aggs");
    vti_json_object(&json);
    if (reading->has_durations) {
        add_names_agg(&json, reading);
        add_starts_agg(&json, reading);
    }
    add_pairs_agg(&json, reading);
    vti_json_object_end(&json);
    vti_json_object_end(&json);
    code = vti_es_search(reading, "plain");
    if (!code)
        code = vti_es_rank_rows(&rows, vti_es_answer(reading), &count, &odd);
    if (!code && !count)
        code = vti_fail(
            VTI_E_EMPTY,
            odd ? "%s: index %s: its sums cannot be right: counts or times out of all bounds"
                : "%s: index %s holds no spans",
            fetch->settings.shown, fetch->index);
    if (!code)
        code = vti_es_write_rows(fetch, &rows);
    if (!code && odd && !fetch->note[0])
        snprintf(fetch->note, sizeof fetch->note,
                 "names with counts or times that cannot be right, left out: %u", odd);
    vti_buf_fini(&rows);
    return code;
}
