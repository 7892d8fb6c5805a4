/*
 * arena.h - the memory that a measured process shares with the drainer: one memfd for each process,
 * made and sealed by the drainer, so that limits of the program (file size, open files) do not matter.
 *
 *     0        control   written by the drainer: the word that switches recording, clock, policy
 *     4096     producer  written by the program: who it is, what a pair costs, sites so far
 *     8192     sites     append-only log of site descriptions
 *              slots     four pages for each thread: records of its own, and where to count lost ones
 *              chunks    8 KiB each, of calls in trees (tree.h)
 *              blocks    64 KiB each, of 16-byte records
 *
 * There are no pointers and no locks in here: both sides may be killed at any time, and the drainer
 * trusts nothing that it reads (every index is checked).
 *
 * A thread begins in its slot, so that thousands of threads with little to say need no block, and
 * comes back to it when no block is free, so that none is left with nothing: it links the slot's own
 * records to themselves and waits until they were read. The way of a block: a thread pops it from the free list, fills it, links it behind its previous one; the
 * drainer follows the links, zeroes what it has read and pushes it back. A zero first word
 * therefore always means "not written yet".
 */
#ifndef VENTURI_SHARE_ARENA_H
#define VENTURI_SHARE_ARENA_H

#include "share/record.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_ARENA_MAGIC 0x31414e4552415456u /* "VTARENA1" */
#define VTI_ARENA_VERSION 9
#define VTI_PAGE 4096
#define VTI_BLOCK_BYTES 65536
#define VTI_BLOCK_RECORDS (VTI_BLOCK_BYTES / sizeof(struct vti_record) - 4)
#define VTI_SLOT_BYTES (4 * VTI_PAGE)
#define VTI_OWN_RECORDS 768 /* in the slot itself */
#define VTI_SCRATCH_RECORDS 240
#define VTI_SITE_AREA (16u << 20)
#define VTI_SITE_TEXT_MAX 1023   /* bytes of each text of a site; the rest is cut off */
#define VTI_THREAD_NAME_BYTES 64 /* with the zero at the end; the kernel's names have 16 */
#define VTI_SLOT_COUNT 4096
#define VTI_CHUNK_COUNT 8192

/* The control word: which kinds are recorded (low byte; 0: nothing) and which period this is. A new
 * period begins each time recording is switched on, so that threads can tell. */
#define VTI_CONTROL_KINDS 0xffu
#define VTI_CONTROL_SPANS 0x01u
#define VTI_CONTROL_CALLS 0x02u
#define VTI_CONTROL_TIMELINE 0x08u /* calls are recorded as spans, not in trees */
#define VTI_CONTROL_LINES 0x10u
#define VTI_CONTROL_PERIOD 0x100u

enum vti_policy { VTI_POLICY_DROP, VTI_POLICY_BLOCK };

/* A stack of indices without locks. The tag in the upper half changes with every operation. */
struct vti_free_list {
    uint64_t head;   /* index + 1 in the lower half, 0: empty */
    uint32_t unused; /* indices from here up were never handed out */
    uint32_t count;
};

struct vti_arena_control {
    uint32_t word; /* must stay first: the address that vt_control_word points to */
    uint32_t version;
    uint64_t magic;
    uint64_t bytes;
    uint32_t slot_count;
    uint32_t block_count;
    uint32_t
        clock; /* enum vti_clock_type of format/facts.h: 1 counter, 2 nanoseconds, 3 ARM counter */
    uint32_t policy;
    uint32_t block_limit_ms;
    int32_t drainer_pid;
    uint64_t heartbeat_ns; /* CLOCK_MONOTONIC of the drainer's last round */
};

/* Events that have no place to go to: a sum for the whole process. */
struct vti_unplaced {
    uint64_t events;
    uint64_t first;
    uint64_t last;
};

/* What a call costs that a hook measures, in thousandths of a tick: around it, and shown by an empty one. */
struct vti_hook_cost {
    uint64_t pair_millis;
    uint64_t inner_millis;
};

#define VTI_LANGUAGES 8 /* enum vt_language of venturi/hook.h is less */

/* Samples of native stacks, for the whole process. */
struct vti_sampling {
    uint32_t clock; /* enum vt_sample_clock of venturi/hook.h; 0: none were taken */
    uint32_t is_stopped;
    uint64_t period_ns;
    uint64_t samples; /* in all, … */
    uint64_t ours;    /* … met in our own code, … */
    uint64_t cut;     /* … whose stack could not be followed to its end, … */
    uint64_t lost;    /* … that found no place in the tree */
    uint64_t spent;   /* ticks that they took */
};

