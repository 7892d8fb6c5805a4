/*
 * copy_energy.c - readings of the meter and CPU time of threads of a recording, with new trees and tracks.
 *
 * A slice has those of its time: it begins with what the meter said last before that, as the resources do, CPU time is cut in
 * proportion, and places in trees that a slice does not have are left out.
 */
#include "base/error.h"
#include "export/copy.h"
#include "model/energy_log.h"
#include "model/fact_blocks.h"

#define BLOCK_ENTRIES 4096u

struct job {
    struct vti_copy *copy;
    struct vti_copy_input *input;
    struct vti_clock *clock; /* of the tree or track at hand */
    uint32_t owner;          /* new: a tree or a track */
    uint32_t count;          /* entries of the block to come */
    uint64_t ticks;          /* of the last one in it */
};

static int end_block(struct job *job, enum vti_kind kind)
{
    struct vti_copy *copy = job->copy;
    int code = 0;

    if (job->count)
        code = vti_writer_owned(copy->writer, kind, kind == VTI_THREAD_CPU ? job->owner : 0,
                                &copy->entry, job->count, job->ticks);
    vti_buf_clear(&copy->entry);
    job->count = 0;
    job->ticks = 0;
    return code;
}

/* ---- the meter ------------------------------------------------------------------------------- */

static int add(struct job *job, struct vti_energy_fact *fact)
{
    fact->tree = job->owner;
    vti_energy_fact_write(&job->copy->entry, fact);
    return ++job->count == BLOCK_ENTRIES ? end_block(job, VTI_ENERGY) : 0;
}

static uint64_t thousandths(double value)
{
    return value > 0 && value < 1e15 ? (uint64_t)(value * 1e3 + 0.5) : 0;
}

static int copy_source(struct job *job, const struct vti_energy_log_source *source, uint32_t number)
{
    struct vti_energy_fact fact = {
        .type = VTI_ENERGY_FACT_SOURCE,
        .number = number,
        .part = source->part,
        .how = source->how,
        .inside_plus_one = source->inside == VT_NONE ? 0 : source->inside + 1,
        .milliwatts = thousandths(source->watts),
        .idle_milliwatts = thousandths(source->idle_watts)};

    if (!source->is_defined)
        return 0;
    fact.name = vti_bytes_of(source->name);
    fact.from = vti_bytes_of(source->from);
    fact.note = vti_bytes_of(source->note);
    return add(job, &fact);
}

/* What the meter is, without its readings. */
static int copy_meter(struct job *job, const struct vti_energy_log_tree *tree)
{
    struct vti_energy_fact machine = {
        .type = VTI_ENERGY_FACT_MACHINE,
        .host = vti_renumber(&job->input->numbers->hosts, tree->host),
        .domain = vti_renumber(&job->input->numbers->domains, tree->domain),
        .cpus = tree->cpus,
        .memory_bytes = tree->memory_bytes};
    struct vti_energy_fact rest = {.type = VTI_ENERGY_FACT_BASELINE,
                                   .microwatts = thousandths(tree->rest_watts * 1e3),
                                   .how = tree->rest_how,
                                   .for_ns = tree->rest_for_ns};
    int code = add(job, &machine);

    for (uint32_t i = 0; i < tree->source_count && !code; i++)
        code = copy_source(job, &tree->sources[i], i);
    if (!code && tree->has_baseline)
        code = add(job, &rest);
    for (size_t i = 0; i < tree->note_count && !code; i++) {
        struct vti_energy_fact note = {.type = VTI_ENERGY_FACT_NOTE,
                                       .about = tree->notes[i].about,
                                       .text = vti_bytes_of(tree->notes[i].text)};

        code = add(job, &note);
    }
    return code;
}

static int copy_reading(struct job *job, const struct vti_energy_log_tree *tree,
                        const struct vti_energy_log_reading *reading)
{
    struct vti_energy_fact fact = {
        .type = VTI_ENERGY_FACT_READING, .known = reading->known, .lost = reading->lost};
    int64_t from_ns = job->input->from_ns;
    /* As those of the resources become. */
    uint64_t ticks = vti_clock_tick_at(job->clock,
                                       reading->time_ns > from_ns ? reading->time_ns : from_ns);

    for (uint32_t i = 0; i < VTI_ENERGY_SOURCES_MAX; i++)
        vti_energy_log_value(tree, reading, i, &fact.microjoules[i]);
    fact.ticks = ticks - job->ticks;
    job->ticks = ticks;
    return add(job, &fact);
}

