/*
 * run_summary.c - what `run` says when the program has ended.
 *
 * Goes to stderr, because standard output is the program's.
 */
#include "cli/run_summary.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/cmd.h"
#include "cli/render.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static void add_count(struct vti_buf *text, uint64_t count, const char *one, const char *many)
{
    char number[VTI_NUMBER_BYTES];

    vti_buf_printf(text, "%s%s %s", text->len ? ", " : "", vti_text_count(number, count),
                   count == 1 ? one : many);
}

static void add_lost(struct vti_buf *text, uint64_t all, uint64_t tasks, uint64_t steps)
{
    if (steps)
        add_count(text, steps, "step record", "step records");
    if (tasks)
        add_count(text, tasks, "task", "tasks");
    if (all - tasks - steps)
        add_count(text, all - tasks - steps, "event", "events");
}

/* What a full disk took, kind by kind. */
static void say_disk_lost(const struct vti_writer_stats *file)
{
    struct vti_buf text = {0};

    add_lost(&text, file->disk_lost, file->disk_lost_tasks, file->disk_lost_steps);
    vti_cmd_say("the disk was full, and lost are %.*s: `venturi info` says when", (int)text.len,
                text.len ? (const char *)text.data : "");
    vti_buf_fini(&text);
}

/* The second line: what is missing, if anything is, and why. */
static void say_what_is_missing(const struct vti_drain_stats *stats, uint64_t lost_events)
{
    uint64_t explained = stats->file.disk_lost + stats->sourceless_steps;
    char number[VTI_NUMBER_BYTES];

    if (stats->file.disk_lost)
        say_disk_lost(&stats->file);
    if (stats->sourceless_steps)
        vti_cmd_say("a process had more than 4,096 sources of steps: %s step record%s of others %s",
                    vti_text_count(number, stats->sourceless_steps),
                    stats->sourceless_steps == 1 ? "" : "s",
                    stats->sourceless_steps == 1 ? "is lost" : "are lost");
    if (stats->was_stopped)
        vti_cmd_say("the recording was stopped before the program ended");
    else if (lost_events > explained)
        vti_cmd_say("%s: `venturi info` says where; --buffer or --block helps",
                    explained ? "others are lost because buffers were full" : "lost events");
    else if (stats->overwritten)
        vti_cmd_say(VTI_KEPT_THE_END, (unsigned long long)stats->overwritten);
}

static void say_about_clock(const struct vti_clock_doubts *clock)
{
    char said[32] = "";
    time_t seconds = (time_t)clock->said_s;
    struct tm utc;

    if (clock->is_out_of_bounds) {
        if (gmtime_r(&seconds, &utc))
            strftime(said, sizeof said, " (%Y-%m-%d)", &utc);
        vti_cmd_say("this machine's clock%s is outside of 1970 to 2261: all is recorded, dated %s; "
                    "set the clock",
                    said, clock->said_s < 0 ? "1970-01-01" : "2262-01-01");
    } else if (clock->times_set) {
        vti_cmd_say("this machine's clock was set %s by %lld s while the program ran%s: durations "
                    "are right, dates are as the clock said",
                    clock->set_by_s < 0 ? "back" : "forward",
                    (long long)(clock->set_by_s < 0 ? -clock->set_by_s : clock->set_by_s),
                    clock->times_set > 1 ? ", not only once" : "");
    }
}

static bool is_plain_word(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-+./,:@%=")] == 0;
}

static void say_missing(uint32_t count, const char *why)
{
    if (count)
        vti_cmd_say("%u process%s not recorded: %s", count, count == 1 ? " was" : "es were", why);
}

/* Processes that should have been recorded and were not, or not to their end. */
static void say_who_is_missing(const struct vti_drain_stats *stats)
{
    say_missing(stats->refused, "limits (ulimit) leave no room for buffers");
    say_missing(stats->unheard, "limits (ulimit) leave no room for buffers, or it ended at once");
    say_missing(stats->unlike, "libventuri is of another version there");
    say_missing(stats->gave_up,
                "the drainer did not answer in time (stopped, or the machine is busy)");
    if (stats->still_running)
        vti_cmd_say("%u process%s went on after the program ended, unrecorded",
                    stats->still_running, stats->still_running == 1 ? "" : "es");
}

