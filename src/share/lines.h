/*
 * lines.h - the lines of functions of a thread, in the arena: units of chunks, as nodes of trees are (tree.h).
 *
 * A unit is one line of one function on one thread, or the function as a whole. What functions were called
 * from a line is in units of their own.
 */
#ifndef VENTURI_SHARE_LINES_H
#define VENTURI_SHARE_LINES_H

#include "share/tree.h"

/*
 * Numbers are written by their own thread only; those that belong together are right whenever it is killed.
 * A statement that takes several lines has a unit of its own beside theirs, with its first line in `line` and 0 in `statement`:
 * only there its time is counted once while the function calls itself from one of its lines.
 */
struct vti_line {
    uint32_t site;
    uint32_t line;      /* 0: the function as a whole, where `hits` are its calls, … */
    uint32_t statement; /* the first line of its statement; … and this is its last line */
    uint32_t durations; /* unit where those of the statement are counted, once two have ended;
                         * 0, UINT32_MAX: nowhere */
    uint64_t begin;     /* ticks; of the outermost call that is at this line, else 0 */
    uint64_t begun;     /* the slot's count of line events at that moment */
    uint64_t open;      /* calls that are at this line */
    uint64_t events;    /* how often it was reached */
    uint64_t hits;      /* how often a statement began there */
    uint64_t total;     /* ticks */
    uint64_t inner;     /* line events in that time: what they cost is ours */
    uint64_t suspended; /* ticks, in none of the other sums */
    uint64_t resumes;
    uint64_t shortest; /* ticks + 1 of one execution of the statement; 0: none has ended */
    uint64_t longest;
    uint64_t c_begun;  /* as `begun`, of line events of C only … */
    uint64_t c_inner;  /* … and as `inner` */
    uint32_t is_c;     /* 1: of a function of C */
    uint32_t is_mixed; /* 1: its time is one of neighbouring lines too */
};

struct vti_line_callee {
    uint32_t line; /* unit */
    uint32_t site;
    uint64_t calls;
    uint64_t total;
    uint32_t reserved[26];
};

_Static_assert(sizeof(struct vti_line) == VTI_UNIT_BYTES, "a line is one unit");
_Static_assert(sizeof(struct vti_line_callee) == VTI_UNIT_BYTES, "a callee is one unit");

#endif
