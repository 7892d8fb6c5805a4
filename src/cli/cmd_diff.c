/* cmd_diff.c - venturi diff: what changed from one run to another. */
#include "cli/cmd.h"
#include "cli/diff.h"
#include "cli/page_output.h"
#include "cli/reading.h"
#include "import/import.h"
#include "page/diff.h"

#include <stdint.h>
#include <stdio.h>

#define LIMIT 20

enum { OPT_OUTPUT, OPT_OPEN, OPT_FORCE, OPT_SORT, OPT_LIMIT, OPT_ALL, OPT_JSON };

static const struct vti_option options[] = {
    [OPT_OUTPUT] = {'o', "output", "PAGE", "write a page for a browser instead (page.html, -)"},
    [OPT_OPEN] = {0, "open", NULL, "open the page in a browser"},
    [OPT_FORCE] = {0, "force", NULL, "replace PAGE even if it is no page of Venturi's"},
    [OPT_SORT] = {0, "sort", "self|total|calls|name", "what decides the order (change of self)"},
    [OPT_LIMIT] = {'n', "limit", "N", "show N functions (20); 0 shows all"},
    [OPT_ALL] = {'a', "all", NULL, "also what changed little or not at all"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_diff;

struct request {
    const char *files[2];
    struct vti_page_output output;
    const char *sort;
    size_t limit;
    bool has_all, is_json;
};

static int take_arguments(struct request *request, int argc, char **argv)
{
    const char *limit = NULL;
    const struct vti_place places[] = {
        [OPT_OUTPUT] = {.text = &request->output.path},
        [OPT_OPEN] = {.is_set = &request->output.opens},
        [OPT_FORCE] = {.is_set = &request->output.force},
        [OPT_SORT] = {.text = &request->sort},
        [OPT_LIMIT] = {.text = &limit},
        [OPT_ALL] = {.is_set = &request->has_all},
        [OPT_JSON] = {.is_set = &request->is_json},
    };
    int code = vti_args_collect(&vti_cmd_diff, argc, argv, places, request->files, 2,
                                "one BASE and one NEW");

    if (!code && limit)
        code = vti_args_limit("diff", limit, 0, &request->limit);
    if (!request->limit)
        request->limit = SIZE_MAX;
    if (!code && !request->files[1])
        code = vti_cmd_fail("diff", "which two? venturi diff BASE NEW, the earlier run first");
    if (!code && request->output.opens && !request->output.path)
        code = vti_cmd_fail("diff", "--open needs a page to open: add -o page.html");
    for (int i = 0; i < 2 && !code && request->output.path; i++)
        code = vti_page_output_check("diff", &request->output, request->files[i]);
    return code;
}

struct side {
    struct vti_diff_side diff;
    struct vti_bench bench; /* what `check` would compare */
};

static int load(vt_recording *recording, void *arg)
{
    struct side *side = arg;
    int code = vti_diff_side_load(&side->diff, recording);

    if (!code)
        code = vti_diff_side_load_parts(&side->diff, recording);
    if (!code)
        code = vti_measure_bench(&side->bench, recording, &side->diff);
    return code ? vti_cmd_error("diff", code) : VTI_EXIT_OK;
}

static int open_side(struct side *side, const char *path)
{
    int code = vti_reading_refuse_folder("diff", path);

    if (code)
        return code;
    if (vti_profile_is_recording(path) || vti_import_is_direct(path))
        return vti_reading_do("diff", path, load, side);
    code = vti_diff_side_read(&side->diff, path);
    return code ? vti_cmd_error("diff", code) : VTI_EXIT_OK;
}

/* The same numbers as those of a check, whatever speaks against comparing them: that is said by the diff. */
static int compare(struct vti_comparison *quantities, const struct side *base,
                   const struct side *now)
{
    const struct vti_compare_options all = {
        .rules = VTI_RULES, .any_command = true, .is_forced = true};

    return vti_compare(quantities, &base->bench, &now->bench, &all);
}

/* What the page is made of. */
struct page_job {
    const struct request *request;
    const struct vti_diff *diff;
    const struct vti_comparison *quantities;
};

static int make_page(const struct vti_sink *sink, void *arg)
{
    const struct page_job *job = arg;
    const char *const *files = job->request->files;
    struct vti_buf sentences = {0};
    int code;

    vti_diff_sentences(&sentences, job->quantities);
    vti_diff_part_sentences(&sentences, job->diff);
    code = vti_page_diff(job->diff, &sentences, files[0], files[1], sink);
    vti_buf_fini(&sentences);
    return code;
}

static int show(const struct request *request, const struct vti_diff *diff,
                const struct vti_comparison *quantities)
{
    const struct vti_diff_view view = {.diff = diff,
                                       .quantities = quantities,
                                       .base_name = request->files[0],
                                       .name = request->files[1],
                                       .sort = request->sort,
                                       .limit = request->limit,
                                       .has_all = request->has_all};
    struct page_job job = {request, diff, quantities};
    int code;

    if (!diff->function_count && !diff->common_parts && !quantities->count)
        return vti_cmd_fail("diff", "there is nothing that both of them hold: no functions, spans, "
                                    "tasks or steps, and neither time nor memory");
    if (request->output.path) {
        code = vti_page_output_write("diff", &request->output, make_page, &job);
    } else {
        code = request->is_json ? vti_diff_json(&view) : vti_diff_print(&view);
        fflush(stdout);
        code = code ? vti_cmd_error("diff", code) : VTI_EXIT_OK;
    }
    if (!code && diff->function_count && !diff->common) {
        vti_cmd_warn("diff", "the two have no function and no span in common");
        code = VTI_EXIT_UNSURE;
    }
    return code;
}

static int run(int argc, char **argv)
{
    struct request request = {.limit = LIMIT};
    struct side base = {0};
    struct side now = {0};
    struct vti_diff diff = {0};
    struct vti_comparison quantities = {0};
    int code = take_arguments(&request, argc, argv);

    if (!code)
        code = open_side(&base, request.files[0]);
    if (!code)
        code = open_side(&now, request.files[1]);
    if (!code) {
        code = vti_diff_make(&diff, &base.diff, &now.diff);
        if (!code)
            code = compare(&quantities, &base, &now);
        code = code ? vti_cmd_error("diff", code) : show(&request, &diff, &quantities);
    }
    vti_comparison_fini(&quantities);
    vti_diff_fini(&diff);
    vti_diff_side_fini(&base.diff);
    vti_diff_side_fini(&now.diff);
    vti_bench_fini(&base.bench);
    vti_bench_fini(&now.bench);
    return code;
}

const struct vti_command vti_cmd_diff = {
    .name = "diff",
    .summary = "what changed from one run to another",
    .usage = "[options] BASE NEW [-o PAGE]",
    .about = "Compares two recordings (or files of cProfile), the earlier one first: functions\n"
             "and spans, tasks and steps, time, memory, energy and items. A function is the\n"
             "same if its name and file are, whatever lines it moved to. With -o: as one file\n"
             "for a browser. Exit code 3: they have no function and no span in common.",
    .options = options,
    .run = run,
};