struct vti_arena_producer {
    uint32_t is_ready;
    int32_t pid;
    uint64_t start;
    uint64_t pair_millis;  /* thousandths of a tick that one begin and end add around them */
    uint64_t inner_millis; /* … that an empty span shows */
    uint64_t site_bytes;   /* published length of the site log */
    uint32_t site_count;
    uint32_t
        has_unseen_calls; /* that no hook could count: those that are lost are at least so many */
    struct vti_unplaced without_slot;     /* of threads beyond the slots */
    struct vti_unplaced too_deep;         /* of spans that nest too deep for memory */
    struct vti_unplaced lost_calls;       /* of threads beyond the slots, where no event is kept */
    struct vti_unplaced lost_lines;       /* the same of lines */
    struct vti_unplaced lost_tasks;       /* of runs whose end found no room to tell it */
    struct vti_unplaced lost_steps;       /* messages of steps that found no room */
    struct vti_unplaced sourceless_steps; /* … of steps beyond those that have a number */
    struct vti_free_list slots;
    struct vti_free_list blocks;
    struct vti_free_list chunks;
    struct vti_hook_cost costs[VTI_LANGUAGES];
    struct vti_sampling sampling;
};

/* One entry of the site log; the four texts follow, then padding to 8. Its id is its place, from 1. */
struct vti_site_entry {
    uint32_t bytes; /* of the whole entry */
    uint32_t type;
    uint32_t line;
    uint16_t name_len;
    uint16_t function_len;
    uint16_t file_len;
    uint16_t unit_len;
    uint32_t reserved;
};

#define VTI_NEXT_OWN UINT32_MAX /* a link back to the slot's own records */

enum vti_slot_state { VTI_SLOT_FREE, VTI_SLOT_LIVE, VTI_SLOT_DEAD };

#define VTI_TALLY_HAS_SCRATCH 2u /* … and whether what lies in the scratch area is in it */

/* Sums over a stretch in which records went to the scratch area. */
struct vti_tally {
    uint64_t events;
    uint64_t first;
    uint64_t last;
    int32_t min_depth; /* of the spans that are open, counted from the start of the stretch */
    int32_t depth;
};

struct vti_slot {
    uint32_t state;
    int32_t tid;
    uint64_t start;
    uint64_t end;       /* set while it is live: the thread is ending and cannot say when it has */
    uint32_t next;      /* as in a block: what follows the slot's own records */
    uint32_t used;      /* as in a block */
    uint32_t next_free; /* link of the free list */
    uint32_t is_own_free; /* the own records were left and read: they may be used again (a futex) */
    char name[VTI_THREAD_NAME_BYTES];
    uint32_t is_losing;     /* records go to `scratch` and are only counted */
    uint32_t loss_sequence; /* of the loss under way */
    uint32_t
        tally_at; /* which of the two is valid: a kill between two stores cannot split a sum; … */
    uint32_t is_waiting;    /* for is_own_free: wake it */
    uint32_t chunks;        /* index + 1 of the first chunk of its tree of calls; 0: none */
    uint32_t number;        /* of the thread, in order of appearance in its process */
    uint64_t lost_calls;    /* that found no place in the tree */
    uint64_t lost_lines;    /* line events that found no place */
    uint64_t line_events;   /* so far: each of them has cost something … */
    uint64_t c_line_events; /* … and those of C less than others: they are among them */
    struct vti_record own[VTI_OWN_RECORDS];
    struct vti_tally tallies[2]; /* here, so that the two kinds of records do not touch */
    struct vti_record scratch[VTI_SCRATCH_RECORDS];
};

struct vti_block {
    uint32_t
        next; /* index + 1 of the thread's next block, or VTI_NEXT_OWN; set when this is done with */
    uint32_t used; /* records before this are all that were handed out; valid once `next` is set */
    uint32_t next_free;
    uint32_t reserved[13];
    struct vti_record records[VTI_BLOCK_RECORDS];
};

_Static_assert(sizeof(struct vti_slot) <= VTI_SLOT_BYTES, "a slot is four pages");
_Static_assert(sizeof(struct vti_block) == VTI_BLOCK_BYTES, "a block is 64 KiB");

/* Sizes and offsets for `block_count` blocks; fills the control part of a fresh arena. */
uint64_t vti_arena_bytes(uint32_t block_count);
void vti_arena_layout(struct vti_arena_control *control, uint32_t block_count);

struct vti_arena_producer *vti_arena_producer(const struct vti_arena_control *control);
uint8_t *vti_arena_sites(const struct vti_arena_control *control);

/* NULL for an index past the end. */
struct vti_slot *vti_arena_slot(const struct vti_arena_control *control, uint32_t at);
struct vti_block *vti_arena_block(const struct vti_arena_control *control, uint32_t at);

/* An index nobody uses, or UINT32_MAX. Called by the program's threads. */
uint32_t vti_slots_pop(const struct vti_arena_control *control);
uint32_t vti_blocks_pop(const struct vti_arena_control *control);

/* Whether there is none now. */
bool vti_blocks_are_out(const struct vti_arena_control *control);

/* Gives an index back. Called by the drainer. */
void vti_slots_push(const struct vti_arena_control *control, uint32_t at);
void vti_blocks_push(const struct vti_arena_control *control, uint32_t at);

/* Counts one record of a scratch area; empty and payload records count for nothing. */
void vti_tally_add(struct vti_tally *tally, const struct vti_record *record);

#endif
