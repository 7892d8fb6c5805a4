/* marshal.c - reads what Python's `marshal` wrote. See marshal.h for what it must withstand. */
#include "analyze/marshal_impl.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define REFERABLE 0x80 /* flag on the type: later values may refer to this one */
#define BYTES_MOST (128u << 20)

int vti_marshal_refuse(const struct vti_marshal_reading *reading, const char *what)
{
    return vti_fail(VTI_E_DAMAGED, "%s: no recording, nor a profile of Python: byte %zu: %s",
                    reading->name, (size_t)(reading->in.at - reading->start), what);
}

static int64_t new_value(struct vti_marshal_reading *reading, enum vti_marshal_type type)
{
    struct vti_marshal *marshal = reading->marshal;

    if (vti_grow(&marshal->values, marshal->value_count, &marshal->value_room,
                 sizeof *marshal->values))
        return VTI_E_NOMEM;
    marshal->values[marshal->value_count] = (struct vti_marshal_value){
        .type = type, .is_whole = true, .first = UINT32_MAX};
    return (int64_t)marshal->value_count++;
}

static int64_t new_number(struct vti_marshal_reading *reading, int64_t number)
{
    int64_t at = new_value(reading, VTI_MARSHAL_INT);

    if (at >= 0)
        reading->marshal->values[at].number = number;
    return at;
}

static int64_t new_real(struct vti_marshal_reading *reading, double real)
{
    int64_t at = new_value(reading, VTI_MARSHAL_FLOAT);

    if (at >= 0)
        reading->marshal->values[at].real = real;
    return at;
}

static int64_t read_text(struct vti_marshal_reading *reading, size_t len)
{
    const uint8_t *data = vti_reader_bytes(&reading->in, len);
    int64_t at;

    if (!data)
        return vti_marshal_refuse(reading, "cut off in a text");
    at = new_value(reading, VTI_MARSHAL_TEXT);
    if (at >= 0) {
        reading->marshal->values[at].text.data = (const char *)data;
        reading->marshal->values[at].text.len = len;
    }
    return at;
}

/* Digits of 15 bits, the lowest first; the sign is that of their number. */
static int64_t read_long(struct vti_marshal_reading *reading)
{
    int32_t size = (int32_t)vti_reader_u32(&reading->in);
    uint32_t digits = size < 0 ? 0 - (uint32_t)size : (uint32_t)size;
    uint64_t sum = 0;
    bool is_large = false;

    for (uint32_t i = 0; i < digits && !reading->in.failed; i++) {
        uint64_t digit = vti_reader_u16(&reading->in) & 0x7fff;

        if (i < 4)
            sum |= digit << (15 * i);
        else if (i == 4 && digit < 8)
            sum |= digit << 60;
        else
            is_large |= digit != 0;
    }
    if (is_large)
        sum = INT64_MAX;
    return new_number(reading, size < 0 ? -(int64_t)sum : (int64_t)sum);
}

static int64_t read_double(struct vti_marshal_reading *reading)
{
    uint64_t bits = vti_reader_u64(&reading->in);
    double real;

    memcpy(&real, &bits, sizeof real);
    return new_real(reading, real);
}

/* A double as text, as versions 0 and 1 have it. */
static int64_t read_decimal(struct vti_marshal_reading *reading)
{
    uint8_t len = vti_reader_u8(&reading->in);
    const uint8_t *data = vti_reader_bytes(&reading->in, len);
    char text[256];
    char *end;
    double real;

    if (!data)
        return vti_marshal_refuse(reading, "cut off in a number");
    memcpy(text, data, len);
    text[len] = 0;
    real = strtod(text, &end);
    if (end == text || *end)
        return vti_marshal_refuse(reading, "a number that is none");
    return new_real(reading, real);
}

static int add_item(struct vti_marshal_reading *reading, uint32_t owner, uint32_t *last,
                    uint32_t value)
{
    struct vti_marshal *marshal = reading->marshal;
    uint32_t at = (uint32_t)marshal->item_count;

    if (vti_grow(&marshal->items, marshal->item_count, &marshal->item_room, sizeof *marshal->items))
        return VTI_E_NOMEM;
    marshal->items[marshal->item_count++] = (struct vti_marshal_item){value, UINT32_MAX};
    if (*last == UINT32_MAX)
        marshal->values[owner].first = at;
    else
        marshal->items[*last].next = at;
    *last = at;
    marshal->values[owner].count++;
    return 0;
}

static int read_tuple(struct vti_marshal_reading *reading, uint32_t owner, uint32_t count,
                      unsigned depth)
{
    uint32_t last = UINT32_MAX;

    if (count > vti_reader_left(&reading->in))
        return vti_marshal_refuse(reading, "a tuple that is longer than the file");
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = vti_marshal_value(reading, depth + 1);

        if (value < 0 || add_item(reading, owner, &last, (uint32_t)value))
            return value < 0 ? (int)value : VTI_E_NOMEM;
    }
    return 0;
}

/* Ends with a '0' where a key would stand. */
static int read_dict(struct vti_marshal_reading *reading, uint32_t owner, unsigned depth)
{
    uint32_t last = UINT32_MAX;

    for (;;) {
        bool is_key = reading->marshal->values[owner].count % 2 == 0;
        int64_t value;

        if (is_key && vti_reader_left(&reading->in) && *reading->in.at == '0') {
            vti_reader_u8(&reading->in);
            return 0;
        }
        value = vti_marshal_value(reading, depth + 1);
        if (value < 0 || add_item(reading, owner, &last, (uint32_t)value))
            return value < 0 ? (int)value : VTI_E_NOMEM;
    }
}

