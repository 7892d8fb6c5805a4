/* check_json.c - what a check found, as JSON. */
#include "base/json.h"
#include "cli/check.h"
#include "cli/render.h"

#include <math.h>
#include <string.h>

static void add_lines(struct vti_json *json, const char *key, const struct vti_buf *lines)
{
    const char *at = (const char *)lines->data;
    const char *end = at ? at + lines->len : NULL;

    vti_json_key(json, key);
    vti_json_array(json);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        vti_json_bytes(json, at, (size_t)(stop - at));
        at = stop + 1;
    }
    vti_json_array_end(json);
}

static void add_row(struct vti_json *json, const struct vti_compared *row)
{
    bool is_count = row->kind == VTI_QUANTITY_COUNT || row->kind == VTI_QUANTITY_ITEMS;

    vti_json_object(json);
    vti_json_add_string(json, "bench", row->entry);
    vti_json_add_string(json, "name", row->name);
    vti_json_add_string(json, "kind", vti_quantity_kind_text(row->kind));
    vti_json_add_bool(json, "gates", row->gates);
    vti_json_add_string(json, "verdict", vti_verdict_text(row->verdict));
    vti_json_add_bool(json, "per_item", row->is_per_item);
    vti_json_add_double(json, "base", row->base);
    vti_json_add_double(json, "new", row->now);
    vti_json_add_double(json, "ratio", row->ratio);
    if (!is_count) {
        vti_json_add_double(json, "low", row->low);
        vti_json_add_double(json, "high", row->high);
        vti_json_add_double(json, "p", row->p);
        vti_json_add_double(json, "adjusted_p", row->adjusted);
        vti_json_add_string(json, "test", row->is_paired ? "signed rank" : "Mann-Whitney");
        vti_json_add_bool(json, "exact", row->is_exact);
        vti_json_add_double(json, "threshold", row->threshold);
    }
    vti_json_add_uint(json, "base_runs", row->base_count);
    vti_json_add_uint(json, "new_runs", row->now_count);
    vti_json_object_end(json);
}

static void add_budgets(struct vti_json *json, const struct vti_checking *checking)
{
    vti_json_key(json, "budgets");
    vti_json_array(json);
    for (size_t i = 0; i < checking->budget_count; i++) {
        const struct vti_budget_result *result = &checking->budgets[i];

        vti_json_object(json);
        vti_json_add_string(json, "budget", result->budget.text);
        vti_json_add_double(json, "value", result->value);
        vti_json_add_bool(json, "known", !isnan(result->value));
        vti_json_add_bool(json, "kept", !isnan(result->value) && result->is_kept);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_reasons(struct vti_json *json, const struct vti_checking *checking)
{
    vti_json_key(json, "reasons");
    vti_json_array(json);
    for (size_t i = 0; i < checking->reason_count; i++) {
        const struct vti_reason *reason = &checking->reasons[i];

        vti_json_object(json);
        vti_json_add_string(json, "kind", reason->kind);
        vti_json_add_string(json, "what", reason->text);
        vti_json_add_double(json, "base_s", reason->base_s);
        vti_json_add_double(json, "new_s", reason->now_s);
        vti_json_add_double(json, "base_count", reason->base_count);
        vti_json_add_double(json, "new_count", reason->now_count);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

int vti_check_print_json(const struct vti_checking *checking)
{
    struct vti_buf out = {0};
    struct vti_json json;

    vti_json_init(&json, &out);
    vti_json_object(&json);
    vti_json_add_string(&json, "outcome", vti_check_outcome(checking));
    vti_json_add_int(&json, "exit_code", checking->exit_code);
    vti_json_add_string(&json, "why", checking->why);
    vti_json_add_string(&json, "base", checking->has_base ? checking->names[0] : NULL);
    vti_json_add_string(&json, "new", checking->names[1]);
    vti_json_add_uint(&json, "runs", checking->pairs[0]);
    vti_json_add_uint(&json, "confirming_runs", checking->pairs[1]);
    vti_json_add_bool(&json, "confirmed", checking->is_confirmed);
    vti_json_key(&json, "rows");
    vti_json_array(&json);
    for (size_t i = 0; i < checking->comparison.count; i++)
        add_row(&json, &checking->comparison.rows[i]);
    vti_json_array_end(&json);
    add_budgets(&json, checking);
    add_lines(&json, "not_comparable", &checking->comparison.doubts);
    add_lines(&json, "notes", &checking->comparison.notes);
    add_reasons(&json, checking);
    vti_json_object_end(&json);
    return vti_print_json(&out);
}
