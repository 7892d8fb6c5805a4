/*
 * bench_suite.c - the scripts of a folder, one row each: items a second, joules, the hottest line.
 *
 * A script that fails, or that counts and prints nothing, is named and makes the exit code 2: a suite must never pass having
 * measured nothing.
 */
#include "analyze/lines_source.h"
#include "base/error.h"
#include "cli/bench.h"
#include "cli/cmd.h"
#include "cli/render.h"
#include "stats/stats.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct vti_command vti_cmd_run;

struct script {
    char *path, *name;   /* owned; the name without .py */
    char *hottest;       /* owned; NULL unknown */
    const char *trouble; /* why there are no figures; NULL: there are */
};

struct suite {
    struct vti_bencher *bencher;
    struct vti_bench *bench;
    const struct vti_suite_wish *wish;
    struct script *scripts;
    size_t count;
    uint32_t how; /* enum vt_energy_how of the joules */
};

/* ---- which scripts ------------------------------------------------------------------------------- */

static bool is_script(const char *folder, const char *name)
{
    const char *dot = strrchr(name, '.');
    struct stat status;
    char *path;
    bool is_one;

    if (name[0] == '.' || name[0] == '_')
        return false;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    is_one = !stat(path, &status) && S_ISREG(status.st_mode) &&
             ((dot && !strcmp(dot, ".py")) || !access(path, X_OK));
    free(path);
    return is_one;
}

static bool is_wanted(char **names, const char *name)
{
    size_t len = strlen(name);

    if (len > 3 && !strcmp(name + len - 3, ".py"))
        len -= 3;
    for (size_t i = 0; names[i]; i++)
        if (!strcmp(names[i], name) || (strlen(names[i]) == len && !strncmp(names[i], name, len)))
            return true;
    return !names[0];
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct script *)left)->name, ((const struct script *)right)->name);
}

static int add_script(struct suite *suite, const char *name)
{
    struct script *grown = realloc(suite->scripts, (suite->count + 1) * sizeof *grown);
    struct script *script;
    size_t len = strlen(name);

    if (!grown)
        return vti_cmd_fail("bench", "out of memory");
    suite->scripts = grown;
    script = &grown[suite->count];
    *script = (struct script){0};
    if (asprintf(&script->path, "%s/%s", suite->wish->folder, name) < 0)
        return vti_cmd_fail("bench", "out of memory");
    script->name = strndup(name, len > 3 && !strcmp(name + len - 3, ".py") ? len - 3 : len);
    suite->count++;
    return script->name ? 0 : vti_cmd_fail("bench", "out of memory");
}

/* work and work.py are two: the second keeps its ending. */
static int tell_apart(struct suite *suite)
{
    for (size_t i = 1; i < suite->count; i++) {
        struct script *two = &suite->scripts[i - 1];
        const char *file;

        if (strcmp(two[0].name, two[1].name))
            continue;
        file = strrchr(two[0].path, '/') + 1;
        if (!strcmp(file, two[0].name)) /* in whichever order they were sorted */
            file = strrchr((++two)->path, '/') + 1;
        free(two->name);
        two->name = strdup(file);
        if (!two->name)
            return vti_cmd_fail("bench", "out of memory");
    }
    return 0;
}

static int find_scripts(struct suite *suite)
{
    const char *folder = suite->wish->folder;
    DIR *entries = opendir(folder);
    struct dirent *entry;
    size_t wanted = 0;
    int code = 0;

    if (!entries)
        return vti_cmd_fail("bench", "%s: no such folder", folder);
    while (!code && (entry = readdir(entries)))
        if (is_script(folder, entry->d_name) && is_wanted(suite->wish->names, entry->d_name))
            code = add_script(suite, entry->d_name);
    closedir(entries);
    while (suite->wish->names[wanted])
        wanted++;
    if (!code && suite->count < wanted)
        for (size_t i = 0; i < wanted && !code; i++) {
            char *const one[] = {suite->wish->names[i], NULL};
            bool is_there = false;

            for (size_t j = 0; j < suite->count; j++)
                is_there |= is_wanted((char **)one, strrchr(suite->scripts[j].path, '/') + 1);
            if (!is_there)
                code = vti_cmd_fail("bench", "%s: no script of the name %s", folder, one[0]);
        }
    if (!code && !suite->count)
        code = vti_cmd_fail("bench", "%s: no script (*.py, or a program) to measure", folder);
    if (!code) {
        qsort(suite->scripts, suite->count, sizeof *suite->scripts, by_name);
        code = tell_apart(suite);
    }
    return code;
}

/* ---- the hottest line ---------------------------------------------------------------------------- */

