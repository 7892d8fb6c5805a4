/*
 * window.c - pictures of a stretch of time of a recording of any size, and the spans in it one by one.
 *
 * The recordings are opened here once more, apart from those of the live state: only libmicrohttpd's thread uses them, and nobody waits
 * for a picture but who asked for it. What a picture costs depends on its pixels.
 */
#include "serve/window.h"

#include "analyze/values.h"
#include "base/error.h"
#include "live/tick.h"
#include "venturi/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MOST 4
#define RECTS_MOST 50000
#define PIXELS_MOST 4000
#define SPANS_MOST 1000
#define LOOK_NS 100000000

struct opened {
    char *path; /* owned */
    vt_recording *recording;
    int64_t used_ns;
};

struct vti_windows {
    struct opened opened[OPEN_MOST];
};

static struct vti_windows windows; /* of libmicrohttpd's one thread */

static void forget(struct opened *opened)
{
    vt_recording_close(opened->recording);
    free(opened->path);
    memset(opened, 0, sizeof *opened);
}

void vti_windows_fini(void)
{
    for (unsigned i = 0; i < OPEN_MOST; i++)
        forget(&windows.opened[i]);
}

/* Opened, and as long as the file is now. */
static int open_path(const char *path, vt_recording **recording)
{
    struct opened *at = &windows.opened[0];
    int code;

    for (unsigned i = 0; i < OPEN_MOST; i++) {
        struct opened *one = &windows.opened[i];

        if (one->path && !strcmp(one->path, path)) {
            at = one;
            break;
        }
        if (one->used_ns < at->used_ns)
            at = one;
    }
    if (at->path && !strcmp(at->path, path) && vt_recording_refresh(at->recording) >= 0) {
        at->used_ns = vti_tick_now();
        *recording = at->recording;
        return 0;
    }
    forget(at);
    code = vt_recording_open(&at->recording, path);
    if (code)
        return code;
    at->path = strdup(path);
    at->used_ns = vti_tick_now();
    *recording = at->recording;
    return at->path ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

char *vti_asked_path(const struct vti_request *request, int64_t *number, const char **bad)
{
    struct vti_serve *serve = request->serve;
    const struct vti_live_recording *list;
    char *path = NULL;
    size_t count;

    pthread_mutex_lock(&serve->lock);
    list = vti_shown_recordings(serve->live, &count);
    if (vti_ask_number(request, "recording", 0, INT32_MAX, count ? (int64_t)count - 1 : 0, number,
                       bad)) {
        if (*number < (int64_t)count)
            path = strdup(list[*number].path);
        else
            *bad = "recording";
    }
    pthread_mutex_unlock(&serve->lock);
    return path;
}

/* ---- a picture ----------------------------------------------------------------------------------- */

static void add_base64(struct vti_json *json, const float *busy, uint32_t pixels)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[(PIXELS_MOST + 2) / 3 * 4 + 1];
    size_t len = 0;

    for (uint32_t i = 0; i < pixels; i += 3) {
        unsigned left = pixels - i < 3 ? pixels - i : 3;
        uint32_t group = 0;

        for (unsigned n = 0; n < 3; n++) {
            float share = n < left ? busy[i + n] : 0;

            group = group << 8 | (uint32_t)((share < 0   ? 0
                                             : share > 1 ? 1
                                                         : share) *
                                                255.0f +
                                            0.5f);
        }
        for (unsigned n = 0; n < 4; n++)
            text[len++] = n <= left ? digits[group >> (18 - 6 * n) & 63] : '=';
    }
    vti_json_bytes(json, text, len);
}

/* Names of sites become numbers in order of appearance. */
struct names {
    struct vti_map *map;
    uint32_t count;
};

static int64_t name_of(struct names *names, const vt_recording *recording, uint32_t site)
{
    struct vt_site_info info;
    int is_new;

    vt_recording_site_by_id(recording, site, &info);
    return vti_map_add(names->map, info.name, strlen(info.name) + 1, &is_new);
}

static void add_rects(struct vti_json *json, vt_recording *recording,
                      const struct vt_window *window, uint32_t track, uint32_t deepest,
                      struct names *names)
{
    vti_json_key(json, "rects");
    vti_json_array(json);
    for (size_t i = 0; i < window->rect_count; i++) {
        const struct vt_rect *rect = &window->rects[i];
        int64_t name;

        if (rect->track != track || rect->depth > deepest)
            continue;
        name = name_of(names, recording, rect->site);
        vti_json_array(json);
        vti_json_uint(json, rect->depth);
        vti_json_int(json, name < 0 ? 0 : name);
        vti_json_int(json, rect->begin_ns);
        vti_json_int(json, rect->end_ns - rect->begin_ns);
        vti_json_uint(json, rect->count);
        vti_json_array_end(json);
    }
    vti_json_array_end(json);
}

