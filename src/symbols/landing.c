/*
 * landing.c - where exceptions arrive in functions that clang has compiled.
 *
 * Where the text of the last line is a closing brace, nothing that stands there goes on to a line before it but that.
 * Without the text nothing is done.
 */
#include "symbols/landing.h"

#include "base/file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MOST 16 /* blocks in a row that an exception passes on the last line */

enum {
    BARE,
    LAST,
    BEFORE
}; /* what a block stands on: nothing, the last line only, one before it */

static uint32_t last_line(const struct vti_notes_graph *graph, struct vti_notes_text file)
{
    uint32_t last = 0;

    for (size_t i = 0; i < graph->line_count; i++)
        if (vti_notes_text_is(graph->lines[i].file, file) && graph->lines[i].line > last)
            last = graph->lines[i].line;
    return last;
}

static bool is_brace(const char *path, uint32_t number)
{
    struct vti_mapping text;
    const char *at, *end;
    bool is_one;

    if (vti_mapping_open(&text, path))
        return false;
    at = (const char *)text.data;
    end = at + text.size;
    while (at < end && --number) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));

        at = newline ? newline + 1 : end;
    }
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    is_one = at < end && *at == '}';
    vti_mapping_close(&text);
    return is_one;
}

/* Blocks of the last line that go on to one before it become BEFORE, and then those that lead to them. */
static void find_landings(const struct vti_notes_graph *graph, uint8_t *stands)
{
    bool is_changed = true;

    for (int i = 0; is_changed && i < ROUNDS_MOST; i++) {
        is_changed = false;
        for (size_t j = 0; j < graph->arc_count; j++) {
            const struct vti_notes_arc *arc = &graph->arcs[j];

            if (stands[arc->from] != LAST || stands[arc->to] != BEFORE)
                continue;
            stands[arc->from] = BEFORE;
            is_changed = true;
        }
    }
}

void vti_landings_drop(struct vti_notes_graph *graph, struct vti_notes_text file, const char *path)
{
    uint32_t last = last_line(graph, file);
    uint8_t *stands = calloc((size_t)graph->block_count + 1, 2);
    uint8_t *before;
    size_t kept = 0;

    if (!stands || !last || !is_brace(path, last)) {
        free(stands);
        return;
    }
    for (size_t i = 0; i < graph->line_count; i++) {
        const struct vti_notes_line *line = &graph->lines[i];
        bool is_last = line->line == last && vti_notes_text_is(line->file, file);

        if (!is_last)
            stands[line->block] = BEFORE;
        else if (stands[line->block] == BARE)
            stands[line->block] = LAST;
    }
    before = stands + graph->block_count + 1;
    memcpy(before, stands, graph->block_count);
    find_landings(graph, stands);
    for (size_t i = 0; i < graph->line_count; i++)
        if (before[graph->lines[i].block] != LAST || stands[graph->lines[i].block] == LAST)
            graph->lines[kept++] = graph->lines[i];
    graph->line_count = kept;
    free(stands);
}
