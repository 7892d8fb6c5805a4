/* api.c - the small answers: state, tasks, functions, history, health, metrics. */
#include "base/error.h"
#include "live/accept.h"
#include "live/metrics.h"
#include "live/tick.h"
#include "serve/serve.h"

#include <math.h>
#include <string.h>

#define MS_NS 1000000
#define TASKS_MOST 20000

enum MHD_Result vti_serve_state(const struct vti_request *request)
{
    struct vti_serve *serve = request->serve;
    struct vti_picture *picture;
    struct vti_buf text = {0};

    pthread_mutex_lock(&serve->lock);
    picture = vti_picture_get(serve);
    if (picture) {
        vti_buf_add(&text, picture->text.data, picture->text.len);
        vti_picture_put(serve, picture);
    }
    pthread_mutex_unlock(&serve->lock);
    text.failed |= !picture;
    return vti_answer_text(request, MHD_HTTP_OK, &text, NULL);
}

enum MHD_Result vti_serve_tasks(const struct vti_request *request)
{
    struct vti_serve *serve = request->serve;
    struct vti_buf text = {0};
    struct vti_told told = {0};
    struct vti_json json;
    const char *bad = NULL;
    int64_t after, limit;
    uint64_t last;

    if (!vti_ask_number(request, "after", 0, INT64_MAX, 0, &after, &bad) ||
        !vti_ask_number(request, "limit", 1, TASKS_MOST, 2000, &limit, &bad))
        return vti_answer_error(request, MHD_HTTP_BAD_REQUEST, "%s: not a number that fits", bad);
    vti_json_init(&json, &text);
    pthread_mutex_lock(&serve->lock);
    vti_tasks_json(serve->live, &json, (uint64_t)after, (unsigned)limit, true, &told, &last);
    pthread_mutex_unlock(&serve->lock);
    return vti_answer_text(request, MHD_HTTP_OK, &text, NULL);
}

enum MHD_Result vti_serve_functions(const struct vti_request *request)
{
    struct vti_serve *serve = request->serve;
    const struct vti_live_function *functions;
    struct vti_buf text = {0};
    struct vti_json json;
    size_t count;

    vti_json_init(&json, &text);
    vti_json_object(&json);
    vti_json_key(&json, "list");
    vti_json_array(&json);
    pthread_mutex_lock(&serve->lock);
    functions = vti_live_functions(serve->live, &count);
    for (size_t i = 0; i < count; i++) {
        vti_json_object(&json);
        vti_json_add_string(&json, "name", functions[i].name);
        vti_json_add_string(&json, "file", functions[i].file);
        vti_json_add_uint(&json, "line", functions[i].line);
        vti_json_add_string(&json, "language", functions[i].language);
        vti_json_add_uint(&json, "calls", functions[i].calls);
        vti_json_add_double(&json, "self_ns", round(functions[i].self_ns));
        vti_json_add_double(&json, "total_ns", round(functions[i].total_ns));
        vti_json_add_rate(&json, "calls_per_s", functions[i].calls_per_s);
        vti_json_add_double(&json, "self_share", functions[i].self_share);
        vti_json_object_end(&json);
    }
    pthread_mutex_unlock(&serve->lock);
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    return vti_answer_text(request, MHD_HTTP_OK, &text, NULL);
}

enum MHD_Result vti_serve_history(const struct vti_request *request)
{
    struct vti_serve *serve = request->serve;
    int64_t now_ms = vti_tick_unix() / MS_NS;
    struct vti_history_question question = {
        .names = MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, "names")};
    struct vti_buf text = {0};
    struct vti_json json;
    const char *bad = NULL;
    int64_t points;
    int code;

    if (!vti_ask_number(request, "to", 0, INT64_MAX / 2, now_ms + 1, &question.to_ms, &bad) ||
        !vti_ask_number(request, "from", 0, INT64_MAX / 2, question.to_ms - 600000,
                        &question.from_ms, &bad) ||
        !vti_ask_number(request, "points", 1, 5000, 600, &points, &bad))
        return vti_answer_error(request, MHD_HTTP_BAD_REQUEST, "%s: not a number that fits", bad);
    question.points = (unsigned)points;
    vti_json_init(&json, &text);
    vti_json_object(&json);
    pthread_mutex_lock(&serve->lock);
    code = vti_history_write(serve->history, &question, &json);
    pthread_mutex_unlock(&serve->lock);
    vti_json_object_end(&json);
    if (!code)
        return vti_answer_text(request, MHD_HTTP_OK, &text, NULL);
    vti_buf_fini(&text);
    return vti_answer_error(
        request, code == VTI_E_USAGE ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_SERVICE_UNAVAILABLE, "%s",
        vti_error_message(code));
}

enum MHD_Result vti_serve_health(const struct vti_request *request)
{
    struct vti_serve *serve = request->serve;
    struct vti_live_summary all;
    struct vti_buf text = {0};
    struct vti_json json;

    pthread_mutex_lock(&serve->lock);
    vti_live_summary(serve->live, &all);
    pthread_mutex_unlock(&serve->lock);
    vti_json_init(&json, &text);
    vti_json_object(&json);
    vti_json_add_string(&json, "status", "ok");
    vti_json_add_string(&json, "venturi", VENTURI_VERSION);
    vti_json_add_double(&json, "uptime_s",
                        (double)((vti_tick_now() - serve->started_ns) / MS_NS) / 1e3);
    vti_json_add_uint(&json, "clients", vti_peers_count(serve->peers));
    vti_json_add_double(&json, "caught_up", all.caught_up);
    vti_json_object_end(&json);
    vti_buf_add_u8(&text, '\n');
    return vti_answer_text(request, MHD_HTTP_OK, &text, NULL);
}

enum MHD_Result vti_serve_metrics(const struct vti_request *request)
{
    struct vti_serve *serve = request->serve;
    enum vti_exposition format = vti_accept_choose(
        MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
    struct vti_buf text = {0};
    size_t count;
    int code;

    pthread_mutex_lock(&serve->lock);
    vti_live_functions(serve->live, &count); /* what counting them costs is known then */
    code = vti_metrics_write(serve->live, format, &text);
    pthread_mutex_unlock(&serve->lock);
    text.failed |= code != 0;
    return vti_answer_text(request, MHD_HTTP_OK, &text, vti_exposition_type(format));
}
