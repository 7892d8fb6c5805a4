/* exact_hooks.c - linked into each module that `venturi cc -l` makes: what timed functions call when they begin and end. */
#include "collect/exact.h"

#define OWN __attribute__((visibility("hidden")))

/* In exact_line.S: reaches a row. */
OWN void vt_exact_probe(struct vt_lines *lines, uint64_t row);

OWN void vt_exact_enter(void *function, void *caller, struct vt_lines *lines, const void *frame)
{
    (void)caller;
    vt_exact_begin(function, lines, frame, vt_exact_probe);
}

OWN void vt_exact_exit(void *function, void *caller, struct vt_lines *lines, const void *frame)
{
    (void)function;
    (void)caller;
    (void)lines;
    vt_exact_end(frame);
}
