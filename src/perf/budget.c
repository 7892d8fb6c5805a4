/* budget.c - limits as people write them, and whether they are kept. */
#include "perf/budget.h"

#include "base/error.h"
#include "stats/stats.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------- */

static bool is_throughput(const char *name)
{
    return !strcmp(name, "throughput") || !strcmp(name, "throughput/core") ||
           !strcmp(name, "throughput/cpu") || !strcmp(name, "effective") ||
           !strcmp(name, "effective/core") || !strcmp(name, "effective/cpu");
}

/* What it is measured in: a unit, 0 for plain numbers, '?' for figures that only the bench knows. */
static char unit_of(const char *name)
{
    static const struct { /* a whole name, the end of one from a colon on, or its start up to one */
        const char *text;
        char unit;
    } known[] = {{"cpu", 's'},    {"wall", 's'}, {"rss", 'B'},  {"memory", 'B'}, {"energy", 'J'},
                 {"items", 0},    {":p50", 's'}, {":p90", 's'}, {":p99", 's'},   {":max", 's'},
                 {":total", 's'}, {":count", 0}, {":calls", 0}, {":hits", 0},    {"span:", 's'},
                 {"task:", 's'},  {"calls:", 0}, {"hits:", 0},  {"spans:", 0},   {"tasks:", 0}};
    size_t len = strlen(name);

    if (is_throughput(name))
        return '/';
    if (len > 5 && !strcmp(name + len - 5, "/item"))
        len -= 5;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *text = known[i].text;
        size_t size = strlen(text);
        bool is_end = *text == ':';
        bool is_start = text[size - 1] == ':';

        if ((is_start || is_end ? len > size : len == size) &&
            !strncmp(is_end ? name + len - size : name, text, size))
            return known[i].unit;
    }
    return '?';
}

/* What may stand behind a limit of it. */
static const char *units_of(char unit)
{
    switch (unit) {
    case 's':
        return "ns, us, ms, s, min or h";
    case 'B':
        return "B, k, M or G (1024 each)";
    case 'J':
        return "mJ, J or kJ";
    case '/':
        return "/s";
    case 'x':
        return "x or %";
    default:
        return "plain numbers";
    }
}

static bool take_unit(struct vti_budget *budget, const char *unit)
{
    static const struct {
        const char *name;
        double factor;
        char unit;
    } units[] = {{"", 1, 0},
                 {"ns", 1e-9, 's'},
                 {"us", 1e-6, 's'},
                 {"ms", 1e-3, 's'},
                 {"s", 1, 's'},
                 {"min", 60, 's'},
                 {"h", 3600, 's'},
                 {"k", 1024, 'B'},
                 {"kB", 1024, 'B'},
                 {"KiB", 1024, 'B'},
                 {"M", 1 << 20, 'B'},
                 {"MB", 1 << 20, 'B'},
                 {"MiB", 1 << 20, 'B'},
                 {"G", 1 << 30, 'B'},
                 {"GB", 1 << 30, 'B'},
                 {"GiB", 1 << 30, 'B'},
                 {"B", 1, 'B'},
                 {"J", 1, 'J'},
                 {"kJ", 1000, 'J'},
                 {"mJ", 1e-3, 'J'},
                 {"/s", 1, '/'},
                 {"x", 1, 'x'},
                 {"%", 0.01, 'x'}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].name)) {
            budget->limit *= units[i].factor;
            budget->unit = units[i].unit;
            return true;
        }
    return false;
}

/* The last one: names of functions have some of their own. */
static const char *last_order(const char *text)
{
    const char *less = strrchr(text, '<');
    const char *more = strrchr(text, '>');

    return !less || (more && more > less) ? more : less;
}

int vti_budget_parse(struct vti_budget *budget, const char *text)
{
    const char *at = last_order(text);
    size_t len = at ? (size_t)(at - text) : 0;
    char unit;
    char *end;

    *budget = (struct vti_budget){.text = text};
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    if (!len || len >= sizeof budget->name || strchr("<>=", text[len - 1]))
        return vti_fail(VTI_E_USAGE, "budget '%.200s': write NAME<LIMIT, as in \"cpu<2s\"", text);
    memcpy(budget->name, text, len);
    budget->order = *at == '<' ? (at[1] == '=' ? VTI_BUDGET_AT_MOST : VTI_BUDGET_BELOW)
                               : (at[1] == '=' ? VTI_BUDGET_AT_LEAST : VTI_BUDGET_ABOVE);
    at += 1 + (at[1] == '=');
    budget->limit = strtod(at, &end);
    while (isspace((unsigned char)*end))
        end++;
    if (end == at || !isfinite(budget->limit))
        return vti_fail(VTI_E_USAGE, "budget '%.200s': '%.60s' is no number", text, at);
    if (!take_unit(budget, end))
        return vti_fail(VTI_E_USAGE,
                        "budget '%.200s': '%.60s' is no unit (ns us ms s min h, k M G, J, /s, %%)",
                        text, end);
    unit = unit_of(budget->name);
    if (budget->unit && unit != '?' && budget->unit != unit)
        return vti_fail(VTI_E_USAGE, "budget '%.200s': %.100s is not measured in '%.60s' but in %s",
                        text, budget->name, end, units_of(unit));
    if (unit != '?')
        budget->unit = unit;
    return 0;
}

