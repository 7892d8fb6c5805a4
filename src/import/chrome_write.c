/*
 * chrome_write.c - the events of a Chrome trace, in order of time, become blocks of a recording.
 *
 * Spans of a thread that overlap without one being inside the other cannot be a stack: they get tracks of
 * their own beside the thread's, so that every time stays what it was.
 */
#include "base/error.h"
#include "import/chrome_impl.h"
#include "import/json_value.h"

#include <stdlib.h>
#include <string.h>

#define LANES_MOST 64
#define NS_APART (UINT64_C(1) << 60) /* of the first and the last moment; readers know no more */

/* A stack of open spans, which is a track. */
struct lane {
    struct vti_encoder *encoder;
    int64_t *ends; /* of the open spans, outermost first */
    size_t depth, room;
};

struct writing {
    struct vti_chrome *chrome;
    struct lane lanes[LANES_MOST];
    unsigned lane_count;
    uint32_t track_count; /* of all threads so far */
    uint64_t end;         /* tick of the last thing that happened */
    const struct vti_chrome_thread *thread;
    struct vti_buf key, text;
};

static int by_begin(const void *left, const void *right)
{
    const struct vti_chrome_event *a = left;
    const struct vti_chrome_event *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Of two that begin together the longer one is around the other. */
static int by_nesting(const void *left, const void *right)
{
    const struct vti_chrome_event *a = left;
    const struct vti_chrome_event *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Gives begins their ends and takes the ends out; what is left is counted. 0 or VTI_E_NOMEM. */
static int match_ends(struct vti_chrome *chrome, struct vti_chrome_event *events, size_t *count)
{
    size_t *open = malloc((*count + 1) * sizeof *open);
    size_t depth = 0;
    size_t kept = 0;

    if (!open)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < *count; i++) {
        if (events[i].end_ns == INT64_MIN) {
            if (depth)
                events[open[--depth]].end_ns = events[i].begin_ns;
            else
                vti_chrome_leave_out(chrome, events[i].args, "an end without a begin");
            continue;
        }
        events[kept] = events[i];
        if (events[kept].end_ns == INT64_MAX)
            open[depth++] = kept;
        kept++;
    }
    *count = kept;
    free(open);
    return 0;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static uint64_t ticks(const struct writing *writing, int64_t ns)
{
    return (uint64_t)(ns - writing->chrome->first_ns);
}

static int cut(struct writing *writing, struct lane *lane)
{
    int code = vti_import_write_sites(writing->chrome->target);

    return code ? code : vti_writer_events(writing->chrome->target->copy.writer, lane->encoder);
}

static int cut_if_full(struct writing *writing, struct lane *lane)
{
    return vti_encoder_pending(lane->encoder) < VTI_BLOCK_EVENTS ? 0 : cut(writing, lane);
}

static int open_lane(struct writing *writing)
{
    struct lane *lane = &writing->lanes[writing->lane_count];
    const struct vti_chrome_thread *thread = writing->thread;
    int code = vti_encoder_create(&lane->encoder, writing->track_count);

    if (code)
        return code;
    writing->lane_count++;
    return vti_import_track(writing->chrome->target, writing->track_count++, thread->process,
                            (uint32_t)thread->tid, thread->name ? thread->name : "", writing->end,
                            writing->lane_count > 1);
}

static int end_until(struct writing *writing, struct lane *lane, int64_t now)
{
    int code = 0;

    while (!code && lane->depth && lane->ends[lane->depth - 1] <= now &&
           lane->ends[lane->depth - 1] != INT64_MAX) {
        vti_encoder_end(lane->encoder, ticks(writing, lane->ends[--lane->depth]));
        code = cut_if_full(writing, lane);
    }
    return code;
}

/* The first track on which the span is inside of what is open; the last one if there is none. */
static int find_lane(struct writing *writing, struct vti_chrome_event *event, struct lane **found)
{
    int code = 0;

    for (unsigned i = 0;; i++) {
        struct lane *lane = &writing->lanes[i];

        if (i == writing->lane_count)
            code = open_lane(writing);
        if (!code)
            code = end_until(writing, lane, event->begin_ns);
        if (code)
            return code;
        *found = lane;
        if (!lane->depth || event->end_ns <= lane->ends[lane->depth - 1])
            return 0;
        if (i == LANES_MOST - 1) {
            event->end_ns = lane->ends[lane->depth - 1];
            return 0;
        }
    }
}

static void close_lanes(struct writing *writing, int *code)
{
    for (unsigned i = 0; i < writing->lane_count; i++) {
        struct lane *lane = &writing->lanes[i];

        if (!*code)
            *code = end_until(writing, lane, INT64_MAX);
        if (!*code)
            *code = cut(writing, lane);
        vti_encoder_free(lane->encoder);
        free(lane->ends);
        memset(lane, 0, sizeof *lane);
    }
    writing->lane_count = 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The site of a key of attributes, or of a counter's series: "name", or "name.series" if it has one. */
static uint32_t key_site(struct writing *writing, const struct vti_chrome_event *event)
{
    struct vti_site_fact site = {.type = VTI_SITE_KEY,
                                 .name = {(const char *)writing->key.data, writing->key.len}};
    struct vti_buf name = {0};
    uint32_t id;

    if (event->kind == VTI_CHROME_COUNTER) {
        size_t len;
        const char *text = vti_map_key(writing->chrome->names, event->name, &len);

        vti_buf_add(&name, text, len);
        if (strcmp((const char *)writing->key.data, "value"))
            vti_buf_printf(&name, ".%s", (const char *)writing->key.data);
        site.type = VTI_SITE_COUNTER;
        site.name = (struct vti_bytes){(const char *)name.data, name.len};
    }
    id = vti_import_site(writing->chrome->target, &site);
    vti_buf_fini(&name);
    return id;
}

/* Arguments are attributes of a span and series of a counter. */
static int add_args(struct writing *writing, struct lane *lane,
                    const struct vti_chrome_event *event)
{
    const struct vti_import_input *input = writing->chrome->input;
    struct vti_json_scan scan = {.at = event->args, .end = (const char *)input->data + input->size};
    struct vti_event out = {.ticks = ticks(writing, event->begin_ns), .kind = VTI_EVENT_ATTR};
    bool is_counter = event->kind == VTI_CHROME_COUNTER;
    bool is_first = true;

    if (!event->args || event->kind == VTI_CHROME_MARK)
        return 0;
    if (is_counter)
        out.kind = VTI_EVENT_COUNTER;
    vti_json_take(&scan, '{');
    while (vti_json_next_key(&scan, &is_first, &writing->key)) {
        if (!vti_json_scan_value(&scan, &writing->text, &out.value) ||
            (is_counter && out.value.type == VTI_VALUE_TEXT))
            continue;
        out.site = key_site(writing, event);
        if (!out.site)
            return VTI_E_NOMEM;
        vti_encoder_add(lane->encoder, &out);
    }
    return 0;
}

static int add_event(struct writing *writing, struct vti_chrome_event *event)
{
    struct lane *lane;
    int code;

    if (event->kind == VTI_CHROME_SPAN) {
        code = find_lane(writing, event, &lane);
    } else {
        code = writing->lane_count ? 0 : open_lane(writing);
        lane = &writing->lanes[0];
        if (!code)
            code = end_until(writing, lane, event->begin_ns);
    }
    if (code)
        return code;
    if (event->kind == VTI_CHROME_MARK)
        vti_encoder_add(lane->encoder, &(struct vti_event){.ticks = ticks(writing, event->begin_ns),
                                                           .kind = VTI_EVENT_MARK,
                                                           .site = event->site});
    if (event->kind == VTI_CHROME_SPAN) {
        if (vti_grow(&lane->ends, lane->depth, &lane->room, sizeof *lane->ends))
            return VTI_E_NOMEM;
        if (lane->depth >= VTI_STACK_MAX)
            return vti_fail(VTI_E_LIMIT, "%s: more than %d spans inside each other",
                            writing->chrome->input->path, VTI_STACK_MAX);
        lane->ends[lane->depth++] = event->end_ns;
        vti_encoder_begin(lane->encoder, ticks(writing, event->begin_ns), event->site);
    }
    code = add_args(writing, lane, event);
    return code ? code : cut_if_full(writing, lane);
}

static int write_thread(struct writing *writing, struct vti_chrome_event *events, size_t count)
{
    int code = match_ends(writing->chrome, events, &count);

    if (code)
        return code;
    qsort(events, count, sizeof *events, by_nesting);
    for (size_t i = 0; i < count && !code; i++)
        code = add_event(writing, &events[i]);
    close_lanes(writing, &code);
    return code;
}

/* First and last moment of all events. Fails if a recording cannot tell them apart. */
static int find_extent(struct writing *writing)
{
    struct vti_chrome *chrome = writing->chrome;
    int64_t last = INT64_MIN;

    chrome->first_ns = INT64_MAX;
    for (size_t i = 0; i < chrome->event_count; i++) {
        const struct vti_chrome_event *event = &chrome->events[i];
        int64_t end = event->end_ns == INT64_MAX || event->end_ns < event->begin_ns
                          ? event->begin_ns
                          : event->end_ns;

        chrome->first_ns = event->begin_ns < chrome->first_ns ? event->begin_ns : chrome->first_ns;
        last = end > last ? end : last;
    }
    writing->end = ticks(writing, last);
    if (writing->end > NS_APART)
        return vti_fail(VTI_E_LIMIT, "%s: times more than 36 years apart", chrome->input->path);
    return 0;
}

int vti_chrome_write(struct vti_chrome *chrome)
{
    struct writing writing = {.chrome = chrome};
    size_t at = 0;
    int code = find_extent(&writing);

    for (uint32_t i = 0; i < vti_map_count(chrome->process_ids) && !code; i++)
        code = vti_import_process(chrome->target, i, (uint32_t)chrome->processes[i].pid,
                                  chrome->processes[i].name ? chrome->processes[i].name : "",
                                  writing.end);
    qsort(chrome->events, chrome->event_count, sizeof *chrome->events, by_begin);
    while (at < chrome->event_count && !code) {
        size_t end = at;

        while (end < chrome->event_count && chrome->events[end].thread == chrome->events[at].thread)
            end++;
        writing.thread = &chrome->threads[chrome->events[at].thread];
        code = write_thread(&writing, chrome->events + at, end - at);
        at = end;
    }
    vti_buf_fini(&writing.key);
    vti_buf_fini(&writing.text);
    return code;
}
