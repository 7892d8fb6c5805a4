/* fetch_json.c - looking into an answer of Elasticsearch where it lies. */
#include "store/fetch_elasticsearch.h"

#include <stdlib.h>
#include <string.h>

struct vti_bytes vti_es_answer(const struct vti_es_reading *reading)
{
    const struct vti_buf *body = &reading->es.answer.body;

    return (struct vti_bytes){body->len ? (const char *)body->data : "", body->len};
}

struct vti_bytes vti_es_member(struct vti_bytes object, const char *name)
{
    struct vti_json_scan scan = {.at = object.data, .end = object.data + object.len};
    struct vti_bytes found = {"", 0};
    struct vti_buf key = {0};
    bool is_first = true;

    if (object.len && vti_json_take(&scan, '{'))
        while (!found.len && vti_json_next_key(&scan, &is_first, &key)) {
            const char *begin;

            vti_json_peek(&scan);
            begin = scan.at;
            vti_json_skip(&scan);
            if (!scan.failed && !strcmp((const char *)key.data, name))
                found = (struct vti_bytes){begin, (size_t)(scan.at - begin)};
        }
    vti_buf_fini(&key);
    return found;
}

struct vti_bytes vti_es_path(struct vti_bytes object, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        object = vti_es_member(object, names[i]);
    return object;
}

void vti_es_items(struct vti_es_items *items, struct vti_bytes array)
{
    *items = (struct vti_es_items){.scan = {.at = array.data, .end = array.data + array.len},
                                   .is_first = true};
    if (!array.len || !vti_json_take(&items->scan, '['))
        items->scan.failed = true;
}

bool vti_es_item(struct vti_es_items *items, struct vti_bytes *item)
{
    if (items->scan.failed || !vti_json_next_item(&items->scan, &items->is_first))
        return false;
    item->data = items->scan.at;
    vti_json_skip(&items->scan);
    item->len = (size_t)(items->scan.at - item->data);
    return !items->scan.failed;
}

double vti_es_number(struct vti_bytes value, double otherwise)
{
    char text[64];

    if (!value.len || value.len >= sizeof text ||
        (*value.data != '-' && (*value.data < '0' || *value.data > '9')))
        return otherwise;
    memcpy(text, value.data, value.len);
    text[value.len] = 0;
    return strtod(text, NULL);
}

uint64_t vti_es_whole(double number)
{
    return number >= 1 ? number < 1e15 ? (uint64_t)number : (uint64_t)1e15 : 0;
}

bool vti_es_text(struct vti_bytes value, struct vti_buf *text)
{
    struct vti_json_scan scan = {.at = value.data, .end = value.data + value.len};

    return value.len && *value.data == '"' && vti_json_scan_string(&scan, text);
}
