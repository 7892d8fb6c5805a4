/*
 * otlp_wire.h - writes messages of OTLP in one of its two forms: protocol buffers, or its JSON, where ids are hex digits, numbers of 64 bits are
 * text and enumerations are numbers. Each field is given with its number and its name; the form takes the one that it wants.
 */
#ifndef VENTURI_STORE_OTLP_WIRE_H
#define VENTURI_STORE_OTLP_WIRE_H

#include "base/buf.h"
#include "base/json.h"

struct vti_wire {
    struct vti_buf *out; /* borrowed */
    bool is_json;
    struct vti_json json;
};

/* The outermost message. */
void vti_wire_init(struct vti_wire *wire, struct vti_buf *out, bool is_json);
void vti_wire_fini(struct vti_wire *wire);

/* A message as a field, or as one of several: between _list and _list_end each is begun by _item. Both return what _end wants. */
size_t vti_wire_message(struct vti_wire *wire, unsigned field, const char *name);
void vti_wire_list(struct vti_wire *wire, const char *name);
size_t vti_wire_item(struct vti_wire *wire, unsigned field);
void vti_wire_end(struct vti_wire *wire, size_t begin);
void vti_wire_list_end(struct vti_wire *wire);

void vti_wire_text(struct vti_wire *wire, unsigned field, const char *name, const char *text,
                   size_t len);
void vti_wire_id(struct vti_wire *wire, unsigned field, const char *name, const uint8_t *id,
                 size_t len);
void vti_wire_u64(struct vti_wire *wire, unsigned field, const char *name,
                  uint64_t value); /* fixed64 */
void vti_wire_s64(struct vti_wire *wire, unsigned field, const char *name,
                  int64_t value); /* int64: a varint */
void vti_wire_enum(struct vti_wire *wire, unsigned field, const char *name, unsigned value);
void vti_wire_bool(struct vti_wire *wire, unsigned field, const char *name, bool value);
void vti_wire_double(struct vti_wire *wire, unsigned field, const char *name, double value);
void vti_wire_u64s(struct vti_wire *wire, unsigned field, const char *name, const uint64_t *values,
                   size_t count);
void vti_wire_doubles(struct vti_wire *wire, unsigned field, const char *name, const double *values,
                      size_t count);

/* A KeyValue, as an item of the list `attributes`. */
void vti_wire_attr_text(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                        const char *text, size_t len);
void vti_wire_attr_int(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                       int64_t value);
void vti_wire_attr_double(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                          double value);
void vti_wire_attr_bool(struct vti_wire *wire, unsigned field, const char *key, size_t key_len,
                        bool value);

#endif
