/* sample.h - the sampler of native stacks, as the functions that stand in front of libc see it. */
#ifndef VENTURI_COLLECT_SAMPLE_H
#define VENTURI_COLLECT_SAMPLE_H

#include <stdbool.h>

/* Whether this process is sampled at all. */
bool vti_sample_is_on(void);

/* Samples the calling thread from now on; until. */
void vti_sample_enter(void);
void vti_sample_leave(void);

/* In a forked child: its one thread goes on being sampled, now for itself. */
void vti_sample_forked(void);

/* For libventuri-lines: a module that an address belongs to has lines that are counted; it is about to be unloaded. */
void vt_sample_lines_start(const void *module);
void vt_sample_lines_stop(const void *module);

/* The program wants the signal: stops everywhere. */
void vti_sample_give_up(void);

#endif
