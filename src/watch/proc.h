/*
 * proc.h - what the kernel says of a process and of the machine, read again and again at little cost.
 *
 * What cannot be read is unknown, never zero: /proc may be mounted with hidepid, a process may belong to somebody else.
 */
#ifndef VENTURI_WATCH_PROC_H
#define VENTURI_WATCH_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where it is read from; tests have trees of their own. */
struct vti_proc_source {
    const char *root;                        /* "/proc" */
    bool (*cpu_ns)(pid_t pid, uint64_t *ns); /* CPU time of a process; false: there is no such
                                                process; NULL: its stat file has to say it all */
    long clock_hz, page_bytes;               /* units of the files */
    bool without_io;                         /* nobody wants to know what is read and written */
};

void vti_proc_source_init(struct vti_proc_source *source);

enum { VTI_IO_READ, VTI_IO_WRITTEN, VTI_IO_DISK_READ, VTI_IO_DISK_WRITTEN, VTI_IO_COUNT };

struct vti_cpu_time {
    uint64_t all_ns, user_ns; /* the second is part of the first, in steps of 10 ms */
};

struct vti_proc_reading {
    bool has_stat, has_cpu, has_io;
    char state; /* 'Z': ended, nobody has waited for it yet */
    char name[64];
    pid_t parent, group, session;
    uint64_t start_clock;       /* in clock ticks since the machine was started */
    struct vti_cpu_time cpu;    /* its own */
    struct vti_cpu_time reaped; /* of processes below that were waited for */
    uint64_t memory_bytes;
    uint64_t threads;
    uint64_t io[VTI_IO_COUNT]; /* with those of processes that it has waited for */
};

/* Files of a process that stay open; -1: none. */
struct vti_proc_files {
    int stat_fd, io_fd;
};

/*
 * Reads a process. `files` keeps what it opens if `is_kept`. False if there is no such process any more: with kept files
 * also when its number belongs to another one now, else the caller compares start_clock.
 */
bool vti_proc_take(const struct vti_proc_source *source, pid_t pid, struct vti_proc_files *files,
                   bool is_kept, struct vti_proc_reading *reading);
void vti_proc_files_close(struct vti_proc_files *files);

struct vti_proc_kin {
    pid_t parent, group, session; /* group, session: the kernel's, of jobs and terminals */
    uint64_t start_clock;
};

/* False if that cannot be read. A third of the cost of all. */
bool vti_proc_kin_of(const struct vti_proc_source *source, pid_t pid, struct vti_proc_kin *kin);

/* The most memory that it ever had resident, 0 if that is unknown. */
uint64_t vti_proc_peak(const struct vti_proc_source *source, pid_t pid);

/* Its arguments, separated by zero bytes; how many bytes. */
size_t vti_proc_command(const struct vti_proc_source *source, pid_t pid, char *to, size_t room);

/* Whether a variable of the environment that it was started with has this value. */
bool vti_proc_has_variable(const struct vti_proc_source *source, pid_t pid, const char *name,
                           const char *value);

enum { VTI_BUSY_UNKNOWN, VTI_BUSY_STAT, VTI_BUSY_UPTIME };

struct vti_machine {
    const struct vti_proc_source *source;       /* borrowed */
    bool is_kept;                               /* files stay open */
    int load_fd, stat_fd, uptime_fd, memory_fd; /* -1: not open */
    bool has_busy, has_available;
    int busy_from; /* which file told it */
    uint32_t cpu_count;
    pid_t last_pid;           /* the number that was given to a process last; 0: not told */
    uint64_t busy_ns;         /* of all CPUs, since the machine was started, in steps of 10 ms */
    uint64_t available_bytes; /* as of the last time that it was asked for … */
    uint64_t memory_bytes;    /* … of so much; 0: not told */
};

/* `is_kept`: there are descriptors enough to keep four of them. */
void vti_machine_init(struct vti_machine *machine, const struct vti_proc_source *source,
                      bool is_kept);
void vti_machine_fini(struct vti_machine *machine);
void vti_machine_take(struct vti_machine *machine, bool with_memory);

#endif
