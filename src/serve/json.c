/* json.c - what the files that write a state as JSON have in common. */
#include "serve/serve.h"

#include <math.h>
#include <stdio.h>

void vti_json_add_known(struct vti_json *json, const char *key, uint64_t value)
{
    if (value == VTI_LIVE_UNKNOWN)
        vti_json_add_null(json, key);
    else
        vti_json_add_uint(json, key, value);
}

void vti_json_add_ms(struct vti_json *json, const char *key, int64_t unix_ns)
{
    if (unix_ns)
        vti_json_add_double(json, key, (double)(unix_ns / 1000) / 1e3);
    else
        vti_json_add_null(json, key);
}

/* Four digits are enough, and less than half the bytes. */
void vti_json_add_rate(struct vti_json *json, const char *key, double value)
{
    char text[32];

    if (!isfinite(value)) {
        vti_json_add_null(json, key);
        return;
    }
    snprintf(text, sizeof text, "%.4g", value);
    vti_json_key(json, key);
    vti_json_raw(json, text);
}

void vti_json_add_times(struct vti_json *json, const struct vti_live_times *times)
{
    vti_json_add_int(json, "sum_ns", times->sum_ns);
    vti_json_add_int(json, "min_ns", times->min_ns);
    vti_json_add_int(json, "max_ns", times->max_ns);
    vti_json_add_int(json, "p50_ns", times->p50_ns);
    vti_json_add_int(json, "p90_ns", times->p90_ns);
    vti_json_add_int(json, "p99_ns", times->p99_ns);
    vti_json_add_int(json, "recent_p50_ns", times->recent_p50_ns);
    vti_json_add_int(json, "recent_p99_ns", times->recent_p99_ns);
    vti_json_key(json, "buckets");
    vti_json_array(json);
    for (unsigned i = 0; i < VTI_LIVE_BUCKETS; i++)
        vti_json_uint(json, times->buckets[i]);
    vti_json_array_end(json);
}

void vti_json_add_usage(struct vti_json *json, const struct vti_live_usage *usage)
{
    vti_json_add_rate(json, "cpu", usage->cpu);
    vti_json_add_known(json, "cpu_ns", usage->cpu_ns);
    vti_json_add_known(json, "user_ns", usage->user_ns);
    vti_json_add_known(json, "memory_bytes", usage->memory_bytes);
    vti_json_add_known(json, "peak_bytes", usage->peak_bytes);
    vti_json_add_known(json, "threads", usage->threads);
    vti_json_add_known(json, "read_bytes", usage->read_bytes);
    vti_json_add_known(json, "written_bytes", usage->written_bytes);
    vti_json_add_known(json, "disk_read_bytes", usage->disk_read_bytes);
    vti_json_add_known(json, "disk_written_bytes", usage->disk_written_bytes);
    vti_json_add_rate(json, "read_per_s", usage->read_per_s);
    vti_json_add_rate(json, "written_per_s", usage->written_per_s);
}

void vti_json_begin_list(struct vti_json *json, const char *key, size_t count, size_t most)
{
    vti_json_key(json, key);
    vti_json_object(json);
    vti_json_add_uint(json, "count", count);
    vti_json_add_uint(json, "more", count > most ? count - most : 0);
    vti_json_key(json, "list");
    vti_json_array(json);
}

void vti_json_end_list(struct vti_json *json)
{
    vti_json_array_end(json);
    vti_json_object_end(json);
}
