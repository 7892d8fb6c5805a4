/* landing.h - where exceptions arrive in functions that clang has compiled. */
#ifndef VENTURI_SYMBOLS_LANDING_H
#define VENTURI_SYMBOLS_LANDING_H

#include "symbols/notes.h"

/* clang says of the code that an exception comes to first that it stands on the end of its function, of which it is no
 * execution: takes such lines out of a graph. `path` is where the function's file can be read. */
void vti_landings_drop(struct vti_notes_graph *graph, struct vti_notes_text file, const char *path);

#endif
