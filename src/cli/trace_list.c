/* trace_list.c - venturi trace list: one line a trace. */
#include "analyze/values.h"
#include "base/error.h"
#include "base/json.h"
#include "base/uuid.h"
#include "cli/cmd.h"
#include "cli/render.h"
#include "cli/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SERVICES_NAMED 3
#define ID_LEAST 8      /* characters of an id, where there is no room for all of them */
#define WIDE_ENOUGH 112 /* columns in which whole ids leave room for the rest */
#define TEXT_ROOM 32

void vti_trace_services(struct vti_buf *out, const struct vti_traces *traces,
                        const struct vti_trace *trace, unsigned most)
{
    const char *named[SERVICES_NAMED + 1];
    unsigned count = 0;

    for (uint32_t i = 0; i < trace->span_count && count < most && count <= SERVICES_NAMED; i++) {
        const char *service = traces->processes[trace->spans[i].process].service;
        bool is_known = false;

        for (unsigned k = 0; k < count; k++)
            is_known |= !strcmp(named[k], service);
        if (is_known)
            continue;
        named[count++] = service;
        vti_buf_printf(out, "%s%s", count > 1 ? ", " : "", service);
    }
    if (trace->service_count > count)
        vti_buf_printf(out, " +%u", trace->service_count - count);
}

static const char *when_text(char to[TEXT_ROOM], int64_t realtime_ns)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm when;

    if (!gmtime_r(&seconds, &when) || !strftime(to, TEXT_ROOM, "%Y-%m-%d %H:%M:%S", &when))
        to[0] = 0;
    return to;
}

static int by_base(const void *left, const void *right)
{
    return memcmp(left, right, 16);
}

/* How many characters of their ids tell all traces apart. */
static unsigned distinct_length(const struct vti_traces *traces)
{
    uint8_t(*bases)[16] = malloc((traces->trace_count + 1) * sizeof *bases);
    unsigned most = ID_LEAST;

    if (!bases)
        return VTI_UUID_TEXT - 1;
    for (size_t i = 0; i < traces->trace_count; i++)
        memcpy(bases[i], traces->traces[i].base, sizeof *bases);
    if (traces->trace_count)
        qsort(bases, traces->trace_count, sizeof *bases, by_base);
    for (size_t i = 1; i < traces->trace_count; i++) {
        char one[VTI_UUID_TEXT], other[VTI_UUID_TEXT];
        unsigned same = 0;

        vti_uuid_text(bases[i - 1], one);
        vti_uuid_text(bases[i], other);
        while (one[same] && one[same] == other[same])
            same++;
        most = same + 1 > most ? same + 1 : most;
    }
    free(bases);
    return most < VTI_UUID_TEXT ? most : VTI_UUID_TEXT - 1;
}

static void add_row(struct vti_table *table, const struct vti_traces *traces,
                    const struct vti_trace *trace, unsigned id_len)
{
    struct vti_buf services = {0};
    char id[VTI_UUID_TEXT];
    char when[TEXT_ROOM];

    vti_uuid_text(trace->base, id);
    vti_table_bytes(table, id, id_len);
    vti_table_text(table, when_text(when, trace->begin_ns));
    vti_table_time(table, (double)(trace->end_ns - trace->begin_ns));
    vti_table_count(table, trace->span_count);
    vti_table_count(table, trace->error_count);
    vti_table_text(table, trace->spans[0].name);
    vti_trace_services(&services, traces, trace, SERVICES_NAMED);
    vti_table_bytes(table, (const char *)services.data, services.len);
    vti_buf_fini(&services);
}

static bool is_wanted(const struct vti_trace *trace, bool has_errors_only)
{
    return trace->span_count && (!has_errors_only || trace->error_count);
}

int vti_trace_list(const struct vti_traces *traces, bool has_errors_only)
{
    static const struct vti_column columns[] = {{"Trace", VTI_LEFT},   {"When (UTC)", VTI_LEFT},
                                                {"Time", VTI_RIGHT},   {"Spans", VTI_RIGHT},
                                                {"Errors", VTI_RIGHT}, {"Root", VTI_LEFT},
                                                {"Services", VTI_LEFT}};
    unsigned width = vti_terminal_width(stdout);
    unsigned id_len = width && width < WIDE_ENOUGH ? distinct_length(traces) : VTI_UUID_TEXT - 1;
    struct vti_table *table;
    size_t shown = 0;
    int code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);

    if (code)
        return vti_cmd_error("trace", code);
    vti_table_keep_last(table, 8);
    for (size_t i = 0; i < traces->trace_count; i++)
        if (is_wanted(&traces->traces[i], has_errors_only)) {
            add_row(table, traces, &traces->traces[i], id_len);
            shown++;
        }
    if (shown)
        code = vti_table_print(table, stdout);
    else
        puts("no trace has an error");
    vti_table_free(table);
    return code ? vti_cmd_error("trace", code) : VTI_EXIT_OK;
}

static void add_trace(struct vti_json *json, const struct vti_traces *traces,
                      const struct vti_trace *trace)
{
    char text[VTI_UUID_TEXT];
    char moment[VTI_MOMENT_BYTES];

    vti_uuid_text(trace->base, text);
    vti_json_object(json);
    vti_json_add_string(json, "trace", text);
    vti_json_add_string(json, "begin", vti_moment_text(moment, trace->begin_ns));
    vti_json_add_int(json, "begin_ns", trace->begin_ns);
    vti_json_add_int(json, "duration_ns", trace->end_ns - trace->begin_ns);
    vti_json_add_uint(json, "spans", trace->span_count);
    vti_json_add_uint(json, "errors", trace->error_count);
    vti_json_add_uint(json, "unfinished", trace->unfinished_count);
    vti_json_add_uint(json, "orphans", trace->orphan_count);
    vti_json_add_uint(json, "services", trace->service_count);
    vti_json_add_uint(json, "hosts", trace->host_count);
    vti_json_add_string(json, "service", traces->processes[trace->spans[0].process].service);
    vti_json_add_string(json, "root", trace->spans[0].name);
    vti_json_object_end(json);
}

int vti_trace_list_json(const struct vti_traces *traces, bool has_errors_only)
{
    struct vti_buf out = {0};
    struct vti_json json;

    vti_json_init(&json, &out);
    vti_json_object(&json);
    vti_json_key(&json, "traces");
    vti_json_array(&json);
    for (size_t i = 0; i < traces->trace_count; i++)
        if (is_wanted(&traces->traces[i], has_errors_only))
            add_trace(&json, traces, &traces->traces[i]);
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    return vti_print_json(&out) ? vti_cmd_error("trace", VTI_E_NOMEM) : VTI_EXIT_OK;
}
