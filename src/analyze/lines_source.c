/*
 * lines_source.c - the text of a function's lines: stored in the recording, else in the file if it is still there.
 *
 * A file that cannot be had is no error: lines are shown without it, and `why` says what is the matter.
 */
#include "analyze/lines_source.h"

#include "base/error.h"
#include "base/file.h"
#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void explain(struct vti_lines_text *text, enum vti_text_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void explain(struct vti_lines_text *text, enum vti_text_state state, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text->state = state;
    if (vasprintf(&text->why, format, args) < 0)
        text->why = NULL;
    va_end(args);
}

/* Whether one of the folders of a path is a file: an archive that Python imports from. */
static bool is_in_archive(const char *path)
{
    struct stat status;
    char *part = strdup(path);
    bool is_one = false;

    for (char *at = part && *part ? strchr(part + 1, '/') : NULL; at && !is_one;
         at = strchr(at + 1, '/')) {
        *at = 0;
        is_one = !stat(part, &status) && S_ISREG(status.st_mode);
        *at = '/';
    }
    free(part);
    return is_one;
}

static void explain_missing(struct vti_lines_text *text)
{
    const char *base = strrchr(text->file, '/');

    base = base ? base + 1 : text->file;
    if (strstr(text->file, "/ipykernel_") || !strncmp(base, "<ipython-input-", 15) ||
        strstr(text->file, "/xpython_"))
        explain(text, VTI_TEXT_CELL, "%s: a cell of a notebook, whose text was not kept",
                text->file);
    else if (base[0] == '<')
        explain(text, VTI_TEXT_NO_FILE, "%s: code from a string, whose text was not kept",
                text->file);
    else if (is_in_archive(text->file))
        explain(text, VTI_TEXT_NO_FILE, "%s: lies in an archive, whose text was not kept",
                text->file);
    else
        explain(text, VTI_TEXT_MISSING, "%s: not found, and its text was not kept", text->file);
}

static void take_bytes(struct vti_lines_text *text, const char *bytes, size_t count)
{
    int code = vti_source_text_read(&text->source, text->file, bytes, count);

    if (code)
        explain(text, VTI_TEXT_UNREADABLE, "%s", vti_error_message(code));
}

static void take_file(struct vti_lines_text *text, const struct vti_lines *lines)
{
    struct vti_mapping map;
    struct stat status;
    int code;

    if (stat(text->file, &status)) {
        explain_missing(text);
        return;
    }
    code = vti_mapping_open(&map, text->file);
    if (code) {
        explain(text, VTI_TEXT_UNREADABLE, "%s", vti_error_message(code));
        return;
    }
    text->state = lines->recorded_s && status.st_mtim.tv_sec > lines->recorded_s ? VTI_TEXT_CHANGED
                                                                                 : VTI_TEXT_FILE;
    take_bytes(text, (const char *)map.data, map.size);
    vti_mapping_close(&map);
}

const struct vti_lines_text *vti_lines_texts_find(struct vti_lines_texts *texts,
                                                  const struct vti_lines *lines,
                                                  const struct vti_lines_function *function)
{
    const struct vti_lines_source *stored;
    struct vti_lines_text *text;

    for (size_t i = texts->count; i-- > 0;)
        if (!strcmp(texts->texts[i]->file, function->file))
            return texts->texts[i];
    if (vti_grow(&texts->texts, texts->count, &texts->room, sizeof(struct vti_lines_text *)))
        return NULL;
    text = calloc(1, sizeof *text);
    if (!text)
        return NULL;
    texts->texts[texts->count++] = text;
    text->file = function->file;
    stored = vti_lines_source(lines, function->file);
    if (stored)
        take_bytes(text, stored->text, stored->len);
    else
        take_file(text, lines);
    return text;
}

void vti_lines_texts_fini(struct vti_lines_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        vti_source_text_fini(&texts->texts[i]->source);
        free(texts->texts[i]->why);
        free(texts->texts[i]);
    }
    free(texts->texts);
    memset(texts, 0, sizeof *texts);
}

/* The last line that has numbers, and the first one that may be before the function's. */
static void find_extent(const struct vti_lines_function *function, uint32_t *first, uint32_t *last)
{
    *first = *last = function->line;
    if (!function->line_count)
        return;
    *last = function->lines[function->line_count - 1].line;
    if (function->lines[0].line < *first)
        *first = function->lines[0].line;
}

uint32_t vti_lines_last(const struct vti_lines_text *text,
                        const struct vti_lines_function *function)
{
    uint32_t first, last, end = function->last_line;

    find_extent(function, &first, &last);
    if (!text->source.count) /* as many as line_profiler shows without text */
        return last > first ? function->line + (last - first) : function->line;
    if (!vti_source_is_c(function->file) && strcmp(function->language, "c") != 0)
        end = vti_source_python_end(&text->source, function->line);
    else if (!end)
        end = vti_source_c_end(&text->source, function->line);
    if (function->last_line > end) /* of a recording, where nothing is to be left out */
        end = function->last_line;
    if (function->last_line && last > end)
        end = last;
    return end > function->line ? end : function->line;
}
