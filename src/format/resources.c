/* resources.c - entries of RESOURCES blocks, as docs/format.md has them. */
#include "format/resources.h"

#include "format/entry.h"
#include "format/facts.h"

#include <string.h>

static const struct {
    const char *name, *unit;
} values[VTI_RESOURCE_COUNT] = {
    [VTI_RESOURCE_CPU_NS] = {"cpu", "ns"},
    [VTI_RESOURCE_USER_NS] = {"user", "ns"},
    [VTI_RESOURCE_MEMORY_BYTES] = {"memory", "bytes"},
    [VTI_RESOURCE_PEAK_BYTES] = {"peak_memory", "bytes"},
    [VTI_RESOURCE_THREADS] = {"threads", ""},
    [VTI_RESOURCE_READ_BYTES] = {"read", "bytes"},
    [VTI_RESOURCE_WRITTEN_BYTES] = {"written", "bytes"},
    [VTI_RESOURCE_DISK_READ_BYTES] = {"disk_read", "bytes"},
    [VTI_RESOURCE_DISK_WRITTEN_BYTES] = {"disk_written", "bytes"},
    [VTI_RESOURCE_PROCESSES] = {"processes", ""},
    [VTI_RESOURCE_MACHINE_NS] = {"machine_busy", "ns"},
    [VTI_RESOURCE_AVAILABLE_BYTES] = {"machine_available", "bytes"},
};

const char *vti_resource_name(enum vti_resource value)
{
    return values[value].name;
}

const char *vti_resource_unit(enum vti_resource value)
{
    return values[value].unit;
}

static void write_process(struct vti_buf *out, const struct vti_resource_fact *fact)
{
    vti_buf_add_varint(out, fact->host);
    vti_buf_add_varint(out, fact->domain);
    vti_buf_add_varint(out, fact->process_plus_one);
    vti_buf_add_varint(out, fact->parent);
    vti_buf_add_varint(out, fact->pid);
    vti_buf_add_varint(out, fact->start);
    vti_buf_add_varint(out, fact->end);
    vti_bytes_put(out, fact->name);
    vti_bytes_put(out, fact->command);
}

static void write_reading(struct vti_buf *out, const struct vti_resource_fact *fact)
{
    vti_buf_add_varint(out, fact->ticks);
    vti_buf_add_varint(out, fact->known);
    for (unsigned i = 0; i < VTI_RESOURCE_COUNT; i++)
        if (fact->known & 1u << i)
            vti_buf_add_varint(out, fact->values[i]);
}

void vti_resource_write(struct vti_buf *out, const struct vti_resource_fact *fact)
{
    struct vti_buf body = {0};

    vti_buf_add_varint(&body, fact->tree);
    vti_buf_add_varint(&body, fact->number);
    if (fact->type == VTI_RESOURCE_PROCESS)
        write_process(&body, fact);
    else
        write_reading(&body, fact);
    vti_entry_write(out, fact->type, &body);
    vti_buf_fini(&body);
}

static void read_process(struct vti_reader *in, struct vti_resource_fact *fact)
{
    fact->host = vti_entry_id(in);
    fact->domain = vti_entry_id(in);
    fact->process_plus_one = (uint32_t)vti_reader_count(in, UINT32_MAX);
    fact->parent = vti_entry_id(in);
    fact->pid = (uint32_t)vti_reader_count(in, UINT32_MAX);
    fact->start = vti_reader_varint(in);
    fact->end = vti_reader_varint(in);
    fact->name = vti_bytes_get(in);
    fact->command = vti_bytes_get(in);
}

/* Values that a later version has added come behind ours. */
static void read_reading(struct vti_reader *in, struct vti_resource_fact *fact)
{
    uint64_t known;

    fact->ticks = vti_reader_varint(in);
    known = vti_reader_varint(in);
    for (unsigned i = 0; i < VTI_RESOURCE_COUNT; i++)
        if (known & 1u << i)
            fact->values[i] = vti_reader_varint(in);
    fact->known = (uint32_t)known & ((1u << VTI_RESOURCE_COUNT) - 1);
}

bool vti_resource_read(struct vti_reader *in, struct vti_resource_fact *fact)
{
    struct vti_reader body;

    memset(fact, 0, sizeof *fact);
    if (!vti_entry_read(in, &fact->type, &body))
        return false;
    if (fact->type != VTI_RESOURCE_PROCESS && fact->type != VTI_RESOURCE_READING)
        return true;
    fact->tree = vti_entry_id(&body);
    fact->number = vti_entry_id(&body);
    if (fact->type == VTI_RESOURCE_PROCESS)
        read_process(&body, fact);
    else
        read_reading(&body, fact);
    return !body.failed;
}
