/* test_sign.c - the value of X-Trace-Info and its signature, against what osprofiler made of the same ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/keys.h"
#include "net/sign.h"

#include <stdlib.h>
#include <string.h>

#define BASE "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
#define PARENT "b9b29981-0916-4635-af18-d6c92f991f46"
#define INFO                                                                                       \
    "eyJiYXNlX2lkIjogImYxMmU3NWQ1LTVkNTktNGNiYy1iNzRkLTM1N2YxOTI5MGRkNyIsICJwYXJlbnRfaWQiOiAiYj"   \
    "liMjk5ODEtMDkxNi00NjM1LWFmMTgtZDZjOTJmOTkxZjQ2In0="
#define SIGNATURE_V1 "a29e0a95b9c8836871121bcb24db901761ece411"

static const struct vector {
    const char *key;
    const char *base;
    const char *parent;
    const char *info;
    const char *signature;
    bool is_refused; /* packed as Python does it, and still no id */
} vectors[] = {
    {"secret_word", BASE, PARENT, INFO, SIGNATURE_V1, false},
    {"SECRET_KEY", BASE, PARENT, INFO, "982d7325e4d2ea723eee8da7caee24a630e19d16", false},
    {"SECRET_KEY", "a?>\xc3\xbf~~~", "\xe2\x82\xac>>>???",
     "eyJiYXNlX2lkIjogImE_Plx1MDBmZn5-fiIsICJwYXJlbnRfaWQiOiAiXHUyMGFjPj4-Pz8_In0=",
     "15917226754c384b7153b296c435ef6e2dbc89d0", false},
    {"k\xc3\xa9y", BASE, NULL,
     "eyJiYXNlX2lkIjogImYxMmU3NWQ1LTVkNTktNGNiYy1iNzRkLTM1N2YxOTI5MGRkNyJ9",
     "34dbc245cffea1c9dccb433575e3f7e57f1b6030", false},
    {"secret_word", "\x7f\n\x01\xf0\x9f\x98\x80", NULL,
     "eyJiYXNlX2lkIjogIlx1MDA3ZlxuXHUwMDAxXHVkODNkXHVkZTAwIn0=",
     "72411cecc07ca95c4d34e47f34b5937229f88189", true},
};

static void check_vector(const struct vector *vector)
{
    struct vti_trace_info info = {0};
    char text[1024];
    char signature[VTI_SIGNATURE];
    size_t len = vti_trace_info_pack(text, sizeof text, vector->base, strlen(vector->base),
                                     vector->parent, vector->parent ? strlen(vector->parent) : 0);

    assert_string_equal(text, vector->info);
    assert_int_equal(len, strlen(text));
    assert_true(vti_sign(signature, vector->key, strlen(vector->key), text, len));
    assert_string_equal(signature, vector->signature);
    assert_true(vti_sign_fits(signature, 40, vector->key, strlen(vector->key), text, len));

    assert_int_equal(vti_trace_info_unpack(&info, text, len), !vector->is_refused);
    if (vector->is_refused)
        goto out;
    assert_int_equal(info.base.len, strlen(vector->base));
    assert_memory_equal(info.base.data, vector->base, info.base.len);
    assert_int_equal(info.has_parent, vector->parent != NULL);
    if (vector->parent) {
        assert_int_equal(info.parent.len, strlen(vector->parent));
        assert_memory_equal(info.parent.data, vector->parent, info.parent.len);
    }
out:
    vti_trace_info_fini(&info);
}

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        check_vector(&vectors[i]);
}

static void test_ids(void **state)
{
    struct vt_id base;
    struct vt_id parent;
    char info[VTI_TRACE_INFO_IDS];
    char signature[VTI_SIGNATURE];

    (void)state;
    vt_id_parse(&base, BASE, strlen(BASE));
    vt_id_parse(&parent, PARENT, strlen(PARENT));
    assert_true(vti_sign_ids(info, signature, "secret_word", 11, &base, &parent));
    assert_string_equal(info, INFO);
    assert_string_equal(signature, SIGNATURE_V1);
}

static bool fits(const char *signature)
{
    return vti_sign_fits(signature, strlen(signature), "secret_word", 11, INFO, strlen(INFO));
}

static void test_forged(void **state)
{
    char signature[] = SIGNATURE_V1;

    (void)state;
    assert_true(fits(signature));
    assert_false(fits("0000000000000000000000000000000000000000"));
    assert_false(fits("A29E0A95B9C8836871121BCB24DB901761ECE411"));
    assert_false(fits(""));
    assert_false(fits(SIGNATURE_V1 "0"));
    for (size_t i = 0; i < 40; i++) {
        char right = signature[i];

        signature[i] = right == '0' ? '1' : '0';
        assert_false(fits(signature));
        signature[i] = right;
        assert_false(vti_sign_fits(signature, i, "secret_word", 11, INFO, strlen(INFO)));
    }
}

/* On memory of its own size, so that a byte too far is seen. */
static bool unpacks(const char *text, size_t len)
{
    struct vti_trace_info info = {0};
    char *copy = malloc(len ? len : 1);
    bool is_good;

    assert_non_null(copy);
    memcpy(copy, text, len);
    is_good = vti_trace_info_unpack(&info, copy, len);
    vti_trace_info_fini(&info);
    free(copy);
    return is_good;
}

