/*
 * copy_events.c - the events of recordings, decoded and encoded again with new sites.
 *
 * The encoder starts anew where the input has a gap, with the spans that the input's next block
 * says are open, so that a gap stays one. In a slice the first block begins with the spans that
 * were open at its start; events outside are counted.
 */
#include "base/error.h"
#include "export/copy.h"
#include "model/fact_blocks.h"

#include <stdlib.h>

#define FLUSH_BYTES (1u << 20)

struct job {
    struct vti_copy *copy;
    struct vti_copy_input *input;
    struct vti_track *track;
    bool is_told_again; /* the track has what stands in the file before, too */
    struct vti_walk walk;
    struct vti_encoder *encoder; /* owned; NULL: not begun, or after a gap */
    uint64_t next_block;         /* that comes if none is damaged */
    struct vti_open *stack;      /* owned; spans open in the input */
    size_t depth, capacity;
    struct vti_loss_fact damaged;
};

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Sites first: a block may only use what was described before it. */
static int cut(struct job *job)
{
    struct vti_copy *copy = job->copy;
    int code = 0;

    if (!job->encoder)
        return 0;
    if (copy->is_stopped && copy->is_stopped())
        return vti_fail(VTI_E_TIMEOUT, "%s: interrupted, not written", copy->path);
    code = vti_copy_sites_write(copy);
    if (!code)
        code = vti_writer_events(copy->writer, job->encoder);
    if (!code && vti_writer_buffered(copy->writer) >= FLUSH_BYTES)
        code = vti_writer_flush(copy->writer);
    return code;
}

static int end_stretch(struct job *job)
{
    int code = cut(job);

    vti_encoder_free(job->encoder);
    job->encoder = NULL;
    return code;
}

static int begin_stretch(struct job *job)
{
    uint32_t track = vti_renumber(&job->input->numbers->tracks, job->track->id);
    int code = vti_encoder_create(&job->encoder, track);

    for (size_t i = 0; i < job->depth && !code; i++) {
        uint32_t site;

        code = vti_copy_site(job->copy, job->input, job->stack[i].site, &site);
        if (!code)
            vti_encoder_open(job->encoder, job->stack[i].begin, site);
    }
    return code;
}

static bool has_site(const struct vti_event *event)
{
    return event->kind == VTI_EVENT_BEGIN || event->kind == VTI_EVENT_MARK ||
           event->kind == VTI_EVENT_COUNTER || event->kind == VTI_EVENT_ATTR ||
           event->kind == VTI_EVENT_ASYNC_BEGIN || event->kind == VTI_EVENT_ASYNC_ATTR;
}

static int write_event(struct job *job, struct vti_event *event)
{
    int code = has_site(event) ? vti_copy_site(job->copy, job->input, event->site, &event->site)
                               : 0;

    if (code)
        return code;
    vti_encoder_add(job->encoder, event);
    job->input->copied++;
    return vti_encoder_pending(job->encoder) >= VTI_BLOCK_EVENTS ? cut(job) : 0;
}

/* ---- slices ---------------------------------------------------------------------------------- */

/*
 * The first event of a track in a slice is due, or there is none: async spans that are open begin
 * here, and something must stand in the block if all that is there is a span that is open all the
 * time.
 */
static int enter_slice(struct job *job, bool has_event)
{
    uint64_t ticks = vti_clock_tick_at(job->walk.clock, job->input->from_ns);
    const struct vti_carried *carried = (const void *)job->input->carried.data;
    size_t count = job->input->carried.len / sizeof *carried;
    struct vti_event gap = {.ticks = ticks, .kind = VTI_EVENT_LOSS, .loss_reason = VTI_LOSS_SLICED};
    int code = begin_stretch(job);

    for (size_t i = 0; i < count && !code; i++) {
        struct vti_event event = carried[i].event;

        event.ticks = ticks;
        if (carried[i].track == job->track->id)
            code = write_event(job, &event);
    }
    if (!code && !has_event && job->depth && !vti_encoder_pending(job->encoder))
        code = write_event(job, &gap);
    return code;
}

/* ---- a track --------------------------------------------------------------------------------- */

static void note_damage(struct job *job, const struct vti_index_entry *entry)
{
    struct vti_loss_fact *loss = &job->damaged;

    if (!loss->events || entry->first < loss->first)
        loss->first = entry->first;
    if (entry->last > loss->last)
        loss->last = entry->last;
    loss->events += entry->events;
}

/* A block begins: goes on if its open stack is what we have, else a new stretch begins. */
static int meet_block(struct job *job)
{
    struct vti_index_entry entry;
    struct vti_open open;
    bool is_same = true;
    size_t count = 0;

    for (; job->next_block < job->walk.next - 1; job->next_block++) {
        vti_blocks_at(job->track, job->next_block, &entry);
        note_damage(job, &entry);
    }
    job->next_block = job->walk.next;
    while (vti_decoder_stack_next(&job->walk.decoder, &open.site, &open.begin) > 0) {
        is_same &= count < job->depth && job->stack[count].site == open.site &&
                   job->stack[count].begin == open.begin;
        if (vti_grow(&job->stack, count, &job->capacity, sizeof *job->stack))
            return VTI_E_NOMEM;
        job->stack[count++] = open;
    }
    is_same &= count == job->depth;
    job->depth = count;
    if (is_same || !job->encoder)
        return 0;
    return end_stretch(job) || begin_stretch(job) ? VTI_E_NOMEM : 0;
}

