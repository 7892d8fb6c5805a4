/*
 * args.c - walks over a command's arguments with the command's own option table.
 *
 * Knows nothing of any command. What is wrong is said in one line, with the option it concerns.
 */
#include "cli/frame.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beside the VTI_OPT_… of cmd.h; main looks for --help before a command runs, so commands see
 * neither. */
enum { FOUND_HELP = -4, FOUND_NOTHING = -5 };

static int complain(const struct vti_args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int complain(const struct vti_args *args, const char *format, ...)
{
    char text[512];
    va_list list;

    if (args->is_quiet)
        return VTI_OPT_BAD;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    vti_cmd_fail(args->command->name, "%s", text);
    return VTI_OPT_BAD;
}

void vti_args_init(struct vti_args *args, const struct vti_command *command, int argc, char **argv)
{
    memset(args, 0, sizeof *args);
    args->command = command;
    args->argc = argc;
    args->argv = argv;
    args->at = 1;
}

static int find_name(const struct vti_command *command, const char *name, size_t len)
{
    for (int i = 0; command->options && command->options[i].name; i++)
        if (strlen(command->options[i].name) == len && !memcmp(command->options[i].name, name, len))
            return i;
    return len == 4 && !memcmp(name, "help", 4) ? FOUND_HELP : FOUND_NOTHING;
}

static int find_letter(const struct vti_command *command, char letter)
{
    for (int i = 0; command->options && command->options[i].name; i++)
        if (command->options[i].letter == letter)
            return i;
    return letter == 'h' ? FOUND_HELP : FOUND_NOTHING;
}

bool vti_option_has_choices(const struct vti_option *option)
{
    if (!option->value || !strchr(option->value, '|'))
        return false;
    for (const char *at = option->value; *at; at++)
        if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) && *at != '|' &&
            *at != '-')
            return false;
    return true;
}

bool vti_option_takes_word(const struct vti_option *option)
{
    return option->value && option->value[0] != '[';
}

static bool is_choice(const char *choices, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = choices; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strcspn(at, "|") == len && !memcmp(at, word, len))
            return true;
    }
    return false;
}

static int check_choice(const struct vti_args *args, int index, const char *value)
{
    const struct vti_option *option = &args->command->options[index];

    if (!vti_option_has_choices(option) || is_choice(option->value, value))
        return index;
    return complain(args, "--%s: '%s' is none of %s", option->name, value, option->value);
}

static int unknown(const struct vti_args *args, const char *word)
{
    const struct vti_option *options = args->command->options;
    const char *close = NULL;
    unsigned distance = VTI_SUGGEST_MOST + 1;
    size_t len = strcspn(word + 2, "=");

    for (int i = 0; options && options[i].name; i++)
        vti_suggest(options[i].name, word + 2, len, &close, &distance);
    if (close)
        return complain(args, "no option %.*s, did you mean --%s?", (int)len + 2, word, close);
    return complain(args, "no option %.*s, see venturi %s --help", (int)len + 2, word,
                    args->command->name);
}

/* --name, --name=value, --name value */
static int take_long(struct vti_args *args, const char *word, const char **value)
{
    size_t len = strcspn(word + 2, "=");
    const char *given = word[2 + len] ? word + 3 + len : NULL;
    int index = find_name(args->command, word + 2, len);

    if (index == FOUND_NOTHING)
        return unknown(args, word);
    if (index == FOUND_HELP || !args->command->options[index].value) {
        if (!given)
            return index;
        return complain(args, "--%.*s takes no value", (int)len, word + 2);
    }
    if (!given && !vti_option_takes_word(&args->command->options[index]))
        return index;
    if (!given && args->at < args->argc)
        given = args->argv[args->at++];
    if (!given)
        return complain(args, "--%s needs a value: %s", args->command->options[index].name,
                        args->command->options[index].value);
    *value = given;
    return check_choice(args, index, given);
}

/* The letter at letter_at of the current word: a switch, or an option with its value behind it. */
static int take_letter(struct vti_args *args, const char *word, const char **value)
{
    char letter = word[args->letter_at++];
    bool is_last = word[args->letter_at] == 0;
    int index = find_letter(args->command, letter);
    const char *given;

    if (index == FOUND_NOTHING || index == FOUND_HELP || !args->command->options[index].value) {
        if (is_last) {
            args->letter_at = 0;
            args->at++;
        }
        if (index != FOUND_NOTHING)
            return index;
        return complain(args, "no option -%c, see venturi %s --help", letter, args->command->name);
    }
    given = is_last ? NULL : word + args->letter_at;
    args->letter_at = 0;
    args->at++;
    if (!given && args->at < args->argc)
        given = args->argv[args->at++];
    if (!given)
        return complain(args, "-%c needs a value: %s", letter, args->command->options[index].value);
    *value = given;
    return check_choice(args, index, given);
}

static int next_word(struct vti_args *args, const char **value)
{
    const char *word;

    *value = NULL;
    if (args->at >= args->argc)
        return VTI_OPT_DONE;
    word = args->argv[args->at];
    if (args->letter_at)
        return take_letter(args, word, value);
    if (!args->only_operands && !strcmp(word, "--")) {
        args->only_operands = true;
        args->at++;
        return next_word(args, value);
    }
    if (args->only_operands || word[0] != '-' || !word[1]) {
        args->only_operands |= args->command->stops_at_operand;
        args->at++;
        *value = word;
        return VTI_OPT_OPERAND;
    }
    if (word[1] == '-') {
        args->at++;
        return take_long(args, word, value);
    }
    args->letter_at = 1;
    return take_letter(args, word, value);
}

int vti_args_next(struct vti_args *args, const char **value)
{
    const struct vti_command *command = args->command;
    int found = next_word(args, value);

    if (found >= 0 && command->stops_after && command->options[found].letter &&
        strchr(command->stops_after, command->options[found].letter))
        args->only_operands = true;
    return found;
}

int vti_args_collect(const struct vti_command *command, int argc, char **argv,
                     const struct vti_place *places, const char **operands, unsigned most,
                     const char *wanted)
{
    struct vti_args args;
    const char *value;
    unsigned count = 0;
    int option;

    vti_args_init(&args, command, argc, argv);
    while ((option = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        if (option == VTI_OPT_BAD)
            return VTI_EXIT_BAD;
        if (option == VTI_OPT_OPERAND && count == most)
            return vti_cmd_fail(command->name, "%s, what is '%s'?", wanted, value);
        if (option == VTI_OPT_OPERAND)
            operands[count++] = value;
        else if (places[option].text)
            *places[option].text = value;
        else
            *places[option].is_set = true;
    }
    return 0;
}

int vti_args_limit(const char *command, const char *text, size_t least, size_t *limit)
{
    char *end;

    errno = 0;
    *limit = strtoul(text, &end, 10);
    if (errno || *end || !isdigit((unsigned char)*text) || *limit < least)
        return vti_cmd_fail(command, "--limit: '%s' is not a number of rows", text);
    return 0;
}

bool vti_args_wants_help(const struct vti_command *command, int argc, char **argv)
{
    struct vti_args args;
    const char *value;
    int found;

    if (command->passes_options)
        return argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    vti_args_init(&args, command, argc, argv);
    args.is_quiet = true;
    while ((found = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        if (found == FOUND_HELP)
            return true;
        if (args.only_operands)
            return false;
    }
    return false;
}