static void test_truncated(void **state)
{
    (void)state;
    for (size_t len = 0; len < strlen(INFO); len++)
        assert_false(unpacks(INFO, len));
    assert_true(unpacks(INFO, strlen(INFO)));
    assert_false(unpacks(INFO "====", strlen(INFO) + 4));
}

/* Packs any JSON as it is: standard base64 will do, osprofiler reads that too. */
static bool takes(const char *json)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4096];
    size_t len = 0;
    size_t count = strlen(json);

    assert_true(count < 3000);
    for (size_t i = 0; i < count; i += 3) {
        uint32_t bits = 0;

        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (i + j < count ? (uint8_t)json[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            text[len++] = i + j <= count ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
    }
    return unpacks(text, len);
}

static void test_contents(void **state)
{
    static const char *const bad[] = {
        "",
        "{}",
        "[]",
        "null",
        "\"base_id\"",
        "{\"parent_id\": \"a\"}",
        "{\"base_id\": 5}",
        "{\"base_id\": null}",
        "{\"base_id\": [\"a\"]}",
        "{\"base_id\": {\"base_id\": \"a\"}}",
        "{\"base_id\": \"\"}",
        "{\"base_id\": \"a\", \"parent_id\": nul}",
        "{\"base_id\": \"a\", \"parent_id\": null, \"parent_id\": null}",
        "{\"base_id\": \"\\ud83d\"}",
        "{\"base_id\": \"\\u0000\"}",
        "{\"base_id\": \"a\x7f\"}",
        "\v{\"base_id\": \"a\"}",
        "{\"base_id\": \"a\", \"parent_id\": 1.5}",
        "{\"base_id\": \"a\", \"base_id\": \"b\"}",
        "{\"base_id\": \"a\", \"sampled\": true}",
        "{\"base_id\": \"a\", \"hmac_key\": \"b\"}",
        "{\"base_id\": \"a\"",
        "{\"base_id\": \"a}",
        "{\"base_id\": \"a\\",
        "{\"base_id\": \"\\u12\"}",
        "{\"base_id\": \"a\"} x",
        "{\"base_id\": \"a\"}{}",
        "{\"base_id\": \"a\",}",
        "{\"base_id\": \"a\nb\"}",
        "{\"base_id\": \"a\xff\"}",
        "{base_id: \"a\"}",
    };

    (void)state;
    assert_true(takes("{\"base_id\": \"a\"}"));
    assert_true(takes("{\"parent_id\":\"b\",\"base_id\":\"a\"}"));
    assert_true(takes("{ \"base_id\" : \"\\ud83d\\ude00\" }"));
    assert_true(takes("\r\n{\"base_id\":\t\"a\", \"parent_id\": null}\n"));
    assert_true(takes("{\"base_id\": \"a\", \"parent_id\": \"\"}"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (takes(bad[i]))
            fail_msg("accepted: %s", bad[i]);
}

static void test_base64(void **state)
{
    char text[VTI_TRACE_INFO_MOST + 8];

    (void)state;
    memset(text, 'A', sizeof text);
    assert_false(unpacks(text, VTI_TRACE_INFO_MOST + 4));
    assert_false(unpacks("eyJi\xc3\xa9XX=", 10));
    assert_false(unpacks("====", 4));
    assert_false(unpacks("e===", 4));
    assert_false(unpacks("eyJ=eyJ=", 8));
}

static void test_no_room(void **state)
{
    char text[256];

    (void)state;
    for (size_t room = 1; room <= strlen(INFO); room++)
        assert_int_equal(vti_trace_info_pack(text, room, BASE, 36, PARENT, 36), 0);
    assert_int_equal(vti_trace_info_pack(text, strlen(INFO) + 1, BASE, 36, PARENT, 36),
                     strlen(INFO));
}

static void test_keys(void **state)
{
    vt_keys *keys = vt_keys_new("a, b,,c ,");
    vt_keys *none = vt_keys_new(" , ");
    vt_keys *two = vt_keys_new("other, secret_word");

    (void)state;
    assert_int_equal(keys->count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(keys->keys[i].len, 1);
        assert_int_equal(keys->keys[i].text[0], "abc"[i]);
    }
    assert_int_equal(none->count, 0);
    assert_int_equal(vti_keys_match(two, SIGNATURE_V1, 40, INFO, strlen(INFO)), 2);
    assert_int_equal(vti_keys_match(keys, SIGNATURE_V1, 40, INFO, strlen(INFO)), 0);
    assert_int_equal(vti_keys_match(none, SIGNATURE_V1, 40, INFO, strlen(INFO)), 0);
    vt_keys_free(keys);
    vt_keys_free(none);
    vt_keys_free(two);
    vt_keys_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),  cmocka_unit_test(test_ids),
        cmocka_unit_test(test_forged),   cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_contents), cmocka_unit_test(test_base64),
        cmocka_unit_test(test_no_room),  cmocka_unit_test(test_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
