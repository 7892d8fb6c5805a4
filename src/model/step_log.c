/*
 * step_log.c - the STEPS blocks of a recording, entry by entry.
 *
 * A recording that was closed lists its blocks at its end, another one is walked over as far as it was scanned. Everything in it is
 * untrusted: ids index nothing, and a place that somebody has kept may lead anywhere.
 */
#include "model/step_log.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/json_check.h"
#include "model/fact_blocks.h"

#include <string.h>

#define END_FIXED_BYTES 32 /* before the offsets */

void vti_step_log_init(struct vti_step_log *log, vt_recording *recording,
                       const struct vti_step_place *from)
{
    *log = (struct vti_step_log){.recording = recording};
    if (from)
        log->place = *from;
    log->place.offset = (log->place.offset + VTI_BLOCK_ALIGN - 1) &
                        ~(uint64_t)(VTI_BLOCK_ALIGN - 1);
    if (log->place.offset < VTI_FILE_HEADER_BYTES)
        log->place = (struct vti_step_place){VTI_FILE_HEADER_BYTES, 0};
}

void vti_step_log_fini(struct vti_step_log *log)
{
    vti_step_codec_fini(&log->codec);
    memset(log, 0, sizeof *log);
}

struct vti_step_place vti_step_log_place(const struct vti_step_log *log)
{
    return log->place;
}

/* ---- the next block ------------------------------------------------------------------------------ */

/* Offsets of the blocks that END lists; NULL: it has none that can be used. */
static const uint8_t *listed(const vt_recording *recording, uint64_t *count)
{
    const uint8_t *map = recording->map.data;
    struct vti_block_header header;
    struct vti_trailer trailer;
    const uint8_t *end;

    if (recording->is_scanned ||
        !vti_trailer_parse(map + recording->map.size - VTI_TRAILER_BYTES, &trailer) ||
        !vti_block_find(recording, trailer.end_offset, &header, &end) ||
        header.payload_bytes < END_FIXED_BYTES)
        return NULL;
    *count = vti_get_u32(end + 24);
    if (*count > (header.payload_bytes - END_FIXED_BYTES) / 8)
        *count = (header.payload_bytes - END_FIXED_BYTES) / 8;
    return end + END_FIXED_BYTES;
}

static bool is_steps(struct vti_step_log *log, uint64_t offset, const uint8_t **payload)
{
    return vti_block_find(log->recording, offset, &log->header, payload) &&
           log->header.kind == VTI_STEPS;
}

/* In a list: writers append, so offsets go up; where they do not, blocks before are left out. */
static bool find_listed(struct vti_step_log *log, const uint8_t *offsets, uint64_t count,
                        const uint8_t **payload)
{
    uint64_t low = 0;
    uint64_t high = count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (vti_get_u64(offsets + 8 * middle) < log->place.offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count; low++) {
        uint64_t offset = vti_get_u64(offsets + 8 * low);

        if (offset < log->place.offset || !is_steps(log, offset, payload))
            continue;
        if (offset > log->place.offset)
            log->place = (struct vti_step_place){offset, 0};
        return true;
    }
    return false;
}

/* What lies behind `scanned_to` may still be being written. */
static bool find_scanned(struct vti_step_log *log, const uint8_t **payload)
{
    const vt_recording *recording = log->recording;
    uint64_t end = recording->is_scanned ? recording->scanned_to : recording->map.size;

    while (log->place.offset < end) {
        uint64_t bytes = VTI_BLOCK_ALIGN;

        if (vti_block_find(recording, log->place.offset, &log->header, payload)) {
            if (log->header.kind == VTI_STEPS)
                return true;
            bytes = vti_block_bytes(&log->header);
        }
        log->place = (struct vti_step_place){log->place.offset + bytes, 0};
    }
    return false;
}

static void leave_block(struct vti_step_log *log)
{
    log->place = (struct vti_step_place){log->place.offset + vti_block_bytes(&log->header), 0};
    log->in_block = false;
}

static void spoil(struct vti_step_log *log)
{
    vti_damage_note_block(log->recording, &log->header,
                          log->recording->map.data + log->place.offset + VTI_BLOCK_HEADER_BYTES);
    leave_block(log);
}

/* The block at the place if it was begun, whatever a list says; else the next one. */
static bool find_block(struct vti_step_log *log, const uint8_t **payload)
{
    uint64_t count = 0;
    const uint8_t *offsets = listed(log->recording, &count);

    if (log->place.entry && is_steps(log, log->place.offset, payload))
        return true;
    return offsets ? find_listed(log, offsets, count, payload) : find_scanned(log, payload);
}

