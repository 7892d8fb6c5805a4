/*
 * source_python.c - where a function of Python ends: the rule of inspect.getblock(), on tokens found here.
 *
 * Only those tokens are told apart that the rule asks for. Strings are those of every version up to 3.13, with
 * strings within the braces of f-strings. Text that is no Python ends the block somewhere, never the search.
 */
#include "analyze/source.h"

#include <ctype.h>
#include <string.h>

#define INDENTS 128
#define NESTED 32

enum token { OTHER, WORD, NEWLINE, LINE_BREAK, COMMENT, INDENT, DEDENT };

/* A string that is open, or an expression in the braces of one. */
struct nest {
    char quote; /* 0: an expression */
    bool is_triple, is_formatted, is_raw;
    bool is_spec;  /* of an expression: behind its colon */
    unsigned open; /* of an expression: its brackets */
};

struct finder {
    const struct vti_source_text *source;
    uint32_t row; /* from 1, of the whole file */
    /* tokens */
    size_t indents[INDENTS];
    unsigned indent_count;
    unsigned brackets;
    struct nest nests[NESTED];
    unsigned nest_count;
    bool is_continued; /* by a backslash */
    /* the rule */
    unsigned indent;
    bool is_lambda, has_started, passes_line, is_decorator, is_over;
    uint32_t last;
    size_t body_column; /* 0: not known yet */
};

/* ---- the rule -------------------------------------------------------------------------------- */

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(text, word, len);
}

/* Words that begin a block; the last three are those of Cython. */
static bool begins_block(const char *text, size_t len)
{
    static const char *const words[] = {"def", "class", "lambda", "cdef", "cpdef", "property"};

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(text, len, words[i]))
            return true;
    return false;
}

static void end_line(struct finder *finder)
{
    finder->passes_line = false;
    finder->last = finder->row;
    finder->is_over = finder->is_lambda;
    finder->is_decorator = false;
}

