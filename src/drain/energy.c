/*
 * energy.c - a meter whose readings go into the recording.
 *
 * Runs in the drainer's loop. What sources say is written as it is, cumulative; shares are worked out by who reads it. A flight
 * recorder forgets readings as it forgets events, not what they are of.
 */
#include "drain/energy.h"

#include "format/energy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include <venturi/energy.h>

#define NOTES_MOST 64

struct vti_energy_feed {
    struct vti_recorder *recorder;            /* borrowed */
    vt_energy *meter;                         /* owned; NULL: there is none */
    uint32_t told;                            /* sources that were written */
    double unknown_s[VTI_ENERGY_SOURCES_MAX]; /* when it was last known */
    bool has_rest;                            /* it was measured … */
    struct vti_energy_fact rest;              /* … so */
    char *why;                                /* owned: there is no meter */
    size_t advice;                            /* that was written */
    struct vti_buf entries;                   /* of the block to come */
    uint32_t count;
    uint64_t ticks; /* of the last reading in it */
};

/* ---- blocks ---------------------------------------------------------------------------------- */

static void add(struct vti_energy_feed *feed, const struct vti_energy_fact *fact)
{
    vti_energy_fact_write(&feed->entries, fact);
    feed->count++;
}

static void write_block(struct vti_energy_feed *feed, bool is_forgettable)
{
    struct vti_block_header header = {
        .kind = VTI_ENERGY, .count = feed->count, .last = feed->ticks};

    if (feed->count && !feed->entries.failed)
        vti_recorder_block(feed->recorder, &header, &feed->entries, is_forgettable);
    vti_buf_clear(&feed->entries);
    feed->count = 0;
    feed->ticks = 0;
}

void vti_energy_feed_cut(struct vti_energy_feed *feed)
{
    if (feed)
        write_block(feed, true);
}

/* ---- what it is ------------------------------------------------------------------------------ */

static void add_note(struct vti_energy_feed *feed, enum vti_energy_note about, const char *text)
{
    const struct vti_energy_fact fact = {
        .type = VTI_ENERGY_FACT_NOTE, .about = about, .text = vti_bytes_of(text)};

    add(feed, &fact);
}

static void add_machine(struct vti_energy_feed *feed)
{
    struct vti_energy_fact fact = {.type = VTI_ENERGY_FACT_MACHINE};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct sysinfo info;

    fact.cpus = cpus > 0 ? (uint32_t)cpus : 0;
    if (!sysinfo(&info))
        fact.memory_bytes = (uint64_t)info.totalram * info.mem_unit;
    add(feed, &fact);
}

static uint64_t thousandths(double value)
{
    return value > 0 && value < 1e15 ? (uint64_t)(value * 1e3 + 0.5) : 0;
}

static void add_source(struct vti_energy_feed *feed, uint32_t number)
{
    const struct vt_energy_source *source = vt_energy_source_get(feed->meter, number);
    const struct vti_energy_fact fact = {
        .type = VTI_ENERGY_FACT_SOURCE,
        .number = number,
        .part = source->part,
        .how = source->how,
        .inside_plus_one = source->inside >= 0 && source->inside < VTI_ENERGY_SOURCES_MAX
                               ? (uint32_t)source->inside + 1
                               : 0,
        .milliwatts = thousandths(source->watts),
        .idle_milliwatts = thousandths(source->idle_watts),
        .name = vti_bytes_of(source->name),
        .from = vti_bytes_of(source->from),
        .note = vti_bytes_of(source->note)};

    add(feed, &fact);
}

static uint32_t source_count(const struct vti_energy_feed *feed)
{
    size_t count = vt_energy_source_count(feed->meter);

    return count < VTI_ENERGY_SOURCES_MAX ? (uint32_t)count : VTI_ENERGY_SOURCES_MAX;
}

/* Those that are new, or all. They count from their first reading on. */
static void tell_sources(struct vti_energy_feed *feed, bool all)
{
    uint32_t count = source_count(feed);

    if (all ? !count : count == feed->told)
        return;
    write_block(feed, true);
    for (uint32_t i = all ? 0 : feed->told; i < count; i++)
        add_source(feed, i);
    if (vt_energy_source_count(feed->meter) > count)
        add_note(feed, VTI_ENERGY_NOTE_LIMIT, "more sources than a recording holds: 64 are kept");
    feed->told = count;
    write_block(feed, false);
}

/* What is new; the first of it, or NULL. */
static const char *tell_advice(struct vti_energy_feed *feed)
{
    const char *first = vt_energy_advice(feed->meter, feed->advice);
    const char *text;

    for (; feed->advice < NOTES_MOST && (text = vt_energy_advice(feed->meter, feed->advice));
         feed->advice++)
        add_note(feed, VTI_ENERGY_NOTE_ADVICE, text);
    return first;
}

