/*
 * python.h - Python programs under `run`: which words mean one, which interpreter runs it, and what
 * the environment must say so that it and its children are recorded.
 */
#ifndef VENTURI_CLI_PYTHON_H
#define VENTURI_CLI_PYTHON_H

#include "base/buf.h"

#include <stdbool.h>

struct vti_python {
    const char *interpreter; /* --python; NULL: VENTURI_INTERPRETER, python3 or python */
    const char *module;      /* -m */
    const char *code;        /* -c */
    bool has_functions;
    bool has_lines; /* of functions with @profile, and of `lines_of` */
    bool has_builtins;
    bool is_only_mine;
    struct vti_buf include, exclude; /* globs with colons between them; freed by the caller … */
    struct vti_buf lines_of;         /* … as these names are */
};

/* Whether the interpreter, not the kernel, is to run what the word names: by its ending, or a
 * folder with a __main__.py. It need not exist. */
bool vti_python_is_script(const char *word);

/* More names, with commas between them. False after one line on stderr. */
bool vti_python_add_names(struct vti_buf *names, const char *given);

/* One more glob. False after one line on stderr. */
bool vti_python_add_glob(struct vti_buf *globs, const char *name, const char *glob);

/*
 * Whether a Python program is meant: then *command is the interpreter's command line, to be freed,
 * its words borrowed; else it is NULL and `words` are a program of their own. 0, or an exit code
 * (126, 127, 125) after one line on stderr.
 */
int vti_python_command(const struct vti_python *python, char **words, char ***command);

/* What people call it: the script without its ending, the module, "python". */
const char *vti_python_title(const struct vti_python *python, char *const *words, char *to,
                             size_t room);

/* Sets the environment of what is started next. False if our package cannot be found, and Python
 * programs will go unrecorded. */
bool vti_python_environment(struct vti_python *python);

/* Puts our package behind PYTHONPATH, so that programs that import it run without us; nothing else changes for them. */
void vti_python_offer_package(void);

#endif
