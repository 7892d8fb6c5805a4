/* profile_tree.h - paths of calls where a profiler only knew who called whom. */
#ifndef VENTURI_ANALYZE_PROFILE_TREE_H
#define VENTURI_ANALYZE_PROFILE_TREE_H

#include "analyze/profile.h"

/*
 * A tree with at most `most` places, those that took most: an estimate, marked as such. A function's time along one path is shared out
 * among what it called as it is in all of its calls together; one that calls itself is followed once. `tree` gets functions of its
 * own: function i is row i of the profile. 0 or a negative code; to be freed with vti_calls_fini() in every case.
 */
int vti_profile_tree(struct vti_calls *tree, const struct vti_profile *profile, size_t most);

#endif
