/*
 * documents.h - what a store gets: documents, in batches, made from the recordings that are followed.
 *
 * A maker reads one recording from a position on and fills batches; the position after each batch is what is written
 * down when the store has acknowledged all of it. Makers are listed in makers.def. Ids are made from what a document is
 * about, never from when it is sent: the same document sent twice is one document.
 */
#ifndef VENTURI_STORE_DOCUMENTS_H
#define VENTURI_STORE_DOCUMENTS_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/uuid.h"
#include "format/steps.h"
#include "venturi/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_DOCUMENT_MOST (1u << 20) /* bytes of a body: longer ones are dead letters */

enum vti_document_kind {
    VTI_DOCUMENT_STEP = 1 << 0, /* what a step has dealt with; detail: struct vti_step_detail */
    VTI_DOCUMENT_TRACE =
        1 << 1, /* a trace point; detail: struct vti_trace_detail (documents_traces.h) */
    VTI_DOCUMENT_SAMPLE = 1 << 2, /* a value at a time */
};

/* What became of a document. Stores look only at those that are still to be sent. */
enum vti_fate {
    VTI_FATE_WAITING, /* to be sent, first or again */
    VTI_FATE_DONE,    /* the store has it, now or from before */
    VTI_FATE_DEAD,    /* it will never take it; `status` and the reason say why */
    VTI_FATE_PASSED,  /* this store has no place for such a thing: dealt with, and not counted */
};

#define VTI_NOTHING SIZE_MAX

/* Offsets are into the batch's buffers, which move while it is filled. */
struct vti_document {
    uint32_t kind;        /* enum vti_document_kind, one of them */
    uint8_t id[VTI_UUID]; /* the same whenever it is made */
    int64_t time_ns;      /* since 1970 UTC */
    const char
        *index; /* where it belongs: index, topic, stream; of the maker, which outlives the batch */
    size_t body_at; /* JSON object on one line, without line end, in batch->text */
    size_t body_len;
    size_t detail_at; /* in batch->details, a multiple of 8; VTI_NOTHING: none */
    /* Set by the store: */
    uint32_t fate;    /* enum vti_fate */
    int status;       /* HTTP's or the like; 0 unknown */
    size_t reason_at; /* in batch->reasons, terminated; VTI_NOTHING: none */
    uint32_t tries;   /* how often it has been answered with "later" */
};

struct vti_batch {
    struct vti_document *documents; /* owned */
    size_t count, capacity;
    struct vti_buf text, details, reasons;
    bool
        may_repeat; /* some of it may have arrived before: a first batch after a start, or after no answer */
};

void vti_batch_clear(
    struct vti_batch *batch); /* memory is kept; a zeroed struct is an empty batch */
void vti_batch_fini(struct vti_batch *batch);

/* Another document; the caller has appended its body to `text` from body_at on. NULL without memory. */
struct vti_document *vti_batch_add(struct vti_batch *batch, uint32_t kind, size_t body_at);

/* Keeps a copy of a struct beside the document. 0 or VTI_E_NOMEM. */
int vti_batch_add_detail(struct vti_batch *batch, struct vti_document *document, const void *detail,
                         size_t bytes);

const char *vti_batch_body(const struct vti_batch *batch, const struct vti_document *document);
const void *vti_batch_detail(const struct vti_batch *batch, const struct vti_document *document);
const char *vti_batch_reason(const struct vti_batch *batch,
                             const struct vti_document *document); /* "": none */
size_t vti_batch_waiting(const struct vti_batch *batch);

/* For stores: what became of one. The reason is copied, cut at 500 bytes, made harmless. */
void vti_batch_done(struct vti_batch *batch, struct vti_document *document);
void vti_batch_pass(struct vti_document *document); /* it is part of another, or nothing for it */
void vti_batch_dead(struct vti_batch *batch, struct vti_document *document, int status,
                    const char *reason);
void vti_batch_later(struct vti_batch *batch, struct vti_document *document, int status,
                     const char *reason);

/* Where a maker goes on. Zero is the start; what the words mean is the maker's. Written down in the state of ship. */
#define VTI_POSITION_WORDS 4
struct vti_position {
    uint64_t words[VTI_POSITION_WORDS];
};

struct vti_maker_options {
    const char *prefix; /* instead of each source's own; NULL: that */
    const char *index;  /* of trace points; NULL: as the maker has it */
};

/* How much a batch may hold: whichever is reached first. */
struct vti_batch_limits {
    size_t documents, bytes;
};

struct vti_maker {
    const char *name; /* "steps", "traces": in the state and for --only */
    uint32_t kinds;   /* that it makes */

    /* Begins to read a recording at `from`. The recording stays the caller's, who refreshes it between calls of next(). */
    int (*open)(void **state, vt_recording *recording, const struct vti_position *from,
                const struct vti_maker_options *options);

    /* Appends documents to the batch until a limit is reached or nothing is left. 1: a limit, more to come; 0: that is all
     * for now; negative: a failure. `is_final`: the recording will not grow, so what was held back for its end is due. */
    int (*next)(void *state, struct vti_batch *batch, const struct vti_batch_limits *limits,
                bool is_final);

    /* After the last document that next() gave. */
    void (*position)(const void *state, struct vti_position *to);

    /* Of the recording so far: documents that were lost before they could be made. NULL: none ever. */
    uint64_t (*lost)(void *state);

    /* Since it was opened: what was read and is no document, because stores have no place for it. NULL: there is no such thing. */
    uint64_t (*outside)(const void *state);
    void (*close)(void *state);
};

/* All of them, as makers.def has them; NULL after the last. */
const struct vti_maker *vti_maker_at(size_t at);

/* ---- kit for makers -------------------------------------------------------------------------- */

/* 128 bits of up to four numbers and a recording's id; quick, well spread, the same on every machine. */
void vti_document_id(uint8_t id[VTI_UUID], const uint8_t recording[VTI_UUID], uint64_t a,
                     uint64_t b, uint64_t c);

/* "2026-11-16T23:05:08.123456789Z" with as many decimals as are needed, at least 3, at most 9; returns its length. */
#define VTI_TIME_TEXT 32
size_t vti_time_text(char to[VTI_TIME_TEXT], int64_t time_ns);

/* PREFIX-name-YYYYMMDD of a time, name in lower case, as APF makes it; letters that stores refuse become '_'. The text lives as long
 * as the table. NULL without memory. Zeroed it is empty. */
struct vti_index_names {
    struct vti_map *map;
    char **names; /* owned; beside the map */
    size_t count, capacity, last;
    struct vti_buf key; /* scratch */
};
const char *vti_index_daily(struct vti_index_names *names, const char *prefix, const char *name,
                            int64_t time_ns);
void vti_index_names_fini(struct vti_index_names *names);

/* ---- details --------------------------------------------------------------------------------- */

/* Texts are of the recording: valid until it is refreshed or closed, after the batch is sent. */
struct vti_step_detail {
    const char *source, *prefix, *survey, *host; /* survey may be "" */
    uint32_t pid;
    bool is_failed, is_metrics; /* is_metrics: a document that was sent by hand */
    uint64_t messages;          /* batch size */
    uint64_t number;
    int64_t received_ns, sent_ns;                     /* since 1970 UTC */
    uint64_t execute_ns, pre_ns, post_ns, produce_ns; /* VTI_STEP_UNKNOWN: no such phase */
    int64_t lag_ns;                                   /* VTI_STEP_LAG_UNKNOWN */
};

#endif
