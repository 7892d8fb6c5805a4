/*
 * report_table.c - the table of spans and that of functions: the same columns, as many as there is room for, and a bar that
 * shows which part of all own time each row is.
 */
#include "cli/chart.h"
#include "cli/render.h"
#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_LEAST 12 /* columns that a name needs beside the figures: counts of ten digits fit */
#define WIDE 100      /* columns of the terminal from which on all figures fit … */
#define MEDIUM 56     /* … and from which on some do */

enum column { COUNT, TOTAL, SELF, SHARE, MIN, AVG, MAX, P50, P99, NAME, COLUMNS };

struct layout {
    unsigned least; /* columns of the terminal */
    unsigned bar;   /* columns of the longest */
    enum column shown[COLUMNS];
    unsigned count;
    struct vti_column titles[2][COLUMNS]; /* of spans, of functions */
};

#define NUMBERS_WIDE                                                                               \
    {"Total", VTI_RIGHT}, {"Self", VTI_RIGHT}, {"Share", VTI_LEFT}, {"Min", VTI_RIGHT},            \
        {"Avg", VTI_RIGHT}, {"Max", VTI_RIGHT}, {"p50", VTI_RIGHT},                                \
    {                                                                                              \
        "p99", VTI_RIGHT                                                                           \
    }
#define NUMBERS_MEDIUM                                                                             \
    {"Total", VTI_RIGHT}, {"Self", VTI_RIGHT}, {"Share", VTI_LEFT}, {"p50", VTI_RIGHT},            \
    {                                                                                              \
        "p99", VTI_RIGHT                                                                           \
    }

static const struct layout layouts[] = {
    {WIDE,
     12,
     {COUNT, TOTAL, SELF, SHARE, MIN, AVG, MAX, P50, P99, NAME},
     10,
     {{{"Count", VTI_RIGHT}, NUMBERS_WIDE, {"Span", VTI_LEFT}},
      {{"Calls", VTI_RIGHT}, NUMBERS_WIDE, {"Function", VTI_LEFT}}}},
    {MEDIUM,
     6,
     {COUNT, TOTAL, SELF, SHARE, P50, P99, NAME},
     7,
     {{{"Count", VTI_RIGHT}, NUMBERS_MEDIUM, {"Span", VTI_LEFT}},
      {{"Calls", VTI_RIGHT}, NUMBERS_MEDIUM, {"Function", VTI_LEFT}}}},
    {0,
     6,
     {SELF, SHARE, NAME},
     3,
     {{{"Self", VTI_RIGHT}, {"Share", VTI_LEFT}, {"Span", VTI_LEFT}},
      {{"Self", VTI_RIGHT}, {"Share", VTI_LEFT}, {"Function", VTI_LEFT}}}},
};

int vti_report_table_create(struct vti_report_table *table, bool is_functions, double self_ns)
{
    unsigned width = vti_terminal_width(stdout);
    const struct layout *layout = layouts;
    int code;

    while (width && layout->least > width)
        layout++;
    *table = (struct vti_report_table){.layout = layout, .self_ns = self_ns};
    code = vti_table_create(&table->table, layout->titles[is_functions], layout->count);
    if (!code)
        vti_table_keep_last(table->table, NAME_LEAST);
    return code;
}

static void add_share(struct vti_report_table *table, const struct vti_report_row *row)
{
    const struct layout *layout = table->layout;
    double share = table->self_ns > 0 ? row->self_ns / table->self_ns : NAN;
    struct vti_buf text = {0};

    if (!row->is_part || !isfinite(share))
        vti_buf_add_text(&text, "   -");
    else if (share > 0 && share < 0.005)
        vti_buf_add_text(&text, " <1%");
    else
        vti_buf_printf(&text, "%3.0f%%", fmin(share, 1) * 100);
    if (row->is_part && share > 0) {
        vti_buf_add_text(&text, " ");
        vti_chart_bar(&text, share, layout->bar);
    }
    while (text.len && text.data[text.len - 1] == ' ')
        text.len--;
    vti_table_bytes(table->table, (const char *)text.data, text.len);
    vti_buf_fini(&text);
}

static void add_time(struct vti_table *table, const char *mark, double ns)
{
    char text[VTI_NUMBER_BYTES];
    char *blank = strchr(vti_text_duration(text, ns), ' ');

    if (isnan(ns))
        vti_table_printf(table, "%s-", mark);
    else if (blank)
        vti_table_printf(table, "%s%.*s%s", mark, (int)(blank - text), text, blank + 1);
    else
        vti_table_printf(table, "%s%s", mark, text);
}

static double time_of(const struct vti_report_row *row, enum column column)
{
    switch (column) {
    case TOTAL:
        return row->total_ns;
    case SELF:
        return row->self_ns;
    case MIN:
        return row->min_ns;
    case AVG:
        return row->avg_ns;
    case MAX:
        return row->max_ns;
    case P50:
        return row->p50_ns;
    default:
        return row->p99_ns;
    }
}

void vti_report_table_add(struct vti_report_table *table, const struct vti_report_row *row)
{
    const struct layout *layout = table->layout;

    for (unsigned i = 0; i < layout->count; i++) {
        if (layout->shown[i] == COUNT)
            vti_table_printf(table->table, "%s%llu", row->mark, (unsigned long long)row->count);
        else if (layout->shown[i] == SHARE)
            add_share(table, row);
        else if (layout->shown[i] == NAME)
            vti_table_bytes(table->table, row->name, row->name_len);
        else
            add_time(table->table, i == 0 ? row->mark : "", time_of(row, layout->shown[i]));
    }
}

int vti_report_table_print(struct vti_report_table *table)
{
    int code;

    putchar('\n');
    code = vti_table_print(table->table, stdout);
    vti_table_free(table->table);
    return code;
}
