/*
 * flame_draw.c - a flame graph of characters, roots on top (an icicle).
 *
 * A frame is as wide as its share of the time. It begins with a line, which tells frames apart where there is no colour; its
 * name loses its end where it does not fit. Nothing below a frame is its own time; dots are frames too narrow to be drawn.
 */
#include "base/error.h"
#include "base/hash.h"
#include "cli/chart.h"
#include "cli/flame.h"
#include "cli/prose.h"
#include "cli/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_LEAST                                                                                \
    4 /* columns of a name below which a sign for its missing end would be most of it */

/* A rectangle of the picture; `frame` is VT_NONE for folded ones. */
struct cell {
    uint32_t frame, depth;
    size_t from, to; /* columns */
};

struct picture {
    const struct vti_flame_view *view;
    struct vti_buf cells; /* struct cell */
    struct vti_buf out;
    uint64_t narrow; /* frames that got no column */
    bool is_utf8, is_colored;
    const char *line; /* at the left of a frame */
};

/* ---- where frames go ------------------------------------------------------------------------- */

static size_t column_of(const struct picture *picture, double ns)
{
    double column = ns / picture->view->flame->total_ns * (double)picture->view->width;

    if (!(column > 0))
        return 0;
    return column < (double)picture->view->width ? (size_t)lround(column) : picture->view->width;
}

static void add_cell(struct picture *picture, uint32_t frame, uint32_t depth, double from_ns,
                     double to_ns)
{
    struct cell cell = {frame, depth, column_of(picture, from_ns), column_of(picture, to_ns)};

    if (cell.to > cell.from)
        vti_buf_add(&picture->cells, &cell, sizeof cell);
    else if (frame != VT_NONE)
        picture->narrow++;
}

