/*
 * lprof.c - a file of line_profiler becomes a recording, with the text of the source files that are still there.
 *
 * A text that was changed since is not taken: the recording would show lines beside numbers of others.
 */
#include "analyze/lines.h"
#include "analyze/source.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "format/lines.h"
#include "import/target.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK_BYTES (1u << 20)
#define SOURCE_MOST (16u << 20)

struct job {
    const struct vti_import_input *input;
    struct vti_import_target *target;
    const struct vti_lines *lines;
    uint32_t count; /* entries that wait */
    uint64_t node;
};

static bool fits(const uint8_t *data, size_t size)
{
    return vti_lines_is_lprof(data, size);
}

static void add_entry(struct job *job, uint32_t site, const struct vti_lines_line *line)
{
    double ns = line ? line->time * job->lines->unit_s * 1e9 : 0;
    struct vti_line_fact fact = {.node = ++job->node, .site = site};

    if (line) {
        fact.line = fact.statement = line->line;
        fact.time = VTI_LINE_TIMED;
        fact.events = fact.hits = line->hits;
        fact.total = ns > 0 && ns < 1e19 ? (uint64_t)rint(ns) : 0;
    }
    vti_line_write(&job->target->entry, &fact);
    job->count++;
}

static int flush(struct job *job)
{
    int code = vti_import_write_sites(job->target);

    if (!code)
        code = vti_import_block(job->target, VTI_LINES, 0, job->count, 0);
    job->count = 0;
    return code;
}

/* The function as a whole comes first: one that was never called has nothing else. */
static int add_function(struct job *job, const struct vti_lines_function *function)
{
    const char *last = strrchr(function->name, '.');
    struct vti_site_fact fact = {.type = VTI_SITE_FUNCTION,
                                 .name = vti_bytes_of(function->name),
                                 .function = vti_bytes_of(last ? last + 1 : function->name),
                                 .file = vti_bytes_of(function->file),
                                 .line = function->line,
                                 .unit = vti_bytes_of("python")};
    uint32_t site = vti_import_site(job->target, &fact);
    int code = site ? 0 : VTI_E_NOMEM;

    if (!code)
        add_entry(job, site, NULL);
    for (size_t i = 0; i < function->line_count && !code; i++) {
        if (function->lines[i].line)
            add_entry(job, site, &function->lines[i]);
        if (job->target->entry.len > BLOCK_BYTES)
            code = flush(job);
    }
    return code;
}

/* ---- sources --------------------------------------------------------------------------------- */

/* By its name: a profile must not make us copy any file into a recording that may be passed on. */
static bool is_source(const char *file)
{
    static const char *const endings[] = {".py", ".pyw", ".pyx", ".pxd"};
    const char *ending = strrchr(file, '.');

    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(ending, endings[i]))
            return true;
    return vti_source_is_c(file);
}

static int add_source(struct job *job, const char *file)
{
    struct stat profile, source;
    struct vti_mapping map;
    int code;

    if (!is_source(file) || stat(job->input->path, &profile) || stat(file, &source) ||
        !S_ISREG(source.st_mode) || source.st_mtim.tv_sec > profile.st_mtim.tv_sec ||
        source.st_size > SOURCE_MOST)
        return 0;
    if (vti_mapping_open(&map, file))
        return 0;
    vti_source_write(&job->target->entry, &(struct vti_source_fact){.file = file,
                                                                    .file_len = strlen(file),
                                                                    .text = (const char *)map.data,
                                                                    .text_len = map.size});
    code = vti_import_block(job->target, VTI_SOURCES, 0, 1, 0);
    vti_mapping_close(&map);
    return code;
}

/* Each file once. */
static int add_sources(struct job *job)
{
    const struct vti_lines *lines = job->lines;
    struct vti_map *met = NULL;
    int code = vti_map_create(&met);

    for (size_t i = 0; i < lines->function_count && !code; i++) {
        const char *file = lines->functions[i].file;
        int is_new = 0;

        if (vti_map_add(met, file, strlen(file), &is_new) < 0)
            code = VTI_E_NOMEM;
        else if (is_new)
            code = add_source(job, file);
    }
    vti_map_free(met);
    return code;
}

static int write_all(struct job *job)
{
    const struct vti_lines *lines = job->lines;
    int code = vti_import_process(job->target, 0, 0, "imported", 0);

    if (!code)
        code = vti_import_track(job->target, 0, 0, 0, "imported", 0, false);
    for (size_t i = 0; i < lines->function_count && !code; i++)
        code = add_function(job, &lines->functions[i]);
    if (!code)
        code = flush(job);
    return code ? code : add_sources(job);
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    struct vti_lines lines;
    struct job job = {.input = input, .target = target, .lines = &lines};
    int code = vti_lines_read_lprof(&lines, input->path, input->data, input->size);

    if (code)
        return code;
    code = write_all(&job);
    vti_lines_fini(&lines);
    return code;
}

const struct vti_importer vti_import_lprof = {
    .name = "lprof",
    .summary = "what line_profiler writes (.lprof)",
    .fits = fits,
    .run = run,
};
