/* jsonl_energy.c - readings of the meter and CPU time of threads, one JSON object a line, as they were recorded. */
#include "export/jsonl_energy.h"

#include "analyze/values.h"
#include "model/energy_log.h"

struct job {
    vt_recording *recording;
    const struct vt_filter *range;
    struct vti_json json;
    struct vti_buf *out;
    const struct vti_sink *sink;
};

static void open_line(struct job *job, const char *type)
{
    vti_json_init(&job->json, job->out);
    vti_json_object(&job->json);
    vti_json_add_string(&job->json, "type", type);
}

static int close_line(struct job *job)
{
    vti_json_object_end(&job->json);
    vti_buf_add_u8(job->out, '\n');
    return vti_sink_offer(job->sink, job->out);
}

static int add_source(struct job *job, const struct vti_energy_log_tree *tree, uint32_t number)
{
    const struct vti_energy_log_source *source = &tree->sources[number];
    struct vti_json *json = &job->json;

    open_line(job, "energy_source");
    vti_json_add_uint(json, "tree", tree->number);
    vti_json_add_uint(json, "source", number);
    vti_json_add_string(json, "name", source->name);
    vti_json_add_string(json, "part", vti_energy_part_name(source->part));
    vti_json_add_string(json, "how", vti_energy_how_name(source->how));
    vti_json_add_string(json, "from", source->from);
    vti_json_add_string(json, "note", source->note);
    vti_json_add_id(json, "inside", source->inside);
    vti_json_add_double(json, "watts", source->watts);
    vti_json_add_double(json, "idle_watts", source->idle_watts);
    return close_line(job);
}

static int add_meter(struct job *job, const struct vti_energy_log_tree *tree)
{
    struct vti_json *json = &job->json;
    int code;

    open_line(job, "energy_meter");
    vti_json_add_uint(json, "tree", tree->number);
    vti_json_add_uint(json, "host", tree->host);
    vti_json_add_uint(json, "cpus", tree->cpus);
    vti_json_add_uint(json, "memory_bytes", tree->memory_bytes);
    if (tree->has_baseline) {
        vti_json_add_double(json, "rest_watts", tree->rest_watts);
        vti_json_add_string(json, "rest_how", vti_energy_how_name(tree->rest_how));
        vti_json_add_uint(json, "rest_for_ns", tree->rest_for_ns);
    }
    code = close_line(job);
    for (uint32_t i = 0; i < tree->source_count && !code; i++)
        if (tree->sources[i].is_defined)
            code = add_source(job, tree, i);
    for (size_t i = 0; i < tree->note_count && !code; i++) {
        open_line(job, "energy_note");
        vti_json_add_uint(json, "tree", tree->number);
        vti_json_add_uint(json, "about", tree->notes[i].about);
        vti_json_add_string(json, "text", tree->notes[i].text);
        code = close_line(job);
    }
    return code;
}

static int add_reading(struct job *job, const struct vti_energy_log_tree *tree,
                       const struct vti_energy_log_reading *reading)
{
    struct vti_json *json = &job->json;
    uint64_t microjoules = 0;

    if (reading->time_ns < job->range->from_ns || reading->time_ns >= job->range->to_ns)
        return 0;
    open_line(job, "energy");
    vti_json_add_uint(json, "tree", tree->number);
    vti_json_add_int(json, "time_ns", reading->time_ns);
    vti_json_key(json, "microjoules"); /* by number of the source; null: not known */
    vti_json_array(json);
    for (uint32_t i = 0; i < tree->source_count; i++)
        if (vti_energy_log_value(tree, reading, i, &microjoules))
            vti_json_uint(json, microjoules);
        else
            vti_json_null(json);
    vti_json_array_end(json);
    vti_json_key(json, "lost");
    vti_json_array(json);
    for (uint32_t i = 0; i < VTI_ENERGY_SOURCES_MAX; i++)
        if (reading->lost >> i & 1)
            vti_json_uint(json, i);
    vti_json_array_end(json);
    return close_line(job);
}

static int add_point(struct job *job, uint32_t track, const struct vti_cpu_point *point)
{
    struct vti_json *json = &job->json;

    if (point->time_ns < job->range->from_ns || point->time_ns >= job->range->to_ns)
        return 0;
    open_line(job, "thread_cpu");
    vti_json_add_uint(json, "track", track);
    vti_json_add_int(json, "begin_ns", point->begin_ns);
    vti_json_add_int(json, "time_ns", point->time_ns);
    vti_json_add_uint(json, "cpu_ns", point->cpu_ns);
    vti_json_add_bool(json, "running", point->flags & VTI_CPU_RUNNING);
    vti_json_add_bool(json, "coarse", point->flags & VTI_CPU_COARSE);
    vti_json_add_uint(json, "node", point->node);
    vti_json_add_uint(json, "line_node", point->line);
    return close_line(job);
}

int vti_jsonl_energy(vt_recording *recording, const struct vt_filter *range,
                     const struct vti_sink *sink, struct vti_buf *out)
{
    struct job job = {.recording = recording, .range = range, .out = out, .sink = sink};
    struct vti_energy_log log;
    int code = vti_energy_log_load(&log, recording);

    for (size_t i = 0; i < log.tree_count && !code; i++) {
        const struct vti_energy_log_tree *tree = &log.trees[i];

        code = add_meter(&job, tree);
        for (size_t k = 0; k < tree->reading_count && !code; k++)
            code = add_reading(&job, tree, &tree->readings[k]);
    }
    for (uint32_t i = 0; i < log.track_ids.count && !code; i++) {
        const struct vti_cpu_track *track = &log.tracks[i];
        uint32_t id = recording->facts.tracks[track->track]->id;

        for (size_t k = 0; k < track->count && !code; k++)
            code = add_point(&job, id, &track->points[k]);
    }
    vti_energy_log_fini(&log);
    return code;
}
