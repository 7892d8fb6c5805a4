/* call.h - calls of functions as core's other files see them. */
#ifndef VENTURI_CORE_CALL_H
#define VENTURI_CORE_CALL_H

#include "core/thread.h"

/* The thread ends: its open calls end, its tree is left to whoever reads it. Slow path only. */
void vti_calls_leave_thread(struct vti_thread *self);

/* It records elsewhere from now on: what it has counted stays where it is. */
void vti_calls_forget(struct vti_thread *self);

/* Ends the open calls of the stack that runs; of all stacks. */
void vti_calls_end(struct vti_thread *self);
void vti_stacks_end(struct vti_thread *self);

/* Where the first calls of the stack that runs belong. */
struct vti_tree;
struct vti_node *vti_stack_root(const struct vti_tree *tree);

/* Whether calls of this registered thread are counted now: then `node` is where it stands. Slow path only. */
bool vti_calls_look(struct vti_thread *self);

/* For vt_calls_read(): keeps the numbers of a thread that ends, if anybody may ask for them. With the
 * runtime locked. */
void vti_calls_keep(const struct vti_thread *self);

/* What is counted in this process beside what the session asks for: bits of the control word. */
extern uint32_t vti_local_kinds __attribute__((visibility("hidden")));

#endif
