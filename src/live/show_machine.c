/* show_machine.c - what is shown of resources, energy, losses, cost and the shipper. */
#include "analyze/energy.h"
#include "analyze/overview.h"
#include "base/error.h"
#include "live/ship.h"
#include "live/state.h"
#include "model/fact_blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS 1000000000
#define WATTS_NS 2000000000 /* power is over two seconds: counters step */

/* ---- resources --------------------------------------------------------------------------------- */

static void add_known(uint64_t *sum, uint64_t value)
{
    if (value != VTI_LIVE_UNKNOWN)
        *sum = *sum == VTI_LIVE_UNKNOWN ? value : *sum + value;
}

static void add_rate(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

static void add_usage(struct vti_live_usage *sum, const struct vti_live_usage *usage)
{
    add_rate(&sum->cpu, usage->cpu);
    add_known(&sum->cpu_ns, usage->cpu_ns);
    add_known(&sum->user_ns, usage->user_ns);
    add_known(&sum->memory_bytes, usage->memory_bytes);
    add_known(&sum->peak_bytes, usage->peak_bytes);
    add_known(&sum->threads, usage->threads);
    add_known(&sum->read_bytes, usage->read_bytes);
    add_known(&sum->written_bytes, usage->written_bytes);
    add_known(&sum->disk_read_bytes, usage->disk_read_bytes);
    add_known(&sum->disk_written_bytes, usage->disk_written_bytes);
    add_rate(&sum->read_per_s, usage->read_per_s);
    add_rate(&sum->written_per_s, usage->written_per_s);
}

/* Whether a later file of the same folder goes on with what this one says: totals of a spool are those of its newest file. */
static bool is_current(const struct vti_live *live, size_t at)
{
    if (live->kind != VTI_LIVE_SPOOL)
        return true;
    for (size_t i = at + 1; i < live->source_count; i++)
        if (vti_source_is_same_run(live->sources[at], live->sources[i]) &&
            live->sources[i]->total.count)
            return false;
    return true;
}

static void add_source(struct vti_live_resources *resources, const struct vti_source *source)
{
    const struct vti_readings *total = &source->total;
    struct vti_live_usage usage;
    double machine = vti_readings_machine(total);

    if (!total->count)
        return;
    resources->is_known = true;
    vti_readings_usage(total, total, source->is_growing, &usage);
    add_usage(&resources->usage, &usage);
    if (source->is_growing && total->known >> VTI_RESOURCE_PROCESSES & 1)
        add_known(&resources->processes, total->values[VTI_RESOURCE_PROCESSES]);
    if (source->is_growing && !isnan(machine) && !(resources->machine_busy > machine))
        resources->machine_busy = machine;
    if (total->known >> VTI_RESOURCE_AVAILABLE_BYTES & 1)
        resources->available_bytes = total->values[VTI_RESOURCE_AVAILABLE_BYTES];
}

static void show_resources(struct vti_live *live)
{
    struct vti_live_resources *resources = &live->resources;

    *resources = (struct vti_live_resources){
        .processes = VTI_LIVE_UNKNOWN, .machine_busy = NAN, .available_bytes = VTI_LIVE_UNKNOWN};
    vti_usage_unknown(&resources->usage);
    for (size_t i = 0; i < live->source_count; i++)
        if (is_current(live, i))
            add_source(resources, live->sources[i]);
    if (live->outside)
        add_source(resources, live->outside);
    live->cpu_count = live->has_family ? live->machine.cpu_count : 0;
    for (size_t i = live->source_count; i-- > 0 && !live->cpu_count;)
        if (live->sources[i]->recording && live->sources[i]->recording->facts.host_ids.count)
            live->cpu_count = live->sources[i]->recording->facts.hosts[0].cpu_count;
}

void vti_live_resources(const struct vti_live *live, struct vti_live_resources *resources)
{
    *resources = live->resources;
}

/* ---- energy ------------------------------------------------------------------------------------ */

/* The reading that power begins at. */
static unsigned watts_from(const struct vti_energy_now *meter)
{
    unsigned found = meter->at;

    for (unsigned back = 1; back < meter->count; back++) {
        found = (meter->at + VTI_LIVE_READINGS - back) % VTI_LIVE_READINGS;
        if (meter->ring[meter->at].time_ns - meter->ring[found].time_ns >= WATTS_NS)
            break;
    }
    return found;
}

static struct vti_live_energy_part *part_of(struct vti_live_energy *energy, uint32_t part)
{
    const char *name = vti_energy_part_name(part);

    for (size_t i = 0; i < energy->part_count; i++)
        if (!strcmp(energy->parts[i].name, name))
            return &energy->parts[i];
    if (energy->part_count == VTI_LIVE_PARTS)
        return NULL;
    energy->parts[energy->part_count] = (struct vti_live_energy_part){
        .is_known = true, .name = name, .how = "unknown", .watts = NAN};
    return &energy->parts[energy->part_count++];
}

static void add_meter(struct vti_live_energy *energy, const struct vti_source *source,
                      const struct vti_energy_now *meter)
{
    unsigned from = watts_from(meter);
    double s = (double)(meter->ring[meter->at].time_ns - meter->ring[from].time_ns) / 1e9;
    bool is_now = source->is_growing && s > 0;

    if (!meter->count)
        return;
    energy->is_known = true;
    energy->joules += meter->ring[meter->at].joules;
    add_rate(&energy->own_joules, meter->ring[meter->at].own_joules);
    if (is_now) {
        add_rate(&energy->watts, (meter->ring[meter->at].joules - meter->ring[from].joules) / s);
        add_rate(&energy->own_watts,
                 (meter->ring[meter->at].own_joules - meter->ring[from].own_joules) / s);
    }
    for (uint32_t part = 0; part < VTI_LIVE_PARTS; part++) {
        struct vti_live_energy_part *shown = NULL;
        double joules = meter->ring[meter->at].parts[part];

        for (unsigned i = 0; i < VTI_ENERGY_SOURCES_MAX; i++)
            if (vti_meter_is_of_part(meter, i) && meter->sources[i].part == part &&
                (shown = part_of(energy, part)))
                shown->how = vti_energy_how_name(meter->sources[i].how);
        if (!shown)
            continue;
        shown->joules += joules;
        if (is_now)
            add_rate(&shown->watts, (joules - meter->ring[from].parts[part]) / s);
    }
}

/* What was stated when it was recorded. */
static void add_footing(struct vti_live_energy *energy, struct vti_source *source)
{
    if (!source->has_footing && source->recording) {
        vti_energy_load_footing(&source->footing, source->recording);
        source->has_footing = true;
    }
    if (!(source->footing.intensity > 0))
        return;
    energy->intensity = source->footing.intensity;
    energy->grams = vti_footing_grams(&source->footing, energy->own_joules);
}

static bool has_energy(const struct vti_source *source)
{
    for (size_t i = 0; i < source->meter_count; i++)
        if (source->meters[i].count)
            return true;
    return false;
}

/* As is_current(), by readings of energy, which may come later than the others. */
static bool is_last_meter(const struct vti_live *live, size_t at)
{
    for (size_t i = at + 1; live->kind == VTI_LIVE_SPOOL && i < live->source_count; i++)
        if (vti_source_is_same_run(live->sources[at], live->sources[i]) &&
            has_energy(live->sources[i]))
            return false;
    return true;
}

static void show_energy(struct vti_live *live)
{
    struct vti_live_energy *energy = &live->energy;

    *energy = (struct vti_live_energy){
        .watts = NAN, .own_joules = NAN, .own_watts = NAN, .grams = NAN, .intensity = NAN};
    for (size_t i = 0; i < live->source_count; i++) {
        struct vti_source *source = live->sources[i];

        if (!has_energy(source) || !is_last_meter(live, i))
            continue;
        for (size_t n = 0; n < source->meter_count; n++)
            add_meter(energy, source, &source->meters[n]);
        add_footing(energy, source);
    }
}

void vti_live_energy(const struct vti_live *live, struct vti_live_energy *energy)
{
    *energy = live->energy;
}

/* ---- losses ------------------------------------------------------------------------------------ */

static int add_loss(struct vti_live *live, const char *reason, uint64_t events, bool is_lower_bound,
                    bool is_wanted)
{
    struct vti_live_loss *losses = live->losses.items;
    struct vti_live_loss *loss = NULL;

    for (size_t i = 0; i < live->losses.count && !loss; i++)
        if (!strcmp(losses[i].reason, reason))
            loss = &losses[i];
    if (!loss)
        loss = vti_live_list_add(&live->losses, sizeof *loss);
    if (!loss)
        return VTI_E_NOMEM;
    loss->reason = reason;
    loss->events += events;
    loss->is_lower_bound |= is_lower_bound;
    loss->is_wanted = is_wanted;
    return 0;
}

/* Losses of files whose recordings were closed are kept as one number. */
static int show_losses(struct vti_live *live)
{
    int code = 0;

    if (live->losses_ns && live->now_ns - live->losses_ns < SECOND_NS && live->is_caught_up)
        return 0;
    live->losses_ns = live->now_ns;
    live->losses.count = 0;
    for (size_t i = 0; i < live->source_count && !code; i++) {
        struct vti_source *source = live->sources[i];
        struct vti_losses losses = {0};

        if (!source->recording) {
            if (source->lost_events)
                code = add_loss(live, "earlier files", source->lost_events, true, false);
            continue;
        }
        code = vti_losses_query(source->recording, &losses);
        for (size_t n = 0; n < losses.count && !code; n++)
            code = add_loss(live, losses.items[n].reason,
                            losses.items[n].is_process ? losses.items[n].gaps
                                                       : losses.items[n].events,
                            losses.items[n].is_lower_bound, losses.items[n].is_wanted);
        vti_losses_free(&losses);
    }
    return code;
}

/* ---- cost -------------------------------------------------------------------------------------- */

static uint64_t memory_of_self(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file && fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : VTI_LIVE_UNKNOWN;
}

/* CPU time of those who write; 0: nobody is known. */
static uint64_t drainer_cpu_ns(const struct vti_live *live)
{
    struct vti_proc_source proc;
    uint64_t sum = 0;
    uint64_t ns;

    vti_proc_source_init(&proc);
    for (size_t i = 0; i < live->source_count; i++)
        if (live->sources[i]->is_growing && live->sources[i]->writer && proc.cpu_ns &&
            proc.cpu_ns(live->sources[i]->writer, &ns))
            sum += ns;
    return sum;
}

static void show_cost(struct vti_live *live)
{
    uint64_t drainer_ns = drainer_cpu_ns(live);

    live->cost = (struct vti_live_cost){
        .program_ns = live->program_ns,
        .program_share = live->program_wall_ns > 0 ? live->program_ns / live->program_wall_ns : NAN,
        .drainer_cpu = NAN,
        .own_cpu = vti_rate_of(&live->own_cpu_rate, &live->beat, live->own_cpu_ns) / 1e9,
        .own_cpu_ns = live->own_cpu_ns,
        .own_memory_bytes = memory_of_self(),
        .refresh_ns = live->refresh_ns};
    if (live->beat.now_ns == live->beat.times_ns[live->beat.at]) {
        if (!live->had_drainer)
            vti_rate_settle(&live->drainer_rate, drainer_ns);
        vti_rate_keep(&live->drainer_rate, &live->beat, drainer_ns);
    }
    live->had_drainer = drainer_ns > 0;
    if (drainer_ns)
        live->cost.drainer_cpu = vti_rate_of(&live->drainer_rate, &live->beat, drainer_ns) / 1e9;
}

void vti_live_cost(const struct vti_live *live, struct vti_live_cost *cost)
{
    *cost = live->cost;
    vti_live_functions_cost(live, cost);
}

void vti_live_ship(const struct vti_live *live, struct vti_live_ship *ship)
{
    *ship = live->ship;
}

int vti_live_show_machine(struct vti_live *live)
{
    int code;

    show_resources(live);
    show_energy(live);
    show_cost(live);
    code = show_losses(live);
    if (!code && (live->kind == VTI_LIVE_SPOOL || live->kind == VTI_LIVE_FOLDER))
        vti_live_read_ship(live);
    return code;
}
