/* value.c - values of tasks: making them, and destroying them once. */
#include "graph/run.h"

struct vt_value vt_value_int(int64_t number)
{
    struct vt_value value = {.type = VT_VALUE_INT, .as.number = number};

    return value;
}

struct vt_value vt_value_double(double real)
{
    struct vt_value value = {.type = VT_VALUE_DOUBLE, .as.real = real};

    return value;
}

struct vt_value vt_value_bytes(void *data, size_t size, void (*destroy)(void *, void *), void *with)
{
    struct vt_value value = {VT_VALUE_BYTES, {.data = data}, size, destroy, with};

    return value;
}

struct vt_value vt_value_object(void *object, size_t size, void (*destroy)(void *, void *),
                                void *with)
{
    struct vt_value value = {VT_VALUE_OBJECT, {.data = object}, size, destroy, with};

    return value;
}

void vti_value_destroy(struct vt_value *value)
{
    void (*destroy)(void *, void *) = value->destroy;

    value->type = VT_VALUE_NONE;
    value->destroy = NULL;
    if (destroy != NULL)
        destroy(value->as.data, value->with);
    value->as.data = NULL;
}
