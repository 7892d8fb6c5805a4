/*
 * stream.c - the records of one thread, from its slot and chain of blocks into an encoder.
 *
 * The thread goes on writing while we read. A record counts once its first word is not zero; a block
 * is done with once the next one is linked behind it. All indices are checked: the program may have
 * scribbled over its arena, and may do so at any moment, so whatever is read there is read once.
 */
#include "drain/stream.h"

#include "drain/target.h"

#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STUCK_LIMIT_NS 1000000000u
#define PENDING_LIMIT_NS 100000000u
#define ROUND_STRETCHES                                                                            \
    128              /* at once: a thread that never stops must not keep us from the others */
#define CUT_CHECK 32 /* records between two looks at whether a block is full */

static void add_value(struct vti_event *event, uint32_t type, const uint8_t *data, size_t len)
{
    event->value.type = VTI_VALUE_NONE;
    if (type == VTI_VALUE_TEXT) {
        event->value.type = VTI_VALUE_TEXT;
        event->value.text = (struct vti_bytes){(const char *)data, len};
    } else if (type && type <= VTI_VALUE_DOUBLE && len >= 8) {
        event->value.type = type;
        memcpy(&event->value.u, data, 8);
    }
}

/* Records were lost: the spans that ended unseen end at the start of the gap. These ends were among the
 * lost events and no longer are. */
static void add_loss(struct vti_stream *stream, struct vti_target *process, const uint8_t *data,
                     size_t len)
{
    struct vti_event end = {.kind = VTI_EVENT_END, .flags = VTI_FLAG_IN_GAP};
    struct vti_loss_fact loss = {.reason = VTI_LOSS_BUFFERS,
                                 .process_plus_one = process->fact.process + 1,
                                 .track_plus_one = stream->track + 1};
    struct vti_loss_note note;

    if (len < sizeof note)
        return;
    memcpy(&note, data, sizeof note);
    loss.events = note.events;
    loss.first = note.first;
    loss.last = note.last;
    for (end.ticks = note.first; note.ended && vti_encoder_depth(stream->encoder); note.ended--) {
        vti_encoder_add(stream->encoder, &end);
        loss.events -= loss.events > 0;
    }
    vti_recorder_loss(process->recorder, &loss);
    stream->loss_seen = note.sequence;
}

static void add_error(struct vti_event *event, const uint8_t *data, size_t len)
{
    uint32_t type_len;

    if (len < 4)
        return;
    memcpy(&type_len, data, 4);
    if (type_len > len - 4)
        type_len = (uint32_t)(len - 4);
    event->error_type = (struct vti_bytes){(const char *)data + 4, type_len};
    event->error_message = (struct vti_bytes){(const char *)data + 4 + type_len,
                                              len - 4 - type_len};
}

