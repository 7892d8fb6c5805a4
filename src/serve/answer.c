/* answer.c - what every answer has in common: headers, errors, parameters. */
#include "serve/serve.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define JSON "application/json; charset=utf-8"
#define POLICY "default-src 'none'; frame-ancestors 'none'"

static const char *const headers[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

enum MHD_Result vti_answer(const struct vti_request *request, unsigned status,
                           struct MHD_Response *response, const char *type)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (!type || strncmp(type, "text/html", 9))
        MHD_add_response_header(response, "Content-Security-Policy", POLICY);
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (status == MHD_HTTP_CONTENT_TOO_LARGE || status == MHD_HTTP_TOO_MANY_REQUESTS ||
        status == MHD_HTTP_FORBIDDEN || status == MHD_HTTP_BAD_REQUEST)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    result = MHD_queue_response(request->connection, status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result vti_answer_text(const struct vti_request *request, unsigned status,
                                struct vti_buf *text, const char *type)
{
    struct MHD_Response *response;

    if (text->failed) {
        vti_buf_fini(text);
        return vti_answer_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
    }
    response = MHD_create_response_from_buffer_with_free_callback(text->len, text->data, free);
    if (!response)
        vti_buf_fini(text);
    return vti_answer(request, status, response, type ? type : JSON);
}

enum MHD_Result vti_answer_error(const struct vti_request *request, unsigned status,
                                 const char *format, ...)
{
    struct vti_buf text = {0};
    struct vti_json json;
    char why[512];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    vti_json_init(&json, &text);
    vti_json_object(&json);
    vti_json_add_string(&json, "error", why);
    vti_json_object_end(&json);
    vti_buf_add_u8(&text, '\n');
    if (text.failed) {
        vti_buf_fini(&text);
        return MHD_NO;
    }
    return vti_answer_text(request, status, &text, JSON);
}

/* A browser that came from another site does not send a strict cookie where it is led by a status; where a page of ours leads it, it does. */
static bool is_from_elsewhere(const struct vti_request *request)
{
    const char *site = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                   "Sec-Fetch-Site");

    return site && (!strcasecmp(site, "cross-site") || !strcasecmp(site, "same-site"));
}

enum MHD_Result vti_answer_redirect(const struct vti_request *request, const char *to,
                                    const char *cookie)
{
    bool is_page = cookie && is_from_elsewhere(request);
    char text[256] = "";
    struct MHD_Response *response;

    if (is_page)
        snprintf(text, sizeof text,
                 "<!doctype html><title>venturi</title><meta http-equiv=refresh "
                 "content=\"0;url=%s\">\n",
                 to);
    response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    if (is_page)
        MHD_add_response_header(response, "Content-Security-Policy", POLICY);
    else
        MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, to);
    if (cookie)
        MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
    return vti_answer(request, is_page ? MHD_HTTP_OK : MHD_HTTP_SEE_OTHER, response,
                      is_page ? "text/html; charset=utf-8" : NULL);
}

bool vti_ask_number(const struct vti_request *request, const char *name, int64_t least,
                    int64_t most, int64_t otherwise, int64_t *value, const char **bad)
{
    const char *text = MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND,
                                                   name);
    char *end;
    double number;

    *value = otherwise;
    if (!text)
        return true;
    errno = 0;
    number = strtod(text, &end);
    /* Pages hold times as floating-point numbers: 1.5e9 is as good as 1500000000. */
    if (end == text || *end || errno || !(number >= (double)least) || !(number <= (double)most)) {
        *bad = name;
        return false;
    }
    *value = number >= 9e15 || number <= -9e15 ? strtoll(text, NULL, 10) : (int64_t)number;
    *value = *value < least ? least : *value > most ? most : *value;
    return true;
}