struct vti_energy_feed *vti_energy_feed_create(struct vti_recorder *recorder)
{
    /* The CPU time of the program is in the resources. */
    const struct vt_energy_options options = {.size = sizeof options, .pid = -1};
    struct vti_energy_feed *feed = calloc(1, sizeof *feed);
    char why[512] = "";

    if (!feed)
        return NULL;
    feed->recorder = recorder;
    add_machine(feed);
    feed->meter = vt_energy_open(&options, why, sizeof why);
    if (feed->meter)
        tell_advice(feed);
    else
        add_note(feed, VTI_ENERGY_NOTE_FAILED, why);
    feed->why = feed->meter ? NULL : strdup(why);
    write_block(feed, false);
    if (feed->meter) {
        vt_energy_take(feed->meter, NULL);
        tell_sources(feed, false);
    }
    return feed;
}

void vti_energy_feed_again(struct vti_energy_feed *feed)
{
    if (!feed)
        return;
    write_block(feed, true);
    add_machine(feed);
    feed->advice = 0;
    if (feed->meter)
        tell_advice(feed);
    else
        add_note(feed, VTI_ENERGY_NOTE_FAILED, feed->why ? feed->why : "");
    if (feed->has_rest)
        add(feed, &feed->rest);
    write_block(feed, false);
    if (feed->meter)
        tell_sources(feed, true);
}

void vti_energy_feed_free(struct vti_energy_feed *feed)
{
    if (!feed)
        return;
    if (feed->meter)
        vt_energy_close(feed->meter);
    free(feed->why);
    vti_buf_fini(&feed->entries);
    free(feed);
}

/* ---- rest ------------------------------------------------------------------------------------ */

void vti_energy_feed_rest_begin(struct vti_energy_feed *feed)
{
    if (feed && feed->meter)
        vt_energy_baseline_begin(feed->meter);
}

void vti_energy_feed_rest(struct vti_energy_feed *feed)
{
    if (feed && feed->meter)
        vt_energy_take(feed->meter, NULL);
}

const char *vti_energy_feed_rest_end(struct vti_energy_feed *feed, uint64_t for_ns)
{
    struct vti_energy_fact fact = {.type = VTI_ENERGY_FACT_BASELINE, .for_ns = for_ns};
    struct vt_energy_sum sum;
    const char *advice;
    double watts;

    if (!feed || !feed->meter)
        return NULL;
    watts = vt_energy_baseline_end(feed->meter);
    vt_energy_take(feed->meter, &sum);
    fact.how = sum.idle_how;
    fact.microwatts = watts >= 0 && watts < 1e12 ? (uint64_t)(watts * 1e6 + 0.5) : 0;
    feed->has_rest = watts >= 0;
    feed->rest = fact;
    if (feed->has_rest)
        add(feed, &fact);
    else
        add_note(feed, VTI_ENERGY_NOTE_LIMIT, "rest was to be measured, and no source said enough");
    advice = tell_advice(feed);
    write_block(feed, false);
    return advice;
}

/* ---- readings -------------------------------------------------------------------------------- */

static void add_value(struct vti_energy_feed *feed, struct vti_energy_fact *fact, uint32_t number)
{
    const struct vt_energy_source *source = vt_energy_source_get(feed->meter, number);
    uint64_t bit = (uint64_t)1 << number;

    if (!source->is_known || source->is_over || !(source->joules >= 0 && source->joules < 1e12))
        return;
    fact->known |= bit;
    fact->microjoules[number] = (uint64_t)(source->joules * 1e6 + 0.5);
    if (source->unknown_s > feed->unknown_s[number])
        fact->lost |= bit;
    feed->unknown_s[number] = source->unknown_s;
}

void vti_energy_feed_take(struct vti_energy_feed *feed, uint64_t ticks)
{
    struct vti_energy_fact fact = {.type = VTI_ENERGY_FACT_READING};

    if (!feed || !feed->meter)
        return;
    vt_energy_take(feed->meter, NULL);
    tell_sources(feed, false);
    for (uint32_t i = 0; i < feed->told; i++)
        add_value(feed, &fact, i);
    fact.ticks = ticks - feed->ticks;
    feed->ticks = ticks;
    add(feed, &fact);
}

/* As the meter knows it best, from what the program left of the machine or from tables. */
static void tell_rest(struct vti_energy_feed *feed)
{
    struct vti_energy_fact fact = {.type = VTI_ENERGY_FACT_BASELINE};
    struct vt_energy_sum sum;

    vt_energy_take(feed->meter, &sum);
    if (feed->has_rest || sum.idle_how == VT_ENERGY_UNKNOWN || !(sum.idle_watts < 1e12))
        return;
    fact.how = sum.idle_how;
    fact.microwatts = (uint64_t)(sum.idle_watts * 1e6 + 0.5);
    add(feed, &fact);
    write_block(feed, false);
}

void vti_energy_feed_close(struct vti_energy_feed *feed)
{
    if (!feed || !feed->meter)
        return;
    write_block(feed, true);
    tell_rest(feed);
    tell_sources(feed, true);
}