static char *describe(const struct vti_lines *lines, const struct vti_lines_function *function,
                      const struct vti_lines_line *line, double share)
{
    struct vti_lines_texts texts = {0};
    const struct vti_lines_text *text = vti_lines_texts_find(&texts, lines, function);
    const char *file = strrchr(function->file, '/');
    const char *words = "";
    size_t len = 0;
    char *found = NULL;

    if (text && line->line && line->line <= text->source.count) {
        words = text->source.lines[line->line - 1].text;
        len = text->source.lines[line->line - 1].len;
    }
    while (len && (*words == ' ' || *words == '\t')) {
        words++;
        len--;
    }
    if (asprintf(&found, "%s:%u %.*s (%.0f %%)", file ? file + 1 : function->file, line->line,
                 (int)(len < 60 ? len : 60), words, 100 * share) < 0)
        found = NULL;
    vti_lines_texts_fini(&texts);
    return found;
}

/* Whether a function has lines of its own, which tell where its time went. */
static bool is_told(const struct vti_lines *lines, const struct vti_lines_callee *callee)
{
    for (size_t i = 0; i < lines->function_count; i++)
        if (lines->functions[i].line == callee->line &&
            !strcmp(lines->functions[i].file, callee->file) &&
            !strcmp(lines->functions[i].name, callee->name))
            return true;
    return false;
}

static char *hottest_of(const struct vti_lines *lines)
{
    const struct vti_lines_function *function = NULL;
    const struct vti_lines_line *line = NULL;
    double all = 0;
    double most = 0;

    /* What is called from a line is in its time: the outermost function has all of it. */
    for (size_t i = 0; i < lines->function_count; i++) {
        all = fmax(all, vti_lines_total(&lines->functions[i]));
        for (size_t j = 0; j < lines->functions[i].line_count; j++) {
            const struct vti_lines_line *one = &lines->functions[i].lines[j];
            double own = one->time;

            for (size_t k = 0; k < one->callee_count; k++)
                if (is_told(lines, &one->callees[k]))
                    own -= one->callees[k].time;
            if (!line || own > most) {
                line = one;
                most = own;
                function = &lines->functions[i];
            }
        }
    }
    return line && all > 0 ? describe(lines, function, line, most / all) : NULL;
}

/* Runs a script with its lines profiled, those of the module itself, too, which have no function that could be named. */
static char with_lines[] = "import sys\n"
                           "def _add(code):\n"
                           "    profile.add_function(code)\n"
                           "    for one in code.co_consts:\n"
                           "        if isinstance(one, type(code)) and one.co_name[0] != '<':\n"
                           "            _add(one)\n"
                           "del sys.argv[0]\n"
                           "__file__ = sys.argv[0]\n"
                           "sys.path[0] = __file__.rpartition('/')[0]\n"
                           "_code = compile(open(__file__, 'rb').read(), __file__, 'exec')\n"
                           "_add(_code)\n"
                           "del sys, _add\n"
                           "exec(_code)\n";

static void find_hottest(struct suite *suite, struct script *script)
{
    static const char *const options[] = {"-l", "--callees", NULL};
    const struct vti_lines_options plain = {0};
    char *words[] = {"python3", "-c", with_lines, script->path, NULL};
    struct vti_command_line line = {0};
    char *path = vti_bencher_path(suite->bencher, "lines.vt");
    struct vti_spawned spawned = {0};
    struct vti_lines lines = {0};

    if (path && !vti_command_line_words(&line, words) &&
        !vti_bencher_record(suite->bencher, &line, options, path, &spawned) && !spawned.status &&
        !vti_lines_open(&lines, path, &plain)) {
        script->hottest = hottest_of(&lines);
        vti_lines_fini(&lines);
    }
    vti_command_line_fini(&line);
    vti_spawned_fini(&spawned);
    free(path);
}

/* ---- measuring ----------------------------------------------------------------------------------- */

static bool can_read_energy(void)
{
    for (const struct vti_option *option = vti_cmd_run.options; option->name; option++)
        if (!strcmp(option->name, "energy"))
            return true;
    return false;
}

/* The recorded run: items, joules, and whether it says anything at all. */
static void count(struct suite *suite, struct script *script, const struct vti_command_line *line,
                  struct vti_bench_entry *entry)
{
    const char *options[] = {"--only-mine", can_read_energy() ? "--energy" : NULL, NULL};
    char *path = vti_bencher_path(suite->bencher, "suite.vt");
    struct vti_spawned spawned = {0};
    vt_recording *recording = NULL;
    const struct vti_quantity *items;

    if (!path || vti_bencher_record(suite->bencher, line, options, path, &spawned) ||
        spawned.status || vt_recording_open(&recording, path) ||
        vti_measure(entry, recording, true) || vti_measure_energy(entry, recording, &suite->how))
        script->trouble = "failed while it was recorded";
    items = vti_bench_find(entry, "items");
    if (!script->trouble && !spawned.out.len && !spawned.err.len && (!items || !items->count))
        script->trouble = "printed nothing and counted no items: nothing was measured";
    if (recording)
        vt_recording_close(recording);
    vti_spawned_fini(&spawned);
    free(path);
}

