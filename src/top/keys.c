/* keys.c - what keys do: those of htop, and of Python's own live profiler. */
#include "top/keys.h"

#include <curses.h>
#include <string.h>

#define FASTEST_NS 100000000LL
#define SLOWEST_NS 60000000000LL
#define KEY_ESCAPE 27

static void type(struct vti_top *top, struct vti_top_keys *keys, int key)
{
    size_t len = strlen(top->filter);

    keys->is_changed = true;
    if (key == '\n' || key == KEY_ENTER)
        keys->is_typing = false;
    else if (key == KEY_ESCAPE) {
        keys->is_typing = false;
        *top->filter = 0;
    } else if (key == KEY_BACKSPACE || key == 127 || key == 8)
        top->filter[len ? len - 1 : 0] = 0;
    else if (key >= ' ' && key < 127 && len + 1 < sizeof top->filter) {
        top->filter[len] = (char)key;
        top->filter[len + 1] = 0;
    }
}

static bool move_to(struct vti_top *top, struct vti_top_keys *keys, int key)
{
    size_t last = top->rows.count ? top->rows.count - 1 : 0;

    switch (key) {
    case KEY_UP:
    case 'k':
        keys->chosen -= keys->chosen > 0;
        break;
    case KEY_DOWN:
    case 'j':
        keys->chosen += keys->chosen < last;
        break;
    case KEY_PPAGE:
        keys->chosen -= keys->chosen < keys->page ? keys->chosen : keys->page;
        break;
    case KEY_NPAGE:
        keys->chosen += keys->page < last - keys->chosen ? keys->page : last - keys->chosen;
        break;
    case KEY_HOME:
        keys->chosen = 0;
        break;
    case KEY_END:
        keys->chosen = last;
        break;
    default:
        return false;
    }
    return true;
}

static void show(struct vti_top *top, struct vti_top_keys *keys, const struct vti_top_view *view)
{
    vti_top_show(top, view);
    keys->chosen = keys->first = 0;
    keys->is_changed = true;
}

static bool change_view(struct vti_top *top, struct vti_top_keys *keys, int key)
{
    size_t count;
    const struct vti_top_view *views = vti_top_views(&count);
    size_t at = top->view ? (size_t)(top->view - views) : 0;

    if (key == '\t' || key == KEY_BTAB) {
        show(top, keys, &views[(at + (key == '\t' ? 1 : count - 1)) % count]);
        return true;
    }
    if (key == 't' || key == 'H') {
        const struct vti_top_view *threads = vti_top_view_find("threads");
        const struct vti_top_view *to = top->view == threads && keys->before ? keys->before
                                                                             : threads;

        keys->before = top->view;
        show(top, keys, to);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        if (views[i].key == key) {
            show(top, keys, &views[i]);
            return true;
        }
    return false;
}

/* The first of these columns that the view has. */
static void sort_by(struct vti_top *top, const char *const *titles)
{
    for (; *titles; titles++) {
        int column = vti_top_view_column(top->view, *titles);

        if (column >= 0) {
            top->sort = (unsigned)column;
            return;
        }
    }
}

static bool change_order(struct vti_top *top, int key)
{
    static const char *const rates[] = {"CPU", "Busy", "Own/s", "Msg/s", "/s", NULL};
    static const char *const times[] = {"Total", "CPU time", "p50", "Since", NULL};
    static const char *const memory[] = {"Memory", NULL};
    unsigned count;

    if (!top->view)
        return false;
    count = top->view->column_count;
    switch (key) {
    case 's':
    case '>':
    case KEY_F(6):
    case KEY_RIGHT:
        top->sort = (top->sort + 1) % count;
        break;
    case 'S':
    case '<':
    case KEY_LEFT:
        top->sort = (top->sort + count - 1) % count;
        break;
    case 'I':
        top->is_reversed = !top->is_reversed;
        break;
    case 'P':
        sort_by(top, rates);
        break;
    case 'T':
        sort_by(top, times);
        break;
    case 'M':
        sort_by(top, memory);
        break;
    default:
        return false;
    }
    return true;
}

static void change_rest(struct vti_top *top, struct vti_top_keys *keys, int key)
{
    switch (key) {
    case 'q':
    case 'Q':
    case KEY_F(10):
        keys->is_done = true;
        break;
    case 'h':
    case '?':
    case KEY_F(1):
        keys->is_help = true;
        break;
    case '/':
    case '\\':
    case KEY_F(4):
    case KEY_F(3):
        keys->is_typing = true;
        break;
    case 'c':
    case KEY_ESCAPE:
        *top->filter = 0;
        keys->is_changed = true;
        break;
    case 'p':
    case ' ':
        top->is_paused = !top->is_paused;
        break;
    case 'r':
        if (top->live)
            vti_live_reset(top->live);
        keys->is_changed = true;
        break;
    case '+':
    case '=':
        top->interval_ns = top->interval_ns / 2 > FASTEST_NS ? top->interval_ns / 2 : FASTEST_NS;
        break;
    case '-':
    case '_':
        top->interval_ns = top->interval_ns * 2 < SLOWEST_NS ? top->interval_ns * 2 : SLOWEST_NS;
        break;
    case KEY_RESIZE:
    default:
        break;
    }
}

void vti_top_key(struct vti_top *top, struct vti_top_keys *keys, int key)
{
    if (keys->is_help)
        keys->is_help = key == KEY_RESIZE;
    else if (keys->is_typing && key != KEY_RESIZE)
        type(top, keys, key);
    else if (change_order(top, key))
        keys->is_changed = true;
    else if (!move_to(top, keys, key) && !change_view(top, keys, key))
        change_rest(top, keys, key);
}
