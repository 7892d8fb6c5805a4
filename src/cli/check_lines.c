/*
 * check_lines.c - the lines of the function that carries a difference: both sides run once more with its lines recorded.
 *
 * A line is the same if its text is: it may have moved.
 */
#include "analyze/lines_source.h"
#include "base/error.h"
#include "cli/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES 3
#define SHOWN 60 /* bytes of a line */

struct side {
    struct vti_lines lines;
    struct vti_lines_texts texts;
    const struct vti_lines_function *function; /* NULL: not found */
    const struct vti_source_text *source;
};

static int open_side(struct side *side, const char *path, const char *name)
{
    const struct vti_lines_options options = {0};
    int code = vti_lines_open(&side->lines, path, &options);

    for (size_t i = 0; i < side->lines.function_count && !code && !side->function; i++)
        if (!strcmp(side->lines.functions[i].name, name))
            side->function = &side->lines.functions[i];
    if (!code && side->function) {
        const struct vti_lines_text *text = vti_lines_texts_find(&side->texts, &side->lines,
                                                                 side->function);

        side->source = text ? &text->source : NULL;
    }
    return code;
}

static struct vti_source_line text_of(const struct side *side, const struct vti_lines_line *line)
{
    struct vti_source_line text = {"", 0};

    if (side->source && line->line && line->line <= side->source->count)
        text = side->source->lines[line->line - 1];
    while (text.len && (*text.text == ' ' || *text.text == '\t')) {
        text.text++;
        text.len--;
    }
    return text;
}

static const struct vti_lines_line *find_same(const struct side *base, struct vti_source_line text)
{
    for (size_t i = 0; i < base->function->line_count; i++) {
        struct vti_source_line other = text_of(base, &base->function->lines[i]);

        if (other.len == text.len && !memcmp(other.text, text.text, text.len))
            return &base->function->lines[i];
    }
    return NULL;
}

static int keep(struct vti_checking *checking, const struct side *base, const struct side *now,
                const struct vti_lines_line *line)
{
    struct vti_source_line text = text_of(now, line);
    const struct vti_lines_line *same = find_same(base, text);
    const char *file = strrchr(now->function->file, '/');
    struct vti_reason reason = {
        .kind = "line",
        .base_s = same ? same->time * base->lines.unit_s : 0,
        .now_s = line->time * now->lines.unit_s,
        .base_count = same ? (double)same->hits : 0,
        .now_count = (double)line->hits,
    };

    if (asprintf(&reason.text, "%s:%u  %.*s", file ? file + 1 : now->function->file, line->line,
                 (int)(text.len < SHOWN ? text.len : SHOWN), text.text) < 0)
        return VTI_E_NOMEM;
    if (vti_check_reason(checking, &reason)) {
        free(reason.text);
        return VTI_E_NOMEM;
    }
    return 0;
}

/* Where counts have decided: what the further hits took. The times of one run may say anything. */
static double change_of(const struct vti_checking *checking, const struct side *base,
                        const struct side *now, const struct vti_lines_line *line)
{
    const struct vti_lines_line *same = find_same(base, text_of(now, line));

    if (vti_check_worse_count(&checking->comparison) && line->hits)
        return line->time * now->lines.unit_s *
               (1 - (same ? (double)same->hits : 0) / (double)line->hits);
    return line->time * now->lines.unit_s - (same ? same->time * base->lines.unit_s : 0);
}

/* The largest changes first; few lines, so each is looked for anew. */
static int gather(struct vti_checking *checking, const struct side *base, const struct side *now)
{
    double last = INFINITY;
    int code = 0;

    for (int i = 0; i < MOST_LINES && !code; i++) {
        const struct vti_lines_line *best = NULL;
        double most = 0;

        for (size_t j = 0; j < now->function->line_count; j++) {
            double change = change_of(checking, base, now, &now->function->lines[j]);

            if (change > most && change < last) {
                best = &now->function->lines[j];
                most = change;
            }
        }
        if (!best)
            break;
        last = most;
        code = keep(checking, base, now, best);
    }
    return code;
}

int vti_check_explain_lines(struct vti_checking *checking, const char *function)
{
    const char *last = strrchr(function, '.');
    const char *const options[] = {"-l", "-p", last ? last + 1 : function, NULL};
    char *paths[2] = {vti_check_record(checking, 0, "base-lines.vt", options),
                      vti_check_record(checking, 1, "new-lines.vt", options)};
    struct side sides[2] = {0};
    int code = paths[0] && paths[1] ? 0 : VTI_E_READ;

    for (int i = 0; i < 2 && !code; i++)
        code = open_side(&sides[i], paths[i], function);
    if (!code && sides[0].function && sides[1].function)
        code = gather(checking, &sides[0], &sides[1]);
    for (int i = 0; i < 2; i++) {
        vti_lines_texts_fini(&sides[i].texts);
        vti_lines_fini(&sides[i].lines);
        free(paths[i]);
    }
    return code;
}
