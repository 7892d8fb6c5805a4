/* energy_json.c - what a program used as JSON, alike for the tool and the page. docs/commands/energy.md names the keys. What is not known is null. */
#include "analyze/energy.h"

#include <math.h>

static void add_use(struct vti_json *json, const char *key, const struct vti_energy_use *use)
{
    vti_json_key(json, key);
    vti_json_object(json);
    vti_json_add_string(json, "how", vti_energy_how_name(use->how));
    vti_json_add_double(json, "gross_j", use->gross_j);
    vti_json_add_double(json, "share_j", use->full_j);
    vti_json_add_double(json, "dynamic_j", use->dynamic_j);
    vti_json_object_end(json);
}

static void add_sources(struct vti_json *json, const struct vti_energy_log_tree *log)
{
    vti_json_key(json, "sources");
    vti_json_array(json);
    for (uint32_t i = 0; i < log->source_count; i++) {
        const struct vti_energy_log_source *source = &log->sources[i];

        if (!source->is_defined)
            continue;
        vti_json_object(json);
        vti_json_add_string(json, "name", source->name);
        vti_json_add_string(json, "from", source->from);
        vti_json_add_string(json, "note", *source->note ? source->note : NULL);
        vti_json_add_string(json, "part", vti_energy_part_name(source->part));
        vti_json_add_string(json, "how", vti_energy_how_name(source->how));
        vti_json_add_string(json, "inside",
                            source->inside < log->source_count ? log->sources[source->inside].name
                                                               : NULL);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_tree(struct vti_json *json, const struct vti_energy_tree *tree)
{
    vti_json_object(json);
    vti_json_add_double(json, "wall_s", tree->wall_s);
    vti_json_add_double(json, "unknown_s", tree->unknown_s);
    vti_json_add_double(json, "cpu_s", tree->own_s);
    vti_json_add_double(json, "machine_cpu_s", tree->busy_s);
    vti_json_add_double(json, "rest_w", tree->rest_watts);
    vti_json_add_string(json, "rest_how", vti_energy_how_name(tree->rest_how));
    vti_json_add_double(json, "baseline_s",
                        tree->log->rest_for_ns ? (double)tree->log->rest_for_ns / 1e9 : NAN);
    add_use(json, "all", &tree->all);
    for (uint32_t i = 0; i < VT_ENERGY_PART_COUNT; i++)
        if (tree->parts[i].has_source)
            add_use(json, vti_energy_part_name(i), &tree->parts[i]);
    add_sources(json, tree->log);
    vti_json_key(json, "notes");
    vti_json_array(json);
    for (size_t i = 0; i < tree->log->note_count; i++)
        vti_json_string(json, tree->log->notes[i].text);
    vti_json_array_end(json);
    vti_json_object_end(json);
}

/* Full shares of all machines; NaN where one is not known. */
static double joules_of(const struct vti_energy *energy)
{
    double joules = energy->tree_count ? 0 : NAN;

    for (size_t i = 0; i < energy->tree_count; i++)
        joules += energy->trees[i].all.full_j;
    return joules;
}

static void add_footing(struct vti_json *json, const struct vti_energy *energy,
                        const struct vti_footing *footing)
{
    double joules = joules_of(energy);

    vti_json_add_double(json, "kwh", joules / 3.6e6);
    vti_json_add_double(json, "pue", footing->pue > 0 ? footing->pue : 1);
    vti_json_add_double(json, "intensity_g_kwh", footing->source[0] ? footing->intensity : NAN);
    vti_json_add_string(json, "intensity_source", footing->source[0] ? footing->source : NULL);
    vti_json_add_double(json, "co2e_g", vti_footing_grams(footing, joules));
    vti_json_add_double(json, "water_l", vti_footing_litres(footing, joules));
}

static double rate(double items, double seconds)
{
    return seconds > 0 ? items / seconds : NAN;
}

static void add_items(struct vti_json *json, const struct vti_energy *energy,
                      const struct vti_footing *footing)
{
    const struct vti_items *items = &energy->items;
    double joules = joules_of(energy);
    double thousands = items->raw / 1000;

    vti_json_key(json, "items");
    if (!items->is_counted) {
        vti_json_null(json);
        return;
    }
    vti_json_object(json);
    vti_json_add_double(json, "raw", items->raw);
    vti_json_add_double(json, "effective", items->effective);
    vti_json_add_double(json, "wall_s", items->wall_s);
    vti_json_add_double(json, "cpu_s", items->cpu_s < 0 ? NAN : items->cpu_s);
    vti_json_add_double(json, "cores", items->cores > 0 ? items->cores : NAN);
    vti_json_add_double(json, "raw_per_s", rate(items->raw, items->wall_s));
    vti_json_add_double(json, "effective_per_s", rate(items->effective, items->wall_s));
    vti_json_add_double(json, "raw_per_core_s", rate(items->raw, items->wall_s * items->cores));
    vti_json_add_double(json, "raw_per_cpu_s", rate(items->raw, items->cpu_s));
    vti_json_add_double(json, "j_per_1000", rate(joules, thousands));
    vti_json_add_double(json, "co2e_g_per_1000",
                        rate(vti_footing_grams(footing, joules), thousands));
    vti_json_object_end(json);
}

void vti_energy_add_json(struct vti_json *json, const struct vti_energy *energy,
                         const struct vti_footing *footing)
{
    vti_json_key(json, "machines");
    vti_json_array(json);
    for (size_t i = 0; i < energy->tree_count; i++)
        add_tree(json, &energy->trees[i]);
    vti_json_array_end(json);
    vti_json_add_double(json, "cpu_j", energy->tree_count ? vti_energy_cpu_joules(energy) : NAN);
    vti_json_add_double(json, "threads_j", energy->threads.full);
    vti_json_add_bool(json, "sampled_lines", energy->tables[VTI_ENERGY_BY_LINE].is_sampled);
    add_footing(json, energy, footing);
    add_items(json, energy, footing);
}
