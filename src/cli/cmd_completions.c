/*
 * cmd_completions.c - venturi completions: what a shell needs to complete our commands and options.
 *
 * Everything comes from the command table: what an option takes from the name of its value (FILE,
 * OUT, DIR: a file; a|b|c: one of these), what a command takes from its usage. Where the first word
 * chooses what a command does, the words after it are completed as those of a command of that name.
 */
#include "cli/frame.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

extern const struct vti_command vti_cmd_completions;

/* What can stand in a place. */
enum taken { NOTHING, A_FILE, A_PROGRAM, A_CHOICE };

static enum taken taken_by_value(const struct vti_option *option)
{
    static const char *const files[] = {"FILE", "OUT", "DIR", "PATH"};

    if (vti_option_has_choices(option))
        return A_CHOICE;
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++)
        if (strstr(option->value, files[i]))
            return A_FILE;
    return NOTHING;
}

/* A usage of "bash|zsh|fish" names its choices; they are the whole of it. */
static bool is_choice_usage(const char *usage)
{
    if (!strchr(usage, '|'))
        return false;
    for (; *usage; usage++)
        if (!islower((unsigned char)*usage) && *usage != '|')
            return false;
    return true;
}

static enum taken taken_by_command(const struct vti_command *command)
{
    if (command->stops_at_operand)
        return A_PROGRAM;
    if (command->actions || is_choice_usage(command->usage))
        return A_CHOICE;
    return strstr(command->usage, "FILE") || strstr(command->usage, "OUT") ? A_FILE : NOTHING;
}

/* "a|b|c" as "a b c". */
static void print_choices(const char *choices)
{
    for (; *choices; choices++)
        putchar(*choices == '|' ? ' ' : *choices);
}

/* What the first word may be, of a command that takes A_CHOICE. */
static void print_first_words(const struct vti_command *command)
{
    const struct vti_command *action = command->actions;

    if (!action)
        print_choices(command->usage);
    for (; action && action->name; action++)
        printf("%s%s", action == command->actions ? "" : " ", action->name);
}

/* Inside single quotes; `special` characters get a backslash. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(special, *text))
            putchar('\\');
        putchar(*text);
    }
}

static const struct vti_option *options_of(const struct vti_command *command)
{
    static const struct vti_option none = {0};

    return command->options ? command->options : &none;
}

/* An option of several actions begins its help with the one that it is for ("show: ..."), if it is not for all. */
static bool is_for(const struct vti_command *command, const struct vti_command *action,
                   const struct vti_option *option)
{
    for (const struct vti_command *other = command->actions; other->name; other++) {
        size_t len = strlen(other->name);

        if (other != action && !strncmp(option->help, other->name, len) && option->help[len] == ':')
            return false;
    }
    return true;
}

/* The action as a command of its own; its options are in `own`, as far as there is room. */
#define OWN_OPTIONS 32
static struct vti_command as_command(const struct vti_command *command,
                                     const struct vti_command *action,
                                     struct vti_option own[OWN_OPTIONS + 1])
{
    struct vti_command made = *action;
    size_t count = 0;

    for (const struct vti_option *option = action->options; option->name; option++)
        if (count < OWN_OPTIONS && is_for(command, action, option))
            own[count++] = *option;
    own[count] = (struct vti_option){0};
    made.options = own;
    return made;
}

