/*
 * bench_foreign.c - benches that hyperfine, pyperf and google-benchmark wrote. Only single runs are taken: a mean of runs
 * says nothing about noise. Their times are of the wall, google-benchmark's of the CPU too.
 */
#include "base/error.h"
#include "base/json_scan.h"
#include "perf/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ENTRIES 1000

/* One benchmark, whoever wrote it, while its object is read. */
struct found {
    struct vti_buf name, unit;
    bool is_aggregate;
    double cpu, wall;   /* of google-benchmark, in its unit; NaN: none */
    double allocations; /* … of one turn, where a program counts them */
    double *values;     /* owned; of the others, in seconds */
    size_t count, room;
    bool is_known;     /* had a key that only such files have */
    bool is_iteration; /* its times are of one turn of a loop, as all but hyperfine's */
};

static bool is(const struct vti_buf *key, const char *name)
{
    return key->data && !strcmp((const char *)key->data, name);
}

static void keep(struct found *found, double value)
{
    if (found->count == found->room) {
        size_t room = found->room ? 2 * found->room : 64;
        double *grown = realloc(found->values, room * sizeof *grown);

        if (!grown)
            return;
        found->values = grown;
        found->room = room;
    }
    found->values[found->count++] = value;
}

static void take_values(struct found *found, struct vti_json_scan *scan)
{
    bool is_first = true;
    double value;

    if (!vti_json_take(scan, '['))
        scan->failed = true;
    while (!scan->failed && vti_json_next_item(scan, &is_first))
        if (vti_json_scan_double(scan, &value) && isfinite(value) && value >= 0)
            keep(found, value);
    found->is_known = true;
}

/* "metadata": {"name": …}. */
static void take_metadata(struct found *found, struct vti_json_scan *scan)
{
    struct vti_buf key = {0};
    bool is_first = true;

    if (!vti_json_take(scan, '{'))
        scan->failed = true;
    while (!scan->failed && vti_json_next_key(scan, &is_first, &key))
        if (is(&key, "name") && vti_json_peek(scan) == '"')
            vti_json_scan_string(scan, &found->name);
        else
            vti_json_skip(scan);
    vti_buf_fini(&key);
}

/* "runs" of pyperf: [{"values": [...]}, …]; those that only calibrate have none. */
static void take_runs(struct found *found, struct vti_json_scan *scan)
{
    struct vti_buf key = {0};
    bool is_first = true;

    if (!vti_json_take(scan, '['))
        scan->failed = true;
    while (!scan->failed && vti_json_next_item(scan, &is_first)) {
        bool is_first_key = true;

        if (!vti_json_take(scan, '{'))
            scan->failed = true;
        while (!scan->failed && vti_json_next_key(scan, &is_first_key, &key))
            if (is(&key, "values"))
                take_values(found, scan);
            else
                vti_json_skip(scan);
    }
    found->is_known = found->is_iteration = true;
    vti_buf_fini(&key);
}

static void take_benchmark(struct found *found, struct vti_json_scan *scan)
{
    struct vti_buf key = {0};
    struct vti_buf text = {0};
    bool is_first = true;

    if (!vti_json_take(scan, '{'))
        scan->failed = true;
    while (!scan->failed && vti_json_next_key(scan, &is_first, &key)) {
        bool is_text = vti_json_peek(scan) == '"';

        if ((is(&key, "command") || is(&key, "run_name") ||
             (is(&key, "name") && !found->name.len)) &&
            is_text)
            vti_json_scan_string(scan, &found->name);
        else if (is(&key, "time_unit") && is_text)
            vti_json_scan_string(scan, &found->unit);
        else if (is(&key, "run_type") && is_text)
            found->is_aggregate = vti_json_scan_string(scan, &text) && is(&text, "aggregate");
        else if (is(&key, "cpu_time") && vti_json_scan_double(scan, &found->cpu))
            found->is_known = found->is_iteration = true;
        else if (is(&key, "real_time") && vti_json_scan_double(scan, &found->wall))
            found->is_known = found->is_iteration = true;
        else if (is(&key, "allocs_per_iter") && vti_json_scan_double(scan, &found->allocations))
            ;
        else if (is(&key, "times"))
            take_values(found, scan);
        else if (is(&key, "metadata"))
            take_metadata(found, scan);
        else if (is(&key, "runs"))
            take_runs(found, scan);
        else if (!scan->failed)
            vti_json_skip(scan);
    }
    vti_buf_fini(&key);
    vti_buf_fini(&text);
}

