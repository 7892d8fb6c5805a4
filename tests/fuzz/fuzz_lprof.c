/* fuzz_lprof.c - any bytes as a file of line_profiler, and as the source text of its functions. */
#include "analyze/lines_source.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vti_source_text source;
    struct vti_lines lines, sum;

    if (!vti_lines_read_lprof(&lines, "fuzz", data, size)) {
        if (!vti_lines_init(&sum, 1e-6)) {
            vti_lines_add(&sum, &lines);
            for (size_t i = 0; i < sum.function_count; i++)
                if (vti_lines_total(&sum.functions[i]) != vti_lines_total(&sum.functions[i]))
                    abort();
        }
        vti_lines_fini(&sum);
        vti_lines_fini(&lines);
    }
    if (!vti_source_text_read(&source, "fuzz", (const char *)data, size)) {
        for (uint32_t i = 0; i < 8; i++) {
            if (vti_source_python_end(&source, i) > source.count ||
                vti_source_c_end(&source, i) > source.count)
                abort();
        }
        vti_source_text_fini(&source);
    }
    return 0;
}
