/*
 * stop.h - Ctrl-C while a command writes or searches: it ends soon, and what it had begun to write
 * goes away with it.
 */
#ifndef VENTURI_CLI_STOP_H
#define VENTURI_CLI_STOP_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP are noted; `notice` is called from the handler, or
 * NULL. A second signal ends the tool at once. */
void vti_stop_watch(void (*notice)(void));

/* The same for who must tidy up in every case: no later signal ends us either, until vti_stop_end(). What takes long has to ask. */
void vti_stop_watch_all(void);
bool vti_stop_asked(void);

/* Once all is tidied up: ends us by the signal that was noted, as our caller expects. */
void vti_stop_end(void);

/* The same, and if none was noted signals end us as ever. */
void vti_stop_unwatch(void);

#endif
