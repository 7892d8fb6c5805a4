/* energy_json.c - what a program used, and what that went to, as JSON. docs/commands/energy.md names the keys. */
#include "base/json.h"
#include "cli/energy.h"
#include "cli/render.h"

static void add_joules(struct vti_json *json, const char *key, const struct vti_joules *joules)
{
    vti_json_key(json, key);
    vti_json_object(json);
    vti_json_add_double(json, "share_j", joules->full);
    vti_json_add_double(json, "dynamic_j", joules->dynamic);
    vti_json_add_double(json, "cpu_s", joules->cpu_s);
    vti_json_object_end(json);
}

static void add_table(struct vti_json *json, const struct vti_energy_view *view)
{
    const struct vti_energy_table *table = &view->energy->tables[view->by];

    vti_json_add_string(json, "by", vti_energy_by_word(view->by));
    vti_json_key(json, "rows");
    vti_json_array(json);
    for (size_t i = 0; i < table->count && i < view->limit; i++) {
        const struct vti_energy_row *row = &table->rows[i];

        vti_json_object(json);
        vti_json_add_string(json, "name", row->name);
        vti_json_add_string(json, "file", *row->file ? row->file : NULL);
        vti_json_add_uint(json, "line", row->line);
        if (view->by == VTI_ENERGY_BY_PROCESS)
            vti_json_add_uint(json, "pid", view->energy->resources.processes[row->id].pid);
        add_joules(json, "self", &row->self);
        add_joules(json, "total", &row->total);
        vti_json_add_uint(json, "seen", row->seen);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
    add_joules(json, "elsewhere", &table->elsewhere);
    vti_json_add_bool(json, "scaled", table->is_scaled);
}

int vti_energy_print_json(const struct vti_energy_view *view)
{
    struct vti_buf out = {0};
    struct vti_json json;

    vti_json_init(&json, &out);
    vti_json_object(&json);
    vti_json_add_string(&json, "file", view->file);
    vti_energy_add_json(&json, view->energy, &view->footing);
    add_table(&json, view);
    vti_json_object_end(&json);
    return vti_print_json(&out);
}
