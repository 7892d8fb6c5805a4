/* page_output.h - where a page goes: a file that appears when it is whole, or standard output; then a browser, if asked for. */
#ifndef VENTURI_CLI_PAGE_OUTPUT_H
#define VENTURI_CLI_PAGE_OUTPUT_H

#include "export/export.h"

#include <stdbool.h>

struct vti_page_output {
    const char *path; /* "-": standard output */
    bool opens;       /* in a browser, once it is whole */
    bool force;       /* replaces what is no page of ours too */
};

/* Whether a page of `input` can go there: 0, or an exit code after one line on stderr. */
int vti_page_output_check(const char *command, const struct vti_page_output *output,
                          const char *input);

/* Has `make` write the page (0 or a negative code), and says where it is. An exit code, after one line on stderr. */
int vti_page_output_write(const char *command, const struct vti_page_output *output,
                          int (*make)(const struct vti_sink *sink, void *arg), void *arg);

/* Which part of the page is at work: a line on a terminal, which goes away at the end. */
void vti_page_output_progress(void *arg, const char *what);

#endif
