/*
 * merge.c - several recordings become one.
 *
 * Every input keeps its clock domains. Inputs of one host that was not restarted in between share
 * its monotonic clock: a clock link says how their wall clocks differ. Others are aligned by their
 * wall clocks, unless a link in an input or an offset given by the user leads from one to the
 * other. The input that starts first comes first, so that the time of the result begins with it.
 */
#include "export/merge.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "export/merge_runs.h"
#include "format/facts.h"
#include "model/fact_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Wall clocks are set and slewed; boots of one host are further apart. */
#define SAME_BOOT_NS 2000000000

/* A host that was written, and the clock domain of it that came first. */
struct known_host {
    const struct vti_host *host; /* in the tables of its input */
    const struct vti_clock *clock;
    uint32_t number, domain;
};

struct job {
    const struct vti_merge *merge;
    struct vti_merge_source *sources; /* owned; as given */
    struct vti_merge_source **order;  /* owned; by start */
    struct vti_copy copy;
    struct known_host *hosts; /* owned */
    size_t host_count, host_capacity;
    struct vti_buf runs;  /* of spools, "a,b": what files of them are in the result */
    struct vti_buf links; /* of struct vti_clock_link_fact: those that we make */
};

static void warn(const struct job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(const struct job *job, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    job->merge->warn(text, job->merge->arg);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Files of a run in their order: what is told again has the later numbers. */
static int compare_starts(const void *left, const void *right)
{
    const struct vti_merge_source *a = *(const struct vti_merge_source *const *)left;
    const struct vti_merge_source *b = *(const struct vti_merge_source *const *)right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->run != b->run)
        return a->run < b->run ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int check_distinct(const struct job *job, size_t at)
{
    const struct vti_merge_source *source = &job->sources[at];

    if (vti_file_is_same(job->merge->output, source->given->path))
        return vti_fail(VTI_E_USAGE, "%s: is an input, so it cannot be the output too",
                        job->merge->output);
    for (size_t i = 0; i < at; i++)
        if (!memcmp(job->sources[i].recording->header.id, source->recording->header.id,
                    sizeof source->recording->header.id))
            return vti_fail(VTI_E_USAGE, "%s and %s are the same recording",
                            job->sources[i].given->path, source->given->path);
    return 0;
}

static int open_inputs(struct job *job)
{
    int code = 0;

    for (size_t i = 0; i < job->merge->count && !code; i++) {
        struct vti_merge_source *source = &job->sources[i];

        source->given = &job->merge->inputs[i];
        code = job->merge->open ? job->merge->open(source->given->path, &source->recording)
                                : vt_recording_open(&source->recording, source->given->path);
        if (!code)
            code = check_distinct(job, i);
        if (code)
            break;
        source->input.recording = source->recording;
        source->input.from_ns = INT64_MIN;
        source->input.to_ns = INT64_MAX;
        source->start_ns = vti_ns_add(source->recording->facts.clocks.start_realtime_ns,
                                      source->given->offset_ns);
        source->run = source;
        job->order[i] = source;
    }
    if (!code)
        code = vti_merge_runs(job->sources, job->merge->count, &job->runs);
    if (!code)
        qsort(job->order, job->merge->count, sizeof *job->order, compare_starts);
    return code;
}

/* ---- hosts and clocks ------------------------------------------------------------------------ */

static int64_t boot_ns(const struct vti_clock *clock)
{
    return (int64_t)(clock->anchors[0].realtime_ns - clock->anchors[0].monotonic_ns);
}

static const struct vti_clock *clock_of_host(const struct vti_facts *facts, uint32_t host)
{
    for (size_t i = 0; i < facts->clocks.count; i++)
        if (facts->clocks.clocks[i].host == host && facts->clocks.clocks[i].anchor_count)
            return &facts->clocks.clocks[i];
    return NULL;
}

static bool is_same_host(const struct known_host *known, const struct vti_host *host,
                         const struct vti_clock *clock)
{
    int64_t apart;

    /* What was imported does not say where it is from, and its ticks are of no boot. */
    if (!*host->os || !strcmp(host->name, VTI_HOST_IMPORTED))
        return false;
    if (!clock || !known->clock || clock->type != known->clock->type ||
        strcmp(known->host->name, host->name) || strcmp(known->host->os, host->os) ||
        strcmp(known->host->cpu, host->cpu) || known->host->cpu_count != host->cpu_count)
        return false;
    return !__builtin_sub_overflow(boot_ns(clock), boot_ns(known->clock), &apart) &&
           apart <= SAME_BOOT_NS && apart >= -SAME_BOOT_NS;
}

/* Both domains have the same monotonic clock under their wall clocks. */
static void link_boots(struct job *job, const struct known_host *known,
                       const struct vti_clock *clock, uint32_t domain)
{
    struct vti_clock_link_fact link = {
        .a = known->domain,
        .b = domain,
        .offset_ns = boot_ns(known->clock) - boot_ns(clock),
        .error_ns = (uint64_t)known->clock->anchors[0].error_ns + clock->anchors[0].error_ns,
    };

    vti_buf_add(&job->links, &link, sizeof link);
}

/* Hosts of the input that are known already get their number. */
static int meet_hosts(struct job *job, struct vti_merge_source *source)
{
    const struct vti_facts *facts = &source->recording->facts;
    struct vti_copy_input *input = &source->input;

    for (uint32_t i = 0; i < facts->host_ids.count; i++) {
        const struct vti_host *host = &facts->hosts[i];
        const struct vti_clock *clock = clock_of_host(facts, host->id);
        uint32_t domain = clock ? vti_renumber(&input->numbers->domains, clock->id) : 0;
        size_t at = 0;

        while (at < job->host_count && !is_same_host(&job->hosts[at], host, clock))
            at++;
        if (at < job->host_count) {
            vti_renumber_as(&input->numbers->hosts, host->id, job->hosts[at].number);
            if (!source->given->has_offset)
                link_boots(job, &job->hosts[at], clock, domain);
            continue;
        }
        if (vti_grow(&job->hosts, job->host_count, &job->host_capacity, sizeof *job->hosts))
            return VTI_E_NOMEM;
        job->hosts[job->host_count++] = (struct known_host){
            host, clock, vti_renumber(&input->numbers->hosts, host->id), domain};
    }
    return 0;
}

static const struct vti_clock *origin_of(const struct vti_facts *facts)
{
    for (size_t i = 0; i < facts->clocks.count; i++)
        if (facts->clocks.clocks[i].anchor_count)
            return &facts->clocks.clocks[i];
    return &facts->clocks.clocks[0];
}

/* The user's offset holds for every domain of the input that no link of its own leads to. */
static void link_offset(struct job *job, struct vti_merge_source *source)
{
    struct vti_merge_source *first = &job->sources[0];
    const struct vti_clocks *clocks = &source->recording->facts.clocks;
    struct vti_clock_link_fact link = {
        .a = vti_renumber(&first->input.numbers->domains, origin_of(&first->recording->facts)->id)};

    for (size_t i = 0; i < clocks->count; i++) {
        const struct vti_clock *clock = &clocks->clocks[i];

        if (clock->is_linked && clock != origin_of(&source->recording->facts))
            continue;
        link.b = vti_renumber(&source->input.numbers->domains, clock->id);
        if (!__builtin_add_overflow(source->given->offset_ns, clock->link_ns, &link.offset_ns))
            vti_buf_add(&job->links, &link, sizeof link);
    }
}

/* ---- which clocks hang together
 * --------------------------------------------------------------- */

static uint32_t group_of(uint32_t *groups, uint32_t domain)
{
    while (groups[domain] != domain)
        domain = groups[domain] = groups[groups[domain]];
    return domain;
}

static void join(uint32_t *groups, uint32_t count, uint32_t a, uint32_t b)
{
    if (a < count && b < count)
        groups[group_of(groups, b)] = group_of(groups, a);
}

static void join_linked(struct job *job, uint32_t *groups, uint32_t count)
{
    const struct vti_clock_link_fact *links = (const struct vti_clock_link_fact *)(const void *)
                                                  job->links.data;

    for (size_t i = 0; i < job->links.len / sizeof *links; i++)
        join(groups, count, links[i].a, links[i].b);
    for (size_t s = 0; s < job->merge->count; s++) {
        struct vti_merge_source *source = &job->sources[s];
        const struct vti_clocks *clocks = &source->recording->facts.clocks;

        for (size_t i = 0; i < clocks->link_count; i++)
            join(groups, count, vti_renumber(&source->input.numbers->domains, clocks->links[i].a),
                 vti_renumber(&source->input.numbers->domains, clocks->links[i].b));
        /* Domains of one host have one wall clock. */
        for (size_t i = 0; i < clocks->count; i++)
            for (size_t k = 0; k < i; k++)
                if (clocks->clocks[k].host == clocks->clocks[i].host) {
                    join(groups, count,
                         vti_renumber(&source->input.numbers->domains, clocks->clocks[k].id),
                         vti_renumber(&source->input.numbers->domains, clocks->clocks[i].id));
                    break;
                }
    }
}

static int warn_unlinked(struct job *job)
{
    struct vti_merge_source *first = job->order[0];
    uint32_t count = job->copy.domain_count;
    uint32_t *groups = calloc((size_t)count + 1, sizeof *groups);
    uint32_t origin = vti_renumber(&first->input.numbers->domains,
                                   origin_of(&first->recording->facts)->id);

    if (!groups)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        groups[i] = i;
    join_linked(job, groups, count);
    for (size_t s = 1; s < job->merge->count; s++) {
        struct vti_merge_source *source = job->order[s];
        uint32_t domain = vti_renumber(&source->input.numbers->domains,
                                       origin_of(&source->recording->facts)->id);

        if (domain < count && group_of(groups, domain) != group_of(groups, origin))
            warn(job, "%s: no clock link to %s: aligned by their wall clocks, uncertainty unknown",
                 source->given->path, first->given->path);
    }
    free(groups);
    return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static unsigned long leaves_of(const vt_recording *recording)
{
    struct vti_bytes value;
    char text[16];
    unsigned long leaves;

    if (!vti_recording_meta(recording, "merged", &value) || value.len >= sizeof text)
        return 1;
    memcpy(text, value.data, value.len);
    text[value.len] = 0;
    leaves = strtoul(text, NULL, 10);
    return leaves > 1 && leaves < 1000000 ? leaves : 1;
}

static int write_entry(struct job *job, const char *key, struct vti_bytes value)
{
    return vti_copy_meta(&job->copy, &(struct vti_meta_fact){vti_bytes_of(key), value});
}

/* What was started is said by the input that the user named first. */
static int write_meta(struct job *job)
{
    static const char *const keys[] = {"command",        "directory",        "policy",
                                       "energy.country", "energy.intensity", "energy.pue",
                                       "energy.wue"};
    unsigned long leaves = 0;
    struct vti_bytes value;
    char text[24];
    int code = write_entry(job, "venturi", vti_bytes_of(VENTURI_VERSION));

    for (size_t i = 0; i < sizeof keys / sizeof *keys && !code; i++)
        if (vti_recording_meta(job->sources[0].recording, keys[i], &value))
            code = write_entry(job, keys[i], value);
    for (size_t i = 0; i < job->merge->count; i++)
        leaves += leaves_of(job->sources[i].recording);
    snprintf(text, sizeof text, "%lu", leaves);
    if (!code && job->runs.len)
        code = write_entry(
            job, "spool.runs",
            (struct vti_bytes){(const char *)job->runs.data, (uint32_t)job->runs.len});
    return code ? code : write_entry(job, "merged", vti_bytes_of(text));
}

static int write_facts(struct job *job)
{
    int code = 0;

    for (size_t i = 0; i < job->merge->count && !code; i++) {
        struct vti_merge_source *source = job->order[i];

        source->input.is_alone = i == 0;
        if (source->run != source)
            source->input.numbers = &source->run->input.own;
        code = vti_copy_input_start(&job->copy, &source->input);
        if (!code && source->run == source)
            code = meet_hosts(job, source);
        if (!code)
            code = vti_copy_facts(&job->copy, &source->input);
    }
    return code;
}

static int write_links(struct job *job)
{
    const struct vti_clock_link_fact *links;
    int code = 0;

    for (size_t i = 0; i < job->merge->count; i++)
        if (job->sources[i].given->has_offset && job->sources[i].run == &job->sources[i])
            link_offset(job, &job->sources[i]);
    if (job->links.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    links = (const struct vti_clock_link_fact *)(const void *)job->links.data;
    for (size_t i = 0; i < job->links.len / sizeof *links && !code; i++)
        code = vti_copy_link(&job->copy, &links[i]);
    return code;
}

/* Damage outside of event blocks may have held events too: how many nobody knows. */
static int write_damage(struct job *job, struct vti_merge_source *source)
{
    struct vt_recording *recording = source->recording;
    const struct vti_facts *facts = &recording->facts;
    struct vti_loss_fact loss = {.reason = VTI_LOSS_DAMAGE, .flags = 1, .first = UINT64_MAX};

    if (source->input.damaged || !recording->damage.count || !facts->process_ids.count)
        return 0;
    for (uint32_t i = 0; i < facts->track_ids.count; i++) {
        const struct vti_track *track = facts->tracks[i];

        if (track->process != facts->processes[0].fact.process || !vti_blocks_count(track))
            continue;
        loss.first = track->first < loss.first ? track->first : loss.first;
        loss.last = track->last > loss.last ? track->last : loss.last;
    }
    if (loss.first > loss.last)
        loss.first = loss.last;
    loss.process_plus_one = vti_renumber(&source->input.numbers->processes,
                                         facts->processes[0].fact.process) +
                            1;
    return vti_copy_loss(&job->copy, &loss);
}

static int write_events(struct job *job)
{
    int code = 0;

    for (size_t i = 0; i < job->merge->count && !code; i++) {
        struct vti_merge_source *source = job->order[i];
        const struct vt_recording *recording = source->recording;

        code = vti_copy_calls(&job->copy, &source->input);
        if (!code)
            code = vti_copy_lines(&job->copy, &source->input);
        if (!code)
            code = vti_copy_profile(&job->copy, &source->input);
        if (!code)
            code = vti_copy_resources(&job->copy, &source->input);
        if (!code)
            code = vti_copy_energy(&job->copy, &source->input);
        if (!code)
            code = vti_copy_tasks(&job->copy, &source->input);
        if (!code)
            code = vti_copy_steps(&job->copy, &source->input);
        if (!code)
            code = vti_copy_events(&job->copy, &source->input);
        if (!code)
            code = write_damage(job, source);
        if (!code && recording->damage.count)
            warn(job,
                 "%s: bytes %llu to %llu are damaged (%s), %zu range%s in all; the rest is merged",
                 source->given->path, (unsigned long long)recording->damage.items[0].begin_offset,
                 (unsigned long long)recording->damage.items[0].end_offset,
                 recording->damage.items[0].what, recording->damage.count,
                 recording->damage.count == 1 ? "" : "s");
        if (!code && recording->unknown_blocks)
            warn(job, "%s: %llu block(s) of a kind that this version does not know left out",
                 source->given->path, (unsigned long long)recording->unknown_blocks);
    }
    return code;
}

static int run(struct job *job, struct vti_writer_stats *stats)
{
    int code = open_inputs(job);

    if (!code)
        code = vti_copy_open(&job->copy, job->merge->output, job->merge->force,
                             job->merge->is_stopped);
    if (code)
        return code;
    code = write_meta(job);
    if (!code)
        code = write_facts(job);
    if (!code)
        code = write_links(job);
    if (!code)
        code = warn_unlinked(job);
    if (!code)
        code = write_events(job);
    if (!code)
        return vti_copy_commit(&job->copy, stats);
    vti_copy_abandon(&job->copy);
    return code;
}

int vti_merge(const struct vti_merge *merge, struct vti_writer_stats *stats)
{
    struct job job = {.merge = merge};
    int code = vti_fail(VTI_E_NOMEM, "out of memory");

    job.sources = calloc(merge->count, sizeof *job.sources);
    job.order = calloc(merge->count, sizeof *job.order);
    if (job.sources && job.order)
        code = run(&job, stats);
    for (size_t i = 0; job.sources && i < merge->count; i++) {
        vti_copy_input_fini(&job.sources[i].input);
        vt_recording_close(job.sources[i].recording);
    }
    free(job.sources);
    free(job.order);
    free(job.hosts);
    vti_buf_fini(&job.runs);
    vti_buf_fini(&job.links);
    return code;
}