/* Everything but plain begins and ends. */
static void add_other(struct vti_stream *stream, struct vti_target *process,
                      const struct vti_record *record, uint64_t ticks, const uint8_t *data,
                      size_t len)
{
    static const uint8_t kinds[VTI_RECORD_KINDS] = {
        [VTI_RECORD_BEGIN] = VTI_EVENT_BEGIN,
        [VTI_RECORD_END] = VTI_EVENT_END,
        [VTI_RECORD_MARK] = VTI_EVENT_MARK,
        [VTI_RECORD_COUNTER] = VTI_EVENT_COUNTER,
        [VTI_RECORD_ATTR] = VTI_EVENT_ATTR,
        [VTI_RECORD_ERROR] = VTI_EVENT_ERROR,
        [VTI_RECORD_ASYNC_BEGIN] = VTI_EVENT_ASYNC_BEGIN,
        [VTI_RECORD_ASYNC_END] = VTI_EVENT_ASYNC_END,
        [VTI_RECORD_ASYNC_ATTR] = VTI_EVENT_ASYNC_ATTR,
        [VTI_RECORD_TRACE_BEGIN] = VTI_EVENT_ASYNC_BEGIN,
    };
    uint32_t kind = VTI_TAG_KIND(record->tag);
    struct vti_event event = {0};

    if (kind == VTI_RECORD_LOSS) {
        add_loss(stream, process, data, len);
        return;
    }
    if (kind >= VTI_RECORD_TASK_RUN && kind <= VTI_RECORD_TASK_END) {
        vti_tasks_take(process, record, data, len);
        return;
    }
    if (kind == VTI_RECORD_STEP || kind == VTI_RECORD_STEP_TEXT) {
        vti_steps_take(process, &stream->step_text, record, data, len);
        return;
    }
    if (kind >= VTI_RECORD_KINDS || !kinds[kind])
        return;
    event.ticks = ticks;
    event.kind = kinds[kind];
    event.flags = (uint8_t)VTI_TAG_FLAGS(record->tag);
    if (kind != VTI_RECORD_END && kind != VTI_RECORD_ERROR && kind != VTI_RECORD_ASYNC_END)
        event.site = vti_target_site(process, record->id);
    if (kind >= VTI_RECORD_ASYNC_BEGIN && len >= 8) {
        memcpy(&event.async_id, data, 8);
        data += 8;
        len -= 8;
    }
    if (kind == VTI_RECORD_TRACE_BEGIN && len >= sizeof event.trace) {
        event.has_trace = true;
        memcpy(&event.trace, data, sizeof event.trace);
        process->traced++;
    }
    if (kind == VTI_RECORD_ERROR)
        add_error(&event, data, len);
    else
        add_value(&event, VTI_TAG_TYPE(record->tag), data, len);
    if (kind == VTI_RECORD_BEGIN)
        stream->spans++;
    if (kind >= VTI_RECORD_ASYNC_BEGIN && event.async_id)
        vti_carried_note(process, &event);
    vti_encoder_add(stream->encoder, &event);
}

/* Out of line: its buffer would burden the plain begins and ends. */
__attribute__((noinline)) static void add_unusual(struct vti_stream *stream,
                                                  struct vti_target *process,
                                                  const struct vti_record *record, uint64_t ticks,
                                                  const struct vti_record *payload)
{
    uint8_t data[VTI_PAYLOADS_MAX * VTI_PAYLOAD_DATA];
    uint32_t payloads = VTI_TAG_PAYLOADS(record->tag);
    int len = payloads <= VTI_PAYLOADS_MAX ? vti_payload_get(payload, payloads, data) : -1;

    if (len >= 0)
        add_other(stream, process, record, ticks, data, (size_t)len);
}

static uint32_t file_site(struct vti_target *process, uint32_t id)
{
    return id && id <= process->site_count ? process->sites[id] : vti_target_site(process, id);
}

/* `record` is our copy; its payload lies in the arena. */
static void add_record(struct vti_stream *stream, struct vti_target *process,
                       const struct vti_record *record, uint64_t ticks,
                       const struct vti_record *payload)
{
    switch (record->tag) {
    case VTI_TAG(VTI_RECORD_LAP, 0, 0, 0):
        vti_encoder_end(stream->encoder, ticks);
        /* fall through */
    case VTI_TAG(VTI_RECORD_BEGIN, 0, 0, 0):
        vti_encoder_begin(stream->encoder, ticks, file_site(process, record->id));
        stream->spans++;
        return;
    case VTI_TAG(VTI_RECORD_END, 0, 0, 0):
        vti_encoder_end(stream->encoder, ticks);
        return;
    default:
        add_unusual(stream, process, record, ticks, payload);
    }
}

/* A signal handler that ran inside a begin has recorded earlier times than the begin it interrupted:
 * the begin is moved before it. (An end that was interrupted is moved behind by the encoder.) */
static uint64_t begin_ticks(const struct vti_record *record, const struct vti_record *next)
{
    uint64_t ticks = next ? __atomic_load_n(&next->ticks, __ATOMIC_ACQUIRE) : 0;

    if (ticks && !(ticks & VTI_PAYLOAD_BIT) && ticks < record->ticks &&
        VTI_TAG_KIND(record->tag) == VTI_RECORD_BEGIN)
        return ticks;
    return record->ticks;
}

