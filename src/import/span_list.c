/*
 * span_list.c - gathered spans of traces become blocks of a recording.
 *
 * The events of a track must be in order of time: begins and ends are sorted apart and run together. What was said at the begin of a span
 * has the time of its begin, what at the end that of its end.
 */
#include "import/span_list.h"

#include "base/error.h"
#include "base/utf8.h"
#include "import/json_value.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define NS_APART (INT64_C(1) << 60) /* of the first and the last moment; readers know no more */
#define TEXT_MOST 2048u             /* bytes of a text, as in the measured process */
#define KEY_MOST 1023u
#define NUL_SIGN "\xe2\x90\x80" /* U+2400 */

struct writing {
    struct vti_span_list *list;
    const struct vti_import_input *input;
    struct vti_import_target *target;
    struct vti_encoder *encoder;
    int64_t first_ns, last_ns;
    const char *project;   /* of the process under way, until its first span has said it; or NULL */
    struct vti_event fact; /* the one under way: ticks and id stay, key and value change */
};

static const struct vti_listed_span *sorted; /* qsort has no argument for it */

static int by_begin(const void *left, const void *right)
{
    const struct vti_listed_span *a = left;
    const struct vti_listed_span *b = right;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static int by_end(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    if (sorted[a].end_ns != sorted[b].end_ns)
        return sorted[a].end_ns < sorted[b].end_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

void vti_span_list_fini(struct vti_span_list *list)
{
    free(list->spans);
    free(list->latest);
    vti_map_free(list->ids);
    memset(list, 0, sizeof *list);
}

int vti_span_list_init(struct vti_span_list *list)
{
    return vti_map_create(&list->ids) ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

/* The id of a site; a zero byte, where readers would cut the name, becomes the sign for one. */
static uint32_t find_site(struct vti_import_target *target, enum vti_site_type type,
                          struct vti_bytes name)
{
    struct vti_site_fact site = {.type = type, .name = name};
    struct vti_buf visible = {0};
    uint32_t found = 0;

    if (name.len && memchr(name.data, 0, name.len)) {
        for (size_t i = 0; i < name.len; i++)
            if (name.data[i])
                vti_buf_add_u8(&visible, (uint8_t)name.data[i]);
            else
                vti_buf_add_text(&visible, NUL_SIGN);
        site.name = (struct vti_bytes){(const char *)visible.data, visible.len};
    }
    if (visible.failed)
        vti_fail(VTI_E_NOMEM, "out of memory");
    else
        found = vti_import_site(target, &site);
    vti_buf_fini(&visible);
    return found;
}

int vti_span_list_add(struct vti_span_list *list, struct vti_import_target *target,
                      const struct vti_trace_ids *ids, struct vti_bytes name, int64_t begin_ns)
{
    struct vti_listed_span *span;

    if (vti_grow(&list->spans, list->count, &list->room, sizeof *list->spans))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    span = &list->spans[list->count++];
    *span = (struct vti_listed_span){
        .ids = *ids, .begin_ns = begin_ns, .end_ns = VTI_NO_END, .order = (uint32_t)list->count};
    span->site = find_site(target, VTI_SITE_SPAN, name);
    return span->site ? 0 : VTI_E_NOMEM;
}

uint32_t *vti_span_list_find(struct vti_span_list *list, const struct vti_trace_ids *ids)
{
    uint8_t key[32];
    int is_new;
    int64_t at;

    memcpy(key, ids->base, 16);
    memcpy(key + 16, ids->span, 16);
    at = vti_map_add(list->ids, key, sizeof key, &is_new);
    if (at >= 0 && is_new) {
        if (vti_grow(&list->latest, (size_t)at, &list->latest_room, sizeof *list->latest))
            at = VTI_E_NOMEM;
        else
            list->latest[at] = 0;
    }
    if (at < 0)
        vti_fail(VTI_E_NOMEM, "out of memory");
    return at < 0 ? NULL : &list->latest[at];
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* When the middle one of them begins: what is odd is not there. */
static int find_middle(const struct vti_span_list *list, int64_t *middle)
{
    int64_t *begins = malloc((list->count + 1) * sizeof *begins);

    if (!begins)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < list->count; i++)
        begins[i] = list->spans[i].begin_ns;
    if (list->count)
        qsort(begins, list->count, sizeof *begins, by_number);
    *middle = list->count ? begins[list->count / 2] : 0;
    free(begins);
    return 0;
}

int vti_span_list_trim(struct vti_span_list *list, uint64_t *count,
                       const struct vti_import_input *input)
{
    size_t kept = 0;
    int64_t middle = 0;
    int code = find_middle(list, &middle);

    *count = 0;
    for (size_t i = 0; i < list->count && !code; i++) {
        const struct vti_listed_span *span = &list->spans[i];
        int64_t end = span->end_ns > span->begin_ns ? span->end_ns : span->begin_ns;

        if (span->begin_ns < 0 || middle - span->begin_ns > NS_APART / 2 ||
            end - middle > NS_APART / 2)
            ++*count;
        else
            list->spans[kept++] = *span;
    }
    list->count = code ? list->count : kept;
    if (!code && !kept)
        code = vti_fail(VTI_E_EMPTY, "%s: all of its times are before 1970", input->path);
    return code;
}

/* Facts of the end are told from those of the begin by their time. */
static void part_ends(struct vti_span_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->spans[i].end_ns == list->spans[i].begin_ns && list->spans[i].at_end.len)
            list->spans[i].end_ns++;
}

static int find_extent(struct writing *writing)
{
    const struct vti_span_list *list = writing->list;

    writing->first_ns = INT64_MAX;
    writing->last_ns = INT64_MIN;
    for (size_t i = 0; i < list->count; i++) {
        int64_t begin = list->spans[i].begin_ns;
        int64_t end = list->spans[i].end_ns > begin ? list->spans[i].end_ns : begin;

        writing->first_ns = begin < writing->first_ns ? begin : writing->first_ns;
        writing->last_ns = end > writing->last_ns ? end : writing->last_ns;
    }
    if (writing->first_ns < 0 || writing->last_ns - writing->first_ns > NS_APART)
        return vti_fail(VTI_E_LIMIT, "%s: times before 1970, or more than 36 years apart",
                        writing->input->path);
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static int cut(struct writing *writing)
{
    int code = vti_import_write_sites(writing->target);

    return code ? code : vti_writer_events(writing->target->copy.writer, writing->encoder);
}

static int cut_if_full(struct writing *writing)
{
    return vti_encoder_pending(writing->encoder) < VTI_BLOCK_EVENTS ? 0 : cut(writing);
}

static int add_fact(const char *key, size_t len, const struct vti_value *value, void *arg)
{
    struct writing *writing = arg;

    writing->fact.value = *value;
    if (value->type == VTI_VALUE_TEXT && value->text.len > TEXT_MOST)
        writing->fact.value.text.len = vti_utf8_good(value->text.data, TEXT_MOST);
    writing->fact.site = find_site(writing->target, VTI_SITE_KEY,
                                   (struct vti_bytes){key, len < KEY_MOST ? len : KEY_MOST});
    if (!writing->fact.site)
        return VTI_E_NOMEM;
    vti_encoder_add(writing->encoder, &writing->fact);
    return 0;
}

static int add_facts(struct writing *writing, const struct vti_bytes *json, uint64_t ticks,
                     uint64_t id)
{
    struct vti_json_scan scan = {.at = json->data};
    int code;

    if (!json->len)
        return 0;
    scan.end = json->data + json->len;
    writing->fact = (struct vti_event){
        .ticks = ticks, .kind = VTI_EVENT_ASYNC_ATTR, .async_id = id};
    code = vti_json_flatten(&scan, writing->list->prefix, add_fact, writing);
    writing->list->broken_facts += scan.failed;
    return code;
}

static int add_begin(struct writing *writing, size_t at)
{
    const struct vti_listed_span *span = &writing->list->spans[at];
    uint64_t ticks = (uint64_t)(span->begin_ns - writing->first_ns);

    vti_encoder_add(writing->encoder, &(struct vti_event){.ticks = ticks,
                                                          .kind = VTI_EVENT_ASYNC_BEGIN,
                                                          .site = span->site,
                                                          .async_id = at + 1,
                                                          .has_trace = true,
                                                          .trace = span->ids});
    if (writing->project) {
        const struct vti_value value = {.type = VTI_VALUE_TEXT,
                                        .text = vti_bytes_of(writing->project)};
        int code;

        writing->fact = (struct vti_event){
            .ticks = ticks, .kind = VTI_EVENT_ASYNC_ATTR, .async_id = at + 1};
        code = add_fact("project", 7, &value, writing);
        writing->project = NULL;
        if (code)
            return code;
    }
    return add_facts(writing, &span->at_begin, ticks, at + 1);
}

static int add_end(struct writing *writing, size_t at)
{
    const struct vti_listed_span *span = &writing->list->spans[at];
    uint64_t ticks = (uint64_t)(span->end_ns - writing->first_ns);
    int code = add_facts(writing, &span->at_end, ticks, at + 1);

    vti_encoder_add(writing->encoder,
                    &(struct vti_event){.ticks = ticks,
                                        .kind = VTI_EVENT_ASYNC_END,
                                        .async_id = at + 1,
                                        .flags = span->has_failed ? VTI_FLAG_FAILED : 0});
    return code;
}

/* The spans from `first` to `end`, all of one process. `ends` has room for one number each. */
static int write_events(struct writing *writing, size_t first, size_t end, uint32_t *ends)
{
    const struct vti_listed_span *spans = writing->list->spans;
    size_t end_count = 0, done = 0;
    int code = 0;

    for (size_t i = first; i < end; i++)
        if (spans[i].end_ns != VTI_NO_END)
            ends[end_count++] = (uint32_t)i;
    sorted = spans;
    if (end_count)
        qsort(ends, end_count, sizeof *ends, by_end);
    for (size_t i = first; (i < end || done < end_count) && !code;) {
        if (i < end && (done == end_count || spans[i].begin_ns <= spans[ends[done]].end_ns))
            code = add_begin(writing, i++);
        else
            code = add_end(writing, ends[done++]);
        if (!code)
            code = cut_if_full(writing);
        if (!code && writing->input->is_stopped && writing->input->is_stopped())
            code = vti_fail(VTI_E_TIMEOUT, "interrupted, nothing written");
    }
    return code ? code : cut(writing);
}

static int write_process(struct writing *writing, uint32_t process, size_t first, size_t end,
                         uint32_t *ends)
{
    uint64_t last = (uint64_t)(writing->last_ns - writing->first_ns);
    const char *name = writing->list->processes[process].name;
    int code = vti_import_process(writing->target, process, 0, name, last);

    writing->project = writing->list->processes[process].project;
    if (!code)
        code = vti_import_track(writing->target, process, process, 0, "", last, false);
    if (!code)
        code = vti_encoder_create(&writing->encoder, process);
    if (!code)
        code = write_events(writing, first, end, ends);
    vti_encoder_free(writing->encoder);
    writing->encoder = NULL;
    return code;
}

int vti_span_list_write(struct vti_span_list *list, const struct vti_import_input *input,
                        struct vti_import_target *target)
{
    struct writing writing = {.list = list, .input = input, .target = target};
    uint32_t *ends = NULL;
    int code;

    part_ends(list);
    code = list->count >= UINT32_MAX ? vti_fail(VTI_E_LIMIT, "%s: too many spans", input->path)
                                     : find_extent(&writing);
    if (code)
        return code;
    code = vti_import_start(target, input->path, (uint64_t)writing.first_ns);
    ends = malloc((list->count + 1) * sizeof *ends);
    if (!code && !ends)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code && list->count)
        qsort(list->spans, list->count, sizeof *list->spans, by_begin);
    for (size_t at = 0, end; at < list->count && !code; at = end) {
        uint32_t process = list->spans[at].process;

        end = at;
        while (end < list->count && list->spans[end].process == process)
            end++;
        code = write_process(&writing, process, at, end, ends);
    }
    free(ends);
    return code;
}
