/*
 * venturi/line.h - for those who hook into a language: which line of a function runs, counted and timed
 * where it happens. No event is recorded for a line.
 *
 * A hook describes the lines of a function once (struct vt_lines), then says when a call of it begins
 * and ends and which line it reaches. Everything else is done here: the numbers lie in memory shared with
 * the drainer, for each thread its own, so that a killed program loses none of them. Nothing here can
 * fail, block, or allocate with malloc; lines that found no place are counted as lost.
 *
 * The time of a line runs from the moment it is reached to the next line of the same call, callees
 * included. While a function calls itself the outermost one counts, so that no moment counts twice.
 */
#ifndef VENTURI_LINE_H
#define VENTURI_LINE_H

#include <stdbool.h>
#include <venturi/hook.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VT_ON_LINES 0x10u /* a bit of *vt_control_word, beside those of hook.h */

/* A line that has code. A statement may take several; its first one stands for it. */
struct vt_line_row {
    uint32_t line;
    uint32_t statement; /* the row (not the line) of the statement's first line */
};

/* The lines of one function. The hook owns it; it stays where it is as long as the process lives. */
struct vt_lines {
    uint32_t function; /* vt_function_id(); 0: nothing is recorded of it */
    uint32_t last_line;
    uint32_t row_count;
    uint32_t number; /* the runtime's own; 0 at first */
    const struct vt_line_row *rows;
    uint32_t
        is_mixed; /* 1: instructions of several lines stand between each other: times are of neighbours too */
};

/* A call begins. `frame` stands for the call until it ends; two open calls of a thread differ in it. */
VT_API void vt_lines_enter(struct vt_lines *lines, const void *frame);

/* How a line is reached. 0: the statement that it belongs to goes on. */
#define VT_LINE_STARTS 1u /* a statement begins there */
#define VT_LINE_UNTOLD 2u /* the interpreter told no event: none is counted, only the statement */

/* The innermost call reaches a line; `is_start` are the bits above. */
VT_API void vt_line_reach(const void *frame, uint32_t row, uint32_t is_start);

/* The same with 0, in code where no vector register may be touched: does what is usual. False: nothing was done, and
 * vt_line_reach() has to be called. x86-64 only. */
VT_API bool vt_line_reach_quick(const void *frame, uint32_t row);

/* The same for a hook that knows the function: a call that nobody saw beginning (recording was off, or it began in the
 * parent before a fork) is counted from here on. */
VT_API void vt_line_reach_in(struct vt_lines *lines, const void *frame, uint32_t row,
                             uint32_t is_start);

/* The call ends, and those inside of it that ended unseen. */
VT_API void vt_lines_leave(const void *frame);

/* What is kept of a generator or coroutine while it is suspended. */
struct vt_line_pause {
    uint64_t since;   /* ticks */
    uint64_t elapsed; /* ticks that the open statement took before */
};

VT_API void vt_lines_suspend(const void *frame, struct vt_line_pause *pause);
VT_API void vt_lines_resume(struct vt_lines *lines, const void *frame, uint32_t row,
                            const struct vt_line_pause *pause);

/* A function that the innermost call has called from the line it is at took so many ticks. */
VT_API void vt_line_callee(const void *frame, uint32_t function, uint64_t ticks);

/* Lines that could not be counted. */
VT_API void vt_line_lost(void);

/* Takes back what this thread has counted for a function, and says how many ticks that was: for a hook
 * that measures itself. */
VT_API uint64_t vt_lines_forget(struct vt_lines *lines);

/*
 * Gives the drainer a file (a memfd will do) with something that belongs to this process. The caller keeps
 * and closes its own descriptor. A source is read at once, what a compiler's counters show when the process has ended.
 * 0 or a negative code.
 */
enum vt_gift { VT_GIFT_SOURCE = 1, VT_GIFT_COVERAGE };
VT_API int vt_session_give(enum vt_gift kind, const char *name, int fd);

#ifdef __cplusplus
}
#endif

#endif