static int copy_tree(struct job *job, const struct vti_energy_log_tree *tree)
{
    const struct vti_copy_input *input = job->input;
    size_t first = 0;
    int code = copy_meter(job, tree);

    while (first + 1 < tree->reading_count && tree->readings[first + 1].time_ns <= input->from_ns)
        first++;
    for (size_t i = first; i < tree->reading_count && !code; i++) {
        if (tree->readings[i].time_ns > input->to_ns)
            break;
        code = copy_reading(job, tree, &tree->readings[i]);
    }
    return code ? code : end_block(job, VTI_ENERGY);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The part of it that lies in the range; false: none does. */
static bool cut(const struct vti_copy_input *input, struct vti_cpu_point *point)
{
    int64_t begin_ns = point->begin_ns > input->from_ns ? point->begin_ns : input->from_ns;
    int64_t end_ns = point->time_ns < input->to_ns ? point->time_ns : input->to_ns;
    double whole_ns = (double)point->time_ns - (double)point->begin_ns;

    if (end_ns < begin_ns)
        return false;
    if (whole_ns > 0)
        point->cpu_ns = (uint64_t)((double)point->cpu_ns * ((double)end_ns - (double)begin_ns) /
                                   whole_ns);
    if (end_ns < point->time_ns)
        point->flags &= ~(uint32_t)VTI_CPU_RUNNING; /* nobody looked at that time */
    point->begin_ns = begin_ns;
    point->time_ns = end_ns;
    return point->cpu_ns > 0;
}

static int copy_points(struct job *job, const struct vti_cpu_track *track)
{
    bool is_slice = job->input->from_ns != INT64_MIN || job->input->to_ns != INT64_MAX;
    int code = 0;

    for (size_t i = 0; i < track->count && !code; i++) {
        struct vti_cpu_point point = track->points[i];
        struct vti_cpu_fact fact;
        uint64_t ticks;

        if (is_slice && !cut(job->input, &point))
            continue;
        ticks = vti_clock_tick_at(job->clock, point.time_ns);
        fact = (struct vti_cpu_fact){.ticks = ticks - job->ticks,
                                     .span = ticks - vti_clock_tick_at(job->clock, point.begin_ns),
                                     .cpu_ns = point.cpu_ns,
                                     .flags = point.flags,
                                     .node = is_slice ? 0 : point.node,
                                     .line = is_slice ? 0 : point.line};
        job->ticks = ticks;
        vti_cpu_fact_write(&job->copy->entry, &fact);
        if (++job->count == BLOCK_ENTRIES)
            code = end_block(job, VTI_THREAD_CPU);
    }
    return code ? code : end_block(job, VTI_THREAD_CPU);
}

int vti_copy_energy(struct vti_copy *copy, struct vti_copy_input *input)
{
    vt_recording *recording = input->recording;
    const struct vti_clocks *clocks = &recording->facts.clocks;
    struct job job = {.copy = copy, .input = input};
    struct vti_energy_log log;
    int code = vti_energy_log_load(&log, recording);

    for (size_t i = 0; !code && i < log.tree_count; i++) {
        int64_t clock = vti_ids_find(&clocks->ids, log.trees[i].domain);

        job.clock = &clocks->clocks[clock < 0 ? 0 : clock];
        job.owner = vti_renumber(&input->numbers->trees, log.trees[i].number);
        code = copy_tree(&job, &log.trees[i]);
    }
    for (uint32_t i = 0; !code && i < log.track_ids.count; i++) {
        struct vti_track *track = recording->facts.tracks[log.tracks[i].track];

        job.clock = vti_track_clock(recording, track);
        job.owner = vti_renumber(&input->numbers->tracks, track->id);
        code = copy_points(&job, &log.tracks[i]);
    }
    vti_buf_clear(&copy->entry);
    vti_energy_log_fini(&log);
    return code;
}
