/* bench.c - benches in memory. */
#include "perf/bench.h"

#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

int vti_bench_text(char **to, const char *text)
{
    char *copy = strdup(text ? text : "");

    if (!copy)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    free(*to);
    *to = copy;
    return 0;
}

struct vti_bench_entry *vti_bench_add(struct vti_bench *bench, const char *name,
                                      const char *command)
{
    struct vti_bench_entry entry = {0};

    if (vti_bench_text(&entry.name, name) || vti_bench_text(&entry.command, command) ||
        vti_bench_text(&entry.interpreter, "") || vti_bench_text(&entry.mode, "") ||
        vti_grow(&bench->entries, bench->count, &bench->room, sizeof *bench->entries)) {
        free(entry.name);
        free(entry.command);
        free(entry.interpreter);
        free(entry.mode);
        vti_fail(VTI_E_NOMEM, "out of memory");
        return NULL;
    }
    bench->entries[bench->count] = entry;
    return &bench->entries[bench->count++];
}

static struct vti_quantity *find(const struct vti_bench_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->count; i++)
        if (!strcmp(entry->quantities[i].name, name))
            return &entry->quantities[i];
    return NULL;
}

const struct vti_quantity *vti_bench_find(const struct vti_bench_entry *entry, const char *name)
{
    return find(entry, name);
}

const struct vti_bench_entry *vti_bench_entry(const struct vti_bench *bench, const char *name)
{
    for (size_t i = 0; i < bench->count; i++)
        if (!strcmp(bench->entries[i].name, name))
            return &bench->entries[i];
    return NULL;
}

struct vti_quantity *vti_bench_quantity(struct vti_bench_entry *entry, const char *name,
                                        enum vti_quantity_kind kind)
{
    struct vti_quantity *found = find(entry, name);
    struct vti_quantity made = {.kind = kind, .share = 1};

    if (found)
        return found;
    if (vti_bench_text(&made.name, name))
        return NULL;
    if (vti_grow(&entry->quantities, entry->count, &entry->room, sizeof *entry->quantities)) {
        free(made.name);
        return NULL;
    }
    entry->quantities[entry->count] = made;
    return &entry->quantities[entry->count++];
}

int vti_bench_note(struct vti_bench_entry *entry, const char *name, enum vti_quantity_kind kind,
                   double value)
{
    struct vti_quantity *quantity = vti_bench_quantity(entry, name, kind);

    if (!quantity ||
        vti_grow(&quantity->values, quantity->count, &quantity->room, sizeof *quantity->values))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    quantity->values[quantity->count++] = value;
    return 0;
}

int vti_bench_budget(struct vti_bench *bench, const char *text)
{
    char *copy = NULL;

    if (vti_bench_text(&copy, text) || vti_grow(&bench->budgets, bench->budget_count,
                                                &bench->budget_room, sizeof *bench->budgets)) {
        free(copy);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    bench->budgets[bench->budget_count++] = copy;
    return 0;
}

size_t vti_bench_runs(const struct vti_bench_entry *entry)
{
    const struct vti_quantity *cpu = vti_bench_find(entry, "cpu");
    const struct vti_quantity *wall = vti_bench_find(entry, "wall");

    return cpu && cpu->count ? cpu->count : wall ? wall->count : 0;
}

static void free_entry(struct vti_bench_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++) {
        free(entry->quantities[i].name);
        free(entry->quantities[i].values);
    }
    free(entry->quantities);
    free(entry->name);
    free(entry->command);
    free(entry->interpreter);
    free(entry->mode);
}

void vti_bench_fini(struct vti_bench *bench)
{
    for (size_t i = 0; i < bench->count; i++)
        free_entry(&bench->entries[i]);
    for (size_t i = 0; i < bench->budget_count; i++)
        free(bench->budgets[i]);
    free(bench->entries);
    free(bench->budgets);
    free(bench->cpu);
    free(bench->kernel);
    free(bench->governor);
    free(bench->host);
    memset(bench, 0, sizeof *bench);
}

const char *vti_quantity_kind_text(enum vti_quantity_kind kind)
{
    static const char *const names[] = {"cpu",   "wall",  "memory", "energy",
                                        "items", "count", "time",   "value"};

    return kind < VTI_QUANTITY_KINDS ? names[kind] : "value";
}
