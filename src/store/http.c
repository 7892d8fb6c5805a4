/*
 * http.c - requests to a store by libcurl, over one connection that is kept.
 *
 * http and https only, no redirects. Certificates are checked as libcurl does it, against a CA file if one is named, or against
 * a fingerprint (tls_pin.c). No message holds what is secret.
 */
#include "store/http.h"

#include "base/error.h"
#include "store/http_proxy.h"
#include "store/tls_pin.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <zlib.h>

#define CONNECT_MS 10000
#define TIMEOUT_MS 60000
#define ANSWER_MOST (64u << 20)
#define WAIT_MOST_S 3600
#define GZIP_LEVEL                                                                                 \
    1 /* of documents that are all alike: a tenth of their size, and level 6 takes three times as long */

struct vti_http {
    const struct vti_store_settings *settings; /* borrowed */
    CURL *curl;
    char *base;          /* scheme://host:port/path, no credentials */
    char *authorization; /* a header, or NULL: libcurl's own for user and password */
    struct vti_tls_pin *pin;
    z_stream deflate;
    bool has_deflate;
    struct vti_buf packed;
    char reason[CURL_ERROR_SIZE];
};

/* ---- opening --------------------------------------------------------------------------------- */

static int make_base(struct vti_http *http, unsigned port)
{
    const struct vti_store_settings *settings = http->settings;
    size_t path = strlen(settings->path);

    while (path && settings->path[path - 1] == '/')
        path--;
    if (!*settings->host)
        return vti_fail(VTI_E_USAGE, "%s: the URL names no host", settings->shown);
    if (asprintf(&http->base, "%s://%s:%u%.*s", settings->is_tls ? "https" : "http", settings->host,
                 settings->port ? settings->port : port, (int)path, settings->path) >= 0)
        return 0;
    http->base = NULL;
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

static int make_authorization(struct vti_http *http)
{
    const struct vti_store_settings *settings = http->settings;
    int made = 0;

    if (settings->api_key)
        made = asprintf(&http->authorization, "Authorization: ApiKey %s", settings->api_key);
    else if (settings->token)
        made = asprintf(&http->authorization, "Authorization: Bearer %s", settings->token);
    if (made >= 0)
        return 0;
    http->authorization = NULL;
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

static int look_for_stop(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct vti_http *http = arg;

    (void)a, (void)b, (void)c, (void)d;
    return http->settings->is_stopped && http->settings->is_stopped();
}

static int set_trust(struct vti_http *http)
{
    const struct vti_store_settings *settings = http->settings;
    CURL *curl = http->curl;

    if (settings->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, settings->ca_file);
    if (settings->cert_file)
        curl_easy_setopt(curl, CURLOPT_SSLCERT, settings->cert_file);
    if (settings->key_file)
        curl_easy_setopt(curl, CURLOPT_SSLKEY, settings->key_file);
    if (settings->is_insecure) {
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    } else if (settings->fingerprint && settings->is_tls) {
        return vti_tls_pin_open(&http->pin, curl, settings->fingerprint, settings->host);
    }
    return 0;
}

static int set_up(struct vti_http *http)
{
    const struct vti_store_settings *settings = http->settings;
    CURL *curl = http->curl = curl_easy_init();

    if (!curl)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "venturi/" VENTURI_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->reason);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                     settings->timeout_ms ? settings->timeout_ms : (long)TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L * 1024);
    curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 1024L * 1024);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_stop);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
    if (vti_settings_is_loopback(settings))
        curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); /* no proxy gets back to this machine */
    if (settings->user && !http->authorization) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, settings->user);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, settings->password ? settings->password : "");
    }
    return set_trust(http);
}

int vti_http_open(struct vti_http **to, const struct vti_store_settings *settings, unsigned port)
{
    struct vti_http *http = calloc(1, sizeof *http);
    int code;

    *to = NULL;
    if (!http)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    http->settings = settings;
    code = curl_global_init(CURL_GLOBAL_DEFAULT) ? vti_fail(VTI_E_SYSTEM, "libcurl does not start")
                                                 : make_base(http, port);
    if (!code)
        code = make_authorization(http);
    if (!code)
        code = set_up(http);
    if (code) {
        vti_http_close(http);
        return code;
    }
    *to = http;
    return 0;
}

