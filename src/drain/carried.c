/*
 * carried.c - async spans that are open when a file of a spool ends, told again in the next one.
 *
 * What a program says is bounded here: so many open spans, so many bytes of attributes each. What is beyond that is in the file
 * in which it was said, and not told again.
 */
#include "drain/carried.h"

#include "drain/spool.h"
#include "drain/target.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MOST 65536u
#define ATTRIBUTES_MOST 16384u /* bytes, of one span */
#define BUCKETS 4096u

/* An attribute; behind it the bytes of a text. */
struct attribute {
    uint64_t ticks;
    uint64_t number; /* its value, if that is no text */
    uint32_t site;
    uint32_t type; /* enum vti_value_type */
    uint32_t len;
    uint32_t reserved;
};

struct span {
    struct span *next;
    uint64_t id;
    bool has_begun, has_ended;
    uint64_t file;          /* in which its end was written, if that came first */
    struct vti_event event; /* its begin; or its end, if that came first */
    struct vti_buf attributes;
};

struct vti_carried {
    struct span *buckets[BUCKETS];
    uint32_t count;
    struct vti_encoder *encoder; /* owned; NULL: nothing is carried */
    struct vti_track_fact fact;
    uint64_t file; /* in which the track is stated */
};

/* An event to be told again; attributes point into their spans. */
struct told {
    const struct span *span;
    const struct attribute *attribute; /* NULL: its begin */
    uint64_t ticks;
    size_t order;
};

static void free_span(struct span *span)
{
    vti_buf_fini(&span->attributes);
    free(span);
}

void vti_carried_free(struct vti_carried *carried)
{
    if (!carried)
        return;
    for (uint32_t i = 0; i < BUCKETS; i++)
        while (carried->buckets[i]) {
            struct span *span = carried->buckets[i];

            carried->buckets[i] = span->next;
            free_span(span);
        }
    vti_encoder_free(carried->encoder);
    free(carried);
}

static struct span **find(struct vti_carried *carried, uint64_t id)
{
    struct span **link = &carried->buckets[(id * 0x9e3779b97f4a7c15u) >> 52];

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    return link;
}

static void forget(struct vti_carried *carried, struct span **link)
{
    struct span *span = *link;

    *link = span->next;
    free_span(span);
    carried->count--;
}

static struct span *add(struct vti_carried *carried, struct span **link,
                        const struct vti_event *event)
{
    struct span *span = carried->count < OPEN_MOST ? calloc(1, sizeof *span) : NULL;

    if (!span)
        return NULL;
    span->id = event->async_id;
    span->event = *event;
    span->event.value.type = VTI_VALUE_NONE; /* what was borrowed is not kept */
    span->next = *link;
    *link = span;
    carried->count++;
    return span;
}

/* ---- the track ----------------------------------------------------------------------------------- */

static bool has_track(struct vti_target *process)
{
    struct vti_carried *carried = process->carried;
    uint64_t file = vti_recorder_file(process->recorder);

    if (!carried->fact.type)
        carried->fact = (struct vti_track_fact){.track = vti_recorder_new_track(process->recorder),
                                                .process = process->fact.process,
                                                .type = 1,
                                                .start = process->fact.start,
                                                .name = vti_bytes_of(VTI_TRACK_CARRIED)};
    if (!carried->encoder && vti_encoder_create(&carried->encoder, carried->fact.track)) {
        carried->encoder = NULL;
        return false;
    }
    if (carried->file != file)
        vti_recorder_track(process->recorder, &carried->fact);
    carried->file = file;
    return true;
}

static void tell(struct vti_target *process, const struct vti_event *event)
{
    struct vti_carried *carried = process->carried;

    vti_encoder_add(carried->encoder, event);
    if (vti_encoder_pending(carried->encoder) >= VTI_BLOCK_EVENTS)
        vti_recorder_carried(process->recorder, carried->encoder);
}

/* ---- as they come -------------------------------------------------------------------------------- */

static void note_begin(struct vti_target *process, struct span **link,
                       const struct vti_event *event)
{
    struct span *span = *link;

    if (!span) {
        span = add(process->carried, link, event);
        if (span)
            span->has_begun = true;
        return;
    }
    if (!span->has_ended)
        return; /* ids are unique: the program has said it twice */
    /* Its end lies in the file before: said again, behind the begin. */
    if (span->file != vti_recorder_file(process->recorder) && has_track(process)) {
        tell(process, &span->event);
        vti_recorder_carried(process->recorder, process->carried->encoder);
    }
    forget(process->carried, link);
}

