/*
 * copy.c - a recording that is made of others: its file, its facts, its sites. Events are in
 * copy_events.c.
 *
 * Input is hostile: an entry that does not parse ends its block, ids may be anything.
 */
#include "export/copy.h"

#include "base/error.h"
#include "model/fact_blocks.h"
#include "model/span_walk.h"

#include <stdlib.h>
#include <string.h>

int vti_copy_open(struct vti_copy *copy, const char *path, bool force, bool (*is_stopped)(void))
{
    int code;
    int fd;

    memset(copy, 0, sizeof *copy);
    copy->path = path;
    copy->is_stopped = is_stopped;
    code = vti_map_create(&copy->sites);
    if (!code)
        code = vti_map_create(&copy->sources);
    if (!code)
        code = vti_output_open(&copy->output, path, force, true);
    if (!code) {
        fd = vti_output_fd(copy->output);
        code = fd < 0 ? fd : vti_writer_create(&copy->writer, fd, path);
    }
    if (code)
        vti_copy_abandon(copy);
    return code;
}

static void copy_fini(struct vti_copy *copy)
{
    vti_map_free(copy->sites);
    vti_map_free(copy->sources);
    vti_buf_fini(&copy->source_texts);
    vti_buf_fini(&copy->new_sites);
    vti_buf_fini(&copy->entry);
    vti_buf_fini(&copy->key);
    memset(copy, 0, sizeof *copy);
}

void vti_copy_abandon(struct vti_copy *copy)
{
    if (copy->writer)
        vti_writer_abandon(copy->writer);
    vti_output_abandon(copy->output);
    copy_fini(copy);
}