static double unit_of(const struct found *found)
{
    return is(&found->unit, "s")    ? 1
           : is(&found->unit, "ms") ? 1e-3
           : is(&found->unit, "us") ? 1e-6
                                    : 1e-9;
}

/* As in files of our own: a time or a count that cannot be is none. */
static int note(struct vti_bench_entry *entry, const char *name, enum vti_quantity_kind kind,
                double value)
{
    if (!(value >= 0 && value <= VTI_BENCH_MOST))
        return vti_fail(VTI_E_DAMAGED, "a value of %s is negative, too large or no number", name);
    return vti_bench_note(entry, name, kind, value);
}

static int keep_benchmark(struct vti_bench *bench, const struct found *found)
{
    const char *name = found->name.len ? (const char *)found->name.data : "";
    struct vti_bench_entry *entry = NULL;
    int code = 0;

    for (size_t i = 0; i < bench->count; i++) /* repetitions of google-benchmark come one by one */
        if (!strcmp(bench->entries[i].name, name))
            entry = &bench->entries[i];
    if (!entry && bench->count >= MOST_ENTRIES)
        return vti_fail(VTI_E_LIMIT, "more than %d benchmarks", MOST_ENTRIES);
    if (!entry)
        entry = vti_bench_add(bench, name, name);
    if (!entry || (found->is_iteration && vti_bench_text(&entry->mode, VTI_MODE_ITERATIONS)))
        return VTI_E_NOMEM;
    for (size_t i = 0; i < found->count && !code; i++)
        code = note(entry, "wall", VTI_QUANTITY_WALL, found->values[i]);
    if (!code && !isnan(found->cpu))
        code = note(entry, "cpu", VTI_QUANTITY_CPU, found->cpu * unit_of(found));
    if (!code && !isnan(found->wall))
        code = note(entry, "wall", VTI_QUANTITY_WALL, found->wall * unit_of(found));
    if (!code && !isnan(found->allocations))
        code = note(entry, "allocations", VTI_QUANTITY_COUNT, found->allocations);
    return code;
}

/* An array of benchmarks: 1 if one of them is of a kind that we know. */
static int take_list(struct vti_bench *bench, struct vti_json_scan *scan)
{
    bool is_first = true;
    int known = 0;

    if (!vti_json_take(scan, '['))
        return 0;
    while (!scan->failed && vti_json_next_item(scan, &is_first)) {
        struct found found = {.cpu = NAN, .wall = NAN, .allocations = NAN};

        take_benchmark(&found, scan);
        if (found.is_known && !found.is_aggregate && !scan->failed) {
            known = 1;
            if (keep_benchmark(bench, &found))
                scan->failed = true;
        }
        free(found.values);
        vti_buf_fini(&found.name);
        vti_buf_fini(&found.unit);
    }
    return known;
}

int vti_bench_foreign(struct vti_bench *bench, struct vti_json_scan *scan)
{
    struct vti_buf key = {0};
    bool is_first = true;
    int known = 0;

    if (!vti_json_take(scan, '{'))
        return 0;
    while (!scan->failed && vti_json_next_key(scan, &is_first, &key))
        if (is(&key, "results") || is(&key, "benchmarks"))
            known |= take_list(bench, scan);
        else
            vti_json_skip(scan);
    vti_buf_fini(&key);
    return known;
}
