/* tiny_http.c - as much of HTTP as the example needs. A service of yours has a library for this. */
#include "tiny_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in here(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int http_listen(int *port)
{
    struct sockaddr_in address = here(0);
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 16) ||
        getsockname(listener, (struct sockaddr *)&address, &len)) {
        close(listener);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return listener;
}

/* Reads until `end` has come (NULL: until the other side closes); how many bytes, which a zero follows. */
static size_t read_until(int connection, char *text, size_t room, const char *end)
{
    size_t len = 0;
    ssize_t got;

    text[0] = 0;
    while (len + 1 < room && (got = read(connection, text + len, room - 1 - len)) > 0) {
        len += (size_t)got;
        text[len] = 0;
        if (end && strstr(text, end))
            break;
    }
    return len;
}

int http_read(int connection, struct http_request *request)
{
    char *end_of_line;
    char *end_of_path;

    if (!read_until(connection, request->text, sizeof request->text, "\r\n\r\n") ||
        strncmp(request->text, "GET /", 5))
        return -1;
    request->path = strchr(request->text, '/');
    end_of_path = strpbrk(request->path, " \r");
    end_of_line = strstr(request->text, "\r\n");
    if (!end_of_path || !end_of_line || end_of_path > end_of_line ||
        !strstr(end_of_line, "\r\n\r\n"))
        return -1;
    *end_of_path = 0;
    request->headers = end_of_line + 2;
    for (char *at = end_of_line + 2; (at = strstr(at, "\r\n")); at += 2)
        *at = 0;
    return 0;
}

const char *http_header(const char *name, void *arg)
{
    const struct http_request *request = arg;
    size_t len = strlen(name);

    for (const char *line = request->headers; *line; line += strlen(line) + 2)
        if (!strncasecmp(line, name, len) && line[len] == ':')
            return line + len + 1 + strspn(line + len + 1, " \t");
    return NULL;
}

static void send_all(int connection, const char *text, size_t len)
{
    ssize_t sent = 0;

    for (; len && sent >= 0; len -= (size_t)sent, text += sent)
        sent = send(connection, text, len, MSG_NOSIGNAL);
}

void http_answer(int connection, int status, const char *body)
{
    char text[HTTP_MOST];
    int len = snprintf(text, sizeof text,
                       "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
                       status, status < 400 ? "OK" : "Sorry", strlen(body), body);

    if (len < (int)sizeof text)
        send_all(connection, text, (size_t)len);
}

int http_get(int port, const char *path, const char *headers, char *body, size_t room)
{
    struct sockaddr_in address = here(port);
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[HTTP_MOST];
    const char *behind;
    int status = -1;
    int len = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n", path,
                       headers);

    if (len < (int)sizeof text &&
        !connect(connection, (struct sockaddr *)&address, sizeof address)) {
        send_all(connection, text, (size_t)len);
        read_until(connection, text, sizeof text, NULL);
        behind = strstr(text, "\r\n\r\n");
        if (behind && sscanf(text, "HTTP/1.1 %3d", &status) == 1)
            snprintf(body, room, "%s", behind + 4);
    }
    close(connection);
    return status;
}
