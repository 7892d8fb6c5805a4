/* bench_read.c - a bench from its file. The file may be anything: bounded, one message. */
#include "perf/bench.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json_scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ENTRIES 1000
#define MOST_QUANTITIES 5000 /* of one command */
#define MOST_VALUES 100000
#define MOST_BYTES (64u << 20)

bool vti_json_scan_double(struct vti_json_scan *scan, double *value)
{
    const char *text;
    size_t len;
    char copy[64];
    char *end;

    *value = NAN;
    if (vti_json_peek(scan) == 'n') { /* null: no finite number */
        vti_json_skip(scan);
        return !scan->failed;
    }
    if (!vti_json_scan_number(scan, &text, &len) || len >= sizeof copy) {
        scan->failed = true;
        return false;
    }
    memcpy(copy, text, len);
    copy[len] = 0;
    *value = strtod(copy, &end);
    if (*end)
        scan->failed = true;
    return !scan->failed;
}

static int take_text(struct vti_json_scan *scan, struct vti_buf *text, char **to)
{
    if (vti_json_peek(scan) != '"') {
        vti_json_skip(scan);
        return 0;
    }
    return vti_json_scan_string(scan, text) ? vti_bench_text(to, (const char *)text->data) : 0;
}

static bool is(const struct vti_buf *key, const char *name)
{
    return !strcmp((const char *)key->data, name);
}

/* ---- parts --------------------------------------------------------------------------------------- */

static int read_machine(struct vti_bench *bench, struct vti_json_scan *scan, struct vti_buf *text)
{
    struct vti_buf key = {0};
    bool is_first = true;
    double cores;
    int code = 0;

    if (!vti_json_take(scan, '{'))
        scan->failed = true;
    while (!code && !scan->failed && vti_json_next_key(scan, &is_first, &key)) {
        if (is(&key, "cores") && vti_json_scan_double(scan, &cores))
            bench->cores = cores > 0 && cores < 1e6 ? (unsigned)cores : 0;
        else if (is(&key, "cpu"))
            code = take_text(scan, text, &bench->cpu);
        else if (is(&key, "kernel"))
            code = take_text(scan, text, &bench->kernel);
        else if (is(&key, "governor"))
            code = take_text(scan, text, &bench->governor);
        else if (is(&key, "host"))
            code = take_text(scan, text, &bench->host);
        else
            vti_json_skip(scan);
    }
    vti_buf_fini(&key);
    return code;
}

static enum vti_quantity_kind kind_of(const char *text)
{
    for (int i = 0; i < VTI_QUANTITY_KINDS; i++)
        if (!strcmp(text, vti_quantity_kind_text((enum vti_quantity_kind)i)))
            return (enum vti_quantity_kind)i;
    return VTI_QUANTITY_VALUE;
}

static int read_values(struct vti_bench_entry *entry, const char *name, enum vti_quantity_kind kind,
                       struct vti_json_scan *scan)
{
    bool is_first = true;
    size_t count = 0;
    double value;
    int code = 0;

    if (!vti_json_take(scan, '['))
        scan->failed = true;
    while (!code && !scan->failed && vti_json_next_item(scan, &is_first)) {
        if (++count > MOST_VALUES)
            return vti_fail(VTI_E_LIMIT, "more than %d values of %s", MOST_VALUES, name);
        if (!vti_json_scan_double(scan, &value))
            break;
        if (kind != VTI_QUANTITY_VALUE && !(value >= 0 && value <= VTI_BENCH_MOST))
            return vti_fail(VTI_E_DAMAGED, "a value of %.100s is negative, too large or no number",
                            name);
        code = vti_bench_note(entry, name, kind, value);
    }
    return code;
}

/* Name and kind stand before the values, as we write them: what comes without is not ours. */
static int read_quantity(struct vti_bench_entry *entry, struct vti_json_scan *scan,
                         struct vti_buf *text)
{
    struct vti_buf key = {0};
    char *name = NULL;
    enum vti_quantity_kind kind = VTI_QUANTITY_VALUE;
    double share = 1;
    bool is_first = true;
    int code = 0;

    if (entry->count >= MOST_QUANTITIES)
        return vti_fail(VTI_E_LIMIT, "more than %d quantities", MOST_QUANTITIES);
    if (!vti_json_take(scan, '{'))
        scan->failed = true;
    while (!code && !scan->failed && vti_json_next_key(scan, &is_first, &key)) {
        if (is(&key, "name"))
            code = take_text(scan, text, &name);
        else if (is(&key, "kind") && vti_json_peek(scan) == '"')
            kind = vti_json_scan_string(scan, text) ? kind_of((const char *)text->data) : kind;
        else if (is(&key, "share"))
            vti_json_scan_double(scan, &share);
        else if (is(&key, "values") && name && vti_bench_find(entry, name))
            code = vti_fail(VTI_E_DAMAGED, "the values of %.100s stand there twice", name);
        else if (is(&key, "values") && name)
            code = read_values(entry, name, kind, scan);
        else
            vti_json_skip(scan);
    }
    if (!code && name && !scan->failed && vti_bench_find(entry, name) && share >= 0)
        vti_bench_quantity(entry, name, kind)->share = share;
    free(name);
    vti_buf_fini(&key);
    return code;
}

