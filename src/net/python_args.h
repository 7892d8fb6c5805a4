/*
 * python_args.h - arguments as a logging configuration has them: a tuple of literals, and perhaps a dict of them. Python evaluates
 * them; here they are texts, whole numbers (also products), True, False, None, sys.stdout and sys.stderr.
 */
#ifndef VENTURI_NET_PYTHON_ARGS_H
#define VENTURI_NET_PYTHON_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_PYTHON_TEXT 1024 /* room for a text, a longer one is refused */

struct vti_python_arg {
    enum { VTI_PYTHON_NOTHING, VTI_PYTHON_TEXT_ARG, VTI_PYTHON_NUMBER, VTI_PYTHON_WORD } kind;
    int64_t number;             /* True is 1, False 0 */
    char text[VTI_PYTHON_TEXT]; /* of texts, and of the words sys.stdout and sys.stderr */
};

/* Fills `args` by position and by name; those that are not given, or None, are of no kind. Either text may be NULL. False if
 * they are not understood, too many, or of names that are not there. */
bool vti_python_args(struct vti_python_arg *args, const char *const *names, size_t count,
                     const char *tuple, const char *dict);

#endif