/* The profile's own size, if that is what the user gets. */
static uint64_t size_of(const struct vti_run_output *output, const struct vti_drain_stats *stats)
{
    struct stat status;

    if (output->is_profile && stat(output->shown, &status) == 0)
        return (uint64_t)status.st_size;
    return stats->file.bytes;
}

static void say_about_samples(const struct vti_drain_stats *stats)
{
    if (stats->sampling_stopped)
        vti_cmd_say("%u process%s SIGURG: native stacks were sampled only until then",
                    stats->sampling_stopped, stats->sampling_stopped == 1 ? " uses" : "es use");
    if (stats->samples_cut * 20 > stats->samples)
        vti_cmd_say("%.0f %% of the native stacks could not be followed to their end",
                    100.0 * (double)stats->samples_cut / (double)stats->samples);
}

/* Whether names could be found out is not known before there are functions without one. */
static void say_about_names(const struct vti_drain_stats *stats)
{
    if (stats->nameless)
        vti_cmd_say("%u function%s: venturi-symbols is not there (it is built with elfutils)",
                    stats->nameless,
                    stats->nameless == 1 ? " stays an address" : "s stay addresses");
}

/* The share is an estimate: neither nothing nor everything is what it can say. */
static const char *cost_text(char *text, size_t room, double share)
{
    if (share < 0.0005)
        snprintf(text, room, "below 0.1 %%");
    else if (share > 0.99)
        snprintf(text, room, "over 99 %%");
    else
        snprintf(text, room, "%.1f %%", 100 * share);
    return text;
}

static void say_what_there_is(const struct vti_run_output *output,
                              const struct vti_drain_stats *stats, uint64_t lost_events,
                              bool wants_lines)
{
    char size[VTI_NUMBER_BYTES], count[VTI_NUMBER_BYTES], lost[VTI_NUMBER_BYTES];
    char cost[VTI_NUMBER_BYTES];
    struct vti_buf text = {0};

    if (stats->calls)
        vti_buf_printf(&text, ", %s calls", vti_text_count(count, stats->calls));
    if (stats->line_events || wants_lines)
        vti_buf_printf(&text, ", %s line%s", vti_text_count(count, stats->line_events),
                       stats->line_events == 1 ? "" : "s");
    if (stats->tasks)
        vti_buf_printf(&text, ", %s task%s", vti_text_count(count, stats->tasks),
                       stats->tasks == 1 ? "" : "s");
    if (stats->task_actions)
        vti_buf_printf(&text, ", %s action%s", vti_text_count(count, stats->task_actions),
                       stats->task_actions == 1 ? "" : "s");
    if (stats->steps)
        vti_buf_printf(&text, ", %s step record%s", vti_text_count(count, stats->steps),
                       stats->steps == 1 ? "" : "s");
    if (stats->samples)
        vti_buf_printf(&text, ", %s samples", vti_text_count(count, stats->samples));
    if (stats->file.events || !text.len)
        vti_buf_printf(&text, ", %s events", vti_text_count(count, stats->file.events));
    vti_cmd_say("%s  %s%.*s, %s lost, own cost %s", output->shown,
                vti_text_bytes(size, size_of(output, stats)), (int)text.len,
                text.len ? (const char *)text.data : "", vti_text_count(lost, lost_events),
                cost_text(cost, sizeof cost, stats->cost_share));
    vti_buf_fini(&text);
}

/* What was written into files that somebody removed meanwhile is nowhere, unless it was read while they were there. */
static void say_gone(const struct vti_run_output *output, const struct vti_writer_stats *file)
{
    struct vti_buf text = {0};

    add_lost(&text, file->gone, file->gone_tasks, file->gone_steps);
    vti_cmd_say("with what was removed are lost %.*s%s", (int)text.len,
                text.len ? (const char *)text.data : "",
                output->is_shipped ? ", but for those that had been sent before" : "");
    vti_buf_fini(&text);
}

