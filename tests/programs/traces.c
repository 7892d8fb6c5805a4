/* traces.c - trace points of context.h, with ids that it prints: what the recording holds must be the same. */
#include "program.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <venturi/context.h>
#include <venturi/session.h>

static int news_count, bad_news;
static jmp_buf back;

static void listen(const struct vt_trace_news *news, void *arg)
{
    struct vt_context context;

    (void)arg;
    VT_TRACE("in the listener"); /* which is none */
    VT_TRACE_ATTR("in the listener", 1);
    news_count++;
    vt_context_get(&context);
    bad_news += !vt_id_equal(news->duration_ns < 0 ? news->span : news->parent, &context.span);
    bad_news += news->realtime_ns < 1000000000000000000 || !strcmp(news->name, "in the listener");
}

static void say_ids(const char *key)
{
    struct vt_context context;
    char text[VT_ID_TEXT];
    char base[VT_ID_TEXT];

    if (!vt_context_get(&context))
        return;
    vt_id_text(&context.base, base);
    vt_id_text(&context.span, text);
    printf("%s %s %s\n", key, base, text);
    fflush(stdout);
}

static void fail(void)
{
    VT_TRACE("fails");
    say_ids("fails");
    VT_TRACE_ATTR("amount", 12.5);
    VT_TRACE_ATTR("large", (unsigned long)UINT64_MAX);
    VT_TRACE_ATTR("card", "4242");
    vt_trace_error("ValueError", "no \"money\"");
}

