/* merge_runs.c - inputs of a merge that are files of one run of a spool. */
#include "export/merge_runs.h"

#include "base/error.h"
#include "model/fact_blocks.h"

#include <stdlib.h>
#include <string.h>

/* An input, or a part of it if it was merged, is a file of a run. */
struct piece {
    struct vti_bytes run;
    uint64_t file; /* 0: the input was merged from some files of it */
    struct vti_merge_source *source;
};

static uint64_t number_of(struct vti_bytes text)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.len && i < 18; i++)
        if (text.data[i] >= '0' && text.data[i] <= '9')
            number = 10 * number + (uint64_t)(text.data[i] - '0');
    return number;
}

static void add_piece(struct vti_buf *pieces, struct vti_bytes run, uint64_t file,
                      struct vti_merge_source *source)
{
    struct piece piece = {run, file, source};

    if (run.len)
        vti_buf_add(pieces, &piece, sizeof piece);
}

static void add_source(struct vti_buf *pieces, struct vti_merge_source *source)
{
    struct vti_bytes number;
    struct vti_bytes run;

    if (vti_recording_meta(source->recording, "spool.runs", &run)) {
        size_t from = 0;

        for (size_t i = 0; i <= run.len; i++) {
            if (i < run.len && run.data[i] != ',')
                continue;
            add_piece(pieces, (struct vti_bytes){run.data + from, (uint32_t)(i - from)}, 0, source);
            from = i + 1;
        }
    } else if (vti_recording_meta(source->recording, "spool.run", &run) &&
               vti_recording_meta(source->recording, "spool.file", &number)) {
        source->file = number_of(number);
        if (source->file)
            add_piece(pieces, run, source->file, source);
    }
}

static int compare_runs(struct vti_bytes a, struct vti_bytes b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left;
    const struct piece *b = right;
    int order = compare_runs(a->run, b->run);

    if (order)
        return order;
    return a->file < b->file ? -1 : a->file > b->file;
}

static uint64_t last_tick(const vt_recording *recording)
{
    const struct vti_facts *facts = &recording->facts;
    uint64_t last = 0;

    for (uint32_t i = 0; i < facts->track_ids.count; i++) {
        const struct vti_track *track = facts->tracks[i];

        last = track->last > last ? track->last : last;
        last = track->end > last ? track->end : last;
    }
    return last;
}

/* A file and the one before it of the same run, of those that are merged. */
static int join(const struct piece *before, const struct piece *after)
{
    struct vti_merge_source *source = after->source;
    const struct vti_merge_input *given = source->given;
    const struct vti_merge_source *first = before->source->run;

    if (!before->file)
        return vti_fail(VTI_E_USAGE,
                        "%s and %s have files of one run of a spool: what it counted would count "
                        "twice; merge all files of the run at once",
                        before->source->given->path, given->path);
    if (before->file == after->file)
        return vti_fail(VTI_E_USAGE, "%s and %s are both file %llu of one run of a spool",
                        before->source->given->path, given->path, (unsigned long long)after->file);
    if (given->has_offset != first->given->has_offset ||
        given->offset_ns != first->given->offset_ns)
        return vti_fail(VTI_E_USAGE,
                        "--offset: %s and %s are files of one run, which has one clock: give them "
                        "the same",
                        first->given->path, given->path);
    source->run = before->source->run;
    source->start_ns = first->start_ns;
    source->input.told_until = after->file == before->file + 1
                                   ? UINT64_MAX
                                   : last_tick(before->source->recording);
    return 0;
}

int vti_merge_runs(struct vti_merge_source *sources, size_t count, struct vti_buf *names)
{
    struct vti_buf found = {0};
    struct piece *pieces;
    int code = 0;

    for (size_t i = 0; i < count; i++)
        add_source(&found, &sources[i]);
    pieces = (struct piece *)(void *)found.data;
    if (found.len)
        qsort(pieces, found.len / sizeof *pieces, sizeof *pieces, compare_pieces);
    for (size_t i = 0; i < found.len / sizeof *pieces && !code; i++) {
        if (i && !compare_runs(pieces[i - 1].run, pieces[i].run)) {
            code = join(&pieces[i - 1], &pieces[i]);
            continue;
        }
        if (names->len)
            vti_buf_add_u8(names, ',');
        vti_buf_add(names, pieces[i].run.data, pieces[i].run.len);
    }
    if (!code && (found.failed || names->failed))
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    vti_buf_fini(&found);
    return code;
}
