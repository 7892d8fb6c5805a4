/*
 * pickle.h - reads the few things that Python's `pickle` needs to write a line profile: numbers, texts,
 * tuples, lists, dictionaries, and objects of classes that are named here and never made.
 *
 * This is no unpickler: nothing is imported, called or looked up, and what could ask for it is refused.
 * Input is hostile: memory is bounded by the number of bytes, and values may contain each other, so
 * that whoever walks them must know how deep he goes.
 */
#ifndef VENTURI_ANALYZE_PICKLE_H
#define VENTURI_ANALYZE_PICKLE_H

#include <stddef.h>
#include <stdint.h>

enum vti_pickle_type {
    VTI_PICKLE_NONE,
    VTI_PICKLE_INT, /* one that is too large becomes the largest or smallest */
    VTI_PICKLE_FLOAT,
    VTI_PICKLE_TEXT,
    VTI_PICKLE_TUPLE,
    VTI_PICKLE_LIST,
    VTI_PICKLE_DICT,   /* its items are key, value, key, value … */
    VTI_PICKLE_CLASS,  /* `text` is "module name" */
    VTI_PICKLE_OBJECT, /* its first item is its class, its second its state */
};

struct vti_pickle_value {
    enum vti_pickle_type type;
    uint32_t count;       /* items */
    uint32_t first, last; /* of them, in `items`; UINT32_MAX: none */
    union {
        int64_t number;
        double real;
        struct {
            const char *data; /* in the input, not terminated; of a class: module, … */
            size_t len;
            const char *name; /* … and this */
            size_t name_len;
        } text;
    };
};

struct vti_pickle_item {
    uint32_t value; /* index */
    uint32_t next;  /* index; UINT32_MAX: the last */
};

struct vti_pickle {
    struct vti_pickle_value *values; /* owned, as all of these */
    size_t value_count, value_room;
    struct vti_pickle_item *items;
    size_t item_count, item_room;
    uint32_t *stack;
    size_t stack_count, stack_room;
    uint32_t *marks; /* heights of the stack */
    size_t mark_count, mark_room;
    uint32_t *memo; /* UINT32_MAX: nothing */
    size_t memo_count, memo_room;
};

/* Protocols 2 to 5. *root is the index of what was pickled. 0 or a negative code, with a message that
 * begins with `name`; free it in both cases. Texts lie in `bytes`. */
int vti_pickle_read(struct vti_pickle *pickle, const char *name, const void *bytes, size_t count,
                    uint32_t *root);
void vti_pickle_free(struct vti_pickle *pickle);

#endif
