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

#include <string.h>
#include <sys/stat.h>

/* The second line: what is missing, if anything is. */
static void say_what_is_missing(const struct vti_drain_stats *stats, uint64_t lost_events)
{
    if (stats->was_stopped)
        vti_cmd_say("the recording was stopped before the program ended");
    else if (stats->file.disk_lost)
        vti_cmd_say("the disk was full: `venturi info` says what is missing");
    else if (lost_events)
        vti_cmd_say("lost events: `venturi info` says where; --buffer or --block helps");
    else if (stats->overwritten)
        vti_cmd_say(VTI_KEPT_THE_END, (unsigned long long)stats->overwritten);
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

/* Who cannot reach us at all cannot say so either. */
static void say_nothing_recorded(const char *path, bool is_python)
{
    if (is_python) {
        vti_cmd_say("%s  nothing recorded: no function was seen", path);
        return;
    }
    vti_cmd_say("%s  nothing recorded: no trace point of libventuri was hit, or a sandbox kept the "
                "program from connecting",
                path);
    vti_cmd_say("next  add VT_SPAN to the program and link it with `pkg-config --libs venturi`");
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

static void say_what_there_is(const struct vti_run_output *output,
                              const struct vti_drain_stats *stats, uint64_t lost_events)
{
    char size[VTI_NUMBER_BYTES], count[VTI_NUMBER_BYTES], lost[VTI_NUMBER_BYTES];
    struct vti_buf text = {0};

    if (stats->calls)
        vti_buf_printf(&text, ", %s calls", vti_text_count(count, stats->calls));
    if (stats->samples)
        vti_buf_printf(&text, ", %s samples", vti_text_count(count, stats->samples));
    if (stats->file.events || (!stats->calls && !stats->samples))
        vti_buf_printf(&text, ", %s events", vti_text_count(count, stats->file.events));
    vti_cmd_say("%s  %s%.*s, %s lost, own cost %s%.1f %%", output->shown,
                vti_text_bytes(size, size_of(output, stats)), (int)text.len,
                text.len ? (const char *)text.data : "", vti_text_count(lost, lost_events),
                stats->cost_share < 0.0005 ? "below " : "",
                stats->cost_share < 0.0005 ? 0.1 : 100 * stats->cost_share);
    vti_buf_fini(&text);
}

void vti_run_summary(const struct vti_run_output *output, const struct vti_drain_stats *stats,
                     int code, bool is_python, bool is_quiet)
{
    uint64_t lost_events = stats->file.lost_events - stats->overwritten;
    const char *quote = is_plain_word(output->shown) ? "" : "'";
    bool has_calls = stats->calls || stats->samples;
    bool is_missed = stats->refused || stats->unheard || stats->unlike || stats->gave_up;

    if (code)
        vti_cmd_say("%s", vti_error_message(code));
    say_who_is_missing(stats);
    if (is_quiet && !lost_events)
        return;
    if (!is_missed && !stats->still_running && !stats->file.events && !has_calls) {
        say_nothing_recorded(output->shown, is_python);
        return;
    }
    say_what_there_is(output, stats, lost_events);
    say_what_is_missing(stats, lost_events);
    say_about_samples(stats);
    if (!is_quiet)
        vti_cmd_say("next  venturi %s %s%s%s", has_calls ? "stats" : "report", quote, output->shown,
                    quote);
}
