/* otlp_wire.c - messages of OTLP as protocol buffers or as JSON. */
#include "store/otlp_wire.h"

#include "base/protobuf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void vti_wire_init(struct vti_wire *wire, struct vti_buf *out, bool is_json)
{
    *wire = (struct vti_wire){.out = out, .is_json = is_json};
    if (!is_json)
        return;
    vti_json_init(&wire->json, out);
    vti_json_object(&wire->json);
}

void vti_wire_fini(struct vti_wire *wire)
{
    if (wire->is_json)
        vti_json_object_end(&wire->json);
}

size_t vti_wire_message(struct vti_wire *wire, unsigned field, const char *name)
{
    if (!wire->is_json)
        return vti_proto_begin(wire->out, field);
    vti_json_key(&wire->json, name);
    vti_json_object(&wire->json);
    return 0;
}

void vti_wire_list(struct vti_wire *wire, const char *name)
{
    if (!wire->is_json)
        return;
    vti_json_key(&wire->json, name);
    vti_json_array(&wire->json);
}

size_t vti_wire_item(struct vti_wire *wire, unsigned field)
{
    if (!wire->is_json)
        return vti_proto_begin(wire->out, field);
    vti_json_object(&wire->json);
    return 0;
}

void vti_wire_end(struct vti_wire *wire, size_t begin)
{
    if (wire->is_json)
        vti_json_object_end(&wire->json);
    else
        vti_proto_end(wire->out, begin);
}

void vti_wire_list_end(struct vti_wire *wire)
{
    if (wire->is_json)
        vti_json_array_end(&wire->json);
}

void vti_wire_text(struct vti_wire *wire, unsigned field, const char *name, const char *text,
                   size_t len)
{
    if (!wire->is_json) {
        vti_proto_string(wire->out, field, text, len);
        return;
    }
    vti_json_key(&wire->json, name);
    vti_json_bytes(&wire->json, text, len);
}

void vti_wire_id(struct vti_wire *wire, unsigned field, const char *name, const uint8_t *id,
                 size_t len)
{
    static const char digits[] = "0123456789abcdef";
    char hex[64];

    if (!wire->is_json) {
        vti_proto_bytes(wire->out, field, id, len);
        return;
    }
    for (size_t i = 0; i < len && 2 * i + 1 < sizeof hex; i++) {
        hex[2 * i] = digits[id[i] >> 4];
        hex[2 * i + 1] = digits[id[i] & 15];
    }
    vti_json_key(&wire->json, name);
    vti_json_bytes(&wire->json, hex, 2 * len);
}

static void add_decimal(struct vti_wire *wire, uint64_t value, bool is_signed)
{
    char text[24];
    int len = is_signed ? snprintf(text, sizeof text, "%lld", (long long)value)
                        : snprintf(text, sizeof text, "%llu", (unsigned long long)value);

    vti_json_bytes(&wire->json, text, (size_t)len);
}

void vti_wire_u64(struct vti_wire *wire, unsigned field, const char *name, uint64_t value)
{
    if (!wire->is_json) {
        vti_proto_fixed64(wire->out, field, value);
        return;
    }
    vti_json_key(&wire->json, name);
    add_decimal(wire, value, false);
}

void vti_wire_s64(struct vti_wire *wire, unsigned field, const char *name, int64_t value)
{
    if (!wire->is_json) {
        vti_proto_varint(wire->out, field, (uint64_t)value);
        return;
    }
    vti_json_key(&wire->json, name);
    add_decimal(wire, (uint64_t)value, true);
}

void vti_wire_enum(struct vti_wire *wire, unsigned field, const char *name, unsigned value)
{
    if (wire->is_json)
        vti_json_add_uint(&wire->json, name, value);
    else
        vti_proto_varint(wire->out, field, value);
}

void vti_wire_bool(struct vti_wire *wire, unsigned field, const char *name, bool value)
{
    if (wire->is_json)
        vti_json_add_bool(&wire->json, name, value);
    else
        vti_proto_varint(wire->out, field, value);
}

void vti_wire_double(struct vti_wire *wire, unsigned field, const char *name, double value)
{
    if (!wire->is_json)
        vti_proto_double(wire->out, field, value);
    else if (isfinite(value))
        vti_json_add_double(&wire->json, name, value);
    else /* proto3's words for them */
        vti_json_add_string(&wire->json, name,
                            isnan(value) ? "NaN"
                            : value > 0  ? "Infinity"
                                         : "-Infinity");
}

void vti_wire_u64s(struct vti_wire *wire, unsigned field, const char *name, const uint64_t *values,
                   size_t count)
{
    if (!wire->is_json) {
        size_t begin = vti_proto_begin(wire->out, field);

        for (size_t i = 0; i < count; i++)
            vti_buf_add_u64(wire->out, values[i]);
        vti_proto_end(wire->out, begin);
        return;
    }
    vti_json_key(&wire->json, name);
    vti_json_array(&wire->json);
    for (size_t i = 0; i < count; i++)
        add_decimal(wire, values[i], false);
    vti_json_array_end(&wire->json);
}

void vti_wire_doubles(struct vti_wire *wire, unsigned field, const char *name, const double *values,
                      size_t count)
{
    if (!wire->is_json) {
        size_t begin = vti_proto_begin(wire->out, field);

        for (size_t i = 0; i < count; i++) {
            uint64_t bits;

            memcpy(&bits, &values[i], sizeof bits);
            vti_buf_add_u64(wire->out, bits);
        }
        vti_proto_end(wire->out, begin);
        return;
    }
    vti_json_key(&wire->json, name);
    vti_json_array(&wire->json);
    for (size_t i = 0; i < count; i++)
        vti_json_double(&wire->json, values[i]);
    vti_json_array_end(&wire->json);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static size_t begin_attr(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                         size_t *value)
{
    size_t begin = vti_wire_item(wire, field);

    vti_wire_text(wire, 1, "key", key, key_len);
    *value = vti_wire_message(wire, 2, "value");
    return begin;
}

static void end_attr(struct vti_wire *wire, size_t begin, size_t value)
{
    vti_wire_end(wire, value);
    vti_wire_end(wire, begin);
}

void vti_wire_attr_text(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                        const char *text, size_t len)
{
    size_t value, begin = begin_attr(wire, field, key, key_len, &value);

    vti_wire_text(wire, 1, "stringValue", text, len);
    end_attr(wire, begin, value);
}

void vti_wire_attr_bool(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                        bool is_so)
{
    size_t value, begin = begin_attr(wire, field, key, key_len, &value);

    vti_wire_bool(wire, 2, "boolValue", is_so);
    end_attr(wire, begin, value);
}

void vti_wire_attr_int(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                       int64_t number)
{
    size_t value, begin = begin_attr(wire, field, key, key_len, &value);

    vti_wire_s64(wire, 3, "intValue", number);
    end_attr(wire, begin, value);
}

void vti_wire_attr_double(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                          double number)
{
    size_t value, begin = begin_attr(wire, field, key, key_len, &value);

    vti_wire_double(wire, 4, "doubleValue", number);
    end_attr(wire, begin, value);
}