/* Frames stand side by side from where their parent begins; what was folded comes after them. */
static int place_frames(struct picture *picture)
{
    const struct vti_flame *flame = picture->view->flame;
    double *begins = calloc(flame->count + 1, sizeof *begins); /* where the next child begins … */
    double *ends = calloc(flame->count + 1, sizeof *ends);     /* … and where the frame ends */
    double next = 0;                                           /* root */

    if (!begins || !ends) {
        free(begins);
        free(ends);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    for (uint32_t i = 0; i < flame->count; i++) {
        const struct vti_flame_frame *frame = &flame->frames[i];
        double *from = frame->parent == VT_NONE ? &next : &begins[frame->parent];
        double end = frame->parent == VT_NONE ? flame->total_ns : ends[frame->parent];

        begins[i] = *from;
        ends[i] = *from = fmin(*from + frame->total_ns, end);
        add_cell(picture, i, frame->depth, begins[i], ends[i]);
    }
    for (uint32_t i = 0; i < flame->count; i++) {
        const struct vti_flame_frame *frame = &flame->frames[i];

        if (frame->depth + 1 < picture->view->options->depth)
            add_cell(picture, VT_NONE, frame->depth + 1, begins[i],
                     fmin(begins[i] + frame->folded_ns, ends[i]));
    }
    add_cell(picture, VT_NONE, 0, next, next + flame->folded_ns);
    free(begins);
    free(ends);
    return picture->cells.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

static int by_place(const void *left, const void *right)
{
    const struct cell *a = left;
    const struct cell *b = right;

    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* ---- one frame ------------------------------------------------------------------------------- */

static void add_blanks(struct vti_buf *out, size_t count)
{
    while (count--)
        vti_buf_add_u8(out, ' ');
}

/* As much of a harmless text as fits, and the columns that it takes. */
static size_t add_beginning(struct picture *picture, const char *text, size_t len, size_t most)
{
    bool is_cut = vti_text_width(text, len) > most;
    size_t room = is_cut && most >= LABEL_LEAST ? most - 1 : most;
    size_t wide = 0;
    size_t at = 0;

    while (at < len) {
        size_t next = at + 1;
        size_t columns;

        while (next < len && (text[next] & 0xc0) == 0x80)
            next++;
        columns = vti_text_width(text + at, next - at);
        if (wide + columns > room)
            break;
        wide += columns;
        at = next;
    }
    vti_buf_add(&picture->out, text, at);
    if (room < most) {
        vti_buf_add_text(&picture->out, picture->is_utf8 ? "…" : "~");
        wide++;
    }
    return wide;
}

/* "name 57% 1.23ms", without what does not fit. */
static size_t add_label(struct picture *picture, const struct vti_flame_frame *frame, size_t most)
{
    char thread[VTI_THREAD_BYTES];
    const char *name = vti_flame_name(thread, picture->view, frame);
    double share = frame->total_ns / picture->view->flame->total_ns;
    const char *sign = frame->is_estimated ? "~" : "";
    struct vti_buf safe = {0};
    char time[VTI_NUMBER_BYTES];
    char figures[2 * VTI_NUMBER_BYTES];
    char *blank = strchr(vti_text_duration(time, frame->total_ns), ' ');
    size_t wide;
    int len;

    vti_text_safe(&safe, *name ? name : "(no name)", strlen(*name ? name : "(no name)"));
    if (safe.failed) {
        picture->out.failed = true;
        return most;
    }
    if (blank)
        memmove(blank, blank + 1, strlen(blank));
    wide = vti_text_width((const char *)safe.data, safe.len);
    len = snprintf(figures, sizeof figures, " %s%.*f%%", sign, share < 0.0995 ? 1 : 0, share * 100);
    if (wide + (size_t)len + 1 + strlen(time) <= most)
        len += snprintf(figures + len, sizeof figures - (size_t)len, " %s", time);
    if (wide + (size_t)len <= most) {
        vti_buf_add(&picture->out, safe.data, safe.len);
        vti_buf_add_text(&picture->out, figures);
        wide += (size_t)len;
    } else {
        wide = add_beginning(picture, (const char *)safe.data, safe.len, most);
    }
    vti_buf_fini(&safe);
    return wide;
}

/* Black on light grounds, one for each file: at least 9 to 1 in contrast, on dark terminals and light ones. */
static void add_ground(struct picture *picture, const struct vti_flame_frame *frame)
{
    static const unsigned many[] = {180, 152, 187, 146, 150, 216, 117, 223};
    static const unsigned few[] = {43, 46, 42, 47};
    const struct vti_calls *calls = picture->view->calls;
    const char *term = getenv("TERM");
    const char *more = getenv("COLORTERM");
    const char *module = "";
    uint64_t hash;

    if (frame->function != VT_NONE)
        module = *calls->functions[frame->function].file ? calls->functions[frame->function].file
                                                         : calls->functions[frame->function].name;
    hash = vti_hash(module, strlen(module));
    if ((term && strstr(term, "256color")) || (more && *more))
        vti_buf_printf(&picture->out, "\033[38;5;16;48;5;%um", many[hash % 8]);
    else
        vti_buf_printf(&picture->out, "\033[30;%um", few[hash % 4]);
}

static void add_frame(struct picture *picture, const struct cell *cell)
{
    const struct vti_flame_frame *frame = &picture->view->flame->frames[cell->frame];
    size_t room = cell->to - cell->from - 1;
    size_t wide;

    if (picture->is_colored)
        add_ground(picture, frame);
    vti_buf_add_text(&picture->out, picture->line);
    wide = add_label(picture, frame, room);
    add_blanks(&picture->out, wide < room ? room - wide : 0);
    if (picture->is_colored)
        vti_buf_add_text(&picture->out, "\033[0m");
}

static void add_folded(struct picture *picture, const struct cell *cell)
{
    for (size_t i = cell->from; i < cell->to; i++)
        vti_buf_add_text(&picture->out, i == cell->from && !picture->is_colored ? picture->line
                                        : picture->is_utf8                      ? "·"
                                                                                : ".");
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* A row ends without blanks, and with a line where the last frame does not reach the right edge. */
static size_t add_row(struct picture *picture, const struct cell *cells, size_t count)
{
    size_t column = 0;
    size_t i = 0;

    for (; i < count && cells[i].depth == cells[0].depth; i++) {
        if (cells[i].from > column) {
            size_t gap = cells[i].from - column;

            if (column && !picture->is_colored) {
                vti_buf_add_text(&picture->out, picture->line);
                gap--;
            }
            add_blanks(&picture->out, gap);
        }
        if (cells[i].frame == VT_NONE)
            add_folded(picture, &cells[i]);
        else
            add_frame(picture, &cells[i]);
        column = cells[i].to;
    }
    if (column < picture->view->width && !picture->is_colored)
        vti_buf_add_text(&picture->out, picture->line);
    while (picture->out.len && picture->out.data[picture->out.len - 1] == ' ')
        picture->out.len--;
    vti_buf_add_u8(&picture->out, '\n');
    return i;
}

static void print_head(const struct vti_flame_view *view)
{
    struct vt_recording_info info;
    struct vti_sentence sentence;
    char time[VTI_NUMBER_BYTES];

    vt_recording_info(view->recording, &info);
    vti_sentence_start(&sentence, "");
    sentence.width = view->width;
    vti_sentence_add(&sentence, "%s of %s = 100%%", vti_text_duration(time, view->flame->total_ns),
                     view->options->is_bottom_up && !view->options->focus
                         ? view->is_spans ? "spans' own time" : "functions' own time"
                     : view->is_spans ? "spans"
                                      : "calls");
    if (view->thread)
        vti_sentence_add(&sentence, "thread %s", view->thread);
    else if (info.track_count > 1)
        vti_sentence_add(&sentence,
                         view->options->is_by_thread ? "%u threads side by side"
                                                     : "%u threads added up",
                         info.track_count);
    if (view->options->focus)
        vti_sentence_add(&sentence, "%s %s", view->options->is_bottom_up ? "callers of" : "within",
                         view->options->focus);
    if (view->options->is_bottom_up)
        vti_sentence_add(&sentence, "callers below what they call");
    vti_sentence_print(&sentence);
}

static void print_foot(const struct picture *picture)
{
    const struct vti_flame *flame = picture->view->flame;
    uint64_t hidden = picture->narrow + flame->folded;
    struct vti_buf text = {0};
    struct vti_buf out = {0};

    if (!hidden && !flame->deeper)
        return;
    if (hidden)
        vti_buf_printf(&text,
                       "%llu frame%s too narrow or too deep to be drawn; --focus NAME goes into "
                       "one. ",
                       (unsigned long long)hidden, hidden == 1 ? " is" : "s are");
    if (flame->deeper)
        vti_buf_add_text(&text, "--depth shows more levels.");
    if (!text.failed)
        vti_prose_wrap(&out, (const char *)text.data, text.len, picture->view->width, 0);
    if (!out.failed)
        printf("%.*s\n", (int)out.len, (const char *)out.data);
    vti_buf_fini(&text);
    vti_buf_fini(&out);
}

int vti_flame_draw(const struct vti_flame_view *view)
{
    struct picture picture = {.view = view,
                              .is_utf8 = vti_locale_is_utf8(),
                              .is_colored = vti_terminal_has_color(stdout)};
    const struct cell *cells;
    size_t count;
    int code;

    picture.line = !picture.is_utf8 ? "|" : picture.is_colored ? "▏" : "│";
    code = place_frames(&picture);
    count = picture.cells.len / sizeof *cells;
    if (!code && count) {
        cells = (const struct cell *)picture.cells.data;
        qsort(picture.cells.data, count, sizeof *cells, by_place);
        for (size_t i = 0; i < count;)
            i += add_row(&picture, cells + i, count - i);
        code = picture.out.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
    }
    if (!code) {
        print_head(view);
        if (picture.out.len)
            fwrite(picture.out.data, 1, picture.out.len, stdout);
        print_foot(&picture);
    }
    vti_buf_fini(&picture.cells);
    vti_buf_fini(&picture.out);
    return code;
}
