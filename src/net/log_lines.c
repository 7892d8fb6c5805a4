/*
 * log_lines.c - one event of a trace point as a line of text, in the form that Mistral logs and rank scripts read. It must stay one
 * line whatever a trace point is called.
 */
#include "net/log_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SLOW_US 500000 /* above it a line is marked */

void vti_log_seconds(char to[VTI_SECONDS_TEXT], int64_t duration_ns)
{
    int64_t us = duration_ns > 0 ? duration_ns / 1000 : 0;
    size_t len;

    /* Below 0.0001 Python changes to exponents; from there on all digits of microseconds are exact. */
    if (us && us < 10) {
        snprintf(to, VTI_SECONDS_TEXT, "%" PRId64 "e-06", us);
    } else if (us && us < 100 && us % 10 == 0) {
        snprintf(to, VTI_SECONDS_TEXT, "%" PRId64 "e-05", us / 10);
    } else if (us && us < 100) {
        snprintf(to, VTI_SECONDS_TEXT, "%" PRId64 ".%" PRId64 "e-05", us / 10, us % 10);
    } else {
        snprintf(to, VTI_SECONDS_TEXT, "%" PRId64 ".%06" PRId64, us / 1000000, us % 1000000);
        for (len = strlen(to); to[len - 1] == '0' && to[len - 2] != '.'; len--)
            to[len - 1] = 0;
    }
}

/* "2020-02-27T08:04:25.789433", UTC. */
static void timestamp(char to[64], int64_t realtime_ns)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm tm;

    memset(&tm, 0, sizeof tm);
    gmtime_r(&seconds, &tm);
    snprintf(to, 64, "%04d-%02d-%02dT%02d:%02d:%02d.%06d", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(realtime_ns % 1000000000 / 1000));
}

/* A newline in a name would forge a line of its own. */
static void clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = ' ';
}

size_t vti_log_line(char to[VTI_LOG_LINE_MOST], const struct vt_trace_news *news)
{
    bool is_stop = news->duration_ns >= 0;
    bool is_slow = is_stop && news->duration_ns / 1000 > SLOW_US;
    const char *name = news->name ? news->name : "";
    char when[64];
    char seconds[VTI_SECONDS_TEXT] = "        ";
    char base[VT_ID_TEXT];
    char parent[VT_ID_TEXT];
    char span[VT_ID_TEXT];

    timestamp(when, news->realtime_ns > 0 ? news->realtime_ns : 0);
    if (is_stop)
        vti_log_seconds(seconds, news->duration_ns);
    vt_id_text(news->base, base);
    vt_id_text(news->parent, parent);
    vt_id_text(news->span, span);
    snprintf(to, VTI_LOG_LINE_MOST, "%s %s %s %s %s %.*s-%s%s", when, seconds, base, parent, span,
             VTI_LOG_LINE_MOST - 256, name, is_stop ? "stop" : "start", is_slow ? "  <- !!!" : "");
    clean(to);
    return strlen(to);
}
