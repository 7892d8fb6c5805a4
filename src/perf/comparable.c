/* comparable.c - whether two benches can be compared: machine, interpreter, command, how they were measured. */
#include "perf/compare.h"

#include <string.h>

static bool differ(const char *a, const char *b)
{
    return a && b && *a && *b && strcmp(a, b);
}

static void machines(struct vti_comparison *comparison, const struct vti_bench *base,
                     const struct vti_bench *now)
{
    if (differ(base->cpu, now->cpu)) {
        comparison->is_comparable = false;
        vti_buf_printf(&comparison->doubts, "the processors differ: %s, then %s\n", base->cpu,
                       now->cpu);
    }
    if (base->cores && now->cores && base->cores != now->cores)
        vti_buf_printf(&comparison->notes, "the number of CPUs differs: %u, then %u\n", base->cores,
                       now->cores);
    if (differ(base->governor, now->governor))
        vti_buf_printf(&comparison->notes, "the frequency governor differs: %s, then %s\n",
                       base->governor, now->governor);
    if (differ(base->kernel, now->kernel))
        vti_buf_printf(&comparison->notes, "the kernel differs: %s, then %s\n", base->kernel,
                       now->kernel);
}

static void commands(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                     const struct vti_bench_entry *now, bool any_command)
{
    if (differ(base->interpreter, now->interpreter)) {
        comparison->is_comparable = false;
        vti_buf_printf(&comparison->doubts, "the interpreters differ: %s, then %s\n",
                       base->interpreter, now->interpreter);
    }
    if (!any_command && differ(base->command, now->command)) {
        comparison->is_same_work = false;
        vti_buf_printf(&comparison->doubts, "the commands differ: %s, then %s\n", base->command,
                       now->command);
    }
    if (differ(base->mode, now->mode)) {
        comparison->is_same_work = false;
        vti_buf_printf(&comparison->doubts, "they were not measured in the same way: %s, then %s\n",
                       base->mode, now->mode);
    }
}

void vti_comparable(struct vti_comparison *comparison, const struct vti_bench *base,
                    const struct vti_bench *now, const struct vti_compare_options *options)
{
    size_t common = 0;

    comparison->is_forced = options->is_forced;
    comparison->is_comparable = comparison->is_same_work = true;
    machines(comparison, base, now);
    for (size_t i = 0; i < base->count; i++) {
        const struct vti_bench_entry *other = vti_bench_entry(now, base->entries[i].name);

        if (!other) {
            vti_buf_printf(&comparison->notes, "%s is only in the base\n",
                           *base->entries[i].name ? base->entries[i].name
                                                  : base->entries[i].command);
            continue;
        }
        common++;
        commands(comparison, &base->entries[i], other, options->any_command);
    }
    if (!common) {
        comparison->is_same_work = false;
        vti_buf_printf(&comparison->doubts, "they have no command in common\n");
    } else if (options->is_forced) {
        comparison->is_comparable = comparison->is_same_work = true;
    }
}
