/* coverage_describe.h - what the counters of a module mean, from what its compilers left in it. */
#ifndef VENTURI_COLLECT_COVERAGE_DESCRIBE_H
#define VENTURI_COLLECT_COVERAGE_DESCRIBE_H

#include "collect/coverage.h"

#include <stdbool.h>
#include <stddef.h>

/* A list of equal things in memory of its own, without malloc. Zeroed: empty. */
struct vti_coverage_list {
    char *items; /* owned */
    size_t count, room;
};

/* A zeroed place in a list, one that was used before if there is one whose first word is zero; NULL without memory. */
void *vti_coverage_list_add(struct vti_coverage_list *list, size_t item_bytes);
void *vti_coverage_list_get(const struct vti_coverage_list *list, size_t item_bytes, size_t at);

/* An object of a module; either gcc's description or clang's writer. */
void vti_coverage_remember(struct vti_coverage_list *objects, const void *module,
                           const void *description, vt_coverage_writer writer);
void vti_coverage_forget(struct vti_coverage_list *objects, const void *module);

struct vti_coverage_source {
    const struct vti_coverage_list *objects;
    const void *module;
    const char *start; /* of its counters */
    size_t bytes;
};

/* Writes the description (share/coverage.h) of a module, as much as there is room for; the bytes that it takes in all. */
size_t vti_coverage_describe(const struct vti_coverage_source *source, void *to, size_t room);

#endif
