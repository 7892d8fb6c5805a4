/*
 * window.c - puts a picture of a stretch of time together from tiles.
 *
 * Tiles are finer than the window's pixels by a factor of up to 1.25: columns are folded into
 * pixels, and spans of at least a pixel become rectangles. A span that several tiles know is drawn
 * once.
 */
#include "base/error.h"
#include "model/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define PIXELS_MOST 65536
#define LATE_MOST 8 /* places that a rectangle is moved back at most */
#define NS_MOST ((int64_t)1 << 61)

/* Where a column of a tile lies in the window. */
struct column {
    uint32_t pixel;   /* to draw it in; VT_NONE outside */
    uint32_t first;   /* pixel in which it begins … */
    float share;      /* … what it covers of that … */
    float next_share; /* … and of the one after it */
};

struct query {
    struct vt_recording *recording;
    struct vt_window *window;
    size_t rect_capacity;
    double pixel_ns;
    double pixels_per_ns;
    int64_t from_ns, to_ns; /* the window's */
    int64_t short_ns;       /* what lasts less than a pixel lasts less than this */
    int64_t *pixel_starts;  /* owned; pixels + 1 */
    uint32_t zoom;
    int64_t width_ns, tile_ns;
    int64_t first_tile, tile_count;
    struct vti_tile **tiles; /* owned; those of the track at hand, NULL where it has nothing */
    struct column *columns;  /* owned; of all tiles one after the other */
};

/* Draws one depth of one track. */
struct pen {
    uint32_t track, depth;
    struct vt_rect *next;  /* where the next rectangle goes; there is room for all of the depth */
    struct vt_rect *fold;  /* the rectangle that short spans of `pixel` are folded into … */
    uint32_t pixel;        /* … VT_NONE: there is none yet */
    float longest_ns;      /* of them */
    int64_t span_begin_ns; /* of the last span: others know it too */
};

static uint32_t pixel_of(const struct query *query, int64_t ns)
{
    double pixel = (double)(ns - query->window->from_ns) * query->pixels_per_ns;

    if (pixel < 0)
        return 0;
    return pixel < query->window->pixels ? (uint32_t)pixel : query->window->pixels - 1;
}

/* Room for `more` rectangles. */
static int reserve(struct query *query, size_t more)
{
    struct vt_window *window = query->window;
    size_t wanted = query->rect_capacity ? query->rect_capacity : 1024;
    struct vt_rect *grown;

    if (more <= query->rect_capacity - window->rect_count)
        return 0;
    while (wanted < window->rect_count + more)
        wanted *= 2;
    grown = realloc(window->rects, wanted * sizeof *grown);
    if (!grown)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    window->rects = grown;
    query->rect_capacity = wanted;
    return 0;
}

/*
 * Folds `count` short spans into the rectangle of a pixel; `one` is the span if it is one, or NULL.
 * This and the next one are nearly all of a window's time, and what comes cannot be foretold, so
 * this is written as choices between values: 0.60 ms, where branches took 0.75.
 */
static ALWAYS_INLINE void draw_short(const struct query *query, struct pen *pen,
                                     const struct vti_cell *cell, uint32_t pixel, uint32_t count,
                                     const struct vti_tile_span *one)
{
    bool is_new = pen->pixel != pixel;
    bool is_longest = is_new | (cell->longest_ns > pen->longest_ns);
    struct vt_rect *rect = is_new ? pen->next : pen->fold;
    uint32_t before = is_new ? 0 : rect->count;
    bool is_exact = one && is_new & (count == 1);
    const void *from[2] = {&query->pixel_starts[pixel], one};
    int64_t times[2]; /* a span begins with its two as well */

    count += before;
    rect->track = pen->track;
    rect->depth = pen->depth;
    rect->site = is_longest ? cell->site : rect->site;
    rect->count = count >= before ? count : UINT32_MAX;
    memcpy(times, from[is_exact], sizeof times);
    rect->begin_ns = times[0];
    rect->end_ns = times[1];
    pen->next += is_new;
    pen->fold = rect;
    pen->pixel = pixel;
    pen->longest_ns = is_longest ? cell->longest_ns : pen->longest_ns;
}

/* Draws a cell; `one` is its span if it has one. */
static ALWAYS_INLINE void draw_cell(const struct query *query, struct pen *pen,
                                    const struct vti_cell *cell, uint32_t pixel,
                                    const struct vti_tile_span *one)
{
    uint32_t count = cell->count;

    if (!count) {
        int64_t begin_ns = one->begin_ns;
        int64_t end_ns = one->end_ns;

        if ((begin_ns >= query->to_ns) | (end_ns <= query->from_ns) |
            (begin_ns == pen->span_begin_ns))
            return;
        pen->span_begin_ns = begin_ns;
        if (end_ns - begin_ns >= query->short_ns) {
            *pen->next++ = (struct vt_rect){pen->track, pen->depth, cell->site,
                                            1,          begin_ns,   end_ns};
            return;
        }
        count = 1;
        pixel = pixel == VT_NONE ? 0 : pixel;
    }
    if (pixel != VT_NONE)
        draw_short(query, pen, cell, pixel, count, one);
}

