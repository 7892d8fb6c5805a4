/* cover.h - how much of a stretch of time others cover: a sum of intervals in which what overlaps counts once. */
#ifndef VENTURI_LIVE_COVER_H
#define VENTURI_LIVE_COVER_H

#include <stdint.h>

struct vti_interval {
    int64_t begin, end;
};

/* Zeroed: nothing is covered. */
struct vti_cover {
    struct vti_interval *list; /* owned; in order, apart from each other */
    uint32_t count, room;
    int64_t sealed_until; /* what lies before it is a sum, to which nothing is added any more … */
    int64_t sealed;       /* … of which so much was covered */
};

/* The interval is covered. Exact as long as there are not more than a thousand gaps, or they come about in order. Without memory it is left out. */
void vti_cover_add(struct vti_cover *cover, int64_t begin, int64_t end);

/* How much of `begin` to `end`, which holds all that was added from the left, is covered. */
int64_t vti_cover_sum(const struct vti_cover *cover, int64_t begin, int64_t end);
void vti_cover_fini(struct vti_cover *cover);

#endif
