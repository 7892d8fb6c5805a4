/* proc.h - what /proc says of another process. */
#ifndef VENTURI_DRAIN_PROC_H
#define VENTURI_DRAIN_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file of the process, as much as there is room for, as text; how many bytes, 0 if there is none. */
size_t vti_proc_read(pid_t pid, const char *file, char *to, size_t room);

/*
 * Field `at` of its status line, counted from 0 behind its name (which may hold anything); NULL if there is
 * none. Points into `line`.
 */
#define VTI_PROC_LINE_BYTES 1024
enum { VTI_PROC_STATE, VTI_PROC_PARENT, VTI_PROC_STACK = 25, VTI_PROC_EXIT_CODE = 49 };
const char *vti_proc_field(char line[VTI_PROC_LINE_BYTES], pid_t pid, unsigned at);

/* Its parent, 0 if that is unknown. */
uint32_t vti_proc_parent(pid_t pid);

/* Which program it executes: where its stack began, at random, so another number after each exec; 0 if that is not told. */
uint64_t vti_proc_image(pid_t pid);

#endif
