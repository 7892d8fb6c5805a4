/*
 * window.c - puts a picture of a stretch of time together from tiles.
 *
 * Tiles are finer than the window's pixels by a factor of one to two: columns are folded into pixels, and
 * spans of at least a pixel become rectangles. A span that several tiles know is drawn once.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define PIXELS_MOST 65536
#define NS_MOST ((int64_t)1 << 61)

struct query {
    struct vt_recording *recording;
    struct vt_window *window;
    size_t rect_capacity;
    double pixel_ns;
    int64_t *pixel_starts; /* owned; pixels + 1 */
    uint32_t zoom;
    int64_t first_tile, tile_count;
    struct vti_tile **tiles; /* owned; those of the track at hand, NULL where it has nothing */
    uint32_t *columns;       /* owned; the pixel of each of their columns, VT_NONE outside */
};

/* What was drawn last at the depth at hand. */
struct pen {
    bool has_fold;
    size_t fold; /* the rectangle that short spans of `pixel` are folded into */
    uint32_t pixel;
    int64_t longest_ns;
    bool has_span;
    int64_t span_begin_ns;
};

static uint32_t pixel_of(const struct query *query, int64_t ns)
{
    double pixel = (double)(ns - query->window->from_ns) / query->pixel_ns;

    if (pixel < 0)
        return 0;
    return pixel < query->window->pixels ? (uint32_t)pixel : query->window->pixels - 1;
}

static struct vt_rect *add_rect(struct query *query, const struct vti_tile_span *span, uint32_t track)
{
    struct vt_window *window = query->window;
    struct vt_rect *rect;

    if (window->rect_count == query->rect_capacity &&
        vti_grow(&window->rects, window->rect_count, &query->rect_capacity, sizeof *window->rects))
        return NULL;
    rect = &window->rects[window->rect_count++];
    rect->track = track;
    rect->depth = span->depth;
    rect->site = span->site;
    rect->count = 1;
    rect->begin_ns = span->begin_ns;
    rect->end_ns = span->end_ns;
    return rect;
}

/* Short spans: as they are if there is one, all in the rectangle of their pixel if there are more. */
static int draw_fold(struct query *query, struct pen *pen, const struct vti_tile_span *span,
                     uint32_t pixel, uint32_t count, uint32_t track)
{
    struct vt_window *window = query->window;
    int64_t duration = span->end_ns - span->begin_ns;
    struct vt_rect *rect;

    if (pen->has_fold && pen->pixel == pixel) {
        rect = &window->rects[pen->fold];
        window->folded += rect->count == 1 ? (uint64_t)count + 1 : count;
        rect->count = count < UINT32_MAX - rect->count ? rect->count + count : UINT32_MAX;
        if (duration > pen->longest_ns) {
            pen->longest_ns = duration;
            rect->site = span->site;
        }
    } else {
        rect = add_rect(query, span, track);
        if (!rect)
            return VTI_E_NOMEM;
        rect->count = count;
        window->folded += count > 1 ? count : 0;
        pen->has_fold = true;
        pen->fold = window->rect_count - 1;
        pen->pixel = pixel;
        pen->longest_ns = duration;
    }
    if (rect->count > 1) {
        rect->begin_ns = query->pixel_starts[pixel];
        rect->end_ns = query->pixel_starts[pixel + 1];
    }
    return 0;
}

static int draw_span(struct query *query, struct pen *pen, const struct vti_tile_span *span,
                     uint32_t track)
{
    struct vt_window *window = query->window;

    if (span->end_ns <= window->from_ns || span->begin_ns >= window->to_ns ||
        (pen->has_span && pen->span_begin_ns == span->begin_ns))
        return 0;
    pen->has_span = true;
    pen->span_begin_ns = span->begin_ns;
    if ((double)(span->end_ns - span->begin_ns) < query->pixel_ns)
        return draw_fold(query, pen, span, pixel_of(query, span->begin_ns), 1, track);
    return add_rect(query, span, track) ? 0 : VTI_E_NOMEM;
}

