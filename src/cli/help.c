/*
 * help.c - the list of commands and the page of each, from the command table alone.
 *
 * Pages in docs/commands hold this text word for word, so it never depends on the terminal.
 */
#include "cli/frame.h"

#include <stdio.h>
#include <string.h>

#define OPTION_COLUMN 26 /* where the explanation of an option begins */
#define WIDTH 80

void vti_help_list(struct vti_buf *out)
{
    vti_buf_add_text(out, "Usage: venturi COMMAND [options] ...\n"
                          "Records what a program does, and shows where its time went.\n"
                          "Commands:\n");
    for (int i = 0; vti_commands[i]; i++)
        vti_buf_printf(out, "  %-12s %s\n", vti_commands[i]->name, vti_commands[i]->summary);
    vti_buf_add_text(
        out, "\n'venturi help COMMAND' explains one; 'venturi --version' tells which this is.\n");
}

/* What it takes; a list of choices that is too long goes on below its beginning. */
static void add_value(struct vti_buf *out, const char *value, size_t column)
{
    size_t used = column;

    while (*value) {
        size_t len = strcspn(value, "|");

        len += value[len] == '|';
        if (used > column && used + len > WIDTH) {
            vti_buf_printf(out, "\n%*s", (int)column, "");
            used = column;
        }
        vti_buf_add(out, value, len);
        used += len;
        value += len;
    }
}

static void add_option(struct vti_buf *out, const struct vti_option *option)
{
    size_t begin = out->len;
    size_t width;

    if (option->letter)
        vti_buf_printf(out, "  -%c, --%s", option->letter, option->name);
    else
        vti_buf_printf(out, "      --%s", option->name);
    if (option->value) {
        if (vti_option_takes_word(option))
            vti_buf_add_u8(out, ' ');
        add_value(out, option->value, out->len - begin);
    }
    width = out->len - begin;
    if (width + 2 > OPTION_COLUMN) {
        vti_buf_add_text(out, "\n");
        width = 0;
    }
    vti_buf_printf(out, "%*s%s\n", (int)(OPTION_COLUMN - width), "", option->help);
}

void vti_help_command(struct vti_buf *out, const struct vti_command *command)
{
    static const struct vti_option help = {'h', "help", NULL, "show this"};
    bool has_own_h = false;

    vti_buf_printf(out, "Usage: venturi %s %s\n\n", command->name, command->usage);
    if (command->about)
        vti_buf_printf(out, "%s\n\n", command->about);
    else
        vti_buf_printf(out, "%s.\n\n", command->summary);
    vti_buf_add_text(out, "Options:\n");
    for (int i = 0; command->options && command->options[i].name; i++) {
        add_option(out, &command->options[i]);
        has_own_h |= command->options[i].letter == 'h';
    }
    add_option(out, has_own_h ? &(struct vti_option){0, "help", NULL, "show this"} : &help);
}