/* What one tile has at one depth. The loops work on a copy of the pen, which can be kept in
 * registers. */
static void draw_tile(const struct query *query, struct pen *pen, const struct vti_tile *tile,
                      const struct column *columns)
{
    const struct vti_cell *cell = tile->cells + tile->cell_starts[pen->depth];
    const struct vti_cell *end = tile->cells + tile->cell_starts[pen->depth + 1];
    const struct vti_tile_span *one = tile->spans + tile->span_starts[pen->depth];
    struct pen held = *pen;

    if (tile->span_starts[pen->depth] == tile->span_starts[pen->depth + 1]) {
        for (; cell < end; cell++)
            if (columns[cell->column].pixel != VT_NONE)
                draw_short(query, &held, cell, columns[cell->column].pixel, cell->count, NULL);
    } else {
        for (; cell < end; cell++) {
            draw_cell(query, &held, cell, columns[cell->column].pixel, one);
            one += cell->count <= 1;
        }
    }
    *pen = held;
}

static size_t count_at_depth(const struct query *query, uint32_t depth)
{
    size_t count = 1;

    for (int64_t i = 0; i < query->tile_count; i++) {
        const struct vti_tile *tile = query->tiles[i];

        if (tile && depth < tile->depth_count)
            count += tile->cell_starts[depth + 1] - tile->cell_starts[depth];
    }
    return count;
}

static void move_back(struct vt_rect *rect, const struct vt_rect *first)
{
    for (int i = 0; i < LATE_MOST && rect > first && rect->begin_ns < rect[-1].begin_ns; i++) {
        struct vt_rect moved = *rect;

        *rect = rect[-1];
        *--rect = moved;
    }
}

/* Takes in the rectangles up to `end`. A column lies in the pixel of its middle, so what begins
 * near the border of two pixels may come a place or two late. */
static void finish_depth(struct vt_window *window, struct vt_rect *end)
{
    struct vt_rect *first = window->rects + window->rect_count;
    int64_t last_ns = INT64_MIN;
    uint64_t folded = 0;

    for (struct vt_rect *rect = first; rect < end; rect++) {
        folded += rect->count > 1 ? rect->count : 0;
        if (rect->begin_ns < last_ns)
            move_back(rect, first);
        last_ns = rect->begin_ns;
    }
    window->folded += folded;
    window->rect_count = (size_t)(end - window->rects);
}

static int draw_depth(struct query *query, uint32_t depth, uint32_t track)
{
    struct vt_window *window = query->window;
    struct pen pen = {.depth = depth, .track = track, .pixel = VT_NONE, .span_begin_ns = INT64_MIN};
    const struct vti_tile *last = NULL;

    if (reserve(query, count_at_depth(query, depth)))
        return VTI_E_NOMEM;
    pen.next = window->rects + window->rect_count;
    for (int64_t i = 0; i < query->tile_count; i++) {
        if (!query->tiles[i])
            continue;
        last = query->tiles[i];
        if (depth < last->depth_count)
            draw_tile(query, &pen, last, query->columns + i * VTI_TILE_COLUMNS);
    }
    /* A span that lasts beyond a tile is known to the next one, so only the last tile's matter. */
    if (last && depth < last->open_count) {
        struct vti_tile_span span = last->open[depth];
        struct vti_cell cell = {.site = span.site};

        span.end_ns = window->to_ns;
        draw_cell(query, &pen, &cell, pixel_of(query, span.begin_ns), &span);
    }
    finish_depth(window, pen.next);
    return 0;
}

/* How much of the time from `from` to `to` lies in a pixel, as a share of the pixel. */
static float share_of(const struct query *query, uint32_t pixel, int64_t from, int64_t to)
{
    int64_t pixel_begin = query->pixel_starts[pixel];
    int64_t pixel_end = query->pixel_starts[pixel + 1];
    int64_t begin = pixel_begin > from ? pixel_begin : from;
    int64_t end = pixel_end < to ? pixel_end : to;

    return end > begin ? (float)(end - begin) / (float)(pixel_end - pixel_begin) : 0;
}

static struct column map_column(const struct query *query, int64_t begin)
{
    const struct vt_window *window = query->window;
    int64_t end = begin + query->width_ns;
    struct column column = {.pixel = pixel_of(query, begin + query->width_ns / 2),
                            .first = pixel_of(query, begin)};

    /* Where pixel and column meet, rounding may name the pixel before. */
    if (column.first + 1 < window->pixels && query->pixel_starts[column.first + 1] <= begin)
        column.first++;
    column.share = share_of(query, column.first, begin, end);
    if (column.first + 1 < window->pixels)
        column.next_share = share_of(query, column.first + 1, begin, end);
    return column;
}

