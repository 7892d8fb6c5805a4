/* json_value.c - values of JSON as values of attributes. Recursion is bounded by a stack of its own. */
#include "import/json_value.h"

#include "base/error.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 65536
#define DEPTH_MOST 8

bool vti_json_scan_value(struct vti_json_scan *scan, struct vti_buf *text, struct vti_value *value)
{
    char first = vti_json_peek(scan);
    const char *start = scan->at;
    size_t len;
    char *end;

    if (first == '"') {
        if (!vti_json_scan_string(scan, text))
            return false;
    } else {
        vti_json_skip(scan);
        len = (size_t)(scan->at - start);
        vti_buf_clear(text);
        vti_buf_add(text, start, len);
        vti_buf_add_u8(text, 0);
        if (text->failed || scan->failed || first == 'n')
            return false;
        text->len--;
    }
    *value = (struct vti_value){
        .type = VTI_VALUE_TEXT,
        .text = {(const char *)text->data, text->len < TEXT_MOST ? text->len : TEXT_MOST}};
    if (first != '-' && (first < '0' || first > '9'))
        return true;
    if (!strpbrk((const char *)text->data, ".eE") && text->len < 19) {
        value->type = VTI_VALUE_INT;
        value->i = strtoll((const char *)text->data, &end, 10);
    } else {
        value->type = VTI_VALUE_DOUBLE;
        value->d = strtod((const char *)text->data, &end);
    }
    return true;
}

struct level {
    size_t prefix; /* bytes of the key that it stands in front of */
    bool is_first;
};

struct flattening {
    struct vti_json_scan *scan;
    struct level levels[DEPTH_MOST];
    unsigned depth;
    struct vti_buf key, name, text;
};

/* One object deeper: what the key is now stands in front of what is inside. */
static void enter(struct flattening *flat)
{
    vti_json_take(flat->scan, '{');
    if (flat->key.len)
        vti_buf_add_u8(&flat->key, '.');
    flat->levels[flat->depth++] = (struct level){flat->key.len, true};
}

/* The next key with all in front of it; false at the end of an object. */
static bool next_key(struct flattening *flat)
{
    struct level *level = &flat->levels[flat->depth - 1];

    flat->key.len = level->prefix;
    if (!vti_json_next_key(flat->scan, &level->is_first, &flat->name))
        return false;
    vti_buf_add(&flat->key, flat->name.data, flat->name.len);
    return true;
}

int vti_json_flatten(struct vti_json_scan *scan, const char *prefix,
                     int (*each)(const char *key, size_t len, const struct vti_value *value,
                                 void *arg),
                     void *arg)
{
    struct flattening flat = {.scan = scan};
    struct vti_value value;
    int code = 0;

    if (vti_json_peek(scan) != '{')
        return 0;
    vti_buf_add_text(&flat.key, prefix);
    enter(&flat);
    while (flat.depth && !code && !flat.key.failed) {
        if (!next_key(&flat))
            flat.depth--;
        else if (vti_json_peek(scan) == '{' && flat.depth < DEPTH_MOST)
            enter(&flat);
        else if (vti_json_scan_value(scan, &flat.text, &value))
            code = each((const char *)flat.key.data, flat.key.len, &value, arg);
    }
    if (!code && (flat.key.failed || flat.text.failed))
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    vti_buf_fini(&flat.key);
    vti_buf_fini(&flat.name);
    vti_buf_fini(&flat.text);
    return code;
}
