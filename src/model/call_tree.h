/*
 * call_tree.h - the trees of calls of a recording, as they stand in the file: numbers are ticks.
 *
 * Loaded when somebody asks for them, not when the recording is opened.
 */
#ifndef VENTURI_MODEL_CALL_TREE_H
#define VENTURI_MODEL_CALL_TREE_H

#include "format/calls.h"
#include "model/model.h"

/* The tree of one track; of a node that was written several times the last one. */
struct vti_call_tree {
    uint32_t track;              /* index */
    struct vti_ids node_ids;     /* by number, … */
    struct vti_call_fact *nodes; /* … in order of appearance; owned */
    size_t node_room;
    struct vti_ids site_ids;              /* by site, … */
    struct vti_durations_fact *durations; /* … the same; owned */
    size_t duration_room;
    struct vti_ids sample_ids;       /* by number, … */
    struct vti_sample_fact *samples; /* … the same; owned */
    size_t sample_room;
};

struct vti_call_trees {
    struct vti_ids track_ids;    /* by track, … */
    struct vti_call_tree *trees; /* … in order of appearance; owned */
    size_t tree_room;
    struct vti_cost_fact *costs; /* owned */
    size_t cost_count, cost_room;
    struct vti_sampling_fact *samplings; /* owned */
    size_t sampling_count, sampling_room;
};

/* 0 or a negative code. What does not parse is put on the recording's list of damage. */
int vti_call_trees_load(struct vti_call_trees *trees, vt_recording *recording);
void vti_call_trees_fini(struct vti_call_trees *trees);

/* What a call costs in a process; zeros if that is not known. */
struct vti_cost_fact vti_call_cost(const struct vti_call_trees *trees, uint32_t process,
                                   const char *language);

#endif
