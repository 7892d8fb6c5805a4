/* merge.h - several recordings become one: other processes, other hosts, other times. */
#ifndef VENTURI_EXPORT_MERGE_H
#define VENTURI_EXPORT_MERGE_H

#include "format/write.h"
#include "venturi/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vti_merge_input {
    const char *path;
    bool has_offset;
    int64_t offset_ns; /* added to this input's wall clock to get the first one's */
};

struct vti_merge {
    const struct vti_merge_input *inputs;
    size_t count;
    const char *output;
    bool force;
    int (*open)(const char *path, vt_recording **recording); /* NULL: vt_recording_open() */
    /* What the user should know but does not stop the merge; the text is one line. */
    void (*warn)(const char *text, void *arg);
    void *arg;
    bool (*is_stopped)(void); /* asked now and then; or NULL */
};

/* 0 and the size of the result, or a negative code, and then there is none. */
int vti_merge(const struct vti_merge *merge, struct vti_writer_stats *stats);

#endif
