/*
 * lines.c - functions whose lines were counted, their lines, and the text of the files they are in.
 *
 * A recording names files, and a page is passed on: a text that the recording does not hold is only taken from a file that is
 * called like a source, never from another.
 */
#include "analyze/lines_source.h"
#include "base/error.h"
#include "page/job.h"

#include <stdlib.h>
#include <string.h>

#define NS 1e9
#define SOURCE_MOST (8u << 20)

/* ---- lines ----------------------------------------------------------------------------------- */

static int write_functions(struct vti_page_job *job, struct vti_lines_texts *texts)
{
    static const struct vti_page_column columns[] = {
        {"name", VTI_PAGE_TEXT},     {"file", VTI_PAGE_TEXT},
        {"language", VTI_PAGE_TEXT}, {"thread", VTI_PAGE_TEXT},
        {"line", VTI_PAGE_UINT},     {"last_line", VTI_PAGE_UINT},
        {"twin", VTI_PAGE_UINT},     {"calls", VTI_PAGE_UINT},
        {"total", VTI_PAGE_F64},     {NULL, 0}};
    const struct vti_lines *lines = &job->study->lines;
    struct vti_page *page = job->page;
    int code = vti_page_begin(page, "line_functions", columns);

    for (size_t i = 0; i < lines->function_count && !code; i++) {
        const struct vti_lines_function *function = &lines->functions[i];
        const struct vti_lines_text *text = vti_lines_texts_find(texts, lines, function);

        if (!text)
            return VTI_E_NOMEM;
        code = vti_page_row(
            page, (union vti_page_value[]){{vti_page_text(page, function->name)},
                                           {vti_page_text(page, function->file)},
                                           {vti_page_text(page, function->language)},
                                           {vti_page_text(page, function->thread)},
                                           {function->line},
                                           {vti_lines_last(text, function)},
                                           {function->twin},
                                           {function->calls},
                                           {.d = vti_lines_total(function) * lines->unit_s * NS}});
    }
    return code ? code : vti_page_end(page);
}

static int write_line(struct vti_page_job *job, size_t at, const struct vti_lines_line *line)
{
    const struct vti_lines *lines = &job->study->lines;
    double unit = lines->unit_s * NS;

    return vti_page_row(job->page,
                        (union vti_page_value[]){{at},
                                                 {line->line},
                                                 {line->statement},
                                                 {line->hits},
                                                 {line->events},
                                                 {line->samples},
                                                 {line->how},
                                                 {vti_lines_has_hits(&lines->functions[at], line)},
                                                 {.d = line->time * unit},
                                                 {.d = line->error * unit},
                                                 {.d = line->suspended * unit},
                                                 {.d = line->shortest * unit},
                                                 {.d = line->longest * unit}});
}

static int write_lines(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {
        {"function", VTI_PAGE_UINT},  {"line", VTI_PAGE_UINT},
        {"statement", VTI_PAGE_UINT}, {"hits", VTI_PAGE_UINT},
        {"events", VTI_PAGE_UINT},    {"samples", VTI_PAGE_UINT},
        {"how", VTI_PAGE_UINT},       {"counted", VTI_PAGE_UINT},
        {"time", VTI_PAGE_F64},       {"error", VTI_PAGE_F64},
        {"suspended", VTI_PAGE_F64},  {"min", VTI_PAGE_F64},
        {"max", VTI_PAGE_F64},        {NULL, 0}};
    const struct vti_lines *lines = &job->study->lines;
    int code = vti_page_begin(job->page, "lines", columns);

    for (size_t i = 0; i < lines->function_count; i++)
        for (size_t j = 0; j < lines->functions[i].line_count && !code; j++)
            code = write_line(job, i, &lines->functions[i].lines[j]);
    return code ? code : vti_page_end(job->page);
}

/* ---- sources --------------------------------------------------------------------------------- */

static bool is_called_like_source(const char *file)
{
    static const char *const endings[] = {".py", ".pyw", ".pyx", ".pyi", ".ipynb"};
    size_t len = strlen(file);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t end = strlen(endings[i]);

        if (len > end && !strcmp(file + len - end, endings[i]))
            return true;
    }
    return vti_source_is_c(file);
}

/* Whether it is to be in the page; if not, why, in a note. */
static bool wants_source(struct vti_page_job *job, const struct vti_lines_text *text)
{
    if (text->state == VTI_TEXT_CHANGED)
        vti_page_note(job->page, "missing",
                      "%s: was changed after this was recorded, its lines may be others.",
                      text->file);
    if (text->why)
        vti_page_note(job->page, "missing", "No source: %s.", text->why);
    else if (text->state != VTI_TEXT_STORED && !is_called_like_source(text->file))
        vti_page_note(job->page, "missing", "No source: %s: is not called like a source file.",
                      text->file);
    else if (text->source.text.len > SOURCE_MOST)
        vti_page_note(job->page, "missing", "No source: %s: is larger than 8 MB.", text->file);
    else
        return true;
    return false;
}

static int write_sources(struct vti_page_job *job, const struct vti_lines_texts *texts)
{
    static const struct vti_page_column columns[] = {
        {"file", VTI_PAGE_TEXT}, {"source", VTI_PAGE_TEXT}, {NULL, 0}};
    struct vti_page *page = job->page;
    int code = vti_page_begin(page, "sources", columns);

    for (size_t i = 0; i < texts->count && !code; i++) {
        const struct vti_lines_text *text = texts->texts[i];

        if (wants_source(job, text))
            code = vti_page_row(
                page,
                (union vti_page_value[]){{vti_page_text(page, text->file)},
                                         {vti_page_bytes(page, (const char *)text->source.text.data,
                                                         text->source.text.len)}});
    }
    return code ? code : vti_page_end(page);
}

int vti_page_add_lines(struct vti_page_job *job)
{
    struct vti_lines_texts texts = {0};
    int code = vti_lines_sort(&job->study->lines);

    if (!code)
        code = write_functions(job, &texts);
    if (!code)
        code = write_lines(job);
    if (!code && !job->options->has_no_source)
        code = write_sources(job, &texts);
    if (!code && job->options->has_no_source && job->study->lines.function_count)
        vti_page_note(job->page, "missing", "No source: left out as asked for with --no-source.");
    vti_lines_texts_fini(&texts);
    return code;
}
