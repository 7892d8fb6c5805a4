/* flame_impl.h - between flame.c and flame_fold.c. */
#ifndef VENTURI_ANALYZE_FLAME_IMPL_H
#define VENTURI_ANALYZE_FLAME_IMPL_H

#include "analyze/flame.h"

/* Puts frames (parents first) in their order, and folds those that are too small or too deep. 0 or VTI_E_NOMEM. */
int vti_flame_fold(struct vti_flame *flame, const struct vti_calls *calls,
                   const struct vti_flame_options *options);

#endif
