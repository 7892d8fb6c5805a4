/* bench_write.c - a bench as JSON, laid out so that a baseline in a repository has readable changes. */
#include "base/json.h"
#include "perf/bench.h"

/* The next value on a line of its own, the comma at the end of the line before. */
static void new_line(struct vti_json *json, bool is_first, unsigned indent)
{
    if (!is_first)
        vti_buf_add_u8(json->out, ',');
    vti_buf_add_u8(json->out, '\n');
    for (unsigned i = 0; i < indent; i++)
        vti_buf_add_u8(json->out, ' ');
    json->after_key = true; /* no comma in front of it */
}

static void write_machine(const struct vti_bench *bench, struct vti_json *json)
{
    vti_json_key(json, "machine");
    vti_json_object(json);
    vti_json_add_string(json, "cpu", bench->cpu);
    vti_json_add_uint(json, "cores", bench->cores);
    vti_json_add_string(json, "governor", bench->governor);
    vti_json_add_string(json, "kernel", bench->kernel);
    vti_json_add_string(json, "host", bench->host);
    vti_json_object_end(json);
}

/* One line each: a count that changed is one line of a change. */
static void write_quantity(const struct vti_quantity *quantity, struct vti_json *json)
{
    vti_json_object(json);
    vti_json_add_string(json, "name", quantity->name);
    vti_json_add_string(json, "kind", vti_quantity_kind_text(quantity->kind));
    if (quantity->share < 1)
        vti_json_add_double(json, "share", quantity->share);
    vti_json_key(json, "values");
    vti_json_array(json);
    for (size_t i = 0; i < quantity->count; i++)
        vti_json_double(json, quantity->values[i]);
    vti_json_array_end(json);
    vti_json_object_end(json);
}

static void write_entry(const struct vti_bench_entry *entry, struct vti_json *json)
{
    vti_json_object(json);
    vti_json_add_string(json, "name", entry->name);
    vti_json_add_string(json, "command", entry->command);
    vti_json_add_string(json, "interpreter", entry->interpreter);
    vti_json_add_string(json, "mode", entry->mode);
    vti_json_key(json, "quantities");
    vti_json_array(json);
    for (size_t i = 0; i < entry->count; i++) {
        new_line(json, !i, 2);
        write_quantity(&entry->quantities[i], json);
    }
    vti_json_array_end(json);
    vti_json_object_end(json);
}

void vti_bench_write(const struct vti_bench *bench, struct vti_buf *out)
{
    struct vti_json json;

    vti_json_init(&json, out);
    vti_json_object(&json);
    vti_json_add_string(&json, "format", "venturi bench");
    vti_json_add_uint(&json, "version", 1);
    new_line(&json, false, 0);
    write_machine(bench, &json);
    new_line(&json, false, 0);
    vti_json_add_bool(&json, "interleaved", bench->is_paired);
    if (bench->budget_count) {
        vti_json_key(&json, "budgets");
        vti_json_array(&json);
        for (size_t i = 0; i < bench->budget_count; i++) {
            new_line(&json, !i, 2);
            vti_json_string(&json, bench->budgets[i]);
        }
        vti_json_array_end(&json);
    }
    new_line(&json, false, 0);
    vti_json_key(&json, "benches");
    vti_json_array(&json);
    for (size_t i = 0; i < bench->count; i++) {
        new_line(&json, !i, 1);
        write_entry(&bench->entries[i], &json);
    }
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    vti_buf_add_u8(out, '\n');
}
