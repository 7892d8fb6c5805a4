/* diff.c - the page of a comparison: both runs, and what changed, function by function and path by path. */
#include "page/diff.h"

#include "page/page.h"

#include <string.h>

static void add_run(struct vti_json *json, const char *name, const struct vti_diff_side *side)
{
    static const char *const lists[] = {"hosts", "processes", "tracks", "losses", "damage"};
    bool has_trees = side->counted.row_count != 0;

    vti_json_object(json);
    vti_json_add_string(json, "file", name);
    vti_json_add_string(json, "command", side->command);
    vti_json_add_string(json, "directory", "");
    vti_json_add_string(json, "writer", "");
    vti_json_add_string(json, "policy", "");
    vti_json_add_int(json, "start_unix_ms", side->start_realtime_ns / 1000000);
    vti_json_add_double(json, "duration_ns", side->duration_ns);
    vti_json_add_bool(json, "is_closed", side->is_closed);
    vti_json_add_uint(json, "events", 0);
    vti_json_add_uint(json, "spans", 0);
    vti_json_add_uint(json, "lost_events", side->lost_events);
    vti_json_add_double(json, "own_ns", side->self_ns);
    vti_json_add_double(json, "overhead_ns", side->trees.cost_ns);
    vti_json_add_double(json, "overhead_share", 0);
    vti_json_key(json, "clock");
    vti_json_object(json);
    vti_json_add_string(json, "type", "");
    vti_json_add_double(json, "ticks_per_ns", 0);
    vti_json_object_end(json);
    vti_json_key(json, "mode");
    vti_json_object(json);
    vti_json_add_string(json, "functions",
                        side->is_sampled            ? "sampled"
                        : side->counted.is_imported ? "imported"
                        : has_trees                 ? "counted"
                                                    : "none");
    vti_json_add_bool(json, "timeline", side->spans.row_count != 0);
    vti_json_add_bool(json, "lines", false);
    vti_json_add_double(json, "resources_hz", 0);
    vti_json_object_end(json);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        vti_json_key(json, lists[i]);
        vti_json_array(json);
        vti_json_array_end(json);
    }
    vti_json_object_end(json);
}

static int write_functions(struct vti_page *page, const struct vti_diff *diff)
{
    static const struct vti_page_column columns[] = {{"name", VTI_PAGE_TEXT},
                                                     {"file", VTI_PAGE_TEXT},
                                                     {"language", VTI_PAGE_TEXT},
                                                     {"line", VTI_PAGE_UINT},
                                                     {"base_line", VTI_PAGE_UINT},
                                                     {"base_calls", VTI_PAGE_UINT},
                                                     {"calls", VTI_PAGE_UINT},
                                                     {"base_self", VTI_PAGE_F64},
                                                     {"self", VTI_PAGE_F64},
                                                     {"base_total", VTI_PAGE_F64},
                                                     {"total", VTI_PAGE_F64},
                                                     {"match", VTI_PAGE_UINT},
                                                     {0}};
    int code = vti_page_begin(page, "diff_functions", columns);

    for (size_t i = 0; i < diff->function_count && !code; i++) {
        const struct vti_diff_function *row = &diff->functions[i];
        const union vti_page_value values[] = {{.u = vti_page_text(page, row->name)},
                                               {.u = vti_page_text(page, row->file)},
                                               {.u = vti_page_text(page, row->language)},
                                               {.u = row->line},
                                               {.u = row->base_line},
                                               {.u = row->base.calls},
                                               {.u = row->now.calls},
                                               {.d = row->base.self_ns},
                                               {.d = row->now.self_ns},
                                               {.d = row->base.total_ns},
                                               {.d = row->now.total_ns},
                                               {.u = row->match}};

        code = vti_page_row(page, values);
    }
    return code ? code : vti_page_end(page);
}

static int write_paths(struct vti_page *page, const struct vti_diff *diff)
{
    static const struct vti_page_column columns[] = {
        {"parent", VTI_PAGE_REF},     {"function", VTI_PAGE_UINT}, {"base_calls", VTI_PAGE_UINT},
        {"calls", VTI_PAGE_UINT},     {"base_self", VTI_PAGE_F64}, {"self", VTI_PAGE_F64},
        {"base_total", VTI_PAGE_F64}, {"total", VTI_PAGE_F64},     {0}};
    int code = vti_page_begin(page, "diff_calls", columns);

    for (size_t i = 0; i < diff->path_count && !code; i++) {
        const struct vti_diff_path *row = &diff->paths[i];
        const union vti_page_value values[] = {
            {.u = row->parent == VT_NONE ? 0 : (uint64_t)row->parent + 1},
            {.u = row->function},
            {.u = row->base.calls},
            {.u = row->now.calls},
            {.d = row->base.self_ns},
            {.d = row->now.self_ns},
            {.d = row->base.total_ns},
            {.d = row->now.total_ns}};

        code = vti_page_row(page, values);
    }
    return code ? code : vti_page_end(page);
}

/* A note for each line of a text. */
static void add_lines(struct vti_page *page, const char *kind, const char *before,
                      const struct vti_buf *lines)
{
    const char *at = (const char *)lines->data;
    const char *end = at ? at + lines->len : NULL;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        vti_page_note(page, kind, "%s%.*s.", before, (int)(stop - at), at);
        at = stop + 1;
    }
}

static void add_notes(struct vti_page *page, const struct vti_diff *diff,
                      const struct vti_buf *quantities)
{
    add_lines(page, "quantity", "", quantities);
    add_lines(page, "doubt", "Compare with care: ", &diff->doubts);
    if (diff->function_count && !diff->common)
        vti_page_note(page, "doubt", "The two have no function and no span in common.");
    if (diff->function_count && !diff->path_count)
        vti_page_note(page, "missing",
                      "There are no paths: files of cProfile hold pairs of callers only.");
    vti_page_note(page, "noise", "One run a side: how much of this is noise is not known.");
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int vti_page_diff(const struct vti_diff *diff, const struct vti_buf *quantities,
                  const char *base_name, const char *name, const struct vti_sink *sink)
{
    struct vti_page *page;
    struct vti_json *json;
    struct vti_buf title = {0};
    int code = vti_page_open(&page, sink);

    if (code)
        return code;
    vti_buf_printf(&title, "%s to %s", last_part(base_name), last_part(name));
    json = vti_page_directory(page);
    vti_json_add_string(json, "kind", "diff");
    vti_json_key(json, "title");
    vti_json_bytes(json, (const char *)title.data, title.len);
    vti_json_key(json, "recordings");
    vti_json_array(json);
    add_run(json, last_part(base_name), diff->base);
    add_run(json, last_part(name), diff->now);
    vti_json_array_end(json);
    vti_json_key(json, "findings");
    vti_json_array(json);
    vti_json_array_end(json);
    vti_buf_fini(&title);
    add_notes(page, diff, quantities);
    code = write_functions(page, diff);
    if (!code)
        code = write_paths(page, diff);
    if (!code)
        return vti_page_close(page);
    vti_page_abandon(page);
    return code;
}