static void map_columns(struct query *query)
{
    int64_t begin = query->first_tile * query->tile_ns;
    int64_t i = (query->from_ns - begin) / query->width_ns;

    /* Those outside of the window: VT_NONE has all bits set. */
    memset(query->columns, 0xff,
           (size_t)query->tile_count * VTI_TILE_COLUMNS * sizeof *query->columns);
    for (begin += i * query->width_ns; begin < query->to_ns; begin += query->width_ns)
        query->columns[i++] = map_column(query, begin);
}

/* Pixels narrower than a nanosecond: a column covers many. */
static void add_busy_of_narrow(const struct query *query, const struct vti_tile *tile, float *busy)
{
    int64_t begin = tile->number * query->tile_ns;

    for (uint32_t i = 0; i < VTI_TILE_COLUMNS; i++, begin += query->width_ns)
        if (begin >= query->window->from_ns && begin < query->window->to_ns)
            for (uint32_t pixel = pixel_of(query, begin);
                 pixel < query->window->pixels && query->pixel_starts[pixel] <= begin; pixel++)
                busy[pixel] = tile->busy[i];
}

static void add_busy(const struct query *query, const struct vti_tile *tile,
                     const struct column *columns, float *busy)
{
    if (query->pixel_ns < 1) {
        add_busy_of_narrow(query, tile, busy);
        return;
    }
    for (uint32_t i = 0; i < VTI_TILE_COLUMNS; i++) {
        if (columns[i].pixel == VT_NONE)
            continue;
        busy[columns[i].first] += tile->busy[i] * columns[i].share;
        if (columns[i].next_share > 0)
            busy[columns[i].first + 1] += tile->busy[i] * columns[i].next_share;
    }
}

static int draw_track(struct query *query, uint32_t order, float *busy)
{
    struct vt_recording *recording = query->recording;
    const struct vti_track *track = recording->facts.tracks[order];
    int64_t end_ns = vti_track_end_ns(recording, track);
    uint32_t depth_count = 0;
    int result = 0;

    vti_tiles_hold(recording);
    for (int64_t i = 0; i < query->tile_count; i++) {
        int64_t begin_ns = (query->first_tile + i) * query->tile_ns;
        struct vti_tile *tile;

        query->tiles[i] = NULL;
        if (begin_ns > end_ns || begin_ns + query->tile_ns <= track->first_ns)
            continue;
        tile = vti_tiles_get(recording, order, query->zoom, query->first_tile + i);
        if (!tile)
            return VTI_E_NOMEM;
        query->tiles[i] = tile;
        add_busy(query, tile, query->columns + i * VTI_TILE_COLUMNS, busy);
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

static int64_t tile_of(const struct query *query, int64_t ns)
{
    return ns >= 0 ? ns / query->tile_ns : -((-ns + query->tile_ns - 1) / query->tile_ns);
}

static int prepare(struct query *query, struct vt_window *window)
{
    query->pixel_ns = (double)(window->to_ns - window->from_ns) / window->pixels;
    query->pixels_per_ns = 1 / query->pixel_ns;
    query->from_ns = window->from_ns;
    query->to_ns = window->to_ns;
    query->short_ns = (int64_t)ceil(query->pixel_ns);
    while (query->zoom < VTI_ZOOM_MOST &&
           (double)vti_zoom_width(query->zoom + 1) <= query->pixel_ns)
        query->zoom++;
    query->width_ns = vti_zoom_width(query->zoom);
    query->tile_ns = query->width_ns * VTI_TILE_COLUMNS;
    query->first_tile = tile_of(query, window->from_ns);
    query->tile_count = tile_of(query, window->to_ns - 1) - query->first_tile + 1;
    query->pixel_starts = malloc(((size_t)window->pixels + 1) * sizeof *query->pixel_starts);
    query->tiles = calloc((size_t)query->tile_count, sizeof(struct vti_tile *));
    query->columns = malloc((size_t)query->tile_count * VTI_TILE_COLUMNS * sizeof *query->columns);
    if (!query->pixel_starts || !query->tiles || !query->columns)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < window->pixels; i++)
        query->pixel_starts[i] = window->from_ns + (int64_t)(query->pixel_ns * i);
    query->pixel_starts[window->pixels] = window->to_ns;
    map_columns(query);
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

    /* What a slice has left out is not lost. */
    for (uint32_t i = 0; vt_recording_loss(recording, i, &loss); i++)
        if (recording->facts.losses[i].reason != VTI_LOSS_SLICED && loss.begin_ns < window->to_ns &&
            loss.end_ns >= window->from_ns)
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
    /* No event lies further out than this. */
    window->from_ns = from_ns < -NS_MOST ? -NS_MOST : from_ns < NS_MOST ? from_ns : NS_MOST;
    window->to_ns = to_ns > NS_MOST ? NS_MOST : to_ns;
    if (window->to_ns <= window->from_ns)
        window->to_ns = window->from_ns + 1;
    window->pixels = pixels;
    if (from_ns >= to_ns || pixels == 0 || pixels > PIXELS_MOST)
        return vti_read_result(
            vti_fail(VTI_E_USAGE, "%s: no window from %lld to %lld ns on %u pixels",
                     recording->path, (long long)from_ns, (long long)to_ns, pixels));
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
