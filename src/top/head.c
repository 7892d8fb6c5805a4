/* head.c - the lines above the rows: what is watched, what the machine gives it, what watching costs. */
#include "top/head.h"

#include "base/buf.h"
#include "base/number.h"
#include "cli/render.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define BAR 20

/* A line is put together from parts with two spaces between them; what does not fit is left out. */
static void part(char *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void part(char *line, const char *format, ...)
{
    size_t used = strlen(line);
    va_list args;

    if (used && used + 3 < VTI_TOP_LINE) {
        memcpy(line + used, "  ", 3);
        used += 2;
    }
    va_start(args, format);
    vsnprintf(line + used, VTI_TOP_LINE - used, format, args);
    va_end(args);
}

static void harmless(char *to, size_t room, const char *text, size_t most)
{
    struct vti_buf safe = {0};
    struct vti_buf fit = {0};

    vti_text_safe(&safe, text, strlen(text));
    vti_text_fit(&fit, (const char *)safe.data, safe.len, most);
    snprintf(to, room, "%.*s", (int)fit.len, fit.data ? (const char *)fit.data : "");
    vti_buf_fini(&safe);
    vti_buf_fini(&fit);
}

static void say_what(char *line, const struct vti_live_summary *summary)
{
    char title[160];
    char text[VTI_NUMBER_BYTES];
    int64_t ns = summary->duration_ns;

    if (summary->is_growing && summary->start_unix_ns &&
        summary->now_unix_ns > summary->start_unix_ns) /* also while nothing new is told */
        ns = summary->now_unix_ns - summary->start_unix_ns;
    harmless(title, sizeof title, *summary->title ? summary->title : summary->target, 40);
    part(line, "%s", title);
    part(line, "%s %s", summary->is_growing ? "running" : "ended after",
         vti_text_duration(text, (double)ns));
    if (!summary->is_caught_up)
        part(line, "read so far: %.0f %%", summary->caught_up * 100);
    if (summary->damage)
        part(line, "damaged places: %llu", (unsigned long long)summary->damage);
}

static void bar(char to[BAR + 3], double share)
{
    int full = (int)(fmin(fmax(share, 0), 1) * BAR + 0.5);

    to[0] = '[';
    memset(to + 1, '|', (size_t)full);
    memset(to + 1 + full, ' ', (size_t)(BAR - full));
    to[BAR + 1] = ']';
    to[BAR + 2] = 0;
}

/* Of one that is over, what it used in all: now is nothing. */
static void say_used(char *line, const struct vti_live_usage *usage)
{
    char text[VTI_NUMBER_BYTES];

    if (usage->cpu_ns != VTI_LIVE_UNKNOWN)
        part(line, "CPU time %s", vti_text_duration(text, (double)usage->cpu_ns));
    if (usage->peak_bytes != VTI_LIVE_UNKNOWN)
        part(line, "most memory %s", vti_text_bytes(text, usage->peak_bytes));
}

static void say_machine(char *line, const struct vti_live_summary *summary, struct vti_live *live)
{
    struct vti_live_resources use;
    char text[VTI_NUMBER_BYTES];
    char cores[BAR + 3];

    vti_live_resources(live, &use);
    if (!use.is_known)
        return;
    if (!summary->is_growing) {
        say_used(line, &use.usage);
        return;
    }
    if (!isnan(use.usage.cpu)) {
        bar(cores, summary->cpu_count ? use.usage.cpu / summary->cpu_count : 0);
        if (summary->cpu_count)
            part(line, "CPU %s %.2f of %u cores", cores, use.usage.cpu, summary->cpu_count);
        else
            part(line, "CPU %.2f cores", use.usage.cpu);
    }
    if (use.usage.memory_bytes != VTI_LIVE_UNKNOWN)
        part(line, "memory %s", vti_text_bytes(text, use.usage.memory_bytes));
    if (use.processes != VTI_LIVE_UNKNOWN)
        part(line, "processes %llu", (unsigned long long)use.processes);
}

static void say_energy(char *line, struct vti_live *live)
{
    struct vti_live_energy energy;

    vti_live_energy(live, &energy);
    if (!energy.is_known)
        return;
    part(line, "energy %.3g J", isnan(energy.own_joules) ? energy.joules : energy.own_joules);
    if (!isnan(energy.own_watts))
        part(line, "%.1f W", energy.own_watts);
}

static void say_events(char *line, const struct vti_live_summary *summary, struct vti_live *live)
{
    struct vti_live_cost cost;
    char text[2][VTI_NUMBER_BYTES];
    size_t count;

    vti_live_functions(live, &count); /* what counting them costs is known then */
    vti_live_cost(live, &cost);
    part(line, "events %s (%s/s)", vti_text_count(text[0], summary->events),
         vti_text_count(text[1], (uint64_t)fmax(summary->events_per_s, 0)));
    if (summary->errors)
        part(line, "errors %s", vti_text_count(text[0], summary->errors));
    part(line, "lost %s", vti_text_count(text[0], summary->lost_events));
    if (!isnan(cost.program_share))
        part(line, "cost %s", vti_text_share(text[0], cost.program_share));
    if (!isnan(cost.own_cpu))
        part(line, "top itself %.1f%%", cost.own_cpu * 100);
}

/* Few are counted with their fractions. */
static const char *rate_text(char text[VTI_NUMBER_BYTES], double rate)
{
    if (rate >= 100)
        return vti_text_count(text, (uint64_t)rate);
    snprintf(text, VTI_NUMBER_BYTES, "%.3g", rate);
    return text;
}

/* Of what goes on, over the last second; of what is over, on average. */
static void say_count(char *line, const char *what, double count, double per_s, double wall_s,
                      bool is_growing)
{
    char text[2][VTI_NUMBER_BYTES];
    double rate = is_growing ? per_s : count / wall_s;

    vti_text_count(text[0], (uint64_t)fmin(count, 0x1p63));
    if (isnan(rate))
        part(line, "%s %s", what, text[0]);
    else
        part(line, "%s %s (%s/s)", what, text[0], rate_text(text[1], rate));
}

static void say_items(char *line, bool is_growing, struct vti_live *live)
{
    struct vti_live_items items;

    vti_live_items(live, &items);
    if (!items.is_counted)
        return;
    say_count(line, "items", items.raw, items.raw_per_s, items.wall_s, is_growing);
    if (items.has_effective)
        say_count(line, "effective", items.effective, items.effective_per_s, items.wall_s,
                  is_growing);
    if (!isnan(items.joules_per_1000))
        part(line, "%.3g J for 1,000", items.joules_per_1000);
}

/* What is not to be taken as it stands. */
static void say_notice(char *line, const struct vti_live_summary *summary)
{
    char text[200];
    time_t since = (time_t)(summary->since_unix_ns / 1000000000);
    struct tm local;

    if (*summary->notice) {
        harmless(text, sizeof text, summary->notice, 160);
        part(line, "%s", text);
    }
    if (!summary->is_partial || !localtime_r(&since, &local))
        return;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
    part(line, "counted since %s: earlier files are gone", text);
}

static void say_ship(char *line, struct vti_live *live)
{
    struct vti_live_ship ship;
    char text[2][VTI_NUMBER_BYTES];

    vti_live_ship(live, &ship);
    if (!ship.is_known)
        return;
    part(line, "shipped %s to %s", vti_text_count(text[0], ship.shipped), ship.store);
    if (ship.waiting != VTI_LIVE_UNKNOWN)
        part(line, "waiting %s", vti_text_count(text[1], ship.waiting));
    if (ship.dead || ship.lost)
        part(line, "dead letters %llu  lost %llu", (unsigned long long)ship.dead,
             (unsigned long long)ship.lost);
}

void vti_top_head_make(struct vti_top_head *head, struct vti_live *live)
{
    struct vti_live_summary summary;
    unsigned at = 0;

    memset(head, 0, sizeof *head);
    vti_live_summary(live, &summary);
    say_what(head->lines[at], &summary);
    say_energy(head->lines[at++], live); /* there is room for it at 80 columns */
    say_machine(head->lines[at], &summary, live);
    at += *head->lines[at] != 0;
    say_events(head->lines[at++], &summary, live);
    head->has_losses = summary.lost_events > 0;
    say_items(head->lines[at], summary.is_growing, live);
    at += *head->lines[at] != 0;
    say_notice(head->lines[at], &summary);
    at += *head->lines[at] != 0;
    say_ship(head->lines[at], live);
    at += *head->lines[at] != 0;
    head->count = at;
}
