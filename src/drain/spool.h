/*
 * spool.h - the folder of a recording that never ends: names, locks, the limit, and what gave way to it.
 *
 * docs/spool.md says what others may rely on. Nothing here waits for anybody: a folder that somebody else keeps locked is
 * looked at again when the next file begins.
 */
#ifndef VENTURI_DRAIN_SPOOL_H
#define VENTURI_DRAIN_SPOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define VTI_SPOOL_LIMIT ((uint64_t)1 << 30)
#define VTI_SPOOL_LEAST ((uint64_t)1 << 20) /* a smaller limit makes no sense */
#define VTI_SPOOL_FILE_BYTES ((uint64_t)64 << 20)
#define VTI_SPOOL_FILE_NS 60000000000u
#define VTI_SPOOL_RUN 13  /* room for the run as text */
#define VTI_SPOOL_NAME 64 /* room for "20261116T230506.123456Z-1a2b3c4d5e6f-000001.vt" */

/* What a file holds, or what files that were deleted held. */
struct vti_spool_sum {
    uint64_t files, bytes, events, steps, tasks;
};

struct vti_spool {
    char path[PATH_MAX]; /* of the folder, absolute */
    int folder;          /* descriptor */
    uint64_t limit;
    uint64_t file_bytes, file_ns; /* how large and how old a file becomes */
    char run[VTI_SPOOL_RUN];
    uint64_t number; /* of the file that grows; 0: none yet */
    int64_t last_us; /* in its name */
    char name[VTI_SPOOL_NAME];
    char made[VTI_SPOOL_NAME + 8]; /* the name that it has before it is shown */
    struct vti_spool_sum lost;     /* deleted by us */
};

/* Makes the folder if it is not there (not those above it). `limit` 0: the default. */
int vti_spool_open(struct vti_spool *spool, const char *path, uint64_t limit);
void vti_spool_close(struct vti_spool *spool);

/* Makes room, and a file that has no name yet that others look at; the folder, too, if somebody has removed it. The descriptor is locked and stays so until all
 * copies of it are closed; a negative code if it cannot be made. */
int vti_spool_begin(struct vti_spool *spool);

/* Gives it its name, or takes it away again. */
int vti_spool_show(struct vti_spool *spool);
void vti_spool_drop(struct vti_spool *spool);

/* ---- between the files of the spool ------------------------------------------------------------ */

/* Whether a name is that of a recording of a spool. */
bool vti_spool_is_name(const char *name);

/* Deletes the oldest files until another one fits (spool_limit.c). */
void vti_spool_make_room(struct vti_spool *spool);

/* What a file holds that was closed or left (spool_count.c). False: it is no recording, and `sum` has its bytes only. */
bool vti_spool_count(const struct vti_spool *spool, const char *name, struct vti_spool_sum *sum,
                     char recording[33]);

/* Writes down that a file is going to be deleted (spool_losses.c), with the folder locked. False: it could not be, so the file must stay. */
bool vti_spool_note_loss(struct vti_spool *spool, const char *name, const char *recording,
                         const struct vti_spool_sum *sum);

#endif
