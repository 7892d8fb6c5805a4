/*
 * lines.c - the lines of one thread, from the arena into the recording. As in tree.c the thread goes on
 * counting while we read, and nothing of it is believed but that it is a number.
 */
#include "drain/snapshot.h"

#include "drain/target.h"
#include "format/lines.h"
#include "share/lines.h"

#include <string.h>
#include <venturi/hook.h>

static uint64_t since(const uint64_t *now, const uint64_t *begun)
{
    uint64_t events = vti_snapshot_load(now);
    uint64_t before = vti_snapshot_load(begun);

    return before < events ? events - before : 0;
}

static uint64_t cost_of(const struct vti_snapshot *snapshot, enum vt_language language)
{
    return vti_snapshot_load(
        &vti_arena_producer(snapshot->process->arena)->costs[language].pair_millis);
}

/* As many events of the line's own language as those of both have cost, where it calls the other one. */
static uint64_t weigh(const struct vti_snapshot *snapshot, uint64_t inner, uint64_t c_inner,
                      bool is_c)
{
    uint64_t own = is_c ? c_inner : inner - c_inner;
    uint64_t own_cost = cost_of(snapshot, is_c ? VT_LANGUAGE_C_LINE : VT_LANGUAGE_PYTHON_LINE);
    uint64_t other_cost = cost_of(snapshot, is_c ? VT_LANGUAGE_PYTHON_LINE : VT_LANGUAGE_C_LINE);
    double weighed;

    if (own == inner || c_inner > inner || !own_cost)
        return inner;
    weighed = (double)(inner - own) * (double)other_cost / (double)own_cost;
    return weighed < 1e18 ? own + (uint64_t)weighed : inner;
}

/* That of a line that is open has to be added: what it costs is ours too. */
static void state_inner(const struct vti_snapshot *snapshot, const struct vti_line *line,
                        struct vti_line_fact *fact)
{
    uint64_t begin = vti_snapshot_load(&line->begin);
    uint64_t inner = vti_snapshot_load(&line->inner);
    uint64_t c_inner = vti_snapshot_load(&line->c_inner);

    if (begin) {
        fact->open_plus_one = begin < snapshot->ticks ? snapshot->ticks - begin + 1 : 1;
        inner += since(&snapshot->slot->line_events, &line->begun);
        c_inner += since(&snapshot->slot->c_line_events, &line->c_begun);
    }
    fact->inner = weigh(snapshot, inner, c_inner, vti_snapshot_load32(&line->is_c) != 0);
}

static void write_line(struct vti_snapshot *snapshot, uint32_t unit, const struct vti_line *line)
{
    struct vti_line_fact fact;

    memset(&fact, 0, sizeof fact); /* gaps between its fields too: all of it goes into a digest */
    fact.node = unit;
    fact.line = vti_snapshot_load32(&line->line);
    fact.statement = vti_snapshot_load32(&line->statement);
    fact.time = vti_snapshot_load32(&line->is_mixed) ? VTI_LINE_MIXED : VTI_LINE_TIMED;
    fact.events = vti_snapshot_load(&line->events);
    fact.hits = vti_snapshot_load(&line->hits);
    fact.total = vti_snapshot_load(&line->total);
    fact.suspended = vti_snapshot_load(&line->suspended);
    fact.resumes = vti_snapshot_load(&line->resumes);
    fact.shortest_plus_one = vti_snapshot_load(&line->shortest);
    fact.longest = vti_snapshot_load(&line->longest);
    state_inner(snapshot, line, &fact);
    snapshot->line_events += fact.events;
    if (!fact.events && !fact.hits && !fact.resumes && !fact.total && !fact.open_plus_one &&
        !vti_snapshot_was_written(snapshot))
        return; /* not reached, or taken back before anybody saw it */
    fact.site = vti_target_site(snapshot->process, vti_snapshot_load32(&line->site));
    if (!fact.site || !vti_snapshot_is_changed(snapshot, &fact, sizeof fact))
        return;
    vti_line_write(&snapshot->batches[VTI_BATCH_LINES].entries, &fact);
    vti_snapshot_added(snapshot, VTI_BATCH_LINES);
}

static void write_callee(struct vti_snapshot *snapshot, const struct vti_line_callee *callee)
{
    struct vti_line_callee_fact fact;

    memset(&fact, 0, sizeof fact);
    fact.node = vti_snapshot_load32(&callee->line);
    fact.calls = vti_snapshot_load(&callee->calls);
    fact.total = vti_snapshot_load(&callee->total);
    if (!fact.node || (!fact.calls && !vti_snapshot_was_written(snapshot)))
        return;
    fact.site = vti_target_site(snapshot->process, vti_snapshot_load32(&callee->site));
    if (!fact.site || !vti_snapshot_is_changed(snapshot, &fact, sizeof fact))
        return;
    vti_line_callee_write(&snapshot->batches[VTI_BATCH_LINE_CALLEES].entries, &fact);
    vti_snapshot_added(snapshot, VTI_BATCH_LINE_CALLEES);
}

void vti_snapshot_line(struct vti_snapshot *snapshot, uint32_t type, uint32_t unit,
                       const uint8_t *at)
{
    if (type == VTI_CHUNK_LINES)
        write_line(snapshot, unit, (const struct vti_line *)at);
    else
        write_callee(snapshot, (const struct vti_line_callee *)at);
}

void vti_snapshot_line_durations(struct vti_snapshot *snapshot, uint32_t line,
                                 const struct vti_durations_unit *durations)
{
    struct vti_line_durations_fact fact = {.node = line};
    uint64_t sum = 0;

    vti_durations_copy(durations, fact.durations.counts);
    for (uint32_t i = 0; i < VTI_DURATION_BUCKETS; i++)
        sum += fact.durations.counts[i];
    if (!line || (!sum && !vti_snapshot_was_written(snapshot)) ||
        !vti_snapshot_is_changed(snapshot, fact.durations.counts, sizeof fact.durations.counts))
        return;
    vti_line_durations_write(&snapshot->batches[VTI_BATCH_LINE_DURATIONS].entries, &fact);
    vti_snapshot_added(snapshot, VTI_BATCH_LINE_DURATIONS);
}