static void note_end(struct vti_target *process, struct span **link, const struct vti_event *event)
{
    struct span *span = *link;

    if (span && span->has_begun) {
        forget(process->carried, link);
    } else if (!span && (span = add(process->carried, link, event))) {
        span->has_ended = true;
        span->file = vti_recorder_file(process->recorder);
    }
}

static void note_attribute(struct span *span, const struct vti_event *event)
{
    bool is_text = event->value.type == VTI_VALUE_TEXT;
    struct attribute attribute = {.ticks = event->ticks,
                                  .number = is_text ? 0 : event->value.u,
                                  .site = event->site,
                                  .type = event->value.type,
                                  .len = is_text ? (uint32_t)event->value.text.len : 0};
    size_t padded = ((size_t)attribute.len + 7) / 8 * 8;

    if (!span || !span->has_begun ||
        span->attributes.len + sizeof attribute + padded > ATTRIBUTES_MOST ||
        !vti_buf_reserve(&span->attributes, sizeof attribute + padded))
        return;
    vti_buf_add(&span->attributes, &attribute, sizeof attribute);
    if (is_text)
        vti_buf_add(&span->attributes, event->value.text.data, attribute.len);
    vti_buf_add_zeros(&span->attributes, padded - attribute.len);
}

void vti_carried_note(struct vti_target *process, const struct vti_event *event)
{
    struct span **link;

    if (!vti_recorder_file(process->recorder))
        return;
    if (!process->carried)
        process->carried = calloc(1, sizeof *process->carried);
    if (!process->carried)
        return;
    link = find(process->carried, event->async_id);
    if (event->kind == VTI_EVENT_ASYNC_BEGIN)
        note_begin(process, link, event);
    else if (event->kind == VTI_EVENT_ASYNC_END)
        note_end(process, link, event);
    else
        note_attribute(*link, event);
}

/* ---- the next file --------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    const struct told *a = left;
    const struct told *b = right;

    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void add_told(struct vti_buf *all, const struct span *span,
                     const struct attribute *attribute, uint64_t ticks)
{
    struct told told = {span, attribute, ticks, all->len / sizeof told};

    vti_buf_add(all, &told, sizeof told);
}

static void add_span(struct vti_buf *all, const struct span *span)
{
    size_t at = 0;

    add_told(all, span, NULL, span->event.ticks);
    while (at < span->attributes.len) {
        const struct attribute *attribute = (const void *)(span->attributes.data + at);

        add_told(all, span, attribute, attribute->ticks);
        at += sizeof *attribute + ((size_t)attribute->len + 7) / 8 * 8;
    }
}

/* Ends whose begin has not come in all of a file were lost: nobody waits for them any more. */
static void gather(struct vti_target *process, struct vti_buf *all)
{
    struct vti_carried *carried = process->carried;

    for (uint32_t i = 0; i < BUCKETS; i++) {
        struct span **link = &carried->buckets[i];

        while (*link) {
            if ((*link)->has_ended && (*link)->file + 1 < vti_recorder_file(process->recorder)) {
                forget(carried, link);
                continue;
            }
            if ((*link)->has_begun)
                add_span(all, *link);
            link = &(*link)->next;
        }
    }
}

static void tell_one(struct vti_target *process, const struct told *told)
{
    const struct attribute *attribute = told->attribute;
    struct vti_event event = {.kind = VTI_EVENT_ASYNC_ATTR, .async_id = told->span->id};

    if (!attribute) {
        tell(process, &told->span->event);
        return;
    }
    event.ticks = attribute->ticks;
    event.site = attribute->site;
    event.value.type = attribute->type;
    if (attribute->type == VTI_VALUE_TEXT)
        event.value.text = (struct vti_bytes){(const char *)(attribute + 1), attribute->len};
    else
        event.value.u = attribute->number;
    tell(process, &event);
}

void vti_carried_write(struct vti_target *process)
{
    struct vti_buf all = {0};
    struct told *told;

    if (!process->carried)
        return;
    gather(process, &all);
    vti_encoder_free(process->carried->encoder); /* times go back to where the spans began */
    process->carried->encoder = NULL;
    if (all.len && !all.failed && has_track(process)) {
        told = (struct told *)(void *)all.data;
        qsort(told, all.len / sizeof *told, sizeof *told, compare);
        for (size_t i = 0; i < all.len / sizeof *told; i++)
            tell_one(process, &told[i]);
        vti_recorder_carried(process->recorder, process->carried->encoder);
    }
    vti_buf_fini(&all);
}

void vti_carried_leave(struct vti_target *process)
{
    struct vti_carried *carried = process->carried;

    if (!carried || carried->file != vti_recorder_file(process->recorder))
        return;
    carried->fact.end = vti_recorder_ticks(process->recorder);
    vti_recorder_track(process->recorder, &carried->fact);
}
