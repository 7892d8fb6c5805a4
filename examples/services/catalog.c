/*
 * catalog.c - a service that knows the objects of one half of the sky and finds the one nearest to a position.
 *
 *     venturi run -o south.vt -- ./catalog south services.conf
 *     venturi run -o north.vt -- ./catalog north services.conf 40123      the port of the south
 *
 * GET /match?ra=DEGREES&dec=DEGREES. What lies in the other half is asked of the service there. Shows how a C service takes part in
 * traces: settings and secret from its file, headers in, trace points, errors, headers out. Ends at SIGTERM.
 */
#include "tiny_http.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <venturi/context.h>
#include <venturi/service.h>

#define OBJECTS 20000
#define DEGREE (acos(-1) / 180)
#define ANSWER 512

struct object {
    double ra, dec; /* degrees */
};

static struct {
    const char *name; /* "north" or "south" */
    double sign;      /* of the declinations that it has */
    int other_port;   /* 0: nobody to ask */
    struct vt_service settings;
    struct object objects[OBJECTS];
} catalog;

static volatile sig_atomic_t is_stopped;

static void stop(int number)
{
    (void)number;
    is_stopped = 1;
}

/* The same sky each time. */
static void fill_catalog(void)
{
    unsigned state = catalog.sign > 0 ? 1 : 2;

    for (int i = 0; i < OBJECTS; i++) {
        catalog.objects[i].ra = 360.0 * rand_r(&state) / RAND_MAX;
        catalog.objects[i].dec = catalog.sign * 90.0 * rand_r(&state) / RAND_MAX;
    }
}

/* ---- the work, with its trace points ---------------------------------------------------------- */

static int parse_position(const char *path, struct object *position)
{
    VT_TRACE("parse-position");
    if (sscanf(path, "/match?ra=%lf&dec=%lf", &position->ra, &position->dec) != 2 ||
        !(fabs(position->dec) <= 90) || !(position->ra >= 0 && position->ra < 360)) {
        vt_trace_error("BadPosition", "not a position in the sky");
        return -1;
    }
    return 0;
}

static double distance(const struct object *a, const struct object *b)
{
    double cosine = sin(a->dec * DEGREE) * sin(b->dec * DEGREE) +
                    cos(a->dec * DEGREE) * cos(b->dec * DEGREE) * cos((a->ra - b->ra) * DEGREE);

    return acos(fmin(cosine, 1)) / DEGREE;
}

static int search(const struct object *position, double *nearest)
{
    int found = 0;

    VT_TRACE("search");
    VT_TRACE_ATTR("objects", OBJECTS);
    *nearest = 360;
    for (int i = 0; i < OBJECTS; i++) {
        double away = distance(position, &catalog.objects[i]);

        if (away < *nearest) {
            *nearest = away;
            found = i;
        }
    }
    VT_TRACE_ATTR("distance", *nearest);
    return found;
}

static void add_line(const char *name, const char *value, void *arg)
{
    char *headers = arg;
    size_t used = strlen(headers);

    snprintf(headers + used, HTTP_MOST / 2 - used, "%s: %s\r\n", name, value);
}

/* The other service continues this trace, as a child of this trace point. */
static int ask_other(const char *path, char answer[ANSWER])
{
    char headers[HTTP_MOST / 2] = "";
    int status;

    VT_TRACE("ask-other-half");
    vt_http_inject(catalog.settings.keys, add_line, headers);
    status = http_get(catalog.other_port, path, headers, answer, ANSWER);
    VT_TRACE_ATTR("status", status);
    if (status < 0) {
        vt_trace_error("Unreachable", "the other half of the sky does not answer");
        snprintf(answer, ANSWER, "{\"error\": \"half of the sky is missing\"}\n");
        return 503;
    }
    return status;
}

static int match(const char *path, char answer[ANSWER])
{
    struct object position;
    double nearest;
    int found;

    if (parse_position(path, &position)) {
        snprintf(answer, ANSWER, "{\"error\": \"not a position in the sky\"}\n");
        return 400;
    }
    if (position.dec * catalog.sign < 0 && catalog.other_port)
        return ask_other(path, answer);
    found = search(&position, &nearest);
    snprintf(answer, ANSWER, "{\"object\": \"%s-%05d\", \"degrees\": %.4f}\n", catalog.name, found,
             nearest);
    return 200;
}

/* ---- requests --------------------------------------------------------------------------------- */

static void serve(int connection)
{
    static struct http_request request;
    char answer[ANSWER];
    int status;

    if (http_read(connection, &request)) {
        http_answer(connection, 400, "{\"error\": \"not a request\"}\n");
        return;
    }
    vt_http_accept(catalog.settings.keys, http_header, &request);
    {
        VT_TRACE("match");
        VT_TRACE_ATTR("request.path", request.path);
        status = match(request.path, answer);
        VT_TRACE_ATTR("request.status", status);
        if (status >= 500)
            vt_trace_error("Failed", "the request could not be served");
    }
    vt_context_end();
    http_answer(connection, status, answer);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = stop};
    char error[256];
    int connection;
    int listener;
    int port;

    if (argc < 3) {
        fprintf(stderr, "usage: catalog north|south SETTINGS [PORT of the other half]\n");
        return 2;
    }
    catalog.name = argv[1];
    catalog.sign = strcmp(argv[1], "south") ? 1 : -1;
    catalog.other_port = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    fill_catalog();
    if (vt_service_open(&catalog.settings, argv[2], error, sizeof error) < 0) {
        fprintf(stderr, "catalog: %s\n", error);
        return 2;
    }
    vt_trace_service("survey", catalog.name, NULL);
    listener = http_listen(&port);
    if (listener < 0) {
        perror("catalog: no port");
        return 2;
    }
    sigaction(SIGTERM, &action, NULL); /* without SA_RESTART: it ends the wait below */
    printf("%d\n", port);
    fflush(stdout);
    while (!is_stopped && (connection = accept(listener, NULL, NULL)) >= 0) {
        serve(connection);
        close(connection);
    }
    vt_service_close(&catalog.settings);
    return 0;
}
