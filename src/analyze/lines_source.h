/* lines_source.h - where the text of a function's lines comes from, and why if it comes from nowhere. */
#ifndef VENTURI_ANALYZE_LINES_SOURCE_H
#define VENTURI_ANALYZE_LINES_SOURCE_H

#include "analyze/lines.h"
#include "analyze/source.h"

enum vti_text_state {
    VTI_TEXT_STORED,    /* as it was when the program ran */
    VTI_TEXT_FILE,      /* what is in the file now … */
    VTI_TEXT_CHANGED,   /* … which was written after the program ran */
    VTI_TEXT_MISSING,   /* no such file … */
    VTI_TEXT_NO_FILE,   /* … and none was ever meant: strings, archives … */
    VTI_TEXT_CELL,      /* … and cells of notebooks */
    VTI_TEXT_UNREADABLE /* there is one, but it cannot be read */
};

struct vti_lines_text {
    const char *file; /* borrowed from the table */
    enum vti_text_state state;
    struct vti_source_text source;
    char *why; /* owned; one line if it is missing or unreadable, else NULL */
};

/* Files that were looked for. A zeroed one is ready. */
struct vti_lines_texts {
    struct vti_lines_text **texts; /* owned */
    size_t count, room;
};

/* The text that a function is in; NULL without memory. */
const struct vti_lines_text *vti_lines_texts_find(struct vti_lines_texts *texts,
                                                  const struct vti_lines *lines,
                                                  const struct vti_lines_function *function);
void vti_lines_texts_fini(struct vti_lines_texts *texts);

/* The last line to show of a function: what the recording or the text says. At least its first. */
uint32_t vti_lines_last(const struct vti_lines_text *text,
                        const struct vti_lines_function *function);

#endif
