/* reading.c - what the commands that read recordings have in common. */
#include "cli/reading.h"

#include "analyze/lines.h"
#include "analyze/profile.h"
#include "analyze/values.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/importing.h"
#include "cli/quantity.h"
#include "model/line_table.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static bool has_recordings(DIR *folder)
{
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        const char *ending = strrchr(entry->d_name, '.');

        if (ending && ending > entry->d_name && !strcmp(ending, ".vt"))
            return true;
    }
    return false;
}

int vti_reading_refuse_folder(const char *command, const char *path)
{
    struct stat status;
    bool is_spool;
    DIR *folder;

    if (stat(path, &status) || !S_ISDIR(status.st_mode))
        return 0;
    folder = opendir(path);
    is_spool = has_recordings(folder);
    if (folder)
        closedir(folder);
    if (!is_spool)
        return vti_cmd_fail(command, "%s: is a folder, not a recording (.vt)", path);
    return vti_cmd_fail(command,
                        "%s: is a folder; a spool is shown by `venturi serve %s`, its files one by "
                        "one, or merged: venturi merge %s/*.vt -o all.vt",
                        path, path, path);
}

int vti_reading_check(const char *command, const char *path)
{
    if (!path)
        return vti_cmd_fail(command, "which FILE? A recording (.vt)");
    if (!strcmp(path, "-"))
        return vti_cmd_fail(command, "-: a recording is read from a file, not from standard input");
    return vti_reading_refuse_folder(command, path);
}

/* Documents of steps that `ship --to file://` has written begin so. */
static bool is_shipped_steps(const char *path)
{
    static const char begin[] = "{\"@timestamp\":\"";
    struct vti_mapping map;
    bool is_one;

    if (vti_mapping_open(&map, path))
        return false;
    is_one = map.size > sizeof begin && !memcmp(map.data, begin, sizeof begin - 1);
    vti_mapping_close(&map);
    return is_one;
}

/* Which command is for such a file; NULL: none that can be told. */
static const char *find_command(const char *path)
{
    const char *ending = strrchr(path, '.');
    const char *command = NULL;
    const uint8_t *bytes;
    struct vti_mapping map;

    if (vti_profile_is_recording(path) || vti_mapping_open(&map, path))
        return NULL;
    bytes = map.data;
    if (vti_lines_is_lprof(map.data, map.size))
        command = "lines";
    else if (map.size > 1 && (bytes[0] & 0x7f) == '{' && /* marshal: a dictionary whose … */
             ((bytes[1] & 0x7f) == '(' || (bytes[1] & 0x7f) == ')')) /* … first key is a tuple */
        command = "stats";
    else if (ending && !strcmp(ending, ".py"))
        command = "run";
    vti_mapping_close(&map);
    return command;
}

int vti_reading_refuse(const char *command, const char *path, int code)
{
    const char *other;
    char why[1024];

    snprintf(why, sizeof why, "%s", vti_error_message(code)); /* looking at it may fail anew */
    if (is_shipped_steps(path))
        return vti_cmd_fail(
            command, "%s: holds documents of steps, as venturi ship writes them: %s", path,
            strcmp(command, "trace") && strcmp(command, "rank") ? "not a recording"
                                                                : "no traces, only steps");
    other = find_command(path);
    if (!other || !strcmp(other, command))
        return vti_cmd_error(command, vti_fail(code, "%s", why));
    if (!strcmp(other, "run"))
        return vti_cmd_fail(command, "%s: is a script: venturi run %s records it", path, path);
    if (!strcmp(other, "lines"))
        return vti_cmd_fail(command, "%s: is a profile of lines: venturi lines %s shows it", path,
                            path);
    if (!strcmp(command, "report"))
        return vti_cmd_fail(command,
                            "%s: is a profile of functions: venturi stats %s shows it, "
                            "-o page.html makes a page of it",
                            path, path);
    return vti_cmd_fail(command, "%s: is a profile of functions%s: venturi stats %s shows it", path,
                        strcmp(command, "flame") ? "" : ", which holds no paths", path);
}

/* One in which there is something: 0, or an exit code after one line on stderr. */
static int open_recording(const char *command, const char *path, vt_recording **recording)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;
    int code = vti_importing_open(command, path, recording);

    if (code)
        return vti_reading_refuse(command, path, code);
    vt_recording_info(*recording, &info);
    if (info.event_count || info.process_count || !vt_recording_damage(*recording, 0, &damage))
        return 0;
    vti_cmd_fail(command, "%s: nothing in it can be read: bytes %llu to %llu: %s", path,
                 (unsigned long long)damage.begin_offset, (unsigned long long)damage.end_offset,
                 damage.what);
    vt_recording_close(*recording);
    *recording = NULL;
    return VTI_EXIT_BAD;
}

static void warn_of_damage(const char *command, const vt_recording *recording)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;

    vt_recording_info(recording, &info);
    if (!vt_recording_damage(recording, 0, &damage))
        return;
    if (info.damage_count == 1)
        vti_cmd_warn(command, "%s: bytes %llu to %llu are damaged: %s; this is about the rest",
                     info.path, (unsigned long long)damage.begin_offset,
                     (unsigned long long)damage.end_offset, damage.what);
    else
        vti_cmd_warn(command,
                     "%s: %u ranges are damaged, the first is bytes %llu to %llu: %s; this is "
                     "about the rest",
                     info.path, info.damage_count, (unsigned long long)damage.begin_offset,
                     (unsigned long long)damage.end_offset, damage.what);
}

