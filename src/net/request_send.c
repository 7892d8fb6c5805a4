/*
 * request_send.c - one transfer by libcurl, for venturi-request.
 *
 * The answer is written as it comes: memory does not grow with it. http and https only, no redirects, certificates checked as
 * libcurl does unless told otherwise: it is never told otherwise here.
 */
#include "net/request.h"

#include "base/error.h"
#include "base/file.h"
#include "net/keys.h"
#include "net/sign.h"

#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS 30000
#define LINE_MOST 256 /* of the headers that are made here */

struct transfer {
    CURL *curl;
    CURLU *url;
    struct curl_slist *headers;
    struct vti_output *output; /* NULL: standard output, at once */
    char *host;                /* of libcurl, for messages: a URL may hold a password */
    char reason[CURL_ERROR_SIZE];
    uint64_t body_bytes;
    bool is_mid_line; /* the body so far does not end with a line */
    bool lacks_memory;
    bool has_left; /* nobody reads our standard output any more */
    int code;      /* of writing */
};

static volatile sig_atomic_t stopped_by;

static void note_signal(int number)
{
    stopped_by = number;
}

static int look_for_signal(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)arg, (void)a, (void)b, (void)c, (void)d;
    return stopped_by != 0;
}

static void write_out(struct transfer *transfer, const char *bytes, size_t count)
{
    if (transfer->output) {
        transfer->code = vti_output_write(transfer->output, bytes, count);
        return;
    }
    while (count) {
        ssize_t wrote = write(STDOUT_FILENO, bytes, count);

        if (wrote >= 0) {
            bytes += wrote;
            count -= (size_t)wrote;
        } else if (errno == EPIPE) {
            transfer->has_left = true;
            return;
        } else if (errno != EINTR || stopped_by) {
            transfer->code = vti_fail_errno(VTI_E_WRITE, "standard output: cannot write");
            return;
        }
    }
}

/* Less than `count` ends the transfer. */
static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;

    transfer->body_bytes += size * count;
    if (size && count)
        transfer->is_mid_line = bytes[size * count - 1] != '\n';
    write_out(transfer, bytes, size * count);
    return transfer->code || transfer->has_left ? 0 : size * count;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *arg)
{
    struct transfer *transfer = arg;

    write_out(transfer, bytes, size * count);
    return transfer->code || transfer->has_left ? 0 : size * count;
}

static void add_header(struct transfer *transfer, const char *line)
{
    struct curl_slist *longer = curl_slist_append(transfer->headers, line);

    if (longer)
        transfer->headers = longer;
    else
        transfer->lacks_memory = true;
}

