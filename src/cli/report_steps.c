/* report_steps.c - the steps of a recording in its summary: a row each. */
#include "base/error.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/report.h"

#include <stdio.h>
#include <string.h>

#define NAME_LEAST 12

static const struct vti_column columns[] = {
    {"Messages", VTI_RIGHT}, {"Failed", VTI_RIGHT},  {"Execute", VTI_RIGHT},
    {"Avg", VTI_RIGHT},      {"p50", VTI_RIGHT},     {"p99", VTI_RIGHT},
    {"Max", VTI_RIGHT},      {"Lag p99", VTI_RIGHT}, {"Step", VTI_LEFT},
};

static void add_row(struct vti_table *table, struct vti_step_sum *sum)
{
    struct vti_step_measured *execute = &sum->measured[VTI_STEP_EXECUTE];
    struct vti_step_measured *lag = &sum->measured[VTI_STEP_LAG];

    vti_table_count(table, sum->messages);
    vti_table_count(table, sum->failed);
    if (execute->count) {
        vti_table_time(table, execute->sum);
        vti_table_time(table, vti_step_mean(execute));
        vti_table_time(table, (double)vti_step_quantile(execute, 0.5));
        vti_table_time(table, (double)vti_step_quantile(execute, 0.99));
        vti_table_time(table, (double)execute->most);
    } else {
        for (int i = 0; i < 5; i++)
            vti_table_text(table, "-");
    }
    if (lag->count)
        vti_table_time(table, (double)vti_step_quantile(lag, 0.99));
    else
        vti_table_text(table, "-");
    vti_table_text(table, sum->source);
}

/* Times are of what a step executes at once: how many messages that is the table has no room for. */
static void print_batches(const struct vti_step_sums *steps)
{
    for (uint32_t i = 0; i < steps->ids.count; i++) {
        const struct vti_step_sum *sum = &steps->sums[i];
        struct vti_buf text = {0};

        if (sum->entries == sum->messages)
            continue;
        vti_buf_add_text(&text, "Times are of batches: ");
        vti_text_safe(&text, sum->source, strlen(sum->source));
        vti_buf_printf(&text, " had %llu messages in %llu of them.",
                       (unsigned long long)sum->messages, (unsigned long long)sum->entries);
        vti_buf_add_u8(&text, 0);
        if (!text.failed)
            vti_prose_print((const char *)text.data, 2);
        vti_buf_fini(&text);
    }
}

/* What is wrong with them, if anything. */
static int print_doubts(const struct vti_step_sums *steps)
{
    uint64_t cut = 0;
    uint64_t bad = 0;

    for (uint32_t i = 0; i < steps->ids.count; i++) {
        cut += steps->sums[i].cut;
        bad += steps->sums[i].bad;
    }
    if (steps->lost)
        printf("%llu found no room and are lost.\n", (unsigned long long)steps->lost);
    if (cut)
        printf("%llu came with more than 32 KiB of extra metrics, which were left out.\n",
               (unsigned long long)cut);
    if (bad)
        printf("%llu came with extra metrics that are no JSON.\n", (unsigned long long)bad);
    return 0;
}

int vti_report_print_steps(const struct vti_report *report)
{
    const struct vti_step_sums *steps = &report->study.steps;
    struct vti_table *table;
    int code;

    if (!steps->ids.count && !steps->lost)
        return 0;
    puts("\nSteps");
    code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);
    if (code)
        return code;
    vti_table_keep_last(table, NAME_LEAST);
    for (uint32_t i = 0; i < steps->ids.count; i++)
        add_row(table, &steps->sums[i]);
    code = steps->ids.count ? vti_table_print(table, stdout) : 0;
    vti_table_free(table);
    print_batches(steps);
    return code ? code : print_doubts(steps);
}

void vti_report_json_steps(struct vti_json *json, const struct vti_report *report)
{
    vti_step_sums_add_json(json, &report->study.steps);
    vti_json_add_uint(json, "lost_steps", report->study.steps.lost);
}
