/*
 * run_summary.c - what `run` says when the program has ended.
 *
 * Goes to stderr, because standard output is the program's.
 */
#include "cli/run_summary.h"

#include "base/error.h"
#include "cli/render.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The second line: what is missing, if anything is. */
static void say_what_is_missing(const struct vti_drain_stats *stats, uint64_t lost_events)
{
    if (stats->was_stopped)
        fprintf(stderr, "venturi: the recording was stopped before the program ended\n");
    else if (stats->still_running)
        fprintf(stderr, "venturi: %u process%s went on after the program ended, unrecorded\n",
                stats->still_running, stats->still_running == 1 ? "" : "es");
    else if (stats->file.disk_lost)
        fprintf(stderr, "venturi: the disk was full: `venturi info` says what is missing\n");
    else if (lost_events)
        fprintf(stderr,
                "venturi: lost events: `venturi info` says where; --buffer or --block helps\n");
    else if (stats->overwritten)
        fprintf(stderr, "venturi: " VTI_KEPT_THE_END "\n", (unsigned long long)stats->overwritten);
}

static bool is_plain_word(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-+./,:@%=")] == 0;
}

/* Processes that should have been recorded and were not; true if there were any. */
static bool say_who_is_missing(const struct vti_drain_stats *stats)
{
    uint32_t limited = stats->refused + stats->unheard;

    if (limited)
        fprintf(stderr,
                "venturi: %u process%s not recorded: limits (ulimit) leave no room for buffers\n",
                limited, limited == 1 ? " was" : "es were");
    if (stats->gave_up)
        fprintf(
            stderr,
            "venturi: %u process%s not recorded: the drainer did not answer in time (stopped, or "
            "the machine is busy)\n",
            stats->gave_up, stats->gave_up == 1 ? " was" : "es were");
    return limited + stats->gave_up > 0;
}

static void say_nothing_recorded(const char *path, bool is_python)
{
    if (is_python)
        fprintf(stderr, "venturi: %s  nothing recorded: no function was seen\n", path);
    else
        fprintf(stderr,
                "venturi: %s  nothing recorded: no trace point of libventuri was hit\n"
                "venturi: next  add VT_SPAN to the program and link it with `pkg-config --libs "
                "venturi`\n",
                path);
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
        fprintf(stderr,
                "venturi: %u process%s SIGURG: native stacks were sampled only until then\n",
                stats->sampling_stopped, stats->sampling_stopped == 1 ? " uses" : "es use");
    if (stats->samples_cut * 20 > stats->samples)
        fprintf(stderr,
                "venturi: %.0f %% of the native stacks could not be followed to their end\n",
                100.0 * (double)stats->samples_cut / (double)stats->samples);
}

static void say_what_there_is(const struct vti_run_output *output,
                              const struct vti_drain_stats *stats, uint64_t lost_events)
{
    char size[VTI_NUMBER_BYTES], count[VTI_NUMBER_BYTES], lost[VTI_NUMBER_BYTES];

    fprintf(stderr, "venturi: %s  %s", output->shown, vti_text_bytes(size, size_of(output, stats)));
    if (stats->calls)
        fprintf(stderr, ", %s calls", vti_text_count(count, stats->calls));
    if (stats->samples)
        fprintf(stderr, ", %s samples", vti_text_count(count, stats->samples));
    if (stats->file.events || (!stats->calls && !stats->samples))
        fprintf(stderr, ", %s events", vti_text_count(count, stats->file.events));
    fprintf(stderr, ", %s lost, own cost %s%.1f %%\n", vti_text_count(lost, lost_events),
            stats->cost_share < 0.0005 ? "below " : "",
            stats->cost_share < 0.0005 ? 0.1 : 100 * stats->cost_share);
}

void vti_run_summary(const struct vti_run_output *output, const struct vti_drain_stats *stats,
                     int code, bool is_python, bool is_quiet)
{
    uint64_t lost_events = stats->file.lost_events - stats->overwritten;
    const char *quote = is_plain_word(output->shown) ? "" : "'";
    bool has_calls = stats->calls || stats->samples;

    if (code)
        fprintf(stderr, "venturi: %s\n", vti_error_message(code));
    if (is_quiet && !lost_events)
        return;
    if (!say_who_is_missing(stats) && !stats->file.events && !has_calls) {
        say_nothing_recorded(output->shown, is_python);
        return;
    }
    say_what_there_is(output, stats, lost_events);
    say_what_is_missing(stats, lost_events);
    say_about_samples(stats);
    if (!is_quiet)
        fprintf(stderr, "venturi: next  venturi %s %s%s%s\n", has_calls ? "stats" : "report", quote,
                output->shown, quote);
}
