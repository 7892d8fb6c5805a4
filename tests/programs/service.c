/*
 * service.c - a service without a network: requests come as lines of headers on standard input, ended by an empty line; it answers
 * with what it made of them and the headers it would send on.
 *
 *     service keys LIST      with these keys; "-": none, W3C only
 *     service conf PATH      with those of an ini file; says its settings first
 */
#include <venturi/service.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HEADERS 16
#define LINE 20000

static struct {
    char lines[HEADERS][LINE];
    int count;
} request;

static const char *get_header(const char *name, void *arg)
{
    size_t len = strlen(name);

    (void)arg;
    for (int i = 0; i < request.count; i++)
        if (!strncasecmp(request.lines[i], name, len) && request.lines[i][len] == ':')
            return request.lines[i] + len + 1 + (request.lines[i][len + 1] == ' ');
    return NULL;
}

static void add_header(const char *name, const char *value, void *arg)
{
    (void)arg;
    printf("out %s: %s\n", name, value);
}

/* False at the end of the input. */
static int read_request(void)
{
    request.count = 0;
    while (request.count < HEADERS && fgets(request.lines[request.count], LINE, stdin)) {
        char *line = request.lines[request.count];

        line[strcspn(line, "\n")] = 0;
        if (!*line)
            return 1;
        request.count++;
    }
    return 0;
}

static void say_context(void)
{
    struct vt_context context;
    char base[VT_ID_TEXT];
    char span[VT_ID_TEXT];

    if (!vt_context_get(&context))
        return;
    vt_id_text(&context.base, base);
    vt_id_text(&context.span, span);
    printf("base %s\nspan %s\n", base, span);
}

static void work(const vt_keys *keys)
{
    VT_TRACE("workflow-start");

    vt_http_inject(keys, add_header, NULL);
}

static void serve(const vt_keys *keys)
{
    static const char *const answers[] = {"none", "traced", "rejected"};

    while (read_request()) {
        printf("answer %s\n", answers[vt_http_accept(keys, get_header, NULL)]);
        say_context();
        {
            VT_TRACE("engine-start-workflow");
            work(keys);
        }
        vt_context_end();
        printf("end\n");
    }
    printf("rejected %llu\n", (unsigned long long)vt_http_rejected());
}

static int serve_configured(const char *path)
{
    struct vt_service service;
    char error[512];

    if (vt_service_open(&service, path, error, sizeof error) < 0) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    printf("enabled %d\nfilter_error_trace %d\ntrace_sqlalchemy %d\ntrace_requests %d\n",
           service.is_enabled, service.filter_error_trace, service.trace_sqlalchemy,
           service.trace_requests);
    printf("connection_string %s\nes_doc_type %s\nes_scroll_time %s\nes_scroll_size %d\n",
           service.connection_string, service.es_doc_type, service.es_scroll_time,
           service.es_scroll_size);
    printf("socket_timeout %g\nsentinel_service_name %s\nprofiler_log_name %s\n",
           service.socket_timeout, service.sentinel_service_name, service.log_name);
    serve(service.keys);
    vt_service_close(&service);
    printf("lost %llu\n", (unsigned long long)vt_service_lost());
    return 0;
}

int main(int argc, char **argv)
{
    vt_keys *keys;

    if (argc != 3)
        return 2;
    if (!strcmp(argv[1], "conf"))
        return serve_configured(argv[2]);
    keys = strcmp(argv[2], "-") ? vt_keys_new(argv[2]) : NULL;
    serve(keys);
    vt_keys_free(keys);
    return 0;
}
