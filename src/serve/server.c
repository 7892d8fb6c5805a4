/*
 * server.c - listens, checks who asks, and hands requests on.
 *
 * One thread of libmicrohttpd does it all. Nothing that takes long is done on it: reports are made by another process.
 */
#include "base/error.h"
#include "serve/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct {
    const char *path;
    enum MHD_Result (*answer)(const struct vti_request *request);
    bool is_public; /* on loopback */
} routes[] = {
    {"/status", vti_serve_status, false},
    {"/report", vti_serve_report, false},
    {"/health", vti_serve_health, true},
    {"/metrics", vti_serve_metrics, true},
    {"/api/state", vti_serve_state, false},
    {"/api/events", vti_serve_events, false},
    {"/api/history", vti_serve_history, false},
    {"/api/window", vti_serve_window, false},
    {"/api/spans", vti_serve_spans, false},
    {"/api/tasks", vti_serve_tasks, false},
    {"/api/functions", vti_serve_functions, false},
};

/* With the token in the address: gives the cookie, and leads to the same address without it. */
static enum MHD_Result admit(const struct vti_request *request, const char *to)
{
    char cookie[VTI_SERVE_TOKEN_BYTES + 128];

    snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/",
             request->serve->cookie, request->serve->token);
    return vti_answer_redirect(request, to, cookie);
}

static enum MHD_Result route(const struct vti_request *request)
{
    bool is_loopback = request->serve->is_loopback;

    if (!strcmp(request->path, "/"))
        return vti_guard_has_ticket(request) ? admit(request, "/status")
                                             : vti_answer_redirect(request, "/status", NULL);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(request->path, routes[i].path))
            continue;
        if (routes[i].is_public && is_loopback)
            return routes[i].answer(request);
        if (!strncmp(request->path, "/api/", 5) ? false : vti_guard_has_ticket(request))
            return admit(request, request->path);
        if (!vti_guard_has_token(request))
            return vti_answer_error(request, MHD_HTTP_UNAUTHORIZED,
                                    "no token, or a wrong one: use the address that `venturi "
                                    "serve` printed");
        return routes[i].answer(request);
    }
    return vti_answer_error(request, MHD_HTTP_NOT_FOUND, "there is nothing here");
}

/* Whether a body comes with it: nothing here takes one. */
static bool has_body(struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                     MHD_HTTP_HEADER_CONTENT_LENGTH);

    return (length && strcmp(length, "0")) ||
           MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                       MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* What a request's context points at from the start: its address has a zero byte, and what is seen of it here is not all. */
static int is_cut;

/* libmicrohttpd neither answers nor ends a request with so many parameters that it has no memory for them: that is done here, where nothing of an
 * answer is under way. */
