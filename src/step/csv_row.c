/* csv_row.c - rows of comma-separated values as JSON objects, and the other way round (csv_row.h). */
#include "step/csv_row.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_scan.h"

#include <string.h>

/* The next field of a row, without its quotes, into `field`; whether another one follows. */
static bool next_field(const char **at, const char *end, struct vti_buf *field, bool *was_quoted)
{
    const char *p = *at;

    vti_buf_clear(field);
    *was_quoted = p < end && *p == '"';
    if (*was_quoted)
        for (p++; p < end; p++) {
            if (*p == '"' && (p + 1 == end || p[1] != '"'))
                break;
            p += *p == '"';
            vti_buf_add_u8(field, (uint8_t)*p);
        }
    for (; p < end && *p != ','; p++)
        if (*p != '"' || !*was_quoted)
            vti_buf_add_u8(field, (uint8_t)*p);
    *at = p < end ? p + 1 : end;
    return p < end;
}

static void add_name(struct vti_csv_names *names, const void *text, size_t len)
{
    vti_buf_add(&names->text, text, len);
    vti_buf_add_u8(&names->text, 0);
    names->count++;
}

static int check_names(struct vti_csv_names *names)
{
    if (names->text.failed)
        return vti_fail(VTI_E_NOMEM, "no memory for the names of columns");
    if (names->count > VTI_CSV_COLUMNS)
        return vti_fail(VTI_E_LIMIT, "more than %d columns", VTI_CSV_COLUMNS);
    return 0;
}

int vti_csv_names_read(struct vti_csv_names *names, const char *row, size_t len)
{
    struct vti_buf field = {0};
    const char *at = row;
    bool was_quoted;
    bool is_more;

    do {
        is_more = next_field(&at, row + len, &field, &was_quoted);
        add_name(names, field.data, field.len);
    } while (is_more && names->count <= VTI_CSV_COLUMNS);
    vti_buf_fini(&field);
    return check_names(names);
}

int vti_csv_names_of(struct vti_csv_names *names, const char *object, size_t len)
{
    struct vti_json_scan scan = {.at = object, .end = object + len};
    struct vti_buf key = {0};
    bool is_first = true;

    if (vti_json_peek(&scan) != '{' || !vti_json_take(&scan, '{'))
        return vti_fail(VTI_E_USAGE, "a row of a CSV file is made of a JSON object");
    while (vti_json_next_key(&scan, &is_first, &key) && names->count <= VTI_CSV_COLUMNS) {
        add_name(names, key.data, key.len);
        vti_json_skip(&scan);
    }
    vti_buf_fini(&key);
    return scan.failed ? vti_fail(VTI_E_USAGE, "what is to become a row is no JSON")
                       : check_names(names);
}

void vti_csv_names_fini(struct vti_csv_names *names)
{
    vti_buf_fini(&names->text);
}

/* ---- to JSON -------------------------------------------------------------------------------- */

static const char *digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* As JSON has them: 007 and +1 are texts. */
static bool is_number(const struct vti_buf *field)
{
    const char *at = (const char *)field->data;
    const char *end = at + field->len;
    const char *from;

    at += *at == '-';
    from = at;
    at = digits(at, end);
    if (at == from || (*from == '0' && at > from + 1))
        return false;
    if (at < end && *at == '.') {
        from = ++at;
        at = digits(at, end);
        if (at == from)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        from = at;
        at = digits(at, end);
        if (at == from)
            return false;
    }
    return at == end;
}

static void add_field(struct vti_buf *out, struct vti_json *json, const struct vti_buf *field,
                      bool was_quoted)
{
    if (!field->len && !was_quoted) {
        vti_json_null(json);
    } else if (field->len && !was_quoted && is_number(field)) {
        vti_json_raw(json, "");
        vti_buf_add(out, field->data, field->len);
    } else {
        vti_json_bytes(json, field->len ? (const char *)field->data : "", field->len);
    }
}