int vti_copy_commit(struct vti_copy *copy, struct vti_writer_stats *stats)
{
    struct vti_writer *writer = copy->writer;
    struct vti_output *output = copy->output;
    const char *path = copy->path;
    uint64_t overwritten = copy->overwritten;
    int code = vti_writer_close(writer, stats);

    if (!code)
        stats->lost_events -= overwritten < stats->lost_events ? overwritten : stats->lost_events;
    copy_fini(copy);
    if (!code && stats->disk_lost)
        code = vti_fail(VTI_E_DISK_FULL, "%s: no space left on the disk", path);
    if (!code)
        return vti_output_commit(output);
    vti_output_abandon(output);
    return code;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The place of a new id's number, or of an old one's. */
static uint32_t *number_of(struct vti_renumber *renumber, uint32_t id, bool *is_new)
{
    uint32_t known = renumber->ids.count;
    int64_t at = vti_ids_find(&renumber->ids, id);

    *is_new = at < 0;
    if (at >= 0)
        return &renumber->numbers[at];
    if (vti_grow(&renumber->numbers, known, &renumber->capacity, sizeof *renumber->numbers) ||
        vti_ids_add(&renumber->ids, id) < 0) {
        renumber->failed = true;
        return NULL;
    }
    return &renumber->numbers[known];
}

uint32_t vti_renumber(struct vti_renumber *renumber, uint32_t id)
{
    bool is_new;
    uint32_t *number = number_of(renumber, id, &is_new);

    if (!number)
        return 0;
    if (is_new)
        *number = (*renumber->next)++;
    return *number;
}

void vti_renumber_as(struct vti_renumber *renumber, uint32_t id, uint32_t number)
{
    bool is_new;
    uint32_t *place = number_of(renumber, id, &is_new);

    if (place)
        *place = number;
}

static void carry(struct vti_copy_input *input, const struct vt_span *span)
{
    struct vti_carried carried = {.track = span->track,
                                  .event = {.kind = VTI_EVENT_ASYNC_BEGIN,
                                            .site = span->site,
                                            .async_id = span->async_id,
                                            .has_trace = span->has_trace}};

    memcpy(carried.event.trace.base, span->trace_base, sizeof span->trace_base);
    memcpy(carried.event.trace.span, span->trace_span, sizeof span->trace_span);
    memcpy(carried.event.trace.parent, span->trace_parent, sizeof span->trace_parent);
    vti_buf_add(&input->carried, &carried, sizeof carried);
    for (uint32_t i = 0; i < span->attr_count; i++) {
        if (!span->attrs[i].is_of_begin)
            continue;
        carried.event = (struct vti_event){.kind = VTI_EVENT_ASYNC_ATTR,
                                           .site = span->attrs[i].key,
                                           .async_id = span->async_id,
                                           .value = vti_event_value_of(&span->attrs[i].value)};
        vti_buf_add(&input->carried, &carried, sizeof carried);
    }
}

static int find_carried(struct vti_copy_input *input)
{
    struct vt_filter instant = {input->from_ns, input->from_ns + 1, VT_NONE};
    struct vti_span_walk *walk;
    struct vt_span span;
    int got = vti_span_walk_open(&walk, input->recording, &instant);

    if (got)
        return got;
    while ((got = vti_span_walk_next(walk, &span)) > 0)
        if (span.async_id && span.begin_ns < input->from_ns)
            carry(input, &span);
    vti_span_walk_close(walk);
    if (!got && input->carried.failed)
        got = vti_fail(VTI_E_NOMEM, "out of memory");
    return got;
}

bool vti_copy_is_carried(const struct vti_copy_input *input, uint32_t track)
{
    const struct vti_carried *carried = (const void *)input->carried.data;

    for (size_t i = 0; i < input->carried.len / sizeof *carried; i++)
        if (carried[i].track == track)
            return true;
    return false;
}

int vti_copy_input_start(struct vti_copy *copy, struct vti_copy_input *input)
{
    const struct vti_facts *facts = &input->recording->facts;
    int code;

    if (!input->numbers)
        input->numbers = &input->own;
    input->numbers->hosts.next = &copy->host_count;
    input->numbers->domains.next = &copy->domain_count;
    input->numbers->processes.next = &copy->process_count;
    input->numbers->tracks.next = &copy->track_count;
    input->numbers->trees.next = &copy->tree_count;
    input->first_host = copy->host_count;
    code = vti_recording_prepare(input->recording);
    /* In the reader's order, so that a copy of one recording keeps its numbers. */
    for (size_t i = 0; i < facts->clocks.count; i++)
        vti_renumber(&input->numbers->domains, facts->clocks.clocks[i].id);
    for (uint32_t i = 0; i < facts->process_ids.count; i++)
        vti_renumber(&input->numbers->processes, facts->processes[i].fact.process);
    for (uint32_t i = 0; i < facts->track_ids.count; i++)
        vti_renumber(&input->numbers->tracks, facts->tracks[i]->id);
    return code || input->from_ns == INT64_MIN ? code : find_carried(input);
}

static struct vti_renumber *renumber_at(struct vti_copy_numbers *numbers, unsigned at)
{
    struct vti_renumber *all[] = {&numbers->hosts, &numbers->domains, &numbers->processes,
                                  &numbers->tracks, &numbers->trees};

    return at < sizeof all / sizeof *all ? all[at] : NULL;
}

void vti_copy_input_fini(struct vti_copy_input *input)
{
    struct vti_renumber *renumber;

    vti_buf_fini(&input->carried);
    vti_ids_fini(&input->own.sites.ids);
    free(input->own.sites.numbers);
    for (unsigned i = 0; (renumber = renumber_at(&input->own, i)); i++) {
        vti_ids_fini(&renumber->ids);
        free(renumber->numbers);
    }
    memset(&input->own, 0, sizeof input->own);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* Writes what stands in `entry`. */
static int write_entry(struct vti_copy *copy, enum vti_kind kind, uint64_t first, uint64_t last)
{
    int code = vti_writer_facts(copy->writer, kind, &copy->entry, 1, first, last);

    vti_buf_clear(&copy->entry);
    return code;
}

int vti_copy_meta(struct vti_copy *copy, const struct vti_meta_fact *meta)
{
    vti_meta_write(&copy->entry, meta);
    return write_entry(copy, VTI_META, 0, 0);
}

int vti_copy_link(struct vti_copy *copy, const struct vti_clock_link_fact *link)
{
    vti_clock_link_write(&copy->entry, link);
    return write_entry(copy, VTI_CLOCK_LINK, 0, 0);
}

int vti_copy_loss(struct vti_copy *copy, const struct vti_loss_fact *loss)
{
    if (loss->reason == VTI_LOSS_OVERWRITTEN)
        copy->overwritten += loss->events;
    if (loss->reason != VTI_LOSS_SLICED)
        return vti_writer_loss(copy->writer, loss);
    vti_loss_write(&copy->entry, loss);
    return write_entry(copy, VTI_LOSSES, loss->first, loss->last);
}

static bool is_sliced(const struct vti_copy_input *input)
{
    return input->from_ns != INT64_MIN || input->to_ns != INT64_MAX;
}

static bool overlaps(const struct vti_copy_input *input, int64_t begin_ns, int64_t end_ns)
{
    return begin_ns < input->to_ns && end_ns >= input->from_ns;
}

static int copy_host(struct vti_copy *copy, struct vti_copy_input *input,
                     struct vti_host_fact *host)
{
    host->host = vti_renumber(&input->numbers->hosts, host->host);
    /* One that was written for an earlier input keeps what was said there. */
    if (host->host < input->first_host)
        return 0;
    vti_host_write(&copy->entry, host);
    return write_entry(copy, VTI_HOST, 0, 0);
}

static int copy_clock(struct vti_copy *copy, struct vti_copy_input *input,
                      struct vti_clock_fact *clock, struct vti_reader *in)
{
    struct vti_anchor *anchors = NULL;
    uint32_t count = 0;
    int code;

    if (clock->anchor_count > vti_reader_left(in) / 28) /* bytes of one */
        return 0;
    anchors = calloc((size_t)clock->anchor_count + 1, sizeof *anchors);
    if (!anchors)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    while (count < clock->anchor_count && vti_anchor_read(in, &anchors[count]))
        count++;
    clock->domain = vti_renumber(&input->numbers->domains, clock->domain);
    clock->host = vti_renumber(&input->numbers->hosts, clock->host);
    clock->anchor_count = count;
    clock->anchors = anchors;
    vti_clock_write(&copy->entry, clock);
    code = write_entry(copy, VTI_CLOCK, 0, 0);
    free(anchors);
    return code;
}

static const struct vti_process *find_process(const struct vti_copy_input *input, uint32_t id)
{
    const struct vti_facts *facts = &input->recording->facts;
    int64_t at = vti_ids_find(&facts->process_ids, id);

    return at < 0 ? NULL : &facts->processes[at];
}

static bool is_kept(const struct vti_copy_input *input, const struct vti_process *process)
{
    return process && overlaps(input, process->start_ns, process->end_ns);
}

/* In a slice, starts and ends outside of it are unknown: the result then covers its range only. */
static int copy_process(struct vti_copy *copy, struct vti_copy_input *input,
                        struct vti_process_fact *fact)
{
    const struct vti_process *known = find_process(input, fact->process);

    if (!is_kept(input, known))
        return 0;
    if (known->start_ns < input->from_ns)
        fact->start = 0;
    if (known->end_ns > input->to_ns)
        fact->end = 0;
    fact->process = vti_renumber(&input->numbers->processes, fact->process);
    fact->host = vti_renumber(&input->numbers->hosts, fact->host);
    fact->domain = vti_renumber(&input->numbers->domains, fact->domain);
    if (fact->parent_plus_one)
        fact->parent_plus_one = is_kept(input, find_process(input, fact->parent_plus_one - 1))
                                    ? vti_renumber(&input->numbers->processes,
                                                   fact->parent_plus_one - 1) +
                                          1
                                    : 0;
    vti_process_write(&copy->entry, fact);
    return write_entry(copy, VTI_PROCESS, fact->start, fact->end);
}

static int copy_track(struct vti_copy *copy, struct vti_copy_input *input,
                      struct vti_track_fact *fact)
{
    vt_recording *recording = input->recording;
    int64_t at = vti_ids_find(&recording->facts.track_ids, fact->track);
    struct vti_track *known = at < 0 ? NULL : recording->facts.tracks[at];

    if (known && input->told_until == UINT64_MAX && vti_track_is_carried(known))
        return 0;
    if (known && is_sliced(input)) {
        struct vti_clock *clock = vti_track_clock(recording, known);
        int64_t end_ns = vti_track_end_ns(recording, known);
        int64_t start_ns = known->start ? vti_clock_ns(clock, known->start) : known->first_ns;
        bool is_carried = vti_copy_is_carried(input, fact->track);

        if (!overlaps(input, start_ns, end_ns) && !is_carried)
            return 0;
        if (start_ns < input->from_ns)
            fact->start = 0;
        if (end_ns >= input->to_ns || is_carried) /* what is open there lasts to there */
            fact->end = vti_clock_tick_at(clock, input->to_ns);
    }
    fact->track = vti_renumber(&input->numbers->tracks, fact->track);
    fact->process = vti_renumber(&input->numbers->processes, fact->process);
    vti_track_write(&copy->entry, fact);
    return write_entry(copy, VTI_TRACK, fact->start, fact->end);
}

/* Without owner its ticks would be those of the first clock domain, which is another one now. */
static void give_owner(struct vti_copy_input *input, struct vti_loss_fact *loss)
{
    const struct vti_facts *facts = &input->recording->facts;

    if (!input->is_alone && !loss->process_plus_one && !loss->track_plus_one &&
        facts->process_ids.count)
        loss->process_plus_one = vti_renumber(&input->numbers->processes,
                                              facts->processes[0].fact.process) +
                                 1;
}

static int copy_loss(struct vti_copy *copy, struct vti_copy_input *input,
                     struct vti_loss_fact *loss)
{
    struct vti_facts *facts = &input->recording->facts;
    int64_t at = vti_ids_find(&facts->process_ids, loss->process_plus_one - 1);
    struct vti_clock *clock = &facts->clocks.clocks[0];

    if (loss->track_plus_one && !loss->process_plus_one) {
        at = vti_ids_find(&facts->track_ids, loss->track_plus_one - 1);
        if (at >= 0)
            clock = vti_track_clock(input->recording, facts->tracks[at]);
    } else if (loss->process_plus_one && at >= 0) {
        clock = &facts->clocks.clocks[facts->processes[at].clock];
    }
    if (is_sliced(input) &&
        !overlaps(input, vti_clock_ns(clock, loss->first), vti_clock_ns(clock, loss->last)))
        return 0;
    if (loss->process_plus_one)
        loss->process_plus_one = vti_renumber(&input->numbers->processes,
                                              loss->process_plus_one - 1) +
                                 1;
    if (loss->track_plus_one)
        loss->track_plus_one = vti_renumber(&input->numbers->tracks, loss->track_plus_one - 1) + 1;
    give_owner(input, loss);
    return vti_copy_loss(copy, loss);
}

struct facts_job {
    struct vti_copy *copy;
    struct vti_copy_input *input;
};

/* One entry: 0, a negative code, or 1 if it does not parse. */
static int copy_entry(const struct facts_job *job, unsigned kind, struct vti_reader *in)
{
    union {
        struct vti_host_fact host;
        struct vti_process_fact process;
        struct vti_track_fact track;
        struct vti_clock_fact clock;
        struct vti_clock_link_fact link;
        struct vti_loss_fact loss;
    } fact;

    switch (kind) {
    case VTI_HOST:
        return vti_host_read(in, &fact.host) ? copy_host(job->copy, job->input, &fact.host) : 1;
    case VTI_PROCESS:
        return vti_process_read(in, &fact.process)
                   ? copy_process(job->copy, job->input, &fact.process)
                   : 1;
    case VTI_TRACK:
        return vti_track_read(in, &fact.track) ? copy_track(job->copy, job->input, &fact.track) : 1;
    case VTI_CLOCK:
        return vti_clock_read(in, &fact.clock) ? copy_clock(job->copy, job->input, &fact.clock, in)
                                               : 1;
    case VTI_CLOCK_LINK:
        if (!vti_clock_link_read(in, &fact.link))
            return 1;
        fact.link.a = vti_renumber(&job->input->numbers->domains, fact.link.a);
        fact.link.b = vti_renumber(&job->input->numbers->domains, fact.link.b);
        return vti_copy_link(job->copy, &fact.link);
    case VTI_LOSSES:
        return vti_loss_read(in, &fact.loss) ? copy_loss(job->copy, job->input, &fact.loss) : 1;
    default:
        return 1;
    }
}

static int copy_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct vti_reader in;
    int code = 0;

    if (header->kind == VTI_META || header->kind == VTI_SITES)
        return 0;
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && !code; i++)
        code = copy_entry(arg, header->kind, &in);
    return code > 0 ? 0 : code;
}

