/*
 * source_machine.c - what a recording says of processes and of energy, as it comes.
 *
 * The program's part of the joules is by CPU time, block by block: that of the machine between two blocks of readings, times the part
 * of its CPU time that was the program's. `venturi energy` does it more finely, with memory by what is resident.
 */
#include "base/error.h"
#include "live/state.h"
#include "venturi/energy.h"

#include <stdlib.h>
#include <string.h>

#define WATCHED_MOST 65536

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* ---- processes --------------------------------------------------------------------------------- */

/* NULL without memory, or if there are too many. */
static struct vti_watched_process *watched_at(struct vti_source *source, uint32_t tree,
                                              uint32_t number)
{
    const uint32_t key[2] = {tree, number};
    int is_new = 0;
    int64_t at;

    if (!source->watched_map && vti_map_create(&source->watched_map))
        return NULL;
    if (source->watched_count >= WATCHED_MOST &&
        vti_map_find(source->watched_map, key, sizeof key) < 0)
        return NULL;
    if (vti_grow(&source->watched, source->watched_count, &source->watched_room,
                 sizeof *source->watched))
        return NULL;
    at = vti_map_add(source->watched_map, key, sizeof key, &is_new);
    if (at < 0)
        return NULL;
    if (is_new) {
        source->watched[at] = (struct vti_watched_process){
            .tree = tree, .number = number, .name = "", .command = ""};
        source->watched_count++;
    }
    return &source->watched[at];
}

/* Arguments are separated by zero bytes, which names.c makes blanks of; the last one ends with one. */
static const char *command_of(struct vti_source *source, struct vti_bytes command)
{
    while (command.len && !command.data[command.len - 1])
        command.len--;
    return vti_names_add(&source->live->names, command.data, command.len);
}

static void define(struct vti_source *source, const struct vti_resource_fact *fact)
{
    struct vti_watched_process *process;

    if (!source->has_total) {
        source->has_total = true;
        source->total_tree = fact->tree;
    }
    if (fact->tree == source->total_tree)
        source->total_domain = fact->domain;
    process = fact->number ? watched_at(source, fact->tree, fact->number) : NULL;
    if (!process)
        return;
    process->pid = fact->pid;
    process->parent = fact->parent;
    process->process_plus_one = fact->process_plus_one;
    process->name = vti_names_add(&source->live->names, fact->name.data, fact->name.len);
    process->command = command_of(source, fact->command);
    process->start = fact->start;
    process->end = fact->end;
}

static void read_values(struct vti_source *source, const struct vti_resource_fact *fact,
                        uint64_t ticks)
{
    int64_t time_ns = vti_source_ns(source, source->total_domain, ticks);
    int64_t unix_ns = vti_source_unix(source, time_ns);
    struct vti_watched_process *process;

    if (unix_ns > source->live->last_unix_ns && unix_ns < source->live->now_unix_ns)
        source->live->last_unix_ns = unix_ns;
    if (!fact->number) {
        if (!source->has_total || fact->tree == source->total_tree)
            vti_readings_add(&source->total, time_ns, fact->known, fact->values);
        return;
    }
    process = watched_at(source, fact->tree, fact->number);
    if (process)
        vti_readings_add(&process->readings, time_ns, fact->known, fact->values);
}

int vti_source_take_resources(struct vti_source *source, const struct vti_block_header *header,
                              struct vti_reader *in)
{
    struct vti_resource_fact fact;
    uint64_t ticks = 0;

    for (uint32_t i = 0; i < header->count && vti_resource_read(in, &fact); i++) {
        if (fact.type == VTI_RESOURCE_PROCESS) {
            define(source, &fact);
        } else if (fact.type == VTI_RESOURCE_READING) {
            ticks = add_capped(ticks, fact.ticks);
            read_values(source, &fact, ticks);
        }
    }
    return 0;
}

/* ---- energy ------------------------------------------------------------------------------------ */

/* Files of a spool go on with the counters of the one before, and so does the program's part of them. */
static void go_on(const struct vti_source *source, struct vti_energy_now *meter)
{
    const struct vti_live *live = source->live;

    for (size_t i = live->source_count; i-- > 0;) {
        const struct vti_source *before = live->sources[i];

        for (size_t n = 0; vti_source_is_same_run(source, before) && n < before->meter_count; n++)
            if (before->meters[n].tree == meter->tree && before->meters[n].has_cpu &&
                strcmp(before->path, source->path) < 0) {
                meter->has_cpu = true;
                meter->own_joules = before->meters[n].own_joules;
                meter->taken_joules = before->meters[n].taken_joules;
                meter->cpu_ns = before->meters[n].cpu_ns;
                meter->machine_ns = before->meters[n].machine_ns;
                return;
            }
    }
}