void vti_http_close(struct vti_http *http)
{
    if (!http)
        return;
    curl_easy_cleanup(http->curl);
    vti_tls_pin_close(http->pin);
    if (http->authorization)
        explicit_bzero(http->authorization, strlen(http->authorization));
    free(http->authorization);
    free(http->base);
    if (http->has_deflate)
        deflateEnd(&http->deflate);
    vti_buf_fini(&http->packed);
    free(http);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int pack(struct vti_http *http, const void *bytes, size_t count)
{
    z_stream *z = &http->deflate;
    uLong room;

    if (!http->has_deflate) {
        if (deflateInit2(z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        http->has_deflate = true;
    } else {
        deflateReset(z);
    }
    room = deflateBound(z, (uLong)count);
    vti_buf_clear(&http->packed);
    if (count > UINT32_MAX / 2 || !vti_buf_reserve(&http->packed, room))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    z->next_in = (Bytef *)(uintptr_t)bytes;
    z->avail_in = (uInt)count;
    z->next_out = http->packed.data;
    z->avail_out = (uInt)room;
    if (deflate(z, Z_FINISH) != Z_STREAM_END)
        return vti_fail(VTI_E_SYSTEM, "zlib cannot compress");
    http->packed.len = z->total_out;
    return 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct vti_buf *body = arg;

    if (body->len + size * count > ANSWER_MOST)
        return 0;
    vti_buf_add(body, bytes, size * count);
    return body->failed ? 0 : size * count;
}

/* What Retry-After says: seconds, or a date. 0: it is past, or neither. */
static long read_wait_ms(const char *text)
{
    char *end;
    long seconds = strtol(text, &end, 10);
    time_t date;

    if (end == text) {
        date = curl_getdate(text, NULL);
        seconds = date < 0 ? 0 : (long)(date - time(NULL));
    }
    return seconds < 0 ? 0 : (seconds < WAIT_MOST_S ? seconds : WAIT_MOST_S) * 1000;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *arg)
{
    static const char name[] = "retry-after:";
    struct vti_http_answer *answer = arg;
    size_t len = size * count;
    char text[64];

    if (len > sizeof name && !strncasecmp(bytes, name, sizeof name - 1)) {
        snprintf(text, sizeof text, "%.*s", (int)(len - sizeof name + 1), bytes + sizeof name - 1);
        answer->wait_ms = read_wait_ms(text);
    }
    return len;
}

static struct curl_slist *make_headers(const struct vti_http *http,
                                       const struct vti_http_request *request, bool has_gzip)
{
    char type[128];
    const char *lines[4] = {"Expect:", http->authorization, NULL, NULL};
    struct curl_slist *headers = NULL;

    if (request->type) {
        snprintf(type, sizeof type, "Content-Type: %s", request->type);
        lines[2] = type;
    }
    if (has_gzip)
        lines[3] = "Content-Encoding: gzip";
    for (size_t i = 0; i < 4; i++) {
        struct curl_slist *longer = lines[i] ? curl_slist_append(headers, lines[i]) : headers;

        if (lines[i] && !longer) {
            curl_slist_free_all(headers);
            return NULL;
        }
        headers = longer;
    }
    return headers;
}

/* What no second try will change. */
static bool is_settings(CURLcode result)
{
    switch (result) {
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return true;
    default:
        return false;
    }
}

static void explain(const struct vti_http *http, CURLcode result, struct vti_http_answer *answer)
{
    const char *reason = *http->reason ? http->reason : curl_easy_strerror(result);
    const char *more = "";
    char proxy[64];

    if (result == CURLE_ABORTED_BY_CALLBACK)
        reason = "none before we had to end";
    else if (result == CURLE_WRITE_ERROR)
        reason = "an answer of more than 64 MB";
    else if (http->pin && vti_tls_pin_failed(http->pin))
        reason = "no certificate of the server has the fingerprint that was given";
    else if (strstr(reason, "not yet valid") || strstr(reason, "has expired"))
        more = " (is this machine's clock right?)";
    else if (result == CURLE_SSL_CONNECT_ERROR)
        more = " (does it speak TLS at all?)";
    else if (result == CURLE_WEIRD_SERVER_REPLY || result == CURLE_UNSUPPORTED_PROTOCOL)
        more = " (it does not speak HTTP here)";
    else if (!answer->was_asked &&
             vti_http_proxy_failed(http->settings->is_tls, http->settings->host,
                                   result == CURLE_COULDNT_RESOLVE_PROXY, reason, proxy,
                                   sizeof proxy))
        more = proxy;
    snprintf(answer->why, sizeof answer->why, "%.230s%s", reason, more);
    answer->is_settings = is_settings(result) || (http->pin && vti_tls_pin_failed(http->pin));
}

static int perform(struct vti_http *http, const struct vti_http_request *request, const void *body,
                   size_t body_bytes, struct curl_slist *headers, struct vti_http_answer *answer)
{
    CURL *curl = http->curl;
    CURLcode result;
    char *url;
    long asked = 0;

    if (asprintf(&url, "%s%s", http->base, request->path) < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOBODY, (long)!strcmp(request->method, "HEAD"));
    if (request->type) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_bytes);
    } else if (strcmp(request->method, "HEAD")) {
        curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST,
                     strcmp(request->method, "HEAD") ? request->method : NULL);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer->body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, answer);
    *http->reason = 0;
    result = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &asked);
    answer->was_asked = asked > 0;
    if (result)
        explain(http, result, answer);
    else
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
    free(url);
    return 0;
}

int vti_http_ask(struct vti_http *http, const struct vti_http_request *request,
                 struct vti_http_answer *answer)
{
    bool has_gzip = request->has_gzip && request->body_bytes;
    struct curl_slist *headers = make_headers(http, request, has_gzip);
    const void *body = request->body ? request->body : "";
    size_t body_bytes = request->body_bytes;
    int code = headers ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    vti_buf_clear(&answer->body);
    answer->status = answer->wait_ms = 0;
    answer->was_asked = answer->is_settings = false;
    *answer->why = 0;
    if (!code && has_gzip) {
        code = pack(http, body, body_bytes);
        body = http->packed.data;
        body_bytes = http->packed.len;
    }
    answer->sent_bytes = body_bytes;
    if (!code)
        code = perform(http, request, body, body_bytes, headers, answer);
    curl_slist_free_all(headers);
    if (!code) {
        vti_buf_add_u8(&answer->body, 0);
        if (answer->body.failed)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        answer->body.len--;
    }
    return code;
}

void vti_http_answer_fini(struct vti_http_answer *answer)
{
    vti_buf_fini(&answer->body);
}
