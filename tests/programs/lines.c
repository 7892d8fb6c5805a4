/*
 * lines.c KIND [n] - lines as a hook reports them, counted by hand beside it.
 *
 *     simple N     N calls with a loop of three turns, one statement on two lines
 *     recursion N  a function that calls itself from both lines of one statement, and sleeps at the bottom
 *     nested N     a function that calls another one, N times
 *     pauses N     a generator that is suspended N times for a millisecond
 *     threads N    N threads with 100 calls each
 *     fork         a call that is open while a child is forked, which goes on in it
 *     killed       reports what it has done, then kills itself at an open line
 *     stuck        the same, but waits to be killed
 *     switched     recording is switched off and on in the middle of a call
 *     full         more lines than there is room for
 *     deep N       N calls within each other
 *     unseen       calls that are never left, and ends of calls that were never entered
 *     callees N    two functions called from one line
 *     spread       executions of a statement of one and of ten milliseconds
 *     taken        what a function has counted is taken back
 *     signals N    a handler that has lines of its own interrupts N events
 *     gifts        sources, handed over in ways that are right and wrong
 */
#include "program.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <venturi/line.h>
#include <venturi/session.h>

/* Line 12 goes on with the statement of line 11. */
static const struct vt_line_row rows_of_f[] = {{10, 0}, {11, 1}, {12, 1}, {13, 3}};
static const struct vt_line_row rows_of_g[] = {{20, 0}, {21, 1}};
static struct vt_lines f = {0, 13, 4, 0, rows_of_f, 0};
static struct vt_lines g = {0, 21, 2, 0, rows_of_g, 0};
static unsigned long calls;

static uint32_t function(const char *name, uint32_t line)
{
    struct vt_function known = {name, name, "lines.c", line, VT_LANGUAGE_C};

    return vt_function_id(&known);
}

static void turn(const void *frame)
{
    vt_line_reach(frame, 1, 1);
    vt_line_reach(frame, 2, 0);
}

static void simple(void)
{
    int frame = 0;

    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    vt_lines_enter(&f, &frame);
    vt_line_reach(&frame, 0, 1);
    for (int i = 0; i < 3; i++)
        turn(&frame);
    vt_line_reach(&frame, 3, 1);
    vt_lines_leave(&frame);
}

static void recursion(long n)
{
    int frame = 0;

    calls++;
    vt_lines_enter(&f, &frame);
    vt_line_reach(&frame, 0, 1);
    if (n > 1) {
        vt_line_reach(&frame, 1, 1);
        recursion(n - 1);
        vt_line_reach(&frame, 2, 0);
        recursion(n - 2);
        vt_line_reach(&frame, 1, 0);
    } else {
        vt_line_reach(&frame, 3, 1);
        usleep(1000);
    }
    vt_lines_leave(&frame);
}

static void inner(void)
{
    int frame = 0;

    vt_lines_enter(&g, &frame);
    vt_line_reach(&frame, 0, 1);
    vt_line_reach(&frame, 1, 1);
    usleep(1000);
    vt_lines_leave(&frame);
}

static void nested(long n)
{
    int frame = 0;

    vt_lines_enter(&f, &frame);
    vt_line_reach(&frame, 0, 1);
    for (long i = 0; i < n; i++) {
        vt_line_reach(&frame, 1, 1);
        inner();
    }
    vt_line_reach(&frame, 3, 1);
    vt_lines_leave(&frame);
}

static void pauses(long n)
{
    struct vt_line_pause pause;
    int frame = 0;

    vt_lines_enter(&f, &frame);
    vt_line_reach(&frame, 0, 1);
    vt_line_reach(&frame, 1, 1);
    for (long i = 0; i < n; i++) {
        vt_lines_suspend(&frame, &pause);
        usleep(1000);
        vt_lines_resume(&f, &frame, 1, &pause);
    }
    vt_line_reach(&frame, 3, 1);
    vt_lines_leave(&frame);
}

static void *work(void *arg)
{
    for (int i = 0; i < 100; i++)
        simple();
    return arg;
}

