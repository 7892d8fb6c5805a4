/* energy_processes.c - joules of processes, by the CPU time that each of them used in each interval. */
#include "analyze/energy_impl.h"
#include "base/error.h"

#define START_NS 3e7 /* a start is known to 10 ms, and the watch allows for two such steps */

static void charge(struct vti_energy_row *row, const struct vti_energy_tree *tree,
                   const struct vti_resource_point *from, const struct vti_resource_point *to)
{
    const unsigned cpu = VTI_RESOURCE_CPU_NS;
    struct vti_cpu_point point = {.begin_ns = from->time_ns, .time_ns = to->time_ns};
    struct vti_joules cost;

    if (!(to->known >> cpu & 1) || to->values[cpu] <= from->values[cpu])
        return;
    point.cpu_ns = to->values[cpu] - from->values[cpu];
    cost = vti_energy_cost(tree, &point);
    vti_joules_add(&row->self, &cost);
    vti_joules_add(&row->total, &cost);
    row->seen++;
}

/* A process that began after the readings did has used all of its time in them. */
static void charge_all(struct vti_energy_row *row, const struct vti_energy_tree *tree,
                       const struct vti_resource_process *process)
{
    const struct vti_resource_series *series = &process->series;
    struct vti_resource_point before = {.time_ns = process->start_ns};

    for (size_t i = 0; i < series->count; i++) {
        if (i || (double)process->start_ns >= (double)tree->intervals[0].begin_ns - START_NS)
            charge(row, tree, i ? &series->points[i - 1] : &before, &series->points[i]);
    }
}

int vti_energy_load_processes(struct vti_energy *energy)
{
    for (size_t i = 0; i < energy->resources.process_count; i++) {
        const struct vti_resource_process *process = &energy->resources.processes[i];
        const struct vti_resource_tree *owner = &energy->resources.trees[process->tree];

        for (size_t k = 0; k < energy->tree_count; k++) {
            struct vti_energy_row *row;

            if (energy->trees[k].processes != owner || !energy->trees[k].interval_count)
                continue;
            row = vti_energy_table_add(&energy->tables[VTI_ENERGY_BY_PROCESS]);
            if (!row)
                return vti_fail(VTI_E_NOMEM, "out of memory");
            row->name = process->name;
            row->id = (uint32_t)i;
            charge_all(row, &energy->trees[k], process);
        }
    }
    return 0;
}
