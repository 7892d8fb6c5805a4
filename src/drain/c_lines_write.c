/*
 * c_lines_write.c - lines of C, when the recording is closed: places and counters go to venturi-symbols, its answers become
 * facts, and the files that they speak of are put beside them.
 *
 * A sample counts once for each line that its stack stands on, however often.
 */
#include "drain/c_lines.h"
#include "drain/c_lines_files.h"

#include "base/bytes.h"
#include "drain/recorder.h"
#include "drain/symbols.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_NODE ((uint64_t)1 << 20) /* above those of any arena */
#define BATCH_BYTES 32768u
#define CHAIN_FIELDS 5 /* of each function in a chain */

/* How much of one line of one function on one track. */
struct sum {
    uint32_t track, site, line, last;
    uint64_t samples, ns;
    uint64_t own_ns; /* of it that in which no other line stood inside of it */
    uint64_t hits;
    uint64_t seen; /* the sample that was added last */
    bool is_sampled;
};

/* The lines that a place belongs to: from `first` on so many pairs of site and line. */
struct chain {
    uint32_t first, count;
};

struct writing {
    struct vti_c_lines *lines;
    struct vti_recorder *recorder;
    struct vti_map *places;     /* by site and offset */
    struct chain *chains;       /* of each of them, owned */
    struct vti_buf links;       /* u32 pairs: site, line */
    struct vti_map *keys;       /* by track, site, line and how it is known */
    struct vti_buf sums;        /* struct sum each */
    struct vti_map *files;      /* of which the text is wanted */
    struct vti_map *counted;    /* functions that were counted, by file and line; … */
    struct vti_buf counted_ids; /* … u32 each: their sites, 0 where there are several */
    const char *at, *end;       /* what is left of the answers */
};

/* ---- sites -------------------------------------------------------------------------------------- */

/* The site of a function by what is known about it: the one that its calls have, else a new one. 0: it has no lines. */
static uint32_t site_of(struct writing *all, struct vti_site_fact *site)
{
    int is_new = 0;
    int64_t at;

    if (vti_c_lines_is_of_system(site->file))
        return 0;
    site->type = VTI_SITE_FUNCTION;
    site->unit = vti_bytes_of("c");
    at = vti_c_lines_name(all->lines, site, &is_new);
    if (at < 0)
        return 0;
    if (is_new)
        vti_buf_add_u32(&all->lines->named_ids, vti_recorder_site(all->recorder, site, 0));
    if ((size_t)at >= all->lines->named_ids.len / sizeof(uint32_t))
        return 0;
    if (site->file.len && site->file.data[0] == '/')
        vti_map_add(all->files, site->file.data, site->file.len, &is_new);
    return vti_get_u32(all->lines->named_ids.data + (size_t)at * sizeof(uint32_t));
}

static int64_t place_index(const struct writing *all, const struct vti_site_fact *site, int *is_new)
{
    struct vti_buf key = {0};
    int64_t at = -1;

    vti_bytes_put(&key, site->file);
    vti_buf_add_varint(&key, site->line);
    if (!key.failed)
        at = is_new ? vti_map_add(all->counted, key.data, key.len, is_new)
                    : vti_map_find(all->counted, key.data, key.len);
    vti_buf_fini(&key);
    return at;
}

static void note_counted(struct writing *all, const struct vti_site_fact *site, uint32_t id)
{
    int is_new = 0;
    int64_t at = id ? place_index(all, site, &is_new) : -1;
    uint8_t *known;

    if (at < 0)
        return;
    if (is_new)
        vti_buf_add_u32(&all->counted_ids, id);
    if ((size_t)at >= all->counted_ids.len / sizeof id)
        return;
    known = all->counted_ids.data + (size_t)at * sizeof id;
    if (vti_get_u32(known) != id)
        memset(known, 0, sizeof id);
}

/* The site of a function by debug info, which knows some functions of C++ by half of their names: then it is the one
 * that was counted in its place. */
static uint32_t site_of_place(struct writing *all, struct vti_site_fact *site)
{
    int64_t at = vti_c_lines_name(all->lines, site, NULL) < 0 ? place_index(all, site, NULL) : -1;
    uint32_t id = 0;

    if (at >= 0 && (size_t)at < all->counted_ids.len / sizeof id)
        id = vti_get_u32(all->counted_ids.data + (size_t)at * sizeof id);
    return id ? id : site_of(all, site);
}

