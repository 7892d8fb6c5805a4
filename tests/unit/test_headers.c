/* test_headers.c - requests with headers of every kind: which are traced, with which ids, and what is sent on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/sign.h"

#include <venturi/http.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BASE "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
#define PARENT "b9b29981-0916-4635-af18-d6c92f991f46"
#define TRACEPARENT "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-03"

struct headers {
    size_t count;
    char name[8][32];
    char value[8][10000];
    char last[10000]; /* what get() gives out lasts until the next call, as promised */
};

static void add(const char *name, const char *value, void *arg)
{
    struct headers *headers = arg;

    assert_true(headers->count < 8);
    snprintf(headers->name[headers->count], 32, "%s", name);
    snprintf(headers->value[headers->count++], 10000, "%s", value);
}

static const char *get(const char *name, void *arg)
{
    struct headers *headers = arg;

    memset(headers->last, 'x', sizeof headers->last);
    for (size_t i = 0; i < headers->count; i++) {
        if (!strcasecmp(headers->name[i], name)) {
            memcpy(headers->last, headers->value[i], sizeof headers->last);
            return headers->last;
        }
    }
    return NULL;
}

static const char *find(const struct headers *headers, const char *name)
{
    for (size_t i = 0; i < headers->count; i++)
        if (!strcasecmp(headers->name[i], name))
            return headers->value[i];
    return NULL;
}

static void add_signed(struct headers *headers, const char *key, const char *base,
                       const char *parent)
{
    char info[9000];
    char signature[VTI_SIGNATURE];
    size_t len = vti_trace_info_pack(info, sizeof info, base, strlen(base), parent,
                                     parent ? strlen(parent) : 0);

    assert_true(len && vti_sign(signature, key, strlen(key), info, len));
    add("X-Trace-Info", info, headers);
    add("X-Trace-HMAC", signature, headers);
}

static enum vt_accept accepted(const char *list, struct headers *headers)
{
    vt_keys *keys = list ? vt_keys_new(list) : NULL;
    enum vt_accept answer = vt_http_accept(keys, get, headers);

    vt_keys_free(keys);
    return answer;
}

static void check_context(const char *base, const char *span)
{
    struct vt_context context;
    char text[VT_ID_TEXT];

    assert_int_equal(vt_context_get(&context), 1);
    vt_id_text(&context.base, text);
    assert_string_equal(text, base);
    vt_id_text(&context.span, text);
    assert_string_equal(text, span);
}

static bool is_untraced(void)
{
    struct vt_context context;

    return !vt_context_get(&context);
}

static void test_signed(void **state)
{
    static struct headers in;
    static struct headers out;
    vt_keys *keys = vt_keys_new("first, secret_word");
    char signature[VTI_SIGNATURE];

    (void)state;
    memset(&in, 0, sizeof in);
    memset(&out, 0, sizeof out);
    add_signed(&in, "secret_word", BASE, PARENT);
    assert_int_equal(vt_http_accept(keys, get, &in), VT_ACCEPT_TRACED);
    check_context(BASE, PARENT);
    vt_http_inject(keys, add, &out);
    assert_string_equal(find(&out, "X-Trace-Info"), in.value[0]);
    assert_string_equal(find(&out, "X-Trace-HMAC"), in.value[1]); /* the key that fitted */
    assert_string_equal(find(&out, "traceparent"),
                        "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01");
    assert_null(find(&out, "tracestate"));

    /* One that began here is signed with the first key. */
    memset(&out, 0, sizeof out);
    vt_context_begin(NULL);
    vt_http_inject(keys, add, &out);
    assert_int_equal(out.count, 3);
    assert_true(vti_sign(signature, "first", 5, find(&out, "X-Trace-Info"), 140));
    assert_string_equal(find(&out, "X-Trace-HMAC"), signature);
    vt_context_end();
    memset(&out, 0, sizeof out);
    vt_http_inject(keys, add, &out);
    assert_int_equal(out.count, 0);
    vt_keys_free(keys);
}

static void test_no_parent(void **state)
{
    static struct headers in;

    (void)state;
    memset(&in, 0, sizeof in);
    add_signed(&in, "secret_word", BASE, NULL);
    add("Other", "x", &in);
    assert_int_equal(accepted("secret_word", &in), VT_ACCEPT_TRACED);
    check_context(BASE, BASE);
}

