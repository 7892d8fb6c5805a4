/*
 * energy_balance.c - makes each table add up to the program's share of the processors.
 *
 * What the program used and no row has is the last row: what nobody saw, since it ended between two looks or does not record, is in
 * it. Rows never have more than the program: children that nobody waits for are seen as threads, but may be in no sum.
 */
#include "analyze/energy_impl.h"

#include <math.h>

#define SAID_SHARE 0.01 /* less than that too much is the noise of two clocks */

/* By the prices of each interval; shares are settled over longer whiles and carry what clocks disagree about, so that the program's own sum
 * differs by a little, on a busy machine and in a short run by a tenth. NaN where the CPU time of a machine's processes is not known. */
static struct vti_joules program_of(const struct vti_energy *energy)
{
    struct vti_joules sum = {0};

    for (size_t i = 0; i < energy->tree_count; i++) {
        const struct vti_energy_tree *tree = &energy->trees[i];

        if (isnan(tree->own_s))
            sum.cpu_s = NAN;
        for (size_t k = 0; k < tree->interval_count; k++) {
            const struct vti_energy_interval *interval = &tree->intervals[k];
            struct vti_cpu_point point = {.begin_ns = interval->begin_ns,
                                          .time_ns = interval->end_ns};
            struct vti_joules cost;

            if (!(interval->own_s > 0))
                continue;
            point.cpu_ns = (uint64_t)(interval->own_s * 1e9);
            cost = vti_energy_cost(tree, &point);
            vti_joules_add(&sum, &cost);
        }
    }
    return sum;
}

static double down_to(double most, double sum)
{
    return sum > most ? most / sum : 1;
}

/* Who has all of the CPU time has all of the joules, too: a process that is read seldom is charged at the price of a longer while. */
static double to_joules(const struct vti_joules *program, const struct vti_joules *sum)
{
    if (sum->full > 0 && sum->cpu_s > program->cpu_s - VTI_ENERGY_NOISE_S)
        return program->full / sum->full;
    return down_to(program->full, sum->full);
}

static void scale(struct vti_joules *joules, double full, double cpu)
{
    joules->full *= full;
    joules->dynamic *= full;
    joules->cpu_s *= cpu;
}

/* `factor`: what the program's joules are to those by the prices of its CPU time. */
static void balance(struct vti_energy_table *table, const struct vti_joules *program, double factor)
{
    struct vti_joules *rest = &table->elsewhere;
    struct vti_joules sum = {0};
    double full, cpu;

    for (size_t i = 0; i < table->count; i++)
        vti_joules_add(&sum, &table->rows[i].self);
    full = factor * to_joules(program, &sum);
    cpu = down_to(program->cpu_s, sum.cpu_s);
    table->is_scaled = cpu < 1 - SAID_SHARE;
    for (size_t i = 0; i < table->count; i++) {
        scale(&table->rows[i].self, full, cpu);
        scale(&table->rows[i].total, full, cpu);
    }
    scale(&sum, full, cpu);
    *rest = (struct vti_joules){program->full * factor - sum.full,
                                program->dynamic * factor - sum.dynamic,
                                program->cpu_s - sum.cpu_s};
}

void vti_energy_balance(struct vti_energy *energy)
{
    struct vti_joules program = program_of(energy);
    double joules = vti_energy_cpu_joules(energy);
    double factor = program.full > 0 && joules > 0 ? joules / program.full : 1;

    for (unsigned i = 0; i < VTI_ENERGY_BY_COUNT && !isnan(program.cpu_s); i++)
        balance(&energy->tables[i], &program, factor);
}
