/*
 * trace_list.c - venturi trace list: one line a trace, also on a narrow terminal, where ids, roots and services are shortened and a
 * service that all have is named once.
 */
#include "analyze/values.h"
#include "base/error.h"
#include "base/hash.h"
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
#define NUMBERS 26    /* columns of time, spans and errors, with those between */
#define DATE 21       /* with those behind it */
#define CLOCK 10      /* likewise, the time of day alone */
#define NAME_LEAST 12 /* columns for a root or a list of services */

/* What a line has, and how much of it. */
struct layout {
    unsigned id_len;
    bool has_date, has_services;
    size_t root_most, services_most; /* columns; 0: any */
};

/* ---- what is listed -------------------------------------------------------------------------- */

struct chosen {
    const struct vti_trace **traces; /* owned */
    size_t count;
    size_t untold; /* left out because nothing tells whether anything failed */
};

static int compare(int64_t left, int64_t right)
{
    return left > right ? -1 : left < right;
}

static int by_size(const void *left, const void *right, void *arg)
{
    const struct vti_trace *a = *(const struct vti_trace *const *)left;
    const struct vti_trace *b = *(const struct vti_trace *const *)right;
    const char *sort = arg;
    int order;

    if (!strcmp(sort, "time"))
        order = compare(a->end_ns - a->begin_ns, b->end_ns - b->begin_ns);
    else if (!strcmp(sort, "spans"))
        order = compare(a->span_count, b->span_count);
    else
        order = compare(a->error_count, b->error_count);
    return order ? order : a < b ? -1 : a > b; /* they lie in order of time */
}

static int choose(struct chosen *chosen, const struct vti_trace_list *list)
{
    const struct vti_traces *traces = list->traces;
    bool is_by_begin = !strcmp(list->sort, "begin");

    chosen->traces = calloc(traces->trace_count + 1, sizeof *chosen->traces);
    if (!chosen->traces)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < traces->trace_count; i++) {
        const struct vti_trace *trace = &traces->traces[i];

        if (list->has_errors_only && !trace->error_count)
            chosen->untold += !trace->knows_errors;
        else if (trace->span_count)
            chosen->traces[chosen->count++] = trace;
    }
    if (!is_by_begin && chosen->count)
        qsort_r(chosen->traces, chosen->count, sizeof *chosen->traces, by_size,
                (void *)(uintptr_t)list->sort);
    if (chosen->count > list->limit) {
        if (is_by_begin)
            memmove(chosen->traces, chosen->traces + chosen->count - list->limit,
                    list->limit * sizeof *chosen->traces);
        chosen->count = list->limit;
    }
    return 0;
}

/* The services of a trace in the order of appearance. 0 or VTI_E_NOMEM. */
static int name_services(struct vti_map **names, const struct vti_traces *traces,
                         const struct vti_trace *trace)
{
    int is_new;
    int code;

    *names = NULL;
    code = vti_map_create(names);
    for (uint32_t i = 0; i < trace->span_count && !code; i++) {
        const char *service = traces->processes[trace->spans[i].process].service;

        if (vti_map_add(*names, service, strlen(service), &is_new) < 0)
            code = VTI_E_NOMEM;
        if (vti_map_count(*names) == trace->service_count)
            break;
    }
    return code;
}

/* ---- text ------------------------------------------------------------------------------------ */

static int add_services(struct vti_buf *out, const struct vti_traces *traces,
                        const struct vti_trace *trace)
{
    struct vti_map *names;
    int code = name_services(&names, traces, trace);

    for (uint32_t i = 0; !code && i < vti_map_count(names) && i < SERVICES_NAMED; i++) {
        size_t len;
        const char *name = vti_map_key(names, i, &len);

        vti_buf_printf(out, "%s%.*s", i ? ", " : "", (int)len, name);
    }
    vti_map_free(names);
    if (trace->service_count > SERVICES_NAMED)
        vti_buf_printf(out, " +%u", trace->service_count - SERVICES_NAMED);
    return code;
}

static const char *when_text(char to[TEXT_ROOM], int64_t realtime_ns, bool has_date)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    const char *form = has_date ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S";
    struct tm when;

    if (!gmtime_r(&seconds, &when) || !strftime(to, TEXT_ROOM, form, &when))
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

/* The service of all that is listed, or NULL. */
static const char *only_service(const struct vti_traces *traces, const struct chosen *chosen)
{
    const char *only = NULL;

    for (size_t i = 0; i < chosen->count; i++) {
        const struct vti_trace *trace = chosen->traces[i];
        const char *service = traces->processes[trace->spans[0].process].service;

        if (trace->service_count > 1 || (only && strcmp(only, service)))
            return NULL;
        only = service;
    }
    return only;
}

static struct layout lay_out(const struct vti_traces *traces, unsigned width, bool has_services)
{
    struct layout layout = {VTI_UUID_TEXT - 1, true, true, 0, 0};
    size_t taken;

    if (!width || width >= WIDE_ENOUGH)
        return layout;
    layout.id_len = distinct_length(traces);
    layout.has_services = has_services;
    taken = layout.id_len + 2 + DATE + NUMBERS;
    if (taken + NAME_LEAST * (size_t)(1 + has_services) + 2 > width) {
        layout.has_date = false;
        taken -= DATE - CLOCK;
    }
    if (taken + 2 * NAME_LEAST + 2 > width)
        layout.has_services = false;
    layout.root_most = width > taken + 3 ? width - taken : 3;
    if (layout.has_services) {
        layout.services_most = (layout.root_most - 2) / 2;
        layout.root_most -= layout.services_most + 2;
    }
    return layout;
}