static int note(uint32_t **list, size_t *count, size_t *room, uint32_t value)
{
    if (vti_grow(list, *count, room, sizeof **list))
        return VTI_E_NOMEM;
    (*list)[(*count)++] = value;
    return 0;
}

static int64_t refer(struct vti_marshal_reading *reading, const uint32_t *list, size_t count)
{
    uint32_t at = vti_reader_u32(&reading->in);

    if (reading->in.failed || at >= count || list[at] == UINT32_MAX ||
        !reading->marshal->values[list[at]].is_whole)
        return vti_marshal_refuse(reading, "refers to nothing");
    return list[at];
}

/* Tuples and dictionaries: known to references before their items are, but not usable. */
static int64_t read_container(struct vti_marshal_reading *reading, uint8_t type, unsigned depth,
                              size_t reference)
{
    struct vti_marshal *marshal = reading->marshal;
    int64_t at = new_value(reading, type == '{' ? VTI_MARSHAL_DICT : VTI_MARSHAL_TUPLE);
    int code;

    if (at < 0)
        return at;
    if (depth >= VTI_MARSHAL_DEPTH)
        return vti_marshal_refuse(reading, "nested too deeply");
    marshal->values[at].is_whole = false;
    if (reference != SIZE_MAX)
        marshal->references[reference] = (uint32_t)at;
    if (type == '{')
        code = read_dict(reading, (uint32_t)at, depth);
    else
        code = read_tuple(reading, (uint32_t)at,
                          type == ')' ? vti_reader_u8(&reading->in) : vti_reader_u32(&reading->in),
                          depth);
    if (code)
        return code;
    marshal->values[at].is_whole = true;
    return at;
}

static int64_t read_interned(struct vti_marshal_reading *reading)
{
    struct vti_marshal *marshal = reading->marshal;
    int64_t at = read_text(reading, vti_reader_u32(&reading->in));

    if (at >= 0 &&
        note(&marshal->interned, &marshal->interned_count, &marshal->interned_room, (uint32_t)at))
        return VTI_E_NOMEM;
    return at;
}

static int64_t read_simple(struct vti_marshal_reading *reading, uint8_t type)
{
    switch (type) {
    case 'N':
    case '.':
    case 'S':
        return new_value(reading, VTI_MARSHAL_NONE);
    case 'y':
        vti_reader_u64(&reading->in);
        return read_double(reading);
    case 'F':
    case 'T':
        return new_number(reading, type == 'T');
    case 'i':
        return new_number(reading, (int32_t)vti_reader_u32(&reading->in));
    case 'I':
        return new_number(reading, (int64_t)vti_reader_u64(&reading->in));
    case 'l':
        return read_long(reading);
    case 'g':
        return read_double(reading);
    case 'f':
        return read_decimal(reading);
    case 't':
        return read_interned(reading);
    case 's':
    case 'u':
    case 'a':
    case 'A':
        return read_text(reading, vti_reader_u32(&reading->in));
    case 'z':
    case 'Z':
        return read_text(reading, vti_reader_u8(&reading->in));
    default:
        return vti_marshal_refuse(reading, "not what one begins with");
    }
}

int64_t vti_marshal_value(struct vti_marshal_reading *reading, unsigned depth)
{
    struct vti_marshal *marshal = reading->marshal;
    size_t reference = SIZE_MAX;
    uint8_t type = vti_reader_u8(&reading->in);
    int64_t at;

    if (reading->in.failed)
        return vti_marshal_refuse(reading, "cut off");
    if (type & REFERABLE) {
        reference = marshal->reference_count;
        if (note(&marshal->references, &marshal->reference_count, &marshal->reference_room,
                 UINT32_MAX))
            return VTI_E_NOMEM;
        type &= (uint8_t)~REFERABLE;
    }
    if (type == 'r')
        return refer(reading, marshal->references, marshal->reference_count);
    if (type == 'R')
        return refer(reading, marshal->interned, marshal->interned_count);
    if (strchr("()[<>{", type) && type)
        return read_container(reading, type, depth, reference);
    at = type == 'c' ? vti_marshal_code(reading, depth) : read_simple(reading, type);
    if (at >= 0 && reading->in.failed)
        return vti_marshal_refuse(reading, "cut off");
    if (at >= 0 && reference != SIZE_MAX)
        marshal->references[reference] = (uint32_t)at;
    return at;
}

int vti_marshal_read(struct vti_marshal *marshal, const char *name, const void *bytes, size_t count,
                     uint32_t *root)
{
    struct vti_marshal_reading reading = {.marshal = marshal, .start = bytes, .name = name};
    int64_t at;

    memset(marshal, 0, sizeof *marshal);
    if (count > BYTES_MOST)
        return vti_fail(VTI_E_LIMIT, "%s: larger than %u MB", name, BYTES_MOST >> 20);
    vti_reader_init(&reading.in, bytes, count);
    at = vti_marshal_value(&reading, 0);
    *root = at < 0 ? 0 : (uint32_t)at;
    return at < 0 ? (int)at : 0;
}

void vti_marshal_free(struct vti_marshal *marshal)
{
    free(marshal->values);
    free(marshal->items);
    free(marshal->references);
    free(marshal->interned);
    memset(marshal, 0, sizeof *marshal);
}