/* An empty record lies in the way. True: step over it; false: come back later. */
static bool may_skip(struct vti_stream *stream, struct vti_target *process, bool is_linked,
                     uint64_t now_ns, bool is_final)
{
    if (is_final)
        return true;
    if (!is_linked)
        return false;
    /* The block was left, so a hook was interrupted between taking and filling this record. It may
     * still be filled when the signal handler returns; the block is never used again in case it is. */
    if (!stream->stuck_ns)
        stream->stuck_ns = now_ns;
    if (now_ns - stream->stuck_ns < STUCK_LIMIT_NS)
        return false;
    stream->stuck_ns = 0;
    stream->is_retired = true;
    vti_recorder_loss(process->recorder,
                      &(struct vti_loss_fact){.reason = VTI_LOSS_BUFFERS,
                                              .process_plus_one = process->fact.process + 1,
                                              .track_plus_one = stream->track + 1,
                                              .events = 1,
                                              .first = vti_encoder_first(stream->encoder),
                                              .last = vti_recorder_ticks(process->recorder)});
    return true;
}

static void cut_full(struct vti_stream *stream, struct vti_target *process)
{
    if (vti_encoder_pending(stream->encoder) >= VTI_BLOCK_EVENTS)
        vti_recorder_events(process->recorder, stream->encoder);
}

/* Reads the records of one stretch up to `end`. False: an unfinished record is in the way. */
static bool read_records(struct vti_stream *stream, struct vti_target *process,
                         const struct vti_record *records, uint32_t end, bool is_linked,
                         uint64_t now_ns, bool is_final)
{
    while (stream->position < end) {
        const struct vti_record *at = &records[stream->position];
        const struct vti_record *next = stream->position + 1 < end ? at + 1 : NULL;
        struct vti_record record;
        uint32_t step = 1;

        vti_record_get(at, &record);
        if (!record.ticks) {
            if (!may_skip(stream, process, is_linked, now_ns, is_final))
                return false;
        } else if (!(record.ticks & VTI_PAYLOAD_BIT)) {
            step += VTI_TAG_PAYLOADS(record.tag);
            if (stream->position + step > end)
                step = 1;
            else
                add_record(stream, process, &record, begin_ticks(&record, next), at + 1);
        }
        if (record.ticks)
            stream->stuck_ns = 0;
        stream->position += step;
        if (stream->position % CUT_CHECK == 0)
            cut_full(stream, process);
    }
    cut_full(stream, process);
    return true;
}

/* A stretch of records of one thread: a block, or the beginning of its slot. */
struct stretch {
    struct vti_record *records;
    uint32_t *next;
    uint32_t *used;
    uint32_t count;
};

static bool find_stretch(const struct vti_stream *stream, const struct vti_target *process,
                         uint32_t slot_at, struct stretch *stretch)
{
    struct vti_slot *slot = vti_arena_slot(process->arena, slot_at);
    struct vti_block *block;

    if (!stream->block) {
        *stretch = (struct stretch){slot->own, &slot->next, &slot->used, VTI_OWN_RECORDS};
        return true;
    }
    if (stream->block > process->block_count)
        return false; /* not an index that we know of */
    block = vti_arena_block(process->arena, stream->block - 1);
    if (!block)
        return false; /* the program has changed the number of its blocks */
    *stretch = (struct stretch){block->records, &block->next, &block->used, VTI_BLOCK_RECORDS};
    return true;
}

