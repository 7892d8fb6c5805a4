/* log_format.h - formats of Python's logging: "%(asctime)s %(levelname)s %(message)s". */
#ifndef VENTURI_NET_LOG_FORMAT_H
#define VENTURI_NET_LOG_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define VTI_LOG_INFO 20 /* the level of every line here */

struct vti_log_record {
    const char *logger;
    const char *message;
    int64_t realtime_ns; /* since 1970 */
};

/* The record as text without a newline, cut to what there is room for, ended by a zero; its length. What has no meaning
 * here comes out as "?". `date` is for strftime; NULL or "" gives Python's own form. */
size_t vti_log_format(char *to, size_t room, const char *format, const char *date,
                      const struct vti_log_record *record);

/* The first part of a format that has no meaning here, of *len bytes, or NULL. */
const char *vti_log_format_check(const char *format, size_t *len);

#endif
