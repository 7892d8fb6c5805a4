/*
 * main.c - finds the command and hands over to it.
 *
 * Does no work before that: start-up of the tool is measured. Leaves signals as they are, because
 * what `run` starts inherits them.
 */
#include "cli/frame.h"

#include "base/file.h"
#include "cli/python.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VTI_COMMAND(name) extern const struct vti_command vti_cmd_##name;
#include "cli/commands.def"
#undef VTI_COMMAND

const struct vti_command *const vti_commands[] = {
#define VTI_COMMAND(name) &vti_cmd_##name,
#include "cli/commands.def"
#undef VTI_COMMAND
    NULL,
};

const struct vti_command *vti_command_find(const char *name)
{
    for (int i = 0; vti_commands[i]; i++)
        if (!strcmp(vti_commands[i]->name, name) ||
            (vti_commands[i]->alias && !strcmp(vti_commands[i]->alias, name)))
            return vti_commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *close = NULL;
    unsigned distance = VTI_SUGGEST_MOST + 1;

    for (int i = 0; vti_commands[i]; i++)
        vti_suggest(vti_commands[i]->name, name, strlen(name), &close, &distance);
    if (close)
        return vti_cmd_fail(NULL, "no command '%s', did you mean %s?", name, close);
    return vti_cmd_fail(NULL, "no command '%s', see venturi --help", name);
}

/* -V and -v are what other tools take for --version. */
static int unknown_option(const char *word)
{
    const char *close = NULL;
    unsigned distance = VTI_SUGGEST_MOST + 1;

    if (!strcmp(word, "-V") || !strcmp(word, "-v"))
        close = "version";
    else if (!strncmp(word, "--", 2)) {
        vti_suggest("version", word + 2, strlen(word + 2), &close, &distance);
        vti_suggest("help", word + 2, strlen(word + 2), &close, &distance);
    }
    if (close)
        return vti_cmd_fail(NULL, "no option %s, did you mean --%s?", word, close);
    return vti_cmd_fail(NULL, "no option %s, see venturi --help", word);
}

/* `venturi SCRIPT.py` is short for `venturi run SCRIPT.py`, and so it is with options in front. */
static bool is_option_of_run(const char *word)
{
    const struct vti_option *option = vti_command_find("run")->options;

    for (; option->name; option++) {
        size_t len = strlen(option->name);

        if (word[1] == '-'
                ? !strncmp(word + 2, option->name, len) && (!word[2 + len] || word[2 + len] == '=')
                : option->letter && word[1] == option->letter)
            return true;
    }
    return false;
}

static int print_help(FILE *to, const struct vti_command *command, int code)
{
    struct vti_buf text = {0};

    if (command)
        vti_help_command(&text, command);
    else
        vti_help_list(&text);
    if (text.failed)
        code = vti_cmd_fail(NULL, "out of memory");
    else
        fwrite(text.data, 1, text.len, to);
    vti_buf_fini(&text);
    return code;
}

static int dispatch(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : NULL;
    const struct vti_command *command;

    if (!first)
        return print_help(stderr, NULL, VTI_EXIT_BAD);
    if (!strcmp(first, "--version")) {
        puts("venturi " VENTURI_VERSION);
        return VTI_EXIT_OK;
    }
    if (!strcmp(first, "--help") || !strcmp(first, "-h"))
        return print_help(stdout, NULL, VTI_EXIT_OK);
    if (!strcmp(first, "help")) {
        command = argc > 2 ? vti_command_find(argv[2]) : NULL;
        if (argc == 2 || command)
            return print_help(stdout, command, VTI_EXIT_OK);
        return unknown_command(argv[2]);
    }
    if (first[0] == '-' && !is_option_of_run(first))
        return unknown_option(first);
    command = vti_command_find(first);
    if (!command && (first[0] == '-' || vti_python_is_script(first)))
        return vti_command_find("run")->run(argc, argv);
    if (!command)
        return unknown_command(first);
    if (vti_args_wants_help(command, argc - 1, argv + 1))
        return print_help(stdout, command, VTI_EXIT_OK);
    return command->run(argc - 1, argv + 1);
}

/* Of what failed before the end nobody knows why any more: only a pipe that nobody reads is told by this. */
static bool has_reader_left(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR);
}

/* Output that did not arrive is a failure, except that a reader who has seen enough may leave. */
static int close_output(int code)
{
    bool is_flushed = fflush(stdout) == 0;

    if ((is_flushed && !ferror(stdout)) || (!is_flushed && errno == EPIPE) || has_reader_left())
        return code;
    vti_cmd_fail(NULL, "standard output: cannot write: %s",
                 is_flushed ? "some of it is lost" : strerror(errno));
    return code ? code : VTI_EXIT_BAD;
}

int main(int argc, char **argv)
{
    vti_file_hold_standard();
    return close_output(dispatch(argc, argv));
}
