/* everything.c - uses each trace point of span.h once or a few times, with values a test knows. */
#include "program.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <venturi/span.h>

static uint64_t async_id;

static void *end_elsewhere(void *arg)
{
    (void)arg;
    VT_ASYNC_END(async_id);
    return NULL;
}

static void attributes(void)
{
    char long_text[3000];

    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    VT_SPAN("attributes");
    VT_ATTR("int", -42);
    VT_ATTR("unsigned", (unsigned long)UINT64_MAX);
    VT_ATTR("double", 2.5);
    VT_ATTR("text", "zażółć \"quoted\" </script>");
    VT_ATTR("empty", "");
    VT_ATTR("long", (const char *)long_text);
    VT_ERROR("ValueError", "something\nwent wrong");
}

int main(void)
{
    pthread_t thread;
    char name[32];

    VT_SPAN("main");
    attributes();
    VT_START("by hand");
    VT_LAP("lap 1");
    VT_LAP("lap 2");
    VT_STOP();
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "dynamic %d", i % 2);
        vt_start(name);
        VT_COUNTER("level", "items", i);
        VT_COUNTER("load", "%", i * 0.5);
        vt_stop();
    }
    vt_start("first");
    vt_lap("second");
    vt_stop();
    vt_stop(); /* one too many: must not end "main" */
    VT_MARK("mark");
    async_id = VT_ASYNC_BEGIN("async");
    pthread_create(&thread, NULL, end_elsewhere, NULL);
    pthread_join(thread, NULL);
    async_id = VT_ASYNC_BEGIN("async");
    VT_ASYNC_FAIL(async_id);
    say("spans", 12L, "async", 2L, "marks", 1L, "counters", 10L, (char *)0);
    return 0;
}