/* The context of this thread came from another one of the process; for a child of it that is another process. */
static void fork_and_trace(void)
{
    pid_t child = fork();

    if (child == 0) {
        {
            VT_TRACE("in a child of the thread");
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void *on_a_thread(void *arg)
{
    vt_context_begin(arg);
    {
        VT_TRACE("on a thread");
        say_ids("thread");
        fork_and_trace();
    }
    vt_context_end();
    VT_TRACE("after the trace");
    VT_TRACE_ATTR("plain", 1);
    return NULL;
}

/* What is open here stays the parent's; what begins in the child is its child. */
static void in_a_child(void)
{
    pid_t child;

    VT_TRACE("around the fork");
    say_ids("fork");
    child = fork();
    if (child == 0) {
        news_count = 0;
        {
            VT_TRACE("in the child");
            say_ids("child");
        }
        return;
    }
    waitpid(child, NULL, 0);
}

__attribute__((noinline)) static void jump(void)
{
    VT_TRACE("left by a jump");
    longjmp(back, 1);
}

static void jumps(void)
{
    struct vt_context before;
    struct vt_context after;

    vt_context_get(&before);
    if (!setjmp(back))
        jump();
    {
        VT_TRACE("after the jump");
        VT_TRACE_ATTR("landed", 1);
    }
    vt_context_get(&after);
    if (memcmp(&before.span, &after.span, sizeof before.span))
        printf("the jump left its span behind\n");
}

static void by_hand(void)
{
    char name[16];

    vt_trace_stop(); /* nothing was started: the scope around stays open */
    snprintf(name, sizeof name, "hand %d", 1);
    vt_trace_start(name);
    memset(name, 'x', sizeof name - 1);
    say_ids("hand");
    vt_trace_stop();
    vt_trace_stop();
}

/* Deeper than what is kept: those inside are plain spans, and nothing is lost. */
static void nest(int depth)
{
    VT_TRACE("nest");
    VT_TRACE_ATTR("depth", depth);
    if (depth)
        nest(depth - 1);
}

static void all(void)
{
    struct vt_context context;
    pthread_t thread;

    VT_TRACE("all");
    say_ids("all");
    VT_TRACE_ATTR("while it runs", -3);
    fail();
    by_hand();
    jumps();
    vt_context_get(&context);
    pthread_create(&thread, NULL, on_a_thread, &context);
    pthread_join(thread, NULL);
    nest(600);
    in_a_child();
}

/* A context that ends, or another that begins, within a trace point. */
static void mixed(void)
{
    {
        VT_TRACE("of the first");
        say_ids("first");
        vt_context_begin(NULL);
        {
            VT_TRACE("of the second");
            say_ids("second");
        }
        vt_context_end();
        {
            VT_TRACE("of none");
            VT_TRACE_ATTR("plain", 2);
        }
        VT_TRACE_ATTR("of the first", 1);
    }
    vt_trace_start("plain by hand");
    vt_trace_stop();
    vt_trace_stop();
}

/* As a binding of a language does it, which keeps its contexts itself. */
static void record(void)
{
    static struct vt_site site = {"recorded", "", "", "", 0, 0, 0, 0};
    static struct vt_site plain = {"of no trace", "", "", "", 0, 0, 0, 0};
    static struct vt_site key = {"key", "", "", "", 0, 3, 0, 0};
    struct vt_trace_fact facts[4] = {{.key = &key, .type = VT_FACT_INT, .value.i = -1},
                                     {.key = &key, .type = VT_FACT_UINT, .value.u = UINT64_MAX},
                                     {.key = &key, .type = VT_FACT_DOUBLE, .value.d = 0.5},
                                     {.key = &key, .type = VT_FACT_TEXT}};
    struct vt_trace_ids ids = {{{1}}, {{2}}, {{3}}};
    char text[3000];
    uint64_t number;

    for (size_t i = 0; i < sizeof text; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    facts[3].value.text.data = text;
    facts[3].value.text.len = sizeof text;
    number = vt_trace_record(&site, &ids, facts, 4);
    usleep(1);
    vt_trace_record_end(number, 1, facts, 4);
    vt_trace_record_end(vt_trace_record(&plain, NULL, NULL, 0), 0, NULL, 0);
    vt_trace_record_end(0, 0, facts, 1);
}

static int session(const char *path)
{
    struct vt_session_options options = {.size = sizeof options, .output = path};

    return vt_session_start(&options);
}

/* A point that is open over the end of one recording and the begin of another belongs to the first: numbers start again. */
static int sessions(const char *first, const char *second)
{
    if (session(first))
        return 4;
    {
        VT_TRACE("over two sessions");
        vt_session_stop();
        if (session(second))
            return 5;
        vt_trace_start("of the second");
        vt_trace_start("inside");
        vt_trace_stop();
        vt_trace_stop();
        VT_TRACE_ATTR("too late", 1);
        vt_trace_start("at the end"); /* which the scope around it ends */
    }
    vt_session_stop();
    return 0;
}

static void closes_while_off(void)
{
    {
        VT_TRACE("closes while off");
        vt_session_pause();
        VT_TRACE_ATTR("while off", 1);
        VT_TRACE("unseen");
    }
    vt_session_resume();
}

/* Recording goes off and on again while points are open, in a trace and in none. */
static int switched(const char *path)
{
    static struct vt_site async = {"async", "", "", "", 0, 0, 0, 0};
    char name[300] = "";
    uint64_t number;

    for (size_t i = 0; i + 3 < sizeof name; i += 3)
        memcpy(name + i, "\xe2\x82\xac", 4);
    vt_trace_service(name, "", NULL);
    if (session(path))
        return 4;
    closes_while_off();
    number = vt_async_start(&async);
    vt_session_pause();
    vt_async_stop(number, 0);
    vt_session_resume();
    vt_context_end();
    closes_while_off();
    {
        VT_TRACE("plain");
        VT_TRACE_ATTR("before", 1);
        vt_session_pause();
        {
            VT_TRACE("unseen");
            vt_session_resume();
            VT_TRACE_ATTR("of the unseen", 1);
            vt_trace_error("Unseen", NULL);
            {
                VT_TRACE("seen");
                VT_TRACE_ATTR("of the seen", 1);
            }
        }
    }
    vt_session_stop();
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    pid_t self = getpid();

    if (!strcmp(what, "environment") && !vt_context_from_environment())
        return 3;
    if (!strcmp(what, "listen"))
        vt_trace_listen(listen, NULL);
    vt_trace_service("shop", "till", "host-1");
    if (strcmp(what, "environment"))
        vt_context_begin(NULL);
    if (!strcmp(what, "sessions"))
        return argc == 4 ? sessions(argv[2], argv[3]) : 2;
    if (!strcmp(what, "switched"))
        return argc == 3 ? switched(argv[2]) : 2;
    if (!strcmp(what, "mixed"))
        mixed();
    else if (!strcmp(what, "record"))
        record();
    else
        all();
    vt_context_end();
    if (getpid() == self)
        say("news", (long)news_count, "bad", (long)bad_news, (char *)0);
    else
        say("news of the child", (long)news_count, (char *)0);
    return 0;
}
