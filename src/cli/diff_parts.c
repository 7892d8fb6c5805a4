/* diff_parts.c - tasks and steps of two runs: a table, sentences for the page, JSON. */
#include "base/json.h"
#include "cli/check.h"
#include "cli/diff.h"
#include "cli/render.h"

#include <math.h>

#define SENTENCES 20 /* on a page: the largest changes */

static double time_of(const struct vti_diff_part *part)
{
    return part ? part->total_ns : 0;
}

static uint64_t count_of(const struct vti_diff_part *part)
{
    return part ? part->count : 0;
}

static const struct vti_diff_part *either(const struct vti_diff_part_pair *pair)
{
    return pair->now ? pair->now : pair->base;
}

/* "", "  (new)", "  (gone)". */
static const char *where(const struct vti_diff_part_pair *pair)
{
    return !pair->base ? "  (new)" : !pair->now ? "  (gone)" : "";
}

static void add_row(struct vti_table *table, const struct vti_diff_part_pair *pair)
{
    const struct vti_diff_part *sides[2] = {pair->base, pair->now};
    char change[VTI_NUMBER_BYTES + 1];

    vti_table_text(table, vti_diff_signed_time(change, time_of(pair->now) - time_of(pair->base)));
    for (int i = 0; i < 2; i++)
        if (sides[i])
            vti_table_time(table, sides[i]->total_ns);
        else
            vti_table_text(table, "-");
    if (count_of(pair->base) == count_of(pair->now))
        vti_table_count(table, count_of(pair->now));
    else
        vti_table_printf(table, "%llu to %llu", (unsigned long long)count_of(pair->base),
                         (unsigned long long)count_of(pair->now));
    vti_table_printf(table, "%s %s%s", either(pair)->kind, either(pair)->name, where(pair));
}

int vti_diff_print_parts(const struct vti_diff_view *view)
{
    static const struct vti_column columns[] = {{"Time change", VTI_RIGHT},
                                                {"Was", VTI_RIGHT},
                                                {"Is", VTI_RIGHT},
                                                {"Tasks, messages", VTI_RIGHT},
                                                {"Task or step", VTI_LEFT}};
    struct vti_table *table;
    int code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);

    if (code)
        return code;
    for (size_t i = 0; i < view->diff->part_count && i < view->limit; i++)
        add_row(table, &view->diff->parts[i]);
    code = vti_table_print(table, stdout);
    vti_table_free(table);
    return code;
}

void vti_diff_part_sentences(struct vti_buf *to, const struct vti_diff *diff)
{
    for (size_t i = 0; i < diff->part_count && i < SENTENCES; i++) {
        const struct vti_diff_part_pair *pair = &diff->parts[i];
        const struct vti_diff_part *one = either(pair);
        char was[VTI_NUMBER_BYTES];
        char is[VTI_NUMBER_BYTES];
        char change[VTI_CHANGE_BYTES];

        vti_buf_printf(to, "%s ", *one->kind == 't' ? "Task" : "Step");
        for (const char *at = one->name; *at; at++) /* one line a sentence */
            vti_buf_add_u8(to, (uint8_t)(*at == '\n' ? ' ' : *at));
        if (pair->base && pair->now) {
            vti_buf_printf(to, ": %s, then %s", vti_text_duration(was, pair->base->total_ns),
                           vti_text_duration(is, pair->now->total_ns));
            if (pair->base->total_ns > 0)
                vti_buf_printf(
                    to, " (%s)",
                    vti_check_change(change, pair->now->total_ns / pair->base->total_ns));
        } else {
            vti_buf_printf(to, ": %s%s", vti_text_duration(is, one->total_ns), where(pair) + 1);
        }
        vti_buf_add_u8(to, '\n');
    }
}

static void add_side(struct vti_json *json, const char *key, const struct vti_diff_part *part)
{
    vti_json_key(json, key);
    vti_json_object(json);
    vti_json_add_uint(json, "count", count_of(part));
    vti_json_add_double(json, "total_ns", time_of(part));
    vti_json_object_end(json);
}

void vti_diff_add_parts(struct vti_json *json, const struct vti_diff *diff)
{
    vti_json_key(json, "parts");
    vti_json_array(json);
    for (size_t i = 0; i < diff->part_count; i++) {
        const struct vti_diff_part_pair *pair = &diff->parts[i];

        vti_json_object(json);
        vti_json_add_string(json, "kind", either(pair)->kind);
        vti_json_add_string(json, "name", either(pair)->name);
        vti_json_add_string(json, "match", !pair->base ? "new" : !pair->now ? "gone" : "both");
        add_side(json, "base", pair->base);
        add_side(json, "new", pair->now);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}