static int measure(struct suite *suite, struct script *script)
{
    size_t len = strlen(script->path);
    bool is_python = len > 3 && !strcmp(script->path + len - 3, ".py");
    char *words[] = {"python3", script->path, NULL};
    char interpreter[VTI_INTERPRETER_BYTES];
    struct vti_command_line line = {0};
    struct vti_bench_entry *entry;
    int code = vti_command_line_words(&line, is_python ? words : words + 1);

    entry = code ? NULL : vti_bench_add(suite->bench, script->name, line.text);
    if (!entry) {
        vti_command_line_fini(&line);
        return vti_cmd_error("bench", VTI_E_NOMEM);
    }
    vti_command_line_interpreter(&line, interpreter);
    if (vti_bench_text(&entry->interpreter, interpreter) || vti_bench_text(&entry->mode, "plain"))
        code = vti_cmd_error("bench", VTI_E_NOMEM);
    for (size_t i = 0; i < suite->wish->runs && !code && !script->trouble; i++)
        if (vti_bencher_run(suite->bencher, &line, entry))
            script->trouble = "failed";
    if (!code && !script->trouble)
        count(suite, script, &line, entry);
    if (!code && !script->trouble && is_python)
        find_hottest(suite, script);
    vti_command_line_fini(&line);
    return code;
}

/* ---- showing ------------------------------------------------------------------------------------- */

static void add_number(struct vti_table *table, double value)
{
    char text[VTI_RATE_BYTES];

    vti_table_text(table, vti_bench_number(text, value));
}

static double median_of(const struct vti_bench_entry *entry, const char *name)
{
    const struct vti_quantity *quantity = vti_bench_find(entry, name);

    return quantity ? vti_median(quantity->values, quantity->count) : NAN;
}

static int print(const struct suite *suite)
{
    static const struct vti_column columns[] = {{"Script", VTI_LEFT},      {"CPU", VTI_RIGHT},
                                                {"Items/s", VTI_RIGHT},    {"Effective", VTI_RIGHT},
                                                {"A core", VTI_RIGHT},     {"Joules", VTI_RIGHT},
                                                {"Hottest line", VTI_LEFT}};
    struct vti_table *table;
    bool has_items = true;
    bool has_energy = true;
    int code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);

    for (size_t i = 0; i < suite->count && !code; i++) {
        const struct script *script = &suite->scripts[i];
        const struct vti_bench_entry *entry = &suite->bench->entries[i];
        double cpu = median_of(entry, "cpu");

        vti_table_text(table, script->name);
        if (cpu >= 0)
            vti_table_time(table, 1e9 * cpu);
        else
            vti_table_text(table, "-");
        add_number(table, vti_bench_rate(suite->bench, entry, "throughput"));
        add_number(table, vti_bench_rate(suite->bench, entry, "effective"));
        add_number(table, vti_bench_rate(suite->bench, entry, "throughput/core"));
        add_number(table, median_of(entry, "energy"));
        vti_table_text(table, script->trouble   ? script->trouble
                              : script->hottest ? script->hottest
                                                : "-");
        has_items &= script->trouble || vti_bench_find(entry, "items");
        has_energy &= script->trouble || vti_bench_find(entry, "energy");
    }
    if (!code) {
        code = vti_table_print(table, stdout);
        vti_table_free(table);
    }
    if (!code && !has_items)
        printf("Items/s -: count the work with venturi.items(n) or VT_ITEMS(n).\n");
    if (!code && suite->how)
        printf("Joules: a script's full share, %s.\n", vti_bench_how(suite->how));
    if (!code && !has_energy)
        printf("Joules -: no source of energy could be read, see `venturi doctor`.\n");
    return code;
}

int vti_bench_suite(struct vti_bencher *bencher, struct vti_bench *bench,
                    const struct vti_suite_wish *wish)
{
    struct suite suite = {.bencher = bencher, .bench = bench, .wish = wish};
    struct vti_buf json = {0};
    bool has_trouble = false;
    int code = find_scripts(&suite);

    if (!code)
        code = vti_bencher_machine(bencher, bench);
    for (size_t i = 0; i < suite.count && !code; i++)
        code = measure(&suite, &suite.scripts[i]);
    if (!code && wish->is_json) {
        vti_bench_write(bench, &json);
        json.len -= !json.failed;
        code = vti_print_json(&json) ? VTI_EXIT_BAD : 0;
    } else if (!code) {
        code = print(&suite) ? VTI_EXIT_BAD : 0;
    }
    for (size_t i = 0; i < suite.count; i++) {
        if (suite.scripts[i].trouble && (!code || has_trouble)) {
            fflush(stdout);
            has_trouble = true;
            code = vti_cmd_fail("bench", "%s: %s", suite.scripts[i].path, suite.scripts[i].trouble);
        }
        free(suite.scripts[i].path);
        free(suite.scripts[i].name);
        free(suite.scripts[i].hottest);
    }
    free(suite.scripts);
    return code;
}