/* ---- values -------------------------------------------------------------------------------------- */

static double median_of(const struct vti_bench_entry *entry, const char *name)
{
    const struct vti_quantity *quantity = vti_bench_find(entry, name);

    return quantity ? vti_median(quantity->values, quantity->count) : NAN;
}

/* "calls:parse pipeline.py" for "calls:parse": of several files together. */
static double median_in_files(const struct vti_bench_entry *entry, const char *name)
{
    size_t len = strlen(name);
    double sum = NAN;

    for (size_t i = 0; i < entry->count; i++) {
        const struct vti_quantity *quantity = &entry->quantities[i];

        if (!strncmp(quantity->name, name, len) && quantity->name[len] == ' ') {
            double value = vti_median(quantity->values, quantity->count);

            sum = isnan(sum) ? value : sum + value;
        }
    }
    return sum;
}

/* "step:p99", "step:count", "step:total", "parse:calls": spans, then tasks, then functions. */
static double figure_of(const struct vti_bench_entry *entry, const char *name)
{
    static const char *const kinds[] = {"span", "task"};
    const char *colon = strrchr(name, ':');
    int len = colon ? (int)(colon - name) : 0;
    char text[512];
    double value = NAN;

    if (!colon)
        return NAN;
    for (int i = 0; i < 2 && isnan(value); i++) {
        if (!strcmp(colon, ":count"))
            snprintf(text, sizeof text, "%ss:%.*s", kinds[i], len, name);
        else if (!strcmp(colon, ":total"))
            snprintf(text, sizeof text, "%s:%.*s", kinds[i], len, name);
        else
            snprintf(text, sizeof text, "%s:%s", kinds[i], name);
        value = median_of(entry, text);
    }
    if (isnan(value) && (!strcmp(colon, ":calls") || !strcmp(colon, ":hits"))) {
        snprintf(text, sizeof text, "%s:%.*s", colon + 1, len, name);
        value = median_of(entry, text);
        if (isnan(value))
            value = median_in_files(entry, text);
    }
    return value;
}

static double throughput(const struct vti_bench *bench, const struct vti_bench_entry *entry,
                         const char *name)
{
    double items = median_of(entry, "items");
    double effective = median_of(entry, "effective");
    const char *per = strchr(name, '/');
    double by = median_of(entry, per && !strcmp(per, "/cpu") ? "cpu" : "wall");

    if (*name == 'e' && !isnan(effective)) { /* where nobody says otherwise, it is all of them */
        if (effective > items)               /* more done than begun: one of them is wrong */
            return NAN;
        items = effective;
    }
    if (per && !strcmp(per, "/core"))
        by *= bench->cores;
    return by > 0 ? items / by : NAN;
}

double vti_budget_value(const struct vti_budget *budget, const struct vti_bench *bench,
                        const struct vti_bench_entry *entry)
{
    char name[sizeof budget->name];
    size_t len = strlen(budget->name);
    double by = 1;
    double value;

    snprintf(name, sizeof name, "%s", budget->name);
    if (is_throughput(name))
        return throughput(bench, entry, name);
    if (len > 5 && !strcmp(name + len - 5, "/item")) {
        name[len - 5] = 0;
        by = median_of(entry, "items");
        if (!(by > 0)) /* no items, nothing for one */
            return NAN;
    }
    value = median_of(entry, !strcmp(name, "memory") ? "rss" : name);
    if (isnan(value))
        value = figure_of(entry, name);
    value /= by;
    return isfinite(value) ? value : NAN;
}

bool vti_budget_is_kept(const struct vti_budget *budget, double value)
{
    switch (budget->order) {
    case VTI_BUDGET_BELOW:
        return value < budget->limit;
    case VTI_BUDGET_AT_MOST:
        return value <= budget->limit;
    case VTI_BUDGET_ABOVE:
        return value > budget->limit;
    case VTI_BUDGET_AT_LEAST:
        break;
    }
    return value >= budget->limit;
}
