/* command_line.h - a command that `bench` and `check` run again and again: its words, and what it is called. */
#ifndef VENTURI_CLI_COMMAND_LINE_H
#define VENTURI_CLI_COMMAND_LINE_H

struct vti_command_line {
    char **words;          /* owned, as they are; ends with NULL */
    char *text;            /* owned; readable by a shell */
    const char *directory; /* where it runs; NULL: here */
};

/* Of one text: a shell's if it has anything that only a shell understands, else its words. 0 or a negative code; _fini in
 * every case. */
int vti_command_line_parse(struct vti_command_line *line, const char *text);
int vti_command_line_words(struct vti_command_line *line, char **words);
void vti_command_line_fini(struct vti_command_line *line);

/* Whether there is such a program: whoever runs several wants to know before the first. 0 or a negative code. */
int vti_command_line_find(const struct vti_command_line *line);

/* "Python 3.11.7" if that is what runs it, else "". */
#define VTI_INTERPRETER_BYTES 64
void vti_command_line_interpreter(const struct vti_command_line *line,
                                  char to[VTI_INTERPRETER_BYTES]);

#endif