/* Ids that are no UUIDs hold their links: the same text is the same id. */
static void test_odd_ids(void **state)
{
    static struct headers in;
    struct vt_context context;
    struct vt_id id;

    (void)state;
    memset(&in, 0, sizeof in);
    add_signed(&in, "secret_word", "not-a-uuid", "\xe2\x82\xac");
    assert_int_equal(accepted("secret_word", &in), VT_ACCEPT_TRACED);
    assert_int_equal(vt_context_get(&context), 1);
    vt_id_parse(&id, "not-a-uuid", 10);
    assert_true(vt_id_equal(&id, &context.base));
    vt_id_parse(&id, "\xe2\x82\xac", 3);
    assert_true(vt_id_equal(&id, &context.span));
}

static void check_rejected(struct headers *in)
{
    uint64_t before = vt_http_rejected();

    vt_context_begin(NULL); /* of an earlier request on this thread */
    assert_int_equal(accepted("secret_word, other", in), VT_ACCEPT_REJECTED);
    assert_true(is_untraced());
    assert_int_equal(vt_http_rejected(), before + 1);
}

static void test_rejected(void **state)
{
    static struct headers in;
    char text[9500];

    (void)state;
    memset(&in, 0, sizeof in);
    add_signed(&in, "guessed", BASE, PARENT);
    check_rejected(&in);

    memset(&in, 0, sizeof in);
    add("X-Trace-Info", "e30=", &in);
    check_rejected(&in);
    add("X-Trace-HMAC", "\xc3\xa9\xc3\xa9", &in);
    check_rejected(&in);

    memset(&in, 0, sizeof in);
    add("X-Trace-HMAC", "a29e0a95b9c8836871121bcb24db901761ece411", &in);
    check_rejected(&in);
    memset(text, 'a', 300);
    text[300] = 0;
    memset(in.value[0], 0, sizeof in.value[0]);
    memcpy(in.value[0], text, 301);
    check_rejected(&in);

    /* Signed with a right key, and still none of ours. */
    memset(&in, 0, sizeof in);
    memset(text, 'A', 8196);
    text[8196] = 0;
    add("X-Trace-Info", text, &in);
    vti_sign(in.last, "other", 5, text, 8196);
    add("X-Trace-HMAC", in.last, &in);
    check_rejected(&in);
    memset(&in, 0, sizeof in);
    add("X-Trace-Info", "\xff\xfe", &in);
    vti_sign(in.last, "other", 5, "\xff\xfe", 2);
    add("X-Trace-HMAC", in.last, &in);
    check_rejected(&in);
}

static void test_blanks(void **state)
{
    static struct headers in;

    (void)state;
    memset(&in, 0, sizeof in);
    add_signed(&in, "secret_word", BASE, PARENT);
    snprintf(in.last, sizeof in.last, "%300s%.40s\t ", "", in.value[1]);
    memcpy(in.value[1], in.last, sizeof in.last);
    snprintf(in.last, sizeof in.last, "\t%.140s \r", in.value[0]);
    memcpy(in.value[0], in.last, sizeof in.last);
    assert_int_equal(accepted("secret_word", &in), VT_ACCEPT_TRACED);

    memset(&in, 0, sizeof in); /* empty ones are not there */
    add("X-Trace-Info", "", &in);
    add("X-Trace-HMAC", "", &in);
    assert_int_equal(accepted("secret_word", &in), VT_ACCEPT_NONE);
}

static void test_dormant(void **state)
{
    static struct headers in;

    (void)state;
    memset(&in, 0, sizeof in);
    vt_context_begin(NULL);
    assert_int_equal(accepted("secret_word", &in), VT_ACCEPT_NONE);
    assert_true(is_untraced());
    add("traceparent", TRACEPARENT, &in);
    assert_int_equal(accepted("secret_word", &in), VT_ACCEPT_NONE);
    assert_int_equal(accepted("", &in), VT_ACCEPT_NONE);
    add_signed(&in, "secret_word", BASE, PARENT);
    assert_int_equal(accepted("", &in), VT_ACCEPT_NONE); /* a service that is not enabled */
    assert_true(is_untraced());
}

