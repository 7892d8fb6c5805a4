/* cmd_rank.c - venturi rank: which trace names took the most time. */
#include "analyze/rank.h"
#include "base/error.h"
#include "base/file.h"
#include "base/secret.h"
#include "cli/cmd.h"
#include "cli/from_store.h"
#include "cli/importing.h"
#include "cli/rank_render.h"
#include "cli/render.h"
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPT_WIDE, OPT_SORT, OPT_LIMIT, OPT_JSON, OPT_CSV, OPT_RAW, OPT_COMPAT, OPT_FROM, OPT_FORCE };

static const struct vti_option options[] = {
    [OPT_WIDE] = {'w', "wide", NULL, "also min, p50, p99, self time, unfinished, errors"},
    [OPT_SORT] = {0, "sort", "total|max|avg|count|name|min|p50|p99|self",
                  "what decides the order (total)"},
    [OPT_LIMIT] = {'n', "limit", "N", "show the first N rows only"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    [OPT_CSV] = {0, "csv", NULL, "write CSV"},
    [OPT_RAW] = {0, "raw", NULL, "of a recording: times with Venturi's own cost left in"},
    [OPT_COMPAT] = {0, "compat", NULL, "of a log: repeat the mistakes of Mistral's script"},
    [OPT_FROM] = {0, "from", "URL", "of a store: elasticsearch://, redis://, file:///PATH"},
    [OPT_FORCE] = {'f', "force", NULL, "replace OUT if it exists"},
    {0},
};

extern const struct vti_command vti_cmd_rank;

struct request {
    const char *file;
    const char *out; /* NULL: standard output */
    const char *sort;
    const char *from; /* a store instead of a file */
    char *url;        /* owned: what that is in, as argv does not have it any more */
    size_t limit;
    bool is_json, is_csv, force;
    bool is_store_file; /* file://, or a file that looks like it: notifications, one a line */
    struct vti_rank_options rank;
};

static int take_arguments(struct request *request, int argc, char **argv)
{
    const char *limit = NULL;
    const char *operands[2] = {NULL, NULL};
    const struct vti_place places[] = {
        [OPT_WIDE] = {.is_set = &request->rank.is_wide},
        [OPT_SORT] = {.text = &request->sort},
        [OPT_LIMIT] = {.text = &limit},
        [OPT_JSON] = {.is_set = &request->is_json},
        [OPT_CSV] = {.is_set = &request->is_csv},
        [OPT_RAW] = {.is_set = &request->rank.is_raw},
        [OPT_COMPAT] = {.is_set = &request->rank.is_compat},
        [OPT_FROM] = {.text = &request->from},
        [OPT_FORCE] = {.is_set = &request->force},
    };
    int code = vti_args_collect(&vti_cmd_rank, argc, argv, places, operands, 2,
                                "one FILE and one OUT");

    if (!code && limit)
        code = vti_args_limit("rank", limit, 1, &request->limit);
    if (!code && request->from) {
        request->from = request->url = vti_secret_take_url((char *)(uintptr_t)request->from);
        code = request->url ? 0 : vti_cmd_error("rank", VTI_E_NOMEM);
    }
    if (code)
        return code;
    if (request->from && vti_from_file(request->from)) {
        operands[1] = operands[0];
        operands[0] = vti_from_file(request->from);
        request->from = NULL;
        request->is_store_file = true;
    }
    request->file = request->from ? request->from : operands[0];
    request->out = request->from ? operands[0] : operands[1];
    if (request->from && operands[1])
        return vti_cmd_fail("rank", "--from: with it there is only OUT, and no FILE");
    if (request->from && request->rank.is_compat)
        return vti_cmd_fail("rank", "--compat: is for a log, not for a store");
    if (!request->file)
        return vti_cmd_fail("rank",
                            "which FILE? A recording, a trace log, or - for standard input");
    if (request->is_json && request->is_csv)
        return vti_cmd_fail("rank", "either --json or --csv");
    if (request->rank.is_compat &&
        (request->is_json || request->is_csv || request->rank.is_wide || request->sort))
        return vti_cmd_fail(
            "rank", "--compat writes the script's table only: no --wide, --sort, --json, --csv");
    if (request->out && !strcmp(request->out, "-"))
        request->out = NULL;
    if (!request->from && !request->rank.is_compat)
        request->is_store_file |= vti_import_looks_like(request->file, "osnotes");
    return 0;
}

static enum vti_rank_key sort_key(const char *name)
{
    static const char *const names[] = {
        [VTI_RANK_TOTAL] = "total", [VTI_RANK_MAX] = "max",   [VTI_RANK_AVG] = "avg",
        [VTI_RANK_COUNT] = "count", [VTI_RANK_NAME] = "name", [VTI_RANK_MIN] = "min",
        [VTI_RANK_P50] = "p50",     [VTI_RANK_P99] = "p99",   [VTI_RANK_SELF] = "self",
    };

    for (unsigned i = 0; name && i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return (enum vti_rank_key)i;
    return VTI_RANK_TOTAL;
}

static int write_out(const struct request *request, const struct vti_buf *text)
{
    struct vti_output *out;
    int code;

    if (!request->out) {
        if (text->len)
            fwrite(text->data, 1, text->len, stdout);
        return 0;
    }
    code = vti_output_open(&out, request->out, request->force || request->rank.is_compat, false);
    if (code)
        return code;
    if (text->len)
        vti_output_write(out, text->data, text->len);
    return vti_output_commit(out);
}

static void warn_about_log(const struct vti_rank *rank, const char *file)
{
    struct vti_rank_lines lines;

    vti_rank_lines(rank, &lines);
    if (lines.unusable)
        vti_cmd_warn("rank", "%s: lines not used: %llu of %llu; the first: line %llu %s", file,
                     (unsigned long long)lines.unusable, (unsigned long long)lines.read,
                     (unsigned long long)lines.first_unusable, lines.reason);
    if (lines.negative)
        vti_cmd_warn("rank", "%s: negative durations left out: %llu; the first: line %llu", file,
                     (unsigned long long)lines.negative, (unsigned long long)lines.first_negative);
    if (lines.orphans)
        vti_cmd_warn("rank",
                     "%s: stops without a start: %llu; their self time includes what ran inside",
                     file, (unsigned long long)lines.orphans);
    if (!lines.stops)
        vti_cmd_warn("rank", "%s: nothing in it has ended", file);
}

static void warn_about_untimed(const struct vti_rank_trust *trust, const char *file)
{
    if (trust->untimed)
        vti_cmd_warn("rank", "%s: spans that never ended, not timed: %llu (--wide: Open)", file,
                     (unsigned long long)trust->untimed);
}

static void warn_about_recording(const struct vti_rank *rank, const char *file)
{
    struct vti_rank_trust trust;

    vti_rank_trust(rank, &trust);
    warn_about_untimed(&trust, file);
    if (trust.damage_count)
        vti_cmd_warn("rank", "%s: damaged ranges left out: %u; the first: bytes %llu to %llu", file,
                     trust.damage_count, (unsigned long long)trust.damage_begin,
                     (unsigned long long)trust.damage_end);
    if (trust.lost_events)
        vti_cmd_warn("rank", "%s: events lost while recording: %llu", file,
                     (unsigned long long)trust.lost_events);
    if (trust.missing_processes)
        vti_cmd_warn("rank", "%s: " VTI_MISSING_PROCESSES, file,
                     (unsigned long long)trust.missing_processes);
    if (trust.overwritten_events)
        vti_cmd_warn("rank", "%s: " VTI_KEPT_THE_END, file,
                     (unsigned long long)trust.overwritten_events);
}

/* The script is gone by an exception; its output file was open, so it is there and empty. */
static int fail_like_script(const struct request *request, int code)
{
    static const struct vti_buf nothing = {0};
    int result = vti_cmd_error("rank", code);

    if (code != VTI_E_DAMAGED)
        return result;
    code = request->out ? write_out(request, &nothing) : 0;
    return code ? vti_cmd_error("rank", code) : VTI_EXIT_NO;
}

/* A store gives a recording, or has summed up by itself. An exit code. */
static int rank_store(struct vti_rank *rank, const struct request *request,
                      struct vti_fetched *fetched)
{
    const char *options[] = {request->rank.is_wide ? "--wide" : NULL, NULL};
    const struct vti_from_store from = {
        .command = "rank", .action = "rank", .url = request->from, .options = options};
    int code = vti_from_store(&from, fetched);

    if (code)
        return code;
    code = fetched->recording ? vti_rank_opened(rank, fetched->recording)
                              : vti_rows_rank(rank, &fetched->rows);
    vt_recording_close(fetched->recording);
    fetched->recording = NULL;
    return code ? vti_cmd_error("rank", code) : 0;
}

static int rank_imported(struct vti_rank *rank, const char *path)
{
    vt_recording *recording = NULL;
    int code = vti_importing_open("rank", path, &recording);

    if (!code)
        code = vti_rank_opened(rank, recording);
    vt_recording_close(recording);
    return code;
}

static int rank_file(struct vti_rank *rank, const struct request *request,
                     struct vti_fetched *fetched)
{
    const struct vti_rank_view view = {
        .file = request->from ? fetched->shown : request->file,
        .is_file = request->out != NULL,
        .is_json = request->is_json,
        .is_csv = request->is_csv,
        .is_wide = request->rank.is_wide,
        .is_compat = request->rank.is_compat,
        .limit = request->limit,
    };
    struct vti_rank_trust trust;
    struct vti_buf text = {0};
    const char *shown = strcmp(request->file, "-") ? request->file : "standard input";
    bool is_talking = request->rank.is_compat && request->out;
    int code;

    if (is_talking)
        puts("Ranking profiled methods...");
    if (request->from) /* what goes wrong is said there */
        code = 0;
    else if (request->is_store_file)
        code = rank_imported(rank, request->file);
    else
        code = vti_rank_file(rank, request->file);
    if (code)
        return request->rank.is_compat ? fail_like_script(request, code)
                                       : vti_cmd_error("rank", code);
    code = vti_rank_sort(rank, sort_key(request->sort));
    if (!code)
        code = vti_rank_render(&text, rank, &view);
    if (!code)
        code = write_out(request, &text);
    vti_buf_fini(&text);
    if (code)
        return vti_cmd_error("rank", code);
    if (is_talking)
        printf("Ranking file was successfully created: %s\n", request->out);
    if (request->from) { /* the rest was said by venturi-fetch */
        vti_rank_trust(rank, &trust);
        warn_about_untimed(&trust, fetched->shown);
        return VTI_EXIT_OK;
    }
    if (vti_rank_is_recording(rank))
        warn_about_recording(rank, shown);
    else if (!request->rank.is_compat)
        warn_about_log(rank, shown);
    return VTI_EXIT_OK;
}

/* Asked before the reading, which may take a while; vti_output_open() asks again. */
static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int rank(struct request *request)
{
    struct vti_fetched fetched = {0};
    struct vti_rank *rank;
    enum vti_rank_key key = sort_key(request->sort);
    int code;

    /* Who sorts by a figure wants to see it. */
    request->rank.is_wide |= key == VTI_RANK_MIN || key == VTI_RANK_P50 || key == VTI_RANK_P99 ||
                             key == VTI_RANK_SELF;
    if (request->out && !request->force && !request->rank.is_compat && is_file(request->out))
        return vti_cmd_error("rank", vti_fail(VTI_E_EXISTS, "%s: already exists", request->out));
    if (request->out && vti_file_is_same(request->file, request->out))
        return vti_cmd_fail("rank", "%s: is the input, so it cannot be the output too",
                            request->out);
    if (vti_rank_create(&rank, &request->rank))
        return vti_cmd_error("rank", VTI_E_NOMEM);
    code = request->from ? rank_store(rank, request, &fetched) : 0;
    if (!code)
        code = rank_file(rank, request, &fetched);
    vti_fetched_fini(&fetched);
    vti_rank_free(rank);
    return code;
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    int code = take_arguments(&request, argc, argv);

    if (!code)
        code = rank(&request);
    free(request.url);
    return code;
}

const struct vti_command vti_cmd_rank = {
    .name = "rank",
    .summary = "which names took the most time, of a recording or a trace log",
    .usage = "[options] FILE [OUT]",
    .about = "Ranks trace names by the time they took. FILE is a recording, a trace log as\n"
             "osprofiler writes it in Mistral (- is standard input), or notifications, one\n"
             "on each line, as `venturi ship --to file://` writes them. The table goes to\n"
             "OUT, else to standard output; for a log it is, byte for byte, the one that\n"
             "Mistral's rank_profiled_methods.py makes, but without the script's mistakes.",
    .options = options,
    .run = run,
};
