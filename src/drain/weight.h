/*
 * weight.h - how much of a recording a function is, for those that must decide what is worth a word.
 */
#ifndef VENTURI_DRAIN_WEIGHT_H
#define VENTURI_DRAIN_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

struct vti_target;

struct vti_weights {
    uint64_t *by_site; /* owned; samples that met it, UINT64_MAX for one whose calls were counted */
    size_t room;
    uint64_t samples; /* all */
};

/* Adds what the tree of a thread holds. What does not fit into memory counts as nothing. */
void vti_weights_add_tree(struct vti_weights *weights, struct vti_target *process, uint32_t slot);

/* Of a thousand samples; 1000 for a function that was not found by samples. */
uint32_t vti_weights_share(const struct vti_weights *weights, uint32_t site);

void vti_weights_fini(struct vti_weights *weights);

#endif
