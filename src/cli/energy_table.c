/* energy_table.c - what used a program's joules, one row each, with the rule by which they were given. */
#include "base/error.h"
#include "cli/energy.h"
#include "cli/prose.h"
#include "cli/render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEDIUM 64 /* columns of the terminal from which on all figures fit */
#define NAME_LEAST 12

static const char rule[] =
    "Full shares: a second of CPU time gets its part of what the processors used at that time. "
    "Dynamic leaves out what they use at rest. What sleeps gets nothing. Memory, GPU and the rest "
    "of the machine are in the sums above only.";

static const char unseen[] =
    "Processes are looked at some times a second: the last row is what they used "
    "after the last look, or before there was one.";

static const char scaled[] = " Rows had more CPU time than is known of the program, and were "
                             "scaled down to it: nobody waited "
                             "for some of its processes.";

static const char sampled[] =
    " Lines of C are estimated, by their part of the samples of the stack.";

/* Of all rows: each joule is in one of them or elsewhere. */
static double sum_of(const struct vti_energy_table *table)
{
    double joules = table->elsewhere.full;

    for (size_t i = 0; i < table->count; i++)
        joules += table->rows[i].self.full;
    return joules;
}

static void add_figures(struct vti_table *table, const struct vti_energy_row *row, double all,
                        bool is_wide)
{
    char text[VTI_JOULES_BYTES];

    vti_table_text(table, vti_text_joules(text, row->self.full));
    if (is_wide) {
        vti_table_text(table, vti_text_joules(text, row->total.full));
        vti_table_text(table, vti_text_joules(text, row->self.dynamic));
    }
    if (all > 0 && row->self.full > 0 && row->self.full / all < 0.005)
        vti_table_text(table, "<1%");
    else if (all > 0)
        vti_table_printf(table, "%.0f%%", fmin(row->self.full / all, 1) * 100);
    else
        vti_table_text(table, "-");
    if (is_wide)
        vti_table_time(table, row->self.cpu_s * 1e9);
}

static void add_row(struct vti_table *table, const struct vti_energy_view *view,
                    const struct vti_energy_row *row)
{
    if (view->by == VTI_ENERGY_BY_PROCESS)
        vti_table_printf(table, "%s (%u)", row->name,
                         view->energy->resources.processes[row->id].pid);
    else if (*row->file && row->line)
        vti_table_printf(table, "%s (%s:%u)", row->name, row->file, row->line);
    else
        vti_table_text(table, row->name);
}

static void add_elsewhere(struct vti_table *table, const struct vti_energy_view *view, double all,
                          bool is_wide)
{
    const struct vti_joules *rest = &view->energy->tables[view->by].elsewhere;
    const struct vti_energy_row row = {.self = *rest, .total = *rest};

    if (!(rest->cpu_s > 0))
        return;
    add_figures(table, &row, all, is_wide);
    vti_table_text(table, view->by == VTI_ENERGY_BY_PROCESS ? "(not seen by process)"
                                                            : "(none open, or not seen)");
}

static void add_rows(struct vti_table *table, const struct vti_energy_view *view, bool is_wide)
{
    const struct vti_energy_table *rows = &view->energy->tables[view->by];
    double all = sum_of(rows);

    for (size_t i = 0; i < rows->count && i < view->limit; i++) {
        add_figures(table, &rows->rows[i], all, is_wide);
        add_row(table, view, &rows->rows[i]);
    }
    add_elsewhere(table, view, all, is_wide);
}

/* There are no rows: whether there could have been any. */
static void say_none(enum vti_energy_by by, bool has_any)
{
    static const char *const ways[VTI_ENERGY_BY_COUNT] = {
        [VTI_ENERGY_BY_LINE] = " (record with `run -l`)"};
    const char *word = vti_energy_by_word(by);

    if (has_any || by == VTI_ENERGY_BY_PROCESS)
        printf("\nno joules by %s: none was seen while a thread ran\n", word);
    else
        printf("\nno joules by %s: this recording has no %ss%s\n", word, word,
               ways[by] ? ways[by] : "");
}

int vti_energy_print_table(const struct vti_energy_view *view)
{
    const struct vti_energy_table *rows = &view->energy->tables[view->by];
    bool is_wide = vti_prose_width() >= MEDIUM;
    const struct vti_column wide[] = {{"Self", VTI_RIGHT},     {"Total", VTI_RIGHT},
                                      {"Dynamic", VTI_RIGHT},  {"Share", VTI_RIGHT},
                                      {"CPU time", VTI_RIGHT}, {"", VTI_LEFT}};
    const struct vti_column narrow[] = {{"Self", VTI_RIGHT}, {"Share", VTI_RIGHT}, {"", VTI_LEFT}};
    struct vti_column columns[6];
    unsigned count = is_wide ? 6 : 3;
    struct vti_table *table;
    int code;

    if (!rows->count) {
        say_none(view->by, rows->has_any);
        return 0;
    }
    memcpy(columns, is_wide ? wide : narrow, count * sizeof *columns);
    columns[count - 1].title = vti_energy_by_word(view->by);
    code = vti_table_create(&table, columns, count);
    if (code)
        return code;
    vti_table_keep_last(table, NAME_LEAST);
    add_rows(table, view, is_wide);
    putchar('\n');
    code = vti_table_print(table, stdout);
    vti_table_free(table);
    if (!code && rows->count > view->limit)
        printf("... and %zu more%s\n", rows->count - view->limit,
               view->file ? ", -n 0 shows all" : "");
    return code;
}

/* Whose joules the rows are, and what of the program's is in none of them. */
static int print_cover(const struct vti_energy_view *view)
{
    bool is_sampled = view->energy->tables[VTI_ENERGY_BY_LINE].is_sampled &&
                      (view->by == VTI_ENERGY_BY_LINE || !view->file);
    double program = vti_energy_cpu_joules(view->energy);
    char seen[VTI_JOULES_BYTES], all[VTI_JOULES_BYTES], text[480];

    if (view->by == VTI_ENERGY_BY_PROCESS)
        return view->energy->tables[view->by].elsewhere.cpu_s > 0
                   ? vti_energy_print_prose("\n", unseen)
                   : 0;
    snprintf(text, sizeof text,
             "Of threads that record: %s of the %s that the program used of the processors.%s%s",
             vti_text_joules(seen, fmin(view->energy->threads.full, program)),
             vti_text_joules(all, program), is_sampled ? sampled : "",
             view->energy->tables[view->by].is_scaled ? scaled : "");
    return vti_energy_print_prose("\n", text);
}

int vti_energy_print_rule(const struct vti_energy_view *view)
{
    int code = print_cover(view);

    return code ? code : vti_energy_print_prose("\n", rule);
}
