/*
 * callgrind.c - the function table in the format of callgrind, for kcachegrind and callgrind_annotate: own
 * time of each function, and for each callee how often and how long.
 *
 * The cost is nanoseconds. It stands at the line where the function begins, because calls are not
 * recorded by line.
 */
#include "base/error.h"
#include "export/call_kit.h"

#include <stdlib.h>
#include <string.h>

struct callgrind {
    const struct vti_profile *profile;
    const struct vti_sink *sink;
    struct vti_buf out;
    struct vti_map *files;
    bool *is_named;       /* of each row: its name has been written */
    size_t *first_callee; /* of each row: in `callees`; one more at the end */
    uint32_t *callees;    /* arcs by caller */
};

static unsigned long long nanoseconds(double seconds)
{
    return seconds > 0 ? (unsigned long long)(seconds * 1e9 + 0.5) : 0;
}

/* "fl=(3) step.py" the first time, "fl=(3)" later; the same for the function. */
static int add_place(struct callgrind *to, const char *file_key, const char *name_key, uint32_t at)
{
    const struct vti_profile_row *row = &to->profile->rows[at];
    const char *file = strcmp(row->file, "~") ? row->file : "???";
    int is_new;
    int64_t number = vti_map_add(to->files, file, strlen(file), &is_new);

    if (number < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    vti_buf_printf(&to->out, "%s=(%lld)", file_key, (long long)number + 1);
    if (is_new) {
        vti_buf_add_u8(&to->out, ' ');
        vti_export_line(&to->out, file, 0);
    }
    vti_buf_printf(&to->out, "\n%s=(%u)", name_key, at + 1);
    if (!to->is_named[at]) {
        vti_buf_add_u8(&to->out, ' ');
        vti_export_line(&to->out, row->name, 0);
    }
    to->is_named[at] = true;
    vti_buf_add_u8(&to->out, '\n');
    return 0;
}

static int add_row(struct callgrind *to, uint32_t at)
{
    const struct vti_profile *profile = to->profile;
    const struct vti_profile_row *row = &profile->rows[at];
    int code = add_place(to, "fl", "fn", at);

    vti_buf_printf(&to->out, "%u %llu\n", row->line, nanoseconds(row->numbers.self_s));
    for (size_t i = to->first_callee[at]; !code && i < to->first_callee[at + 1]; i++) {
        const struct vti_profile_arc *arc = &profile->arcs[to->callees[i]];

        code = add_place(to, "cfi", "cfn", arc->callee);
        vti_buf_printf(&to->out, "calls=%llu %u\n%u %llu\n", (unsigned long long)arc->numbers.calls,
                       profile->rows[arc->callee].line, row->line,
                       nanoseconds(arc->numbers.total_s));
    }
    vti_buf_add_u8(&to->out, '\n');
    return code ? code : vti_sink_offer(to->sink, &to->out);
}

static int add_all(struct callgrind *to, const vt_recording *recording)
{
    struct vt_recording_info info;
    unsigned long long sum = 0;
    int code = 0;

    vt_recording_info(recording, &info);
    for (size_t i = 0; i < to->profile->row_count; i++)
        sum += nanoseconds(to->profile->rows[i].numbers.self_s);
    vti_buf_add_text(&to->out, "# callgrind format\nversion: 1\ncreator: venturi\ncmd: ");
    vti_export_line(&to->out, info.command, 0);
    vti_buf_printf(&to->out,
                   "\npart: 1\n\npositions: line\nevents: ns\n"
                   "summary: %llu\n\n",
                   sum);
    for (size_t i = 0; i < to->profile->row_count && !code; i++)
        code = add_row(to, (uint32_t)i);
    vti_buf_printf(&to->out, "totals: %llu\n", sum);
    return code ? code : vti_sink_flush(to->sink, &to->out);
}

static int run(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink)
{
    struct vti_profile profile;
    struct callgrind to = {.profile = &profile, .sink = sink};
    int code = vti_export_profile(&profile, recording);

    (void)options;
    if (code)
        return code;
    to.is_named = calloc(profile.row_count + 1, sizeof *to.is_named);
    code = vti_profile_callees(&profile, &to.first_callee, &to.callees);
    if (!code)
        code = to.is_named ? vti_map_create(&to.files) : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code)
        code = add_all(&to, recording);
    vti_buf_fini(&to.out);
    vti_map_free(to.files);
    free(to.is_named);
    free(to.first_callee);
    free(to.callees);
    vti_profile_fini(&profile);
    return code;
}

const struct vti_exporter vti_export_callgrind = {
    .name = "callgrind",
    .summary = "functions, for kcachegrind and callgrind_annotate",
    .extension = "callgrind",
    .run = run,
};
