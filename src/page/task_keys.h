/* task_keys.h - keys of tasks on a page: their numbers apart from the rest, which many of them have in common. */
#ifndef VENTURI_PAGE_TASK_KEYS_H
#define VENTURI_PAGE_TASK_KEYS_H

#include "analyze/tasks.h"
#include "page/page.h"

#include <stdbool.h>

#define VTI_TASK_KEY_NUMBERS 4

struct vti_task_key {
    uint64_t text; /* with U+0001 in the place of each number, unless it is_plain */
    uint64_t numbers[VTI_TASK_KEY_NUMBERS]; /* in their order; 0 where there are less */
    bool is_plain;
};

void vti_task_key_take(struct vti_task_key *key, struct vti_page *page,
                       const struct vti_task *task);

#endif
