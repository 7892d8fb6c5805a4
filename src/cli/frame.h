/*
 * frame.h - what main, args, help and completions share. Commands need cmd.h only.
 */
#ifndef VENTURI_CLI_FRAME_H
#define VENTURI_CLI_FRAME_H

#include "base/buf.h"
#include "cli/cmd.h"

#include <stddef.h>

/* All commands in the order of commands.def, ended by NULL. */
extern const struct vti_command *const vti_commands[];

/* The command of that name, or NULL. */
const struct vti_command *vti_command_find(const char *name);

/* Whether --help or -h stands among the command's own options. Says nothing. */
bool vti_args_wants_help(const struct vti_command *command, int argc, char **argv);

/* Whether the option's `value` lists all values it takes ("total|max|avg"). */
bool vti_option_has_choices(const struct vti_option *option);

/* Whether the next word is its value, unless that stands behind a =. */
bool vti_option_takes_word(const struct vti_option *option);

/* The list of commands, and one command's page, as text. */
void vti_help_list(struct vti_buf *out);
void vti_help_command(struct vti_buf *out, const struct vti_command *command);

/* Keeps in *best the candidate nearest to `word` so far, if at most VTI_SUGGEST_MOST typing
 * mistakes lie between them. Start with *best NULL and *distance VTI_SUGGEST_MOST + 1. */
#define VTI_SUGGEST_MOST 2u
void vti_suggest(const char *candidate, const char *word, size_t len, const char **best,
                 unsigned *distance);

#endif
