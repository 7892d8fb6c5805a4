/* preload.h - functions of C programs under `run`: the collector is put into programs compiled for it. */
#ifndef VENTURI_CLI_PRELOAD_H
#define VENTURI_CLI_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* Where execvp() would find a program; "" if nowhere. */
void vti_program_find(const char *name, char *to, size_t room);

/* Where one of our libraries is. */
bool vti_library_find(const char *name, char *to, size_t room);

/*
 * Sets the environment of what is started next: LD_PRELOAD, if `program` was compiled with
 * -finstrument-functions and does not bring the collector itself, or if `always`. Says in one line on stderr if that
 * is wanted and cannot be.
 */
void vti_preload_functions(const char *program, bool always, bool is_only_mine);

/* The same for the sampler, of native stacks, or of lines in code that was compiled for them (elsewhere it does nothing); `hz` 0: as
 * often as VENTURI_NATIVE_HZ says. */
void vti_preload_samples(const char *program, unsigned hz, bool has_stacks, bool has_lines);

/* Says that -p is for Python, if the program is one that is not. */
void vti_preload_warn_of_names(const char *program);

#endif