static void add_fitted(struct vti_table *table, const char *text, size_t len, size_t most)
{
    struct vti_buf safe = {0}, fitted = {0};

    vti_text_safe(&safe, text, len);
    vti_text_fit(&fitted, (const char *)safe.data, safe.len, most ? most : SIZE_MAX);
    vti_table_bytes(table, (const char *)fitted.data, fitted.len);
    vti_buf_fini(&safe);
    vti_buf_fini(&fitted);
}

static int add_row(struct vti_table *table, const struct vti_traces *traces,
                   const struct vti_trace *trace, const struct layout *layout)
{
    struct vti_buf services = {0};
    char id[VTI_UUID_TEXT];
    char when[TEXT_ROOM];
    int code = 0;

    vti_uuid_text(trace->base, id);
    vti_table_bytes(table, id, layout->id_len);
    vti_table_text(table, when_text(when, trace->begin_ns, layout->has_date));
    vti_table_time(table, (double)(trace->end_ns - trace->begin_ns));
    vti_table_count(table, trace->span_count);
    if (trace->knows_errors)
        vti_table_count(table, trace->error_count);
    else
        vti_table_text(table, "-");
    add_fitted(table, trace->spans[0].name, strlen(trace->spans[0].name), layout->root_most);
    if (!layout->has_services)
        return 0;
    code = add_services(&services, traces, trace);
    add_fitted(table, (const char *)services.data, services.len, layout->services_most);
    vti_buf_fini(&services);
    return code;
}

static void say_none(const struct chosen *chosen, const struct vti_traces *traces)
{
    if (chosen->untold == traces->trace_count)
        puts("no trace has an error that is known: a log does not tell errors");
    else if (chosen->untold)
        printf("no trace has an error (of %zu there are only logs, which do not tell errors)\n",
               chosen->untold);
    else
        puts("no trace has an error");
}

static void name_service(const char *service)
{
    struct vti_buf safe = {0};

    vti_text_safe(&safe, service, strlen(service));
    printf("all of service %.*s\n", (int)safe.len, safe.len ? (const char *)safe.data : "");
    vti_buf_fini(&safe);
}

static int print_rows(const struct vti_traces *traces, const struct chosen *chosen)
{
    const char *only = only_service(traces, chosen);
    const struct layout layout = lay_out(traces, vti_terminal_width(stdout), !only);
    const struct vti_column columns[] = {
        {"Trace", VTI_LEFT},   {layout.has_date ? "When (UTC)" : "UTC", VTI_LEFT},
        {"Time", VTI_RIGHT},   {"Spans", VTI_RIGHT},
        {"Errors", VTI_RIGHT}, {"Root", VTI_LEFT},
        {"Services", VTI_LEFT}};
    struct vti_table *table;
    int code = vti_table_create(&table, columns,
                                sizeof columns / sizeof *columns - !layout.has_services);

    if (code)
        return code;
    vti_table_keep_last(table, 3);
    for (size_t i = 0; i < chosen->count && !code; i++)
        code = add_row(table, traces, chosen->traces[i], &layout);
    if (!code && only && !layout.has_services)
        name_service(only);
    if (!code)
        code = vti_table_print(table, stdout);
    vti_table_free(table);
    return code;
}

int vti_trace_list_text(const struct vti_trace_list *list)
{
    struct chosen chosen = {0};
    int code = choose(&chosen, list);

    if (!code && chosen.count)
        code = print_rows(list->traces, &chosen);
    else if (!code)
        say_none(&chosen, list->traces);
    free(chosen.traces);
    return code ? vti_cmd_error("trace", code) : VTI_EXIT_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static int add_trace(struct vti_json *json, const struct vti_traces *traces,
                     const struct vti_trace *trace)
{
    struct vti_map *names;
    char text[VTI_UUID_TEXT];
    char moment[VTI_MOMENT_BYTES];
    int code = name_services(&names, traces, trace);

    vti_uuid_text(trace->base, text);
    vti_json_object(json);
    vti_json_add_string(json, "trace", text);
    vti_json_add_string(json, "begin", vti_moment_text(moment, trace->begin_ns));
    vti_json_add_int(json, "begin_ns", trace->begin_ns);
    vti_json_add_int(json, "duration_ns", trace->end_ns - trace->begin_ns);
    vti_json_add_uint(json, "spans", trace->span_count);
    vti_trace_json_errors(json, trace);
    vti_json_add_uint(json, "unfinished", trace->unfinished_count);
    vti_json_add_uint(json, "orphans", trace->orphan_count);
    vti_json_add_uint(json, "services", trace->service_count);
    vti_json_add_uint(json, "hosts", trace->host_count);
    vti_json_add_string(json, "service", traces->processes[trace->spans[0].process].service);
    vti_json_key(json, "service_names");
    vti_json_array(json);
    for (uint32_t i = 0; !code && i < vti_map_count(names); i++) {
        size_t len;
        const char *name = vti_map_key(names, i, &len);

        vti_json_bytes(json, name, len);
    }
    vti_json_array_end(json);
    vti_json_add_string(json, "root", trace->spans[0].name);
    vti_json_object_end(json);
    vti_map_free(names);
    return code;
}

int vti_trace_list_json(const struct vti_trace_list *list)
{
    struct chosen chosen = {0};
    struct vti_buf out = {0};
    struct vti_json json;
    int code = choose(&chosen, list);

    vti_json_init(&json, &out);
    vti_json_object(&json);
    vti_json_key(&json, "traces");
    vti_json_array(&json);
    for (size_t i = 0; i < chosen.count && !code; i++)
        code = add_trace(&json, list->traces, chosen.traces[i]);
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    free(chosen.traces);
    if (!code)
        code = vti_print_json(&out);
    else
        vti_buf_fini(&out);
    return code ? vti_cmd_error("trace", code) : VTI_EXIT_OK;
}
