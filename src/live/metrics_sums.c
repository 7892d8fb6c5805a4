/*
 * metrics_sums.c - things that look the same to Prometheus are one series.
 *
 * Spans of one name at two places, names that differ in bytes which no label can hold or after the place where labels are cut: a series
 * that is written twice makes a scraper refuse everything, so that they are added up here first. The number of series is bounded in the
 * order in which names first appeared: a name that has a series keeps it, and "(others)" never goes back.
 */
#include "live/metrics_impl.h"

#include "base/hash.h"
#include "base/uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MOST (VTI_SUM_LABELS * (VTI_LABEL_MOST + 1))

/* The texts of the labels with a zero byte after each: nothing that they hold can be taken for another list of labels. */
static size_t make_key(char key[KEY_MOST], const struct vti_label *labels, size_t label_count)
{
    size_t len = 0;

    for (size_t i = 0; i < label_count; i++) {
        vti_label_text(key + len, labels[i].value);
        len += strlen(key + len) + 1;
    }
    return len;
}

static bool has_room(struct vti_sums *sums)
{
    size_t room = sums->room ? 2 * sums->room : 16;
    struct vti_sum **list;

    if (sums->count < sums->room)
        return true;
    list = realloc(sums->list, room * sizeof *list);
    if (!list)
        return false;
    sums->list = list;
    sums->room = room;
    return true;
}

static struct vti_sum *find_or_add(struct vti_sums *sums, const struct vti_label *labels,
                                   size_t label_count, size_t most)
{
    char key[KEY_MOST];
    size_t len = make_key(key, labels, label_count);
    int64_t found = vti_map_find(sums->map, key, len);
    const char *text = key;
    struct vti_sum *sum;

    if (found >= 0)
        return sums->list[found];
    if (sums->count >= most || !has_room(sums))
        return NULL;
    sum = calloc(1, sizeof *sum);
    if (!sum || vti_map_add(sums->map, key, len, &(int){0}) < 0) {
        free(sum);
        return NULL;
    }
    sum->label_count = label_count;
    for (size_t i = 0; i < label_count; i++) {
        size_t bytes = strlen(text) + 1;

        memcpy(sum->texts[i], text, bytes);
        text += bytes;
        sum->labels[i] = (struct vti_label){labels[i].name, sum->texts[i]};
    }
    return sums->list[sums->count++] = sum;
}

struct vti_sum *vti_sums_at(struct vti_sums *sums, const struct vti_label *labels,
                            size_t label_count)
{
    struct vti_label others[VTI_SUM_LABELS];
    struct vti_sum *sum;

    if (!sums->map && vti_map_create(&sums->map) < 0)
        return NULL;
    sum = find_or_add(sums, labels, label_count, sums->most);
    if (sum || sums->count < sums->most)
        return sum;
    for (size_t i = 0; i < label_count; i++)
        others[i] = (struct vti_label){labels[i].name, "(others)"};
    return find_or_add(sums, others, label_count, sums->most + 1);
}

void vti_sum_add_times(struct vti_sum *sum, const struct vti_live_times *times)
{
    sum->sum_s += (double)times->sum_ns / 1e9;
    for (size_t i = 0; i < VTI_LIVE_BUCKETS; i++)
        sum->buckets[i] += times->buckets[i];
}

void vti_sum_add_exemplars(struct vti_sum *sum, const struct vti_exemplars *exemplars)
{
    for (size_t i = 0; exemplars && i < VTI_LIVE_BUCKETS; i++)
        vti_exemplars_note(&sum->exemplars, exemplars->buckets[i].trace, exemplars->buckets[i].ns,
                           exemplars->buckets[i].end_unix_ns);
}

void vti_sums_fini(struct vti_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        free(sums->list[i]->exemplars);
        free(sums->list[i]);
    }
    free(sums->list);
    if (sums->map)
        vti_map_free(sums->map);
    *sums = (struct vti_sums){0};
}

void vti_sums_write(struct vti_metrics_out *metrics, const struct vti_sums *sums,
                    enum vti_metric_type type, const char *name, const char *unit, const char *help,
                    unsigned number)
{
    if (!sums->count)
        return;
    vti_exposition_family(metrics, type, name, unit, help);
    for (size_t i = 0; i < sums->count; i++) {
        const struct vti_sum *sum = sums->list[i];

        vti_exposition_sample(metrics, sum->labels, sum->label_count, sum->numbers[number]);
    }
}

static void write_times(struct vti_metrics_out *metrics, const struct vti_sum *sum)
{
    struct vti_exemplar exemplars[VTI_LIVE_BUCKETS] = {0};
    char traces[VTI_LIVE_BUCKETS][2 * VTI_UUID + 1];
    struct vti_distribution times = {.bounds_ns = vti_live_bounds,
                                     .buckets = sum->buckets,
                                     .exemplars = exemplars,
                                     .bucket_count = VTI_LIVE_BUCKETS,
                                     .sum = sum->sum_s};

    for (size_t i = 0; sum->exemplars && i < VTI_LIVE_BUCKETS; i++) {
        if (vti_uuid_is_zero(sum->exemplars->buckets[i].trace))
            continue;
        for (size_t at = 0; at < VTI_UUID; at++)
            snprintf(&traces[i][2 * at], 3, "%02x", sum->exemplars->buckets[i].trace[at]);
        exemplars[i] = (struct vti_exemplar){
            .trace_id = traces[i],
            .value = (double)sum->exemplars->buckets[i].ns / 1e9,
            .unix_s = (double)sum->exemplars->buckets[i].end_unix_ns / 1e9,
        };
    }
    vti_exposition_histogram(metrics, sum->labels, sum->label_count, &times);
}

void vti_sums_write_times(struct vti_metrics_out *metrics, const struct vti_sums *sums,
                          const char *name, const char *help)
{
    if (!sums->count)
        return;
    vti_exposition_family(metrics, VTI_METRIC_HISTOGRAM, name, "seconds", help);
    for (size_t i = 0; i < sums->count; i++)
        write_times(metrics, sums->list[i]);
}
