/* test_args.c - the option walker, suggestions and the help text, with a command made up for it. */
#include "base/buf.h"
#include "cli/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { WIDE, OUTPUT, SORT, QUIET };

static const struct vti_option options[] = {
    [WIDE] = {'w', "wide", NULL, "more"},
    [OUTPUT] = {'o', "output", "FILE", "where to"},
    [SORT] = {0, "sort", "total|max|p50", "what decides the order"},
    [QUIET] = {'q', "quiet", NULL, "say less"},
    {0},
};

static const struct vti_command normal = {.name = "made",
                                          .summary = "made up",
                                          .usage = "[options] FILE",
                                          .about = "About it.",
                                          .options = options};
static const struct vti_command stopping = {.name = "made",
                                            .summary = "made up",
                                            .usage = "PROG",
                                            .options = options,
                                            .stops_at_operand = true,
                                            .stops_after = "o"};

const struct vti_command *const vti_commands[] = {&normal, NULL};

/* Walks over the words and writes what it finds as text: "0 1=x .file !". */
static const char *walk(const struct vti_command *command, const char *words)
{
    static char found[256];
    static char copy[256];
    char *argv[16] = {(char *)"made"};
    char *rest;
    int argc = 1;
    struct vti_args args;
    const char *value;
    size_t used = 0;
    int option;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word && argc < 16;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    found[0] = 0;
    vti_args_init(&args, command, argc, argv);
    args.is_quiet = true;
    while ((option = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        used += (size_t)snprintf(found + used, sizeof found - used, used ? " " : "");
        if (option == VTI_OPT_BAD) {
            snprintf(found + used, sizeof found - used, "!");
            break;
        }
        if (option == VTI_OPT_OPERAND)
            used += (size_t)snprintf(found + used, sizeof found - used, ".%s", value);
        else if (value)
            used += (size_t)snprintf(found + used, sizeof found - used, "%d=%s", option, value);
        else
            used += (size_t)snprintf(found + used, sizeof found - used, "%d", option);
    }
    return found;
}

static void options_are_found(void **state)
{
    (void)state;
    assert_string_equal(walk(&normal, "--wide file"), "0 .file");
    assert_string_equal(walk(&normal, "-w file"), "0 .file");
    assert_string_equal(walk(&normal, "--output out file"), "1=out .file");
    assert_string_equal(walk(&normal, "--output=out file"), "1=out .file");
    assert_string_equal(walk(&normal, "--output= file"), "1= .file");
    assert_string_equal(walk(&normal, "-o out"), "1=out");
    assert_string_equal(walk(&normal, "-oout"), "1=out");
    assert_string_equal(walk(&normal, "-wqo out"), "0 3 1=out");
    assert_string_equal(walk(&normal, "-wqoout file"), "0 3 1=out .file");
    assert_string_equal(walk(&normal, "-o -w file"),
                        "1=-w .file"); /* a value may begin with a dash */
    assert_string_equal(walk(&normal, "file -w"), ".file 0");
    assert_string_equal(walk(&normal, "-"), ".-");
}

static void double_dash_ends_options(void **state)
{
    (void)state;
    assert_string_equal(walk(&normal, "-w -- -w --wide"), "0 .-w .--wide");
    assert_string_equal(walk(&normal, "-- --"), ".--");
    assert_string_equal(walk(&stopping, "-w -- prog -w"), "0 .prog .-w");
}

static void operand_ends_options_where_it_must(void **state)
{
    (void)state;
    assert_string_equal(walk(&stopping, "-w prog -w --help"), "0 .prog .-w .--help");
    assert_string_equal(walk(&stopping, "-wo -w -w --help --"), "0 1=-w .-w .--help .--");
    assert_string_equal(walk(&stopping, "--output=x --help"), "1=x .--help");
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    assert_string_equal(walk(&normal, "--wid"), "!");
    assert_string_equal(walk(&normal, "--wider"), "!");
    assert_string_equal(walk(&normal, "--wide=1"), "!");
    assert_string_equal(walk(&normal, "--output"), "!");
    assert_string_equal(walk(&normal, "-o"), "!");
    assert_string_equal(walk(&normal, "-wx"), "0 !");
    assert_string_equal(walk(&normal, "--=x"), "!");
}

static void choices_are_checked(void **state)
{
    static const struct vti_option open = {0, "policy", "drop|block:MS", ""};

    (void)state;
    assert_string_equal(walk(&normal, "--sort max"), "2=max");
    assert_string_equal(walk(&normal, "--sort=p50"), "2=p50");
    assert_string_equal(walk(&normal, "--sort ma"), "!");
    assert_string_equal(walk(&normal, "--sort=max|p50"), "!");
    assert_string_equal(walk(&normal, "--sort="), "!");
    assert_true(vti_option_has_choices(&options[SORT]));
    assert_false(vti_option_has_choices(&options[OUTPUT]));
    assert_false(vti_option_has_choices(&open));
}

static bool wants_help(const struct vti_command *command, char *one, char *two)
{
    char *argv[] = {(char *)"made", one, two, NULL};

    return vti_args_wants_help(command, two ? 3 : 2, argv);
}

static void help_is_found(void **state)
{
    (void)state;
    assert_true(wants_help(&normal, (char *)"--help", NULL));
    assert_true(wants_help(&normal, (char *)"-wh", NULL));
    assert_true(wants_help(&normal, (char *)"file", (char *)"-h"));
    assert_true(wants_help(&normal, (char *)"--bogus", (char *)"--help"));
    assert_false(wants_help(&normal, (char *)"--", (char *)"--help"));
    assert_false(wants_help(&normal, (char *)"-o", (char *)"--help"));
    assert_false(wants_help(&stopping, (char *)"prog", (char *)"--help"));
    assert_false(wants_help(&stopping, (char *)"-ox", (char *)"--help"));
}

static const char *nearest(const char *word)
{
    const char *best = NULL;
    unsigned distance = VTI_SUGGEST_MOST + 1;
    static const char *const candidates[] = {"rank", "report", "run", "completions"};

    for (unsigned i = 0; i < sizeof candidates / sizeof *candidates; i++)
        vti_suggest(candidates[i], word, strlen(word), &best, &distance);
    return best ? best : "";
}

static void near_words_are_suggested(void **state)
{
    (void)state;
    assert_string_equal(nearest("rnak"), "rank");
    assert_string_equal(nearest("ranl"), "rank");
    assert_string_equal(nearest("reprot"), "report");
    assert_string_equal(nearest("comp"), "completions");
    assert_string_equal(nearest("zebra"), "");
    assert_string_equal(nearest("x"), "");
    assert_string_equal(nearest("0123456789012345678901234567890123456789"), "");
}

static void help_shows_every_option(void **state)
{
    struct vti_buf text = {0};

    (void)state;
    vti_help_command(&text, &normal);
    vti_buf_add_u8(&text, 0);
    assert_string_equal((char *)text.data, "Usage: venturi made [options] FILE\n"
                                           "\n"
                                           "About it.\n"
                                           "\n"
                                           "Options:\n"
                                           "  -w, --wide              more\n"
                                           "  -o, --output FILE       where to\n"
                                           "      --sort total|max|p50\n"
                                           "                          what decides the order\n"
                                           "  -q, --quiet             say less\n"
                                           "  -h, --help              show this\n");
    vti_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_found),
        cmocka_unit_test(double_dash_ends_options),
        cmocka_unit_test(operand_ends_options_where_it_must),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(choices_are_checked),
        cmocka_unit_test(help_is_found),
        cmocka_unit_test(near_words_are_suggested),
        cmocka_unit_test(help_shows_every_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
