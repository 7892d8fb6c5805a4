/*
 * steps.c - messages that steps of one process have dealt with: from its records into STEPS blocks.
 *
 * What the program says is copied already, but not to be trusted: lengths are checked, numbers index nothing. Each gets the next number of
 * its process here, so that numbers have no gaps but those that a disk made. What the program has counted as lost is told
 * as it grows, not at its end only: somebody may be following.
 */
#include "drain/steps.h"

#include "drain/clock.h"
#include "drain/target.h"
#include "format/steps.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ENTRIES 4096u
#define BLOCK_BYTES (1u << 18)
#define PENDING_LIMIT_NS 100000000u
#define LOST_INTERVAL_NS 1000000000u

struct vti_step_lane {
    struct vti_step_codec codec;
    struct vti_buf bytes;
    uint32_t count;
    uint64_t first, last; /* ticks */
    uint64_t pending_ns;  /* since when the oldest entry waits; 0: nothing does */
};

/* ---- blocks -------------------------------------------------------------------------------------- */

/* Real time is taken when a block begins, so that a clock that is set is followed. */
static void begin_block(struct vti_target *process, struct vti_step_lane *lane)
{
    struct vti_steps_head head;

    vti_recorder_moment(process->recorder, &head.ticks, &head.realtime_ns, &head.ns_per_tick);
    vti_buf_clear(&lane->bytes);
    vti_step_codec_clear(&lane->codec);
    vti_steps_head_write(&lane->bytes, &head);
    lane->first = UINT64_MAX;
    lane->last = 0;
}

static void write_block(struct vti_target *process)
{
    struct vti_step_lane *lane = process->steps;
    struct vti_block_header header = {.kind = VTI_STEPS,
                                      .owner = process->fact.process,
                                      .count = lane->count,
                                      .first = lane->first,
                                      .last = lane->last};

    if (lane->count)
        vti_recorder_block(process->recorder, &header, &lane->bytes, true);
    vti_buf_clear(&lane->bytes);
    lane->count = 0;
    lane->pending_ns = 0;
}

/* Only what was not told yet. The sum is the program's: one that goes back tells nothing. */
static void state_lost(struct vti_target *process, const struct vti_unplaced *sum,
                       struct vti_told_loss *told, enum vti_loss_reason reason)
{
    uint64_t events = __atomic_load_n(&sum->events, __ATOMIC_ACQUIRE);
    struct vti_loss_fact loss = {.reason = reason,
                                 .process_plus_one = process->fact.process + 1,
                                 .last = __atomic_load_n(&sum->last, __ATOMIC_RELAXED)};

    if (events <= told->events)
        return;
    loss.events = events - told->events;
    loss.first = told->events ? told->until : __atomic_load_n(&sum->first, __ATOMIC_RELAXED);
    told->events = events;
    told->until = loss.last;
    vti_recorder_loss(process->recorder, &loss);
}

void vti_steps_cut(struct vti_target *process, uint64_t now_ns, bool now)
{
    const struct vti_arena_producer *producer = vti_arena_producer(process->arena);
    struct vti_step_lane *lane = process->steps;

    if (now || now_ns >= process->lost_steps_ns + LOST_INTERVAL_NS) {
        process->lost_steps_ns = now_ns;
        state_lost(process, &producer->lost_steps, &process->lost_steps, VTI_LOSS_STEPS);
        state_lost(process, &producer->sourceless_steps, &process->sourceless_steps,
                   VTI_LOSS_STEPS_SOURCES);
    }
    if (!lane || !lane->count)
        return;
    if (now || (lane->pending_ns && now_ns >= lane->pending_ns + PENDING_LIMIT_NS))
        write_block(process);
    else if (!lane->pending_ns)
        lane->pending_ns = now_ns;
}

void vti_step_lane_free(struct vti_step_lane *lane)
{
    if (!lane)
        return;
    vti_step_codec_fini(&lane->codec);
    vti_buf_fini(&lane->bytes);
    free(lane);
}