int vti_csv_to_json(const struct vti_csv_names *names, const char *row, size_t len,
                    struct vti_buf *out)
{
    const char *name = (const char *)names->text.data;
    struct vti_buf field = {0};
    const char *at = row;
    struct vti_json json;
    bool was_quoted;
    bool is_more;
    size_t count = 0;

    vti_json_init(&json, out);
    vti_json_object(&json);
    do {
        is_more = next_field(&at, row + len, &field, &was_quoted);
        if (count++ >= names->count)
            continue;
        vti_json_key(&json, name);
        name += strlen(name) + 1;
        add_field(out, &json, &field, was_quoted);
    } while (is_more);
    vti_json_object_end(&json);
    vti_buf_fini(&field);
    if (out->failed)
        return vti_fail(VTI_E_NOMEM, "no memory for a row");
    return count == names->count ? 0
                                 : vti_fail(VTI_E_DAMAGED, "%zu fields where there are %zu columns",
                                            count, names->count);
}

/* ---- from JSON ------------------------------------------------------------------------------ */

static void add_quoted(struct vti_buf *out, const char *text, size_t len)
{
    bool is_plain = len > 0;

    for (size_t i = 0; i < len && is_plain; i++)
        is_plain = text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (is_plain) {
        vti_buf_add(out, text, len);
        return;
    }
    vti_buf_add_u8(out, '"');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            vti_buf_add_u8(out, '"');
        vti_buf_add_u8(out, (uint8_t)text[i]);
    }
    vti_buf_add_u8(out, '"');
}

void vti_csv_names_write(const struct vti_csv_names *names, struct vti_buf *out)
{
    const char *name = (const char *)names->text.data;

    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1) {
        if (i)
            vti_buf_add_u8(out, ',');
        add_quoted(out, name, strlen(name));
    }
    vti_buf_add_u8(out, '\n');
}

/* The value at the scan's place as a field. */
static void add_value(struct vti_json_scan *scan, struct vti_buf *text, struct vti_buf *out)
{
    char first = vti_json_peek(scan);
    const char *begin = scan->at;

    if (first == '"') {
        if (vti_json_scan_string(scan, text))
            add_quoted(out, (const char *)text->data, text->len);
        return;
    }
    vti_json_skip(scan);
    if (first != 'n' && !scan->failed)
        add_quoted(out, begin, (size_t)(scan->at - begin));
}

/* An object has few members: each column looks through them. */
static void add_column(const char *name, const char *object, size_t len, struct vti_buf *text,
                       struct vti_buf *out, bool *is_bad)
{
    struct vti_json_scan scan = {.at = object, .end = object + len};
    bool is_first = true;

    if (vti_json_peek(&scan) == '{' && vti_json_take(&scan, '{'))
        while (vti_json_next_key(&scan, &is_first, text)) {
            if (text->len == strlen(name) && !memcmp(text->data, name, text->len)) {
                add_value(&scan, text, out);
                break;
            }
            vti_json_skip(&scan);
        }
    else
        *is_bad = true;
    *is_bad = *is_bad || scan.failed;
}

int vti_csv_from_json(const struct vti_csv_names *names, const char *object, size_t len,
                      struct vti_buf *out)
{
    const char *name = (const char *)names->text.data;
    struct vti_buf text = {0};
    size_t before = out->len;
    bool is_bad = false;

    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1) {
        if (i)
            vti_buf_add_u8(out, ',');
        add_column(name, object, len, &text, out, &is_bad);
    }
    vti_buf_add_u8(out, '\n');
    vti_buf_fini(&text);
    if (is_bad)
        out->len = before;
    if (out->failed)
        return vti_fail(VTI_E_NOMEM, "no memory for a row");
    return is_bad ? vti_fail(VTI_E_USAGE, "a row of a CSV file is made of a JSON object") : 0;
}
