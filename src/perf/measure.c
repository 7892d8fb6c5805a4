/* measure.c - a recording as a run of a bench: what it used as a whole, and the work that it counted. */
#include "perf/bench.h"

#include "analyze/energy.h"
#include "analyze/items.h"
#include "analyze/resources.h"
#include "base/error.h"

#include <math.h>

#define MOST_QUANTITIES 5000 /* as a file may hold; those that take most of the time come first */

static bool is_time(enum vti_quantity_kind kind)
{
    return kind == VTI_QUANTITY_CPU || kind == VTI_QUANTITY_WALL || kind == VTI_QUANTITY_MEMORY ||
           kind == VTI_QUANTITY_ENERGY || kind == VTI_QUANTITY_TIME;
}

int vti_measuring_add(const struct vti_measuring *measuring, const char *name,
                      enum vti_quantity_kind kind, double share, double value)
{
    struct vti_bench_entry *entry = measuring->entry;
    struct vti_quantity *quantity;

    if ((measuring->counts_only && is_time(kind)) ||
        (entry->count >= MOST_QUANTITIES && !vti_bench_find(entry, name)))
        return 0;
    quantity = vti_bench_quantity(entry, name, kind);
    if (!quantity)
        return VTI_E_NOMEM;
    if (!quantity->count || share > quantity->share)
        quantity->share = share;
    if (quantity->count > entry->recorded) {
        quantity->values[entry->recorded] += value;
        return 0;
    }
    while (quantity->count < entry->recorded) /* it was not there before */
        if (vti_bench_note(entry, name, kind, 0))
            return VTI_E_NOMEM;
    return vti_bench_note(entry, name, kind, value);
}

static int add_usage(const struct vti_measuring *measuring)
{
    struct vt_recording_info info;
    struct vti_resources resources;
    int code = vti_resources_load(&resources, measuring->recording);

    vt_recording_info(measuring->recording, &info);
    for (size_t i = 0; i < resources.tree_count && !code; i++) {
        const struct vti_resource_tree *tree = &resources.trees[i];

        if (tree->cpu_s > 0)
            code = vti_measuring_add(measuring, "cpu", VTI_QUANTITY_CPU, 1, tree->cpu_s);
        if (!code && tree->peak_bytes)
            code = vti_measuring_add(measuring, "rss", VTI_QUANTITY_MEMORY, 1,
                                     (double)tree->peak_bytes);
    }
    if (!code && info.duration_ns > 0)
        code = vti_measuring_add(measuring, "wall", VTI_QUANTITY_WALL, 1,
                                 (double)info.duration_ns / 1e9);
    vti_resources_fini(&resources);
    return code;
}

static int add_items(const struct vti_measuring *measuring)
{
    struct vti_items items;
    int code = vti_items_load(&items, measuring->recording);

    if (!code && items.is_counted)
        code = vti_measuring_add(measuring, "items", VTI_QUANTITY_ITEMS, 1, items.raw);
    if (!code && items.has_effective)
        code = vti_measuring_add(measuring, "effective", VTI_QUANTITY_ITEMS, 1, items.effective);
    return code;
}

/* The program's full share; unknown joules are no joules to compare. */
int vti_measure_energy(struct vti_bench_entry *entry, vt_recording *recording, uint32_t *how)
{
    struct vti_energy energy;
    double joules = 0;
    int code = vti_energy_load(&energy, recording);

    for (size_t i = 0; i < energy.tree_count && !code; i++) {
        joules += energy.trees[i].all.full_j;
        *how = energy.trees[i].all.how > *how ? energy.trees[i].all.how : *how;
    }
    if (!code && energy.tree_count && isfinite(joules))
        code = vti_bench_note(entry, "energy", VTI_QUANTITY_ENERGY, joules);
    vti_energy_fini(&energy);
    return code;
}

/* What did not happen in this run happened no time. */
static int fill_up(struct vti_bench_entry *entry)
{
    int code = 0;

    entry->recorded++;
    for (size_t i = 0; i < entry->count && !code; i++) {
        struct vti_quantity *quantity = &entry->quantities[i];

        if ((quantity->kind == VTI_QUANTITY_COUNT || quantity->kind == VTI_QUANTITY_TIME) &&
            quantity->count < entry->recorded)
            code = vti_bench_note(entry, quantity->name, quantity->kind, 0);
    }
    return code;
}

static int measure(const struct vti_measuring *measuring)
{
    uint32_t how = 0;
    int code = measuring->counts_only ? 0 : add_usage(measuring);

    if (!code && !measuring->counts_only)
        code = vti_measure_energy(measuring->entry, measuring->recording, &how);
    if (!code)
        code = add_items(measuring);
    if (!code)
        code = vti_measure_names(measuring);
    return code ? code : fill_up(measuring->entry);
}

int vti_measure(struct vti_bench_entry *entry, vt_recording *recording, bool counts_only)
{
    const struct vti_measuring measuring = {entry, recording, counts_only, NULL};

    return measure(&measuring);
}

int vti_measure_bench(struct vti_bench *bench, vt_recording *recording,
                      const struct vti_diff_side *side)
{
    struct vt_recording_info info;
    struct vt_host_info host = {.cpu = "", .os = "", .name = ""};
    struct vti_measuring measuring = {.recording = recording, .side = side};

    vt_recording_info(recording, &info);
    measuring.entry = vti_bench_add(bench, "", info.command);
    if (!measuring.entry)
        return VTI_E_NOMEM;
    if (vt_recording_host(recording, 0, &host)) {
        bench->cores = host.cpu_count;
        if ((*host.cpu && vti_bench_text(&bench->cpu, host.cpu)) ||
            vti_bench_text(&bench->kernel, host.os) || vti_bench_text(&bench->host, host.name))
            return VTI_E_NOMEM;
    }
    return measure(&measuring);
}