static void print_command_names(void)
{
    for (int i = 0; vti_commands[i]; i++)
        printf("%s ", vti_commands[i]->name);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static const char bash_head[] =
    "# bash completion for venturi; to use it: source <(venturi completions bash)\n"
    "_venturi_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
    "_venturi_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n"
    "}\n"
    "_venturi() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then "
    "prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        _venturi_words '";

static void print_bash_options(const struct vti_command *command)
{
    printf("        case $cur in -*) _venturi_words '");
    for (const struct vti_option *option = options_of(command); option->name; option++) {
        if (option->letter)
            printf("-%c ", option->letter);
        printf("--%s ", option->name);
    }
    printf("-h --help'; return ;; esac\n");
}

static void print_bash_command(const struct vti_command *command);

static void print_bash_actions(const struct vti_command *command)
{
    struct vti_option own[OWN_OPTIONS + 1];

    printf("        if ((COMP_CWORD > 2)); then\n    case ${COMP_WORDS[2]} in\n");
    for (const struct vti_command *action = command->actions; action->name; action++) {
        struct vti_command made = as_command(command, action, own);

        print_bash_command(&made);
    }
    printf("    esac\n        return\n        fi\n");
}

static void print_bash_command(const struct vti_command *command)
{
    printf("    %s)\n", command->name);
    if (command->actions)
        print_bash_actions(command);
    printf("        case $prev in\n");
    for (const struct vti_option *option = options_of(command); option->name; option++) {
        if (!vti_option_takes_word(option))
            continue;
        printf("        ");
        if (option->letter)
            printf("-%c|", option->letter);
        printf("--%s) ", option->name);
        if (taken_by_value(option) == A_CHOICE) {
            printf("_venturi_words '");
            print_choices(option->value);
            printf("'; ");
        } else if (taken_by_value(option) == A_FILE) {
            printf("_venturi_files -f; ");
        }
        printf("return ;;\n");
    }
    printf("        esac\n");
    print_bash_options(command);
    switch (taken_by_command(command)) {
    case A_FILE:
        printf("        _venturi_files -f\n");
        break;
    case A_PROGRAM:
        printf("        _venturi_files -c -f\n");
        break;
    case A_CHOICE:
        printf("        _venturi_words '");
        print_first_words(command);
        printf("'\n");
        break;
    case NOTHING:
        break;
    }
    printf("        ;;\n");
}

static void print_bash(void)
{
    fputs(bash_head, stdout);
    print_command_names();
    printf("help --help --version'\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n"
           "    help) _venturi_words '");
    print_command_names();
    printf("' ;;\n");
    for (int i = 0; vti_commands[i]; i++)
        print_bash_command(vti_commands[i]);
    printf("    esac\n}\ncomplete -F _venturi venturi\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void print_zsh_option(const struct vti_option *option)
{
    if (option->letter)
        printf(" \\\n            '(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name,
               option->letter, vti_option_takes_word(option) ? "+" : "", option->name,
               vti_option_takes_word(option) ? "=" : "");
    else
        printf(" \\\n            '--%s%s[", option->name, vti_option_takes_word(option) ? "=" : "");
    print_quoted(option->help, "[]\\:");
    putchar(']');
    if (vti_option_takes_word(option) && taken_by_value(option) == A_CHOICE) {
        printf(":value:(");
        print_choices(option->value);
        putchar(')');
    } else if (vti_option_takes_word(option)) {
        putchar(':');
        print_quoted(option->value, "[]\\:");
        printf(":%s", taken_by_value(option) == A_FILE ? "_files" : " ");
    }
    putchar('\'');
}

static void print_zsh_command(const struct vti_command *command);

static void print_zsh_actions(const struct vti_command *command)
{
    struct vti_option own[OWN_OPTIONS + 1];

    printf("        if ((CURRENT > 2)); then\n    shift words\n    ((CURRENT--))\n"
           "    case $words[1] in\n");
    for (const struct vti_command *action = command->actions; action->name; action++) {
        struct vti_command made = as_command(command, action, own);

        print_zsh_command(&made);
    }
    printf("    esac\n        return\n        fi\n");
}

static void print_zsh_command(const struct vti_command *command)
{
    static const struct vti_option help = {'h', "help", NULL, "show help"};

    printf("    %s)\n", command->name);
    if (command->actions)
        print_zsh_actions(command);
    printf("        _arguments -s");
    for (const struct vti_option *option = options_of(command); option->name; option++)
        print_zsh_option(option);
    print_zsh_option(&help);
    switch (taken_by_command(command)) {
    case A_FILE:
        printf(" \\\n            '*:file:_files'");
        break;
    case A_PROGRAM:
        printf(" \\\n            '(-)1:program:_command_names -e' '*::arguments:_normal'");
        break;
    case A_CHOICE:
        printf(" \\\n            '1:choice:(");
        print_first_words(command);
        printf(")'");
        break;
    case NOTHING:
        break;
    }
    printf(" ;;\n");
}

static void print_zsh(void)
{
    printf("#compdef venturi\n"
           "# zsh completion for venturi; to use it: source <(venturi completions zsh)\n"
           "_venturi() {\n    local -a commands=(\n");
    for (int i = 0; vti_commands[i]; i++) {
        printf("        '%s:", vti_commands[i]->name);
        print_quoted(vti_commands[i]->summary, ":\\");
        printf("'\n");
    }
    printf("    )\n"
           "    if ((CURRENT == 2)); then\n"
           "        commands+=('help:explain a command' '--help:list the commands' "
           "'--version:tell which version this is')\n"
           "        _describe command commands\n        return\n    fi\n"
           "    shift words\n    ((CURRENT--))\n"
           "    case $words[1] in\n    help) _describe command commands ;;\n");
    for (int i = 0; vti_commands[i]; i++)
        print_zsh_command(vti_commands[i]);
    printf("    esac\n}\n"
           "if [[ $funcstack[1] == _venturi ]]; then _venturi \"$@\"; else compdef _venturi "
           "venturi; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* `when` is what __venturi_is is asked: the command, and perhaps its action. */
static void print_fish_option(const char *when, const struct vti_option *option)
{
    printf("complete -c venturi -n '__venturi_is %s'", when);
    if (option->letter)
        printf(" -s %c", option->letter);
    printf(" -l %s", option->name);
    if (vti_option_takes_word(option) && taken_by_value(option) == A_CHOICE) {
        printf(" -x -a '");
        print_choices(option->value);
        putchar('\'');
    } else if (vti_option_takes_word(option)) {
        printf(" %s", taken_by_value(option) == A_FILE ? "-r -F" : "-x");
    }
    printf(" -d '");
    print_quoted(option->help, "\\");
    printf("'\n");
}

static void print_fish_words(const struct vti_command *command, const char *when)
{
    static const struct vti_option help = {'h', "help", NULL, "show help"};

    for (const struct vti_option *option = options_of(command); option->name; option++)
        print_fish_option(when, option);
    print_fish_option(when, &help);
    if (taken_by_command(command) == NOTHING)
        return;
    printf("complete -c venturi -n '__venturi_is %s' ", when);
    if (taken_by_command(command) == A_CHOICE) {
        printf("-a '");
        print_first_words(command);
        printf("'\n");
    } else {
        printf("-F%s\n",
               taken_by_command(command) == A_PROGRAM ? " -a '(__fish_complete_command)'" : "");
    }
}

static void print_fish_actions(const struct vti_command *command)
{
    struct vti_option own[OWN_OPTIONS + 1];
    char when[64];

    snprintf(when, sizeof when, "%s \"\"", command->name);
    print_fish_words(command, when);
    for (const struct vti_command *action = command->actions; action->name; action++) {
        struct vti_command made = as_command(command, action, own);

        snprintf(when, sizeof when, "%s %s", command->name, action->name);
        print_fish_words(&made, when);
    }
}

static void print_fish_command(const struct vti_command *command)
{
    printf("complete -c venturi -n '__venturi_is' -a %s -d '", command->name);
    print_quoted(command->summary, "\\");
    printf("'\n");
    if (command->actions)
        print_fish_actions(command);
    else
        print_fish_words(command, command->name);
}

/* Conditions of our own: fish's __fish_seen_subcommand_from looks at all words, files too, and not
 * in the same way in all versions. */
static void print_fish(void)
{
    printf("# fish completion for venturi; to use it: venturi completions fish | source\n"
           "function __venturi_is # COMMAND [ACTION]: whether they are the first words; empty: if "
           "there is none\n"
           "    set -l words (commandline -opc)\n"
           "    test \"$words[2]\" = \"$argv[1]\"; or return\n"
           "    test (count $argv) -lt 2; or test \"$words[3]\" = \"$argv[2]\"\n"
           "end\n"
           "complete -c venturi -f\n"
           "complete -c venturi -n '__venturi_is' -l version -d 'tell which version this is'\n"
           "complete -c venturi -n '__venturi_is' -s h -l help -d 'list the commands'\n"
           "complete -c venturi -n '__venturi_is' -a help -d 'explain a command'\n"
           "complete -c venturi -n '__venturi_is help' -a '");
    print_command_names();
    printf("'\n");
    for (int i = 0; vti_commands[i]; i++)
        print_fish_command(vti_commands[i]);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    const char *shell = NULL;
    struct vti_args args;
    const char *value;
    int option;

    vti_args_init(&args, &vti_cmd_completions, argc, argv);
    while ((option = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        if (option == VTI_OPT_BAD)
            return VTI_EXIT_BAD;
        if (shell)
            return vti_cmd_fail("completions", "one shell at a time, what is '%s'?", value);
        shell = value;
    }
    if (!shell)
        return vti_cmd_fail("completions", "for which shell? bash, zsh or fish");
    for (unsigned i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shell, shells[i].name)) {
            shells[i].print();
            return VTI_EXIT_OK;
        }
    return vti_cmd_fail("completions", "'%s' is none of bash, zsh, fish", shell);
}

const struct vti_command vti_cmd_completions = {
    .name = "completions",
    .summary = "let bash, zsh or fish complete commands and options",
    .usage = "bash|zsh|fish",
    .about = "Writes a script with which the shell completes commands, options and files:\n"
             "  bash  source <(venturi completions bash)       in ~/.bashrc\n"
             "  zsh   source <(venturi completions zsh)        in ~/.zshrc, after compinit\n"
             "  fish  venturi completions fish | source        in ~/.config/fish/config.fish",
    .run = run,
};
