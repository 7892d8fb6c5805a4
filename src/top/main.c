/*
 * main.c - venturi-top: what a program does now, in the terminal. Behind `venturi top`, a program of its own so that the tool does not
 * load ncurses; `venturi top` has looked at the words before.
 */
#include "base/error.h"
#include "base/number.h"
#include "cli/render.h"
#include "live/shortened.h"
#include "top/terminal.h"
#include "top/top.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLUSTER_US 20000 /* between two looks at one that has not answered */
#define DELAY_NS 1000000000LL
#define ROWS 20

struct words {
    bool is_plain;
    const char *output, *sort;
    const char *target;
    char **program;
};

static const struct option options[] = {{"batch", no_argument, NULL, 'b'},
                                        {"rounds", required_argument, NULL, 'n'},
                                        {"delay", required_argument, NULL, 'd'},
                                        {"sort", required_argument, NULL, 's'},
                                        {"view", required_argument, NULL, 'v'},
                                        {"filter", required_argument, NULL, 'f'},
                                        {"limit", required_argument, NULL, 'l'},
                                        {"output", required_argument, NULL, 'o'},
                                        {NULL, 0, NULL, 0}};

static int take_count(const char *name, const char *text, uint64_t least, uint64_t *count)
{
    char *end;

    *count = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || *count < least || *count > 1000000000)
        return vti_fail(VTI_E_USAGE, "--%s: '%s' is no number of at least %llu", name, text,
                        (unsigned long long)least);
    return 0;
}

static int take_delay(struct vti_top *top, const char *text)
{
    char *end;
    double seconds = vti_number_read(text, &end);

    if (end == text || *end || !(seconds >= 0.1 && seconds <= 3600))
        return vti_fail(VTI_E_USAGE, "--delay: '%s' is not between 0.1 and 3600 seconds", text);
    top->interval_ns = (int64_t)(seconds * 1e9);
    return 0;
}

static int take_view(struct vti_top *top, const char *text)
{
    const struct vti_top_view *view = vti_top_view_find(text);
    char names[128] = "";
    size_t count;

    if (view) {
        vti_top_show(top, view);
        return 0;
    }
    view = vti_top_views(&count);
    for (size_t i = 0; i < count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? "|" : "",
                 view[i].name);
    return vti_fail(VTI_E_USAGE, "--view: '%s' is none of %s", text, names);
}

static int take(struct vti_top *top, struct words *words, int option)
{
    uint64_t count;
    int code = 0;

    switch (option) {
    case 'b':
        words->is_plain = true;
        break;
    case 'n':
        code = take_count("rounds", optarg, 1, &top->rounds);
        break;
    case 'l':
        code = take_count("limit", optarg, 0, &count);
        top->limit = (size_t)count;
        break;
    case 'd':
        code = take_delay(top, optarg);
        break;
    case 's':
        words->sort = optarg;
        break;
    case 'v':
        code = take_view(top, optarg);
        break;
    case 'f':
        snprintf(top->filter, sizeof top->filter, "%s", optarg);
        break;
    case 'o':
        words->output = optarg;
        break;
    default:
        code = vti_fail(VTI_E_USAGE, "wrong usage");
        break;
    }
    return code;
}

/* Options may stand behind the target; words after `--` are a program. */
static int take_words(struct vti_top *top, struct words *words, int argc, char **argv)
{
    int option;
    int code = 0;

    opterr = 0;
    while (!code && optind < argc && !words->program) {
        while (!code && (option = getopt_long(argc, argv, "+bn:d:s:v:f:l:o:", options, NULL)) >= 0)
            code = take(top, words, option);
        if (code || optind >= argc)
            break;
        if (!strcmp(argv[optind - 1], "--"))
            words->program = argv + optind;
        else if (words->target)
            code = vti_fail(VTI_E_USAGE, "one FILE, DIR or PID, or -- before a program");
        else
            words->target = argv[optind++];
    }
    if (!code && !words->target == !words->program)
        code = vti_fail(VTI_E_USAGE, "what? a recording, a process id, or -- PROG");
    return code;
}

/* Until a cluster has answered, or it is known why it does not; anything else is there at once. */
static int await_cluster(struct vti_top *top)
{
    struct vti_live_cluster cluster = {0};

    while (!vti_terminal_is_ending()) {
        vti_live_cluster(top->live, &cluster);
        if (!cluster.is_known || cluster.is_connected)
            return 0;
        if (cluster.is_tried)
            return vti_fail(VTI_E_OPEN, "%s: %s", cluster.address, cluster.error);
        usleep(CLUSTER_US);
        vti_live_refresh(top->live, 0);
    }
    return 0;
}

static int open_target(struct vti_top *top, const struct words *words)
{
    int code;

    if (words->program)
        return vti_top_program_start(&top->program, words->program, words->output, words->is_plain);
    code = vti_live_open(&top->live, words->target, NULL);
    return code ? code : await_cluster(top);
}

/* A column can be chosen only when it is known which view is shown. */
static int choose_column(struct vti_top *top, const char *title)
{
    int column;

    if (!title)
        return 0;
    if (!top->is_chosen)
        vti_top_show(top, top->live ? vti_top_view_best(top->live) : vti_top_view_find("spans"));
    column = vti_top_view_column(top->view, title);
    if (column < 0)
        return vti_fail(VTI_E_USAGE, "--sort: the view %s has no column '%s'", top->view->name,
                        title);
    top->sort = (unsigned)column;
    return 0;
}

/* A message may have a name in it that anybody chose. */
static void say(int code)
{
    const char *text = vti_error_message(code);
    struct vti_buf safe = {0};

    vti_text_safe(&safe, text, strlen(text));
    fprintf(stderr, "venturi top: %.*s\n", (int)safe.len, safe.data ? (const char *)safe.data : "");
    vti_buf_fini(&safe);
}

int main(int argc, char **argv)
{
    struct vti_top top = {.interval_ns = DELAY_NS, .limit = ROWS};
    struct words words = {0};
    int status;
    int code = take_words(&top, &words, argc, argv);

    if (!code && !words.is_plain && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        code = vti_fail(VTI_E_USAGE, "not on a terminal; -b writes plain text");
    vti_terminal_catch();
    vti_survive_shortening();
    if (!code)
        code = open_target(&top, &words);
    if (!code && top.live && words.sort)
        code = vti_live_refresh(top.live, 0) < 0 ? VTI_E_READ : 0;
    if (!code)
        code = choose_column(&top, words.sort);
    if (!code)
        code = words.is_plain ? vti_top_plain(&top) : vti_top_screen(&top);
    if (code)
        say(code);
    status = vti_top_program_end(&top.program);
    vti_top_rows_free(&top.rows);
    if (top.live)
        vti_live_close(top.live);
    vti_terminal_pass_on();
    return code ? 2 : status;
}
