/* run_nothing.h - why a recording is empty, and what helps. */
#ifndef VENTURI_CLI_RUN_NOTHING_H
#define VENTURI_CLI_RUN_NOTHING_H

#include <stdbool.h>

/* What was run, and what was asked for. */
struct vti_run_wish {
    const char *program; /* as it was given */
    bool is_python;
    bool wants_c_functions, wants_samples, wants_lines;
    bool starts_off; /* --paused */
    bool has_energy; /* which needs nothing of the program */
    int exit_code;   /* of the program */
    bool is_live;    /* its dashboard ends with it */
};

/* Two lines on stderr, for `run -l` of Python. */
void vti_run_say_no_lines(const char *path);

/* False: what was run is a program that `venturi cc -l` did not make. Libraries that it loads may be, or Python. */
bool vti_run_is_made_for_lines(const struct vti_run_wish *wish);

/* Two lines on stderr. `path` is the recording. */
void vti_run_say_nothing(const struct vti_run_wish *wish, const char *path);

#endif
