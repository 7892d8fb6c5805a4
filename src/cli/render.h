/*
 * render.h - what commands use to show things: harmless text, numbers with units, tables.
 *
 * Names, paths and messages come from recordings and logs that anybody may have written. Everything
 * that reaches a terminal therefore goes through vti_text_safe(); table cells do so by themselves.
 */
#ifndef VENTURI_CLI_RENDER_H
#define VENTURI_CLI_RENDER_H

#include "base/buf.h"
#include "base/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- text ------------------------------------------------------------------------------------ */

/* Appends `text` with everything that could steer a terminal written as an escape: control
 * characters (\n, \t, \x1b), C1 controls and direction marks (\u202e), bytes that are not UTF-8
 * (\xff). */
void vti_text_safe(struct vti_buf *out, const char *text, size_t len);

/* The same line by line: newlines stay. */
void vti_text_safe_lines(struct vti_buf *out, const char *text, size_t len);

/* Columns that harmless UTF-8 text takes on a terminal. */
size_t vti_text_width(const char *text, size_t len);

/* Appends harmless text, without its middle ("…" instead) if it takes more than `most` columns.
 * Less than 3 columns are not kept to. */
void vti_text_fit(struct vti_buf *out, const char *text, size_t len, size_t most);

/* Ends the text of `out` with a newline, writes it to standard output and frees it. 0 or
 * VTI_E_NOMEM. */
int vti_print_json(struct vti_buf *out);

/* What a recording of `run --ring` has instead of losses; for the count of events. */
#define VTI_KEPT_THE_END "kept the end only, as asked: %llu events gave way"

/* For the count of processes of which there is nothing, or not all. */
#define VTI_MISSING_PROCESSES "processes not recorded, or not to their end: %llu"

/* ---- terminal -------------------------------------------------------------------------------- */

/* Columns to fit into: COLUMNS, else the terminal's width, else 0: as wide as it gets. */
unsigned vti_terminal_width(FILE *to);

/* What --color says: "auto" (or NULL), "always", "never". For the rest of the command. */
void vti_terminal_color(const char *when);
bool vti_terminal_has_color(FILE *to);

/* The escape that starts a style, or "" where colour is unwanted (NO_COLOR, TERM=dumb, no
 * terminal). */
enum vti_style { VTI_STYLE_PLAIN, VTI_STYLE_BOLD, VTI_STYLE_DIM, VTI_STYLE_WARN };
const char *vti_terminal_style(FILE *to, enum vti_style style);

/* ---- tables ---------------------------------------------------------------------------------- */

enum vti_align { VTI_LEFT, VTI_RIGHT };

struct vti_column {
    const char *title;
    enum vti_align align;
};

/*
 * Cells are added row by row and printed in columns as wide as needed. When the lines are too long
 * for the terminal, a left-aligned last column is shortened in the middle of its texts ("…") or,
 * if that would leave less than 24 columns of it, put on a line of its own above the others.
 */
struct vti_table;

/* `columns` is borrowed until the table is freed. 0 or VTI_E_NOMEM. */
int vti_table_create(struct vti_table **table, const struct vti_column *columns, unsigned count);
void vti_table_free(struct vti_table *table);

/* The last column keeps its place in the line down to so many columns, instead of 24. */
void vti_table_keep_last(struct vti_table *table, unsigned least);

void vti_table_text(struct vti_table *table, const char *text); /* NULL: an empty cell */
void vti_table_bytes(struct vti_table *table, const char *text, size_t len);
void vti_table_printf(struct vti_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vti_table_duration(struct vti_table *table, double ns);
void vti_table_time(struct vti_table *table, double ns);       /* narrower: "1.05ms" */
void vti_table_count(struct vti_table *table, uint64_t count); /* all digits */

/* Prints header and rows to stdout or stderr. 0 or VTI_E_NOMEM. */
int vti_table_print(const struct vti_table *table, FILE *to);

/* The same into a buffer, plain, for lines of at most `width` columns (0: as long as it gets). */
int vti_table_render(const struct vti_table *table, struct vti_buf *out, unsigned width);

#endif
