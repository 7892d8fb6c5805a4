/* trace_open.c - the spans of traces that are open, and the processes that they are of. */
#include "store/trace_open.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MOST 1000000u
#define FACTS_MOST (512u << 10) /* bytes that are kept for one span */
#define SAID_MOST 1024u

struct fact { /* and its text, ended by a zero byte */
    const char *key;
    uint64_t number;
    uint32_t text_bytes;
    uint8_t type;
    bool is_of_begin;
};

/* ---- the table ------------------------------------------------------------------------------- */

static size_t home_of(const struct vti_trace_opens *opens, uint32_t process, uint64_t id)
{
    uint64_t hash = (id ^ ((uint64_t)process << 40)) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(hash >> 20) & (opens->slot_count - 1);
}

static size_t find_slot(const struct vti_trace_opens *opens, uint32_t process, uint64_t id)
{
    size_t at = home_of(opens, process, id);

    while (opens->slots[at] && (opens->slots[at]->process != process || opens->slots[at]->id != id))
        at = (at + 1) & (opens->slot_count - 1);
    return at;
}

static int grow(struct vti_trace_opens *opens)
{
    struct vti_trace_open **old = opens->slots;
    size_t old_count = opens->slot_count;

    if (opens->count * 2 < opens->slot_count)
        return 0;
    opens->slots = calloc(old_count * 2, sizeof *opens->slots);
    if (!opens->slots) {
        opens->slots = old;
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    opens->slot_count = old_count * 2;
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            opens->slots[find_slot(opens, old[i]->process, old[i]->id)] = old[i];
    free(old);
    return 0;
}

int vti_trace_opens_init(struct vti_trace_opens *opens, vt_recording *recording)
{
    *opens = (struct vti_trace_opens){.recording = recording, .slot_count = 64};
    opens->slots = calloc(opens->slot_count, sizeof *opens->slots);
    return opens->slots ? 0 : VTI_E_NOMEM;
}

static void free_open(struct vti_trace_open *open)
{
    vti_buf_fini(&open->facts);
    free(open);
}

void vti_trace_opens_fini(struct vti_trace_opens *opens)
{
    for (size_t i = 0; opens->slots && i < opens->slot_count; i++)
        if (opens->slots[i])
            free_open(opens->slots[i]);
    for (size_t i = 0; i < opens->place_count; i++) {
        free(opens->places[i]->service);
        free(opens->places[i]->project);
        free(opens->places[i]->host);
        free(opens->places[i]);
    }
    free(opens->slots);
    free(opens->places);
    *opens = (struct vti_trace_opens){0};
}

void vti_trace_opens_remove(struct vti_trace_opens *opens, struct vti_trace_open *open)
{
    size_t mask = opens->slot_count - 1;
    size_t hole = find_slot(opens, open->process, open->id);

    for (size_t at = (hole + 1) & mask; opens->slots[at]; at = (at + 1) & mask) {
        size_t home = home_of(opens, opens->slots[at]->process, opens->slots[at]->id);

        if (((at - home) & mask) >= ((at - hole) & mask)) {
            opens->slots[hole] = opens->slots[at];
            hole = at;
        }
    }
    opens->slots[hole] = NULL;
    opens->count--;
    if (opens->pending == open)
        opens->pending = NULL;
    free_open(open);
}

/* ---- processes ------------------------------------------------------------------------------- */

static char *copy_of(const char *text, size_t len)
{
    return text ? strndup(text, len < SAID_MOST ? len : SAID_MOST) : strdup("");
}

static struct vti_trace_place *make_place(struct vti_trace_opens *opens, uint32_t process)
{
    struct vti_trace_place *place = calloc(1, sizeof *place);
    struct vt_process_info info = {.name = ""};
    struct vt_host_info host;
    const char *name = "";
    uint64_t recording;

    if (!place)
        return NULL;
    if (vt_recording_process_by_id(opens->recording, process, &info))
        for (uint32_t i = 0; vt_recording_host(opens->recording, i, &host); i++)
            if (host.id == info.host && host.name && strcmp(host.name, VTI_HOST_IMPORTED))
                name = host.name; /* an import knows none */
    memcpy(&recording, opens->recording->header.id, sizeof recording);
    *place = (struct vti_trace_place){.process = process,
                                      .pid = info.pid,
                                      .number = recording ^ ((uint64_t)process << 32),
                                      .service = copy_of(info.name, SAID_MOST),
                                      .project = copy_of("", 0),
                                      .host = copy_of(name, SAID_MOST)};
    if (place->service && place->project && place->host &&
        !vti_grow(&opens->places, opens->place_count, &opens->place_room, sizeof *opens->places)) {
        opens->places[opens->place_count++] = place;
        return place;
    }
    free(place->service);
    free(place->project);
    free(place->host);
    free(place);
    return NULL;
}

static struct vti_trace_place *place_of(struct vti_trace_opens *opens, uint32_t process)
{
    for (size_t i = opens->place_count; i-- > 0;)
        if (opens->places[i]->process == process)
            return opens->places[i];
    return make_place(opens, process);
}

/* Service, project and host, said first by the span that enters the process. */
static int say(struct vti_trace_place *place, const char *key, const struct vti_value *value)
{
    char **to = NULL;
    bool *is_said = NULL;
    char *text;

    if (!strcmp(key, "service") && value->text.len) {
        to = &place->service;
        is_said = &place->is_service_said;
    } else if (!strcmp(key, "host") && value->text.len) {
        to = &place->host;
        is_said = &place->is_host_said;
    } else if (!strcmp(key, "project")) {
        to = &place->project;
        is_said = &place->has_project;
    }
    if (!to || *is_said)
        return 0;
    text = copy_of(value->text.data, value->text.len);
    if (!text)
        return VTI_E_NOMEM;
    free(*to);
    *to = text;
    *is_said = true;
    return 0;
}

bool vti_trace_open_is_said(const struct vti_trace_attr *attr)
{
    return !strcmp(attr->key, "host") ||
           (attr->is_of_begin && (!strcmp(attr->key, "service") || !strcmp(attr->key, "project")));
}

/* ---- facts ----------------------------------------------------------------------------------- */

static int add_fact(struct vti_trace_opens *opens, struct vti_trace_open *open,
                    const struct vti_event *event, uint32_t track)
{
    struct fact fact = {.type = (uint8_t)event->value.type};
    struct vt_site_info key = {.name = ""};

    fact.is_of_begin = open->has_begin && track == open->track &&
                       event->ticks == open->begin_ticks &&
                       !(open->has_end && open->end_ns == open->begin_ns && open->has_failed);
    if (!vt_recording_site_by_id(opens->recording, event->site, &key) || !key.name)
        key.name = "";
    fact.key = key.name;
    if (event->value.type == VTI_VALUE_TEXT)
        fact.text_bytes = (uint32_t)event->value.text.len;
    else
        fact.number = event->value.u;
    if (open->facts.len + sizeof fact + fact.text_bytes + 1 > FACTS_MOST)
        return 0;
    vti_buf_add(&open->facts, &fact, sizeof fact);
    vti_buf_add(&open->facts, event->value.text.data, fact.text_bytes);
    vti_buf_add_u8(&open->facts, 0);
    if (open->facts.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (fact.is_of_begin && open->has_trace && event->value.type == VTI_VALUE_TEXT)
        return say(open->place, key.name, &event->value);
    return 0;
}

bool vti_trace_open_fact(const struct vti_trace_open *open, size_t *at, struct vti_trace_attr *attr)
{
    struct fact fact;

    if (open->facts.len - *at < sizeof fact)
        return false;
    memcpy(&fact, open->facts.data + *at, sizeof fact);
    *at += sizeof fact;
    *attr = (struct vti_trace_attr){.key = fact.key, .is_of_begin = fact.is_of_begin};
    attr->value.type = (enum vti_value_type)fact.type;
    if (fact.type == VTI_VALUE_TEXT)
        attr->value.text = (struct vti_bytes){(const char *)open->facts.data + *at,
                                              fact.text_bytes};
    else
        attr->value.u = fact.number;
    *at += fact.text_bytes + 1;
    return true;
}

const char *vti_trace_open_text(const struct vti_trace_open *open, const char *key)
{
    struct vti_trace_attr attr;
    const char *text = "";

    for (size_t at = 0; vti_trace_open_fact(open, &at, &attr);)
        if (!attr.is_of_begin && attr.value.type == VTI_VALUE_TEXT && !strcmp(attr.key, key))
            text = attr.value.text.data;
    return text;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct vti_trace_open *get(struct vti_trace_opens *opens, uint32_t process, uint64_t id)
{
    size_t at = find_slot(opens, process, id);
    struct vti_trace_open *open = opens->slots[at];

    if (open || opens->count >= OPEN_MOST)
        return open;
    open = calloc(1, sizeof *open);
    if (!open)
        return NULL;
    *open = (struct vti_trace_open){.process = process, .id = id, .order = opens->met++};
    opens->slots[at] = open;
    opens->count++;
    return open;
}

static int64_t wall_ns(const struct vti_trace_opens *opens, struct vti_clock *clock, uint64_t ticks)
{
    int64_t ns;

    if (__builtin_add_overflow(opens->recording->facts.clocks.start_realtime_ns,
                               vti_clock_ns(clock, ticks), &ns) ||
        ns < 0)
        return 0; /* of a file that lies about its clock */
    return ns;
}

static int begin(struct vti_trace_opens *opens, struct vti_trace_open *open,
                 const struct vti_event *event, struct vti_clock *clock)
{
    struct vt_site_info site = {.name = ""};

    if (open->has_begin) { /* the id is used again: what was open under it never ended */
        vti_buf_clear(&open->facts);
        open->has_end = open->has_failed = false;
    }
    if (!vt_recording_site_by_id(opens->recording, event->site, &site) || !site.name)
        site.name = "";
    open->has_begin = true;
    open->has_trace = event->has_trace;
    open->ids = event->trace;
    open->name = site.name;
    open->begin_ticks = event->ticks;
    open->begin_ns = wall_ns(opens, clock, event->ticks);
    if (open->has_end && open->end_ns < open->begin_ns)
        open->end_ns = open->begin_ns;
    open->place = place_of(opens, open->process);
    return open->place ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

static bool is_about(const struct vti_event *event, uint32_t process,
                     const struct vti_trace_open *open)
{
    return event->kind == VTI_EVENT_ASYNC_ATTR && process == open->process &&
           event->async_id == open->id;
}

int vti_trace_opens_take(struct vti_trace_opens *opens, const struct vti_event *event,
                         uint32_t process, uint32_t track, struct vti_clock *clock, bool is_carried,
                         struct vti_trace_open *done[2])
{
    struct vti_trace_open *open;
    int code = grow(opens);

    done[0] = done[1] = NULL;
    if (code)
        return code;
    if (opens->pending && !is_about(event, process, opens->pending)) {
        done[0] = opens->pending;
        opens->pending = NULL;
    }
    open = get(opens, process, event->async_id);
    if (open && open == done[0])
        return 0;
    if (!open)
        return opens->count >= OPEN_MOST ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
    if (event->kind == VTI_EVENT_ASYNC_ATTR)
        return add_fact(opens, open, event, track);
    if (event->kind == VTI_EVENT_ASYNC_BEGIN) {
        open->track = track;
        open->is_carried = is_carried;
        code = begin(opens, open, event, clock);
        if (!code && open->has_end)
            opens->pending = open;
        return code;
    }
    open->has_end = true;
    open->has_failed = event->flags & VTI_FLAG_FAILED;
    open->end_ns = wall_ns(opens, clock, event->ticks);
    if (!open->has_begin)
        return 0;
    if (open->end_ns < open->begin_ns)
        open->end_ns = open->begin_ns;
    done[1] = open;
    return 0;
}

static int by_order(const void *left, const void *right)
{
    const struct vti_trace_open *a = *(struct vti_trace_open *const *)left;
    const struct vti_trace_open *b = *(struct vti_trace_open *const *)right;

    return a->order < b->order ? -1 : a->order > b->order;
}

int vti_trace_opens_list(const struct vti_trace_opens *opens, struct vti_trace_open ***list,
                         size_t *count)
{
    *count = 0;
    *list = calloc(opens->count + 1, sizeof **list);
    if (!*list)
        return VTI_E_NOMEM;
    for (size_t i = 0; i < opens->slot_count; i++) {
        struct vti_trace_open *open = opens->slots[i];

        if (open && open->has_begin && open->has_trace)
            (*list)[(*count)++] = open;
    }
    if (*count)
        qsort(*list, *count, sizeof **list, by_order);
    return 0;
}