int vti_reading_lacks(const char *command, const vt_recording *recording, const char *what,
                      const char *hint)
{
    struct vt_recording_info info;
    struct vt_damage_info damage;

    vt_recording_info(recording, &info);
    if (vt_recording_damage(recording, 0, &damage))
        return vti_cmd_fail(command, "%s: holds no %s outside of bytes %llu to %llu: %s", info.path,
                            what, (unsigned long long)damage.begin_offset,
                            (unsigned long long)damage.end_offset, damage.what);
    if (!info.is_closed)
        return vti_cmd_fail(command,
                            "%s: holds no %s yet: still growing, or its writer was stopped",
                            info.path, what);
    return vti_cmd_fail(command, "%s: holds no %s%s", info.path, what, hint);
}

int vti_reading_thread(const char *command, const char *wanted, const vt_recording *recording,
                       uint32_t *id)
{
    struct vt_track_info track;
    unsigned found = 0;
    char *end;
    unsigned long tid = strtoul(wanted, &end, 10);
    bool is_number = end != wanted && !*end;

    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++) {
        if ((is_number && track.tid == tid) || !strcmp(track.name, wanted)) {
            *id = track.id;
            found++;
        }
    }
    if (found == 1)
        return 0;
    if (!found)
        return vti_cmd_fail(command, "--thread: no thread is called '%s', see venturi info",
                            wanted);
    return vti_cmd_fail(command,
                        "--thread: %u threads are called '%s': use a number, see venturi info",
                        found, wanted);
}

bool vti_reading_has_lines(vt_recording *recording)
{
    struct vti_line_tables tables;
    bool result = !vti_line_tables_load(&tables, recording) && tables.track_ids.count;

    vti_line_tables_fini(&tables);
    return result;
}

void vti_reading_warn_of_open(const char *command, const vt_recording *recording, const char *what)
{
    struct vt_recording_info info;

    vt_recording_info(recording, &info);
    if (!info.is_closed)
        vti_cmd_warn(command,
                     "%s: not closed (still growing, or its writer was stopped): %s of its last "
                     "second may be missing",
                     info.path, what);
}

int vti_reading_do(const char *command, const char *path,
                   int (*work)(vt_recording *recording, void *arg), void *arg)
{
    vt_recording *recording;
    int code = vti_reading_check(command, path);

    if (!code)
        code = open_recording(command, path, &recording);
    if (code)
        return code;
    code = work(recording, arg);
    if (code == VTI_EXIT_OK)
        warn_of_damage(command, recording);
    vt_recording_close(recording);
    return code;
}

static bool parse_share(const char *text, double *share)
{
    char *end;

    errno = 0;
    *share = strtod(text, &end) / 100;
    return !errno && end != text && !strcmp(end, "%") && isfinite(*share) && *share <= 1 &&
           *share >= 0;
}

bool vti_parse_moment(const char *text, int64_t begin_ns, int64_t end_ns, int64_t *ns)
{
    bool is_from_end = text[0] == '-';
    const char *amount = text + is_from_end;
    size_t len = strlen(amount);
    double share;
    int64_t away;

    if (len && amount[len - 1] == '%') {
        if (!parse_share(amount, &share))
            return false;
        away = (int64_t)((double)(end_ns - begin_ns) * share);
        *ns = is_from_end ? end_ns - away : begin_ns + away;
        return true;
    }
    if (!vti_parse_duration(amount, &away))
        return false;
    if (!is_from_end)
        *ns = away;
    else if (__builtin_sub_overflow(end_ns, away, ns))
        return false;
    return true;
}

static int parse_end(const char *command, const char *option, const char *text, int64_t begin_ns,
                     int64_t end_ns, int64_t *ns)
{
    if (!text || vti_parse_moment(text, begin_ns, end_ns, ns))
        return 0;
    return vti_cmd_fail(command, "--%s: '%s' is no time: 1.5s, 300ms, 10%%, or -2s from the end",
                        option, text);
}

int vti_reading_range(const char *command, const vt_recording *recording, const char *from,
                      const char *to, struct vt_filter *range)
{
    struct vt_recording_info info;
    int64_t begin_ns;
    int64_t end_ns;
    int code;

    vt_recording_info(recording, &info);
    vti_recording_extent(recording, &begin_ns, &end_ns);
    *range = (struct vt_filter){INT64_MIN, INT64_MAX, VT_NONE};
    code = parse_end(command, "from", from, begin_ns, end_ns, &range->from_ns);
    if (!code)
        code = parse_end(command, "to", to, begin_ns, end_ns, &range->to_ns);
    if (code)
        return code;
    if (range->from_ns >= range->to_ns)
        return vti_cmd_fail(command, "%s: the range ends before it begins: --from %s --to %s",
                            info.path, from ? from : "start", to ? to : "end");
    if (range->from_ns > end_ns || range->to_ns <= begin_ns)
        return vti_cmd_fail(command, "%s: lasts from %.9f to %.9f s, the range is outside",
                            info.path, (double)begin_ns / 1e9, (double)end_ns / 1e9);
    return 0;
}

const char *vti_text_when(char to[VTI_WHEN_BYTES], int64_t realtime_ns)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm when;

    if (!localtime_r(&seconds, &when) || !strftime(to, VTI_WHEN_BYTES, "%Y-%m-%d %H:%M:%S", &when))
        to[0] = 0;
    return to;
}

const char *vti_text_rate(char to[VTI_RATE_BYTES], double ticks_per_ns)
{
    if (ticks_per_ns >= 1)
        snprintf(to, VTI_RATE_BYTES, "%.2f GHz", ticks_per_ns);
    else
        snprintf(to, VTI_RATE_BYTES, "%.2f MHz", ticks_per_ns * 1000);
    return to;
}
