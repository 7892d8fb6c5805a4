/*
 * marshal_code.c - steps over a code object, whose parts depend on the version of Python that wrote it; the
 * version is not in the file.
 *
 * What tells them apart: how many numbers come before the bytes of the code (2.7: 4, 3.6 and from 3.11 on: 5,
 * 3.8 to 3.10: 6), and then whether the fifth object is bytes (from 3.11 on) or a tuple.
 */
#include "analyze/marshal_impl.h"

#include "base/error.h"

#define NUMBERS_MOST 6
#define OBJECTS 8
#define BYTES 's'
#define REFERENCE 'r'
#define WITHOUT_FLAG 0x7f

/* How many numbers come before the bytes, or before a reference to bytes; 0: this is no code object that we
 * know. A number whose lowest byte is one of these two makes no sense as one of them. */
static unsigned count_numbers(const struct vti_marshal_reading *reading)
{
    const struct vti_marshal *marshal = reading->marshal;

    for (unsigned i = 4; i <= NUMBERS_MOST; i++) {
        struct vti_reader ahead = reading->in;
        uint8_t type;
        uint32_t number;

        vti_reader_bytes(&ahead, 4 * (size_t)i);
        type = vti_reader_u8(&ahead) & WITHOUT_FLAG;
        number = vti_reader_u32(&ahead);
        if (!ahead.failed && ((type == BYTES && number <= vti_reader_left(&ahead)) ||
                              (type == REFERENCE && number < marshal->reference_count)))
            return i;
    }
    return 0;
}

int64_t vti_marshal_code(struct vti_marshal_reading *reading, unsigned depth)
{
    unsigned numbers = count_numbers(reading);
    bool is_new = false;
    int64_t name = 0;

    if (depth >= VTI_MARSHAL_DEPTH)
        return vti_marshal_refuse(reading, "nested too deeply");
    if (!numbers)
        return vti_marshal_refuse(reading, "code of a Python that is not known");
    vti_reader_bytes(&reading->in, 4 * (size_t)numbers);
    for (int i = 0; i < OBJECTS; i++) {
        int64_t at = vti_marshal_value(reading, depth + 1);

        if (at < 0)
            return at;
        if (i == 4)
            is_new = reading->marshal->values[at].type == VTI_MARSHAL_TEXT;
        if (i == (is_new ? 6 : 7))
            name = at; /* the last is the qualified name in new ones */
    }
    vti_reader_u32(&reading->in);
    for (int i = 0; i < 1 + is_new; i++) {
        int64_t at = vti_marshal_value(reading, depth + 1);

        if (at < 0)
            return at;
    }
    return name;
}