static void *look_at_line(void *arg, const char *uri, struct MHD_Connection *connection)
{
    static const char refusal[] =
        "HTTP/1.1 414 URI Too Long\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Content-Length: 32\r\n\r\n{\"error\":\"too many parameters\"}\n";
    const union MHD_ConnectionInfo *info;
    unsigned count = 0;

    (void)arg;
    if (strstr(uri, "%00"))
        return &is_cut;
    for (const char *at = uri; *at && count <= VTI_SERVE_PARAMETERS; at++)
        count += *at == '&';
    if (count < VTI_SERVE_PARAMETERS)
        return NULL;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info)
        return NULL;
    /* It fits into an empty buffer, or the client has not read the answer before and gets none. */
    if (send(info->connect_fd, refusal, sizeof refusal - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        errno = 0;
    shutdown(info->connect_fd, SHUT_RDWR);
    return NULL;
}

static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **context)
{
    static int begun, seen,
        waits; /* what *context points at: to be answered, answered, to be asked once more */
    bool again = false;
    struct vti_request request = {.serve = arg,
                                  .connection = connection,
                                  .is_head = !strcmp(method, "HEAD"),
                                  .is_again = *context == &waits,
                                  .again = &again};
    enum MHD_Result result;
    const char *why;
    unsigned status;

    (void)version;
    (void)upload;
    request.path = vti_guard_split(url, request.origin);
    if (*upload_bytes) {
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (*context == &seen)
        return MHD_YES;
    if (*context == &is_cut) {
        *context = &seen;
        return vti_answer_error(&request, MHD_HTTP_BAD_REQUEST, "a zero byte in the address");
    }
    /* An answer at the first call, before a body could have come, closes the connection: right if there is one. */
    if (!*context && !has_body(connection)) {
        *context = &begun;
        return MHD_YES;
    }
    *context = &seen;
    vti_peers_asked(request.serve->peers, connection, false);
    status = vti_guard_check(&request, method, &why);
    if (status)
        return vti_answer_error(&request, status, "%s", why);
    if (has_body(connection))
        return vti_answer_error(&request, MHD_HTTP_CONTENT_TOO_LARGE, "no body is taken here");
    result = route(&request);
    if (again)
        *context = &waits;
    return result;
}

static void complete(void *arg, struct MHD_Connection *connection, void **context,
                     enum MHD_RequestTerminationCode code)
{
    struct vti_serve *serve = arg;

    (void)code;
    *context = NULL;
    vti_peers_asked(serve->peers, connection, true);
}

/* What it has to say to clients that are no clients is nobody's business. */
static void say_nothing(void *arg, const char *format, va_list args)
{
    (void)arg;
    (void)format;
    (void)args;
}

/* ---- starting ------------------------------------------------------------------------------------ */

static int address_of(const char *bind, unsigned port, struct sockaddr_storage *address,
                      bool *is_loopback)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, strcmp(bind, "localhost") ? bind : "127.0.0.1", &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        *is_loopback = (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
        return 0;
    }
    if (inet_pton(AF_INET6, bind, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
        *is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        return 0;
    }
    return vti_fail(VTI_E_USAGE, "--bind %s: not an address such as 127.0.0.1 or ::1", bind);
}

/* Listens on the port or the next that is free; the socket, or a negative code. */
static int listen_on(struct vti_serve *serve)
{
    const struct vti_serve_options *options = &serve->options;
    struct sockaddr_storage address;
    int yes = 1;
    int code;

    for (unsigned i = 0; i < VTI_SERVE_PORTS && options->port + i <= 65535; i++) {
        socklen_t bytes = sizeof(struct sockaddr_in6);
        int fd;

        code = address_of(options->bind, options->port ? options->port + i : 0, &address,
                          &serve->is_loopback);
        if (code)
            return code;
        if (address.ss_family == AF_INET)
            bytes = sizeof(struct sockaddr_in);
        fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            return vti_fail_errno(VTI_E_SYSTEM, "no socket");
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (!bind(fd, (struct sockaddr *)&address, bytes) && !listen(fd, 512)) {
            bytes = sizeof address;
            getsockname(fd, (struct sockaddr *)&address, &bytes);
            serve->port = ntohs(address.ss_family == AF_INET
                                    ? ((struct sockaddr_in *)&address)->sin_port
                                    : ((struct sockaddr_in6 *)&address)->sin6_port);
            return fd;
        }
        code = errno;
        close(fd);
        errno = code;
        if (code != EADDRINUSE && code != EACCES)
            break;
    }
    return vti_fail_errno(VTI_E_SYSTEM, "cannot listen on %s port %u", options->bind,
                          options->port);
}

int vti_server_start(struct vti_serve *serve)
{
    bool is_v6 = strchr(serve->options.bind, ':') != NULL;
    int fd = listen_on(serve);

    if (fd < 0)
        return fd;
    snprintf(serve->cookie, sizeof serve->cookie, "venturi-%u", serve->port);
    snprintf(serve->origin, sizeof serve->origin, is_v6 ? "http://[%s]:%u" : "http://%s:%u",
             serve->options.bind, serve->port);
    serve->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG |
            (is_v6 ? MHD_USE_IPv6 : 0),
        (uint16_t)serve->port, NULL, NULL, handle, serve,                     /* */
        MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,                        /* */
        MHD_OPTION_LISTEN_SOCKET, fd,                                         /* */
        MHD_OPTION_CONNECTION_LIMIT, VTI_SERVE_CONNECTIONS + VTI_SERVE_SPARE, /* */
        MHD_OPTION_PER_IP_CONNECTION_LIMIT,                                   /* */
        (unsigned)(serve->is_loopback ? 0 : VTI_SERVE_OF_ONE),                /* */
        MHD_OPTION_URI_LOG_CALLBACK, look_at_line, NULL,                      /* */
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)VTI_SERVE_IDLE_S,            /* */
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)VTI_SERVE_MEMORY,         /* */
        MHD_OPTION_NOTIFY_CONNECTION, vti_peers_notify, (void *)serve->peers, /* */
        MHD_OPTION_NOTIFY_COMPLETED, complete, serve, MHD_OPTION_END);
    if (serve->daemon)
        return 0;
    close(fd);
    return vti_fail(VTI_E_SYSTEM, "cannot start the server on %s port %u", serve->options.bind,
                    serve->port);
}

void vti_server_stop(struct vti_serve *serve)
{
    if (serve->daemon)
        MHD_stop_daemon(serve->daemon);
    serve->daemon = NULL;
}
