/*
 * documents_extras.c - extra metrics of a step as members of its document.
 *
 * A store refuses a document that has a name twice, in whatever depth: of two the first counts, and ours over both. Values without an
 * object in them, nearly all, are copied as they are.
 */
#include "store/documents_extras.h"

#include "base/hash.h"
#include "base/json_scan.h"

#include <string.h>

#define FEW 16

/* Names of one object; few, nearly always. */
struct met {
    struct {
        uint64_t hash;
        size_t len;
    } few[FEW];
    size_t count;
    uint32_t object; /* its number in the document */
};

void vti_extras_fini(struct vti_extras *extras)
{
    vti_map_free(extras->seen);
    vti_buf_fini(&extras->key);
    vti_buf_fini(&extras->scoped);
    memset(extras, 0, sizeof *extras);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A dot makes a field below another one: "host.name" is {"host":{"name":…}}. What is below a field with a value cannot be. */
static bool is_at_or_below(const struct vti_buf *key, const char *name)
{
    size_t len = strlen(name);

    return key->len >= len && !memcmp(key->data, name, len) &&
           (key->len == len || key->data[len] == '.');
}

static bool is_one_of(const struct vti_buf *key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_at_or_below(key, names[i]))
            return true;
    return false;
}

static bool is_ours(const struct vti_buf *key, bool is_metrics)
{
    static const char *const always[] = {"@timestamp",  "source",       "survey",   "host.name",
                                         "process.pid", "process.name", "extra_cut"};
    static const char *const measured[] = {
        "execution_time", "timestamp_received", "timestamp_sent",    "n_messages",  "failed",
        "queue_time",     "pre_execute_time",   "post_execute_time", "produce_time"};

    if ((key->len == 4 && !memcmp(key->data, "host", 4)) ||
        (key->len == 7 && !memcmp(key->data, "process", 7)))
        return true;
    return is_one_of(key, always, sizeof always / sizeof *always) ||
           (!is_metrics && is_one_of(key, measured, sizeof measured / sizeof *measured));
}

/* Whether the name was there before in its object. Without memory it was not: then the store says so. */
static bool was_met(struct vti_extras *extras, struct met *met)
{
    const struct vti_buf *key = &extras->key;
    uint64_t hash = vti_hash(key->data, key->len);
    int is_new = 0;

    for (size_t i = 0; i < met->count; i++)
        if (met->few[i].hash == hash && met->few[i].len == key->len)
            return true;
    if (met->count < FEW) {
        met->few[met->count].hash = hash;
        met->few[met->count++].len = key->len;
        return false;
    }
    if (!extras->seen && vti_map_create(&extras->seen))
        return false;
    vti_buf_clear(&extras->scoped);
    vti_buf_add(&extras->scoped, &met->object, sizeof met->object);
    vti_buf_add(&extras->scoped, key->data, key->len);
    return !extras->scoped.failed &&
           vti_map_add(extras->seen, extras->scoped.data, extras->scoped.len, &is_new) >= 0 &&
           !is_new;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void copy_value(struct vti_extras *extras, struct vti_json_scan *scan, struct vti_buf *text);

/* The name that was read, as it stands there, and its value. False: the name was there before. */
static bool copy_member(struct vti_extras *extras, struct vti_json_scan *scan, struct vti_buf *text,
                        struct met *met, bool is_first)
{
    const char *begin;

    vti_json_peek(scan);
    begin = scan->at;
    if (!vti_json_scan_string(scan, &extras->key) || !vti_json_take(scan, ':')) {
        scan->failed = true;
        return false;
    }
    if (was_met(extras, met)) {
        vti_json_skip(scan);
        return false;
    }
    if (!is_first)
        vti_buf_add_u8(text, ',');
    vti_buf_add(text, begin, (size_t)(scan->at - begin));
    copy_value(extras, scan, text);
    return true;
}

static void copy_object(struct vti_extras *extras, struct vti_json_scan *scan, struct vti_buf *text)
{
    struct met met = {.object = ++extras->objects};
    bool is_first = true;

    vti_buf_add_u8(text, '{');
    while (!scan->failed && vti_json_peek(scan) == '"') {
        is_first &= !copy_member(extras, scan, text, &met, is_first);
        if (!vti_json_take(scan, ','))
            break;
    }
    scan->failed |= !vti_json_take(scan, '}');
    vti_buf_add_u8(text, '}');
}

static void copy_array(struct vti_extras *extras, struct vti_json_scan *scan, struct vti_buf *text)
{
    bool is_first = true, is_second = false;

    vti_buf_add_u8(text, '[');
    while (vti_json_next_item(scan, &is_first)) {
        if (is_second)
            vti_buf_add_u8(text, ',');
        is_second = true;
        copy_value(extras, scan, text);
    }
    vti_buf_add_u8(text, ']');
}

/* Nested less than 256 deep: it was checked before. */
static void copy_value(struct vti_extras *extras, struct vti_json_scan *scan, struct vti_buf *text)
{
    char kind = vti_json_peek(scan);
    const char *begin = scan->at;

    if (kind == '{' || kind == '[')
        scan->at++;
    if (kind == '{') {
        copy_object(extras, scan, text);
    } else if (kind == '[') {
        copy_array(extras, scan, text);
    } else {
        vti_json_skip(scan);
        vti_buf_add(text, begin, (size_t)(scan->at - begin));
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void add_member(struct vti_extras *extras, struct vti_buf *text, const char *begin,
                       const char *value, const char *end)
{
    struct vti_json_scan scan = {.at = value, .end = end};

    vti_buf_add_u8(text, ',');
    if (!memchr(value, '{', (size_t)(end - value))) {
        vti_buf_add(text, begin, (size_t)(end - begin));
        return;
    }
    vti_buf_add(text, begin, (size_t)(value - begin));
    copy_value(extras, &scan, text);
}

void vti_extras_add(struct vti_extras *extras, struct vti_buf *text, const char *members,
                    size_t len, bool is_metrics)
{
    struct vti_json_scan scan = {.at = members, .end = members + len};
    struct met met = {.count = 0};

    extras->objects = 0;
    vti_map_free(extras->seen);
    extras->seen = NULL;
    while (!scan.failed && vti_json_peek(&scan)) {
        const char *begin = scan.at, *value;

        if (!vti_json_scan_string(&scan, &extras->key) || !vti_json_take(&scan, ':'))
            break;
        value = scan.at;
        vti_json_skip(&scan);
        if (scan.failed)
            break;
        if (!is_ours(&extras->key, is_metrics) && !was_met(extras, &met))
            add_member(extras, text, begin, value, scan.at);
        if (!vti_json_take(&scan, ','))
            break;
    }
}