/* The own records are free to be written; a thread that waits for them in vti_ring_room() goes on. */
static void free_own(struct vti_slot *slot)
{
    __atomic_store_n(&slot->is_own_free, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&slot->is_waiting, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &slot->is_own_free, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void give_back(struct vti_stream *stream, struct vti_target *process, uint32_t slot_at,
                      const struct stretch *stretch, uint32_t used)
{
    if (!stream->is_retired) {
        memset(stretch->records, 0, used * sizeof *stretch->records);
        __atomic_store_n(stretch->next, 0, __ATOMIC_RELAXED);
        __atomic_store_n(stretch->used, 0, __ATOMIC_RELAXED);
        if (stream->block)
            vti_blocks_push(process->arena, stream->block - 1);
        else
            free_own(vti_arena_slot(process->arena, slot_at));
    }
    stream->is_retired = false;
}

/* How far a stretch may be read. Of own records that were read and not yet begun again nothing: the
 * note of what was lost meanwhile counts only when the loss is over, else a kill could split it. */
static uint32_t readable(const struct stretch *stretch, const struct vti_slot *slot, bool is_own,
                         uint32_t next, bool is_dead)
{
    bool is_losing = __atomic_load_n(&slot->is_losing, __ATOMIC_ACQUIRE);
    uint32_t used = __atomic_load_n(stretch->used, __ATOMIC_ACQUIRE);

    if (is_own && !next && is_losing && !used)
        return 0;
    return (next || is_dead) && used < stretch->count ? used : stretch->count;
}

uint64_t vti_stream_read(struct vti_stream *stream, struct vti_target *process, uint32_t slot_at,
                         uint64_t now_ns, bool is_final)
{
    struct vti_slot *slot = vti_arena_slot(process->arena, slot_at);
    bool is_dead = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == VTI_SLOT_DEAD;
    uint32_t most = is_final ? process->block_count + 2 : ROUND_STRETCHES;
    struct stretch stretch;
    uint64_t count = 0;

    for (uint32_t i = 0; i < most && find_stretch(stream, process, slot_at, &stretch); i++) {
        uint32_t next = __atomic_load_n(stretch.next, __ATOMIC_ACQUIRE);
        uint32_t before = stream->position;
        uint32_t end = readable(&stretch, slot, !stream->block, next, is_dead);
        bool is_done;

        is_done = read_records(stream, process, stretch.records, end, next != 0, now_ns, is_final);
        count += stream->position - before;
        if (!is_done || !next)
            break;
        give_back(stream, process, slot_at, &stretch, end);
        stream->block = next == VTI_NEXT_OWN ? 0 : next;
        stream->position = 0;
    }
    if (!vti_encoder_pending(stream->encoder))
        stream->pending_ns = 0;
    else if (!stream->pending_ns)
        stream->pending_ns = now_ns;
    return count;
}

void vti_stream_cut(struct vti_stream *stream, struct vti_target *process, uint64_t now_ns,
                    bool now)
{
    if (!vti_encoder_pending(stream->encoder))
        return;
    if (now || (stream->pending_ns && now_ns - stream->pending_ns >= PENDING_LIMIT_NS)) {
        vti_recorder_events(process->recorder, stream->encoder);
        stream->pending_ns = 0;
    }
}

void vti_stream_note_alive(struct vti_stream *stream, struct vti_target *process)
{
    if (!vti_encoder_depth(stream->encoder))
        return;
    stream->fact.end = vti_recorder_ticks(process->recorder);
    stream->fact.name = vti_bytes_of(stream->name);
    vti_recorder_track(process->recorder, &stream->fact);
}

/* A thread that ended while its records had nowhere to go left only their number. */
static void state_open_loss(struct vti_stream *stream, struct vti_target *process,
                            const struct vti_slot *slot)
{
    uint32_t at = __atomic_load_n(&slot->tally_at, __ATOMIC_ACQUIRE);
    struct vti_tally tally = slot->tallies[at & 1];
    struct vti_loss_fact loss = {.reason = VTI_LOSS_BUFFERS,
                                 .process_plus_one = process->fact.process + 1,
                                 .track_plus_one = stream->track + 1};

    if (!slot->is_losing || slot->loss_sequence == stream->loss_seen)
        return;
    for (uint32_t i = 0; i < VTI_SCRATCH_RECORDS && !(at & VTI_TALLY_HAS_SCRATCH); i++) {
        struct vti_record record;

        vti_record_get(&slot->scratch[i], &record);
        vti_tally_add(&tally, &record);
    }
    loss.events = tally.events;
    loss.first = tally.first;
    loss.last = tally.last;
    if (loss.events)
        vti_recorder_loss(process->recorder, &loss);
}

/* What the encoder could not keep since the last block that it made; that block stated the rest. */
static void state_dropped(struct vti_stream *stream, struct vti_target *process,
                          enum vti_loss_reason reason, uint64_t events)
{
    struct vti_loss_fact loss = {.reason = reason,
                                 .process_plus_one = process->fact.process + 1,
                                 .track_plus_one = stream->track + 1,
                                 .events = events,
                                 .first = stream->fact.start,
                                 .last = stream->fact.end};

    if (events)
        vti_recorder_loss(process->recorder, &loss);
}

/* Its own records are zero already. The scratch area is left alone if it was never used: clearing it
 * would first make its page. */
static void clear_slot(struct vti_slot *slot)
{
    if (slot->loss_sequence)
        memset(slot->scratch, 0, sizeof slot->scratch);
    memset(slot, 0, offsetof(struct vti_slot, own));
}

/* Prices are averages, so that of a thread that does nothing but call they can make more than its time. */
static void count_cost(const struct vti_stream *stream, struct vti_target *process)
{
    uint64_t lifetime = stream->fact.end > stream->fact.start
                            ? stream->fact.end - stream->fact.start
                            : 0;
    double cost = vti_target_cost(process, stream);

    process->thread_ticks += lifetime;
    process->cost_ticks += cost < (double)lifetime ? cost : (double)lifetime;
}

void vti_stream_finish(struct vti_stream *stream, struct vti_target *process, uint32_t slot_at,
                       uint64_t now_ns)
{
    struct vti_slot *slot = vti_arena_slot(process->arena, slot_at);
    uint64_t end = __atomic_load_n(&slot->end, __ATOMIC_RELAXED);
    struct stretch stretch;

    vti_stream_read(stream, process, slot_at, now_ns, true);
    state_open_loss(stream, process, slot);
    vti_stream_cut(stream, process, now_ns, true);
    stream->fact.end = end ? end : vti_recorder_ticks(process->recorder);
    memcpy(stream->name, slot->name, sizeof slot->name); /* it may have been given one since */
    stream->fact.name = vti_bytes_of(stream->name);
    vti_recorder_track(process->recorder, &stream->fact);
    vti_tree_write(&stream->tree, process, slot_at, stream->track, now_ns, true);
    process->calls += stream->tree.calls;
    process->line_events += stream->tree.line_events;
    count_cost(stream, process);
    vti_weights_add_tree(vti_recorder_weights(process->recorder), process, slot_at);
    vti_c_lines_take_thread(vti_recorder_c_lines(process->recorder), process, slot_at,
                            stream->track);
    vti_cpu_thread_end(process->cpu, slot_at);
    vti_tree_finish(&stream->tree, process, slot_at);
    state_dropped(stream, process, VTI_LOSS_BUFFERS, vti_encoder_take_dropped(stream->encoder));
    state_dropped(stream, process, VTI_LOSS_DEPTH, vti_encoder_take_too_deep(stream->encoder));
    process->spans += stream->spans;
    stream->is_retired = false; /* its thread is gone: nobody will fill that record any more */
    if (stream->block && !slot->is_own_free)
        memset(slot->own, 0, sizeof slot->own);
    if (find_stretch(stream, process, slot_at, &stretch))
        give_back(stream, process, slot_at, &stretch, stream->position);
    vti_encoder_free(stream->encoder);
    vti_buf_fini(&stream->step_text);
    memset(stream, 0, sizeof *stream);
    clear_slot(slot);
    vti_slots_push(process->arena, slot_at);
}
