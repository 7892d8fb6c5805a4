/* exact.h - lines of C that are timed: what code that `venturi cc -l --exact` made calls, and what it costs. */
#ifndef VENTURI_COLLECT_EXACT_H
#define VENTURI_COLLECT_EXACT_H

#include <stdint.h>
#include <venturi/line.h>

/* From the code itself, through src/exact: a function begins, ends. `frame` is its frame pointer. */
void vt_exact_enter(void *function, void *caller, struct vt_lines *lines, const void *frame);
void vt_exact_exit(void *function, void *caller, struct vt_lines *lines, const void *frame);

/* From vt_exact_line, which saves all registers: a line is reached. */
void vt_exact_reach(struct vt_lines *lines, uint32_t row, const void *frame);

/* The same in libventuri-lines, for vt_exact_enter of each module. `probe` reaches a row of some lines as code would. */
typedef void (*vt_exact_probe_function)(struct vt_lines *lines, uint64_t row);
void vt_exact_begin(void *function, struct vt_lines *lines, const void *frame,
                    vt_exact_probe_function probe);
void vt_exact_end(const void *frame);

#endif