/* ---- questions ---------------------------------------------------------------------------------- */

/* "module+0x12f0" of a function that is known by its address only. */
static bool ask_place(const struct writing *all, struct vti_buf *text, uint32_t id, uint64_t offset)
{
    struct vti_site_fact site;
    const char *plus;
    char number[32] = "";

    if (!vti_recorder_get_site(all->recorder, id, &site))
        return false;
    plus = memrchr(site.name.data, '+', site.name.len);
    if (!plus || memchr(site.file.data, '\n', site.file.len) ||
        memchr(site.file.data, '\t', site.file.len) ||
        (size_t)(site.name.data + site.name.len - plus) >= sizeof number)
        return false;
    memcpy(number, plus + 1, (size_t)(site.name.data + site.name.len - plus - 1));
    vti_buf_add(text, site.file.data, site.file.len);
    vti_buf_add_u8(text, '\t');
    vti_buf_add(text, site.function.data, site.function.len);
    vti_buf_printf(text, "\t0x%llx\n", (unsigned long long)(strtoull(number, NULL, 16) + offset));
    return true;
}

static size_t sample_count(const struct writing *all)
{
    return all->lines->samples.len / sizeof(struct vti_c_sample);
}

static const struct vti_c_sample *sample_at(const struct writing *all, size_t at)
{
    return (const struct vti_c_sample *)all->lines->samples.data + at;
}

static int64_t place_of(const struct writing *all, const struct vti_c_sample *sample, int *is_new)
{
    uint64_t key[2] = {sample->site, sample->offset};

    return is_new ? vti_map_add(all->places, key, sizeof key, is_new)
                  : vti_map_find(all->places, key, sizeof key);
}

static void gather_places(const struct writing *all, struct vti_buf *text)
{
    for (size_t i = 0; i < sample_count(all); i++) {
        const struct vti_c_sample *sample = sample_at(all, i);
        int is_new = 0;

        if (place_of(all, sample, &is_new) >= 0 && is_new &&
            !ask_place(all, text, sample->site, sample->offset))
            vti_buf_add_u8(text, '\n'); /* answered by an empty line */
    }
}

/* ---- answers ------------------------------------------------------------------------------------ */

/* The next line of the answers; false at their end. */
static bool next_line(struct writing *all, struct vti_bytes *line)
{
    const char *end = all->at < all->end ? memchr(all->at, '\n', (size_t)(all->end - all->at))
                                         : NULL;

    if (!end)
        return false;
    *line = (struct vti_bytes){all->at, (size_t)(end - all->at)};
    all->at = end + 1;
    return true;
}

static struct vti_bytes next_field(struct vti_bytes *line)
{
    const char *tab = line->len ? memchr(line->data, '\t', line->len) : NULL;
    struct vti_bytes field = {line->data, tab ? (size_t)(tab - line->data) : line->len};

    line->data += field.len + (tab != NULL);
    line->len -= field.len + (tab != NULL);
    return field;
}

