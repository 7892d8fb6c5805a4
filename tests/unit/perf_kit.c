/* perf_kit.c - benches with known figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf_kit.h"

void perf_kit_runs(struct vti_bench *bench, double middle, double spread, size_t count)
{
    struct vti_bench_entry *entry = bench->count ? &bench->entries[0]
                                                 : vti_bench_add(bench, "", "work");

    if (!bench->cpu)
        vti_bench_text(&bench->cpu, "Test CPU");
    for (size_t i = 0; i < count; i++) {
        double off = spread * ((double)((i * 7 + 3) % 11) / 5 - 1);

        assert_int_equal(vti_bench_note(entry, "cpu", VTI_QUANTITY_CPU, middle * (1 + off)), 0);
        assert_int_equal(vti_bench_note(entry, "wall", VTI_QUANTITY_WALL, 2 * middle), 0);
    }
}

void perf_kit_count(struct vti_bench *bench, const char *name, double one, double other)
{
    vti_bench_note(&bench->entries[0], name, VTI_QUANTITY_COUNT, one);
    vti_bench_note(&bench->entries[0], name, VTI_QUANTITY_COUNT, other);
}
