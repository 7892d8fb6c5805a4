/*
 * info.c - what a recording says about itself: totals, hosts, processes, tracks, sites, losses,
 * damage.
 *
 * These read from tables that recording.c has filled. Ids that nobody defined get made-up entries.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

/* Counting and made-up names are put off until they are asked for; callers see no difference. */
static struct vt_recording *unlock(const vt_recording *recording)
{
    return (struct vt_recording *)recording;
}

static const char *clock_name(uint32_t type)
{
    static const char *const names[] = {"", "tsc", "monotonic", "arm"};

    return type < sizeof names / sizeof *names ? names[type] : "";
}

const char *vti_loss_reason_text(uint32_t reason)
{
    static const char *const texts[] = {"unknown",
                                        "buffers full",
                                        "too many threads",
                                        "disk full",
                                        "overwritten as asked",
                                        "writer gone",
                                        "damaged source",
                                        "cut out by slice",
                                        "stack too deep",
                                        "call tree full",
                                        "process not recorded",
                                        "lines full",
                                        "source too large",
                                        "no room for steps",
                                        "disk full: steps",
                                        "more than 4,096 sources of steps"};

    return texts[reason < sizeof texts / sizeof *texts ? reason : 0];
}

static int64_t duration_of(const struct vti_facts *facts)
{
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;

    for (uint32_t i = 0; i < facts->process_ids.count; i++) {
        const struct vti_process *process = &facts->processes[i];

        first = process->start_ns < first ? process->start_ns : first;
        last = process->end_ns > last ? process->end_ns : last;
    }
    for (uint32_t i = 0; i < facts->track_ids.count; i++) {
        const struct vti_track *track = facts->tracks[i];

        if (vti_blocks_count(track) == 0)
            continue;
        first = track->first_ns < first ? track->first_ns : first;
        last = track->last_ns > last ? track->last_ns : last;
    }
    return last > first ? last - first : 0;
}

/* Spans that a track begins with count too: a slice has them, and it is what a walk finds. */
static uint64_t spans_of(const vt_recording *recording, struct vti_track *track)
{
    uint64_t open = vti_blocks_depth(unlock(recording), track, 0);

    return open + track->blocks.begins - track->blocks.damaged_begins;
}

void vt_recording_info(const vt_recording *recording, struct vt_recording_info *info)
{
    const struct vti_facts *facts = &recording->facts;
    const struct vti_clock *clock = &facts->clocks.clocks[0];

    /* Short of memory, the totals are those of the tracks that could be looked at. */
    vti_recording_prepare(unlock(recording));
    memset(info, 0, sizeof *info);
    info->path = recording->path;
    memcpy(info->id, recording->header.id, sizeof info->id);
    info->is_closed = recording->is_closed;
    info->file_bytes = recording->map.size;
    for (uint32_t i = 0; i < facts->track_ids.count; i++) {
        const struct vti_blocks *blocks = &facts->tracks[i]->blocks;

        /* First, because it may come upon damage. */
        info->span_count += spans_of(recording, facts->tracks[i]);
        info->event_count += blocks->events - blocks->damaged_events;
    }
    info->lost_events = recording->end_lost_events > facts->lost_events ? recording->end_lost_events
                                                                        : facts->lost_events;
    info->block_count = recording->block_count;
    info->unknown_blocks = recording->unknown_blocks;
    info->start_realtime_ns = facts->clocks.start_realtime_ns;
    info->duration_ns = duration_of(facts);
    info->process_count = facts->process_ids.count;
    info->track_count = facts->track_ids.count;
    info->site_count = facts->site_ids.count;
    info->host_count = facts->host_ids.count;
    info->loss_count = (uint32_t)facts->loss_count;
    info->damage_count = (uint32_t)recording->damage.count;
    info->writer_version = facts->writer_version;
    info->policy = facts->policy;
    info->directory = facts->directory;
    info->command = facts->command;
    info->clock = clock_name(clock->type);
    info->ticks_per_ns = 1 / clock->ns_per_tick;
}

bool vt_recording_host(const vt_recording *recording, uint32_t at, struct vt_host_info *info)
{
    const struct vti_facts *facts = &recording->facts;
    const struct vti_host *host;

    if (at >= facts->host_ids.count)
        return false;
    host = &facts->hosts[at];
    *info = (struct vt_host_info){.id = host->id,
                                  .name = host->name,
                                  .os = host->os,
                                  .cpu = host->cpu,
                                  .cpu_count = host->cpu_count};
    for (size_t i = 0; i < facts->clocks.count; i++) {
        const struct vti_clock *clock = &facts->clocks.clocks[i];

        if (clock->host == host->id) {
            info->offset_ns = clock->link_ns;
            info->error_ns = (int64_t)clock->error_ns;
            break;
        }
    }
    return true;
}

static void fill_process(const struct vti_process *process, struct vt_process_info *info)
{
    const struct vti_process_fact *fact = &process->fact;

    *info = (struct vt_process_info){.id = fact->process,
                                     .host = fact->host,
                                     .pid = fact->pid,
                                     .parent_pid = fact->parent_pid,
                                     .parent = fact->parent_plus_one ? fact->parent_plus_one - 1
                                                                     : VT_NONE,
                                     .start_ns = process->start_ns,
                                     .end_ns = process->end_ns,
                                     .how = fact->how <= VT_END_EXEC ? fact->how : VT_END_UNKNOWN,
                                     .status = fact->status,
                                     .name = process->name,
                                     .command = process->command,
                                     .pair_ns = process->pair_ns,
                                     .inner_ns = process->inner_ns};
}