/* Follows the input's stack after the event was written. */
static int follow(struct job *job, unsigned kind, uint32_t site, uint64_t ticks)
{
    if (kind == VTI_EVENT_END && job->depth)
        job->depth--;
    if (kind != VTI_EVENT_BEGIN || job->depth >= VTI_STACK_MAX)
        return 0;
    if (vti_grow(&job->stack, job->depth, &job->capacity, sizeof *job->stack))
        return VTI_E_NOMEM;
    job->stack[job->depth++] = (struct vti_open){ticks, site};
    return 0;
}

static int take_event(struct job *job, struct vti_event *event)
{
    uint32_t site = event->site;
    int code = 0;

    if (event->kind == VTI_EVENT_END && !job->depth)
        return 0;
    if (job->is_told_again && event->ticks <= job->input->told_until)
        return 0;
    if (vti_clock_ns(job->walk.clock, event->ticks) < job->input->from_ns) {
        job->input->cut_before++;
        return follow(job, event->kind, site, event->ticks);
    }
    if (!job->encoder)
        code = enter_slice(job, true);
    if (!code)
        code = write_event(job, event);
    return code ? code : follow(job, event->kind, site, event->ticks);
}

/* Events of blocks that were not visited at all. */
static uint64_t count_blocks(const struct job *job, uint64_t from, uint64_t to)
{
    struct vti_index_entry entry;
    uint64_t events = 0;

    for (uint64_t i = from; i < to; i++) {
        vti_blocks_at(job->track, i, &entry);
        events += entry.events;
    }
    return events;
}

static int walk_track(struct job *job)
{
    struct vti_event event = {0};
    uint64_t given = 0; /* events of the block at hand */
    int code = 0;
    int got;

    while (!code && (got = vti_walk_next(&job->walk, &event)) != VTI_WALK_END) {
        if (got == VTI_WALK_BLOCK) {
            given = 0;
            code = meet_block(job);
            continue;
        }
        if (vti_clock_ns(job->walk.clock, event.ticks) >= job->input->to_ns) {
            job->input->cut_after += job->walk.entry.events - given;
            job->input->cut_after += count_blocks(job, job->walk.next,
                                                  vti_blocks_count(job->track));
            job->next_block = vti_blocks_count(job->track);
            break;
        }
        given++;
        code = take_event(job, &event);
    }
    return code;
}

static int write_damage(struct job *job)
{
    uint64_t end = vti_blocks_count(job->track);
    struct vti_index_entry entry;

    for (; job->next_block < end; job->next_block++) {
        vti_blocks_at(job->track, job->next_block, &entry);
        note_damage(job, &entry);
    }
    if (!job->damaged.events)
        return 0;
    job->input->damaged += job->damaged.events;
    job->damaged.reason = VTI_LOSS_DAMAGE;
    job->damaged.track_plus_one = vti_renumber(&job->input->numbers->tracks, job->track->id) + 1;
    return vti_copy_loss(job->copy, &job->damaged);
}

static int copy_one_track(struct job *job, struct vti_track *track)
{
    uint64_t first = vti_blocks_from_ns(job->input->recording, track, job->input->from_ns);
    uint64_t count = vti_blocks_count(track);
    int code;

    /* All was over before, but a span that never ended may reach into the range. */
    if (first == count && count &&
        vti_track_end_ns(job->input->recording, track) > job->input->from_ns)
        first--;
    job->track = track;
    job->is_told_again = job->input->told_until && vti_track_is_carried(track);
    job->depth = 0;
    job->damaged = (struct vti_loss_fact){0};
    job->next_block = first;
    job->input->cut_before += count_blocks(job, 0, first);
    vti_walk_init(&job->walk, job->input->recording, track, first, UINT64_MAX);
    code = walk_track(job);
    /* Nothing happened in the range, but spans may be open all the way through it. */
    if (!code && !job->encoder && job->input->from_ns != INT64_MIN &&
        (first < count || vti_copy_is_carried(job->input, track->id)))
        code = enter_slice(job, false);
    if (!code)
        code = end_stretch(job);
    vti_encoder_free(job->encoder);
    job->encoder = NULL;
    return code ? code : write_damage(job);
}

int vti_copy_events(struct vti_copy *copy, struct vti_copy_input *input)
{
    struct vti_facts *facts = &input->recording->facts;
    struct job job = {.copy = copy, .input = input};
    int code = 0;

    for (uint32_t i = 0; i < facts->track_ids.count && !code; i++)
        code = copy_one_track(&job, facts->tracks[i]);
    free(job.stack);
    if (code == VTI_E_NOMEM)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return code;
}
