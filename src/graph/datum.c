/* value.c - values of tasks: making them, and destroying them once. */
#include "graph/run.h"

struct vt_datum vt_datum_int(int64_t number)
{
    return (struct vt_datum){VT_DATUM_INT, {.number = number}, 0, NULL, NULL};
}

struct vt_datum vt_datum_double(double real)
{
    return (struct vt_datum){VT_DATUM_DOUBLE, {.real = real}, 0, NULL, NULL};
}

struct vt_datum vt_datum_bytes(void *data, size_t size, void (*destroy)(void *, void *), void *with)
{
    return (struct vt_datum){VT_DATUM_BYTES, {.data = data}, size, destroy, with};
}

struct vt_datum vt_datum_object(void *object, size_t size, void (*destroy)(void *, void *),
                                void *with)
{
    return (struct vt_datum){VT_DATUM_OBJECT, {.data = object}, size, destroy, with};
}

void vti_value_destroy(struct vt_datum *value)
{
    void (*destroy)(void *, void *) = value->destroy;

    value->type = VT_DATUM_NONE;
    value->destroy = NULL;
    if (destroy != NULL)
        destroy(value->as.data, value->with);
    value->as.data = NULL;
}
