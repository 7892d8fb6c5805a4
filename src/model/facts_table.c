/*
 * facts_table.c - hosts, processes, tracks, sites and losses of a recording, with strings of their
 * own.
 *
 * An id that is defined again takes the later meaning and keeps its place. Strings are copied,
 * because the mapping moves when the file grows. Nothing here looks at event blocks.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define POOL_CHUNK 65536

/* Room for `size` bytes that will not move, or NULL. */
static char *pool_take(struct vti_pool *pool, size_t size)
{
    size_t chunk = size > POOL_CHUNK / 4 ? size : POOL_CHUNK;
    char *memory;

    if (pool->count && size <= pool->size - pool->used) {
        memory = pool->chunks[pool->count - 1] + pool->used;
        pool->used += size;
        return memory;
    }
    if (vti_grow(&pool->chunks, pool->count, &pool->capacity, sizeof *pool->chunks))
        return NULL;
    memory = malloc(chunk);
    if (!memory)
        return NULL;
    pool->chunks[pool->count++] = memory;
    pool->size = chunk;
    pool->used = size;
    return memory;
}

void vti_facts_init(struct vti_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    facts->writer_version = facts->policy = facts->directory = facts->command = "";
}

/* A terminated copy. Without memory the text is empty: a recording without names still has its
 * times. */
static const char *keep(struct vti_facts *facts, struct vti_bytes text)
{
    char *copy = text.len ? pool_take(&facts->pool, text.len + 1) : NULL;

    if (!copy)
        return "";
    memcpy(copy, text.data, text.len);
    copy[text.len] = 0;
    return copy;
}

static bool is_plain(const char *text, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_@%+=:,./-";

    for (size_t i = 0; i < len; i++)
        if (!memchr(plain, text[i], sizeof plain - 1))
            return false;
    return len > 0;
}

static void add_quoted(struct vti_buf *out, const char *text, size_t len)
{
    if (is_plain(text, len)) {
        vti_buf_add(out, text, len);
        return;
    }
    vti_buf_add_u8(out, '\'');
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'')
            vti_buf_add_text(out, "'\\''");
        else
            vti_buf_add_u8(out, (uint8_t)text[i]);
    }
    vti_buf_add_u8(out, '\'');
}

/* Arguments separated by zero bytes become a line that a shell would take apart again. */
static const char *keep_command(struct vti_facts *facts, struct vti_bytes words)
{
    struct vti_buf line = {0};
    const char *kept;
    size_t at = 0;

    while (at < words.len) {
        const char *zero = memchr(words.data + at, 0, words.len - at);
        size_t len = zero ? (size_t)(zero - words.data) - at : words.len - at;

        if (at)
            vti_buf_add_u8(&line, ' ');
        add_quoted(&line, words.data + at, len);
        at += len + 1;
    }
    kept = keep(facts, (struct vti_bytes){(const char *)line.data, line.failed ? 0 : line.len});
    vti_buf_fini(&line);
    return kept;
}

static void take_meta(struct vti_facts *facts, const struct vti_meta_fact *fact)
{
    static const struct {
        const char *key;
        size_t at;
    } keys[] = {
        {"venturi", offsetof(struct vti_facts, writer_version)},
        {"policy", offsetof(struct vti_facts, policy)},
        {"directory", offsetof(struct vti_facts, directory)},
        {"command", offsetof(struct vti_facts, command)},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value;

        if (fact->key.len != strlen(keys[i].key) ||
            memcmp(fact->key.data, keys[i].key, fact->key.len))
            continue;
        value = !strcmp(keys[i].key, "command") ? keep_command(facts, fact->value)
                                                : keep(facts, fact->value);
        memcpy((char *)facts + keys[i].at, &value, sizeof value);
    }
}

static int take_host(struct vti_facts *facts, const struct vti_host_fact *fact)
{
    int64_t at;

    if (vti_grow(&facts->hosts, facts->host_ids.count, &facts->host_capacity, sizeof *facts->hosts))
        return VTI_E_NOMEM;
    at = vti_ids_add(&facts->host_ids, fact->host);
    if (at < 0)
        return (int)at;
    facts->hosts[at] = (struct vti_host){.id = fact->host,
                                         .name = keep(facts, fact->name),
                                         .os = keep(facts, fact->os),
                                         .cpu = keep(facts, fact->cpu),
                                         .cpu_count = fact->cpu_count};
    return 0;
}

static int take_process(struct vti_facts *facts, const struct vti_process_fact *fact)
{
    struct vti_process *process;
    int64_t at;

    if (vti_grow(&facts->processes, facts->process_ids.count, &facts->process_capacity,
                 sizeof *facts->processes))
        return VTI_E_NOMEM;
    at = vti_ids_add(&facts->process_ids, fact->process);
    if (at < 0)
        return (int)at;
    process = &facts->processes[at];
    memset(process, 0, sizeof *process);
    process->fact = *fact;
    process->fact.name = process->fact.command = (struct vti_bytes){0};
    process->name = keep(facts, fact->name);
    process->command = keep_command(facts, fact->command);
    return 0;
}

