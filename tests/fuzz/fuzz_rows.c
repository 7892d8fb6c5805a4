/*
 * fuzz_rows.c - the first line names columns, the rest is a row: it becomes a JSON object that can be read, and a row again; and any bytes
 * instead of an object are refused or become a row.
 */
#include "base/json_scan.h"
#include "step/csv_row.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t first = end ? (size_t)(end - data) : size;
    const char *rest = (const char *)data + (end ? first + 1 : first);
    size_t rest_bytes = size - (end ? first + 1 : first);
    struct vti_csv_names names = {0};
    struct vti_csv_names of_any = {0};
    struct vti_buf object = {0};
    struct vti_buf row = {0};

    if (!vti_csv_names_read(&names, (const char *)data, first)) {
        if (!vti_csv_to_json(&names, rest, rest_bytes, &object)) {
            struct vti_json_scan scan = {.at = (const char *)object.data,
                                         .end = (const char *)object.data + object.len};

            vti_json_skip(&scan);
            if (scan.failed || scan.at != scan.end)
                abort();
            if (vti_csv_from_json(&names, (const char *)object.data, object.len, &row))
                abort();
        }
        vti_buf_clear(&row);
        vti_csv_from_json(&names, rest, rest_bytes, &row);
    }
    if (!vti_csv_names_of(&of_any, rest, rest_bytes))
        vti_csv_names_write(&of_any, &row);
    vti_csv_names_fini(&of_any);
    vti_csv_names_fini(&names);
    vti_buf_fini(&object);
    vti_buf_fini(&row);
    return 0;
}
