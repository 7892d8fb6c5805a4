/* lines_json.c - the lines of functions as JSON: times in seconds, with the source text beside them. */
#include "base/error.h"
#include "base/json.h"
#include "cli/lines_render.h"

#include <math.h>
#include <string.h>

static void add_callees(struct vti_json *json, const struct vti_lines_line *line, double unit_s)
{
    vti_json_key(json, "callees");
    vti_json_array(json);
    for (size_t i = 0; i < line->callee_count; i++) {
        const struct vti_lines_callee *callee = &line->callees[i];

        vti_json_object(json);
        vti_json_add_string(json, "name", callee->name);
        vti_json_add_string(json, "file", callee->file);
        vti_json_add_uint(json, "line", callee->line);
        vti_json_add_uint(json, "calls", callee->calls);
        vti_json_add_double(json, "time", callee->time * unit_s);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_percentile(struct vti_json *json, const char *key,
                           const struct vti_lines_line *line, double share, double unit_s)
{
    double ns = line->durations ? vti_durations_percentile(line->durations, share,
                                                           line->shortest * unit_s * 1e9,
                                                           line->longest * unit_s * 1e9)
                                : NAN;

    vti_json_add_double(json, key, ns / 1e9);
}

static void add_line(struct vti_json *json, const struct vti_lines_function *function,
                     const struct vti_lines_line *line, double unit_s)
{
    static const char *const how[] = {"none", "exact", "sampled"};

    vti_json_object(json);
    vti_json_add_uint(json, "line", line->line);
    if (vti_lines_has_hits(function, line))
        vti_json_add_uint(json, "hits", line->hits);
    else
        vti_json_add_double(json, "hits", NAN); /* null */
    vti_json_add_uint(json, "events", line->events);
    vti_json_add_double(json, "time", line->how == VTI_LINE_UNTIMED ? NAN : line->time * unit_s);
    vti_json_add_string(json, "timing", how[line->how <= VTI_LINE_SAMPLED ? line->how : 0]);
    if (line->is_mixed)
        vti_json_add_bool(json, "mixed", true);
    if (vti_lines_is_rough(function, line))
        vti_json_add_bool(json, "rough", true);
    if (line->how == VTI_LINE_SAMPLED) {
        vti_json_add_uint(json, "samples", line->samples);
        vti_json_add_double(json, "error", line->error * unit_s);
    }
    vti_json_add_double(json, "await", line->suspended * unit_s);
    vti_json_add_uint(json, "resumes", line->resumes);
    vti_json_add_double(json, "min", line->shortest * unit_s);
    add_percentile(json, "p50", line, 0.5, unit_s);
    add_percentile(json, "p90", line, 0.9, unit_s);
    add_percentile(json, "p99", line, 0.99, unit_s);
    vti_json_add_double(json, "max", line->longest * unit_s);
    add_callees(json, line, unit_s);
    vti_json_object_end(json);
}

static void add_source(struct vti_json *json, const struct vti_lines_text *text,
                       const struct vti_lines_function *function)
{
    static const char *const states[] = {"stored", "file", "changed",   "missing",
                                         "none",   "none", "unreadable"};
    uint32_t last = vti_lines_last(text, function);

    vti_json_add_uint(json, "last_line", last);
    vti_json_add_string(json, "source", states[text->state]);
    vti_json_key(json, "text");
    vti_json_array(json);
    for (uint32_t i = function->line; i && i <= last && i <= text->source.count; i++)
        vti_json_bytes(json, text->source.lines[i - 1].text, text->source.lines[i - 1].len);
    vti_json_array_end(json);
}

static int add_function(struct vti_json *json, struct vti_lines_view *view,
                        const struct vti_lines_function *function)
{
    const struct vti_lines_text *text = vti_lines_texts_find(&view->texts, view->lines, function);
    double unit_s = view->lines->unit_s;

    if (!text)
        return VTI_E_NOMEM;
    vti_json_object(json);
    vti_json_add_string(json, "file", function->file);
    vti_json_add_uint(json, "line", function->line);
    vti_json_add_string(json, "name", function->name);
    vti_json_add_string(json, "language", function->language);
    if (*function->thread)
        vti_json_add_string(json, "thread", function->thread);
    vti_json_add_uint(json, "calls", function->calls);
    vti_json_add_double(json, "total_time",
                        vti_lines_has_time(function) ? vti_lines_total(function) * unit_s : NAN);
    add_source(json, text, function);
    vti_json_key(json, "lines");
    vti_json_array(json);
    for (size_t i = 0; i < function->line_count; i++)
        add_line(json, function, &function->lines[i], unit_s);
    vti_json_array_end(json);
    vti_json_object_end(json);
    return 0;
}

int vti_lines_json(struct vti_buf *out, struct vti_lines_view *view, const char *const *files,
                   size_t file_count)
{
    struct vti_json json;
    int code = 0;

    vti_json_init(&json, out);
    vti_json_object(&json);
    vti_json_add_uint(&json, "version", 1);
    vti_json_key(&json, "paths");
    vti_json_array(&json);
    for (size_t i = 0; i < file_count; i++)
        vti_json_string(&json, files[i]);
    vti_json_array_end(&json);
    vti_json_add_double(&json, "own_cost", view->lines->cost_ns / 1e9);
    vti_json_add_uint(&json, "lost_lines", view->lines->lost_lines);
    vti_json_key(&json, "functions");
    vti_json_array(&json);
    for (size_t i = 0; i < view->count && !code; i++) {
        const struct vti_lines_function *function = &view->lines->functions[view->functions[i]];

        if (!view->skips_empty || function->line_count)
            code = add_function(&json, view, function);
    }
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    vti_buf_add_u8(out, '\n');
    return code || out->failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}
