/*
 * venturi/step_record.h - steps of a pipeline: what a step says of a message, or a batch of them, that it has dealt with.
 *
 * venturi/step.h says all of this by itself; this header is for those who have steps of their own. Nothing here can fail
 * or block, whatever becomes of the recording: what finds no room is counted. Without a recording nothing is
 * recorded. Any thread may use it, and a forked child goes on with its parent's steps. Not for signal handlers.
 */
#ifndef VENTURI_STEP_RECORD_H
#define VENTURI_STEP_RECORD_H

#include <venturi/task.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VT_STEP_FAILED 1u
#define VT_STEP_METRICS 2u /* a document that was sent by hand: only `extra` and `sent` count */

#define VT_STEP_EXTRA_MAX 32768u /* bytes of `extra`; a longer one is left out whole, and counted */
#define VT_LAG_UNKNOWN INT64_MIN

/* A message or a batch that is done with. Times are those of vt_task_clock(), durations nanoseconds. */
struct vt_step_done {
    uint32_t step;           /* of vt_step_source() */
    uint32_t flags;          /* VT_STEP_… */
    uint32_t messages;       /* how many there were: the size of the batch */
    uint32_t reserved;       /* 0 */
    uint64_t received, sent; /* received 0: as sent; sent 0: now */
    uint64_t execute_ns;
    uint64_t pre_ns, post_ns, produce_ns; /* VT_UNKNOWN: no such phase, or it did not come to it */
    int64_t lag_ns;                       /* between being sent to this step and being received */
    const char *extra;  /* members of a JSON object without its braces: "candid":"1","n":2 */
    size_t extra_bytes; /* 0: none */
};

/* A step: the name of its class, the prefix of its index (NULL: "pipeline"), its survey or NULL. The same number for equal
 * texts, valid for good and in forked children, whether anything is recorded yet or not. 0: there is no memory, or there are
 * more than 4,096 of them; what is put with that is lost, and counted exactly. */
VT_API uint32_t vt_step_source(const char *source, const char *prefix, const char *survey);

/* Records it. Never blocks, never fails; what finds no room is lost, and counted exactly. */
VT_API void vt_step_put(const struct vt_step_done *done);

#ifdef __cplusplus
}
#endif
#endif
