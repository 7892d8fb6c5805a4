/*
 * family.h - the processes of a tree: who belongs to it, and what all of them have used together.
 *
 * A process that ends is added to its parent by the kernel, if the parent waits for it; else what was last seen of it is
 * all there will ever be. Either way it is counted once. Nothing here writes anything.
 */
#ifndef VENTURI_WATCH_FAMILY_H
#define VENTURI_WATCH_FAMILY_H

#include "watch/proc.h"

#define VTI_WATCHED_MOST                                                                           \
    4096u /* at once; what further ones use is seen when they have been waited for */
#define VTI_ANCESTORS_MOST 64
#define VTI_LOOKED_BITS 1024

struct vti_watched {
    struct vti_watched *next;
    struct vti_watched *parent; /* NULL: none that is watched */
    pid_t pid;
    uint32_t number; /* from 1, never given twice */
    struct vti_proc_files files;
    bool is_kept; /* its files stay open */
    struct vti_proc_reading now;
    uint64_t io_before[2][VTI_IO_COUNT]; /* one and two readings ago */
    struct vti_cpu_time gone;            /* of processes below that have ended, as far as seen */
    uint64_t gone_io[VTI_IO_COUNT];      /* of those that are in its own numbers now */
    uint64_t leaving_io[VTI_IO_COUNT];   /* of those that ended since the last reading */
    bool has_waited;                     /* it has ended, and its parent told us what … */
    struct vti_cpu_time waited;          /* … it and those that it waited for have used */
    uint64_t peak_bytes;
    bool is_gone;
    bool is_changed; /* other values than the last time */
    uint32_t rounds; /* that have seen it */
    /* For who tells of it: */
    char *command; /* owned, or NULL */
    size_t command_len;
    uint32_t process_plus_one;
    bool is_told; /* as it is now */
};

struct vti_family_total {
    struct vti_cpu_time cpu;
    uint64_t memory_bytes, threads, io[VTI_IO_COUNT];
    uint64_t peak_bytes; /* the most that one process had */
    uint32_t processes;
    bool has_cpu, has_stat, has_io; /* of any of them */
};

struct vti_family {
    const struct vti_proc_source *source; /* borrowed */
    const char *session; /* borrowed: what our processes have in their environment; or NULL … */
    pid_t group;         /* … then the kernel's group that orphans of ours are in; 0: none */
    struct vti_watched *watched; /* owned; newest first, so that children come before parents */
    struct vti_watched *ended;   /* owned; in the last round */
    uint32_t count;              /* of watched */
    uint32_t number;             /* that was given last */
    uint32_t kept_most;          /* processes whose files stay open */
    uint64_t begin_clock;        /* what began before has not used all of it in our time … */
    bool has_past;               /* … and counts with all of it nevertheless */
    pid_t last_pid, pid_before;  /* the machine's newest number, a round ago and two */
    uint64_t looked[2]
                   [VTI_LOOKED_BITS / 64]; /* numbers that were seen to be others', in two rounds */
    int looked_at;
    bool is_below_due;    /* of one that was there before us: it may have children … */
    bool is_search_due;   /* through all processes of the machine … */
    uint64_t searched_ns; /* … which is done now and then */
    pid_t ancestors[VTI_ANCESTORS_MOST]; /* of ours: who gets processes whose parents have ended */
    unsigned ancestor_count;
    /* Of processes that are gone and in nobody's numbers; less what others had used before our time. */
    struct vti_cpu_time gone;
    uint64_t gone_io[VTI_IO_COUNT];
    uint64_t peak_bytes;
    bool had_cpu, had_io;     /* of those */
    struct vti_cpu_time told; /* the last total */
};

void vti_family_init(struct vti_family *family, const struct vti_proc_source *source,
                     const char *session);
void vti_family_fini(struct vti_family *family);

/* Watches a process from now on; NULL if it is not there, or too many are. The same one again is no error. */
struct vti_watched *vti_family_add(struct vti_family *family, pid_t pid);
struct vti_watched *vti_family_find(const struct vti_family *family, pid_t pid);

/* One round: finds new processes (`last_pid`, the machine's newest number, tells whether there can be any; 0: not known)
 * and reads all. Those in family->ended stay until the next round. */
void vti_family_round(struct vti_family *family, pid_t last_pid, uint64_t now_ns);

/* What a process read or wrote itself: the kernel's number without those that it has waited for. */
uint64_t vti_watched_io(const struct vti_watched *watched, unsigned which);

/* CPU time does not go back from one call to the next for the kernel's rounding of what those that ended have used. */
void vti_family_total(struct vti_family *family, struct vti_family_total *total);

#endif
