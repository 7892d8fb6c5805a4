/*
 * fuzz_blocks.c - libFuzzer target: the payload of any kind of block, with a header that may not fit it.
 *
 * The first 28 bytes of the input become header fields, the rest the payload. Nothing may be read beyond
 * it; events that decode must encode again to a block that decodes to the same.
 */
#include "base/bytes.h"
#include "base/json_check.h"
#include "format/decode.h"
#include "format/encode.h"
#include "format/energy.h"
#include "format/facts.h"
#include "format/index.h"
#include "format/lines.h"
#include "format/resources.h"
#include "format/steps.h"
#include "format/tasks.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX 28

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Reads all bytes, so that a sanitizer sees those that are not there. */
static unsigned touch(struct vti_bytes bytes)
{
    unsigned sum = 0;

    require(bytes.data != NULL);
    for (size_t i = 0; i < bytes.len; i++)
        sum += (uint8_t)bytes.data[i];
    return sum;
}

static bool is_same(struct vti_bytes a, struct vti_bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static void require_same(const struct vti_event *a, const struct vti_event *b)
{
    require(a->ticks == b->ticks && a->kind == b->kind && a->flags == b->flags &&
            a->site == b->site);
    if (a->kind == VTI_EVENT_COUNTER || a->kind == VTI_EVENT_ATTR ||
        a->kind == VTI_EVENT_ASYNC_ATTR) {
        require(a->value.type == b->value.type);
        if (a->value.type == VTI_VALUE_TEXT)
            require(is_same(a->value.text, b->value.text));
        else if (a->value.type != VTI_VALUE_NONE)
            require(a->value.u == b->value.u);
    }
    if (a->kind == VTI_EVENT_ERROR)
        require(is_same(a->error_type, b->error_type) &&
                is_same(a->error_message, b->error_message));
    if (a->kind >= VTI_EVENT_ASYNC_BEGIN && a->kind <= VTI_EVENT_ASYNC_ATTR)
        require(a->async_id == b->async_id);
    if (a->kind == VTI_EVENT_ASYNC_BEGIN)
        require(a->has_trace == b->has_trace &&
                (!a->has_trace || memcmp(&a->trace, &b->trace, sizeof a->trace) == 0));
    if (a->kind == VTI_EVENT_LOSS)
        require(a->loss_reason == b->loss_reason && a->loss_events == b->loss_events &&
                a->loss_ticks == b->loss_ticks);
}

/* Decodes again, from the encoder's block, what the first decoder gives. */
static void compare(const struct vti_block_header *header, const uint8_t *payload,
                    const struct vti_block_header *again, const uint8_t *again_payload)
{
    struct vti_decoder first;
    struct vti_decoder second;
    struct vti_event a;
    struct vti_event b;
    struct vti_summary summary;
    uint32_t depth;

    require(vti_decoder_init(&first, header, payload) == 0);
    require(vti_decoder_init(&second, again, again_payload) == 0);
    require(vti_summary_parse(again, again_payload, &summary) == 0);
    depth = vti_decoder_stack_count(&second);
    while (vti_decoder_next(&first, &a) == 1) {
        if (a.kind == VTI_EVENT_END && depth == 0)
            continue;
        depth += a.kind == VTI_EVENT_BEGIN;
        depth -= a.kind == VTI_EVENT_END;
        require(vti_decoder_next(&second, &b) == 1);
        require_same(&a, &b);
    }
    require(vti_decoder_next(&second, &b) == 0);
}

static void fuzz_events(const struct vti_block_header *header, const uint8_t *payload)
{
    struct vti_encoder *encoder;
    struct vti_block_header again;
    struct vti_summary summary;
    struct vti_decoder decoder;
    struct vti_event event;
    struct vti_buf out = {0};
    uint64_t ticks = header->first;
    uint64_t begin;
    uint64_t previous = 0;
    uint32_t site;
    /* Skipped events may add up to a step that the encoder has to shorten. */
    bool is_exact = header->last - header->first < (uint64_t)1 << 62;

    vti_summary_parse(header, payload, &summary);
    if (vti_decoder_init(&decoder, header, payload))
        return;
    require(vti_encoder_create(&encoder, header->owner) == 0);
    while (vti_decoder_stack_next(&decoder, &site, &begin)) {
        require(begin <= header->first);
        is_exact = is_exact && begin >= previous;
        previous = begin;
        vti_encoder_open(encoder, begin, site);
    }
    while (vti_decoder_next(&decoder, &event) == 1) {
        require(event.ticks >= ticks && event.ticks <= header->last);
        ticks = event.ticks;
        vti_encoder_add(encoder, &event);
    }
    if (vti_encoder_cut(encoder, &out, &again, &summary) == 1 && is_exact &&
        vti_encoder_take_dropped(encoder) == 0 && vti_encoder_take_too_deep(encoder) == 0)
        compare(header, payload, &again, out.data + VTI_BLOCK_HEADER_BYTES);
    vti_buf_fini(&out);
    vti_encoder_free(encoder);
}

union fact {
    struct vti_meta_fact meta;
    struct vti_host_fact host;
    struct vti_process_fact process;
    struct vti_track_fact track;
    struct vti_clock_fact clock;
    struct vti_clock_link_fact link;
    struct vti_site_fact site;
    struct vti_loss_fact loss;
    struct vti_resource_fact resource;
    struct vti_line_fact line;
    struct vti_line_durations_fact durations;
    struct vti_line_callee_fact callee;
    struct vti_source_fact source;
};

static bool read_clock(struct vti_reader *in, struct vti_clock_fact *fact)
{
    struct vti_anchor anchor;
    bool is_read = vti_clock_read(in, fact);

    for (uint32_t i = 0; is_read && i < fact->anchor_count; i++)
        require(vti_anchor_read(in, &anchor)); /* the clock promised them */
    return is_read;
}

static bool read_resource(struct vti_reader *in, struct vti_resource_fact *fact)
{
    bool is_read = vti_resource_read(in, fact);

    if (is_read && fact->type == VTI_RESOURCE_PROCESS) {
        touch(fact->name);
        touch(fact->command);
    }
    require(!is_read || !(fact->known >> VTI_RESOURCE_COUNT));
    return is_read;
}

static bool read_source(struct vti_reader *in, struct vti_source_fact *fact)
{
    if (!vti_source_read(in, fact))
        return false;
    touch((struct vti_bytes){fact->file, fact->file_len});
    touch((struct vti_bytes){fact->text, fact->text_len});
    return true;
}

/* One entry of a block of lines or sources. */
static bool read_line_fact(uint8_t kind, struct vti_reader *in, union fact *fact)
{
    switch (kind) {
    case VTI_LINES:
        return vti_line_read(in, &fact->line);
    case VTI_LINE_DURATIONS:
        return vti_line_durations_read(in, &fact->durations);
    case VTI_LINE_CALLEES:
        return vti_line_callee_read(in, &fact->callee);
    case VTI_SOURCES:
        return read_source(in, &fact->source);
    default:
        return false;
    }
}

/* One entry of any other block. */
static bool read_fact(uint8_t kind, struct vti_reader *in, union fact *fact)
{
    switch (kind) {
    case VTI_META:
        return vti_meta_read(in, &fact->meta) &&
               touch(fact->meta.key) + touch(fact->meta.value) + 1;
    case VTI_HOST:
        return vti_host_read(in, &fact->host) && touch(fact->host.cpu) + 1;
    case VTI_PROCESS:
        return vti_process_read(in, &fact->process) && touch(fact->process.command) + 1;
    case VTI_TRACK:
        return vti_track_read(in, &fact->track) && touch(fact->track.name) + 1;
    case VTI_CLOCK:
        return read_clock(in, &fact->clock);
    case VTI_CLOCK_LINK:
        return vti_clock_link_read(in, &fact->link);
    case VTI_SITES:
        return vti_site_read(in, &fact->site) && touch(fact->site.unit) + 1;
    case VTI_LOSSES:
        return vti_loss_read(in, &fact->loss);
    case VTI_RESOURCES:
        return read_resource(in, &fact->resource);
    default:
        return read_line_fact(kind, in, fact);
    }
}

static void fuzz_facts(uint8_t kind, const uint8_t *payload, size_t bytes)
{
    union fact fact;
    struct vti_reader in;

    vti_reader_init(&in, payload, bytes);
    while (vti_reader_left(&in) && read_fact(kind, &in, &fact)) {
    }
}

/* What was read of tasks and edges, written and read again, is the same. */
struct again {
    struct vti_task_codec first, second, third; /* of the payload; of `out`: writing, reading */
    struct vti_buf out;
    struct vti_reader in, from;
};

static void same_task(struct again *again, const struct vti_task_fact *fact)
{
    struct vti_task_fact other;

    vti_task_write(&again->out, &again->second, fact);
    vti_reader_init(&again->from, again->out.data, again->out.len);
    require(vti_task_read(&again->from, &again->third, &other));
    require(fact->type == other.type && fact->run == other.run && fact->number == other.number);
    require(fact->start == other.start && fact->end == other.end && fact->ready == other.ready);
    require(fact->freed == other.freed && fact->ticks == other.ticks);
    require(fact->bytes == other.bytes && fact->cpu_ns == other.cpu_ns);
    if (fact->type == VTI_TASK_TASK)
        require(is_same(fact->key, other.key) && fact->key.len <= VTI_TASK_KEY_BYTES);
    else
        require(is_same(fact->text, other.text));
}

static void same_edges(struct again *again, const struct vti_edges_fact *fact)
{
    struct vti_edges_fact other;

    vti_edges_write(&again->out, &again->second, fact);
    vti_reader_init(&again->from, again->out.data, again->out.len);
    require(vti_edges_read(&again->from, &again->third, &other));
    require(fact->run == other.run && fact->number == other.number && fact->count == other.count);
    require(fact->before == other.before);
    require(!fact->count || !memcmp(fact->dependencies, other.dependencies,
                                    fact->count * sizeof *fact->dependencies));
}

/* False: no entry that parses is left. */
static bool fuzz_entry(struct again *again, uint8_t kind)
{
    struct vti_task_fact task;
    struct vti_edges_fact edges;

    vti_buf_clear(&again->out);
    if (kind == VTI_EDGES) {
        if (!vti_edges_read(&again->in, &again->first, &edges))
            return false;
        same_edges(again, &edges);
    } else {
        if (!vti_task_read(&again->in, &again->first, &task))
            return false;
        if (task.type < VTI_TASK_RUN || task.type > VTI_TASK_RUN_END)
            return true;
        same_task(again, &task);
    }
    require(!vti_reader_left(&again->from));
    return true;
}

static void fuzz_tasks(uint8_t kind, const uint8_t *payload, size_t bytes)
{
    struct again again = {0};

    vti_reader_init(&again.in, payload, bytes);
    while (vti_reader_left(&again.in) && fuzz_entry(&again, kind)) {
    }
    vti_task_codec_fini(&again.first);
    vti_task_codec_fini(&again.second);
    vti_task_codec_fini(&again.third);
    vti_buf_fini(&again.out);
}

static void same_step(const struct vti_step_fact *a, const struct vti_step_fact *b)
{
    require(a->site == b->site && a->number == b->number && a->messages == b->messages);
    require(a->received == b->received && a->sent == b->sent);
    require(a->execute_ns == b->execute_ns && a->pre_ns == b->pre_ns && a->post_ns == b->post_ns);
    require(a->produce_ns == b->produce_ns && a->lag_ns == b->lag_ns);
    require(a->is_failed == b->is_failed && a->is_metrics == b->is_metrics);
    require(a->is_cut == b->is_cut && (a->is_cut || is_same(a->extra, b->extra)));
}

static void fuzz_steps(const uint8_t *payload, size_t bytes)
{
    struct vti_step_codec first = {0}, second = {0}, third = {0};
    struct vti_steps_head head;
    struct vti_step_fact fact;
    struct vti_step_fact again;
    struct vti_buf out = {0};
    struct vti_reader in;
    struct vti_reader from;

    vti_reader_init(&in, payload, bytes);
    if (!vti_steps_head_read(&in, &head))
        return;
    while (vti_reader_left(&in) && vti_step_read(&in, &first, &fact)) {
        if (fact.type != VTI_STEP_DONE)
            continue;
        require(fact.extra.len <= VTI_STEP_EXTRA_MAX && fact.received <= fact.sent);
        require(vti_steps_realtime(&head, fact.sent) >= 0);
        vti_json_are_members(fact.extra.data, fact.extra.len);
        vti_buf_clear(&out);
        vti_step_write(&out, &second, &fact);
        vti_reader_init(&from, out.data, out.len);
        require(vti_step_read(&from, &third, &again) && !vti_reader_left(&from));
        same_step(&fact, &again);
    }
    vti_step_codec_fini(&first);
    vti_step_codec_fini(&second);
    vti_step_codec_fini(&third);
    vti_buf_fini(&out);
}

/* What was read, written and read again, is the same. */
static void fuzz_energy(const uint8_t *payload, size_t bytes)
{
    struct vti_energy_fact fact;
    struct vti_energy_fact again;
    struct vti_buf out = {0};
    struct vti_reader in;
    struct vti_reader from;

    vti_reader_init(&in, payload, bytes);
    while (vti_reader_left(&in) && vti_energy_fact_read(&in, &fact)) {
        if (fact.type < VTI_ENERGY_FACT_SOURCE || fact.type > VTI_ENERGY_FACT_MACHINE)
            continue;
        require(fact.number < VTI_ENERGY_SOURCES_MAX && !(fact.lost & ~fact.known));
        vti_buf_clear(&out);
        vti_energy_fact_write(&out, &fact);
        vti_reader_init(&from, out.data, out.len);
        require(vti_energy_fact_read(&from, &again) && !vti_reader_left(&from));
        require(fact.type == again.type && fact.tree == again.tree && fact.ticks == again.ticks);
        require(fact.known == again.known && fact.lost == again.lost);
        require(!memcmp(fact.microjoules, again.microjoules, sizeof fact.microjoules));
        if (fact.type == VTI_ENERGY_FACT_SOURCE)
            require(is_same(fact.name, again.name) && is_same(fact.note, again.note) &&
                    fact.inside_plus_one == again.inside_plus_one);
        if (fact.type == VTI_ENERGY_FACT_NOTE)
            require(is_same(fact.text, again.text));
    }
    vti_buf_fini(&out);
}

static void fuzz_cpu(const uint8_t *payload, size_t bytes)
{
    struct vti_cpu_fact fact;
    struct vti_reader in;

    vti_reader_init(&in, payload, bytes);
    while (vti_reader_left(&in) && vti_cpu_fact_read(&in, &fact))
        ;
}

static void fuzz_index(const struct vti_block_header *header, const uint8_t *payload)
{
    struct vti_index_entry entry;
    struct vti_index_node node;
    struct vti_index index;
    struct vti_lane lane;

    if (vti_index_open(&index, header, payload))
        return;
    for (uint64_t i = 0; i <= index.counts[0]; i++)
        vti_index_entry_at(&index, i, &entry);
    for (uint32_t level = 1; level <= index.level_count; level++)
        for (uint64_t i = 0; level < index.level_count && i <= index.counts[level]; i++) {
            vti_index_node_at(&index, level, i, &node);
            for (uint32_t k = 0; k <= node.lane_count; k++)
                vti_index_lane_at(&node, k, &lane);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vti_block_header header;
    struct vti_file_header file_header;
    struct vti_trailer trailer;
    uint8_t *payload;

    vti_file_header_parse(data, size, &file_header);
    vti_block_header_parse(data, size, &header);
    if (size >= VTI_TRAILER_BYTES)
        vti_trailer_parse(data, &trailer);
    if (size < PREFIX)
        return 0;
    header = (struct vti_block_header){
        .kind = data[0],
        .flags = data[1],
        .summary_bytes = vti_get_u16(data + 2),
        .count = vti_get_u32(data + 4),
        .owner = vti_get_u32(data + 8),
        .first = vti_get_u64(data + 12),
        .last = vti_get_u64(data + 20),
        .payload_bytes = (uint32_t)(size - PREFIX),
    };
    payload = malloc(header.payload_bytes + 1); /* ends where the payload ends */
    require(payload != NULL);
    memcpy(payload + 1, data + PREFIX, header.payload_bytes);
    if (header.kind == VTI_EVENTS)
        fuzz_events(&header, payload + 1);
    else if (header.kind == VTI_INDEX)
        fuzz_index(&header, payload + 1);
    else if (header.kind == VTI_TASKS || header.kind == VTI_EDGES)
        fuzz_tasks(header.kind, payload + 1, header.payload_bytes);
    else if (header.kind == VTI_ENERGY)
        fuzz_energy(payload + 1, header.payload_bytes);
    else if (header.kind == VTI_STEPS)
        fuzz_steps(payload + 1, header.payload_bytes);
    else if (header.kind == VTI_THREAD_CPU)
        fuzz_cpu(payload + 1, header.payload_bytes);
    else
        fuzz_facts(header.kind, payload + 1, header.payload_bytes);
    free(payload);
    return 0;
}
