/* energy.c - entries of ENERGY and THREAD_CPU blocks, as docs/format.md has them. */
#include "format/energy.h"

#include "format/facts.h"

#include <string.h>

/* In the order of enum vt_energy_part and enum vt_energy_how of venturi/energy.h. */
static const char *const parts[] = {"cpu", "memory", "gpu", "platform"};
static const char *const hows[] = {"unknown", "measured", "modelled", "estimated", "given"};

const char *vti_energy_part_name(uint32_t part)
{
    return part < sizeof parts / sizeof *parts ? parts[part] : "unknown";
}

const char *vti_energy_how_name(uint32_t how)
{
    return how < sizeof hows / sizeof *hows ? hows[how] : "unknown";
}

/* ---- ENERGY ---------------------------------------------------------------------------------- */

static void write_source(struct vti_buf *out, const struct vti_energy_fact *fact)
{
    vti_buf_add_varint(out, fact->number);
    vti_buf_add_varint(out, fact->part);
    vti_buf_add_varint(out, fact->how);
    vti_buf_add_varint(out, fact->inside_plus_one);
    vti_buf_add_varint(out, fact->milliwatts);
    vti_buf_add_varint(out, fact->idle_milliwatts);
    vti_bytes_put(out, fact->name);
    vti_bytes_put(out, fact->from);
    vti_bytes_put(out, fact->note);
}

static void write_reading(struct vti_buf *out, const struct vti_energy_fact *fact)
{
    vti_buf_add_varint(out, fact->ticks);
    vti_buf_add_varint(out, fact->known);
    for (unsigned i = 0; i < VTI_ENERGY_SOURCES_MAX; i++)
        if (fact->known >> i & 1)
            vti_buf_add_varint(out, fact->microjoules[i]);
    vti_buf_add_varint(out, fact->lost);
}

static void write_baseline(struct vti_buf *out, const struct vti_energy_fact *fact)
{
    vti_buf_add_varint(out, fact->microwatts);
    vti_buf_add_varint(out, fact->how);
    vti_buf_add_varint(out, fact->for_ns);
}

static void write_note(struct vti_buf *out, const struct vti_energy_fact *fact)
{
    vti_buf_add_varint(out, fact->about);
    vti_bytes_put(out, fact->text);
}

static void write_machine(struct vti_buf *out, const struct vti_energy_fact *fact)
{
    vti_buf_add_varint(out, fact->host);
    vti_buf_add_varint(out, fact->domain);
    vti_buf_add_varint(out, fact->cpus);
    vti_buf_add_varint(out, fact->memory_bytes);
}

static uint32_t take_id(struct vti_reader *in)
{
    return (uint32_t)vti_reader_count(in, UINT32_MAX - 1);
}

static void read_source(struct vti_reader *in, struct vti_energy_fact *fact)
{
    fact->number = (uint32_t)vti_reader_count(in, VTI_ENERGY_SOURCES_MAX - 1);
    fact->part = take_id(in);
    fact->how = take_id(in);
    fact->inside_plus_one = (uint32_t)vti_reader_count(in, VTI_ENERGY_SOURCES_MAX);
    fact->milliwatts = vti_reader_varint(in);
    fact->idle_milliwatts = vti_reader_varint(in);
    fact->name = vti_bytes_get(in);
    fact->from = vti_bytes_get(in);
    fact->note = vti_bytes_get(in);
}

static void read_reading(struct vti_reader *in, struct vti_energy_fact *fact)
{
    fact->ticks = vti_reader_varint(in);
    fact->known = vti_reader_varint(in);
    for (unsigned i = 0; i < VTI_ENERGY_SOURCES_MAX; i++)
        if (fact->known >> i & 1)
            fact->microjoules[i] = vti_reader_varint(in);
    fact->lost = vti_reader_varint(in) & fact->known;
}

static void read_baseline(struct vti_reader *in, struct vti_energy_fact *fact)
{
    fact->microwatts = vti_reader_varint(in);
    fact->how = take_id(in);
    fact->for_ns = vti_reader_varint(in);
}

static void read_note(struct vti_reader *in, struct vti_energy_fact *fact)
{
    fact->about = take_id(in);
    fact->text = vti_bytes_get(in);
}

static void read_machine(struct vti_reader *in, struct vti_energy_fact *fact)
{
    fact->host = take_id(in);
    fact->domain = take_id(in);
    fact->cpus = take_id(in);
    fact->memory_bytes = vti_reader_varint(in);
}

static const struct {
    void (*write)(struct vti_buf *out, const struct vti_energy_fact *fact);
    void (*read)(struct vti_reader *in, struct vti_energy_fact *fact);
} types[] = {
    [VTI_ENERGY_FACT_SOURCE] = {write_source, read_source},
    [VTI_ENERGY_FACT_READING] = {write_reading, read_reading},
    [VTI_ENERGY_FACT_BASELINE] = {write_baseline, read_baseline},
    [VTI_ENERGY_FACT_NOTE] = {write_note, read_note},
    [VTI_ENERGY_FACT_MACHINE] = {write_machine, read_machine},
};

void vti_energy_fact_write(struct vti_buf *out, const struct vti_energy_fact *fact)
{
    struct vti_buf body = {0};

    vti_buf_add_varint(&body, fact->tree);
    types[fact->type].write(&body, fact);
    vti_buf_add_varint(out, fact->type);
    vti_buf_add_varint(out, body.len);
    vti_buf_add(out, body.data, body.len);
    out->failed |= body.failed;
    vti_buf_fini(&body);
}

bool vti_energy_fact_read(struct vti_reader *in, struct vti_energy_fact *fact)
{
    struct vti_reader body;
    const uint8_t *bytes;
    uint64_t len;

    memset(fact, 0, sizeof *fact);
    fact->type = (uint32_t)vti_reader_count(in, UINT32_MAX);
    len = vti_reader_count(in, vti_reader_left(in));
    bytes = vti_reader_bytes(in, (size_t)len);
    if (in->failed || !bytes)
        return false;
    if (fact->type >= sizeof types / sizeof *types || !types[fact->type].read)
        return true;
    vti_reader_init(&body, bytes, (size_t)len);
    fact->tree = take_id(&body);
    types[fact->type].read(&body, fact);
    return !body.failed;
}

/* ---- THREAD_CPU ------------------------------------------------------------------------------ */

void vti_cpu_fact_write(struct vti_buf *out, const struct vti_cpu_fact *fact)
{
    vti_buf_add_varint(out, fact->ticks);
    vti_buf_add_varint(out, fact->span);
    vti_buf_add_varint(out, fact->cpu_ns);
    vti_buf_add_varint(out, fact->flags);
    vti_buf_add_varint(out, fact->node);
    vti_buf_add_varint(out, fact->line);
}

bool vti_cpu_fact_read(struct vti_reader *in, struct vti_cpu_fact *fact)
{
    fact->ticks = vti_reader_varint(in);
    fact->span = vti_reader_varint(in);
    fact->cpu_ns = vti_reader_varint(in);
    fact->flags = (uint32_t)vti_reader_count(in, UINT32_MAX);
    fact->node = (uint32_t)vti_reader_count(in, UINT32_MAX);
    fact->line = (uint32_t)vti_reader_count(in, UINT32_MAX);
    return !in->failed;
}
