/*
 * layout.h - the fixed parts of a recording: file header, block headers, kinds. docs/format.md is the
 * specification; names here follow it.
 */
#ifndef VENTURI_FORMAT_LAYOUT_H
#define VENTURI_FORMAT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_FILE_HEADER_BYTES 64
#define VTI_BLOCK_HEADER_BYTES 48
#define VTI_TRAILER_BYTES 24
#define VTI_BLOCK_ALIGN 8
#define VTI_PAYLOAD_MAX (1u << 30)
#define VTI_BLOCK_EVENTS 1536 /* events a writer puts in one block */
#define VTI_LANES_MAX 64      /* depths that a summary describes */
#define VTI_STACK_MAX 65536   /* open spans a block may begin with */
#define VTI_VERSION_MAJOR 1
#define VTI_VERSION_MINOR 0

enum vti_kind {
    VTI_META = 1,
    VTI_HOST,
    VTI_PROCESS,
    VTI_TRACK,
    VTI_CLOCK,
    VTI_CLOCK_LINK,
    VTI_STRINGS,
    VTI_SOURCES,
    VTI_SITES,
    VTI_EVENTS,
    VTI_ASYNC,
    VTI_SAMPLES,
    VTI_CALL_TREE,
    VTI_LINES,
    VTI_TASKS,
    VTI_EDGES,
    VTI_COUNTERS,
    VTI_ENERGY,
    VTI_ALLOCATIONS,
    VTI_LOSSES,
    VTI_INDEX,
    VTI_END,
    VTI_DURATIONS,
    VTI_COSTS,
    VTI_PROFILE,
    VTI_SAMPLING,
    VTI_LINE_DURATIONS,
    VTI_LINE_CALLEES,
    VTI_RESOURCES,
    VTI_THREAD_CPU,
    VTI_STEPS,
    VTI_KIND_COUNT
};

/* The two low bits of an event's first number. */
enum vti_code { VTI_CODE_END, VTI_CODE_GUESSED, VTI_CODE_BEGIN, VTI_CODE_OTHER };

/* What follows VTI_CODE_OTHER. */
enum vti_other {
    VTI_OTHER_END = 1,
    VTI_OTHER_BEGIN,
    VTI_OTHER_MARK,
    VTI_OTHER_COUNTER,
    VTI_OTHER_ATTR,
    VTI_OTHER_ERROR,
    VTI_OTHER_ASYNC_BEGIN,
    VTI_OTHER_ASYNC_END,
    VTI_OTHER_ASYNC_ATTR,
    VTI_OTHER_LOSS,
    VTI_OTHER_TRACE_BEGIN,
};

/* What the ids of VTI_OTHER_TRACE_BEGIN leave out. */
enum vti_trace_how {
    VTI_TRACE_SAME_BASE = 1,
    VTI_TRACE_PARENT_IS_BASE = 2,
    VTI_TRACE_PARENT_IS_SPAN = 4, /* of the one before */
    VTI_TRACE_SAME_PARENT = 8,
};

#define VTI_GUESSES 256 /* size of the table that guesses the next site */

struct vti_file_header {
    uint16_t major;
    uint16_t minor;
    uint64_t incompatible;
    uint64_t compatible;
    uint64_t created_ns;
    uint8_t id[16];
};

struct vti_block_header {
    uint8_t kind;
    uint8_t flags;
    uint32_t payload_bytes;
    uint32_t count;
    uint32_t owner;
    uint32_t summary_bytes;
    uint64_t first;
    uint64_t last;
    uint32_t payload_crc;
};

/* "EVENTS" and so on; "kind N" is up to the caller: an unknown kind gives NULL. */
const char *vti_kind_name(unsigned kind);

void vti_file_header_write(uint8_t to[VTI_FILE_HEADER_BYTES], const struct vti_file_header *header);

/* 0, VTI_E_NOT_RECORDING, VTI_E_DAMAGED or VTI_E_UNSUPPORTED; the message names no file. */
int vti_file_header_parse(const uint8_t *at, size_t left, struct vti_file_header *header);

/* Sets payload_crc from the payload, then writes the header. */
void vti_block_header_write(uint8_t to[VTI_BLOCK_HEADER_BYTES], struct vti_block_header *header,
                            const void *payload);

/* Whether a valid header stands at `at`: magic, checksum, sizes. The payload may still be cut off. */
bool vti_block_header_parse(const uint8_t *at, size_t left, struct vti_block_header *header);

/* Header, payload and padding together. */
uint64_t vti_block_bytes(const struct vti_block_header *header);

struct vti_trailer {
    uint64_t end_offset;
    uint32_t block_count;
};

void vti_trailer_write(uint8_t to[VTI_TRAILER_BYTES], const struct vti_trailer *trailer);
bool vti_trailer_parse(const uint8_t *at, struct vti_trailer *trailer);

#endif
