/* test_secret.c - what is overwritten in an argument, and how a secret gets to another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/secret.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_hidden(const char *argument, const char *wanted)
{
    char word[200];

    snprintf(word, sizeof word, "%s", argument);
    assert_int_equal(vti_secret_hide_login(word), strcmp(argument, wanted) != 0);
    assert_string_equal(word, wanted);
}

static void test_logins(void **state)
{
    (void)state;
    expect_hidden("redis://host:6379/1", "redis://host:6379/1");
    expect_hidden("redis://:secret@host", "redis://*******@host");
    expect_hidden("--to=https://me:pw@host/x?y=1", "--to=https://*****@host/x?y=1");
    expect_hidden("redis://me:pa/ss?w@rd@host", "redis://*************@host");
    expect_hidden("me@host", "me@host");
    expect_hidden("redis://@host", "redis://@host");
    expect_hidden("", "");
}

static void test_whole(void **state)
{
    char token[] = "abc";

    (void)state;
    vti_secret_hide(token);
    assert_string_equal(token, "***");
    vti_secret_hide(NULL);
}

static void test_taken(void **state)
{
    char word[] = "redis://:secret@host";
    char *argv[] = {word, NULL};
    char *url = vti_secret_take_url(word);

    (void)state;
    assert_string_equal(url, "redis://:secret@host");
    assert_string_equal(word, "redis://*******@host");
    free(url);
    vti_secret_hide_logins(1, argv);
    assert_string_equal(word, "redis://*******@host");
}

static void test_handed_on(void **state)
{
    char word[100], wanted[100];
    int fd = vti_secret_send("redis://:secret@host", word, sizeof word);
    char *text;

    (void)state;
    assert_true(fd > 3); /* neither a standard stream nor what a drainer says "ready" on */
    assert_false(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    snprintf(wanted, sizeof wanted, "fd:%d:redis://*******@host", fd);
    assert_string_equal(word, wanted);
    text = vti_secret_receive(word);
    assert_string_equal(text, "redis://:secret@host");
    free(text);
    assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed */
    assert_null(vti_secret_receive(word));
}

static void test_words_that_are_none(void **state)
{
    static const char *const words[] = {"redis://host", "fd:",     "fd:7",
                                        "fd:1:x",       "fd:-1:x", "fd:x:"};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *text = vti_secret_receive(words[i]);

        assert_string_equal(text, words[i]);
        free(text);
    }
}

static void test_too_long(void **state)
{
    static char text[VTI_SECRET_MOST + 2], word[VTI_SECRET_MOST + 100];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    assert_true(vti_secret_send(text, word, sizeof word) < 0);
    assert_true(vti_secret_send("redis://host", word, 10) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logins),   cmocka_unit_test(test_whole),
        cmocka_unit_test(test_taken),    cmocka_unit_test(test_handed_on),
        cmocka_unit_test(test_too_long), cmocka_unit_test(test_words_that_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