static void add_fact(struct vti_target *process, const struct vti_step_fact *fact)
{
    struct vti_step_lane *lane = process->steps;

    if (!lane->count)
        begin_block(process, lane);
    vti_step_write(&lane->bytes, &lane->codec, fact);
    lane->count++;
    lane->first = fact->sent < lane->first ? fact->sent : lane->first;
    lane->last = fact->sent > lane->last ? fact->sent : lane->last;
    if (lane->count >= BLOCK_ENTRIES || lane->bytes.len >= BLOCK_BYTES)
        write_block(process);
}

/* ---- records ------------------------------------------------------------------------------------- */

/* A first part begins anew: what came before was given up. One that does not follow leaves nothing that could be taken for a whole text. */
static void take_part(struct vti_buf *text, const uint8_t *data, size_t len)
{
    uint32_t at;

    if (len < sizeof at)
        return;
    memcpy(&at, data, sizeof at);
    if (!at)
        vti_buf_clear(text);
    if (at == text->len && text->len + len - sizeof at <= VTI_STEP_EXTRA_MAX)
        vti_buf_add(text, data + sizeof at, len - sizeof at);
    else
        vti_buf_clear(text);
}

static uint64_t take_u64(struct vti_reader *in, bool is_there, uint64_t otherwise)
{
    return is_there ? vti_reader_u64(in) : otherwise;
}

static void take_text(struct vti_reader *in, const struct vti_buf *text, bool is_in_parts,
                      struct vti_step_fact *fact)
{
    uint32_t len;

    if (!is_in_parts) {
        fact->extra = (struct vti_bytes){(const char *)in->at, vti_reader_left(in)};
        return;
    }
    len = vti_reader_u32(in);
    if (len == text->len && !text->failed)
        fact->extra = (struct vti_bytes){(const char *)text->data, len};
    else
        fact->is_cut = true;
}

static void take_step(struct vti_target *process, const struct vti_buf *text,
                      const struct vti_record *record, const uint8_t *data, size_t len)
{
    uint32_t flags = VTI_TAG_FLAGS(record->tag);
    struct vti_step_fact fact = {.type = VTI_STEP_DONE, .sent = record->ticks};
    struct vti_reader in;
    uint64_t age;

    vti_reader_init(&in, data, len);
    age = vti_reader_u64(&in);
    fact.received = record->ticks > age ? record->ticks - age : 0;
    fact.execute_ns = vti_reader_u64(&in);
    fact.messages = take_u64(&in, flags & VTI_STEP_HAS_MESSAGES, 1);
    fact.pre_ns = take_u64(&in, flags & VTI_STEP_HAS_PRE, VTI_STEP_UNKNOWN);
    fact.post_ns = take_u64(&in, flags & VTI_STEP_HAS_POST, VTI_STEP_UNKNOWN);
    fact.produce_ns = take_u64(&in, flags & VTI_STEP_HAS_PRODUCE, VTI_STEP_UNKNOWN);
    fact.lag_ns = (int64_t)take_u64(&in, flags & VTI_STEP_HAS_LAG, (uint64_t)VTI_STEP_LAG_UNKNOWN);
    fact.is_failed = flags & VTI_STEP_FAILED;
    fact.is_metrics = flags & VTI_STEP_METRICS;
    fact.is_cut = VTI_TAG_TYPE(record->tag) & VTI_STEP_TYPE_CUT;
    take_text(&in, text, flags & VTI_STEP_HAS_PARTS, &fact);
    if (in.failed)
        return;
    fact.site = vti_target_site(process, record->id);
    fact.number = ++process->step_count;
    add_fact(process, &fact);
}

void vti_steps_take(struct vti_target *process, struct vti_buf *text,
                    const struct vti_record *record, const uint8_t *data, size_t len)
{
    if (!process->steps)
        process->steps = calloc(1, sizeof *process->steps);
    if (!process->steps)
        return;
    if (VTI_TAG_KIND(record->tag) == VTI_RECORD_STEP_TEXT)
        take_part(text, data, len);
    else
        take_step(process, text, record, data, len);
}
