/* sources.h - the texts of source files that processes hand over: each goes into the recording once. */
#ifndef VENTURI_DRAIN_SOURCES_H
#define VENTURI_DRAIN_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vti_target;

#define VTI_SOURCE_BYTES_MAX (8u << 20)   /* of one file */
#define VTI_SOURCES_BYTES_MAX (64u << 20) /* of all */

struct vti_source_seen {
    uint64_t file, text;       /* digests */
    uint32_t process_plus_one; /* as it was written; 0: for all */
};

/* Zeroed: none. */
struct vti_sources {
    struct vti_source_seen *seen; /* owned */
    size_t count, room;
    uint64_t bytes;
};

/* Writes a text unless it is there. A file that is too large, or one too many, is stated as lost: VTI_E_LIMIT. */
int vti_sources_take(struct vti_sources *sources, struct vti_target *process, const char *name,
                     int fd, uint64_t bytes);
void vti_sources_free(struct vti_sources *sources);

#endif