static void threads(long count)
{
    pthread_t all[64];

    count = count > 64 ? 64 : count;
    for (long i = 0; i < count; i++)
        if (pthread_create(&all[i], NULL, work, NULL))
            exit(3);
    for (long i = 0; i < count; i++)
        pthread_join(all[i], NULL);
}

static void run_fork(void)
{
    int frame = 0;
    pid_t child;

    vt_lines_enter(&f, &frame);
    vt_line_reach_in(&f, &frame, 0, 1);
    child = fork();
    vt_line_reach_in(&f, &frame, 1, 1);
    if (!child)
        simple();
    vt_line_reach_in(&f, &frame, 3, 1);
    vt_lines_leave(&frame);
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void be_killed(int by_ourselves)
{
    int frame = 0;

    for (int i = 0; i < 100; i++)
        simple();
    vt_lines_enter(&f, &frame);
    vt_line_reach(&frame, 0, 1);
    vt_line_reach(&frame, 1, 1);
    usleep(20000);
    say("calls", calls, "pid", (long)getpid(), (char *)0);
    if (by_ourselves)
        kill(getpid(), SIGKILL);
    pause();
}

static void pause_recording(void)
{
    if (vt_session_pause())
        exit(3);
}

static void resume_recording(void)
{
    if (vt_session_resume())
        exit(3);
}

static void switched(void)
{
    int frame = 0;

    vt_lines_enter(&f, &frame);
    vt_line_reach(&frame, 0, 1);
    vt_line_reach(&frame, 1, 1);
    pause_recording();
    vt_line_reach(&frame, 3, 1);
    usleep(20000);
    simple();
    resume_recording();
    simple();
    vt_line_reach(&frame, 3, 1);        /* nobody knows the call any more … */
    vt_line_reach_in(&f, &frame, 3, 1); /* … unless it is said */
    pause_recording();
    resume_recording(); /* off and on again, and nothing in between that could see it */
    vt_line_reach_in(&f, &frame, 0, 1);
    vt_lines_leave(&frame);
}

#define WIDE 4096
static struct vt_line_row wide[WIDE];

static void full(void)
{
    unsigned long events = 0;
    int frame = 0;

    for (uint32_t i = 0; i < WIDE; i++)
        wide[i] = (struct vt_line_row){i + 1, i};
    for (uint32_t at = 0; at < 160; at++) {
        struct vt_lines *many = calloc(1, sizeof *many);

        *many = (struct vt_lines){function("wide", at + 1), WIDE, WIDE, 0, wide, 0};
        vt_lines_enter(many, &frame);
        for (uint32_t i = 0; i < WIDE; i++, events++)
            vt_line_reach(&frame, i, 1);
        vt_lines_leave(&frame);
    }
    say("events", events, (char *)0);
}

static void deep(long n)
{
    char *frames = malloc((size_t)n);

    for (long i = 0; i < n; i++) {
        vt_lines_enter(&f, frames + i);
        vt_line_reach(frames + i, 0, 1);
    }
    for (long i = n; i-- > 0;) {
        vt_line_reach(frames + i, 3, 1);
        vt_lines_leave(frames + i);
    }
    free(frames);
}

static void unseen(void)
{
    int outer = 0;
    int lost[3] = {0};

    vt_lines_leave(&outer);
    vt_line_reach(&outer, 0, 1);
    vt_lines_enter(&f, &outer);
    vt_line_reach(&outer, 0, 1);
    for (int i = 0; i < 3; i++) {
        vt_lines_enter(&g, &lost[i]);
        vt_line_reach(&lost[i], 0, 1);
    }
    usleep(2000);
    vt_line_reach(&outer, 3, 1); /* the three have ended, though nobody saw it */
    vt_line_reach(&lost[1], 1, 1);
    vt_lines_leave(&lost[2]);
    vt_line_reach(&outer, 4, 1); /* no such row */
    vt_lines_leave(&outer);
    vt_lines_leave(&outer);
}

static void callees(long n)
{
    uint32_t one = function("one", 30);
    uint32_t two = function("two", 40);
    int frame = 0;

    vt_lines_enter(&f, &frame);
    vt_line_reach(&frame, 0, 1);
    for (long i = 0; i < n; i++) {
        vt_line_reach(&frame, 1, 1);
        vt_line_callee(&frame, one, 1000);
        vt_line_callee(&frame, two, 500);
        vt_line_callee(&frame, two, 500);
    }
    vt_lines_leave(&frame);
}

static void spread(void)
{
    int frame = 0;

    vt_lines_enter(&f, &frame);
    for (int i = 0; i < 12; i++) {
        vt_line_reach(&frame, 3, 1);
        usleep(i % 4 ? 1000 : 10000);
        vt_line_reach(&frame, 0, 1);
    }
    vt_lines_leave(&frame);
}

static void taken(void)
{
    int frame = 0;
    uint64_t ticks;

    for (int i = 0; i < 10; i++)
        simple();
    ticks = vt_lines_forget(&f);
    vt_lines_enter(&g, &frame);
    vt_line_reach(&frame, 0, 1);
    vt_lines_leave(&frame);
    vt_line_lost();
    vt_line_lost();
    say("has_ticks", (long)(ticks > 0), (char *)0);
}

static volatile sig_atomic_t handled;

static void on_timer(int signal)
{
    int frame = 0;

    (void)signal;
    vt_lines_enter(&g, &frame);
    vt_line_reach(&frame, 0, 1);
    vt_line_reach(&frame, 1, 1);
    vt_lines_leave(&frame);
    handled++;
}

static void signals(long n)
{
    const struct itimerval often = {{0, 200}, {0, 200}};
    const struct itimerval never = {{0, 0}, {0, 0}};

    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &often, NULL);
    for (long i = 0; i < n; i++)
        simple();
    setitimer(ITIMER_REAL, &never, NULL);
    say("calls", calls, "handled", (long)handled, (char *)0);
}

