/*
 * cmd_info.c - venturi info: what is in a recording, and what is wrong with it. The JSON form is in
 * info_json.c.
 */
#include "analyze/check.h"
#include "analyze/values.h"
#include "base/error.h"
#include "cli/cmd.h"
#include "cli/info.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "format/facts.h"
#include "model/fact_blocks.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 20 /* of each table; --json has all */

enum { OPT_JSON };

static const struct vti_option options[] = {
    [OPT_JSON] = {0, "json", NULL, "write JSON, with everything there is"},
    {0},
};

extern const struct vti_command vti_cmd_info;

/* "label      value", made harmless. */
static void print_line(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void print_line(const char *label, const char *format, ...)
{
    struct vti_buf safe = {0};
    char *text = NULL;
    va_list args;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);
    if (len >= 0)
        vti_text_safe(&safe, text, (size_t)len);
    printf("%-10s  %.*s\n", label, (int)safe.len, safe.data ? (const char *)safe.data : "");
    vti_buf_fini(&safe);
    if (len >= 0)
        free(text);
}

/* ---- the recording --------------------------------------------------------------------------- */

static const char *state_text(const struct vt_recording_info *info)
{
    return info->is_closed ? "closed" : "not closed: still growing, or its writer was stopped";
}

/* The one that `venturi run` was given; without it, that of the first process. */
static const char *command_of(const struct vti_info *all)
{
    struct vt_process_info process = {.command = ""};

    if (!*all->info.command)
        vt_recording_process(all->recording, 0, &process);
    return *all->info.command ? all->info.command : process.command;
}

static void print_hosts(const struct vti_info *all)
{
    struct vt_host_info host;

    for (uint32_t i = 0; vt_recording_host(all->recording, i, &host); i++) {
        char offset[VTI_NUMBER_BYTES];
        char error[VTI_NUMBER_BYTES];

        if (!strcmp(host.name, VTI_HOST_IMPORTED))
            print_line(i ? "" : "host", "not known: imported%s%s", *host.os ? " from a " : "",
                       host.os);
        else
            print_line(i ? "" : "host", "%s: %s, %u x %s", host.name, host.os, host.cpu_count,
                       host.cpu);
        if (host.offset_ns || host.error_ns)
            print_line("", "clock moved by %s, give or take %s",
                       vti_text_duration(offset, (double)host.offset_ns),
                       vti_text_duration(error, (double)host.error_ns));
    }
}

/* One line if all processes have the same costs. */
static void print_cost(const struct vti_info *all)
{
    struct vt_process_info process;
    double pair_ns = 0;
    double inner_ns = 0;
    bool is_known = false;

    for (uint32_t i = 0; vt_recording_process(all->recording, i, &process); i++) {
        is_known |= process.pair_ns > 0;
        pair_ns = process.pair_ns > pair_ns ? process.pair_ns : pair_ns;
        inner_ns = process.inner_ns > inner_ns ? process.inner_ns : inner_ns;
    }
    if (is_known)
        print_line("own cost", "%.1f ns for a span, of which it shows %.1f ns itself", pair_ns,
                   inner_ns);
    else
        print_line("own cost", "not calibrated");
}

/* Files that commands take as they are: what was opened is a recording made of it just now. */
static bool is_given_as_it_is(const struct vti_info *all)
{
    struct vti_bytes from;

    return vti_recording_meta(all->recording, "imported", &from) &&
           from.len == strlen(all->info.path) && !memcmp(from.data, all->info.path, from.len);
}

static void print_clock(const struct vti_info *all)
{
    const struct vt_recording_info *info = &all->info;
    char rate[VTI_RATE_BYTES];

    if (vti_recording_is_imported(all->recording))
        print_line("clock", "not known: times are those that the imported file tells");
    else if (!strcmp(info->clock, "monotonic"))
        print_line("clock", "monotonic, nanoseconds");
    else if (*info->clock)
        print_line("clock", "%s, %s", info->clock, vti_text_rate(rate, info->ticks_per_ns));
    else
        print_line("clock", "unknown");
}

