/*
 * resources.h - CPU, memory and I/O of the whole process tree, as the drainer sampled them from outside.
 *
 * Counting values (CPU, bytes) are totals since the process began and never include what others did. Those of a tree are exact
 * also for processes that were never seen, as far as somebody waited for them. A value holds until the next point of its series;
 * what is not in `known` could not be read and is 0 in the struct: show it as unknown, never as 0.
 */
#ifndef VENTURI_ANALYZE_RESOURCES_H
#define VENTURI_ANALYZE_RESOURCES_H

#include "format/resources.h"
#include "model/model.h"

/* One reading; `known` is bits 1 << VTI_RESOURCE_…, values[] is indexed by VTI_RESOURCE_… */
struct vti_resource_point {
    int64_t time_ns; /* of the recording */
    uint32_t known;
    uint64_t values[VTI_RESOURCE_COUNT];
};

struct vti_resource_series {
    struct vti_resource_point *points; /* owned; in order of time */
    size_t count, capacity;
};

/* A process of the tree, recorded or not. */
struct vti_resource_process {
    uint32_t tree;    /* index in trees[] */
    uint32_t number;  /* in its tree, from 1 */
    uint32_t parent;  /* index in processes[], or VT_NONE */
    uint32_t process; /* id of the PROCESS that recorded on its own, or VT_NONE */
    uint32_t pid;
    int64_t start_ns;     /* may lie before the recording */
    int64_t end_ns;       /* INT64_MAX: it went on */
    char *name, *command; /* owned; arguments separated by spaces; empty if unknown */
    struct vti_resource_series series;
    struct vti_resource_point last; /* the last reading; nothing known if there was none */
    uint64_t cpu_ns;     /* used since the first reading of its tree, as that one's sum */
    uint64_t peak_bytes; /* largest memory that was seen, 0 if unknown */
};

/* All processes of one drainer; a recording has one, a merged one has one for each input. */
struct vti_resource_tree {
    uint32_t number;
    uint32_t host, domain;             /* ids: where it ran, and the clock of its readings */
    struct vti_resource_series series; /* of all together, the machine's values among them */
    struct vti_resource_point last;
    int64_t begin_ns, end_ns; /* first and last reading */
    double cpu_s;             /* in [begin_ns, end_ns] */
    double user_s;            /* of it; kernels count this in steps of 10 ms */
    double cores;             /* cpu_s for each second: 0.8 is 80 % of one core */
    uint64_t
        peak_bytes; /* largest sum of memory at one reading, at least that of the largest process */
    uint64_t read_bytes, written_bytes; /* by system calls, pipes and terminals included */
    uint64_t disk_read_bytes, disk_written_bytes; /* what went to storage */
    uint32_t known;         /* which of the sums above are known: bits as in a point */
    uint32_t process_count; /* that were seen */
    double machine_busy;    /* share of all CPUs that was busy, 0 to 1; -1 unknown */
    double others_busy;     /* share of it that was not ours; -1 unknown */
    uint32_t cpu_count;     /* of the host, 0 unknown */
};

struct vti_resources {
    struct vti_resource_tree *trees; /* arrays are owned */
    size_t tree_count;
    struct vti_resource_process *processes; /* in order of appearance: parents anywhere */
    size_t process_count;
};

/* Nothing sampled: tree_count is 0, which is no error. 0 or a negative code. */
int vti_resources_load(struct vti_resources *resources, vt_recording *recording);
void vti_resources_fini(struct vti_resources *resources);

/* The point that holds at a time, the last one not after it; NULL before the first. */
const struct vti_resource_point *vti_resource_at(const struct vti_resource_series *series,
                                                 int64_t time_ns);

/* The largest share of the machine's CPUs that others kept busy during a tree of processes, where that is enough to lengthen every
 * time that was measured; else 0. */
#define VTI_OTHERS_BUSY 0.25
double vti_resources_others(const struct vti_resources *resources);

/* "Resources: CPU 3.2 s (80 % of one core), peak memory 210 MB, read 12 MB, wrote 3 MB", without a line end. */
void vti_resources_sentence(struct vti_buf *out, const struct vti_resource_tree *tree);

#endif
