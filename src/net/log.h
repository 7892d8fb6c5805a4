/* log.h - the log of a service's trace points: where their lines go, and that they are written. One a process. */
#ifndef VENTURI_NET_LOG_H
#define VENTURI_NET_LOG_H

#include "net/logging_config.h"

/* Follows `logger` in the logging configuration `path` and writes a line for each event of a trace point from now on. 0, also if
 * no line goes anywhere; or a negative code and a message. *is_open says whether there is something to close. */
int vti_log_open(const char *path, const char *logger, bool *is_open);
void vti_log_close(void);

/* Lines that were not written. */
uint64_t vti_log_lost(void);

#endif
