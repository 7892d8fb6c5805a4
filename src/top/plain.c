/* plain.c - `venturi top -b`: each look as text on standard output, for files, pipes and mails. */
#include "top/top.h"

#include "base/error.h"
#include "cli/render.h"
#include "top/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CATCH_UP_NS 20000000
#define RATES_NS 3000000000

static void pause_for(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    nanosleep(&time, NULL); /* a signal that ends us ends this */
}

static void print_row(const struct vti_top_rows *rows, const struct vti_top_row *row)
{
    for (unsigned i = 0; i + 1 < rows->column_count; i++)
        printf("%*s ", (int)rows->columns[i].width, row->cells[i]);
    puts(row->name);
}

static void print(const struct vti_top *top)
{
    const struct vti_top_rows *rows = &top->rows;
    size_t shown = top->limit && top->limit < rows->count ? top->limit : rows->count;

    for (unsigned i = 0; i < top->head.count; i++)
        puts(top->head.lines[i]);
    putchar('\n');
    if (!rows->count) {
        puts(rows->hidden ? "nothing has such a name" : top->view->nothing);
    } else {
        for (unsigned i = 0; i + 1 < rows->column_count; i++)
            printf("%*s ", (int)rows->columns[i].width, rows->columns[i].title);
        puts(rows->columns[rows->column_count - 1].title);
    }
    for (size_t i = 0; i < shown; i++)
        print_row(rows, &rows->rows[i]);
    if (shown < rows->count || rows->hidden)
        printf("%zu more\n", rows->count - shown + rows->hidden);
    fflush(stdout);
}

/* Rates need a second look; a file that is over has none. */
static int first_look(struct vti_top *top)
{
    int code = 0;

    while (!vti_terminal_is_ending() && !code) {
        struct vti_live_summary summary;

        code = vti_top_look(top);
        if (code)
            break;
        if (!top->live) {
            if (vti_top_is_over(top))
                return vti_fail(VTI_E_EMPTY, "the program has recorded nothing");
            pause_for(CATCH_UP_NS);
            continue;
        }
        vti_live_summary(top->live, &summary);
        if (summary.is_caught_up)
            return 0;
    }
    return code;
}

/* Whether there is something to say of the last second: it takes two readings, and two counts of calls. */
static bool has_rates(struct vti_top *top)
{
    struct vti_live_summary summary;
    struct vti_live_resources use;
    const struct vti_live_function *functions;
    size_t count;

    vti_live_summary(top->live, &summary);
    vti_live_resources(top->live, &use);
    functions = vti_live_functions(top->live, &count);
    if (isnan(use.usage.cpu) || !use.processes)
        return false;
    if (summary.kind == VTI_LIVE_PROCESS)
        return true;
    return top->is_chosen && (!count || !isnan(functions[0].calls_per_s));
}

/* The first that is shown is often the only one: it waits a little for what a program has to say. */
static int await_rates(struct vti_top *top)
{
    int code = 0;

    for (int64_t left = RATES_NS;
         left > 0 && !code && !vti_terminal_is_ending() && !vti_top_is_over(top) && !has_rates(top);
         left -= CATCH_UP_NS) {
        pause_for(CATCH_UP_NS);
        code = vti_top_look(top);
    }
    return code;
}

int vti_top_plain(struct vti_top *top)
{
    int code = first_look(top);
    uint64_t round = 0;

    while (!code && top->live && !vti_terminal_is_ending()) {
        if (!vti_top_is_over(top)) {
            pause_for(top->interval_ns);
            code = vti_top_look(top);
            if (!code && !round)
                code = await_rates(top);
            if (code || vti_terminal_is_ending())
                break;
        }
        if (round)
            putchar('\n');
        print(top);
        if (ferror(stdout))
            return vti_fail(VTI_E_SYSTEM, "standard output: cannot be written");
        round++;
        if (vti_top_is_over(top) || (top->rounds && round >= top->rounds))
            break;
    }
    return code;
}
