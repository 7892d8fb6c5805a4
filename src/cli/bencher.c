/* bencher.c - runs commands, plain or recorded, and keeps what they used. */
#include "cli/bencher.h"

#include "base/error.h"
#include "cli/cmd.h"
#include "cli/python.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNTED_RUNS 2
#define METERED_RUNS 3

/* ---- what is needed ------------------------------------------------------------------------------ */

static int parse_items(struct vti_bencher *bencher, const char *text)
{
    char *end;
    double count = strtod(text, &end);

    if (!*end && isdigit((unsigned char)*text)) {
        bencher->items.count = count;
        return count > 0 && count <= VTI_BENCH_MOST
                   ? 0
                   : vti_cmd_fail(bencher->command, "--items: '%s' is no amount of work", text);
    }
    if (regcomp(&bencher->items.pattern, text, REG_EXTENDED | REG_NEWLINE))
        return vti_cmd_fail(bencher->command, "--items: '%s' is neither a number nor a pattern",
                            text);
    bencher->items.has_pattern = true;
    if (bencher->items.pattern.re_nsub != 1)
        return vti_cmd_fail(bencher->command,
                            "--items: '%s': put the number in ( ), as in 'done ([0-9]+)'", text);
    return 0;
}

int vti_bencher_init(struct vti_bencher *bencher, const char *command, const char *items)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    struct timespec now;

    *bencher = (struct vti_bencher){.command = command};
    clock_gettime(CLOCK_MONOTONIC, &now);
    bencher->random = (uint64_t)now.tv_nsec * 2654435761u + (uint64_t)now.tv_sec;
    if (len <= 0)
        return vti_cmd_fail(command, "cannot find this program: /proc is missing");
    path[len] = 0;
    bencher->self = strdup(path);
    if (!bencher->self)
        return vti_cmd_fail(command, "out of memory");
    vti_python_offer_package(); /* what is run plain may import it as under `run` */
    return items ? parse_items(bencher, items) : 0;
}

unsigned vti_bencher_random(struct vti_bencher *bencher, unsigned most)
{
    bencher->random = bencher->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((bencher->random >> 33) % most);
}

static void remove_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;

    while (entries && (entry = readdir(entries)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    rmdir(folder);
}

void vti_bencher_fini(struct vti_bencher *bencher)
{
    if (bencher->folder)
        remove_folder(bencher->folder);
    if (bencher->items.has_pattern)
        regfree(&bencher->items.pattern);
    free(bencher->folder);
    free(bencher->self);
    bencher->folder = bencher->self = NULL;
}

char *vti_bencher_path(struct vti_bencher *bencher, const char *name)
{
    const char *parent = getenv("TMPDIR");
    char *path = NULL;

    if (!bencher->folder) {
        if (asprintf(&path, "%s/venturi-bench-XXXXXX", parent && *parent ? parent : "/tmp") < 0 ||
            !mkdtemp(path)) {
            vti_cmd_fail(bencher->command, "%s: cannot make a folder for recordings",
                         path ? path : "");
            free(path);
            return NULL;
        }
        bencher->folder = path;
        path = NULL;
    }
    if (asprintf(&path, "%s/%s", bencher->folder, name) < 0) {
        vti_cmd_fail(bencher->command, "out of memory");
        return NULL;
    }
    return path;
}

/* ---- runs ---------------------------------------------------------------------------------------- */

static int failed(const struct vti_bencher *bencher, const struct vti_command_line *line,
                  const struct vti_spawned *spawned)
{
    char words[VTI_LAST_WORDS_BYTES];

    vti_spawned_last_words(spawned, words);
    if (spawned->is_killed)
        return vti_cmd_fail(bencher->command, "%s: ended by signal %d%s%s", line->text,
                            spawned->status - 128, *words ? ": " : "", words);
    return vti_cmd_fail(bencher->command, "%s: failed with exit code %d%s%s", line->text,
                        spawned->status, *words ? ": " : "", words);
}

static int note_items(const struct vti_bencher *bencher, const struct vti_command_line *line,
                      struct vti_bench_entry *entry, const struct vti_spawned *spawned)
{
    const char *text = spawned->out.data ? (const char *)spawned->out.data : "";
    double count = bencher->items.count;
    regmatch_t found[2];

    if (bencher->items.has_pattern) {
        if (regexec(&bencher->items.pattern, text, 2, found, 0))
            return vti_cmd_fail(
                bencher->command, "%s: %s that --items could be found in", line->text,
                spawned->out.len ? "it printed nothing" : "it printed nothing at all, so nothing");
        count = strtod(text + found[1].rm_so, NULL);
        if (!(count > 0))
            return vti_cmd_fail(bencher->command, "%s: it says that it did no items", line->text);
        if (count > VTI_BENCH_MOST)
            return vti_cmd_fail(bencher->command,
                                "%s: it says that it did %g items: too many to be true", line->text,
                                count);
    }
    if (!(count > 0))
        return 0;
    return vti_bench_note(entry, "items", VTI_QUANTITY_ITEMS, count)
               ? vti_cmd_error(bencher->command, VTI_E_NOMEM)
               : 0;
}

int vti_bencher_record(struct vti_bencher *bencher, const struct vti_command_line *line,
                       const char *const *options, const char *path, struct vti_spawned *spawned)
{
    const char *words[64] = {bencher->self, "run", "-q", "-f", "-o", path};
    size_t count = 6;
    size_t most = sizeof words / sizeof *words;
    char **all;
    size_t length = 0;
    int code;

    while (options && *options && count + 2 < most)
        words[count++] = *options++;
    words[count++] = "--";
    while (line->words[length])
        length++;
    all = calloc(count + length + 1, sizeof *all);
    if (!all)
        return vti_cmd_fail(bencher->command, "out of memory");
    for (size_t i = 0; i < count; i++)
        all[i] = (char *)words[i];
    memcpy(all + count, line->words, length * sizeof *all);
    code = vti_spawn(spawned, all, line->directory);
    free(all);
    return code ? vti_cmd_error(bencher->command, code) : 0;
}

static int measure(const struct vti_bencher *bencher, const char *path,
                   struct vti_bench_entry *entry, bool counts_only)
{
    vt_recording *recording = NULL;
    int code = vt_recording_open(&recording, path);

    if (!code)
        code = vti_measure(entry, recording, counts_only);
    if (recording)
        vt_recording_close(recording);
    return code ? vti_cmd_error(bencher->command, code) : 0;
}

static int run_recorded(struct vti_bencher *bencher, const struct vti_command_line *line,
                        struct vti_bench_entry *entry, struct vti_spawned *spawned)
{
    const char *const options[] = {"--only-mine", bencher->meters ? "--energy" : NULL, NULL};
    char *path = vti_bencher_path(bencher, "run.vt");
    int code = path ? vti_bencher_record(bencher, line, options, path, spawned) : VTI_EXIT_BAD;

    if (!code && spawned->status)
        code = failed(bencher, line, spawned);
    if (!code)
        code = measure(bencher, path, entry, false);
    free(path);
    return code;
}

/* The kernel keeps nothing of them: whether there were any is not known. */
static void warn_unseen(struct vti_bencher *bencher, const struct vti_command_line *line)
{
    if (!bencher->said_unseen)
        vti_cmd_warn(
            bencher->command,
            "%s: it ignores SIGCHLD: children that it did not wait for are not in the CPU time",
            line->text);
    bencher->said_unseen = true;
}

static int run_plain(struct vti_bencher *bencher, const struct vti_command_line *line,
                     struct vti_bench_entry *entry, struct vti_spawned *spawned)
{
    int code = vti_spawn(spawned, line->words, line->directory);

    if (code)
        return vti_cmd_error(bencher->command, code);
    if (spawned->status)
        return failed(bencher, line, spawned);
    if (spawned->ignores_children)
        warn_unseen(bencher, line);
    if (vti_bench_note(entry, "cpu", VTI_QUANTITY_CPU, spawned->cpu_s) ||
        vti_bench_note(entry, "wall", VTI_QUANTITY_WALL, spawned->wall_s) ||
        vti_bench_note(entry, "rss", VTI_QUANTITY_MEMORY, spawned->rss_bytes))
        return vti_cmd_error(bencher->command, VTI_E_NOMEM);
    return 0;
}

int vti_bencher_run(struct vti_bencher *bencher, const struct vti_command_line *line,
                    struct vti_bench_entry *entry)
{
    struct vti_spawned spawned = {0};
    int code = bencher->records_all ? run_recorded(bencher, line, entry, &spawned)
                                    : run_plain(bencher, line, entry, &spawned);

    if (!code)
        code = note_items(bencher, line, entry, &spawned);
    vti_spawned_fini(&spawned);
    return code;
}

/* ---- counts -------------------------------------------------------------------------------------- */

static bool has_counts(const struct vti_bench_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++)
        if (entry->quantities[i].kind == VTI_QUANTITY_COUNT ||
            entry->quantities[i].kind == VTI_QUANTITY_ITEMS)
            return true;
    return false;
}

