/*
 * guard.c - who may ask.
 *
 * A page of somebody else in the user's browser must not get anything: its requests carry another Origin, or are marked as coming from
 * another site, or, if its name was made to lead here, another Host. Programs of other users on this machine do not know the token.
 */
#include "base/error.h"
#include "serve/serve.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static const char *header_of(const struct vti_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* ---- tokens -------------------------------------------------------------------------------------- */

int vti_guard_make_token(char token[VTI_SERVE_TOKEN_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[16];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return vti_fail_errno(VTI_E_SYSTEM, "no random numbers for a token");
    for (size_t i = 0; i < sizeof bytes; i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
    token[2 * sizeof bytes] = 0;
    return 0;
}

/* Takes as long for one that is nearly right as for one that is not at all. */
static bool is_token(const struct vti_serve *serve, const char *text)
{
    size_t len = strlen(serve->token);
    unsigned difference = 0;

    if (!text || strlen(text) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        difference |= (unsigned)(uint8_t)text[i] ^ (unsigned)(uint8_t)serve->token[i];
    return difference == 0;
}

bool vti_guard_has_token(const struct vti_request *request)
{
    const char *authorization = header_of(request, MHD_HTTP_HEADER_AUTHORIZATION);
    const char *cookie = MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND,
                                                     request->serve->cookie);

    if (authorization && !strncasecmp(authorization, "Bearer ", 7))
        return is_token(request->serve, authorization + 7);
    return is_token(request->serve, cookie);
}

bool vti_guard_has_ticket(const struct vti_request *request)
{
    return is_token(request->serve, MHD_lookup_connection_value(request->connection,
                                                                MHD_GET_ARGUMENT_KIND, "token"));
}

/* ---- hosts and origins --------------------------------------------------------------------------- */

static bool is_name(const char *given, size_t len, const char *name)
{
    return strlen(name) == len && !strncasecmp(given, name, len);
}

static bool is_our_name(const struct vti_serve *serve, const char *given, size_t len)
{
    if (is_name(given, len, "127.0.0.1") || is_name(given, len, "localhost") ||
        is_name(given, len, "[::1]") || is_name(given, len, serve->options.bind))
        return true;
    if (len > 2 && given[0] == '[' && is_name(given + 1, len - 2, serve->options.bind))
        return true;
    for (unsigned i = 0; i < serve->options.host_count; i++)
        if (is_name(given, len, serve->options.hosts[i]))
            return true;
    return false;
}

/* NAME:PORT with one of our names. A name that was allowed by the user may stand for another port: that of a proxy. */
static bool is_our_host(const struct vti_serve *serve, const char *host)
{
    const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
    size_t len = end ? (size_t)(end - host) + 1 : strcspn(host, ":");
    char port[16];

    if (strchr(host, '@')) /* a name and password, and the host behind it */
        return false;
    for (unsigned i = 0; i < serve->options.host_count; i++)
        if (is_name(host, len, serve->options.hosts[i]))
            return true;
    snprintf(port, sizeof port, ":%u", serve->port);
    return is_our_name(serve, host, len) && !strcmp(host + len, port);
}

static bool is_our_origin(const struct vti_serve *serve, const char *origin)
{
    if (!strncasecmp(origin, "http://", 7))
        return is_our_host(serve, origin + 7);
    return !strncasecmp(origin, "https://", 8) && serve->options.host_count &&
           is_our_host(serve, origin + 8);
}

const char *vti_guard_split(const char *url, char origin[VTI_SERVE_ORIGIN_BYTES])
{
    size_t scheme = !strncasecmp(url, "http://", 7) ? 7 : !strncasecmp(url, "https://", 8) ? 8 : 0;
    size_t len = scheme + strcspn(url + scheme, "/");

    *origin = 0;
    if (!scheme)
        return url;
    /* One that is too long is cut, and then none of ours. */
    snprintf(origin, VTI_SERVE_ORIGIN_BYTES, "%.*s", (int)len, url);
    return url[len] ? url + len : "/";
}

/* What the request line says goes before Host (RFC 9112, 3.2.2). */
static bool is_for_us(const struct vti_request *request)
{
    const char *host = header_of(request, MHD_HTTP_HEADER_HOST);

    if (*request->origin)
        return is_our_origin(request->serve, request->origin);
    return host && is_our_host(request->serve, host);
}

struct counting {
    const char *name;
    unsigned count;
};

static enum MHD_Result count_one(void *arg, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
    struct counting *counting = arg;

    (void)kind;
    (void)value;
    counting->count += !strcasecmp(key, counting->name);
    return MHD_YES;
}

/* Which of two is meant, who is in front of us may see otherwise. */
static bool is_twice(const struct vti_request *request, const char *name)
{
    struct counting counting = {.name = name};

    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, count_one, &counting);
    return counting.count > 1;
}

static enum MHD_Result look_for_blank(void *arg, enum MHD_ValueKind kind, const char *key,
                                      const char *value)
{
    (void)kind;
    (void)value;
    *(bool *)arg |= strpbrk(key, " \t") != NULL;
    return MHD_YES;
}

/* One before the colon: libmicrohttpd takes it for a part of the name, who is in front of us perhaps not (RFC 9112, 5.1). */
static bool has_blank_name(const struct vti_request *request)
{
    bool is_there = false;

    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, look_for_blank, &is_there);
    return is_there;
}

unsigned vti_guard_check(const struct vti_request *request, const char *method, const char **why)
{
    static const char *const once[] = {
        MHD_HTTP_HEADER_HOST, MHD_HTTP_HEADER_ORIGIN,         MHD_HTTP_HEADER_AUTHORIZATION,
        "Sec-Fetch-Site",     MHD_HTTP_HEADER_CONTENT_LENGTH, MHD_HTTP_HEADER_TRANSFER_ENCODING};
    const char *origin = header_of(request, MHD_HTTP_HEADER_ORIGIN);
    const char *site = header_of(request, "Sec-Fetch-Site");

    *why = "";
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (is_twice(request, once[i])) {
            *why = "a header that must be there once came twice";
            return MHD_HTTP_BAD_REQUEST;
        }
    if (has_blank_name(request)) {
        *why = "a blank in the name of a header";
        return MHD_HTTP_BAD_REQUEST;
    }
    if (!is_for_us(request)) {
        *why = "Host is not an address of this server (see --host)";
        return MHD_HTTP_FORBIDDEN;
    }
    if (origin && !is_our_origin(request->serve, origin)) {
        *why = "Origin is not ours";
        return MHD_HTTP_FORBIDDEN;
    }
    /* Following a link to the first page is fine; a picture or script of another site is not. */
    if (site && (!strcasecmp(site, "cross-site") || !strcasecmp(site, "same-site")) &&
        !vti_guard_has_ticket(request)) {
        *why = "asked for by another site";
        return MHD_HTTP_FORBIDDEN;
    }
    if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
        *why = "only GET and HEAD";
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    return 0;
}
