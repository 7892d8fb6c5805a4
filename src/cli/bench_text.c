/* bench_text.c - what a bench shows: a line for each command. */
#include "base/error.h"
#include "base/file.h"
#include "cli/bench.h"
#include "cli/cmd.h"
#include "cli/render.h"
#include "perf/budget.h"
#include "perf/rules.h"
#include "stats/stats.h"
#include "venturi/energy.h"

#include <math.h>
#include <string.h>

double vti_bench_rate(const struct vti_bench *bench, const struct vti_bench_entry *entry,
                      const char *what)
{
    struct vti_budget budget = {.text = what};

    snprintf(budget.name, sizeof budget.name, "%s", what);
    return vti_budget_value(&budget, bench, entry);
}

static double median_of(const struct vti_bench_entry *entry, const char *name)
{
    const struct vti_quantity *quantity = vti_bench_find(entry, name);

    return quantity ? vti_median(quantity->values, quantity->count) : NAN;
}

const char *vti_bench_number(char to[VTI_RATE_BYTES], double value)
{
    if (isfinite(value))
        snprintf(to, VTI_RATE_BYTES, fabs(value) < 9999.5 || fabs(value) > 1e15 ? "%.4g" : "%.0f",
                 value);
    else
        snprintf(to, VTI_RATE_BYTES, "-");
    return to;
}

const char *vti_bench_how(uint32_t how)
{
    return how == VT_ENERGY_MEASURED   ? "measured"
           : how == VT_ENERGY_MODELLED ? "modelled"
           : how == VT_ENERGY_GIVEN    ? "from watts that were stated"
                                       : "estimated from CPU time and a table";
}

/* "21.3ms 20.9ms-25.0ms". */
static void add_spread(struct vti_table *table, const struct vti_bench_entry *entry,
                       const char *name)
{
    const struct vti_quantity *quantity = vti_bench_find(entry, name);
    double least = INFINITY;
    double most = -INFINITY;
    char low[VTI_NUMBER_BYTES];
    char high[VTI_NUMBER_BYTES];

    for (size_t i = 0; quantity && i < quantity->count; i++) {
        least = fmin(least, quantity->values[i]);
        most = fmax(most, quantity->values[i]);
    }
    if (!quantity || !quantity->count) {
        vti_table_text(table, "-");
        vti_table_text(table, "-");
        return;
    }
    vti_table_time(table, 1e9 * vti_median(quantity->values, quantity->count));
    vti_table_printf(table, "%s to %s", vti_text_duration(low, 1e9 * least),
                     vti_text_duration(high, 1e9 * most));
}

static void add_memory(struct vti_table *table, const struct vti_bench_entry *entry)
{
    double bytes = median_of(entry, "rss");
    char text[VTI_NUMBER_BYTES];

    vti_table_text(table, bytes > 0 ? vti_text_bytes(text, (uint64_t)bytes) : "-");
}

static void warn_of(const struct vti_bench_entry *entry)
{
    const struct vti_rules rules = VTI_RULES;
    double cpu = median_of(entry, "cpu");

    if (cpu < rules.brief_s && median_of(entry, "wall") >= VTI_RULES_WAITS * rules.brief_s)
        vti_cmd_warn("bench", "%s: it mostly waits, and uses less than %g ms of CPU time",
                     entry->command, 1e3 * rules.brief_s);
    else if (cpu < rules.brief_s)
        vti_cmd_warn("bench", "%s: so short that it is mostly the start of a process",
                     entry->command);
}

int vti_bench_print(const struct vti_bench *bench, FILE *to)
{
    static const struct vti_column columns[] = {
        {"Runs", VTI_RIGHT},   {"CPU", VTI_RIGHT},     {"from, to", VTI_RIGHT}, {"Wall", VTI_RIGHT},
        {"Memory", VTI_RIGHT}, {"Items/s", VTI_RIGHT}, {"Command", VTI_LEFT}};
    struct vti_table *table;
    int code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);

    for (size_t i = 0; i < bench->count && !code; i++) {
        const struct vti_bench_entry *entry = &bench->entries[i];
        double rate = vti_bench_rate(bench, entry, "throughput");
        double wall = median_of(entry, "wall");
        char number[VTI_RATE_BYTES];

        vti_table_count(table, vti_bench_runs(entry));
        add_spread(table, entry, "cpu");
        if (wall >= 0)
            vti_table_time(table, 1e9 * wall);
        else
            vti_table_text(table, "-");
        add_memory(table, entry);
        vti_table_text(table, vti_bench_number(number, rate));
        vti_table_text(table, entry->command);
        warn_of(entry);
    }
    if (!code) {
        code = vti_table_print(table, to);
        vti_table_free(table);
    }
    return code;
}

int vti_bench_save(const char *command, const struct vti_bench *bench, const char *path, bool force)
{
    struct vti_buf json = {0};
    struct vti_output *output = NULL;
    int code;

    vti_bench_write(bench, &json);
    code = json.failed ? vti_fail(VTI_E_NOMEM, "out of memory")
                       : vti_output_open(&output, path, force, false);
    if (!code) {
        code = vti_output_write(output, json.data, json.len);
        if (code)
            vti_output_abandon(output);
        else
            code = vti_output_commit(output);
    }
    vti_buf_fini(&json);
    return code ? vti_cmd_error(command, code) : 0;
}