int vti_bencher_count(struct vti_bencher *bencher, const struct vti_command_line *line,
                      struct vti_bench_entry *entry, const char *name)
{
    static const char *const options[] = {"--only-mine", NULL};
    struct vti_quantity *items;
    char file[32];
    int code = 0;

    for (int i = 0; i < COUNTED_RUNS && !code && (!i || has_counts(entry)); i++) {
        struct vti_spawned spawned = {0};
        char *path;

        snprintf(file, sizeof file, "%s%s.vt", name, i ? "-again" : "");
        path = vti_bencher_path(bencher, file);
        code = path ? vti_bencher_record(bencher, line, options, path, &spawned) : VTI_EXIT_BAD;
        if (!code && spawned.status)
            code = failed(bencher, line, &spawned);
        if (!code)
            code = measure(bencher, path, entry, true);
        vti_spawned_fini(&spawned);
        free(path);
    }
    if (!code &&
        (bencher->items.has_pattern || bencher->items.count > 0)) { /* what was said counts */
        items = vti_bench_quantity(entry, "items", VTI_QUANTITY_ITEMS);
        if (items)
            items->count = 0;
    }
    return code;
}

/* ---- joules -------------------------------------------------------------------------------------- */

static int add_joules(struct vti_bencher *bencher, const char *path, struct vti_bench_entry *entry)
{
    vt_recording *recording = NULL;
    int code = vt_recording_open(&recording, path);

    if (!code)
        code = vti_measure_energy(entry, recording, &bencher->how);
    if (recording)
        vt_recording_close(recording);
    return code ? vti_cmd_error(bencher->command, code) : 0;
}

int vti_bencher_meter(struct vti_bencher *bencher, const struct vti_command_line *line,
                      struct vti_bench_entry *entry)
{
    static const char *const options[] = {"--no-functions", "--energy", NULL};
    char *path = vti_bencher_path(bencher, "energy.vt");
    int code = path ? 0 : VTI_EXIT_BAD;

    for (int i = 0; i < METERED_RUNS && !code; i++) {
        struct vti_spawned spawned = {0};

        code = vti_bencher_record(bencher, line, options, path, &spawned);
        if (!code && spawned.status)
            code = failed(bencher, line, &spawned);
        if (!code)
            code = add_joules(bencher, path, entry);
        vti_spawned_fini(&spawned);
    }
    free(path);
    return code;
}
