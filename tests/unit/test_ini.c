/* test_ini.c - ini files, and what a logging configuration says about one logger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "net/ini.h"
#include "net/logging_config.h"
#include "net/python_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void parse(struct vti_ini *ini, const char *text)
{
    int code = vti_ini_parse(ini, "x.conf", text, strlen(text));

    if (code)
        fail_msg("%s", vti_error_message(code));
}

static void check(const struct vti_ini *ini, const char *section, const char *key,
                  const char *value)
{
    const char *found = vti_ini_get(ini, section, key);

    if (!value)
        assert_null(found);
    else
        assert_string_equal(found, value);
}

static void test_values(void **state)
{
    struct vti_ini ini;

    (void)state;
    parse(&ini, "\xef\xbb\xbf# comment\n; another\r\n[DEFAULT]\nplain = one\r\ncolon: two = 2\n"
                "equal = a:b\nempty =\nmany = first,\n  second,\n\tthird  \n  # no part of it\n"
                "percent = %(message)s 100%%\n\n[profiler]\nenabled=True\nplain = other\n"
                "hash = a # b\nplain = last\n[ spaced ]\nk=v");
    check(&ini, "DEFAULT", "plain", "one");
    check(&ini, "default", "PLAIN", "one");
    check(&ini, "DEFAULT", "colon", "two = 2");
    check(&ini, "DEFAULT", "equal", "a:b");
    check(&ini, "DEFAULT", "empty", "");
    check(&ini, "DEFAULT", "many", "first,\nsecond,\nthird");
    check(&ini, "DEFAULT", "percent", "%(message)s 100%%");
    check(&ini, "DEFAULT", "enabled", NULL);
    check(&ini, "profiler", "enabled", "True");
    check(&ini, "profiler", "plain", "last");
    check(&ini, "profiler", "hash", "a # b");
    check(&ini, " spaced ", "k", "v");
    check(&ini, "none", "k", NULL);
    vti_ini_close(&ini);
    parse(&ini, "");
    assert_int_equal(ini.count, 0);
    vti_ini_close(&ini);
}

static void check_bad(const char *text, size_t len, const char *message)
{
    struct vti_ini ini;
    int code = vti_ini_parse(&ini, "x.conf", text, len);

    assert_true(code < 0);
    assert_string_equal(vti_error_message(code), message);
    vti_ini_close(&ini);
}

static void test_bad(void **state)
{
    static char large[VTI_INI_BYTES_MOST + 1];

    (void)state;
#define BAD(text, message) check_bad(text, sizeof(text) - 1, message)
    BAD("[x\n", "x.conf: line 1: a section without ]");
    BAD("\n[]\n", "x.conf: line 2: a section without a name");
    BAD("[x]\nword\n", "x.conf: line 2: neither a section nor key = value");
    BAD("[x]\n= 5\n", "x.conf: line 2: a value without a key");
    BAD("a = 5\n", "x.conf: line 1: a value before the first section");
    BAD("[x]\n  more\n", "x.conf: line 2: an indented line that continues nothing");
    BAD("[x]\na=1\n\n  more\n", "x.conf: line 4: an indented line that continues nothing");
    BAD("[x]\na=1\0\n", "x.conf: not a text file");
#undef BAD
    memset(large, '#', sizeof large);
    check_bad(large, sizeof large, "x.conf: larger than 1048576 bytes");
}

static void test_args(void **state)
{
    static const char *const names[] = {"filename", "mode", "maxBytes", "backupCount"};
    static const char *const bad[] = {"",
                                      "(",
                                      "(\"a\"",
                                      "(\"a)",
                                      "(\"a\\",
                                      "(open('x'),)",
                                      "(1, 2, 3, 4, 5)",
                                      "(\"a\",) x",
                                      "(99999999999 * 99999999999,)",
                                      "(1 2)",
                                      "(,)"};
    struct vti_python_arg args[4];

    (void)state;
    assert_true(vti_python_args(args, names, 4,
                                " ( \"/tmp/a \\\"b\\\".log\" , r'a\\b',10*1024 * 2,5, ) ", NULL));
    assert_string_equal(args[0].text, "/tmp/a \"b\".log");
    assert_string_equal(args[1].text, "a\\b");
    assert_int_equal(args[2].number, 20480);
    assert_int_equal(args[3].number, 5);
    assert_true(vti_python_args(args, names, 4, "('x',)", "{'backupCount': -1, \"mode\": None}"));
    assert_int_equal(args[1].kind, VTI_PYTHON_NOTHING);
    assert_int_equal(args[2].kind, VTI_PYTHON_NOTHING);
    assert_int_equal(args[3].number, -1);
    assert_true(vti_python_args(args, names, 4, "(sys.stdout, True, False)", NULL));
    assert_int_equal(args[0].kind, VTI_PYTHON_WORD);
    assert_int_equal(args[1].number, 1);
    assert_true(vti_python_args(args, names, 4, "()", "{}"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (vti_python_args(args, names, 4, bad[i], NULL))
            fail_msg("understood: %s", bad[i]);
    assert_false(vti_python_args(args, names, 4, NULL, "{'other': 1}"));
    assert_false(vti_python_args(args, names, 4, NULL, "{'mode' 1}"));
}

/* What a logging configuration gives for `logger`; its handlers in one line. */
static void check_logging(const char *logger, const char *text, const char *expected)
{
    struct vti_logging *logging = malloc(sizeof *logging);
    struct vti_ini ini;
    struct vti_buf notes = {0};
    char seen[1024] = "";
    int code;

    assert_non_null(logging);
    parse(&ini, text);
    code = vti_logging_load(logging, &ini, "log.conf", logger, &notes);
    if (code) {
        snprintf(seen, sizeof seen, "%s", vti_error_message(code));
    } else {
        for (size_t i = 0; i < logging->count; i++) {
            const struct vti_log_spec *spec = &logging->specs[i];
            size_t len = strlen(seen);

            snprintf(seen + len, sizeof seen - len, "%d:%s:%s%s%d,%d;", spec->kind, spec->path,
                     spec->format, spec->truncates ? ":w:" : ":a:", (int)spec->bytes_most,
                     (int)spec->backups);
        }
    }
    if (notes.len)
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%.*s", (int)notes.len,
                 (const char *)notes.data);
    assert_string_equal(seen, expected);
    vti_buf_fini(&notes);
    vti_ini_close(&ini);
    free(logging);
}

