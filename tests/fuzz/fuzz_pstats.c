/*
 * fuzz_pstats.c - libFuzzer target: any bytes as a profile that Python's marshal wrote. What is read must hang
 * together: arcs lead from rows to rows, and stripping the folders keeps all calls.
 */
#include "analyze/profile.h"

#include <stdlib.h>
#include <string.h>

static void require(int condition)
{
    if (!condition)
        abort();
}

static uint64_t count_calls(const struct vti_profile *profile)
{
    uint64_t sum = 0;
    size_t arcs = 0;

    for (size_t i = 0; i < profile->row_count; i++) {
        const struct vti_profile_row *row = &profile->rows[i];

        require(row->function < profile->calls->function_count);
        require(strlen(row->file) + strlen(row->name) < SIZE_MAX);
        require(row->first_caller == arcs);
        arcs += row->caller_count;
        for (size_t j = 0; j < row->caller_count; j++) {
            const struct vti_profile_arc *arc = &profile->arcs[row->first_caller + j];

            require(arc->callee == i && arc->caller < profile->row_count);
        }
        sum += row->numbers.calls;
    }
    require(arcs == profile->arc_count);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vti_profile profile;
    uint64_t calls;

    if (vti_profile_read_pstats(&profile, "input", data, size)) {
        require(!profile.rows && !profile.calls);
        return 0;
    }
    calls = count_calls(&profile);
    require(vti_profile_strip(&profile) == 0);
    require(count_calls(&profile) == calls);
    vti_profile_fini(&profile);
    return 0;
}
