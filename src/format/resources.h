/* resources.h - entries of RESOURCES blocks: the processes that a drainer watches from outside, and readings of them. */
#ifndef VENTURI_FORMAT_RESOURCES_H
#define VENTURI_FORMAT_RESOURCES_H

#include "base/buf.h"
#include "base/bytes.h"
#include "format/event.h"

#include <stdbool.h>
#include <stdint.h>

/* Values of a reading, in the order in which they are written. */
enum vti_resource {
    VTI_RESOURCE_CPU_NS,       /* all CPU time so far, user and system */
    VTI_RESOURCE_USER_NS,      /* of it in user mode, in steps of the kernel's clock (10 ms) */
    VTI_RESOURCE_MEMORY_BYTES, /* resident now, shared pages included */
    VTI_RESOURCE_PEAK_BYTES,   /* the most that one process had resident */
    VTI_RESOURCE_THREADS,
    VTI_RESOURCE_READ_BYTES, /* by system calls: files, pipes, sockets, terminals */
    VTI_RESOURCE_WRITTEN_BYTES,
    VTI_RESOURCE_DISK_READ_BYTES, /* what storage had to do */
    VTI_RESOURCE_DISK_WRITTEN_BYTES,
    VTI_RESOURCE_PROCESSES, /* of a tree: alive now */
    VTI_RESOURCE_MACHINE_NS, /* of a tree: time that all CPUs of the machine were busy, since it was started */
    VTI_RESOURCE_AVAILABLE_BYTES, /* of a tree: memory that the machine could give to new programs */
    VTI_RESOURCE_COUNT
};

enum vti_resource_type { VTI_RESOURCE_PROCESS = 1, VTI_RESOURCE_READING };

/* One entry. Numbers of processes are from 1 within their tree; 0 is the tree as a whole. */
struct vti_resource_fact {
    uint32_t type; /* enum vti_resource_type; an unknown one was stepped over */
    uint32_t tree;
    uint32_t number;
    /* A process: */
    uint32_t host, domain;
    uint32_t process_plus_one; /* the PROCESS that it records as, 0: none */
    uint32_t parent;           /* number, 0: none that is watched */
    uint32_t pid;
    uint64_t start, end; /* ticks; 0: unknown, or it goes on */
    struct vti_bytes name;
    struct vti_bytes command; /* arguments separated by zero bytes */
    /* A reading: */
    uint64_t ticks; /* since the reading before it in the block; of the first: all */
    uint32_t known; /* bits 1 << VTI_RESOURCE_…; other values are zero */
    uint64_t values[VTI_RESOURCE_COUNT];
};

/* Appends one entry; takes one, false if it does not parse. */
void vti_resource_write(struct vti_buf *out, const struct vti_resource_fact *fact);
bool vti_resource_read(struct vti_reader *in, struct vti_resource_fact *fact);

/* "cpu", "user", …: of a value, and its unit "ns", "bytes" or "". */
const char *vti_resource_name(enum vti_resource value);
const char *vti_resource_unit(enum vti_resource value);

#endif
