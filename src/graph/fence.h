/* fence.h - orders what this thread wrote before against what it reads after, as others see it. */
#ifndef VENTURI_GRAPH_FENCE_H
#define VENTURI_GRAPH_FENCE_H

void vti_fence(void);

#endif