/* How deep rectangles may be so that there are not too many; *left_out counts the others. */
static uint32_t depth_limit(const struct vt_window *window, uint64_t *left_out)
{
    uint64_t counts[1025] = {0};
    uint64_t sum = 0;
    uint32_t depth;

    for (size_t i = 0; i < window->rect_count; i++)
        counts[window->rects[i].depth < 1024 ? window->rects[i].depth : 1024]++;
    for (depth = 0; depth < 1025 && sum + counts[depth] <= RECTS_MOST; depth++)
        sum += counts[depth];
    *left_out = window->rect_count - sum;
    return depth == 1025 ? UINT32_MAX : depth ? depth - 1 : 0;
}

static void add_track(struct vti_json *json, vt_recording *recording,
                      const struct vt_window *window, uint32_t id, const float *busy,
                      bool with_rects, uint32_t deepest, struct names *names)
{
    struct vt_track_info track;
    struct vt_process_info process;

    vt_recording_track_by_id(recording, id, &track);
    vt_recording_process_by_id(recording, track.process, &process);
    vti_json_object(json);
    vti_json_add_uint(json, "track", track.id);
    vti_json_add_uint(json, "pid", process.pid);
    vti_json_add_uint(json, "tid", track.tid);
    vti_json_add_string(json, "name", track.name);
    vti_json_add_uint(json, "deepest", track.deepest);
    vti_json_key(json, "busy");
    add_base64(json, busy, window->pixels);
    if (with_rects)
        add_rects(json, recording, window, track.id, deepest, names);
    vti_json_object_end(json);
}

struct question {
    int64_t number, from_ns, to_ns, pixels, with_rects, track;
};

/* All that have something in the window, or the one that was asked for, whether it has or not. */
static void add_tracks(struct vti_json *json, vt_recording *recording,
                       const struct vt_window *window, const struct question *question,
                       uint32_t deepest, struct names *names)
{
    static const float idle[PIXELS_MOST];
    uint32_t asked = (uint32_t)question->track;
    struct vt_track_info track;
    bool is_shown = question->track < 0;

    for (uint32_t i = 0; i < window->track_count; i++) {
        if (question->track >= 0 && window->tracks[i] != asked)
            continue;
        add_track(json, recording, window, window->tracks[i],
                  window->busy + (size_t)i * window->pixels, question->with_rects, deepest, names);
        is_shown = true;
    }
    for (uint32_t i = 0; !is_shown && vt_recording_track(recording, i, &track); i++)
        if (track.id == asked)
            add_track(json, recording, window, asked, idle, question->with_rects, deepest, names);
}

/* When the last thing happened. Times are from when recording began, which is before the first of them: the duration is less. */
static int64_t end_of(const vt_recording *recording)
{
    struct vt_process_info process;
    struct vt_track_info track;
    int64_t end_ns = 1;

    for (uint32_t i = 0; vt_recording_process(recording, i, &process); i++)
        end_ns = process.end_ns > end_ns ? process.end_ns : end_ns;
    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++)
        end_ns = track.end_ns >= end_ns && track.end_ns < INT64_MAX ? track.end_ns + 1 : end_ns;
    return end_ns;
}

static int write_window(struct vti_json *json, vt_recording *recording, struct question *question)
{
    struct vt_recording_info info;
    struct vt_window window = {0};
    struct names names = {0};
    uint64_t left_out = 0;
    uint32_t deepest = 0;
    int code;

    vt_recording_info(recording, &info);
    if (question->to_ns == INT64_MAX)
        question->to_ns = end_of(recording);
    if (question->to_ns <= question->from_ns)
        return vti_fail(VTI_E_USAGE, "from: must be before to");
    code = vti_map_create(&names.map);
    if (!code)
        code = vt_window_query(recording, question->from_ns, question->to_ns,
                               (uint32_t)question->pixels, &window);
    if (code) {
        vti_map_free(names.map);
        return code;
    }
    if (question->with_rects)
        deepest = depth_limit(&window, &left_out);
    vti_json_add_int(json, "recording", question->number);
    vti_json_add_ms(json, "start_ms", info.start_realtime_ns);
    vti_json_add_int(json, "duration_ns", info.duration_ns);
    vti_json_add_int(json, "from_ns", window.from_ns);
    vti_json_add_int(json, "to_ns", window.to_ns);
    vti_json_add_uint(json, "pixels", window.pixels);
    vti_json_add_uint(json, "folded", window.folded);
    vti_json_add_uint(json, "lost_events", window.lost_events);
    vti_json_add_uint(json, "more", left_out);
    vti_json_key(json, "tracks");
    vti_json_array(json);
    add_tracks(json, recording, &window, question, deepest, &names);
    vti_json_array_end(json);
    vti_json_key(json, "names");
    vti_json_array(json);
    for (uint32_t i = 0; i < vti_map_count(names.map); i++) {
        size_t len;

        vti_json_string(json, vti_map_key(names.map, i, &len));
    }
    vti_json_array_end(json);
    vt_window_free(&window);
    vti_map_free(names.map);
    return 0;
}