/* Opens it, and passes over what was read of it. */
static bool open_block(struct vti_step_log *log)
{
    struct vti_step_fact fact;
    const uint8_t *payload;

    while (find_block(log, &payload)) {
        log->in_block = true;
        log->generation = log->recording->generation;
        vti_step_codec_clear(&log->codec);
        vti_reader_init(&log->in, payload, log->header.payload_bytes);
        if (vti_crc32c(payload, log->header.payload_bytes) != log->header.payload_crc) {
            leave_block(log); /* on the list of damage already */
            continue;
        }
        if (!vti_steps_head_read(&log->in, &log->head)) {
            spoil(log);
            continue;
        }
        for (uint64_t i = 0; i < log->place.entry && i < log->header.count; i++)
            if (!vti_step_read(&log->in, &log->codec, &fact))
                break;
        return true;
    }
    return false;
}

/* ---- an entry ------------------------------------------------------------------------------------ */

static void fill_process(const vt_recording *recording, struct vti_step *step, uint32_t id,
                         struct vti_clock **clock)
{
    const struct vti_facts *facts = &recording->facts;
    int64_t at = vti_ids_find(&facts->process_ids, id);
    const struct vti_process *process = at < 0 ? NULL : &facts->processes[at];
    int64_t host = process ? vti_ids_find(&facts->host_ids, process->fact.host) : -1;

    step->process = id;
    step->host = host < 0 ? "" : facts->hosts[host].name;
    step->process_name = process ? process->name : "";
    step->pid = process ? process->fact.pid : 0;
    step->process_start_ns = process
                                 ? vti_ns_add(facts->clocks.start_realtime_ns, process->start_ns)
                                 : 0;
    *clock = &facts->clocks.clocks[process ? process->clock : 0];
}

static void fill_site(const vt_recording *recording, struct vti_step *step, uint32_t id)
{
    struct vt_site_info site;
    bool is_step;

    vt_recording_site_by_id(recording, id, &site);
    is_step = site.type == VT_SITE_STEP;
    step->site = id;
    step->source = site.name;
    step->prefix = is_step ? site.function : "";
    step->survey = is_step ? site.unit : "";
}

static void fill(struct vti_step_log *log, const struct vti_step_fact *fact, struct vti_step *step)
{
    struct vti_clock *clock;

    fill_process(log->recording, step, log->header.owner, &clock);
    fill_site(log->recording, step, fact->site);
    step->number = fact->number;
    step->received_ns = vti_steps_realtime(&log->head, fact->received);
    step->sent_ns = vti_steps_realtime(&log->head, fact->sent);
    step->begin_ns = vti_clock_ns(clock, fact->received);
    step->time_ns = vti_clock_ns(clock, fact->sent);
    step->is_failed = fact->is_failed;
    step->is_metrics = fact->is_metrics;
    step->is_cut = fact->is_cut;
    step->is_json = vti_json_are_members(fact->extra.data, fact->extra.len);
    step->messages = fact->messages;
    step->execute_ns = fact->execute_ns;
    step->pre_ns = fact->pre_ns;
    step->post_ns = fact->post_ns;
    step->produce_ns = fact->produce_ns;
    step->lag_ns = fact->lag_ns;
    step->extra = fact->extra;
}

int vti_step_log_next(struct vti_step_log *log, struct vti_step *step)
{
    struct vti_step_fact fact;

    for (;;) {
        if (log->in_block && log->generation != log->recording->generation)
            log->in_block = false;
        if (!log->in_block && !open_block(log))
            return 0;
        if (log->place.entry >= log->header.count) {
            if (vti_reader_left(&log->in))
                spoil(log);
            else
                leave_block(log);
            continue;
        }
        if (!vti_step_read(&log->in, &log->codec, &fact)) {
            if (log->codec.extra.failed)
                return vti_fail(VTI_E_NOMEM, "%s: out of memory", log->recording->path);
            spoil(log);
            continue;
        }
        log->place.entry++;
        if (fact.type != VTI_STEP_DONE)
            continue;
        fill(log, &fact, step);
        return 1;
    }
}

/* ---- all of them --------------------------------------------------------------------------------- */

bool vti_loss_is_of_steps(uint32_t reason)
{
    return reason == VTI_LOSS_STEPS || reason == VTI_LOSS_STEPS_DISK ||
           reason == VTI_LOSS_STEPS_SOURCES;
}

uint64_t vti_steps_lost(const vt_recording *recording)
{
    const struct vti_facts *facts = &recording->facts;
    uint64_t lost = 0;

    for (size_t i = 0; i < facts->loss_count; i++)
        if (vti_loss_is_of_steps(facts->losses[i].reason))
            lost = vti_add_capped(lost, facts->losses[i].events);
    return lost;
}

uint64_t vti_steps_sourceless(const vt_recording *recording)
{
    const struct vti_facts *facts = &recording->facts;
    uint64_t lost = 0;

    for (size_t i = 0; i < facts->loss_count; i++)
        if (facts->losses[i].reason == VTI_LOSS_STEPS_SOURCES)
            lost = vti_add_capped(lost, facts->losses[i].events);
    return lost;
}

/* Each step has a site before its first entry. */
bool vti_steps_are_there(const vt_recording *recording)
{
    const struct vti_facts *facts = &recording->facts;

    for (uint32_t i = 0; i < facts->site_ids.count; i++)
        if (facts->sites[i].type == VTI_SITE_STEP)
            return true;
    return false;
}
