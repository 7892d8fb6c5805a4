/* target.h - the recording that an import writes: one host, one clock in nanoseconds. */
#ifndef VENTURI_IMPORT_TARGET_H
#define VENTURI_IMPORT_TARGET_H

#include "export/copy.h"
#include "import/import.h"

struct vti_import_target {
    struct vti_copy copy;
    struct vti_map *sites; /* owned: description to id - 1 */
    struct vti_buf entry;  /* scratch, for one block of facts */
    const char *what; /* the kind of file, where that matters to readers: VTI_OS_LOG; or NULL */
    char note[VTI_IMPORT_NOTE];
};

int vti_import_open(struct vti_import_target *target, const char *path, bool force,
                    bool (*is_stopped)(void));
int vti_import_commit(struct vti_import_target *target, struct vti_writer_stats *stats);
void vti_import_abandon(struct vti_import_target *target);

/* META, HOST and CLOCK: tick 0 was at `realtime_ns`. The first step. */
int vti_import_start(struct vti_import_target *target, const char *source, uint64_t realtime_ns);
int vti_import_process(struct vti_import_target *target, uint32_t process, uint32_t pid,
                       const char *name, uint64_t end);
int vti_import_track(struct vti_import_target *target, uint32_t track, uint32_t process,
                     uint32_t tid, const char *name, uint64_t end, bool is_lane);

/* The id of a site, the same for equal ones; 0 without memory. */
uint32_t vti_import_site(struct vti_import_target *target, const struct vti_site_fact *site);

/* Writes the sites that are new; before the first block that uses them. */
int vti_import_write_sites(struct vti_import_target *target);

/* One line for the user about what could not be taken as it is; the last one counts. */
__attribute__((format(printf, 2, 3))) void vti_import_note(struct vti_import_target *target,
                                                           const char *format, ...);

/* A block of `count` entries that stand in target->entry, which is empty afterwards. Nothing is written
 * of none. */
int vti_import_block(struct vti_import_target *target, enum vti_kind kind, uint32_t owner,
                     uint32_t count, uint64_t last);

#endif