static uint64_t next_number(struct vti_bytes *line)
{
    struct vti_bytes field = next_field(line);
    uint64_t number = 0;

    for (size_t i = 0; i < field.len && field.data[i] >= '0' && field.data[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(field.data[i] - '0');
    return number;
}

static struct vti_site_fact next_function(struct vti_bytes *line)
{
    struct vti_site_fact site = {.name = next_field(line)};

    site.function = next_field(line);
    site.file = next_field(line);
    site.line = (uint32_t)next_number(line);
    return site;
}

static void take_chain(struct writing *all, struct chain *chain, struct vti_bytes line)
{
    chain->first = (uint32_t)(all->links.len / (2 * sizeof(uint32_t)));
    while (line.len) {
        struct vti_site_fact function = next_function(&line);
        uint32_t site = function.name.len ? site_of_place(all, &function) : 0;
        uint32_t number = (uint32_t)next_number(&line);

        if (!site)
            continue;
        vti_buf_add_u32(&all->links, site);
        vti_buf_add_u32(&all->links, number);
        chain->count++;
    }
}

static struct sum *sum_of(struct writing *all, uint32_t track, uint32_t site, uint32_t line,
                          bool is_sampled)
{
    const uint32_t key[4] = {track, site, line, is_sampled};
    int is_new = 0;
    int64_t at = vti_map_add(all->keys, key, sizeof key, &is_new);
    const struct sum fresh = {.track = track, .site = site, .line = line, .is_sampled = is_sampled};

    if (at < 0)
        return NULL;
    if (is_new)
        vti_buf_add(&all->sums, &fresh, sizeof fresh);
    if ((size_t)at >= all->sums.len / sizeof fresh)
        return NULL;
    return (struct sum *)all->sums.data + at;
}

/* "f": its counters' number, calls, last line, and what it is. The site that its lines belong to, 0: none. */
static uint32_t take_function(struct writing *all, struct vti_bytes line, uint32_t *track)
{
    uint64_t number = next_number(&line);
    uint64_t calls = next_number(&line);
    uint32_t last = (uint32_t)next_number(&line);
    struct vti_site_fact function = next_function(&line);
    uint32_t site = function.name.len ? site_of(all, &function) : 0;
    struct sum *sum;

    if (!site || number >= all->lines->tracks.len / sizeof(uint32_t))
        return 0;
    *track = vti_get_u32(all->lines->tracks.data + number * sizeof(uint32_t));
    if (calls)
        note_counted(all, &function, site);
    sum = calls ? sum_of(all, *track, site, 0, false) : NULL;
    if (sum) {
        sum->hits += calls;
        sum->last = last > sum->last ? last : sum->last;
    }
    return site;
}

/* "f" a function, "l" a line of the one before. */
static void take_counts(struct writing *all)
{
    struct vti_bytes line;
    uint32_t track = 0, site = 0;

    while (next_line(all, &line)) {
        struct vti_bytes what = next_field(&line);

        if (what.len == 1 && what.data[0] == 'f') {
            site = take_function(all, line, &track);
        } else if (what.len == 1 && what.data[0] == 'l' && site) {
            uint32_t number = (uint32_t)next_number(&line);
            struct sum *sum = number ? sum_of(all, track, site, number, false) : NULL;

            if (sum)
                sum->hits += next_number(&line);
        }
    }
}

/* ---- samples ------------------------------------------------------------------------------------ */

static bool is_timed(const struct writing *all, uint32_t site)
{
    const struct vti_c_lines *lines = all->lines;

    for (size_t i = 0; i < lines->timed.len; i += sizeof(uint32_t))
        if (vti_get_u32(lines->timed.data + i) == site)
            return true;
    return false;
}

static void add_to(struct writing *all, const struct vti_c_sample *sample, uint64_t number,
                   uint32_t site, uint32_t line, bool is_innermost)
{
    struct sum *sum = sum_of(all, sample->track, site, line, true);

    if (!sum || sum->seen == number)
        return;
    sum->seen = number;
    sum->samples += sample->samples;
    sum->ns += sample->ns;
    sum->own_ns += is_innermost ? sample->ns : 0;
}

/* From a place that samples met outwards. Parents come before their children; those of a track stand together. */
static void add_path(struct writing *all, const uint32_t *by_unit, size_t at)
{
    const struct vti_c_sample *met = sample_at(all, at);
    const struct vti_c_sample *sample = met;
    const uint64_t number = at + 1;
    bool is_innermost = true;

    for (;;) {
        int64_t place = place_of(all, sample, NULL);
        const struct chain *chain = place >= 0 ? &all->chains[place] : NULL;
        uint32_t parent = sample->parent;

        for (uint32_t i = 0; chain && i < chain->count; i++) {
            const uint8_t *link = all->links.data +
                                  (size_t)(chain->first + i) * 2 * sizeof(uint32_t);

            add_to(all, met, number, vti_get_u32(link), 0, false);
            if (!vti_get_u32(link + 4))
                continue;
            add_to(all, met, number, vti_get_u32(link), vti_get_u32(link + 4), is_innermost);
            is_innermost = false;
        }
        if (!parent || parent >= FIRST_NODE || !by_unit[parent] || by_unit[parent] - 1 >= at)
            return;
        at = by_unit[parent] - 1;
        sample = sample_at(all, at);
    }
}

static void add_samples(struct writing *all)
{
    uint32_t *by_unit = calloc(FIRST_NODE, sizeof *by_unit);
    size_t count = sample_count(all);

    for (size_t i = 0; by_unit && i < count; i++) {
        const struct vti_c_sample *sample = sample_at(all, i);

        if (i && sample->track != sample_at(all, i - 1)->track)
            memset(by_unit, 0, FIRST_NODE * sizeof *by_unit);
        if (sample->unit < FIRST_NODE)
            by_unit[sample->unit] = (uint32_t)i + 1;
        if (sample->samples)
            add_path(all, by_unit, i);
    }
    free(by_unit);
}

/* ---- facts -------------------------------------------------------------------------------------- */

static int by_track(const void *a, const void *b)
{
    const struct sum *left = a;
    const struct sum *right = b;

    if (left->track != right->track)
        return left->track < right->track ? -1 : 1;
    if (left->site != right->site)
        return left->site < right->site ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return (int)left->is_sampled - (int)right->is_sampled;
}

/* False: it is told by others. Events and calls of functions that are timed are counted there. */
static bool state_sum(struct writing *all, const struct sum *sum, struct vti_line_fact *fact)
{
    bool is_counted_there = is_timed(all, sum->site);

    fact->site = sum->site;
    fact->line = sum->line;
    fact->statement = sum->line ? sum->line : sum->last;
    fact->time = sum->is_sampled ? VTI_LINE_SAMPLED : VTI_LINE_UNTIMED;
    fact->events = is_counted_there ? 0 : sum->hits;
    fact->hits = is_counted_there && !sum->line ? 0 : sum->hits;
    fact->total = sum->ns;
    fact->inner = sum->samples;
    fact->longest = sum->own_ns;
    all->lines->hits += fact->line ? fact->events : 0;
    return !sum->is_sampled || !is_counted_there;
}

static void write_sums(struct writing *all)
{
    struct sum *sums = (struct sum *)all->sums.data;
    size_t count = all->sums.len / sizeof *sums;
    struct vti_buf batch = {0};
    uint32_t entries = 0;

    if (count)
        qsort(sums, count, sizeof *sums, by_track);
    for (size_t i = 0; i < count; i++) {
        struct vti_line_fact fact = {.node = FIRST_NODE + i};

        if (state_sum(all, &sums[i], &fact)) {
            vti_line_write(&batch, &fact);
            entries++;
        }
        if (entries &&
            (batch.len >= BATCH_BYTES || i + 1 == count || sums[i + 1].track != sums[i].track)) {
            vti_recorder_owned(all->recorder, VTI_LINES, sums[i].track, &batch, entries,
                               vti_recorder_ticks(all->recorder));
            vti_buf_clear(&batch);
            entries = 0;
        }
    }
    vti_buf_fini(&batch);
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static void read_answers(struct writing *all)
{
    uint32_t places = vti_map_count(all->places);
    const char *first = all->at;
    struct vti_bytes line;

    all->chains = calloc((size_t)places + 1, sizeof *all->chains);
    for (uint32_t i = 0; i < places && next_line(all, &line);)
        i++;
    take_counts(all); /* its names are whole */
    all->at = first;
    for (uint32_t i = 0; all->chains && i < places && next_line(all, &line); i++)
        take_chain(all, &all->chains[i], line);
    if (all->chains)
        add_samples(all);
}

void vti_c_lines_write(struct vti_c_lines *lines, struct vti_recorder *recorder)
{
    struct writing all = {.lines = lines, .recorder = recorder};
    struct vti_buf questions = {0};
    struct vti_buf answers = {0};

    if (!lines->samples.len && !lines->counters.len)
        return;
    if (vti_map_create(&all.places) || vti_map_create(&all.keys) || vti_map_create(&all.files) ||
        vti_map_create(&all.counted))
        goto out;
    gather_places(&all, &questions);
    if (vti_symbols_ask("lines", &questions, &lines->counters, &answers)) {
        all.at = (const char *)answers.data;
        all.end = all.at + answers.len;
        read_answers(&all);
        write_sums(&all);
        vti_c_lines_write_sources(recorder, all.files);
    }
out:
    vti_map_free(all.places);
    vti_map_free(all.keys);
    vti_map_free(all.files);
    vti_map_free(all.counted);
    free(all.chains);
    vti_buf_fini(&all.links);
    vti_buf_fini(&all.sums);
    vti_buf_fini(&all.counted_ids);
    vti_buf_fini(&questions);
    vti_buf_fini(&answers);
}
