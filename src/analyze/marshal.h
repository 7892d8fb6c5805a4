/*
 * marshal.h - reads what Python's `marshal` wrote: numbers, texts, tuples and dictionaries, of every
 * version from 2.7 on. Lists and sets count as tuples, and code as its name: the profiler that is written
 * in Python puts code where names belong.
 *
 * Input is hostile: memory is bounded by the number of bytes, depth by VTI_MARSHAL_DEPTH, and nothing
 * refers to a value that is not whole.
 */
#ifndef VENTURI_ANALYZE_MARSHAL_H
#define VENTURI_ANALYZE_MARSHAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_MARSHAL_DEPTH 64

enum vti_marshal_type {
    VTI_MARSHAL_NONE, /* and whatever has no meaning in a profile */
    VTI_MARSHAL_INT,  /* one that is too large becomes the largest or smallest */
    VTI_MARSHAL_FLOAT,
    VTI_MARSHAL_TEXT,
    VTI_MARSHAL_TUPLE,
    VTI_MARSHAL_DICT, /* its items are key, value, key, value … */
};

struct vti_marshal_value {
    enum vti_marshal_type type;
    bool is_whole;  /* false: still being read */
    uint32_t count; /* items of a tuple or a dictionary */
    uint32_t first; /* the first of them, in `items` */
    uint32_t memo;  /* for the caller; 0 at first */
    union {
        int64_t number;
        double real;
        struct {
            const char *data; /* in the input, not terminated */
            size_t len;
        } text;
    };
};

struct vti_marshal_item {
    uint32_t value; /* index */
    uint32_t next;  /* index; UINT32_MAX: the last */
};

struct vti_marshal {
    struct vti_marshal_value *values; /* owned, as all of these */
    size_t value_count, value_room;
    struct vti_marshal_item *items;
    size_t item_count, item_room;
    uint32_t *references; /* values that may be referred to, in the order in which they began */
    size_t reference_count, reference_room;
    uint32_t *interned; /* texts that version 2 refers to */
    size_t interned_count, interned_room;
};

/* One value, at *root. `name` is for messages. Bytes after it are not looked at. Free it in every
 * case. 0 or a negative code. */
int vti_marshal_read(struct vti_marshal *marshal, const char *name, const void *bytes, size_t count,
                     uint32_t *root);
void vti_marshal_free(struct vti_marshal *marshal);

#endif