struct vti_track *vti_facts_track(struct vti_facts *facts, uint32_t id)
{
    int64_t at = vti_ids_find(&facts->track_ids, id);
    struct vti_track *track;

    if (at >= 0)
        return facts->tracks[at];
    if (vti_grow(&facts->tracks, facts->track_ids.count, &facts->track_capacity,
                 sizeof *facts->tracks))
        return NULL;
    track = calloc(1, sizeof *track);
    at = track ? vti_ids_add(&facts->track_ids, id) : -1;
    if (at < 0) {
        free(track);
        vti_fail(VTI_E_NOMEM, "out of memory");
        return NULL;
    }
    track->id = id;
    track->process = VT_NONE;
    track->name = "";
    facts->tracks[at] = track;
    return track;
}

static int take_track(struct vti_facts *facts, const struct vti_track_fact *fact)
{
    struct vti_track *track = vti_facts_track(facts, fact->track);

    if (!track)
        return VTI_E_NOMEM;
    track->is_defined = true;
    track->process = fact->process;
    track->tid = fact->tid;
    track->start = fact->start;
    track->end = fact->end;
    track->name = keep(facts, fact->name);
    return 0;
}

static int take_site(struct vti_facts *facts, const struct vti_site_fact *fact)
{
    int64_t at;

    if (vti_grow(&facts->sites, facts->site_ids.count, &facts->site_capacity, sizeof *facts->sites))
        return VTI_E_NOMEM;
    at = vti_ids_add(&facts->site_ids, fact->site);
    if (at < 0)
        return (int)at;
    facts->sites[at] = (struct vti_site){.id = fact->site,
                                         .type = fact->type,
                                         .line = fact->line,
                                         .same = fact->site,
                                         .name = keep(facts, fact->name),
                                         .function = keep(facts, fact->function),
                                         .file = keep(facts, fact->file),
                                         .unit = keep(facts, fact->unit)};
    facts->has_new_sites = true;
    return 0;
}

static int take_loss(struct vti_facts *facts, const struct vti_loss_fact *fact)
{
    if (vti_grow(&facts->losses, facts->loss_count, &facts->loss_capacity, sizeof *facts->losses))
        return VTI_E_NOMEM;
    facts->losses[facts->loss_count++] = *fact;
    if (fact->reason != VTI_LOSS_SLICED) /* cut away on purpose, by the user */
        facts->lost_events += fact->events;
    return 0;
}

static int take_clock(struct vti_facts *facts, const struct vti_clock_fact *fact,
                      struct vti_reader *in)
{
    int64_t at = vti_clock_add(&facts->clocks, fact);
    struct vti_anchor anchor;

    if (at < 0)
        return (int)at;
    for (uint32_t i = 0; i < fact->anchor_count; i++) {
        if (!vti_anchor_read(in, &anchor))
            return VTI_E_DAMAGED;
        if (vti_clock_add_anchor(&facts->clocks.clocks[at], &anchor))
            return VTI_E_NOMEM;
    }
    return 0;
}

/* One entry of the block. */
static int take_entry(struct vti_facts *facts, unsigned kind, struct vti_reader *in)
{
    union {
        struct vti_meta_fact meta;
        struct vti_host_fact host;
        struct vti_process_fact process;
        struct vti_track_fact track;
        struct vti_clock_fact clock;
        struct vti_clock_link_fact link;
        struct vti_site_fact site;
        struct vti_loss_fact loss;
    } fact;

    switch (kind) {
    case VTI_META:
        if (!vti_meta_read(in, &fact.meta))
            return VTI_E_DAMAGED;
        take_meta(facts, &fact.meta);
        return 0;
    case VTI_HOST:
        return vti_host_read(in, &fact.host) ? take_host(facts, &fact.host) : VTI_E_DAMAGED;
    case VTI_PROCESS:
        return vti_process_read(in, &fact.process) ? take_process(facts, &fact.process)
                                                   : VTI_E_DAMAGED;
    case VTI_TRACK:
        return vti_track_read(in, &fact.track) ? take_track(facts, &fact.track) : VTI_E_DAMAGED;
    case VTI_CLOCK:
        return vti_clock_read(in, &fact.clock) ? take_clock(facts, &fact.clock, in) : VTI_E_DAMAGED;
    case VTI_CLOCK_LINK:
        return vti_clock_link_read(in, &fact.link) ? vti_clock_add_link(&facts->clocks, &fact.link)
                                                   : VTI_E_DAMAGED;
    case VTI_SITES:
        return vti_site_read(in, &fact.site) ? take_site(facts, &fact.site) : VTI_E_DAMAGED;
    case VTI_LOSSES:
        return vti_loss_read(in, &fact.loss) ? take_loss(facts, &fact.loss) : VTI_E_DAMAGED;
    default:
        return 0;
    }
}

static bool is_of_facts(unsigned kind)
{
    return kind == VTI_META || kind == VTI_HOST || kind == VTI_PROCESS || kind == VTI_TRACK ||
           kind == VTI_CLOCK || kind == VTI_CLOCK_LINK || kind == VTI_SITES || kind == VTI_LOSSES;
}

