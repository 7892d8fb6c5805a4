/* store_session.h - `connection_string`: spans of a service go to a store, by a spool and venturi-ship beside its drainer. */
#ifndef VENTURI_NET_STORE_SESSION_H
#define VENTURI_NET_STORE_SESSION_H

#include <stdbool.h>

/* Whether venturi-ship knows such a store. */
bool vti_store_is_known(const char *connection_string);

/* Begins to record for it. What is in the way is said on stderr; the service goes on without. True: vti_store_session_stop() is due. */
bool vti_store_session_start(const char *connection_string);
void vti_store_session_stop(void);

#endif