static void eat(struct finder *finder, enum token token, const char *text, size_t len,
                size_t column)
{
    if (!finder->has_started && !finder->is_decorator) {
        finder->is_decorator = len == 1 && *text == '@';
        finder->has_started = token == WORD && begins_block(text, len);
        finder->is_lambda = finder->has_started && is_word(text, len, "lambda");
        finder->passes_line = true;
    } else if (token == NEWLINE) {
        end_line(finder);
    } else if (finder->passes_line) {
        return;
    } else if (token == INDENT) {
        if (!finder->body_column && finder->has_started)
            finder->body_column = column;
        finder->indent++;
        finder->passes_line = true;
    } else if (token == DEDENT) {
        finder->indent -= finder->indent > 0;
        finder->is_over = !finder->indent;
    } else if (token == COMMENT) {
        if (finder->body_column && column >= finder->body_column)
            finder->last = finder->row;
    } else if (!finder->indent && token != LINE_BREAK) {
        finder->is_over = true;
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void push(struct finder *finder, struct nest nest)
{
    if (finder->nest_count < NESTED)
        finder->nests[finder->nest_count++] = nest;
}

static struct nest *top(struct finder *finder)
{
    return finder->nest_count ? &finder->nests[finder->nest_count - 1] : NULL;
}

/* A string begins at `at`, behind a prefix; what follows its quotes. */
static size_t open_string(struct finder *finder, const struct vti_source_line *line, size_t at,
                          const char *prefix, size_t prefix_len)
{
    struct nest nest = {.quote = line->text[at]};

    for (size_t i = 0; i < prefix_len; i++) {
        nest.is_formatted |= strchr("fFtT", prefix[i]) != NULL;
        nest.is_raw |= prefix[i] == 'r' || prefix[i] == 'R';
    }
    nest.is_triple = at + 2 < line->len && line->text[at + 1] == nest.quote &&
                     line->text[at + 2] == nest.quote;
    push(finder, nest);
    return at + (nest.is_triple ? 3 : 1);
}

/* What a backslash in a string takes with it: one character, but no brace of an f-string, except \N{NAME}. */
static size_t walk_escape(struct finder *finder, const struct vti_source_line *line, size_t at)
{
    const struct nest *nest = top(finder);
    bool is_brace = at + 1 < line->len && line->text[at + 1] == '{';

    finder->is_continued = at + 1 == line->len;
    if (nest->is_formatted && !nest->is_raw && at + 2 < line->len && line->text[at + 1] == 'N' &&
        line->text[at + 2] == '{')
        return at + 3;
    return at + (nest->is_formatted && is_brace ? 1 : 2);
}

/* One step within a string. */
static size_t walk_string(struct finder *finder, const struct vti_source_line *line, size_t at)
{
    struct nest *nest = top(finder);
    char c = line->text[at];

    if (c == '\\')
        return walk_escape(finder, line, at);
    if (nest->is_formatted && c == '{') {
        if (at + 1 < line->len && line->text[at + 1] == '{')
            return at + 2;
        push(finder, (struct nest){0});
        return at + 1;
    }
    if (c != nest->quote)
        return at + 1;
    if (nest->is_triple &&
        !(at + 2 < line->len && line->text[at + 1] == c && line->text[at + 2] == c))
        return at + 1;
    finder->nest_count--;
    return at + (nest->is_triple ? 3 : 1);
}

/* What brackets, colons and braces mean within the braces of an f-string. */
static void walk_expression(struct finder *finder, char c)
{
    struct nest *nest = top(finder);

    if (nest->is_spec && c == '{')
        push(finder, (struct nest){0});
    else if (c == '}' && !nest->open)
        finder->nest_count--;
    else if (nest->is_spec)
        return;
    else if (c == '(' || c == '[' || c == '{')
        nest->open++;
    else if (c == ')' || c == ']' || c == '}')
        nest->open -= nest->open > 0;
    else if (c == ':' && !nest->open)
        nest->is_spec = true;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_prefix(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!memchr("rRbBuUfFtT", text[i], 10))
            return false;
    return len <= 2;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* One token of code, outside of strings; what follows it. */
static size_t walk_code(struct finder *finder, const struct vti_source_line *line, size_t at)
{
    const char *from = line->text + at;
    bool is_outside = !finder->nest_count; /* of f-strings too */
    size_t len = 0;

    while (at + len < line->len && is_name(from[len]))
        len++;
    if (at + len < line->len && is_quote(from[len]) && is_prefix(from, len) &&
        !(top(finder) && top(finder)->is_spec)) {
        if (is_outside)
            eat(finder, OTHER, "'", 1, at);
        return open_string(finder, line, at + len, from, len);
    }
    if (len) {
        if (is_outside)
            eat(finder, WORD, from, len, at);
        return at + len;
    }
    if (!is_outside) {
        walk_expression(finder, *from);
        return at + 1;
    }
    if (*from == '(' || *from == '[' || *from == '{')
        finder->brackets++;
    else if (*from == ')' || *from == ']' || *from == '}')
        finder->brackets -= finder->brackets > 0;
    eat(finder, OTHER, from, 1, at);
    return at + 1;
}

/* From `at` to the end of the line, which may be within a string or brackets. */
static void walk_line(struct finder *finder, const struct vti_source_line *line, size_t at)
{
    while (at < line->len && !finder->is_over) {
        const struct nest *nest = top(finder);
        char c = line->text[at];

        finder->is_continued = false;
        if (nest && nest->quote) {
            at = walk_string(finder, line, at);
        } else if (c == '#' && !(nest && nest->is_spec)) {
            if (!nest)
                eat(finder, COMMENT, "#", 1, at);
            break;
        } else if (c == '\\' && at + 1 == line->len) {
            finder->is_continued = true;
            break;
        } else if (c == ' ' || c == '\t' || c == '\f') {
            at++;
        } else {
            at = walk_code(finder, line, at);
        }
    }
    while (finder->nest_count && top(finder)->quote && !top(finder)->is_triple &&
           !finder->is_continued)
        finder->nest_count--; /* a string that was not closed ends with its line */
}

/* The indentation of a line that begins a statement. */
static void take_indent(struct finder *finder, size_t column, size_t offset)
{
    size_t *innermost = &finder->indents[finder->indent_count - 1];

    if (column > *innermost && finder->indent_count < INDENTS) {
        finder->indents[finder->indent_count++] = column;
        eat(finder, INDENT, "", 0, offset);
        return;
    }
    while (!finder->is_over && column < finder->indents[finder->indent_count - 1]) {
        finder->indent_count--;
        if (column > finder->indents[finder->indent_count - 1])
            finder->is_over = true; /* it fits none of those around it */
        else
            eat(finder, DEDENT, "", 0, offset);
    }
}

static void begin_line(struct finder *finder, const struct vti_source_line *line)
{
    size_t column = 0, at = 0;

    for (; at < line->len && strchr(" \t\f", line->text[at]) && line->text[at]; at++)
        column = line->text[at] == ' '    ? column + 1
                 : line->text[at] == '\t' ? (column / 8 + 1) * 8
                                          : 0;
    if (at == line->len || line->text[at] == '#') {
        if (at < line->len)
            eat(finder, COMMENT, "#", 1, at);
        eat(finder, LINE_BREAK, "", 0, at);
        return;
    }
    take_indent(finder, column, at);
    if (finder->is_over)
        return;
    walk_line(finder, line, at);
    if (finder->is_over)
        return;
    if (!finder->nest_count && !finder->brackets && !finder->is_continued)
        eat(finder, NEWLINE, "", 0, line->len);
}

uint32_t vti_source_python_end(const struct vti_source_text *source, uint32_t first)
{
    struct finder finder = {.source = source, .row = first, .last = first, .indent_count = 1};

    if (!first || first > source->count)
        return 0;
    for (; finder.row <= source->count && !finder.is_over; finder.row++) {
        const struct vti_source_line *line = &source->lines[finder.row - 1];

        if (!finder.nest_count && !finder.brackets && !finder.is_continued) {
            begin_line(&finder, line);
            continue;
        }
        finder.is_continued = false;
        walk_line(&finder, line, 0);
        if (!finder.is_over && !finder.nest_count && !finder.brackets && !finder.is_continued)
            eat(&finder, NEWLINE, "", 0, line->len);
    }
    return finder.last;
}