static void print_tasks(const struct vti_info *all)
{
    char actions[64] = "";

    if (all->task_actions)
        snprintf(actions, sizeof actions, ", %llu action%s beside them",
                 (unsigned long long)all->task_actions, all->task_actions == 1 ? "" : "s");
    print_line("tasks", "%llu task%s in %llu run%s%s (venturi tasks)",
               (unsigned long long)all->tasks, all->tasks == 1 ? "" : "s",
               (unsigned long long)all->runs, all->runs == 1 ? "" : "s", actions);
}

static void print_recording(const struct vti_info *all)
{
    const struct vt_recording_info *info = &all->info;
    char when[VTI_WHEN_BYTES];
    char number[VTI_NUMBER_BYTES];
    int64_t begin_ns;
    int64_t end_ns;

    vti_recording_extent(all->recording, &begin_ns, &end_ns);
    print_line("file", "%s", info->path);
    print_line("recorded", "%s, %s", vti_text_when(when, info->start_realtime_ns),
               vti_text_duration(number, (double)(end_ns - begin_ns)));
    print_line("state", "%s", state_text(info));
    if (*command_of(all))
        print_line("command", "%s", command_of(all));
    if (*info->directory)
        print_line("directory", "%s", info->directory);
    if (all->merged > 1)
        print_line("merged", "from %lu recordings", all->merged);
    print_hosts(all);
    print_clock(all);
    if (is_given_as_it_is(all))
        print_line("size", "%s as a recording", vti_text_bytes(number, info->file_bytes));
    else if (info->event_count)
        print_line("size", "%s, %.2f bytes an event", vti_text_bytes(number, info->file_bytes),
                   (double)info->file_bytes / (double)info->event_count);
    else
        print_line("size", "%s", vti_text_bytes(number, info->file_bytes));
    print_line("contents", "%llu events, %llu spans on threads, %u sites",
               (unsigned long long)info->event_count, (unsigned long long)info->span_count,
               info->site_count);
    if (all->calls)
        print_line("functions", "%llu calls of %llu function%s (venturi stats)",
                   (unsigned long long)all->calls, (unsigned long long)all->functions,
                   all->functions == 1 ? "" : "s");
    if (all->line_events)
        print_line("lines", "%llu line events on %llu line%s, %llu source%s (venturi lines)",
                   (unsigned long long)all->line_events, (unsigned long long)all->lines,
                   all->lines == 1 ? "" : "s", (unsigned long long)all->sources,
                   all->sources == 1 ? "" : "s");
    if (all->runs)
        print_tasks(all);
    if (all->steps)
        print_line("steps", "%llu record%s of steps (venturi report)",
                   (unsigned long long)all->steps, all->steps == 1 ? "" : "s");
    if (all->readings)
        print_line("resources", "%llu readings of %llu process%s (venturi query)",
                   (unsigned long long)all->readings, (unsigned long long)all->watched,
                   all->watched == 1 ? "" : "es");
    if (all->energy_readings)
        print_line("energy",
                   "%llu readings of %u source%s, CPU time of threads %llu times (venturi energy)",
                   (unsigned long long)all->energy_readings, all->energy_sources,
                   all->energy_sources == 1 ? "" : "s", (unsigned long long)all->cpu_points);
    else if (*all->energy_note)
        print_line("energy", "none: %s", all->energy_note);
    print_cost(all);
    if (*info->writer_version)
        print_line("writer", "venturi %s, %s", info->writer_version,
                   *info->policy ? info->policy : "policy unknown");
    if (info->unknown_blocks)
        print_line("unknown", "%llu block%s of a kind that this version does not know",
                   (unsigned long long)info->unknown_blocks, info->unknown_blocks == 1 ? "" : "s");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int print_table(const char *title, struct vti_table *table, size_t rows)
{
    int code;

    printf("\n%s\n", title);
    code = vti_table_print(table, stdout);
    if (rows > ROWS_MOST)
        printf("... and %zu more, see --json\n", rows - ROWS_MOST);
    vti_table_free(table);
    return code;
}

static const char *ended_text(char to[32], const struct vt_process_info *process)
{
    const char *name = process->how == VT_END_SIGNAL ? sigabbrev_np((int)process->status) : NULL;

    if (name)
        snprintf(to, 32, "SIG%s", name);
    else if (process->how == VT_END_SIGNAL)
        snprintf(to, 32, "signal %u", process->status);
    else if (process->how == VT_END_EXIT)
        snprintf(to, 32, "exit %u", process->status);
    else
        snprintf(to, 32, "%s", process->how == VT_END_EXEC ? "exec" : "unknown");
    return to;
}

static int print_processes(const struct vti_info *all)
{
    static const struct vti_column columns[] = {
        {"Pid", VTI_RIGHT},     {"Start", VTI_RIGHT},  {"Lasted", VTI_RIGHT}, {"Ended", VTI_LEFT},
        {"Threads", VTI_RIGHT}, {"Events", VTI_RIGHT}, {"Name", VTI_LEFT},
    };
    struct vt_process_info process;
    struct vti_table *table;
    int code;

    if (!all->info.process_count)
        return 0;
    code = vti_table_create(&table, columns, 7);
    for (uint32_t i = 0;
         !code && i < ROWS_MOST && vt_recording_process(all->recording, i, &process); i++) {
        char ended[32];

        vti_table_printf(table, "%u", process.pid);
        vti_table_duration(table, (double)process.start_ns);
        vti_table_duration(table, (double)(process.end_ns - process.start_ns));
        vti_table_text(table, ended_text(ended, &process));
        vti_table_count(table, all->processes[i].threads);
        vti_table_count(table, all->processes[i].events);
        vti_table_text(table, process.name);
    }
    return code ? code : print_table("Processes", table, all->info.process_count);
}

static int print_threads(const struct vti_info *all)
{
    static const struct vti_column columns[] = {
        {"Tid", VTI_RIGHT},    {"Pid", VTI_RIGHT},   {"Start", VTI_RIGHT},   {"Lasted", VTI_RIGHT},
        {"Events", VTI_RIGHT}, {"Spans", VTI_RIGHT}, {"Deepest", VTI_RIGHT}, {"Name", VTI_LEFT},
    };
    struct vt_process_info process;
    struct vt_track_info track;
    struct vti_table *table;
    int code;

    if (!all->info.track_count)
        return 0;
    code = vti_table_create(&table, columns, 8);
    for (uint32_t i = 0; !code && i < ROWS_MOST && vt_recording_track(all->recording, i, &track);
         i++) {
        vt_recording_process_by_id(all->recording, track.process, &process);
        vti_table_printf(table, "%u", track.tid);
        vti_table_printf(table, "%u", process.pid);
        vti_table_duration(table, (double)track.start_ns);
        vti_table_duration(table, (double)(track.end_ns - track.start_ns));
        vti_table_count(table, track.event_count);
        vti_table_count(table, track.span_count);
        vti_table_count(table, track.deepest);
        vti_table_text(table, track.name);
    }
    return code ? code : print_table("Threads", table, all->info.track_count);
}

static void add_owner(struct vti_table *table, const struct vti_info *all,
                      const struct vti_loss_stats *loss)
{
    struct vt_process_info process;
    struct vt_track_info track;

    if (loss->track != VT_NONE) {
        vt_recording_track_by_id(all->recording, loss->track, &track);
        vti_table_printf(table, "thread %u %s", track.tid, track.name);
    } else if (loss->process != VT_NONE) {
        vt_recording_process_by_id(all->recording, loss->process, &process);
        vti_table_printf(table, "process %u %s", process.pid, process.name);
    } else {
        vti_table_text(table, "all");
    }
}

static int print_losses(const struct vti_info *all)
{
    static const struct vti_column columns[] = {
        {"Events", VTI_RIGHT}, {"Gaps", VTI_RIGHT}, {"From", VTI_RIGHT},
        {"To", VTI_RIGHT},     {"Why", VTI_LEFT},   {"Where", VTI_LEFT},
    };
    struct vti_table *table;
    int code;

    print_line("lost",
               all->info.is_closed ? "%llu events" : "%llu events, and what was not yet written",
               (unsigned long long)all->losses.lost_events);
    if (all->losses.missing_processes)
        print_line("missing", VTI_MISSING_PROCESSES,
                   (unsigned long long)all->losses.missing_processes);
    if (all->losses.overwritten_events)
        print_line("ring", VTI_KEPT_THE_END, (unsigned long long)all->losses.overwritten_events);
    if (all->losses.sliced_events)
        print_line("sliced", "%llu events before and after were cut away on purpose",
                   (unsigned long long)all->losses.sliced_events);
    if (!all->losses.count)
        return 0;
    code = vti_table_create(&table, columns, 6);
    for (size_t i = 0; !code && i < ROWS_MOST && i < all->losses.count; i++) {
        const struct vti_loss_stats *loss = &all->losses.items[i];

        vti_table_printf(table, "%llu%s", (unsigned long long)loss->events,
                         loss->is_lower_bound ? "+" : "");
        vti_table_count(table, loss->gaps);
        vti_table_duration(table, (double)loss->begin_ns);
        vti_table_duration(table, (double)loss->end_ns);
        vti_table_text(table, loss->reason);
        add_owner(table, all, loss);
    }
    return code ? code : print_table("Missing events", table, all->losses.count);
}

static int print_damage(const struct vti_info *all)
{
    static const struct vti_column columns[] = {
        {"From byte", VTI_RIGHT}, {"To byte", VTI_RIGHT}, {"What", VTI_LEFT}};
    struct vt_damage_info damage;
    struct vti_table *table;
    int code;

    if (!all->info.damage_count)
        return 0;
    code = vti_table_create(&table, columns, 3);
    for (uint32_t i = 0; !code && i < ROWS_MOST && vt_recording_damage(all->recording, i, &damage);
         i++) {
        vti_table_count(table, damage.begin_offset);
        vti_table_count(table, damage.end_offset);
        vti_table_text(table, damage.what);
    }
    return code ? code : print_table("Damage", table, all->info.damage_count);
}

static int print_info(const struct vti_info *all)
{
    int code;

    print_recording(all);
    code = print_losses(all);
    if (!code)
        code = print_damage(all);
    if (!code)
        code = print_processes(all);
    if (!code)
        code = print_threads(all);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int show(vt_recording *recording, void *arg)
{
    const bool *is_json = arg;
    struct vti_info all = {.recording = recording};
    int code = vti_recording_check(recording);

    if (!code)
        code = vti_losses_query(recording, &all.losses);
    vt_recording_info(recording, &all.info);
    if (!code)
        code = vti_info_count(&all);
    if (!code)
        code = *is_json ? vti_info_json(&all) : print_info(&all);
    vti_losses_free(&all.losses);
    free(all.processes);
    return code ? vti_cmd_error("info", code) : VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    const char *file = NULL;
    bool is_json = false;
    const struct vti_place places[] = {[OPT_JSON] = {.is_set = &is_json}};
    int code = vti_args_collect(&vti_cmd_info, argc, argv, places, &file, 1, "one FILE");

    return code ? code : vti_reading_do("info", file, show, &is_json);
}

const struct vti_command vti_cmd_info = {
    .name = "info",
    .summary = "what is in a recording: processes, threads, sizes, losses, damage",
    .usage = "[--json] FILE",
    .about = "Shows what the recording FILE holds, where it comes from and what is missing\n"
             "from it, with processes, threads, losses and damage. All checksums are checked.",
    .options = options,
    .run = run,
};
