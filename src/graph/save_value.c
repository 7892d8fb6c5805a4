/* save_value.c - flat values as bytes: one byte of what it is, then the number or the bytes. Any bytes may come back. */
#include "base/error.h"
#include "graph/graph.h"
#include "graph/save.h"

#include <stdlib.h>
#include <string.h>
#include <venturi/blocks.h>

static void destroy_copy(void *data, void *with)
{
    (void)with;
    free(data);
}

static int make_bytes(struct vt_datum *value, const void *bytes, size_t size)
{
    void *copy = malloc(size ? size : 1);

    if (copy == NULL)
        return VTI_E_NOMEM;
    if (size)
        memcpy(copy, bytes, size);
    *value = vt_datum_bytes(copy, size, destroy_copy, NULL);
    return 0;
}

int vti_value_put(struct vti_buf *buf, const struct vt_datum *value)
{
    uint64_t bits;

    if (value->type == VT_DATUM_OBJECT)
        return VTI_E_USAGE;
    vti_buf_add_u8(buf, (uint8_t)value->type);
    switch (value->type) {
    case VT_DATUM_INT:
        vti_buf_add_signed(buf, value->as.number);
        break;
    case VT_DATUM_DOUBLE:
        memcpy(&bits, &value->as.real, sizeof bits);
        vti_buf_add_u64(buf, bits);
        break;
    case VT_DATUM_BYTES:
        vti_buf_add_varint(buf, value->size);
        vti_buf_add(buf, value->as.data, value->size);
        break;
    default:
        break;
    }
    return 0;
}

int vti_value_get(struct vti_reader *reader, struct vt_datum *value)
{
    uint8_t type = vti_reader_u8(reader);
    const char *bytes;
    uint64_t bits;
    size_t size = 0;

    memset(value, 0, sizeof *value);
    switch (reader->failed ? VT_DATUM_OBJECT : type) {
    case VT_DATUM_NONE:
        return 0;
    case VT_DATUM_INT:
        *value = vt_datum_int(vti_reader_signed(reader));
        break;
    case VT_DATUM_DOUBLE:
        *value = vt_datum_double(0);
        bits = vti_reader_u64(reader);
        memcpy(&value->as.real, &bits, sizeof bits);
        break;
    case VT_DATUM_BYTES:
        bytes = vti_reader_string(reader, &size);
        return reader->failed ? VTI_E_DAMAGED : make_bytes(value, bytes, size);
    default:
        return VTI_E_DAMAGED;
    }
    return reader->failed ? VTI_E_DAMAGED : 0;
}

int vti_value_copy(const struct vt_datum *value, struct vt_datum *copy)
{
    if (value->type == VT_DATUM_OBJECT)
        return VTI_E_USAGE;
    if (value->type == VT_DATUM_BYTES)
        return make_bytes(copy, value->as.data, value->size);
    *copy = *value;
    copy->destroy = NULL;
    return 0;
}

int vt_datum_save(const struct vt_datum *value, void **bytes, size_t *size)
{
    struct vti_buf buf = {0};
    int result = vti_value_put(&buf, value);

    if (result == 0 && buf.failed)
        result = VTI_E_NOMEM;
    if (result != 0) {
        vti_buf_fini(&buf);
        return result;
    }
    *bytes = buf.data;
    *size = buf.len;
    return 0;
}

int vt_datum_load(struct vt_datum *value, const void *bytes, size_t size)
{
    struct vti_reader reader;
    int result;

    vti_reader_init(&reader, bytes, size);
    result = vti_value_get(&reader, value);
    if (result == 0 && vti_reader_left(&reader)) {
        if (value->destroy != NULL)
            value->destroy(value->as.data, value->with);
        result = VTI_E_DAMAGED;
    }
    if (result != 0)
        memset(value, 0, sizeof *value);
    return result;
}

int vt_graph_fill(vt_graph *graph, const char *key, struct vt_datum value)
{
    uint32_t node = vt_graph_find(graph, key);
    struct vt_datum *old;

    if (node == VT_NO_TASK || graph->nodes[node].type != VTI_NODE_LITERAL)
        return vti_graph_fail(graph, VTI_E_NOT_FOUND, "there is no literal '%.200s'", key);
    old = &graph->values[graph->nodes[node].first_arg];
    if (old->destroy != NULL)
        old->destroy(old->as.data, old->with);
    *old = value;
    return 0;
}