static enum MHD_Result answer(const struct vti_request *request, int code, struct vti_buf *text)
{
    if (!code)
        return vti_answer_text(request, MHD_HTTP_OK, text, NULL);
    vti_buf_fini(text);
    return vti_answer_error(
        request, code == VTI_E_USAGE ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_SERVICE_UNAVAILABLE, "%s",
        vti_error_message(code));
}

static enum MHD_Result refuse(const struct vti_request *request, const char *bad)
{
    return vti_answer_error(request, MHD_HTTP_BAD_REQUEST, "%s: not a number that fits", bad);
}

enum MHD_Result vti_serve_window(const struct vti_request *request)
{
    struct question question;
    struct vti_buf text = {0};
    struct vti_json json;
    vt_recording *recording;
    const char *bad = NULL;
    char *path = vti_asked_path(request, &question.number, &bad);
    int code;

    if (bad ||
        !vti_ask_number(request, "from", -INT64_MAX / 4, INT64_MAX / 4, 0, &question.from_ns,
                        &bad) ||
        !vti_ask_number(request, "to", -INT64_MAX / 4, INT64_MAX / 4, INT64_MAX, &question.to_ns,
                        &bad) ||
        !vti_ask_number(request, "pixels", 1, PIXELS_MOST, 1000, &question.pixels, &bad) ||
        !vti_ask_number(request, "tracks", 0, 1, 1, &question.with_rects, &bad) ||
        !vti_ask_number(request, "track", 0, UINT32_MAX, -1, &question.track, &bad)) {
        free(path);
        return refuse(request, bad);
    }
    vti_json_init(&json, &text);
    vti_json_object(&json);
    code = path ? open_path(path, &recording) : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        code = write_window(&json, recording, &question);
    vti_json_object_end(&json);
    free(path);
    return answer(request, code, &text);
}

/* ---- spans --------------------------------------------------------------------------------------- */

struct listing {
    struct vti_json *json;
    vt_recording *recording;
    const char *name; /* NULL: any */
    int64_t left;
    int64_t until_ns;
    uint64_t seen;
    bool is_more;
};

static void add_error(struct vti_json *json, const struct vt_span *span)
{
    struct vti_buf text = {0};

    if (!span->has_error) {
        vti_json_add_null(json, "error");
        return;
    }
    vti_error_text(&text, span);
    vti_json_key(json, "error");
    vti_json_bytes(json, (const char *)text.data, text.len);
    vti_buf_fini(&text);
}

static int add_span(const struct vt_span *span, void *arg)
{
    struct listing *listing = arg;
    struct vti_json *json = listing->json;
    struct vt_site_info site;

    if (++listing->seen % 1024 == 0 && vti_tick_is_over(listing->until_ns))
        return listing->is_more = true;
    vt_recording_site_by_id(listing->recording, span->site, &site);
    if (listing->name && strcmp(listing->name, site.name))
        return 0;
    if (!listing->left--)
        return listing->is_more = true;
    vti_json_object(json);
    vti_json_add_uint(json, "track", span->track);
    vti_json_add_string(json, "name", site.name);
    vti_json_add_int(json, "begin_ns", span->begin_ns);
    vti_json_add_int(json, "length_ns", span->end_ns - span->begin_ns);
    vti_json_add_int(json, "self_ns", span->self_ns);
    vti_json_add_uint(json, "depth", span->depth);
    vti_json_add_bool(json, "is_finished", span->is_finished);
    add_error(json, span);
    vti_json_key(json, "attrs");
    vti_json_object(json);
    vti_json_attrs(json, listing->recording, span);
    vti_json_object_end(json);
    vti_json_object_end(json);
    return 0;
}

enum MHD_Result vti_serve_spans(const struct vti_request *request)
{
    struct vt_filter filter = {0};
    struct vti_buf text = {0};
    struct vti_json json;
    struct listing listing = {
        .json = &json,
        .until_ns = vti_tick_now() + LOOK_NS,
        .name = MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, "name")};
    int64_t number, track;
    const char *bad = NULL;
    char *path = vti_asked_path(request, &number, &bad);
    int code;

    if (bad ||
        !vti_ask_number(request, "from", -INT64_MAX / 4, INT64_MAX / 4, 0, &filter.from_ns, &bad) ||
        !vti_ask_number(request, "to", -INT64_MAX / 4, INT64_MAX / 4, INT64_MAX, &filter.to_ns,
                        &bad) ||
        !vti_ask_number(request, "track", 0, UINT32_MAX, VT_NONE, &track, &bad) ||
        !vti_ask_number(request, "limit", 1, SPANS_MOST, 100, &listing.left, &bad)) {
        free(path);
        return refuse(request, bad);
    }
    filter.track = (uint32_t)track;
    vti_json_init(&json, &text);
    vti_json_object(&json);
    vti_json_key(&json, "list");
    vti_json_array(&json);
    code = path ? open_path(path, &listing.recording) : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        code = vt_recording_spans(listing.recording, &filter, add_span, &listing);
    vti_json_array_end(&json);
    vti_json_add_bool(&json, "more", listing.is_more);
    vti_json_object_end(&json);
    free(path);
    return answer(request, code < 0 ? code : 0, &text);
}