static int give(const char *name, const char *text, size_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    int code;

    if (fd < 0 || ftruncate(fd, (off_t)bytes) || pwrite(fd, text, strlen(text), 0) < 0)
        exit(3);
    code = vt_session_give(VT_GIFT_SOURCE, name, fd);
    close(fd);
    return code;
}

static void gifts(void)
{
    int first = give("a.py", "one\n", 4);
    int again = give("a.py", "one\n", 4);
    int large = give("large.py", "x", (8u << 20) + 1);
    int file = open("/dev/null", O_RDONLY);
    int wrong = vt_session_give(VT_GIFT_SOURCE, "null", file);
    int bad = vt_session_give((enum vt_gift)77, "a.py", -1);
    pid_t child = fork();

    if (!child)
        _exit(give("a.py", "two\n", 4) || give("b.py", "", 0));
    waitpid(child, NULL, 0);
    simple();
    say("first", (long)first, "again", (long)again, "large", (long)(large < 0), "wrong",
        (long)(wrong < 0), "bad", (long)(bad < 0), (char *)0);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "simple";
    long n = number(argc, argv, 2, 10);

    f.function = function("f", 9);
    g.function = function("g", 19);
    if (!strcmp(kind, "simple"))
        for (long i = 0; i < n; i++)
            simple();
    else if (!strcmp(kind, "recursion"))
        recursion(n);
    else if (!strcmp(kind, "nested"))
        nested(n);
    else if (!strcmp(kind, "pauses"))
        pauses(n);
    else if (!strcmp(kind, "threads"))
        threads(n);
    else if (!strcmp(kind, "fork"))
        run_fork();
    else if (!strcmp(kind, "killed") || !strcmp(kind, "stuck"))
        be_killed(!strcmp(kind, "killed"));
    else if (!strcmp(kind, "switched"))
        switched();
    else if (!strcmp(kind, "full"))
        full();
    else if (!strcmp(kind, "deep"))
        deep(n);
    else if (!strcmp(kind, "unseen"))
        unseen();
    else if (!strcmp(kind, "callees"))
        callees(n);
    else if (!strcmp(kind, "spread"))
        spread();
    else if (!strcmp(kind, "taken"))
        taken();
    else if (!strcmp(kind, "signals"))
        signals(n);
    else if (!strcmp(kind, "gifts"))
        gifts();
    else
        return 2;
    if (strcmp(kind, "taken") && strcmp(kind, "full") && strcmp(kind, "signals") &&
        strcmp(kind, "gifts"))
        say("calls", calls, (char *)0);
    return 0;
}
