/* prose.c - sentences that break where the terminal ends. */
#include "cli/prose.h"

#include "base/error.h"
#include "cli/render.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define WIDTH 80    /* where there is no terminal */
#define UNIT_MOST 4 /* bytes of a unit: "%),", "ms," */

void vti_prose_plural(struct vti_buf *out, uint64_t count, const char *what)
{
    vti_buf_printf(out, "%llu %s%s", (unsigned long long)count, what,
                   count == 1                      ? ""
                   : what[strlen(what) - 1] == 's' ? "es"
                                                   : "s");
}

size_t vti_prose_width(void)
{
    size_t width = vti_terminal_width(stdout);

    return width ? width : WIDTH;
}

void vti_sentence_start(struct vti_sentence *sentence, const char *label)
{
    *sentence = (struct vti_sentence){.width = vti_terminal_width(stdout)};
    vti_buf_printf(&sentence->out, "%s", label);
    sentence->column = sentence->indent = strlen(label);
}

void vti_sentence_add(struct vti_sentence *sentence, const char *format, ...)
{
    struct vti_buf safe = {0};
    char text[1024];
    va_list args;
    size_t wide;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vti_text_safe(&safe, text, strlen(text));
    wide = vti_text_width((const char *)safe.data, safe.len);
    if (sentence->column > sentence->indent) {
        if (sentence->width && sentence->column + wide + 3 > sentence->width) {
            vti_buf_printf(&sentence->out, ",\n%*s", (int)sentence->indent, "");
            sentence->column = sentence->indent;
        } else {
            vti_buf_add_text(&sentence->out, ", ");
            sentence->column += 2;
        }
    }
    vti_buf_add(&sentence->out, safe.data, safe.len);
    sentence->column += wide;
    vti_buf_fini(&safe);
}

int vti_sentence_print(struct vti_sentence *sentence)
{
    int code = sentence->out.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;

    vti_buf_add_u8(&sentence->out, '\n');
    if (!code)
        fwrite(sentence->out.data, 1, sentence->out.len, stdout);
    vti_buf_fini(&sentence->out);
    return code;
}

/* The bytes of the next word, with the unit behind a number: "(10 %)," and "1.23 ms" are one. */
static size_t next_word(const char *text, size_t len)
{
    const char *blank = memchr(text, ' ', len);
    size_t word = blank ? (size_t)(blank - text) : len;
    bool is_number = text[0] == '(' ? len > 1 && isdigit((unsigned char)text[1])
                                    : isdigit((unsigned char)text[0]);

    if (blank && is_number) {
        const char *end = memchr(blank + 1, ' ', len - word - 1);
        size_t unit = end ? (size_t)(end - blank - 1) : len - word - 1;

        if (unit <= UNIT_MOST)
            word += 1 + unit;
    }
    return word;
}

void vti_prose_wrap(struct vti_buf *out, const char *text, size_t len, size_t width, size_t indent)
{
    size_t column = indent;

    while (len) {
        size_t word = next_word(text, len);
        size_t wide = vti_text_width(text, word);

        if (column > indent && column + 1 + wide > width) {
            vti_buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            vti_buf_add_text(out, " ");
            column++;
        }
        vti_text_fit(out, text, word, width > indent ? width - indent : 1);
        column += wide;
        text += word + (word < len);
        len -= word + (word < len);
    }
}

void vti_prose_print(const char *text, size_t indent)
{
    struct vti_buf out = {0};

    vti_prose_wrap(&out, text, strlen(text), vti_prose_width(), indent);
    if (!out.failed && out.len)
        printf("%.*s\n", (int)out.len, (const char *)out.data);
    vti_buf_fini(&out);
}
