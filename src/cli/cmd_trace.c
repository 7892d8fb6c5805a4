/*
 * cmd_trace.c - venturi trace: requests through several services, from their recordings and logs together.
 *
 * `request` is another program's (venturi-request), because the tool itself knows no network.
 */
#include "base/beside.h"
#include "base/error.h"
#include "base/secret.h"
#include "cli/frame.h"
#include "cli/from_store.h"
#include "cli/importing.h"
#include "cli/reading.h"
#include "cli/trace.h"
#include "cli/trace_page.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPT_ERRORS,
    OPT_SORT,
    OPT_LIMIT,
    OPT_FROM,
    OPT_JSON,
    OPT_COMPAT,
    OPT_HTML,
    OPT_DOT,
    OPT_DEPTH,
    OPT_ATTRS,
    OPT_OUT,
    OPT_OPEN,
    OPT_FORCE
};

static const struct vti_option options[] = {
    [OPT_ERRORS] = {0, "errors", NULL, "list: only traces in which something failed"},
    [OPT_SORT] = {0, "sort", "begin|time|spans|errors", "list: newest last; largest first"},
    [OPT_LIMIT] = {'n', "limit", "N", "list: N only, those that --sort asks for"},
    [OPT_FROM] = {0, "from", "URL", "of a store: redis://, elasticsearch://, file:///PATH"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    [OPT_COMPAT] = {0, "compat", NULL, "show: JSON as `osprofiler trace show --json` writes it"},
    [OPT_HTML] = {0, "html", NULL, "show: a page for a browser"},
    [OPT_DOT] = {0, "dot", NULL, "show: a graph for graphviz (dot -Tsvg)"},
    [OPT_DEPTH] = {0, "depth", "N", "show: N levels only"},
    [OPT_ATTRS] = {'v', "attrs", NULL, "show: facts, process and thread of each span"},
    [OPT_OUT] = {'o', "out", "FILE", "show: write to FILE"},
    [OPT_OPEN] = {0, "open", NULL, "show: open the page in a browser"},
    [OPT_FORCE] = {'f', "force", NULL, "show: replace FILE if it exists"},
    {0},
};

/* What venturi-request takes, for completion only. */
static const struct vti_option request_options[] = {
    {0, "profile", "KEY", "the secret, one of the service's hmac_keys"},
    {'X', "request", "METHOD", "instead of GET, or POST with -d"},
    {'d', "data", "BODY", "the body, or @FILE"},
    {'H', "header", "LINE", "another header, 'Name: value'"},
    {0, "base-id", "ID", "the trace's id"},
    {'i', "include", NULL, "the answer's headers too"},
    {'o', "output", "FILE", "write the answer to FILE"},
    {'f', "force", NULL, "replace FILE if it exists"},
    {0, "timeout", "S", "give up after so many seconds"},
    {0},
};

static const struct vti_command actions[] = {
    {.name = "list", .usage = "FILE", .options = options, .summary = "the traces in files"},
    {.name = "show", .usage = "FILE", .options = options, .summary = "one of them as a tree"},
    {.name = "request", .usage = "URL", .options = request_options, .summary = "send a request"},
    {0},
};

extern const struct vti_command vti_cmd_trace;

struct request {
    const char **words; /* owned: operands after list or show */
    size_t count;
    bool is_list;
    bool has_errors_only, is_json, is_compat, is_html, is_dot, has_attrs, opens, force;
    const char *sort, *limit, *depth, *out, *from;
    char *url;                  /* owned: what `from` is in, as argv does not have it any more */
    struct vti_fetched fetched; /* of --from */
    vt_recording **recordings;  /* owned; beside `files` */
    const char **files;
    size_t file_count;
};

/* ---- arguments ------------------------------------------------------------------------------- */

static int take_words(struct request *request, int argc, char **argv)
{
    bool *const switches[] = {[OPT_ERRORS] = &request->has_errors_only,
                              [OPT_JSON] = &request->is_json,
                              [OPT_COMPAT] = &request->is_compat,
                              [OPT_HTML] = &request->is_html,
                              [OPT_DOT] = &request->is_dot,
                              [OPT_ATTRS] = &request->has_attrs,
                              [OPT_OPEN] = &request->opens,
                              [OPT_FORCE] = &request->force};
    const char **const texts[] = {
        [OPT_SORT] = &request->sort,   [OPT_LIMIT] = &request->limit, [OPT_FROM] = &request->from,
        [OPT_DEPTH] = &request->depth, [OPT_OUT] = &request->out,     [OPT_FORCE] = NULL};
    struct vti_args args;
    const char *value;
    int option;

    vti_args_init(&args, &vti_cmd_trace, argc, argv);
    while ((option = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        if (option == VTI_OPT_BAD)
            return VTI_EXIT_BAD;
        if (option == VTI_OPT_OPERAND)
            request->words[request->count++] = value;
        else if (texts[option])
            *texts[option] = value;
        else
            *switches[option] = true;
    }
    if (!request->from)
        return 0;
    request->from = request->url = vti_secret_take_url((char *)(uintptr_t)request->from);
    return request->url ? 0 : vti_cmd_error("trace", VTI_E_NOMEM);
}

static int check_options(const struct request *request)
{
    int forms = request->is_json + request->is_compat + request->is_html + request->is_dot;

    if (request->is_list &&
        (request->is_compat || request->is_html || request->is_dot || request->has_attrs ||
         request->depth || request->out || request->opens || request->force))
        return vti_cmd_fail("trace", "list: takes --errors, --sort, --limit and --json only; the "
                                     "rest is for show");
    if (!request->is_list && (request->has_errors_only || request->sort || request->limit))
        return vti_cmd_fail("trace", "show: --errors, --sort and --limit are for list");
    if (forms > 1)
        return vti_cmd_fail("trace", "one of --json, --compat, --html and --dot");
    if (request->opens && !request->is_html)
        return vti_cmd_fail("trace", "--open: is for a page, --html");
    if (request->opens && !request->out)
        return vti_cmd_fail("trace", "--open: needs a file, --out page.html");
    return 0;
}

static int check_files(struct request *request)
{
    size_t first = !request->is_list;

    if (!request->is_list && !request->count)
        return vti_cmd_fail("trace", "show: which trace? ID, last or slowest, then FILE...");
    if (request->from && vti_from_file(request->from)) { /* no store, but a file like any other */
        request->words[request->count++] = vti_from_file(request->from);
        request->from = NULL;
    }
    if (request->count <= first && !request->is_list && !request->from)
        return vti_cmd_fail("trace", "show %s: in which FILEs? Recordings or trace logs",
                            request->words[0]);
    if (request->count <= first && !request->from)
        return vti_cmd_fail("trace", "list: which FILEs? Recordings or trace logs");
    request->files = request->words + first;
    request->file_count = request->count - first;
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int open_files(struct request *request)
{
    for (size_t i = 0; i < request->file_count; i++) {
        int code = vti_reading_check("trace", request->files[i]);

        if (code)
            return code;
        code = vti_importing_open("trace", request->files[i], &request->recordings[i]);
        if (code)
            return vti_reading_refuse("trace", request->files[i], code);
    }
    return 0;
}

static int fail_without_traces(const struct request *request, const struct vti_traces *traces)
{
    const char *more = request->file_count > 1 ? " (nor do the others)" : "";

    if (traces->untraced_spans)
        return vti_cmd_fail("trace",
                            "%s: holds no traces%s: nothing came with the secret, or called "
                            "trace.init()",
                            request->files[0], more);
    return vti_cmd_fail("trace", "%s: holds no traces%s (venturi report shows what there is)",
                        request->files[0], more);
}

/* What a store has is one recording more, or rows. */
static int fetch(struct request *request)
{
    const char *options[8];
    size_t count = 0;
    const struct vti_from_store from = {.command = "trace",
                                        .action = request->is_list ? "list" : "show",
                                        .url = request->from,
                                        .options = options};
    int code;

    if (!request->from)
        return 0;
    if (request->is_list && request->limit) {
        options[count++] = "--limit";
        options[count++] = request->limit;
    }
    if (request->is_list && request->sort) {
        options[count++] = "--sort";
        options[count++] = request->sort;
    }
    if (request->has_errors_only)
        options[count++] = "--errors";
    if (!request->is_list)
        options[count++] = request->words[0];
    options[count] = NULL;
    code = vti_from_store(&from, &request->fetched);
    if (code || !request->fetched.recording)
        return code;
    request->files[request->file_count] = request->fetched.shown;
    request->recordings[request->file_count++] = request->fetched.recording;
    return 0;
}

/* ---- showing --------------------------------------------------------------------------------- */

static int show_page(const struct request *request, const struct vti_traces *traces)
{
    const struct vti_trace_page page = {
        .traces = traces,
        .files = request->files,
        .file_count = request->file_count,
        .output = {.path = request->out ? request->out : "-",
                   .opens = request->opens,
                   .force = request->force},
    };

    return vti_trace_page(&page);
}

/* A number of at least one; without a text all that there are. */
static int take_number(const char *text, const char *option, const char *what, uint32_t *number)
{
    char *end;
    unsigned long value;

    *number = UINT32_MAX;
    if (!text)
        return 0;
    value = strtoul(text, &end, 10);
    if (*end || !isdigit((unsigned char)*text) || !value)
        return vti_cmd_fail("trace", "--%s: '%s' is not a number of %s", option, text, what);
    *number = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return 0;
}

static int write_view(const struct request *request, struct vti_trace_view *view)
{
    struct vti_trace_output out = {0};
    int code = vti_output_open(&out.file, request->out ? request->out : "-", request->force, false);

    if (code)
        return vti_cmd_error("trace", code);
    if (request->is_json)
        vti_trace_json(&out, view);
    else if (request->is_compat)
        vti_trace_compat(&out, view);
    else if (request->is_dot)
        vti_trace_dot(&out, view);
    else
        vti_trace_text(&out, view);
    if (!out.code && out.text.failed)
        out.code = VTI_E_NOMEM;
    if (!out.code)
        out.code = vti_output_write(out.file, out.text.data, out.text.len);
    vti_buf_fini(&out.text);
    if (out.code) {
        vti_output_abandon(out.file);
        return vti_cmd_error("trace", out.code);
    }
    code = vti_output_commit(out.file);
    return code ? vti_cmd_error("trace", code) : VTI_EXIT_OK;
}

void vti_trace_output_step(struct vti_trace_output *out)
{
    if (out->text.len < (64u << 10) || out->code)
        return;
    out->code = out->text.failed ? VTI_E_NOMEM
                                 : vti_output_write(out->file, out->text.data, out->text.len);
    vti_buf_clear(&out->text);
}

static int show(struct request *request)
{
    struct vti_trace_view view = {.files = request->files, .has_attrs = request->has_attrs};
    struct vti_traces traces;
    uint8_t base[16];
    int code = take_number(request->depth, "depth", "levels", &view.depth);

    for (size_t i = 0; i < request->file_count && !code && request->out; i++)
        if (vti_file_is_same(request->files[i], request->out))
            code = vti_cmd_fail("trace", "%s: is an input, so it cannot be the output too",
                                request->out);
    if (!code)
        code = open_files(request);
    if (!code)
        code = fetch(request);
    if (!code)
        code = vti_trace_find(base, request->words[0], request->recordings, request->file_count);
    if (code)
        return code;
    code = vti_traces_load(&traces, request->recordings, request->file_count, base);
    if (code)
        return vti_cmd_error("trace", code);
    view.traces = &traces;
    view.trace = traces.traces;
    if (!traces.trace_count) {
        code = vti_cmd_fail("trace", "%s: no such trace in %s%s (venturi trace list shows all)",
                            request->words[0], request->files[0],
                            request->file_count > 1 ? " and the others" : "");
    } else if (request->is_html) {
        code = show_page(request, &traces);
    } else {
        vti_trace_notes(&view, request->recordings, request->file_count);
        code = write_view(request, &view);
        vti_buf_fini(&view.notes);
    }
    vti_traces_fini(&traces);
    return code;
}

static int list(struct request *request)
{
    struct vti_trace_list list = {.has_errors_only = request->has_errors_only,
                                  .sort = request->sort ? request->sort : "begin"};
    struct vti_traces traces;
    int code = take_number(request->limit, "limit", "traces", &list.limit);

    if (!code)
        code = open_files(request);
    if (!code)
        code = fetch(request);
    if (code)
        return code;
    if (request->fetched.rows.len && request->file_count)
        return vti_cmd_fail("trace", "list: --from %s sums up by itself: not together with FILEs",
                            request->fetched.shown);
    if (request->fetched.rows.len)
        code = vti_rows_traces(&traces, &request->fetched.rows);
    else
        code = vti_traces_load(&traces, request->recordings, request->file_count, NULL);
    if (code)
        return vti_cmd_error("trace", code);
    list.traces = &traces;
    if (!traces.trace_count && request->from)
        code = vti_cmd_fail("trace", "%s: holds no traces", request->fetched.shown);
    else if (!traces.trace_count)
        code = fail_without_traces(request, &traces);
    else
        code = request->is_json ? vti_trace_list_json(&list) : vti_trace_list_text(&list);
    vti_traces_fini(&traces);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int send_request(char **argv)
{
    static const char *const places[] = {"venturi-request", "../libexec/venturi/venturi-request"};
    char program[PATH_MAX];

    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program))
        return vti_cmd_fail("trace", "request: venturi-request is not there (it is built with "
                                     "libcurl)");
    argv[0] = program;
    execv(program, argv);
    return vti_cmd_error("trace", vti_fail_errno(VTI_E_SYSTEM, "%s: cannot start it", program));
}

static int print_help(void)
{
    struct vti_buf text = {0};

    vti_help_command(&text, &vti_cmd_trace);
    if (text.failed)
        return vti_cmd_error("trace", VTI_E_NOMEM);
    fwrite(text.data, 1, text.len, stdout);
    vti_buf_fini(&text);
    return VTI_EXIT_OK;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

static int run(int argc, char **argv)
{
    const char *action = argc > 1 ? argv[1] : NULL;
    struct request request = {0};
    int code = VTI_EXIT_BAD;

    if (action && !strcmp(action, "request"))
        return send_request(argv + 1);
    if (wants_help(argc, argv))
        return print_help();
    if (!action || (strcmp(action, "list") && strcmp(action, "show")))
        return vti_cmd_fail("trace", "%s%slist, show or request? See venturi trace --help",
                            action ? action : "", action ? ": " : "");
    request.is_list = !strcmp(action, "list");
    request.words = calloc((size_t)argc, sizeof *request.words);
    request.recordings = calloc((size_t)argc, sizeof *request.recordings);
    if (!request.words || !request.recordings) {
        code = vti_cmd_error("trace", VTI_E_NOMEM);
        goto out;
    }
    code = take_words(&request, argc - 1, argv + 1);
    if (!code)
        code = check_options(&request);
    if (!code)
        code = check_files(&request);
    if (!code)
        code = request.is_list ? list(&request) : show(&request);
out:
    for (size_t i = 0; request.recordings && i < request.file_count; i++)
        vt_recording_close(request.recordings[i]);
    vti_fetched_fini(&request.fetched);
    free(request.words);
    free(request.recordings);
    free(request.url);
    return code;
}

const struct vti_command vti_cmd_trace = {
    .name = "trace",
    .summary = "requests through several services: list, show as a tree, send one",
    .usage = "list|show|request [options] [ID] FILE...",
    .about = "  trace list FILE...      the traces in recordings and trace logs, newest last\n"
             "  trace show ID FILE...   one of them as a tree, with its critical path; ID may\n"
             "                          be the beginning of one, `last` or `slowest`\n"
             "  trace request ...       sends a request that is traced (request --help)\n"
             "FILEs are what services recorded (venturi run) or logged: all make one tree.",
    .options = options,
    .passes_options = true,
    .actions = actions,
    .run = run,
};
