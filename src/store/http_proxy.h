/* http_proxy.h - the proxy of the environment. */
#ifndef VENTURI_STORE_HTTP_PROXY_H
#define VENTURI_STORE_HTTP_PROXY_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it was the proxy, not the `host` of the store, that a reason of libcurl tells of: then `more` has what to say behind it. The address
 * stands in the reason, without credentials. `is_unknown`: it has no address. */
bool vti_http_proxy_failed(bool is_tls, const char *host, bool is_unknown, const char *reason,
                           char *more, size_t room);

#endif
