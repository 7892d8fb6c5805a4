/*
 * coverage.h - the counters of a module that was compiled by `venturi cc -l`, in a file that the program and its
 * drainer share: what they count, then the pages that the program itself counts in.
 *
 *     head, texts (path of the module, its build id), objects each followed by its path and functions; all
 *     on multiples of 8 bytes. Then, from `counters_at` on, the counters. Written by the program: not to be trusted.
 */
#ifndef VENTURI_SHARE_COVERAGE_H
#define VENTURI_SHARE_COVERAGE_H

#include <stdint.h>

#define VTI_COVERAGE_MAGIC 0x31564f4356545630u /* "0VTVCOV1" */
#define VTI_COVERAGE_ALIGN(bytes) (((bytes) + 7u) & ~(uint64_t)7)

struct vti_coverage_head {
    uint64_t magic;
    uint64_t described_bytes; /* this head included */
    uint64_t counters_at;
    uint64_t counters_bytes;
    uint32_t object_count;
    uint32_t path_len;
    uint32_t build_id_len;
    uint32_t left_out; /* functions whose counters lie elsewhere: nobody sees them */
};

/* What was compiled at once. */
struct vti_coverage_object {
    uint32_t version; /* of the compiler, as its notes have it */
    uint32_t stamp;   /* the same in its notes */
    uint32_t path_len;
    uint32_t function_count;
};

struct vti_coverage_function {
    uint32_t ident;
    uint32_t checksum; /* of its arcs */
    uint32_t count;    /* of counters, eight bytes each */
    uint32_t reserved;
    uint64_t at; /* from the first counter of the module, in bytes */
};

#endif
