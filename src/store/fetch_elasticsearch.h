/* fetch_elasticsearch.h - between the files that read traces from Elasticsearch and OpenSearch. */
#ifndef VENTURI_STORE_FETCH_ELASTICSEARCH_H
#define VENTURI_STORE_FETCH_ELASTICSEARCH_H

#include "base/json.h"
#include "store/elasticsearch.h"
#include "store/fetch.h"

struct vti_es_reading {
    struct vti_fetch *fetch;
    struct vti_es es; /* its connection, and scratch for errors */
    struct vti_buf body, path;
    bool
        has_keywords; /* texts have a field .keyword, as indices have that nobody made a template for */
    bool has_durations; /* documents that Venturi wrote are there */
    bool has_plain;     /* so are others, which do not say how long a span took */
};

/* One request; the answer is in es.answer, whose status is 200. 0 or a negative code with a message. */
int vti_es_ask(struct vti_es_reading *reading, const char *method, const char *path);

/* For an answer that is JSON of another shape than was asked for, or none. */
int vti_es_fail_shape(const struct vti_es_reading *reading);

/* "base_id.keyword" or "base_id"; the text is static. */
const char *vti_es_field(const struct vti_es_reading *reading, const char *name);

/* Sums that the store makes: rows into fetch->to. */
int vti_es_list(struct vti_es_reading *reading);
int vti_es_rank(struct vti_es_reading *reading);

/* Rows as venturi-fetch writes them, of an answer that may be anything; how many traces there are in all, and names; of how many names the sums
 * cannot be. */
int vti_es_list_rows(struct vti_buf *rows, struct vti_bytes answer, bool has_errors_only,
                     double *all);
int vti_es_rank_rows(struct vti_buf *rows, struct vti_bytes answer, uint32_t *count, uint32_t *odd);

/* Parts of queries, and of answers: an aggregation of one field, one by a filter; how many it met. */
#define VTI_ES_ROWS 10000u /* that are asked for at most */
void vti_es_add_field(struct vti_json *json, const char *agg, const char *kind, const char *field);
void vti_es_add_filter(struct vti_json *json, const char *agg, const char *filter);
double vti_es_count(struct vti_bytes bucket, const char *agg);

/* Asks the index what stands in `body`; the answer has the sum of that name, and what it leaves out is noted. _write_rows writes to the file that was
 * asked for. */
int vti_es_search(struct vti_es_reading *reading, const char *sum);
int vti_es_write_rows(const struct vti_fetch *fetch, struct vti_buf *rows);

/* Writes a query for traces into `body`: so many, in that order. */
void vti_es_query_traces(struct vti_es_reading *reading, const char *sort, uint32_t count,
                         const char *prefix);

/* A member of an object; empty if it is none, or has no such member. */
struct vti_bytes vti_es_member(struct vti_bytes object, const char *name);
struct vti_bytes vti_es_path(struct vti_bytes object, const char *const *names, size_t count);
#define VTI_ES_PATH(object, ...)                                                                   \
    vti_es_path((object), (const char *const[]){__VA_ARGS__},                                      \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* The answer as a whole; the items of an array one by one: false at its end. */
struct vti_bytes vti_es_answer(const struct vti_es_reading *reading);
struct vti_es_items {
    struct vti_json_scan scan;
    bool is_first;
};
void vti_es_items(struct vti_es_items *items, struct vti_bytes array);
bool vti_es_item(struct vti_es_items *items, struct vti_bytes *item);

double vti_es_number(struct vti_bytes value, double otherwise);
uint64_t vti_es_whole(double number); /* 0 and 10^15 are the ends; not a number is 0 */
bool vti_es_text(struct vti_bytes value, struct vti_buf *text); /* false: it is none */

#endif
