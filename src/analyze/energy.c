/* energy.c - what a recording's program used: trees of processes, prices of CPU time, tables of what it went to. */
#include "analyze/energy.h"

#include "analyze/energy_impl.h"
#include "base/error.h"
#include "model/fact_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATED_BYTES 64

/* ---- prices ---------------------------------------------------------------------------------- */

void vti_joules_add(struct vti_joules *to, const struct vti_joules *from)
{
    to->full += from->full;
    to->dynamic += from->dynamic;
    to->cpu_s += from->cpu_s;
}

/* The first interval that ends after a time. */
static size_t interval_from(const struct vti_energy_tree *tree, int64_t time_ns)
{
    size_t low = 0;
    size_t high = tree->interval_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (tree->intervals[middle].end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the price of an interval with a weight. */
static void weigh(struct vti_joules *sum, const struct vti_energy_interval *interval, double weight)
{
    sum->full += interval->full_watts * weight;
    sum->dynamic += interval->dynamic_watts * weight;
    sum->cpu_s += weight;
}

/* CPU time of a while was used where the program used any: a process is not read while it sleeps, and what it then uses must not be charged at the
 * price of its sleep. */
struct vti_joules vti_energy_price(const struct vti_energy_tree *tree, int64_t begin_ns,
                                   int64_t end_ns)
{
    struct vti_joules by_time = {0};
    struct vti_joules by_use = {0};
    struct vti_joules *best;

    if (end_ns <= begin_ns)
        end_ns = begin_ns + 1;
    for (size_t i = interval_from(tree, begin_ns); i < tree->interval_count; i++) {
        const struct vti_energy_interval *interval = &tree->intervals[i];
        int64_t from = begin_ns > interval->begin_ns ? begin_ns : interval->begin_ns;
        int64_t to = end_ns < interval->end_ns ? end_ns : interval->end_ns;

        if (interval->begin_ns >= end_ns)
            break;
        if (isnan(interval->full_watts) || to <= from)
            continue;
        weigh(&by_time, interval, (double)(to - from));
        weigh(&by_use, interval,
              (double)(to - from) * interval->own_s / vti_energy_seconds(interval));
    }
    best = by_use.cpu_s > 0 ? &by_use : &by_time;
    return (struct vti_joules){.full = best->cpu_s > 0 ? best->full / best->cpu_s : NAN,
                               .dynamic = best->cpu_s > 0 ? best->dynamic / best->cpu_s : NAN,
                               .cpu_s = 1};
}

struct vti_joules vti_energy_cost(const struct vti_energy_tree *tree,
                                  const struct vti_cpu_point *point)
{
    struct vti_joules cost = vti_energy_price(tree, point->begin_ns, point->time_ns);

    cost.cpu_s = (double)point->cpu_ns / 1e9;
    cost.full *= cost.cpu_s;
    cost.dynamic *= cost.cpu_s;
    if (tree->has_prices && isnan(cost.full)) /* that time is stated as unknown */
        cost.full = cost.dynamic = 0;
    if (isnan(tree->price_rest_watts))
        cost.dynamic = NAN;
    return cost;
}

double vti_energy_cpu_joules(const struct vti_energy *energy)
{
    double joules = 0;

    for (size_t i = 0; i < energy->tree_count; i++) {
        const struct vti_energy_use *parts = energy->trees[i].parts;

        joules += parts[parts[VT_ENERGY_CPU].has_source ? VT_ENERGY_CPU : VT_ENERGY_PLATFORM]
                      .full_j;
    }
    return joules;
}

const struct vti_energy_tree *vti_energy_tree_of(const struct vti_energy *energy,
                                                 const vt_recording *recording, uint32_t track)
{
    const struct vti_facts *facts = &recording->facts;
    uint32_t clock = facts->tracks[track]->clock;
    uint32_t domain = clock < facts->clocks.count ? facts->clocks.clocks[clock].id : 0;

    for (size_t i = 0; i < energy->tree_count; i++)
        if (energy->trees[i].log->domain == domain)
            return &energy->trees[i];
    return energy->tree_count ? &energy->trees[0] : NULL;
}

static const char *const by_words[VTI_ENERGY_BY_COUNT] = {
    [VTI_ENERGY_BY_FUNCTION] = "function", [VTI_ENERGY_BY_LINE] = "line",
    [VTI_ENERGY_BY_SPAN] = "span",         [VTI_ENERGY_BY_TASK] = "task",
    [VTI_ENERGY_BY_PROCESS] = "process",
};

const char *vti_energy_by_word(enum vti_energy_by by)
{
    return by_words[by];
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct vti_energy_row *vti_energy_table_add(struct vti_energy_table *table)
{
    struct vti_energy_row *row;

    if (vti_grow(&table->rows, table->count, &table->room, sizeof *table->rows))
        return NULL;
    row = &table->rows[table->count++];
    *row = (struct vti_energy_row){.name = "", .file = ""};
    return row;
}

/* The more comes first, what is not known last. */
static int by_number(double a, double b)
{
    a = isnan(a) ? -INFINITY : a;
    b = isnan(b) ? -INFINITY : b;
    return a > b ? -1 : a < b;
}

static int by_joules(const void *left, const void *right)
{
    const struct vti_energy_row *a = left;
    const struct vti_energy_row *b = right;
    int order = by_number(a->self.full, b->self.full);

    if (!order)
        order = by_number(a->total.full, b->total.full);
    if (!order)
        order = by_number(a->self.cpu_s, b->self.cpu_s);
    return order ? order : strcmp(a->name, b->name);
}

/* Time in which the machine used less than at rest is not a debt. */
static void finish_table(struct vti_energy_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct vti_energy_row *row = &table->rows[i];

        row->self.dynamic = row->self.dynamic < 0 ? 0 : row->self.dynamic;
        row->total.dynamic = row->total.dynamic < 0 ? 0 : row->total.dynamic;
    }
    if (table->elsewhere.cpu_s < VTI_ENERGY_NOISE_S)
        table->elsewhere.full = table->elsewhere.dynamic = table->elsewhere.cpu_s = 0;
    table->elsewhere.full = table->elsewhere.full < 0 ? 0 : table->elsewhere.full;
    table->elsewhere.dynamic = table->elsewhere.dynamic < 0 ? 0 : table->elsewhere.dynamic;
    if (table->count)
        qsort(table->rows, table->count, sizeof *table->rows, by_joules);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void sum_threads(struct vti_energy *energy, const vt_recording *recording)
{
    for (size_t i = 0; i < energy->log.track_ids.count; i++) {
        const struct vti_cpu_track *track = &energy->log.tracks[i];
        const struct vti_energy_tree *tree = vti_energy_tree_of(energy, recording, track->track);

        for (size_t k = 0; k < track->count && tree; k++) {
            struct vti_joules cost = vti_energy_cost(tree, &track->points[k]);

            vti_joules_add(&energy->threads, &cost);
        }
    }
}

static const char *stated(const vt_recording *recording, const char *key, char *text)
{
    struct vti_bytes value;

    if (!vti_recording_meta(recording, key, &value) || value.len >= STATED_BYTES)
        return NULL;
    memcpy(text, value.data, value.len);
    text[value.len] = 0;
    return text;
}

/* What the user stated when it was recorded; checked then, so that what is wrong here is damage and not known. */
void vti_energy_load_footing(struct vti_footing *footing, const vt_recording *recording)
{
    char texts[4][STATED_BYTES];
    const struct vti_energy_stated then = {
        .country = stated(recording, "energy.country", texts[0]),
        .intensity = stated(recording, "energy.intensity", texts[1]),
        .pue = stated(recording, "energy.pue", texts[2]),
        .wue = stated(recording, "energy.wue", texts[3])};

    *footing = (struct vti_footing){0};
    if (vti_footing_set(footing, &then))
        *footing = (struct vti_footing){0};
}

static int make_trees(struct vti_energy *energy)
{
    energy->trees = calloc(energy->log.tree_count + 1, sizeof *energy->trees);
    for (size_t i = 0; energy->trees && i < energy->log.tree_count; i++) {
        energy->tree_count++;
        if (vti_energy_tree_make(&energy->trees[i], &energy->log.trees[i], &energy->resources))
            return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    return energy->trees ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

int vti_energy_load_sums(struct vti_energy *energy, vt_recording *recording)
{
    int code;

    memset(energy, 0, sizeof *energy);
    vti_calls_init(&energy->calls);
    code = vti_energy_log_load(&energy->log, recording);
    if (!code)
        code = vti_resources_load(&energy->resources, recording);
    if (!code)
        code = make_trees(energy);
    return code;
}

int vti_energy_load(struct vti_energy *energy, vt_recording *recording)
{
    int code = vti_energy_load_sums(energy, recording);

    if (!code)
        code = vti_items_load(&energy->items, recording);
    if (code || !energy->tree_count)
        return code;
    vti_energy_load_footing(&energy->footing, recording);
    sum_threads(energy, recording);
    code = vti_energy_load_functions(energy, recording);
    if (!code)
        code = vti_energy_load_lines(energy, recording);
    if (!code)
        code = vti_energy_load_spans(energy, recording);
    if (!code)
        code = vti_energy_load_tasks(energy, recording);
    if (!code)
        code = vti_energy_load_processes(energy);
    if (!code)
        vti_energy_balance(energy);
    for (unsigned i = 0; i < VTI_ENERGY_BY_COUNT && !code; i++)
        finish_table(&energy->tables[i]);
    return code;
}

void vti_energy_fini(struct vti_energy *energy)
{
    for (size_t i = 0; i < energy->tree_count; i++)
        free(energy->trees[i].intervals);
    for (unsigned i = 0; i < VTI_ENERGY_BY_COUNT; i++)
        free(energy->tables[i].rows);
    free(energy->trees);
    vti_calls_fini(&energy->calls);
    vti_resources_fini(&energy->resources);
    vti_energy_log_fini(&energy->log);
}
