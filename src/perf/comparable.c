/* comparable.c - whether two benches can be compared: machine, interpreter, command, how they were measured. */
#include "perf/compare.h"

#include <string.h>

static bool differ(const char *a, const char *b)
{
    return a && b && *a && *b && strcmp(a, b);
}

static bool is_known(const char *text)
{
    return text && *text;
}

/* Kernels of some processors give them no name; then anything else that tells machines apart does. */
static void unnamed(struct vti_comparison *comparison, const struct vti_bench *base,
                    const struct vti_bench *now)
{
    bool other_cores = base->cores && now->cores && base->cores != now->cores;

    if (differ(base->host, now->host) || other_cores) {
        comparison->is_comparable = false;
        vti_comparison_say(&comparison->doubts,
                           "the processors are not known, and the machines differ: %s (%u CPUs), "
                           "then %s (%u CPUs)",
                           is_known(base->host) ? base->host : "one", base->cores,
                           is_known(now->host) ? now->host : "one", now->cores);
    } else if (!is_known(base->host) || !is_known(now->host)) {
        vti_comparison_say(&comparison->notes, "the processors are not known: they are taken for "
                                               "the same");
    }
}

static void machines(struct vti_comparison *comparison, const struct vti_bench *base,
                     const struct vti_bench *now)
{
    if (!is_known(base->cpu) || !is_known(now->cpu))
        unnamed(comparison, base, now);
    if (differ(base->cpu, now->cpu)) {
        comparison->is_comparable = false;
        vti_comparison_say(&comparison->doubts, "the processors differ: %s, then %s", base->cpu,
                           now->cpu);
    }
    if (base->cores && now->cores && base->cores != now->cores)
        vti_comparison_say(&comparison->notes, "the number of CPUs differs: %u, then %u",
                           base->cores, now->cores);
    if (differ(base->governor, now->governor))
        vti_comparison_say(&comparison->notes, "the frequency governor differs: %s, then %s",
                           base->governor, now->governor);
    if (differ(base->kernel, now->kernel))
        vti_comparison_say(&comparison->notes, "the kernel differs: %s, then %s", base->kernel,
                           now->kernel);
}

static void commands(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                     const struct vti_bench_entry *now, bool any_command)
{
    if (differ(base->interpreter, now->interpreter)) { /* another one makes other calls, too */
        comparison->is_same_work = false;
        vti_comparison_say(&comparison->doubts, "the interpreters differ: %s, then %s",
                           base->interpreter, now->interpreter);
    }
    if (!any_command && differ(base->command, now->command)) {
        comparison->is_same_work = false;
        vti_comparison_say(&comparison->doubts, "the commands differ: %s, then %s", base->command,
                           now->command);
    }
    if (differ(base->mode, now->mode)) {
        comparison->is_same_work = false;
        vti_comparison_say(&comparison->doubts,
                           "they were not measured in the same way: %s, then %s", base->mode,
                           now->mode);
    }
}

/* A name stands for one command: what else has it is compared with nothing. */
static bool is_first_of_name(struct vti_comparison *comparison, const struct vti_bench *bench,
                             const struct vti_bench_entry *entry)
{
    if (vti_bench_entry(bench, entry->name) == entry)
        return true;
    comparison->is_incomplete = true;
    vti_comparison_say(&comparison->doubts,
                       "two commands of one side are called '%s': only the first was compared",
                       entry->name);
    return false;
}

/* How many commands of `bench` the other has, too. */
static size_t common_of(struct vti_comparison *comparison, const struct vti_bench *bench,
                        const struct vti_bench *other, const char *which)
{
    size_t common = 0;

    for (size_t i = 0; i < bench->count; i++) {
        const struct vti_bench_entry *entry = &bench->entries[i];

        if (!is_first_of_name(comparison, bench, entry))
            continue;
        if (vti_bench_entry(other, entry->name)) {
            common++;
            continue;
        }
        comparison->lone++;
        vti_comparison_say(&comparison->notes, "%s is only in the %s",
                           *entry->name ? entry->name : entry->command, which);
    }
    return common;
}

void vti_comparable(struct vti_comparison *comparison, const struct vti_bench *base,
                    const struct vti_bench *now, const struct vti_compare_options *options)
{
    size_t common;

    comparison->is_forced = options->is_forced;
    comparison->is_comparable = comparison->is_same_work = true;
    machines(comparison, base, now);
    common = common_of(comparison, base, now, "base");
    common_of(comparison, now, base, "new side");
    for (size_t i = 0; i < base->count; i++) {
        const struct vti_bench_entry *other = vti_bench_entry(now, base->entries[i].name);

        if (other && vti_bench_entry(base, base->entries[i].name) == &base->entries[i])
            commands(comparison, &base->entries[i], other, options->any_command);
    }
    if (!common) {
        comparison->is_same_work = false;
        vti_comparison_say(&comparison->doubts, "they have no command in common");
    } else if (options->is_forced) {
        comparison->is_comparable = comparison->is_same_work = true;
    }
}