static void test_w3c(void **state)
{
    static struct headers in;
    static struct headers out;
    vt_keys *keys = vt_keys_new("secret_word");
    uint64_t before = vt_http_rejected();

    (void)state;
    memset(&in, 0, sizeof in);
    memset(&out, 0, sizeof out);
    assert_int_equal(accepted(NULL, &in), VT_ACCEPT_NONE);
    add("traceparent", TRACEPARENT, &in);
    add("tracestate", "a=1,b=2", &in);
    assert_int_equal(accepted(NULL, &in), VT_ACCEPT_TRACED);
    check_context(BASE, "00000000-0000-0000-af18-d6c92f991f46");
    vt_http_inject(keys, add, &out);
    assert_string_equal(find(&out, "traceparent"), TRACEPARENT);
    assert_string_equal(find(&out, "tracestate"), "a=1,b=2");
    assert_null(find(&out, "X-Trace-Info"));    /* nobody has shown the secret */
    in.value[0][strlen(TRACEPARENT) - 1] = '2'; /* its sender does not record */
    assert_int_equal(accepted(NULL, &in), VT_ACCEPT_NONE);
    assert_true(is_untraced());

    memset(&in, 0, sizeof in);
    add("traceparent", "00-zz", &in);
    assert_int_equal(accepted(NULL, &in), VT_ACCEPT_REJECTED);
    memset(in.value[0], '0', 9000);
    assert_int_equal(accepted(NULL, &in), VT_ACCEPT_REJECTED);
    assert_int_equal(vt_http_rejected(), before + 2);
    vt_keys_free(keys);
}

/* Whoever started the program named the trace: what it calls is asked to go on as if it had begun here. */
static void test_environment(void **state)
{
    static struct headers out;
    vt_keys *keys = vt_keys_new("first, secret_word");
    char signature[VTI_SIGNATURE];

    (void)state;
    memset(&out, 0, sizeof out);
    setenv("TRACEPARENT", TRACEPARENT, 1);
    assert_int_equal(vt_context_from_environment(), 1);
    unsetenv("TRACEPARENT");
    vt_http_inject(keys, add, &out);
    assert_string_equal(find(&out, "traceparent"), TRACEPARENT);
    assert_non_null(find(&out, "X-Trace-Info"));
    assert_true(vti_sign(signature, "first", 5, find(&out, "X-Trace-Info"), 140));
    assert_string_equal(find(&out, "X-Trace-HMAC"), signature);
    memset(&out, 0, sizeof out);
    vt_http_inject(NULL, add, &out);
    assert_int_equal(out.count, 1);
    vt_keys_free(keys);
}

/* Both kinds: the signed ids count; flags and state are taken on if they are of the same trace. */
static void test_both(void **state)
{
    static struct headers in;
    struct vt_context context;

    (void)state;
    memset(&in, 0, sizeof in);
    add_signed(&in, "secret_word", BASE, PARENT);
    add("traceparent", TRACEPARENT, &in);
    add("tracestate", "a=1", &in);
    assert_int_equal(accepted("secret_word", &in), VT_ACCEPT_TRACED);
    check_context(BASE, PARENT);
    assert_int_equal(vt_context_get(&context), 1);
    assert_int_equal(context.flags, 3);
    assert_string_equal(context.tracestate, "a=1");
    in.value[2][3] = '0';
    assert_int_equal(accepted("secret_word", &in), VT_ACCEPT_TRACED);
    check_context(BASE, PARENT);
    assert_int_equal(vt_context_get(&context), 1);
    assert_int_equal(context.flags, 1);
    assert_string_equal(context.tracestate, "");
}

static int forget(void **state)
{
    (void)state;
    vt_context_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_signed, forget),
        cmocka_unit_test_teardown(test_no_parent, forget),
        cmocka_unit_test_teardown(test_odd_ids, forget),
        cmocka_unit_test_teardown(test_rejected, forget),
        cmocka_unit_test_teardown(test_blanks, forget),
        cmocka_unit_test_teardown(test_dormant, forget),
        cmocka_unit_test_teardown(test_w3c, forget),
        cmocka_unit_test_teardown(test_environment, forget),
        cmocka_unit_test_teardown(test_both, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