int vti_facts_take(struct vti_facts *facts, const struct vti_block_header *header,
                   const uint8_t *payload)
{
    struct vti_reader in;
    int result = 0;

    if (!is_of_facts(header->kind))
        return 0;
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && !result; i++)
        result = take_entry(facts, header->kind, &in);
    return result;
}

static uint32_t clock_of_process(const struct vti_facts *facts, uint32_t process)
{
    int64_t at = vti_ids_find(&facts->process_ids, process);
    int64_t clock = at < 0 ? -1
                           : vti_ids_find(&facts->clocks.ids, facts->processes[at].fact.domain);

    return clock < 0 ? 0 : (uint32_t)clock;
}

static uint64_t first_tick_of_all(const struct vti_facts *facts)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t i = 0; i < facts->track_ids.count; i++)
        if (vti_blocks_count(facts->tracks[i]) && facts->tracks[i]->first < first)
            first = facts->tracks[i]->first;
    return first == UINT64_MAX ? 0 : first;
}

static void resolve_process(struct vti_facts *facts, struct vti_process *process)
{
    const struct vti_process_fact *fact = &process->fact;
    struct vti_clock *clock;

    process->clock = clock_of_process(facts, fact->process);
    clock = &facts->clocks.clocks[process->clock];
    process->pair_ns = (double)fact->pair_millis / 1000 * clock->ns_per_tick;
    process->inner_ns = (double)fact->inner_millis / 1000 * clock->ns_per_tick;
    process->start_ns = fact->start ? vti_clock_ns(clock, fact->start) : INT64_MAX;
    process->end_ns = fact->end ? vti_clock_ns(clock, fact->end) : INT64_MIN;
}

/* The track's times; they also bound its process where the facts do not. */
static void resolve_track(struct vti_facts *facts, struct vti_track *track)
{
    int64_t at = vti_ids_find(&facts->process_ids, track->process);
    struct vti_process *process = at < 0 ? NULL : &facts->processes[at];
    struct vti_clock *clock;

    track->clock = process ? process->clock : 0;
    track->pair_ns = process ? process->pair_ns : 0;
    track->inner_ns = process ? process->inner_ns : 0;
    clock = &facts->clocks.clocks[track->clock];
    track->first_ns = vti_clock_ns(clock, track->first);
    track->last_ns = vti_clock_ns(clock, track->last);
    if (!process || vti_blocks_count(track) == 0)
        return;
    if (!process->fact.start && track->first_ns < process->start_ns)
        process->start_ns = track->first_ns;
    if (!process->fact.end && track->last_ns > process->end_ns)
        process->end_ns = track->last_ns;
}

int vti_facts_resolve(struct vti_facts *facts, uint64_t created_ns)
{
    int result = vti_clocks_resolve(&facts->clocks, first_tick_of_all(facts), created_ns);

    if (!result && facts->has_new_sites)
        result = vti_sites_resolve(facts);
    if (result)
        return result;
    facts->has_new_sites = false;
    for (uint32_t i = 0; i < facts->process_ids.count; i++)
        resolve_process(facts, &facts->processes[i]);
    for (uint32_t i = 0; i < facts->track_ids.count; i++) {
        facts->tracks[i]->lost_events = 0;
        resolve_track(facts, facts->tracks[i]);
    }
    for (uint32_t i = 0; i < facts->process_ids.count; i++) {
        struct vti_process *process = &facts->processes[i];

        if (process->start_ns == INT64_MAX)
            process->start_ns = process->end_ns == INT64_MIN ? 0 : process->end_ns;
        if (process->end_ns < process->start_ns)
            process->end_ns = process->start_ns;
    }
    for (size_t i = 0; i < facts->loss_count; i++) {
        int64_t at = vti_ids_find(&facts->track_ids, facts->losses[i].track_plus_one - 1);

        if (facts->losses[i].track_plus_one && at >= 0 &&
            facts->losses[i].reason != VTI_LOSS_SLICED)
            facts->tracks[at]->lost_events += facts->losses[i].events;
    }
    return 0;
}

void vti_facts_fini(struct vti_facts *facts)
{
    for (uint32_t i = 0; i < facts->track_ids.count; i++) {
        vti_blocks_fini(&facts->tracks[i]->blocks);
        free(facts->tracks[i]);
    }
    for (size_t i = 0; i < facts->pool.count; i++)
        free(facts->pool.chunks[i]);
    free(facts->pool.chunks);
    free(facts->hosts);
    free(facts->processes);
    free(facts->tracks);
    free(facts->sites);
    free(facts->losses);
    vti_ids_fini(&facts->host_ids);
    vti_ids_fini(&facts->process_ids);
    vti_ids_fini(&facts->track_ids);
    vti_ids_fini(&facts->site_ids);
    vti_clocks_fini(&facts->clocks);
    vti_map_free(facts->made_up);
    memset(facts, 0, sizeof *facts);
}