/* What one tile has at one depth, spans and folded ones in order of time. */
static int draw_tile(struct query *query, struct pen *pen, const struct vti_tile *tile,
                     const uint32_t *columns, uint32_t depth, uint32_t track)
{
    const struct vti_cell *cell = tile->cells + tile->cell_starts[depth];
    const struct vti_cell *cells_end = tile->cells + tile->cell_starts[depth + 1];
    const struct vti_tile_span *span = tile->spans + tile->span_starts[depth];
    const struct vti_tile_span *spans_end = tile->spans + tile->span_starts[depth + 1];
    int result = 0;

    while (!result && (cell < cells_end || span < spans_end)) {
        uint32_t pixel = cell < cells_end ? columns[cell->column] : 0;

        if (cell < cells_end && pixel == VT_NONE) {
            cell++;
        } else if (cell == cells_end ||
                   (span < spans_end && span->begin_ns < query->pixel_starts[pixel])) {
            result = draw_span(query, pen, span++, track);
        } else {
            struct vti_tile_span longest = {cell->begin_ns, cell->end_ns, cell->site, depth};

            result = draw_fold(query, pen, &longest, pixel, cell->count, track);
            cell++;
        }
    }
    return result;
}

static int draw_depth(struct query *query, uint32_t depth, uint32_t track)
{
    const struct vti_tile *last = NULL;
    struct pen pen = {0};
    int result = 0;

    for (int64_t i = 0; i < query->tile_count && !result; i++) {
        const struct vti_tile *tile = query->tiles[i];

        if (!tile)
            continue;
        last = tile;
        if (depth < tile->depth_count)
            result = draw_tile(query, &pen, tile, query->columns + i * VTI_TILE_COLUMNS, depth,
                               track);
    }
    /* A span that lasts beyond a tile is known to the next one, so only the last tile's matter. */
    if (!result && last && depth < last->open_count) {
        struct vti_tile_span span = last->open[depth];

        span.end_ns = query->window->to_ns;
        result = draw_span(query, &pen, &span, track);
    }
    return result;
}

/* The pixel of each column of a tile, and the busy shares of those pixels. */
static void map_columns(struct query *query, const struct vti_tile *tile, uint32_t *columns,
                        float *busy)
{
    const struct vt_window *window = query->window;
    int64_t width = (int64_t)1 << tile->zoom;
    int64_t begin = tile->number * (width * VTI_TILE_COLUMNS);

    for (uint32_t i = 0; i < VTI_TILE_COLUMNS; i++, begin += width) {
        int64_t from = begin > window->from_ns ? begin : window->from_ns;
        int64_t to = begin + width < window->to_ns ? begin + width : window->to_ns;

        columns[i] = from < to ? pixel_of(query, begin + width / 2) : VT_NONE;
        if (from >= to || tile->busy[i] == 0)
            continue;
        for (uint32_t pixel = pixel_of(query, from); pixel < window->pixels && from < to; pixel++) {
            int64_t until = query->pixel_starts[pixel + 1] < to ? query->pixel_starts[pixel + 1] : to;

            if (until > from)
                busy[pixel] += (float)((double)(until - from) * tile->busy[i] / query->pixel_ns);
            from = until > from ? until : from;
        }
    }
}

static int draw_track(struct query *query, uint32_t order, float *busy)
{
    struct vt_recording *recording = query->recording;
    const struct vti_track *track = recording->facts.tracks[order];
    int64_t tile_ns = (int64_t)VTI_TILE_COLUMNS << query->zoom;
    int64_t end_ns = vti_track_end_ns(recording, track);
    uint32_t depth_count = 0;
    int result = 0;

    vti_tiles_hold(recording);
    for (int64_t i = 0; i < query->tile_count; i++) {
        int64_t begin_ns = (query->first_tile + i) * tile_ns;
        struct vti_tile *tile;

        query->tiles[i] = NULL;
        if (begin_ns > end_ns || begin_ns + tile_ns <= track->first_ns)
            continue;
        tile = vti_tiles_get(recording, order, query->zoom, query->first_tile + i);
        if (!tile)
            return VTI_E_NOMEM;
        query->tiles[i] = tile;
        map_columns(query, tile, query->columns + i * VTI_TILE_COLUMNS, busy);
        depth_count = tile->depth_count > depth_count ? tile->depth_count : depth_count;
        depth_count = tile->open_count > depth_count ? tile->open_count : depth_count;
    }
    for (uint32_t pixel = 0; pixel < query->window->pixels; pixel++)
        busy[pixel] = busy[pixel] > 1 ? 1 : busy[pixel];
    for (uint32_t depth = 0; depth < depth_count && !result; depth++)
        result = draw_depth(query, depth, track->id);
    return result;
}

static bool is_in_window(struct vt_recording *recording, const struct vti_track *track,
                         const struct vt_window *window)
{
    return vti_blocks_count(track) && track->first_ns < window->to_ns &&
           vti_track_end_ns(recording, track) >= window->from_ns;
}