/* What could not be written at the end is not in the file, whatever was counted until then. */
static void say_not_closed(const struct vti_run_output *output, const struct vti_drain_stats *stats,
                           int code)
{
    uint64_t gone_events = stats->file.gone - stats->file.gone_tasks - stats->file.gone_steps;
    char size[VTI_NUMBER_BYTES], count[VTI_NUMBER_BYTES];
    struct vti_buf text = {0};

    vti_cmd_say("%s", vti_error_message(code));
    add_count(&text, stats->file.events > gone_events ? stats->file.events - gone_events : 0,
              "event", "events");
    if (stats->steps)
        add_count(&text, stats->steps, "step record", "step records");
    if (stats->tasks)
        add_count(&text, stats->tasks, "task", "tasks");
    if (stats->calls)
        vti_buf_printf(&text, ", and of %s calls what fitted, maybe none",
                       vti_text_count(count, stats->calls));
    vti_cmd_say(stats->file.gone && output->is_spool ? "%s  %s written: its other files held %.*s"
                : stats->file.gone                   ? "%s  %s written, not closed: it holds %.*s"
                                                     : "%s  %s, not closed: it holds %.*s",
                output->shown, vti_text_bytes(size, stats->file.bytes), (int)text.len,
                text.len ? (const char *)text.data : "");
    vti_buf_fini(&text);
    if (stats->file.gone)
        say_gone(output, &stats->file);
    if (stats->file.disk_lost)
        say_disk_lost(&stats->file);
}

void vti_run_summary(const struct vti_run_output *output, const struct vti_drain_stats *stats,
                     int code, const struct vti_run_wish *wish, bool is_quiet)
{
    uint64_t lost_events = stats->file.lost_events - stats->overwritten;
    const char *quote = is_plain_word(output->shown) ? "" : "'";
    bool has_calls = stats->calls || stats->samples;
    bool has_lines = wish->wants_lines &&
                     (stats->line_events || (!wish->is_python && vti_run_is_made_for_lines(wish)));
    bool is_missed = stats->refused || stats->unheard || stats->unlike || stats->gave_up;

    if (code) {
        say_not_closed(output, stats, code);
        return;
    }
    say_who_is_missing(stats);
    say_about_names(stats);
    say_about_clock(&stats->clock);
    if (is_quiet && !lost_events)
        return;
    if (!is_missed && !stats->still_running && !stats->file.events && !has_calls && !has_lines &&
        !stats->tasks && !stats->steps && !lost_events) {
        vti_run_say_nothing(wish, output->shown);
        if (wish->has_energy)
            vti_cmd_say("next  venturi energy %s%s%s, which needs none of that", quote,
                        output->shown, quote);
        return;
    }
    say_what_there_is(output, stats, lost_events, has_lines);
    say_what_is_missing(stats, lost_events);
    say_about_samples(stats);
    if (stats->counters_lost)
        vti_cmd_say("lines of %u module%s were not counted: there was no room for their counters",
                    stats->counters_lost, stats->counters_lost == 1 ? "" : "s");
    if (is_quiet)
        return;
    if (output->is_spool) {
        if (!output->is_shipped)
            vti_cmd_say("next  venturi serve %s%s%s", quote, output->shown, quote);
        return;
    }
    if (wish->has_energy && !output->is_profile)
        vti_cmd_say("next  venturi energy %s%s%s", quote, output->shown, quote);
    if (stats->tasks)
        vti_cmd_say("next  venturi tasks %s%s%s", quote, output->shown, quote);
    if (has_lines || has_calls || (!stats->traced && !stats->tasks))
        vti_cmd_say("next  venturi %s %s%s%s",
                    has_lines                    ? "lines"
                    : has_calls && !stats->steps ? "stats"
                                                 : "report",
                    quote, output->shown, quote);
    if (stats->traced)
        vti_cmd_say("next  venturi trace list %s%s%s", quote, output->shown, quote);
    if (wish->is_live && !output->is_profile)
        vti_cmd_say("next  venturi serve %s%s%s, for what the dashboard showed", quote,
                    output->shown, quote);
    vti_cmd_say("page  venturi report %s%s%s -o page.html", quote, output->shown, quote);
}
