/* log_lines.h - the lines of osprofiler's users, as Mistral writes them: when, how long, which ids, which trace point. */
#ifndef VENTURI_NET_LOG_LINES_H
#define VENTURI_NET_LOG_LINES_H

#include <venturi/context.h>

#include <stdbool.h>

#define VTI_LOG_LINE_MOST 4096 /* a longer name is cut */

/* The line of one event without its newline, ended by a zero; its length. */
size_t vti_log_line(char to[VTI_LOG_LINE_MOST], const struct vt_trace_news *news);

/* Seconds as Python's str() writes a float that has whole microseconds: "0.006782", "1.0", "1.7e-05". */
#define VTI_SECONDS_TEXT 32
void vti_log_seconds(char to[VTI_SECONDS_TEXT], int64_t duration_ns);

#endif
