/*
 * source_machine.c - what a recording says of processes and of energy, as it comes.
 *
 * While a recording grows, the program's part of the joules is worked out reading by reading (charge.h). One that is over is asked as
 * `venturi energy` asks it: sources that were defined again, and readings of resources that stand behind those of energy, are right then.
 */
#include "analyze/energy.h"
#include "base/error.h"
#include "live/state.h"
#include "venturi/energy.h"

#include <math.h>
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
        if (source->has_total && fact->tree != source->total_tree)
            return;
        vti_readings_add(&source->total, time_ns, fact->known, fact->values);
        if (!source->read_from_unix_ns)
            source->read_from_unix_ns = unix_ns;
        if (unix_ns > source->read_to_unix_ns)
            source->read_to_unix_ns = unix_ns;
        if (!source->points)
            source->points = calloc(1, sizeof *source->points);
        if (source->points)
            vti_charge_points_add(source->points, time_ns, fact->known, fact->values);
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
            if (before->meters[n].tree == meter->tree && before->meters[n].count &&
                strcmp(before->path, source->path) < 0) {
                memcpy(meter->sources, before->meters[n].sources, sizeof meter->sources);
                meter->charge = before->meters[n].charge;
                meter->own_joules = before->meters[n].own_joules;
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

bool vti_meter_is_of_part(const struct vti_energy_now *meter, unsigned number)
{
    uint32_t inside = meter->sources[number].inside_plus_one;
    uint32_t part = meter->sources[number].part;

    return meter->sources[number].is_defined && part < VT_ENERGY_PART_COUNT &&
           (!inside || inside > VTI_ENERGY_SOURCES_MAX || meter->sources[inside - 1].part != part);
}

/* What is inside of another source is in that one's joules already. */
static bool is_added_up(const struct vti_energy_now *meter, unsigned number)
{
    return vti_meter_is_of_part(meter, number) && !meter->sources[number].inside_plus_one;
}

static void add_up(const struct vti_energy_now *meter, double *joules, double parts[VTI_LIVE_PARTS])
{
    *joules = 0;
    memset(parts, 0, VTI_LIVE_PARTS * sizeof *parts);
    for (unsigned i = 0; i < VTI_ENERGY_SOURCES_MAX; i++) {
        if (is_added_up(meter, i))
            *joules += meter->sources[i].joules;
        if (vti_meter_is_of_part(meter, i))
            parts[meter->sources[i].part] += meter->sources[i].joules;
    }
}

/* What a source used since it was known before; nothing if that is not known. */
static double step(struct vti_energy_now *meter, const struct vti_energy_fact *fact, unsigned i)
{
    uint64_t before = meter->sources[i].microjoules;
    uint64_t after = fact->microjoules[i];
    bool has_last = meter->sources[i].has_last;
    double joules;

    if (!(fact->known >> i & 1))
        return 0;
    meter->sources[i].has_last = true;
    meter->sources[i].microjoules = after;
    if (!has_last || after < before || fact->lost >> i & 1)
        return 0;
    joules = (double)(after - before) / 1e6;
    meter->sources[i].joules += joules;
    return joules;
}

static void show_own(struct vti_energy_now *meter, double joules)
{
    if (joules > meter->own_joules)
        meter->own_joules = joules;
    meter->ring[meter->at].own_joules = isnan(joules) ? joules : meter->own_joules;
}

static void take_reading(struct vti_source *source, struct vti_energy_now *meter,
                         const struct vti_energy_fact *fact, uint64_t ticks)
{
    int64_t time_ns = vti_source_ns(source, meter->domain, ticks);
    bool has_tree = source->has_total && meter->tree == source->total_tree;
    double processor_j = 0;
    double memory_j = 0;

    for (unsigned i = 0; i < VTI_ENERGY_SOURCES_MAX; i++) {
        double joules = step(meter, fact, i);

        if (!is_added_up(meter, i))
            continue;
        if (meter->sources[i].part == VT_ENERGY_MEMORY)
            memory_j += joules;
        else if (meter->sources[i].part != VT_ENERGY_GPU)
            processor_j += joules;
    }
    vti_charge_take(&meter->charge, vti_charge_point_at(has_tree ? source->points : NULL, time_ns),
                    vti_source_unix(source, time_ns), processor_j, memory_j, meter->memory_bytes);
    meter->at = meter->count ? (meter->at + 1) % VTI_LIVE_READINGS : 0;
    meter->count += meter->count < VTI_LIVE_READINGS;
    meter->ring[meter->at].time_ns = time_ns;
    add_up(meter, &meter->ring[meter->at].joules, meter->ring[meter->at].parts);
    show_own(meter, vti_charge_settled(&meter->charge));
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
            meter->memory_bytes = fact.memory_bytes;
        } else if (fact.type == VTI_ENERGY_FACT_SOURCE && fact.number < VTI_ENERGY_SOURCES_MAX) {
            meter->sources[fact.number].is_defined = true;
            meter->sources[fact.number].part = fact.part;
            meter->sources[fact.number].how = fact.how;
            meter->sources[fact.number].inside_plus_one = fact.inside_plus_one;
        } else if (fact.type == VTI_ENERGY_FACT_READING) {
            take_reading(source, meter, &fact, ticks);
        }
    }
    return 0;
}

/* Whether another file goes on with its counters. */
static bool is_of_several(const struct vti_source *source)
{
    for (size_t i = 0; i < source->live->source_count; i++)
        if (vti_source_is_same_run(source, source->live->sources[i]))
            return true;
    return false;
}

static void set_whole(struct vti_energy_now *meter, const struct vti_energy_tree *tree)
{
    if (!meter->count)
        return;
    meter->ring[meter->at].own_joules = tree->all.full_j;
    if (!isnan(tree->all.gross_j))
        meter->ring[meter->at].joules = tree->all.gross_j;
    for (unsigned i = 0; i < VT_ENERGY_PART_COUNT; i++)
        if (!isnan(tree->parts[i].gross_j))
            meter->ring[meter->at].parts[i] = tree->parts[i].gross_j;
}

int vti_source_settle_energy(struct vti_source *source)
{
    struct vti_energy energy;
    int code = 0;

    free(source->points);
    source->points = NULL;
    if (is_of_several(source)) {
        for (size_t n = 0; n < source->meter_count; n++)
            show_own(&source->meters[n], vti_charge_joules(&source->meters[n].charge));
        return 0;
    }
    if (!source->meter_count)
        return 0;
    code = vti_energy_load_sums(&energy, source->recording);
    for (size_t i = 0; i < energy.tree_count && !code; i++)
        for (size_t n = 0; n < source->meter_count; n++)
            if (source->meters[n].tree == energy.trees[i].log->number)
                set_whole(&source->meters[n], &energy.trees[i]);
    vti_energy_fini(&energy);
    return code;
}
