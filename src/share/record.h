/*
 * record.h - the 16-byte record that a thread leaves in shared memory for the drainer.
 *
 * The ticks are stored last, with release: a record whose first word is zero is not there yet, so a
 * reader in another process (or after a SIGKILL) never sees half of one. Records with more to say are
 * followed by payload records, whose first word has its top bit set; they are filled before the record
 * in front of them is published, and lie in the same block.
 *
 *      0        7 8      11 12  15           0      6 7        8          15
 *     +----------+---------+------+         +--------+----------+-----------+
 *     |  ticks   |   id    | tag  |         | data 2 | 80 + len |  data 1   |   payload
 *     +----------+---------+------+         +--------+----------+-----------+
 */
#ifndef VENTURI_SHARE_RECORD_H
#define VENTURI_SHARE_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct vti_record {
    uint64_t ticks;
    uint32_t id;
    uint32_t tag; /* kind, payload records << 8, flags << 16, value type << 24 */
};

enum vti_record_kind {
    VTI_RECORD_BEGIN = 1,
    VTI_RECORD_END,
    VTI_RECORD_LAP, /* the innermost span ends and one of site `id` begins, on one clock read */
    VTI_RECORD_MARK,
    VTI_RECORD_COUNTER,     /* payload: 8 bytes */
    VTI_RECORD_ATTR,        /* payload: 8 bytes, or text */
    VTI_RECORD_ERROR,       /* payload: u32 length of the type, type, message */
    VTI_RECORD_ASYNC_BEGIN, /* payload: async id u64 */
    VTI_RECORD_ASYNC_END,   /* payload: async id u64 */
    VTI_RECORD_ASYNC_ATTR,  /* payload: async id u64, then 8 bytes or text */
    VTI_RECORD_LOSS,        /* payload: struct vti_loss_note */
    VTI_RECORD_TRACE_BEGIN, /* payload: async id u64, then the ids: base, span, parent */
    VTI_RECORD_TASK_RUN,    /* payload: struct vti_task_run_note, scheduler */
    VTI_RECORD_TASK_WORKER, /* payload: struct vti_task_worker_note, label */
    VTI_RECORD_TASK,        /* see VTI_TASK_NOTE_BYTES */
    VTI_RECORD_TASK_EDGES, /* payload: run u32, number u32, how many come before u32, dependencies */
    VTI_RECORD_TASK_END,   /* payload: struct vti_task_end_note, error */
    VTI_RECORD_STEP,       /* see VTI_STEP_NOTE_BYTES */
    VTI_RECORD_STEP_TEXT,  /* payload: how much comes before u32, text */
    VTI_RECORD_KINDS
};

#define VTI_TAG(kind, payloads, flags, type)                                                       \
    ((uint32_t)(kind) | (uint32_t)(payloads) << 8 | (uint32_t)(flags) << 16 |                      \
     (uint32_t)(type) << 24)
#define VTI_TAG_KIND(tag) ((tag)&0xff)
#define VTI_TAG_PAYLOADS(tag) (((tag) >> 8) & 0xff)
#define VTI_TAG_FLAGS(tag) (((tag) >> 16) & 0xff)
#define VTI_TAG_TYPE(tag) ((tag) >> 24)

#define VTI_PAYLOAD_BIT ((uint64_t)1 << 63)
#define VTI_PAYLOAD_DATA 15  /* bytes of data in one payload record */
#define VTI_PAYLOADS_MAX 200 /* payload records of one event */
#define VTI_TEXT_MAX 2048    /* longest text that is kept; the rest is cut off */

/* What happened while records had nowhere to go. The spans that began meanwhile and are open when records
 * find their way again follow as begins, marked VTI_RECORD_IN_GAP. */
struct vti_loss_note {
    uint64_t events;
    uint64_t first;
    uint64_t last;
    uint32_t sequence; /* of this loss on its thread: 1, 2, … */
    uint32_t ended;    /* of the spans that were open before, the innermost */
};

/* A run of a task graph, one of its workers, and its end; a text follows. */
struct vti_task_run_note {
    uint64_t planned;
    uint32_t run, parent, workers, reserved;
};

struct vti_task_worker_note {
    uint64_t pid, tid;
    uint32_t run, number;
};

struct vti_task_end_note {
    uint64_t lost;
    uint32_t run, reserved;
};

/*
 * A task: ticks are its end, the id is the site of its name, the type is its state and VTI_TASK_ACTION times its action. Payload: run u32,
 * number u32, worker + 1 u32; u64 each that a flag announces, in this order; retries u16; number of dependencies u16 and those, u32 each;
 * key.
 */
#define VTI_TASK_ACTION 8
#define VTI_TASK_HAS_START 1 /* else its end is none either */
#define VTI_TASK_HAS_READY 2
#define VTI_TASK_HAS_CPU 4
#define VTI_TASK_HAS_BYTES 8
#define VTI_TASK_HAS_FREED 16
#define VTI_TASK_HAS_RETRIES 32
#define VTI_TASK_HAS_EDGES 64
#define VTI_TASK_CPU_ESTIMATED 128
#define VTI_TASK_NOTE_WORDS 5  /* of 64 bits, at most */
#define VTI_TASK_NOTE_BYTES 56 /* at most, without dependencies and key */
#define VTI_TASK_NEAR_EDGES                                                                        \
    64 /* dependencies in the record itself; more are in records of their own */
#define VTI_TASK_FAR_EDGES 512 /* in one of those */

/*
 * A step that has dealt with a message: ticks are when that was over, the id is the site of the step. Payload: u64 each: ticks since it was received,
 * nanoseconds of its execution, and what flags announce, in their order; text. Text that is longer than VTI_TEXT_MAX is in records before it, and
 * its length, u32, in its place.
 */
#define VTI_STEP_FAILED 1
#define VTI_STEP_METRICS 2
#define VTI_STEP_HAS_MESSAGES 4 /* else it was one */
#define VTI_STEP_HAS_PRE 8
#define VTI_STEP_HAS_POST 16
#define VTI_STEP_HAS_PRODUCE 32
#define VTI_STEP_HAS_LAG 64
#define VTI_STEP_HAS_PARTS 128
#define VTI_STEP_TYPE_CUT 1      /* the record's type: its text was too long */
#define VTI_STEP_NOTE_BYTES 60   /* at most, without its text */
#define VTI_STEP_PART_BYTES 2880 /* of text in one record */

/* Flags of a record: as enum vti_event_flags of format/event.h. */
#define VTI_RECORD_IN_GAP 1
#define VTI_RECORD_ABANDONED 2
#define VTI_RECORD_FAILED 4

/* A copy of a record, each field read once: the writer may change it between a check and its use. */
void vti_record_get(const struct vti_record *from, struct vti_record *to);

/* Payload records needed for `bytes` of data. */
unsigned vti_payload_count(size_t bytes);

/* Spreads data over vti_payload_count(bytes) records at `to`. */
void vti_payload_put(struct vti_record *to, const void *data, size_t bytes);

/* Gathers the data of `count` payload records into `to` (count * VTI_PAYLOAD_DATA bytes of room).
 * Returns the length, or -1 if one of them is no payload record. */
int vti_payload_get(const struct vti_record *from, unsigned count, uint8_t *to);

#endif
