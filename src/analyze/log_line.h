/* log_line.h - one line of a trace log as osprofiler writes it in Mistral (rank_line.c). */
#ifndef VENTURI_ANALYZE_LOG_LINE_H
#define VENTURI_ANALYZE_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct vti_log_field {
    const char *at;
    size_t len;
};

struct vti_log_line {
    bool is_stop;
    double duration; /* seconds, of a stop */
    struct vti_log_field base, parent, span, name;
    struct vti_log_field when; /* the timestamp */
    struct vti_log_field
        rest; /* what follows the name and the mark of a slow span; JSON if anything */
};

#define VTI_LOG_SLOW_MARK "  <- !!!"

/* Takes a line without its newline apart. NULL, or the reason why it cannot be used. */
const char *vti_log_line_parse(struct vti_log_line *line, const char *text, size_t len);

/* The decimal number at `begin`, exactly as strtod reads it. Returns its end, NULL if there is
 * none. */
const char *vti_log_number(const char *begin, const char *end, double *value);

#endif