bool vt_recording_process(const vt_recording *recording, uint32_t at, struct vt_process_info *info)
{
    if (at >= recording->facts.process_ids.count)
        return false;
    fill_process(&recording->facts.processes[at], info);
    return true;
}

/* A name such as "site 12" that stays where it is. */
static const char *make_up(const vt_recording *recording, const char *what, uint32_t id)
{
    struct vti_facts *facts = &unlock(recording)->facts;
    char text[32];
    int is_new;
    int64_t at;

    snprintf(text, sizeof text, "%s %u", what, id);
    if (!facts->made_up && vti_map_create(&facts->made_up))
        return "";
    at = vti_map_add(facts->made_up, text, strlen(text), &is_new);
    return at < 0 ? "" : vti_map_key(facts->made_up, (uint32_t)at, NULL);
}

bool vt_recording_process_by_id(const vt_recording *recording, uint32_t id,
                                struct vt_process_info *info)
{
    int64_t at = vti_ids_find(&recording->facts.process_ids, id);

    if (at >= 0)
        return vt_recording_process(recording, (uint32_t)at, info);
    *info = (struct vt_process_info){.id = id, .parent = VT_NONE, .command = ""};
    info->name = id == VT_NONE ? "unknown process" : make_up(recording, "process", id);
    return true;
}

bool vt_recording_track(const vt_recording *recording, uint32_t at, struct vt_track_info *info)
{
    const struct vti_facts *facts = &recording->facts;
    struct vti_track *track;
    struct vti_clock *clock;
    uint64_t span_count;

    if (at >= facts->track_ids.count)
        return false;
    vti_recording_prepare(unlock(recording));
    track = facts->tracks[at];
    clock = vti_track_clock(unlock(recording), track);
    span_count = spans_of(recording, track);
    *info = (struct vt_track_info){
        .id = track->id,
        .process = track->process,
        .tid = track->tid,
        .name = track->is_defined ? track->name : make_up(recording, "track", track->id),
        .start_ns = track->start ? vti_clock_ns(clock, track->start) : track->first_ns,
        .end_ns = vti_track_end_ns(unlock(recording), track),
        .event_count = track->blocks.events - track->blocks.damaged_events,
        .span_count = span_count,
        .lost_events = track->lost_events,
        .deepest = track->blocks.deepest};
    return true;
}

bool vt_recording_track_by_id(const vt_recording *recording, uint32_t id,
                              struct vt_track_info *info)
{
    int64_t at = vti_ids_find(&recording->facts.track_ids, id);

    if (at >= 0)
        return vt_recording_track(recording, (uint32_t)at, info);
    *info = (struct vt_track_info){.id = id, .process = VT_NONE};
    info->name = make_up(recording, "track", id);
    return true;
}

static void fill_site(const struct vti_site *site, struct vt_site_info *info)
{
    *info = (struct vt_site_info){.id = site->id,
                                  .type = site->type <= VT_SITE_STEP ? (enum vt_site_type)site->type
                                                                     : VT_SITE_SPAN,
                                  .name = site->name,
                                  .function = site->function,
                                  .file = site->file,
                                  .unit = site->unit,
                                  .line = site->line};
}

bool vt_recording_site(const vt_recording *recording, uint32_t at, struct vt_site_info *info)
{
    if (at >= recording->facts.site_ids.count)
        return false;
    fill_site(&recording->facts.sites[at], info);
    return true;
}

bool vt_recording_site_by_id(const vt_recording *recording, uint32_t id, struct vt_site_info *info)
{
    int64_t at = vti_ids_find(&recording->facts.site_ids, id);

    if (at >= 0)
        return vt_recording_site(recording, (uint32_t)at, info);
    *info = (struct vt_site_info){.id = id, .function = "", .file = "", .unit = ""};
    info->name = make_up(recording, "site", id);
    return true;
}

bool vt_recording_loss(const vt_recording *recording, uint32_t at, struct vt_loss_info *info)
{
    const struct vti_facts *facts = &recording->facts;
    const struct vti_loss_fact *loss;
    uint32_t clock_at = 0;
    struct vti_clock *clock;

    if (at >= facts->loss_count)
        return false;
    loss = &facts->losses[at];
    *info = (struct vt_loss_info){
        .reason = vti_loss_reason_text(loss->reason),
        .process = loss->process_plus_one ? loss->process_plus_one - 1 : VT_NONE,
        .track = loss->track_plus_one ? loss->track_plus_one - 1 : VT_NONE,
        .events = loss->events,
        .is_lower_bound = loss->flags & 1};
    if (loss->process_plus_one) {
        int64_t process = vti_ids_find(&facts->process_ids, info->process);

        clock_at = process < 0 ? 0 : facts->processes[process].clock;
    } else if (loss->track_plus_one) {
        int64_t track = vti_ids_find(&facts->track_ids, info->track);

        clock_at = track < 0 ? 0 : facts->tracks[track]->clock;
    }
    clock = &unlock(recording)->facts.clocks.clocks[clock_at];
    info->begin_ns = vti_clock_ns(clock, loss->first);
    info->end_ns = vti_clock_ns(clock, loss->last);
    return true;
}

bool vt_recording_damage(const vt_recording *recording, uint32_t at, struct vt_damage_info *info)
{
    if (at >= recording->damage.count)
        return false;
    *info = recording->damage.items[at];
    return true;
}
