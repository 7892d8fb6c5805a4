/* http_proxy.c - the proxy of the environment: libcurl uses it by itself; people are told when it was the proxy that could not be reached. */
#include "store/http_proxy.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which libcurl asks for them; HTTP_PROXY is not among them: a web server sets it from a request's header. */
static const char *find_variable(bool is_tls)
{
    static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    const char *value = getenv("http_proxy");

    if (!is_tls && value && *value)
        return "http_proxy";
    for (size_t i = is_tls ? 0 : 2; i < sizeof names / sizeof *names; i++) {
        value = getenv(names[i]);
        if (value && *value)
            return names[i];
    }
    return NULL;
}

/* Whether libcurl's reason tells of this host: "Failed to connect to HOST port N". */
static bool names_host(const char *reason, const char *proxy)
{
    CURLU *url = curl_url();
    char *host = NULL;
    bool is_named = false;

    if (url &&
        !curl_url_set(url, CURLUPART_URL, proxy, CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME) &&
        !curl_url_get(url, CURLUPART_HOST, &host, 0)) {
        const char *bare = host + (*host == '[');
        char words[300];

        snprintf(words, sizeof words, " to %.*s port ", (int)strcspn(bare, "]"), bare);
        is_named = strstr(reason, words) != NULL;
    }
    curl_free(host);
    curl_url_cleanup(url);
    return is_named;
}

bool vti_http_proxy_failed(bool is_tls, const char *host, bool is_unknown, const char *reason,
                           char *more, size_t room)
{
    const char *variable = find_variable(is_tls);

    if (!variable)
        return false;
    /* The store's own host in the reason: the proxy was not used. */
    if (!is_unknown && (!names_host(reason, getenv(variable)) || names_host(reason, host)))
        return false;
    snprintf(more, room, " (the proxy of %s)", variable);
    return true;
}
