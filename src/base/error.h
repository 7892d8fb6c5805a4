/*
 * error.h - one list of error codes for every library and the tool.
 *
 * A function that can fail returns 0 or a negative code from this list. The details (which file,
 * which byte, why) are kept in a message of the calling thread, set by vti_fail() at the place where
 * the failure is understood and read once by whoever reports it. Library code never prints.
 */
#ifndef VENTURI_BASE_ERROR_H
#define VENTURI_BASE_ERROR_H

#include <stdarg.h>

/*        name          value  text                                hint for the user, or ""         */
#define VTI_ERRORS(X)                                                                              \
    X(NOMEM, -1, "out of memory", "")                                                              \
    X(USAGE, -2, "wrong usage", "see --help")                                                      \
    X(OPEN, -3, "cannot open", "")                                                                 \
    X(READ, -4, "cannot read", "")                                                                 \
    X(WRITE, -5, "cannot write", "")                                                               \
    X(EXISTS, -6, "already exists", "use --force to replace it")                                   \
    X(DISK_FULL, -7, "no space left on the disk", "free space, or use -o")                         \
    X(NOT_RECORDING, -8, "not a Venturi recording", "")                                            \
    X(DAMAGED, -9, "damaged", "")                                                                  \
    X(UNSUPPORTED, -10, "made by a newer Venturi", "update this tool")                             \
    X(EMPTY, -11, "holds nothing to show", "")                                                     \
    X(NOT_FOUND, -12, "not found", "")                                                             \
    X(SYSTEM, -13, "system call failed", "")                                                       \
    X(SESSION, -14, "no recording session", "")                                                    \
    X(TIMEOUT, -15, "timed out", "")                                                               \
    X(LIMIT, -16, "over a limit", "")

enum vti_error {
#define X(name, value, text, hint) VTI_E_##name = value,
    VTI_ERRORS(X)
#undef X
};

/* Sets this thread's message and returns `code`, so that `return vti_fail(…)` reads well.
 * The message says what and where: "alerts.vt: byte 4096: block checksum differs". */
int vti_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As vti_fail(), with ": " and the text of the current errno appended. */
int vti_fail_errno(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* This thread's last message; the code's own text if no message was set. Never NULL. */
const char *vti_error_message(int code);

/* What the user can do about it, or "". */
const char *vti_error_hint(int code);

#endif
