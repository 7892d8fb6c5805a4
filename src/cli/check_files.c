/* check_files.c - the sides of a check from files: recordings, benches, baselines. */
#include "base/error.h"
#include "cli/bench.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "cli/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A negative code if it cannot be read. */
static int is_recording(const char *path)
{
    char magic[4] = "";
    FILE *file = fopen(path, "re");
    bool is_one;

    if (!file)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    is_one = fread(magic, 1, sizeof magic, file) == sizeof magic && magic[0] != '{' &&
             magic[0] != '[' && magic[0] != ' ' && magic[0] != '\n';
    fclose(file);
    return is_one;
}

static int load(vt_recording *recording, void *arg)
{
    int code = vti_measure_bench(arg, recording, NULL);

    return code ? vti_cmd_error("check", code) : 0;
}

static int open_side(struct vti_bench *bench, const char *path, char **recording)
{
    int code = vti_reading_refuse_folder("check", path);
    int kind = code ? 0 : is_recording(path);

    if (code)
        return code;
    if (kind < 0)
        return vti_cmd_error("check", kind);
    if (kind) {
        code = vti_reading_do("check", path, load, bench);
        if (!code && recording)
            *recording = strdup(path);
        return code;
    }
    code = vti_bench_read(bench, path);
    if (code)
        return vti_cmd_error("check", code);
    return bench->count || bench->budget_count
               ? 0
               : vti_cmd_fail("check", "%s: it holds no run of any command", path);
}

/* Two benches of one command each are about that command, whatever it is called; one of several is known by its name. */
static int drop_names(struct vti_checking *checking)
{
    if (checking->base.count != 1 || checking->now.count != 1)
        return 0;
    return vti_bench_text(&checking->base.entries[0].name, "") ||
                   vti_bench_text(&checking->now.entries[0].name, "")
               ? vti_cmd_error("check", VTI_E_NOMEM)
               : 0;
}

/* Two commands made in turn stand in one file: the second becomes the new side. */
static int split(struct vti_checking *checking, const char *path)
{
    struct vti_bench *base = &checking->base;
    struct vti_bench *now = &checking->now;
    struct vti_bench_entry *entry;

    if (base->count != 2)
        return vti_cmd_fail("check",
                            "%s: one file must hold two commands (bench --cmd … --cmd …), it holds "
                            "%zu; compare to which BASE?",
                            path, base->count);
    entry = vti_bench_add(now, "", "");
    if (!entry || vti_bench_text(&now->cpu, base->cpu))
        return vti_cmd_error("check", VTI_E_NOMEM);
    now->cores = base->cores;
    {
        struct vti_bench_entry kept = *entry;

        *entry = base->entries[1];
        base->entries[1] = kept;
    }
    base->count = 1;
    free(base->entries[1].name);
    free(base->entries[1].command);
    free(base->entries[1].interpreter);
    free(base->entries[1].mode);
    checking->options.is_paired = base->is_paired;
    checking->options.any_command = true;
    return 0;
}

static int name_side(struct vti_checking *checking, int side, const char *path)
{
    const struct vti_bench *bench = side ? &checking->now : &checking->base;
    const char *command = bench->count == 1 ? bench->entries[0].command : "";

    free(checking->names[side]);
    if (asprintf(&checking->names[side], "%s%s%s", path, *command ? ", " : "", command) < 0) {
        checking->names[side] = NULL;
        return vti_cmd_error("check", VTI_E_NOMEM);
    }
    return 0;
}

int vti_check_files(struct vti_checking *checking)
{
    bool is_one = checking->file_count == 1;
    bool has_base = !checking->budget_count || !is_one;
    int code;

    if (is_one && !has_base) { /* nothing to compare to: budgets only */
        code = open_side(&checking->now, checking->files[0], NULL);
        return code ? code : name_side(checking, 1, checking->files[0]);
    }
    checking->has_base = true;
    code = open_side(&checking->base, checking->files[0], &checking->recordings[0]);
    if (!code)
        code = vti_check_take_budgets(checking);
    if (!code)
        code = is_one ? split(checking, checking->files[0])
                      : open_side(&checking->now, checking->files[1], &checking->recordings[1]);
    if (!code)
        code = drop_names(checking);
    for (int i = 0; i < 2 && !code; i++)
        code = name_side(checking, i, checking->files[is_one ? 0 : i]);
    return code ? code : vti_check_compare(checking);
}

