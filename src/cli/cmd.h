/*
 * cmd.h - what a subcommand is.
 *
 * To add one: write src/cli/cmd_NAME.c that defines `const struct vti_command vti_cmd_NAME`, add
 * one line to commands.def, one page docs/commands/NAME.md, one case under tests/cli. A test checks
 * that all four exist and that `venturi NAME --help` stands in the page. A command parses, calls
 * model, analyze or export, and renders: it holds no analysis of its own.
 */
#ifndef VENTURI_CLI_CMD_H
#define VENTURI_CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>

enum vti_exit {
    VTI_EXIT_OK = 0,
    VTI_EXIT_NO = 1,     /* the answer is no */
    VTI_EXIT_BAD = 2,    /* usage or input error */
    VTI_EXIT_UNSURE = 3, /* not comparable, inconclusive */
    VTI_EXIT_SETUP = 125,
    VTI_EXIT_CANNOT = 126,
    VTI_EXIT_MISSING = 127 /* run, as env does */
};

/* A value of lower-case words with | between them ("csv|json") names all that the option takes;
 * vti_args_next() refuses others. */
struct vti_option {
    char letter;      /* 0: none */
    const char *name; /* without the dashes */
    const char
        *value; /* name of its value in the help ("FILE"; "[=HZ]": only behind a =, and it may be
                        * left out), NULL: a switch */
    const char *help; /* one line */
};

struct vti_command {
    const char *name;
    const char *alias;                /* another name of it, or NULL */
    const char *summary;              /* one line, for the list of commands */
    const char *usage;                /* "[options] FILE [OUT]" */
    const char *about;                /* paragraphs after the usage, or NULL */
    const struct vti_option *options; /* ends with a zeroed one; --help and -h are added */
    bool stops_at_operand;            /* the first word that is not an option ends ours (run) */
    bool passes_options;              /* some are another program's; only a lone --help is ours */
    const char *stops_after;          /* letters of options that end ours too, or NULL */
    const struct vti_command
        *actions; /* what its first word chooses between, or NULL: names, usages
                                        * and options for completion; ends with a zeroed one */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit code */
};

/*
 * Walks over the arguments with the command's own table. Returns the option's index in the table
 * with *value set (NULL for a switch), VTI_OPT_OPERAND with *value the word, VTI_OPT_DONE at the
 * end, or VTI_OPT_BAD after one line on stderr. Takes --name=value, --name value, -n value,
 * -nvalue, bundled switches, and `--`.
 */
struct vti_args {
    const struct vti_command *command;
    int argc;
    char **argv;
    int at;
    int letter_at;
    bool only_operands;
    bool is_quiet; /* nothing on stderr; for looking ahead */
};

enum { VTI_OPT_DONE = -1, VTI_OPT_OPERAND = -2, VTI_OPT_BAD = -3 };

void vti_args_init(struct vti_args *args, const struct vti_command *command, int argc, char **argv);
int vti_args_next(struct vti_args *args, const char **value);

/* Where an option goes: its value, or true for a switch. */
struct vti_place {
    const char **text;
    bool *is_set;
};

/*
 * For commands whose options mean nothing to each other: puts every option in its place (in the
 * order of the table) and up to `most` operands into `operands`. `wanted` is what to say they are
 * ("one FILE") if there are more. 0, or VTI_EXIT_BAD after one line on stderr.
 */
int vti_args_collect(const struct vti_command *command, int argc, char **argv,
                     const struct vti_place *places, const char **operands, unsigned most,
                     const char *wanted);

/* A number of rows, at least `least`. 0, or VTI_EXIT_BAD after one line on stderr. */
int vti_args_limit(const char *command, const char *text, size_t least, size_t *limit);

/* One line on stderr, "venturi NAME: …", with the hint after it if there is one; returns
 * VTI_EXIT_BAD. */
int vti_cmd_fail(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for an error code: message and hint of base/error.h. */
int vti_cmd_error(const char *command, int code);

/* A line on stderr about what was done: "venturi: …". */
void vti_cmd_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line on stderr that does not end the command: "venturi NAME: warning: …". */
void vti_cmd_warn(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