static void add_line(struct transfer *transfer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_line(struct transfer *transfer, const char *format, ...)
{
    char line[LINE_MOST];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    add_header(transfer, line);
}

/* "Name:" alone would take a header away that libcurl makes; a header without a value has a semicolon there. */
static void add_users_header(struct transfer *transfer, const char *line)
{
    const char *colon = strchr(line, ':');
    char *empty;

    if (colon[1 + strspn(colon + 1, " \t")]) {
        add_header(transfer, line);
        return;
    }
    empty = strndup(line, (size_t)(colon - line) + 1);
    if (empty) {
        empty[colon - line] = ';';
        add_header(transfer, empty);
    } else {
        transfer->lacks_memory = true;
    }
    free(empty);
}

/* The caller is no span itself: whoever gets the request has the trace's root. */
static int sign(struct transfer *transfer, const struct vti_request *request)
{
    vt_keys *keys = vt_keys_new(request->keys);
    char info[VTI_TRACE_INFO_IDS];
    char signature[VTI_SIGNATURE];
    char hex[VTI_UUID_HEX];
    struct vt_id id;
    int code = 0;

    if (!keys)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    memcpy(id.bytes, request->id, sizeof id.bytes);
    vti_uuid_hex(request->id, hex);
    if (vti_sign_ids(info, signature, keys->keys[0].text, keys->keys[0].len, &id, &id)) {
        add_line(transfer, "X-Trace-Info: %s", info);
        add_line(transfer, "X-Trace-HMAC: %s", signature);
        add_line(transfer, "traceparent: 00-%s-%s-01", hex, hex + VTI_UUID);
    } else {
        code = vti_fail(VTI_E_SYSTEM, "libcrypto cannot sign");
    }
    vt_keys_free(keys);
    return code;
}

static int set_headers(struct transfer *transfer, const struct vti_request *request)
{
    int code = sign(transfer, request);

    if (code)
        return code;
    for (size_t i = 0; i < request->header_count; i++)
        add_users_header(transfer, request->headers[i]);
    add_header(transfer, "Expect:"); /* many servers do not answer it, and it costs a second then */
    return transfer->lacks_memory ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

static int set_url(struct transfer *transfer, const char *text)
{
    char *scheme = NULL;
    int code = 0;

    transfer->url = curl_url();
    if (!transfer->url)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (curl_url_set(transfer->url, CURLUPART_URL, text,
                     CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) ||
        curl_url_get(transfer->url, CURLUPART_SCHEME, &scheme, 0))
        return vti_fail(VTI_E_USAGE, "%.500s: not a URL", text);
    if (strcmp(scheme, "http") && strcmp(scheme, "https"))
        code = vti_fail(VTI_E_USAGE, "%.500s: only http and https, not %.100s", text, scheme);
    else if (curl_url_get(transfer->url, CURLUPART_HOST, &transfer->host, 0))
        code = vti_fail(VTI_E_USAGE, "%.500s: names no host", text);
    curl_free(scheme);
    return code;
}

static void set_method(CURL *curl, const struct vti_request *request)
{
    if (request->has_body) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
                         request->body.len ? (const char *)request->body.data : "");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    }
    if (request->method && !strcmp(request->method, "HEAD"))
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    else if (request->method)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static int set_up(struct transfer *transfer, const struct vti_request *request)
{
    CURL *curl = transfer->curl = curl_easy_init();
    int code;

    if (!curl)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    code = set_url(transfer, request->url);
    if (!code)
        code = set_headers(transfer, request);
    if (!code && request->output && strcmp(request->output, "-"))
        code = vti_output_open(&transfer->output, request->output, request->force, false);
    if (code)
        return code;
    set_method(curl, request);
    curl_easy_setopt(curl, CURLOPT_CURLU, transfer->url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "venturi/" VENTURI_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->reason);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, request->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    if (request->shows_headers) {
        curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
        curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    }
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_signal);
    return 0;
}

static int judge(struct transfer *transfer, CURLcode result, const struct vti_request *request,
                 struct vti_answer *answer)
{
    curl_off_t took_us = 0;
    long asked = 0;

    curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_getinfo(transfer->curl, CURLINFO_REQUEST_SIZE, &asked);
    curl_easy_getinfo(transfer->curl, CURLINFO_TOTAL_TIME_T, &took_us);
    answer->was_asked = asked > 0;
    answer->took_ns = (double)took_us * 1e3;
    answer->body_bytes = transfer->body_bytes;
    answer->is_mid_line = transfer->is_mid_line && !transfer->output;
    if (!result || transfer->has_left)
        return 0;
    if (transfer->code)
        return transfer->code;
    if (stopped_by)
        return vti_fail(VTI_E_SYSTEM, "%s: stopped by a signal", transfer->host);
    if (result == CURLE_OPERATION_TIMEDOUT && request->timeout_ms)
        return vti_fail(VTI_E_TIMEOUT, "%s: no whole answer within %g s", transfer->host,
                        (double)request->timeout_ms / 1e3);
    if (result == CURLE_OUT_OF_MEMORY &&
        answer->was_asked) /* what libcurl says of more than 100 kB in a line */
        return vti_fail(VTI_E_LIMIT, "%s: the headers of the answer are too large", transfer->host);
    return vti_fail(VTI_E_READ, "%s: %s", transfer->host,
                    *transfer->reason ? transfer->reason : curl_easy_strerror(result));
}

static int perform(struct transfer *transfer, const struct vti_request *request,
                   struct vti_answer *answer)
{
    struct sigaction action = {.sa_handler = note_signal};
    int code;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    code = judge(transfer, curl_easy_perform(transfer->curl), request, answer);
    if (!code && transfer->output) {
        code = vti_output_commit(transfer->output);
        transfer->output = NULL;
    }
    return code;
}

int vti_request_send(const struct vti_request *request, struct vti_answer *answer)
{
    struct transfer transfer = {0};
    int code;

    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return vti_fail(VTI_E_SYSTEM, "libcurl does not start");
    code = set_up(&transfer, request);
    if (!code)
        code = perform(&transfer, request, answer);
    vti_output_abandon(transfer.output);
    curl_free(transfer.host);
    curl_slist_free_all(transfer.headers);
    curl_easy_cleanup(transfer.curl);
    curl_url_cleanup(transfer.url);
    curl_global_cleanup();
    return code;
}
