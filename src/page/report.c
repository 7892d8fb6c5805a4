/* report.c - everything that a recording holds, as one page: the tables of tables.def and what the directory says. */
#include "page/report.h"

#include "analyze/program_name.h"
#include "base/error.h"
#include "base/file.h"
#include "page/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    vti_page_table_add *add;
    bool needs_recording;
} tables[] = {
#define VTI_PAGE_TABLE(name, needs) {#name, vti_page_add_##name, needs},
#include "page/tables.def"
#undef VTI_PAGE_TABLE
};

static void say(const struct vti_page_job *job, const char *what)
{
    if (job->options->progress)
        job->options->progress(job->options->progress_arg, what);
}

/* ---- the directory --------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* What was run: the first process, or the file; of a run in several files, which one this is. */
static void add_title(struct vti_page_job *job)
{
    char name[VTI_PROGRAM_NAME];
    char file[32] = "";
    char title[VTI_PROGRAM_NAME + 64];
    bool is_part = job->recording && vti_spool_part(job->recording, file, sizeof file);

    if (!job->recording || !vti_program_name(job->recording, name))
        snprintf(name, sizeof name, "%s", base_name(job->file));
    snprintf(title, sizeof title, "%s%s%s", name, is_part ? ", file " : "", is_part ? file : "");
    vti_json_add_string(vti_page_directory(job->page), "title", title);
}

/* What a reader might look for and not find. */
static void add_notes(struct vti_page_job *job)
{
    const struct vti_study *study = job->study;
    bool has_lines = study->lines.function_count;
    bool has_functions = study->functions.row_count;
    bool has_events = study->info.event_count;

    if (job->recording && !study->info.is_closed && job->options->is_growing)
        vti_page_note(job->page, "open",
                      "This recording is still being made. The page shows what was there when it "
                      "was asked for.");
    else if (job->recording && !study->info.is_closed)
        vti_page_note(job->page, "open",
                      "This recording has no end: it was still growing, or what wrote it was "
                      "stopped. The page shows what was there.");
    if (study->info.damage_count)
        vti_page_note(job->page, "damage",
                      "%u range%s of the file cannot be read; the page shows the rest.",
                      study->info.damage_count, study->info.damage_count == 1 ? "" : "s");
    if (!has_lines && !has_functions && !has_events && !study->tasks.run_count)
        vti_page_note(job->page, "empty",
                      "Nothing was recorded: no function was called, no span begun, no line "
                      "counted.");
    if (study->functions.out_of_range)
        vti_page_note(job->page, "damage", VTI_OUT_OF_RANGE ".",
                      (unsigned long long)study->functions.out_of_range,
                      study->functions.out_of_range == 1 ? "" : "s");
}

static bool has_timeline(const struct vti_page_job *job)
{
    const struct vt_stats *stats = &job->study->stats;
    struct vt_site_info site;

    for (size_t i = 0; i < stats->site_count; i++)
        if (vt_recording_site_by_id(job->recording, stats->sites[i].site, &site) &&
            site.type == VT_SITE_FUNCTION)
            return true;
    return false;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int write_tables(struct vti_page_job *job)
{
    int code = 0;

    for (size_t i = 0; i < sizeof tables / sizeof *tables && !code; i++) {
        if (tables[i].needs_recording && !job->recording)
            continue;
        if (tables[i].add == vti_page_add_sites) /* findings name sites too */
            code = vti_page_add_findings(job);
        say(job, tables[i].name);
        if (!code)
            code = tables[i].add(job);
    }
    if (!code && !job->recording)
        code = vti_page_add_findings(job);
    return code;
}

/* Sites of spans come first, those that took most before the others. */
static int list_sites(struct vti_page_job *job)
{
    for (size_t i = 0; i < job->study->stats.site_count; i++)
        if (vti_page_site(job, job->study->stats.sites[i].site) < 0)
            return vti_fail(VTI_E_NOMEM, "out of memory");
    return 0;
}

static int write_page(struct vti_page_job *job, const struct vti_sink *sink)
{
    int code = list_sites(job);

    if (!code)
        code = vti_page_open(&job->page, sink);
    if (code)
        return code;
    vti_json_add_string(vti_page_directory(job->page), "kind", "report");
    add_title(job);
    job->has_timeline = job->recording && has_timeline(job);
    code = write_tables(job);
    if (code) {
        vti_page_abandon(job->page);
        return code;
    }
    vti_page_add_recording(job);
    add_notes(job);
    return vti_page_close(job->page);
}

int vti_page_report(vt_recording *recording, const struct vti_page_options *options,
                    const struct vti_sink *sink)
{
    struct vti_study study = {0};
    struct vti_page_job job = {.recording = recording, .options = options, .study = &study};
    int code;

    say(&job, "adding up");
    code = vti_study_load(&study, recording, false);
    job.file = study.info.path;
    if (!code)
        code = vti_energy_state(&study.energy, &options->stated);
    if (!code)
        code = write_page(&job, sink);
    vti_study_fini(&study);
    vti_ids_fini(&job.sites);
    return code;
}

/* ---- files of others ------------------------------------------------------------------------- */

static int load_file(struct vti_study *study, const char *path)
{
    static const struct vti_lines_options lines = {0};
    static const struct vti_calls_options calls = {.track = VT_NONE, .process = VT_NONE};
    struct vti_mapping map;
    int code = vti_mapping_open(&map, path);
    bool is_lprof;

    if (code)
        return code;
    is_lprof = vti_lines_is_lprof(map.data, map.size);
    vti_mapping_close(&map);
    return is_lprof ? vti_lines_open(&study->lines, path, &lines)
                    : vti_profile_open(&study->functions, path, &calls);
}

int vti_page_report_file(const char *path, const struct vti_page_options *options,
                         const struct vti_sink *sink)
{
    struct vti_study study = {0};
    struct vti_page_job job = {.file = path, .options = options, .study = &study};
    int code = load_file(&study, path);

    if (!code)
        code = vti_energy_state(&study.energy, &options->stated);
    if (!code)
        code = write_page(&job, sink);
    vti_study_fini(&study);
    return code;
}