static int64_t floor_to_tile(int64_t ns, uint32_t zoom)
{
    int64_t tile_ns = (int64_t)VTI_TILE_COLUMNS << zoom;

    return ns >= 0 ? ns / tile_ns : -((-ns + tile_ns - 1) / tile_ns);
}

static int prepare(struct query *query, struct vt_window *window)
{
    int64_t last_tile;

    query->pixel_ns = (double)(window->to_ns - window->from_ns) / window->pixels;
    while (query->zoom < VTI_ZOOM_MOST &&
           (double)((int64_t)2 << query->zoom) <= query->pixel_ns)
        query->zoom++;
    query->first_tile = floor_to_tile(window->from_ns, query->zoom);
    last_tile = floor_to_tile(window->to_ns - 1, query->zoom);
    query->tile_count = last_tile - query->first_tile + 1;
    query->pixel_starts = malloc(((size_t)window->pixels + 1) * sizeof *query->pixel_starts);
    query->tiles = calloc((size_t)query->tile_count, sizeof(struct vti_tile *));
    query->columns =
        calloc((size_t)query->tile_count * VTI_TILE_COLUMNS, sizeof *query->columns);
    if (!query->pixel_starts || !query->tiles || !query->columns)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < window->pixels; i++)
        query->pixel_starts[i] = window->from_ns + (int64_t)(query->pixel_ns * i);
    query->pixel_starts[window->pixels] = window->to_ns;
    return 0;
}

/* The tracks that have something in the window. */
static int choose_tracks(struct query *query, uint32_t **orders)
{
    struct vt_recording *recording = query->recording;
    struct vt_window *window = query->window;
    uint32_t count = recording->facts.track_ids.count;

    *orders = calloc((size_t)count + 1, sizeof **orders);
    window->tracks = calloc((size_t)count + 1, sizeof *window->tracks);
    if (!*orders || !window->tracks)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++) {
        if (!is_in_window(recording, recording->facts.tracks[i], window))
            continue;
        (*orders)[window->track_count] = i;
        window->tracks[window->track_count++] = recording->facts.tracks[i]->id;
    }
    window->busy = calloc((size_t)window->track_count * window->pixels + 1, sizeof *window->busy);
    return window->busy ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

static void count_losses(struct vt_recording *recording, struct vt_window *window)
{
    struct vt_loss_info loss;

    for (uint32_t i = 0; vt_recording_loss(recording, i, &loss); i++)
        if (loss.begin_ns < window->to_ns && loss.end_ns >= window->from_ns)
            window->lost_events += loss.events;
}

static int draw(struct query *query)
{
    struct vt_recording *recording = query->recording;
    struct vt_window *window = query->window;
    uint32_t *orders = NULL;
    int result = prepare(query, window);

    for (uint32_t i = 0; i < recording->facts.track_ids.count && !result; i++)
        if (is_in_window(recording, recording->facts.tracks[i], window))
            result = vti_blocks_index(recording, recording->facts.tracks[i]);
    if (!result)
        result = choose_tracks(query, &orders);
    for (uint32_t i = 0; i < window->track_count && !result; i++)
        result = draw_track(query, orders[i], window->busy + (size_t)i * window->pixels);
    count_losses(recording, window);
    free(orders);
    return result;
}

int vt_window_query(vt_recording *recording, int64_t from_ns, int64_t to_ns, uint32_t pixels,
                    struct vt_window *window)
{
    struct query query = {.recording = recording, .window = window};
    int result;

    memset(window, 0, sizeof *window);
    window->from_ns = from_ns < -NS_MOST ? -NS_MOST : from_ns;
    window->to_ns = to_ns > NS_MOST ? NS_MOST : to_ns;
    window->pixels = pixels;
    if (window->from_ns >= window->to_ns || pixels == 0 || pixels > PIXELS_MOST)
        return vti_read_result(vti_fail(VTI_E_USAGE,
                                        "%s: no window from %lld to %lld ns on %u pixels",
                                        recording->path, (long long)from_ns, (long long)to_ns,
                                        pixels));
    result = vti_recording_prepare(recording);
    if (!result)
        result = draw(&query);
    free(query.pixel_starts);
    free(query.tiles);
    free(query.columns);
    if (result)
        vt_window_free(window);
    return vti_read_result(result);
}

void vt_window_free(struct vt_window *window)
{
    free(window->rects);
    free(window->tracks);
    free(window->busy);
    memset(window, 0, sizeof *window);
}