/* ---- baselines ----------------------------------------------------------------------------------- */

static int run_new(struct vti_checking *checking)
{
    int code = 0;

    for (size_t i = 0; i < checking->runs && !code; i++)
        code = vti_bencher_run(&checking->bencher, &checking->lines[1], &checking->now.entries[0]);
    return code;
}

static int measure_new(struct vti_checking *checking)
{
    const struct vti_command_line *line = &checking->lines[1];
    struct vti_bench_entry *entry;
    char interpreter[VTI_INTERPRETER_BYTES];
    int code = vti_bencher_machine(&checking->bencher, &checking->now);

    entry = code ? NULL : vti_bench_add(&checking->now, "", line->text);
    if (!entry)
        return code ? code : vti_cmd_error("check", VTI_E_NOMEM);
    vti_command_line_interpreter(line, interpreter);
    if (vti_bench_text(&entry->interpreter, interpreter) || vti_bench_text(&entry->mode, "plain"))
        return vti_cmd_error("check", VTI_E_NOMEM);
    if (!checking->bencher.no_counts && !checking->bencher.records_all)
        code = vti_bencher_count(&checking->bencher, line, entry, "new");
    if (!code && checking->bencher.meters && !checking->bencher.records_all)
        code = vti_bencher_meter(&checking->bencher, line, entry);
    if (!code)
        code = run_new(checking);
    checking->is_live = true;
    checking->pairs[0] = checking->runs;
    return code;
}

int vti_check_budgets_live(struct vti_checking *checking)
{
    int code = measure_new(checking);

    return code ? code : name_side(checking, 1, "measured now");
}

/* Budgets of the file that is replaced are kept: they were written by hand. */
static int update(struct vti_checking *checking)
{
    int code = 0;

    for (size_t i = 0; i < checking->base.budget_count && !code; i++)
        if (vti_bench_budget(&checking->now, checking->base.budgets[i]))
            code = vti_cmd_error("check", VTI_E_NOMEM);
    if (!code)
        code = vti_bench_save("check", &checking->now, checking->baseline, true);
    if (!code)
        vti_cmd_say("%s: written", checking->baseline);
    return code;
}

/* Times that are worse are measured once more, from nothing. */
static int compare_twice(struct vti_checking *checking)
{
    int code = vti_check_compare(checking);

    if (code || !checking->is_live || vti_check_times(&checking->comparison) != VTI_VERDICT_WORSE ||
        (vti_check_worse_count(&checking->comparison) && !checking->asks_times))
        return code;
    vti_check_keep_first(checking);
    vti_check_forget(&checking->bencher, &checking->now.entries[0]);
    code = run_new(checking);
    if (!code)
        code = vti_check_compare(checking);
    checking->pairs[1] = checking->runs;
    if (!code)
        vti_check_confirm(checking);
    return code;
}

/* Before anything is run: a file that cannot be read, or a budget in it that is none, is no reason to wait. */
static int open_baseline(struct vti_checking *checking)
{
    const char *path = checking->baseline;
    int code;

    if (access(path, F_OK))
        return checking->updates ? 0
                                 : vti_cmd_fail("check", "%s: cannot open: %s (--update writes it)",
                                                path, strerror(errno));
    code = open_side(&checking->base, path, NULL);
    return code ? code : vti_check_take_budgets(checking);
}

int vti_check_baseline(struct vti_checking *checking)
{
    int code = open_baseline(checking);

    if (!code && checking->file_count)
        code = open_side(&checking->now, checking->files[0], &checking->recordings[1]);
    else if (!code)
        code = measure_new(checking);
    if (!code)
        code = drop_names(checking);
    if (code || checking->updates)
        return code ? code : update(checking);
    code = name_side(checking, 0, checking->baseline);
    if (!code)
        code = name_side(checking, 1, checking->file_count ? checking->files[0] : "measured now");
    checking->has_base = checking->base.count > 0;
    checking->options.is_baseline = true;
    return code || !checking->has_base ? code : compare_twice(checking);
}
