/* prose.h - sentences that break where the terminal ends: parts joined by commas, and words. Harmless whatever they hold. */
#ifndef VENTURI_CLI_PROSE_H
#define VENTURI_CLI_PROSE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* Parts joined by commas, broken between them at the width of the terminal. */
struct vti_sentence {
    struct vti_buf out;
    size_t column;
    size_t width; /* 0: one line */
    size_t indent;
};

void vti_sentence_start(struct vti_sentence *sentence, const char *label);
void vti_sentence_add(struct vti_sentence *sentence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes it to standard output and frees it. 0 or VTI_E_NOMEM. */
int vti_sentence_print(struct vti_sentence *sentence);

/* Words of a text that was made harmless, in lines of `width` columns of which the first `indent` stay free (in the first
 * line they are already taken). Numbers keep their units. */
void vti_prose_wrap(struct vti_buf *out, const char *text, size_t len, size_t width, size_t indent);

/* One such text on standard output, its later lines indented. */
void vti_prose_print(const char *text, size_t indent);

/* Columns for prose: as vti_terminal_width(), 80 in a file or pipe. */
size_t vti_prose_width(void);

/* "1 process", "2 processes". */
void vti_prose_plural(struct vti_buf *out, uint64_t count, const char *what);

#endif
