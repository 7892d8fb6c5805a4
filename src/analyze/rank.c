/* rank.c - the rows of a ranking: one for each name, sorted when asked. */
#include "analyze/rank_impl.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int vti_rank_create(struct vti_rank **out, const struct vti_rank_options *options)
{
    struct vti_rank *rank = calloc(1, sizeof *rank);

    if (!rank || vti_map_create(&rank->names) || (options->is_wide && vti_open_init(&rank->open))) {
        vti_rank_free(rank);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    rank->options = *options;
    *out = rank;
    return 0;
}

void vti_rank_free(struct vti_rank *rank)
{
    if (!rank)
        return;
    for (uint32_t i = 0; i < rank->entry_count; i++)
        vti_rank_entry_fini(&rank->entries[i]);
    vti_map_free(rank->names);
    vti_open_fini(&rank->open);
    free(rank->entries);
    free(rank->order);
    free(rank->buffer);
    free(rank);
}

int64_t vti_rank_entry(struct vti_rank *rank, const char *name, size_t len)
{
    int is_new;
    int64_t index;

    /* Room first: a name in the map must have its entry. */
    if (rank->entry_count == rank->entry_capacity) {
        uint32_t capacity = rank->entry_capacity ? rank->entry_capacity * 2 : 64;
        struct vti_rank_entry *entries = realloc(rank->entries, capacity * sizeof *entries);

        if (!entries)
            return VTI_E_NOMEM;
        rank->entries = entries;
        rank->entry_capacity = capacity;
    }
    index = vti_map_add(rank->names, name, len, &is_new);
    if (index < 0)
        return index;
    if (is_new) {
        struct vti_rank_entry *entry = &rank->entries[rank->entry_count++];

        memset(entry, 0, sizeof *entry);
        entry->name = vti_map_key(rank->names, (uint32_t)index, &entry->len);
        memcpy(entry->head, name, len < sizeof entry->head ? len : sizeof entry->head);
    }
    return index;
}

int vti_rank_add(struct vti_rank *rank, const struct vti_rank_row *row)
{
    int64_t at = vti_rank_entry(rank, row->name, row->len);
    struct vti_rank_entry *entry;

    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    rank->is_recording = true;
    entry = &rank->entries[at];
    entry->total = row->total;
    entry->max = row->max;
    entry->avg = row->avg;
    entry->min = row->min;
    entry->p50 = row->p50;
    entry->p99 = row->p99;
    entry->self = row->self;
    entry->count = row->count;
    entry->unfinished = row->unfinished;
    rank->trust.untimed += row->unfinished;
    entry->errors = row->errors;
    return 0;
}

int vti_rank_note(struct vti_rank_entry *entry, double duration)
{
    double ns = duration * 1e9;

    if (!entry->durations)
        entry->durations = calloc(1, sizeof *entry->durations);
    if (!entry->durations)
        return VTI_E_NOMEM;
    return vti_histogram_add(entry->durations, ns < 9e18 ? (int64_t)(ns + 0.5) : INT64_MAX);
}

void vti_rank_entry_fini(struct vti_rank_entry *entry)
{
    if (entry->durations)
        vti_histogram_fini(entry->durations);
    free(entry->durations);
}

static double within(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

int vti_rank_percentiles(struct vti_rank_entry *entry)
{
    int64_t p50 = vti_histogram_quantile(entry->durations, 0.50);
    int64_t p99 = vti_histogram_quantile(entry->durations, 0.99);

    if (p50 < 0 || p99 < 0)
        return VTI_E_NOMEM;
    entry->p50 = within((double)p50 / 1e9, entry->min, entry->max);
    entry->p99 = within((double)p99 / 1e9, entry->min, entry->max);
    return 0;
}

void vti_rank_refuse(struct vti_rank *rank, const char *reason)
{
    if (rank->lines.unusable++)
        return;
    rank->lines.first_unusable = rank->lines.read;
    rank->lines.reason = reason;
}

bool vti_rank_is_recording(const struct vti_rank *rank)
{
    return rank->is_recording;
}

void vti_rank_lines(const struct vti_rank *rank, struct vti_rank_lines *lines)
{
    *lines = rank->lines;
}

void vti_rank_trust(const struct vti_rank *rank, struct vti_rank_trust *trust)
{
    *trust = rank->trust;
}

struct order {
    const struct vti_rank *rank;
    enum vti_rank_key key;
};

static double field_of(const struct vti_rank_entry *entry, enum vti_rank_key key)
{
    switch (key) {
    case VTI_RANK_MAX:
        return entry->max;
    case VTI_RANK_AVG:
        return entry->avg;
    case VTI_RANK_COUNT:
        return (double)entry->count;
    case VTI_RANK_MIN:
        return entry->min;
    case VTI_RANK_P50:
        return entry->p50;
    case VTI_RANK_P99:
        return entry->p99;
    case VTI_RANK_SELF:
        return entry->self;
    default:
        return entry->total;
    }
}

/* What is not a number (only is_compat lets it in) comes last: the order must hold together. */
static double value_of(const struct vti_rank_entry *entry, enum vti_rank_key key)
{
    double value = field_of(entry, key);

    return isnan(value) ? -INFINITY : value;
}

static int compare_names(const struct vti_rank_entry *left, const struct vti_rank_entry *right)
{
    int way = memcmp(left->name, right->name, left->len < right->len ? left->len : right->len);

    return way ? way : (left->len > right->len) - (left->len < right->len);
}

static int compare(const void *a, const void *b, void *arg)
{
    const struct order *order = arg;
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    const struct vti_rank_entry *entries = order->rank->entries;
    int way;

    if (order->key == VTI_RANK_NAME) {
        way = compare_names(&entries[left], &entries[right]);
    } else {
        double left_value = value_of(&entries[left], order->key);
        double right_value = value_of(&entries[right], order->key);

        way = (left_value < right_value) - (left_value > right_value);
    }
    return way ? way : (left > right) - (left < right);
}

int vti_rank_sort(struct vti_rank *rank, enum vti_rank_key key)
{
    struct order order = {rank, key};

    free(rank->order);
    rank->shown = 0;
    rank->order = malloc((rank->entry_count + 1u) * sizeof *rank->order);
    if (!rank->order)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < rank->entry_count; i++)
        if (rank->entries[i].count || rank->entries[i].unfinished)
            rank->order[rank->shown++] = i;
    qsort_r(rank->order, rank->shown, sizeof *rank->order, compare, &order);
    return 0;
}

size_t vti_rank_count(const struct vti_rank *rank)
{
    return rank->shown;
}

void vti_rank_row(const struct vti_rank *rank, size_t at, struct vti_rank_row *row)
{
    const struct vti_rank_entry *entry = &rank->entries[rank->order[at]];

    row->name = entry->name;
    row->len = entry->len;
    row->count = entry->count;
    row->total = entry->total;
    row->max = entry->max;
    row->avg = entry->avg;
    row->min = entry->min;
    row->p50 = entry->p50;
    row->p99 = entry->p99;
    row->self = entry->self;
    row->unfinished = entry->unfinished;
    row->errors = entry->errors;
}
