/*
 * pstats_read.c - a profile from the file that cProfile, profile and pstats write: rows of
 * (file, line, name) with their numbers, and for each the pairs with its callers.
 *
 * Numbers that cannot be (calls and lines below zero, times that are no numbers) become the nearest that can and
 * are counted: one of them is no reason to lose the rest. Rows keep their order, because sorting by pstats is stable. A caller without a row of its own gets
 * one that is marked.
 */
#include "analyze/marshal.h"
#include "analyze/profile_impl.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 65536
#define CALLS_MOST (INT64_MAX - 1) /* what is more than fits is read as INT64_MAX */

struct loading {
    struct vti_profile *profile;
    struct vti_marshal marshal;
    const char *name;
    uint32_t *callers; /* of each row: index of its dictionary */
    size_t caller_room;
    struct vti_buf file, function;
};

static int refuse(const struct loading *loading, const char *what)
{
    return vti_fail(VTI_E_DAMAGED, "%s: not a profile of Python: %s", loading->name, what);
}

static struct vti_marshal_value *item_value(struct loading *loading, uint32_t item)
{
    return &loading->marshal.values[loading->marshal.items[item].value];
}

/* The items of a tuple of just so many. */
static bool take_tuple(struct loading *loading, const struct vti_marshal_value *tuple,
                       uint32_t count, struct vti_marshal_value **items)
{
    uint32_t item = tuple->first;

    if (tuple->type != VTI_MARSHAL_TUPLE || tuple->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++, item = loading->marshal.items[item].next)
        items[i] = item_value(loading, item);
    return true;
}

/* A number from 0 to `most`; one outside becomes the nearer of these, and is counted. */
static bool take_number(struct loading *loading, const struct vti_marshal_value *value,
                        int64_t most, uint64_t *number)
{
    int64_t given = value->number;

    if (value->type != VTI_MARSHAL_INT)
        return false;
    loading->profile->out_of_range += given < 0 || given > most;
    *number = given < 0 ? 0 : (uint64_t)(given < most ? given : most);
    return true;
}

static bool take_count(struct loading *loading, const struct vti_marshal_value *value,
                       uint64_t *count)
{
    return take_number(loading, value, CALLS_MOST, count);
}

static bool take_seconds(struct loading *loading, const struct vti_marshal_value *value,
                         double *seconds)
{
    *seconds = vti_profile_seconds(
        loading->profile, value->type == VTI_MARSHAL_INT ? (double)value->number : value->real);
    return value->type == VTI_MARSHAL_INT || value->type == VTI_MARSHAL_FLOAT;
}

static const char *terminated(struct vti_buf *buf, const struct vti_marshal_value *text)
{
    vti_buf_clear(buf);
    vti_buf_add(buf, text->text.data, text->text.len);
    vti_buf_add_u8(buf, 0);
    return buf->failed ? NULL : (const char *)buf->data;
}

/* The row of a key, added if there is none. */
static int64_t find_row(struct loading *loading, struct vti_marshal_value *key)
{
    struct vti_marshal_value *parts[3];
    uint64_t line;
    const char *file;
    const char *name;
    int64_t row;

    if (key->memo)
        return key->memo - 1;
    if (!take_tuple(loading, key, 3, parts) || parts[0]->type != VTI_MARSHAL_TEXT ||
        !take_number(loading, parts[1], INT32_MAX, &line) || parts[2]->type != VTI_MARSHAL_TEXT)
        return refuse(loading, "a key is not (file, line, name)");
    if (parts[0]->text.len > TEXT_MOST || parts[2]->text.len > TEXT_MOST)
        return refuse(loading, "a name is too long");
    file = terminated(&loading->file, parts[0]);
    name = terminated(&loading->function, parts[2]);
    if (!file || !name)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    row = vti_profile_plain_row(loading->profile, file, (uint32_t)line, name);
    if (row >= 0)
        key->memo = (uint32_t)row + 1;
    return row;
}