/* Tracks of processes that nobody described: their ticks must stay those of the input's first
 * domain. */
static int make_owners(struct vti_copy *copy, struct vti_copy_input *input)
{
    const struct vti_facts *facts = &input->recording->facts;
    uint32_t domain = vti_renumber(&input->numbers->domains, facts->clocks.clocks[0].id);
    uint32_t host = vti_renumber(&input->numbers->hosts, facts->clocks.clocks[0].host);
    int code = 0;

    for (uint32_t i = 0; i < facts->track_ids.count && !code; i++) {
        const struct vti_track *track = facts->tracks[i];
        uint32_t owner = vti_renumber(&input->numbers->processes, track->process);
        struct vti_process_fact process = {.process = owner, .domain = domain, .host = host};
        struct vti_track_fact made = {.track = vti_renumber(&input->numbers->tracks, track->id),
                                      .process = owner};

        if (vti_ids_find(&facts->process_ids, track->process) >= 0)
            continue;
        process.name = vti_bytes_of("unknown process");
        vti_process_write(&copy->entry, &process);
        code = write_entry(copy, VTI_PROCESS, 0, 0);
        if (code || track->is_defined)
            continue;
        vti_track_write(&copy->entry, &made);
        code = write_entry(copy, VTI_TRACK, 0, 0);
    }
    return code;
}

int vti_copy_facts(struct vti_copy *copy, struct vti_copy_input *input)
{
    struct facts_job job = {copy, input};
    struct vti_renumber *renumber;
    int code = vti_fact_blocks(input->recording, copy_block, &job);

    if (!code)
        code = make_owners(copy, input);
    for (unsigned i = 0; !code && (renumber = renumber_at(input->numbers, i)); i++)
        if (renumber->failed)
            code = vti_fail(VTI_E_NOMEM, "out of memory");
    return code;
}