static int read_entry(struct vti_bench *bench, struct vti_json_scan *scan, struct vti_buf *text)
{
    struct vti_bench_entry *entry;
    struct vti_buf key = {0};
    bool is_first = true;
    bool is_first_quantity = true;
    int code = 0;

    if (bench->count >= MOST_ENTRIES)
        return vti_fail(VTI_E_LIMIT, "more than %d commands", MOST_ENTRIES);
    entry = vti_bench_add(bench, "", "");
    if (!entry)
        return VTI_E_NOMEM;
    if (!vti_json_take(scan, '{'))
        scan->failed = true;
    while (!code && !scan->failed && vti_json_next_key(scan, &is_first, &key)) {
        if (is(&key, "name"))
            code = take_text(scan, text, &entry->name);
        else if (is(&key, "command"))
            code = take_text(scan, text, &entry->command);
        else if (is(&key, "interpreter"))
            code = take_text(scan, text, &entry->interpreter);
        else if (is(&key, "mode"))
            code = take_text(scan, text, &entry->mode);
        else if (!is(&key, "quantities"))
            vti_json_skip(scan);
        else if (!vti_json_take(scan, '['))
            scan->failed = true;
        else
            while (!code && !scan->failed && vti_json_next_item(scan, &is_first_quantity))
                code = read_quantity(entry, scan, text);
    }
    vti_buf_fini(&key);
    return code;
}

static int read_budgets(struct vti_bench *bench, struct vti_json_scan *scan, struct vti_buf *text)
{
    bool is_first = true;
    int code = 0;

    if (!vti_json_take(scan, '['))
        scan->failed = true;
    while (!code && !scan->failed && vti_json_next_item(scan, &is_first)) {
        if (bench->budget_count >= MOST_ENTRIES)
            return vti_fail(VTI_E_LIMIT, "more than %d budgets", MOST_ENTRIES);
        if (vti_json_scan_string(scan, text))
            code = vti_bench_budget(bench, (const char *)text->data);
    }
    return code;
}

static int read_own(struct vti_bench *bench, struct vti_json_scan *scan, bool *is_own)
{
    struct vti_buf key = {0};
    struct vti_buf text = {0};
    bool is_first = true;
    double version;
    int code = 0;

    *is_own = false;
    if (!vti_json_take(scan, '{'))
        scan->failed = true;
    while (!code && !scan->failed && vti_json_next_key(scan, &is_first, &key)) {
        bool is_first_entry = true;

        if (is(&key, "format") && vti_json_peek(scan) == '"') {
            *is_own = vti_json_scan_string(scan, &text) && is(&text, "venturi bench");
        } else if (!*is_own) {
            break;
        } else if (is(&key, "version") && vti_json_scan_double(scan, &version)) {
            if (!(version >= 1 && version < 2))
                code = vti_fail(VTI_E_UNSUPPORTED, "a bench of version %g", version);
        } else if (is(&key, "machine")) {
            code = read_machine(bench, scan, &text);
        } else if (is(&key, "interleaved")) {
            bench->is_paired = vti_json_peek(scan) == 't';
            vti_json_skip(scan);
        } else if (is(&key, "budgets")) {
            code = read_budgets(bench, scan, &text);
        } else if (is(&key, "benches") && vti_json_take(scan, '[')) {
            while (!code && !scan->failed && vti_json_next_item(scan, &is_first_entry))
                code = read_entry(bench, scan, &text);
        } else {
            vti_json_skip(scan);
        }
    }
    vti_buf_fini(&key);
    vti_buf_fini(&text);
    return code;
}

int vti_bench_parse(struct vti_bench *bench, const char *name, const char *text, size_t size)
{
    struct vti_json_scan scan = {.at = text, .end = text + size};
    bool is_own = false;
    int code;

    if (size > MOST_BYTES)
        return vti_fail(VTI_E_LIMIT, "%s: too large for a bench", name);
    code = read_own(bench, &scan, &is_own);
    if (!code && !is_own) {
        scan = (struct vti_json_scan){.at = text, .end = text + size};
        if (vti_bench_foreign(bench, &scan) != 1)
            code = vti_fail(VTI_E_NOT_FOUND,
                            "%s: neither a recording nor a bench of Venturi, hyperfine, pyperf or "
                            "google-benchmark",
                            name);
    }
    if (!code && (scan.failed || vti_json_peek(&scan) || scan.at != scan.end))
        code = vti_fail(VTI_E_DAMAGED, "%s: byte %zu: not the JSON of a bench", name,
                        (size_t)(scan.at - text));
    else if (code == VTI_E_LIMIT || code == VTI_E_UNSUPPORTED || code == VTI_E_DAMAGED) {
        char why[256];

        snprintf(why, sizeof why, "%s", vti_error_message(code));
        code = vti_fail(code, "%s: %s", name, why);
    }
    return code;
}

int vti_bench_read(struct vti_bench *bench, const char *path)
{
    struct vti_mapping map;
    int code = vti_mapping_open(&map, path);

    if (code)
        return code;
    code = vti_bench_parse(bench, path, map.size ? (const char *)map.data : "", map.size);
    vti_mapping_close(&map);
    return code;
}
