/*
 * source_c.c - where a function of C ends: at the brace that closes its body, or at the semicolon of something
 * without one. Comments, strings and lines of the preprocessor are stepped over.
 */
#include "analyze/source.h"

#include <string.h>

enum state { CODE, COMMENT, STRING };

struct finder {
    enum state state;
    char quote;
    unsigned braces, brackets;
    bool is_directive; /* a line that begins with #, or goes on from one */
    bool is_over;
};

static void take_code(struct finder *finder, char c)
{
    if (c == '"' || c == '\'') {
        finder->state = STRING;
        finder->quote = c;
    } else if (c == '{') {
        finder->braces++;
    } else if (c == '}') {
        finder->braces -= finder->braces > 0;
        finder->is_over = !finder->braces;
    } else if (c == '(' || c == ')') {
        finder->brackets += c == '(' ? 1u : finder->brackets ? -1u : 0u;
    } else if (c == ';' && !finder->braces && !finder->brackets) {
        finder->is_over = true;
    }
}

static void walk_line(struct finder *finder, const char *text, size_t len)
{
    size_t at = 0;

    while (at < len && !finder->is_over) {
        bool is_pair = at + 1 < len;

        if (finder->state == COMMENT) {
            if (is_pair && text[at] == '*' && text[at + 1] == '/') {
                finder->state = CODE;
                at++;
            }
        } else if (finder->state == STRING) {
            if (text[at] == '\\')
                at++;
            else if (text[at] == finder->quote)
                finder->state = CODE;
        } else if (is_pair && text[at] == '/' && text[at + 1] == '/') {
            return;
        } else if (is_pair && text[at] == '/' && text[at + 1] == '*') {
            finder->state = COMMENT;
            at++;
        } else if (!finder->is_directive) {
            take_code(finder, text[at]);
        }
        at++;
    }
    if (finder->state == STRING && !(len && text[len - 1] == '\\'))
        finder->state = CODE;
}

uint32_t vti_source_c_end(const struct vti_source_text *source, uint32_t first)
{
    struct finder finder = {.state = CODE};
    bool goes_on = false;

    if (!first || first > source->count)
        return 0;
    for (uint32_t row = first; row <= source->count; row++) {
        const struct vti_source_line *line = &source->lines[row - 1];
        size_t at = 0;

        while (at < line->len && (line->text[at] == ' ' || line->text[at] == '\t'))
            at++;
        finder.is_directive = goes_on ||
                              (finder.state == CODE && at < line->len && line->text[at] == '#');
        walk_line(&finder, line->text, line->len);
        if (finder.is_over)
            return row;
        goes_on = finder.is_directive && line->len && line->text[line->len - 1] == '\\';
    }
    return first;
}
