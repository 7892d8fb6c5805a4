/*
 * run_output.h - the files of `run`: the recording, what is made of it at the end, and what happens
 * if the program deletes them.
 */
#ifndef VENTURI_CLI_RUN_OUTPUT_H
#define VENTURI_CLI_RUN_OUTPUT_H

#include <limits.h>
#include <stdbool.h>

struct vti_run_output {
    const char *asked; /* -o; NULL: a name is made from the title */
    bool force;
    const char *shown; /* what the user gets in the end: the recording, or a profile */
    bool is_profile;   /* … a profile (.prof, .lprof): the recording is only on the way to it */
    bool is_lines;     /* … of lines (.lprof) */
    bool is_spool;     /* … a folder of recordings, which is not ours to name … */
    bool is_shipped;   /* … and which somebody sends on */
    char recording[PATH_MAX];
    int fd; /* the recording, from whoever creates it: it may lose its name */
};

/* Finds the names. What is recorded must be what the profile is made of. 0, or VTI_EXIT_SETUP (VTI_EXIT_BAD) after one
 * line on stderr. */
int vti_run_output_name(struct vti_run_output *output, const char *title, bool has_lines,
                        bool has_calls);

/* Once it is whole: makes the profile, unless nothing was recorded; writes again what was deleted, in
 * which case *closed, how the recording was closed, becomes 0. False after one line on stderr. */
bool vti_run_output_finish(struct vti_run_output *output, bool is_empty, int *closed);

/* Nothing was started: nothing is left behind. */
void vti_run_output_drop(struct vti_run_output *output);

#endif