#define HANDLERS                                                                                   \
    "[handler_a]\nclass=FileHandler\nargs=('a.log',)\nformatter=f\n"                               \
    "[handler_b]\nclass=logging.handlers.RotatingFileHandler\nargs=('b.log', 'w', 1024, 2)\n"      \
    "[handler_c]\nclass=StreamHandler\nlevel=WARNING\nargs=(sys.stderr,)\n"                        \
    "[handler_d]\nclass=StreamHandler\nargs=(sys.stdout,)\n"                                       \
    "[handler_e]\nclass=handlers.SysLogHandler\nargs=()\n"                                         \
    "[handler_w]\nclass=FileHandler\nargs=('w.log', 'w')\n"                                        \
    "[formatter_f]\nformat=%(asctime)s %(message)s\n"
#define A "0:a.log:%(asctime)s %(message)s:a:0,0;"
#define B "2:b.log:%(message)s:a:1024,2;"
#define D "3::%(message)s:a:0,0;"

static void test_logging(void **state)
{
    (void)state;
    check_logging("p",
                  "[loggers]\nkeys=p,root\n[logger_p]\nqualname=p\nlevel=INFO\nhandlers=a,b\n"
                  "[logger_root]\nlevel=ERROR\nhandlers=c,d\n" HANDLERS,
                  A B D);
    check_logging("p",
                  "[loggers]\nkeys=p,root\n[logger_p]\nqualname=p\nlevel=INFO\nhandlers=a\n"
                  "propagate=0\n[logger_root]\nhandlers=d\n" HANDLERS,
                  A);
    check_logging("p",
                  "[loggers]\nkeys=p,root\n[logger_p]\nqualname=p\nlevel=WARNING\n"
                  "handlers=a\n[logger_root]\nlevel=DEBUG\nhandlers=d\n" HANDLERS,
                  "");
    /* NOTSET, and no logger of that name: the one above says. */
    check_logging("p",
                  "[loggers]\nkeys=p,root\n[logger_p]\nqualname=p\nlevel=NOTSET\n"
                  "handlers=a\n[logger_root]\nlevel=DEBUG\nhandlers=d\n" HANDLERS,
                  A D);
    check_logging("q",
                  "[loggers]\nkeys=p,root\n[logger_p]\nqualname=p\nhandlers=a\n"
                  "[logger_root]\nlevel=INFO\nhandlers=d\n" HANDLERS,
                  D);
    check_logging("q", "[loggers]\nkeys=root\n[logger_root]\nhandlers=d\n" HANDLERS, "");
    check_logging("q", "[loggers]\nkeys=root\n[logger_root]\nlevel=NOTSET\nhandlers=d\n" HANDLERS,
                  D);
    check_logging("x.y.z",
                  "[loggers]\nkeys=other,root\n[logger_other]\nqualname=x\nlevel=INFO\n"
                  "handlers=a\n[logger_root]\nhandlers=d\n" HANDLERS,
                  A D);
    check_logging("p", "[loggers]\nkeys=root\n[logger_root]\nlevel=INFO\nhandlers=e,w\n" HANDLERS,
                  "0:w.log:%(message)s:w:0,0;"
                  "venturi: log.conf: handler e is left out: its class is not known here\n");
    check_logging("p", "[loggers]\nkeys=root\n[logger_root]\nlevel=LOUD\nhandlers=d\n" HANDLERS,
                  "log.conf: unknown level 'LOUD'");
    check_logging("p", "[loggers]\nkeys=root\n[logger_root]\nlevel=INFO\nhandlers=none\n" HANDLERS,
                  "log.conf: no class for handler 'none'");
    check_logging("p", "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_args),
        cmocka_unit_test(test_logging),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
