/*
 * copy_lines.c - the lines of functions of a recording and its sources, with new sites, tracks and processes.
 *
 * As trees of calls they are totals over a thread's whole life: a slice of time leaves them out.
 */
#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "export/copy.h"
#include "model/line_table.h"

static int copy_lines(const struct vti_copy_track *to, const struct vti_line_track *track)
{
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < track->node_ids.count && !code; i++) {
        struct vti_line_fact line = track->lines[i];

        code = vti_copy_site(to->copy, to->input, line.site, &line.site);
        vti_line_write(&to->copy->entry, &line);
        if (!code)
            code = vti_copy_track_add(to, VTI_LINES, &count);
    }
    return code ? code : vti_copy_track_end(to, VTI_LINES, &count);
}

static int copy_durations(const struct vti_copy_track *to, const struct vti_line_track *track)
{
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < track->duration_ids.count && !code; i++) {
        vti_line_durations_write(&to->copy->entry, &track->durations[i]);
        code = vti_copy_track_add(to, VTI_LINE_DURATIONS, &count);
    }
    return code ? code : vti_copy_track_end(to, VTI_LINE_DURATIONS, &count);
}

static int copy_callees(const struct vti_copy_track *to, const struct vti_line_track *track)
{
    uint32_t count = 0;
    int code = 0;

    for (size_t i = 0; i < track->callee_count && !code; i++) {
        struct vti_line_callee_fact callee = track->callees[i];

        code = vti_copy_site(to->copy, to->input, callee.site, &callee.site);
        vti_line_callee_write(&to->copy->entry, &callee);
        if (!code)
            code = vti_copy_track_add(to, VTI_LINE_CALLEES, &count);
    }
    return code ? code : vti_copy_track_end(to, VTI_LINE_CALLEES, &count);
}

static int write_source(struct vti_copy *copy, const struct vti_source_fact *source)
{
    int code;

    vti_source_write(&copy->entry, source);
    code = vti_writer_facts(copy->writer, VTI_SOURCES, &copy->entry, 1, 0, 0);
    vti_buf_clear(&copy->entry);
    return code;
}

/* The text of all processes of one input: of all in the result if it is the first of that name, else of each of them,
 * and of none if it is what is there already. */
static int copy_common_source(const struct vti_copy_track *to, struct vti_source_fact source)
{
    const struct vti_facts *facts = &to->input->recording->facts;
    uint64_t digest = vti_hash(source.text, source.text_len);
    struct vti_buf *known = &to->copy->source_texts;
    int code = 0;
    int is_new;
    int64_t at = vti_map_add(to->copy->sources, source.file, source.file_len, &is_new);

    if (at < 0)
        return (int)at;
    if (is_new) {
        vti_buf_add_u64(known, digest);
        return known->failed ? VTI_E_NOMEM : write_source(to->copy, &source);
    }
    if (vti_get_u64(known->data + 8 * at) == digest)
        return 0;
    for (uint32_t i = 0; i < facts->process_ids.count && !code; i++) {
        uint32_t process = facts->processes[i].fact.process;

        source.process_plus_one = vti_renumber(&to->input->numbers->processes, process) + 1;
        code = write_source(to->copy, &source);
    }
    return code;
}

static int copy_sources(const struct vti_copy_track *to, const struct vti_line_tables *tables)
{
    int code = 0;

    for (size_t i = 0; i < tables->source_count && !code; i++)
        if (!tables->sources[i].process_plus_one)
            code = copy_common_source(to, tables->sources[i]);
    for (size_t i = 0; i < tables->source_count && !code; i++) {
        struct vti_source_fact source = tables->sources[i];

        if (!source.process_plus_one)
            continue;
        source.process_plus_one = vti_renumber(&to->input->numbers->processes,
                                               source.process_plus_one - 1) +
                                  1;
        code = write_source(to->copy, &source);
    }
    return code;
}

int vti_copy_lines(struct vti_copy *copy, struct vti_copy_input *input)
{
    struct vti_copy_track to = {.copy = copy, .input = input};
    struct vti_line_tables tables;
    int code = vti_line_tables_load(&tables, input->recording);

    if (code)
        return code;
    code = copy_sources(&to, &tables);
    for (uint32_t i = 0; i < tables.track_ids.count && !code; i++) {
        vti_copy_track_start(&to, tables.tracks[i].track);
        code = copy_lines(&to, &tables.tracks[i]);
        if (!code)
            code = copy_durations(&to, &tables.tracks[i]);
        if (!code)
            code = copy_callees(&to, &tables.tracks[i]);
    }
    vti_line_tables_fini(&tables);
    return code;
}
