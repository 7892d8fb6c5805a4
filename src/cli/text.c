/*
 * text.c - harmless text and numbers with units.
 *
 * Must never let a byte through that a terminal would obey, whatever the input.
 */
#include "cli/render.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAD_CHARACTER 0xffffffffu
#define FIT_LEAST 3 /* columns: a character on both sides */

struct range {
    uint32_t first, last;
};

/* Marks that turn the direction of text around or hide it: a name could show as another one. */
static const struct range steering[] = {
    {0x061c, 0x061c}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x2069},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

static const struct range no_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

static const struct range two_columns[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
};

#define IN(table, character) in_ranges(table, sizeof table / sizeof *table, character)

static bool in_ranges(const struct range *ranges, size_t count, uint32_t character)
{
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

/* The next character and its bytes. A byte that begins none gives BAD_CHARACTER and counts
 * alone. */
static uint32_t next_character(const uint8_t *at, size_t left, size_t *used)
{
    uint32_t character;

    *used = vti_utf8_get(at, left, &character);
    if (*used)
        return character;
    *used = 1;
    return BAD_CHARACTER;
}

static void add_escape(struct vti_buf *out, const uint8_t *at, uint32_t character)
{
    static const char letters[] = "abtnvfr"; /* 7 to 13 */

    if (character == BAD_CHARACTER || character < 7 || (character > 13 && character < 0x80))
        vti_buf_printf(out, "\\x%02x", at[0]);
    else if (character <= 13)
        vti_buf_printf(out, "\\%c", letters[character - 7]);
    else
        vti_buf_printf(out, "\\u%04x", (unsigned)character);
}

void vti_text_safe(struct vti_buf *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;

    while (len) {
        size_t used;
        uint32_t character = next_character(at, len, &used);

        if (character == BAD_CHARACTER || character < 0x20 ||
            (character >= 0x7f && character < 0xa0) || IN(steering, character))
            add_escape(out, at, character);
        else
            vti_buf_add(out, at, used);
        at += used;
        len -= used;
    }
}

void vti_text_safe_lines(struct vti_buf *out, const char *text, size_t len)
{
    while (len) {
        const char *newline = memchr(text, '\n', len);
        size_t line = newline ? (size_t)(newline - text) : len;

        vti_text_safe(out, text, line);
        if (newline)
            vti_buf_add_u8(out, '\n');
        text += line + (newline != NULL);
        len -= line + (newline != NULL);
    }
}

size_t vti_text_width(const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t width = 0;

    while (len) {
        size_t used;
        uint32_t character = next_character(at, len, &used);

        if (!IN(no_width, character))
            width += IN(two_columns, character) ? 2 : 1;
        at += used;
        len -= used;
    }
    return width;
}

static bool is_inner_byte(char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* How many bytes at the start of harmless text fill at most `width` columns. */
static size_t fitting_head(const char *text, size_t len, size_t width)
{
    size_t bytes = 0;

    while (bytes < len) {
        size_t next = bytes + 1;
        size_t columns;

        while (next < len && is_inner_byte(text[next]))
            next++;
        columns = vti_text_width(text + bytes, next - bytes);
        if (columns > width)
            break;
        width -= columns;
        bytes = next;
    }
    return bytes;
}

/* The same at its end. */
static size_t fitting_tail(const char *text, size_t len, size_t width)
{
    size_t begin = len;

    while (begin > 0) {
        size_t next = begin - 1;
        size_t columns;

        while (next > 0 && is_inner_byte(text[next]))
            next--;
        columns = vti_text_width(text + next, begin - next);
        if (columns > width)
            break;
        width -= columns;
        begin = next;
    }
    return len - begin;
}

void vti_text_fit(struct vti_buf *out, const char *text, size_t len, size_t most)
{
    size_t head;
    size_t tail;

    if (most < FIT_LEAST || vti_text_width(text, len) <= most) {
        vti_buf_add(out, text, len);
        return;
    }
    head = fitting_head(text, len, (most - 1) / 2);
    tail = fitting_tail(text, len, most - 1 - (most - 1) / 2);
    vti_buf_add(out, text, head);
    vti_buf_add_text(out, "\xe2\x80\xa6"); /* an ellipsis, one column */
    vti_buf_add(out, text + len - tail, tail);
}

unsigned vti_terminal_width(FILE *to)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;

    if (columns && *columns) {
        char *end;
        long width = strtol(columns, &end, 10);

        if (!*end && width >= 20 && width <= 10000)
            return (unsigned)width;
    }
    if (isatty(fileno(to)) && ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return isatty(fileno(to)) ? 80 : 0;
}

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color; /* one for the whole command */

void vti_terminal_color(const char *when)
{
    color = !when || !strcmp(when, "auto") ? COLOR_AUTO
            : !strcmp(when, "always")      ? COLOR_ALWAYS
                                           : COLOR_NEVER;
}

bool vti_terminal_has_color(FILE *to)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (color != COLOR_AUTO)
        return color == COLOR_ALWAYS;
    return !(no_color && *no_color) && term && strcmp(term, "dumb") && isatty(fileno(to));
}

const char *vti_terminal_style(FILE *to, enum vti_style style)
{
    static const char *const escapes[] = {"\033[0m", "\033[1m", "\033[2m", "\033[33m"};

    return vti_terminal_has_color(to) ? escapes[style] : "";
}