static int take_row(struct loading *loading, struct vti_marshal_value *key,
                    const struct vti_marshal_value *value)
{
    struct vti_profile *profile = loading->profile;
    size_t known = profile->row_count;
    struct vti_marshal_value *parts[5];
    struct vti_profile_numbers numbers = {0};
    int64_t row;

    if (!take_tuple(loading, value, 5, parts) ||
        !take_count(loading, parts[0], &numbers.primitive) ||
        !take_count(loading, parts[1], &numbers.calls) ||
        !take_seconds(loading, parts[2], &numbers.self_s) ||
        !take_seconds(loading, parts[3], &numbers.total_s) || parts[4]->type != VTI_MARSHAL_DICT)
        return refuse(loading, "a row is not (calls, calls, seconds, seconds, callers)");
    row = find_row(loading, key);
    if (row < 0)
        return (int)row;
    if (profile->row_count > known &&
        vti_grow(&loading->callers, known, &loading->caller_room, sizeof *loading->callers))
        return VTI_E_NOMEM;
    profile->rows[row].numbers = numbers;
    loading->callers[row] = (uint32_t)(parts[4] - loading->marshal.values);
    return 0;
}

static int take_caller(struct loading *loading, uint32_t callee, struct vti_marshal_value *key,
                       const struct vti_marshal_value *value)
{
    struct vti_profile *profile = loading->profile;
    size_t known = profile->row_count;
    struct vti_profile_numbers *numbers;
    struct vti_marshal_value *parts[4];
    int64_t caller = find_row(loading, key);
    int64_t arc = caller < 0 ? caller : vti_profile_arc(profile, (uint32_t)caller, callee);

    if (arc < 0)
        return (int)arc;
    if (profile->row_count > known)
        profile->rows[caller].is_caller_only = true;
    profile->arcs[arc].is_count_only = value->type != VTI_MARSHAL_TUPLE;
    numbers = &profile->arcs[arc].numbers;
    if (value->type == VTI_MARSHAL_TUPLE) {
        if (!take_tuple(loading, value, 4, parts) ||
            !take_count(loading, parts[0], &numbers->calls) ||
            !take_count(loading, parts[1], &numbers->primitive) ||
            !take_seconds(loading, parts[2], &numbers->self_s) ||
            !take_seconds(loading, parts[3], &numbers->total_s))
            return refuse(loading, "a caller is not (calls, calls, seconds, seconds)");
    } else if (!take_count(loading, value, &numbers->calls)) {
        return refuse(loading, "a caller has no numbers");
    } else {
        numbers->primitive = numbers->calls;
    }
    return 0;
}

static int take_rows(struct loading *loading, uint32_t root)
{
    const struct vti_marshal *marshal = &loading->marshal;
    size_t count;
    int code = 0;

    if (marshal->values[root].type != VTI_MARSHAL_DICT)
        return refuse(loading, "not a dictionary");
    if (!marshal->values[root].count)
        return refuse(loading, "it is empty");
    for (uint32_t at = marshal->values[root].first; !code && at != UINT32_MAX;) {
        uint32_t value = marshal->items[at].next;

        code = take_row(loading, item_value(loading, at), item_value(loading, value));
        at = marshal->items[value].next;
    }
    count = loading->profile->row_count;
    for (size_t i = 0; !code && i < count; i++) {
        uint32_t at = marshal->values[loading->callers[i]].first;

        while (!code && at != UINT32_MAX) {
            uint32_t value = marshal->items[at].next;

            code = take_caller(loading, (uint32_t)i, item_value(loading, at),
                               item_value(loading, value));
            at = marshal->items[value].next;
        }
    }
    return code;
}

int vti_profile_read_pstats(struct vti_profile *profile, const char *name, const void *bytes,
                            size_t count)
{
    struct loading loading = {.profile = profile, .name = name};
    uint32_t root;
    int code = vti_profile_begin(profile);

    profile->is_imported = true;
    if (!code)
        code = vti_marshal_read(&loading.marshal, name, bytes, count, &root);
    if (!code)
        code = take_rows(&loading, root);
    if (!code)
        code = vti_profile_order(profile);
    vti_marshal_free(&loading.marshal);
    free(loading.callers);
    vti_buf_fini(&loading.file);
    vti_buf_fini(&loading.function);
    if (code)
        vti_profile_fini(profile);
    return code;
}
