/* report_energy.c - what a program used, and how quickly it did the work that it counted, in the summary of its recording. */
#include "cli/energy.h"
#include "cli/report.h"

#include <stdio.h>

#define ROWS 3 /* of each table: `venturi energy` has the rest */

/* Borrowed: the study frees what is in it. */
static struct vti_energy_view view_of(const struct vti_report *report)
{
    return (struct vti_energy_view){.energy = &report->study.energy,
                                    .footing = report->study.energy.footing};
}

/* The most of each kind that there is. */
static int print_tables(struct vti_energy_view view)
{
    static const enum vti_energy_by kinds[] = {VTI_ENERGY_BY_FUNCTION, VTI_ENERGY_BY_LINE,
                                               VTI_ENERGY_BY_TASK, VTI_ENERGY_BY_SPAN};
    bool is_shown = false;
    int code = 0;

    view.limit = ROWS;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !code; i++) {
        view.by = kinds[i];
        if (!view.energy->tables[view.by].count)
            continue;
        is_shown = true;
        code = vti_energy_print_table(&view);
    }
    return code || !is_shown ? code : vti_energy_print_rule(&view);
}

int vti_report_print_energy(const struct vti_report *report)
{
    const struct vti_energy_view view = view_of(report);
    int code = 0;

    if (view.energy->tree_count) {
        puts("\nEnergy (`venturi energy` shows what it went to)");
        code = vti_energy_print_sums(&view);
    } else if (view.energy->items.is_counted) {
        puts("\nThroughput");
    }
    if (!code)
        code = vti_energy_print_items(&view);
    return code ? code : print_tables(view);
}

void vti_report_json_energy(struct vti_json *json, const struct vti_report *report)
{
    const struct vti_energy *energy = &report->study.energy;

    vti_json_key(json, "energy");
    vti_json_object(json);
    vti_energy_add_json(json, energy, &energy->footing);
    vti_json_object_end(json);
}
