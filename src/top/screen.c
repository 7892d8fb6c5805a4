/*
 * screen.c - the rows on a whole terminal, with keys: those of htop and of Python's own live profiler.
 *
 * Nothing is drawn that was not made harmless before; a terminal that is too small shows what fits.
 */
#include "top/top.h"

#include "base/error.h"
#include "base/number.h"
#include "cli/render.h"
#include "top/keys.h"
#include "top/terminal.h"

#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAIR_TITLE = 1, PAIR_RUNNING, PAIR_BAD, PAIR_KEYS };

#define WAIT_MS 50
#define NAME_LEAST 16 /* columns of a name: of numbers, the last ones give way */

static int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* A line, cut to the width; the cursor may be anywhere. */
static void line(int y, const char *text, int style)
{
    struct vti_buf fit = {0};

    vti_text_fit(&fit, text, strlen(text), COLS > 3 ? (size_t)COLS - 1 : 3);
    if (style)
        attron(style);
    mvaddnstr(y, 0, fit.data ? (const char *)fit.data : "", (int)fit.len);
    if (style)
        attroff(style);
    clrtoeol();
    vti_buf_fini(&fit);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* How many columns of numbers fit beside a name; one at least. */
static unsigned numbers_shown(const struct vti_top_rows *rows)
{
    int width = NAME_LEAST;
    unsigned shown = 0;

    while (shown + 1 < rows->column_count) {
        width += (int)rows->columns[shown].width + 1;
        if (shown && width > COLS - 1)
            break;
        shown++;
    }
    return shown;
}

static void draw_title(const struct vti_top *top, unsigned column)
{
    const struct vti_top_column *one = &top->rows.columns[column];
    int room = COLS - 1 - getcurx(stdscr);
    struct vti_buf fit = {0};

    if (column == top->sort)
        attron(A_BOLD | A_UNDERLINE);
    if (one->width) {
        printw("%*s", (int)one->width, one->title);
    } else if (room > 3) {
        vti_text_fit(&fit, one->title, strlen(one->title), (size_t)room);
        addnstr(fit.data ? (const char *)fit.data : "", (int)fit.len);
    }
    if (column == top->sort)
        attroff(A_BOLD | A_UNDERLINE);
    vti_buf_fini(&fit);
}

static void draw_titles(const struct vti_top *top, int y)
{
    unsigned shown = numbers_shown(&top->rows);

    move(y, 0);
    attron(COLOR_PAIR(PAIR_TITLE) | A_REVERSE);
    for (unsigned i = 0; i < shown; i++) {
        draw_title(top, i);
        addch(' ');
    }
    draw_title(top, top->rows.column_count - 1);
    for (int x = getcurx(stdscr); x < COLS - 1 && getcury(stdscr) == y; x++)
        addch(' ');
    attroff(COLOR_PAIR(PAIR_TITLE) | A_REVERSE);
}

static void draw_row(const struct vti_top *top, const struct vti_top_row *row, int y,
                     bool is_chosen)
{
    const struct vti_top_rows *rows = &top->rows;
    unsigned shown = numbers_shown(rows);
    struct vti_buf text = {0};
    int style = is_chosen ? A_REVERSE : 0;

    for (unsigned i = 0; i < shown; i++)
        vti_buf_printf(&text, "%*s ", (int)rows->columns[i].width, row->cells[i]);
    if (COLS > (int)text.len + 4)
        vti_text_fit(&text, row->name, strlen(row->name), (size_t)COLS - 1 - text.len);
    vti_buf_add_u8(&text, 0);
    if (row->is_bad)
        style |= COLOR_PAIR(PAIR_BAD);
    else if (row->is_running)
        style |= COLOR_PAIR(PAIR_RUNNING);
    if (!text.failed)
        line(y, (const char *)text.data, style);
    vti_buf_fini(&text);
}

static void draw_rows(struct vti_top *top, struct vti_top_keys *keys, int y, int end)
{
    size_t room = end > y ? (size_t)(end - y) : 0;

    keys->page = room ? room : 1;
    if (keys->chosen >= top->rows.count)
        keys->chosen = top->rows.count ? top->rows.count - 1 : 0;
    if (keys->first > keys->chosen)
        keys->first = keys->chosen;
    if (room && keys->chosen >= keys->first + room)
        keys->first = keys->chosen - room + 1;
    for (size_t i = keys->first; i < top->rows.count && y < end; i++, y++)
        draw_row(top, &top->rows.rows[i], y, i == keys->chosen);
    if (!top->rows.count && y < end && top->view)
        line(y++, top->rows.hidden ? "nothing has such a name (c: no filter)" : top->view->nothing,
             A_DIM);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* What is most needed comes first: a narrow terminal shows as many whole ones as fit. */
static void draw_last(const struct vti_top *top, const struct vti_top_keys *keys)
{
    static const char *const hints[] = {"h help",   "q quit",  "Tab view", "s sort",
                                        "/ filter", "p pause", NULL};
    char text[VTI_TOP_LINE];
    char took[VTI_NUMBER_BYTES];

    if (keys->is_typing) {
        snprintf(text, sizeof text, "filter: %s_", top->filter);
    } else {
        snprintf(text, sizeof text, "%s%s%s%s%s  every %s", top->view ? top->view->name : "",
                 *top->filter ? "  filter: " : "", top->filter, top->is_paused ? "  PAUSED" : "",
                 keys->message, vti_text_duration(took, (double)top->interval_ns));
        for (const char *const *hint = hints; *hint; hint++) {
            size_t len = strlen(text);

            if (len + 2 + strlen(*hint) > (size_t)(COLS > 1 ? COLS - 1 : 0))
                break;
            snprintf(text + len, sizeof text - len, "  %s", *hint);
        }
    }
    line(LINES - 1, text, COLOR_PAIR(PAIR_KEYS));
}

static void draw_help(void)
{
    static const char *const lines[] = {
        "Keys",
        "",
        "  q  F10  ^C        quit",
        "  Tab  Shift-Tab    next view, the one before",
        "  1 … 7             spans functions threads tasks workers steps processes",
        "  t  H              threads, and back",
        "  s  S  > <         sort by the next column, the one before",
        "  I                 the other way round",
        "  P  T  M           sort by CPU or rate, by time, by memory",
        "  /  F4  \\          show only names that contain …; Enter, Esc ends it",
        "  c                 no filter",
        "  p  Space          pause, go on",
        "  r                 sums begin anew",
        "  +  -              more often, less often",
        "  arrows PgUp PgDn Home End    through the rows",
        "",
        "  h  ?  F1          this; any key leaves it",
    };

    for (unsigned i = 0; i < sizeof lines / sizeof *lines && (int)i < LINES; i++)
        line((int)i, lines[i], i ? 0 : A_BOLD);
}

static void draw(struct vti_top *top, struct vti_top_keys *keys)
{
    int y = 0;

    erase();
    if (keys->is_help) {
        draw_help();
        refresh();
        return;
    }
    if (!top->live)
        line(y++, "waiting for the program's first record", A_DIM);
    for (unsigned i = 0; i < top->head.count && y < LINES - 2; i++, y++)
        line(y, top->head.lines[i], i ? 0 : A_BOLD);
    if (top->rows.column_count && y < LINES - 2) {
        draw_titles(top, ++y);
        draw_rows(top, keys, y + 1, LINES - 1);
    }
    draw_last(top, keys);
    refresh();
}

static void begin(void)
{
    noecho();
    cbreak();
    keypad(stdscr, TRUE);
    timeout(WAIT_MS);
    curs_set(0);
    set_escdelay(25);
    if (has_colors() && !getenv("NO_COLOR")) {
        start_color();
        use_default_colors();
        init_pair(PAIR_TITLE, -1, -1);
        init_pair(PAIR_RUNNING, COLOR_GREEN, -1);
        init_pair(PAIR_BAD, COLOR_RED, -1);
        init_pair(PAIR_KEYS, COLOR_CYAN, -1);
    }
}

static int show(struct vti_top *top)
{
    struct vti_top_keys keys = {.message = ""};
    int64_t next_ns = 0;
    int code = 0;

    while (!keys.is_done && !vti_terminal_is_ending() && !code) {
        int key;

        if (now_ns() >= next_ns && (!top->is_paused || keys.is_changed)) {
            code = vti_top_look(top);
            next_ns = now_ns() + top->interval_ns;
            keys.message = vti_top_is_over(top) ? "  ENDED" : "";
        }
        keys.is_changed = false;
        draw(top, &keys);
        key = getch();
        if (key == ERR && !isatty(STDIN_FILENO))
            break; /* the terminal has gone */
        if (key == KEY_RESIZE)
            clearok(curscr, TRUE); /* what a narrow terminal has wrapped is still there */
        if (key != ERR)
            vti_top_key(top, &keys, key);
        if (keys.is_changed)
            next_ns = 0;
    }
    return code;
}

int vti_top_screen(struct vti_top *top)
{
    SCREEN *screen;
    int code;

    setlocale(LC_CTYPE, "");
    screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return vti_fail(VTI_E_SYSTEM, "this terminal is not known (TERM=%s); -b writes plain text",
                        getenv("TERM") ? getenv("TERM") : "");
    vti_terminal_keep();
    begin();
    code = show(top);
    endwin();
    vti_terminal_left();
    delscreen(screen);
    return code;
}
