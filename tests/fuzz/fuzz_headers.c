/*
 * fuzz_headers.c - libFuzzer target: any bytes as headers of a request, a line each. The first byte says whether they are signed with the
 * service's key before they are taken, so that what is behind the signature is reached too.
 */
#include "net/sign.h"

#include <venturi/http.h>

#include <stdlib.h>
#include <string.h>

#define HEADER_MOST 10000

/* X-Trace-Info, X-Trace-HMAC, traceparent, tracestate. */
static char values[4][HEADER_MOST + 1];
static char last[HEADER_MOST + 1];

static void require(int condition)
{
    if (!condition)
        abort();
}

/* What it gives out lasts until the next call, and no longer. */
static const char *get(const char *name, void *arg)
{
    static const char *const names[] = {"X-Trace-Info", "X-Trace-HMAC", "traceparent",
                                        "tracestate"};

    (void)arg;
    memset(last, 'x', sizeof last - 1);
    for (size_t i = 0; i < 4; i++) {
        if (!strcmp(name, names[i])) {
            memcpy(last, values[i], sizeof last);
            return *last ? last : NULL;
        }
    }
    abort();
}

static void add(const char *name, const char *value, void *arg)
{
    require(*name && strlen(value) <= 512);
    ++*(int *)arg;
}

static void split(const uint8_t *data, size_t size)
{
    memset(values, 0, sizeof values);
    for (size_t i = 0; i < 4 && size; i++) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end ? (size_t)(end - data) : size;

        memcpy(values[i], data, len < HEADER_MOST ? len : HEADER_MOST);
        len += len < size;
        data += len;
        size -= len;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static vt_keys *keys;
    struct vt_context context;
    enum vt_accept answer;
    int count = 0;

    if (!size)
        return 0;
    if (!keys)
        keys = vt_keys_new("other, secret_word");
    split(data + 1, size - 1);
    if (data[0] & 1)
        vti_sign(values[1], "secret_word", 11, values[0], strlen(values[0]));
    answer = vt_http_accept(data[0] & 2 ? NULL : keys, get, NULL);
    require((answer == VT_ACCEPT_TRACED) == vt_context_get(&context));
    vt_http_inject(keys, add, &count);
    require(answer == VT_ACCEPT_TRACED ? count >= 1 && count <= 4 : count == 0);
    require(answer != VT_ACCEPT_TRACED || data[0] & 2 || count >= 3);
    vt_context_end();
    return 0;
}