static struct vti_energy_now *meter_at(struct vti_source *source, uint32_t tree)
{
    for (size_t i = 0; i < source->meter_count; i++)
        if (source->meters[i].tree == tree)
            return &source->meters[i];
    if (source->meter_count >= 64 ||
        vti_grow(&source->meters, source->meter_count, &source->meter_room, sizeof *source->meters))
        return NULL;
    source->meters[source->meter_count] = (struct vti_energy_now){.tree = tree};
    go_on(source, &source->meters[source->meter_count]);
    return &source->meters[source->meter_count++];
}

/* What is inside of another source is not added, but belongs to its part all the same. */
void vti_meter_add_up(const struct vti_energy_now *meter, double *joules,
                      double parts[VTI_LIVE_PARTS])
{
    *joules = 0;
    memset(parts, 0, VTI_LIVE_PARTS * sizeof *parts);
    for (unsigned i = 0; i < VTI_ENERGY_SOURCES_MAX; i++) {
        double used = (double)meter->sources[i].microjoules / 1e6;

        if (!meter->sources[i].is_defined || meter->sources[i].inside_plus_one)
            continue;
        *joules += used;
        if (meter->sources[i].part < VTI_LIVE_PARTS)
            parts[meter->sources[i].part] += used;
    }
}

static void take_reading(struct vti_source *source, struct vti_energy_now *meter,
                         const struct vti_energy_fact *fact, uint64_t ticks)
{
    meter->at = meter->count ? (meter->at + 1) % VTI_LIVE_READINGS : 0;
    meter->count += meter->count < VTI_LIVE_READINGS;
    for (unsigned i = 0; i < VTI_ENERGY_SOURCES_MAX; i++)
        if (fact->known >> i & 1)
            meter->sources[i].microjoules = fact->microjoules[i];
    meter->ring[meter->at].time_ns = vti_source_ns(source, meter->domain, ticks);
    vti_meter_add_up(meter, &meter->ring[meter->at].joules, meter->ring[meter->at].parts);
    meter->ring[meter->at].own_joules = meter->own_joules;
}

/* The program's part of what the machine used since the block before. */
static void share_out(struct vti_source *source, struct vti_energy_now *meter)
{
    const uint32_t needed = 1u << VTI_RESOURCE_CPU_NS | 1u << VTI_RESOURCE_MACHINE_NS;
    const struct vti_readings *total = &source->total;
    double joules, parts[VTI_LIVE_PARTS];
    uint64_t cpu_ns = total->values[VTI_RESOURCE_CPU_NS];
    uint64_t machine_ns = total->values[VTI_RESOURCE_MACHINE_NS];

    if ((total->known & needed) != needed || meter->tree != source->total_tree || !meter->count)
        return;
    vti_meter_add_up(meter, &joules, parts);
    if (meter->has_cpu && cpu_ns > meter->cpu_ns && joules > meter->taken_joules) {
        double own = (double)(cpu_ns - meter->cpu_ns);
        double all = machine_ns > meter->machine_ns ? (double)(machine_ns - meter->machine_ns) : 0;

        /* The machine's time comes in steps of 10 ms: it is never less than the program's. */
        meter->own_joules += (joules - meter->taken_joules) * (all > own ? own / all : 1);
    }
    meter->has_cpu = true;
    meter->cpu_ns = cpu_ns;
    meter->machine_ns = machine_ns;
    meter->taken_joules = joules;
    meter->ring[meter->at].own_joules = meter->own_joules;
}

int vti_source_take_energy(struct vti_source *source, const struct vti_block_header *header,
                           struct vti_reader *in)
{
    struct vti_energy_now *meter = NULL;
    struct vti_energy_fact fact;
    uint64_t ticks = 0;

    for (uint32_t i = 0; i < header->count && vti_energy_fact_read(in, &fact); i++) {
        ticks = add_capped(ticks, fact.ticks);
        meter = meter_at(source, fact.tree);
        if (!meter)
            return 0;
        if (fact.type == VTI_ENERGY_FACT_MACHINE) {
            meter->domain = fact.domain;
        } else if (fact.type == VTI_ENERGY_FACT_SOURCE && fact.number < VTI_ENERGY_SOURCES_MAX) {
            meter->sources[fact.number].is_defined = true;
            meter->sources[fact.number].part = fact.part;
            meter->sources[fact.number].how = fact.how;
            meter->sources[fact.number].inside_plus_one = fact.inside_plus_one;
        } else if (fact.type == VTI_ENERGY_FACT_READING) {
            take_reading(source, meter, &fact, ticks);
        }
    }
    if (meter)
        share_out(source, meter);
    return 0;
}
