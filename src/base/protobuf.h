/*
 * protobuf.h - writes protocol buffer messages into a buffer, field by field.
 *
 * A nested message is begun, filled and ended; its length is put in front of it at the end. Strings
 * may be any bytes: what is not UTF-8 becomes U+FFFD, because readers refuse messages that hold it.
 */
#ifndef VENTURI_BASE_PROTOBUF_H
#define VENTURI_BASE_PROTOBUF_H

#include "base/buf.h"

/* Integers, booleans and enumerations; a negative number is passed as its 64 bits. */
void vti_proto_varint(struct vti_buf *out, unsigned field, uint64_t value);
void vti_proto_fixed64(struct vti_buf *out, unsigned field, uint64_t value);
void vti_proto_double(struct vti_buf *out, unsigned field, double value);
void vti_proto_bytes(struct vti_buf *out, unsigned field, const void *bytes, size_t len);
void vti_proto_string(struct vti_buf *out, unsigned field, const char *text, size_t len);

/* Returns what vti_proto_end() wants. Messages end in the reverse order of their begins. */
size_t vti_proto_begin(struct vti_buf *out, unsigned field);
void vti_proto_end(struct vti_buf *out, size_t begin);

#endif
