/*
 * cmd_control.c - `venturi control`: recordings that are under way on this machine, and their switch.
 *
 * Sessions are found by the names of their sockets; each is asked about itself.
 */
#include "base/error.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/render.h"
#include "share/arena.h"
#include "share/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SESSIONS_MAX 256
#define ANSWER_MS 2000
#define CLOSE_MS 60000

enum { OPT_JSON };

static const struct vti_option options[] = {{0, "json", NULL, "write the list as JSON"},
                                            {0, NULL, NULL, NULL}};

extern const struct vti_command vti_cmd_control;

struct session {
    char name[96];
    struct vti_answer answer;
};

struct control {
    struct session sessions[SESSIONS_MAX];
    unsigned count;
    long pid; /* 0: all */
    uint32_t request;
    bool is_json;
};

static int ask(struct session *session, uint32_t type, long pid)
{
    struct vti_request request = {VTI_PROTOCOL_MAGIC, type, VTI_ARENA_VERSION, (int32_t)pid};
    int limit_ms = type == VTI_REQUEST_STOP ? CLOSE_MS : ANSWER_MS;
    const char *why = "";
    int code;

    errno = 0;
    code = vti_ask(session->name, &request, limit_ms, &session->answer, NULL, &why);
    if (code)
        vti_fail(code, "%s%s%s", why, errno ? ": " : "", errno ? strerror(errno) : "");
    return code;
}

/* Lines of /proc/net/unix end with the name, an @ standing for the zero byte. */
static void find_sessions(struct control *control)
{
    FILE *file = fopen("/proc/net/unix", "re");
    char line[512];

    while (file && fgets(line, sizeof line, file) && control->count < SESSIONS_MAX) {
        struct session *session = &control->sessions[control->count];
        const char *at = strstr(line, " @" VTI_SESSION_PREFIX);
        bool is_known = false;

        if (!at)
            continue;
        snprintf(session->name, sizeof session->name, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
        for (unsigned i = 0; i < control->count; i++)
            is_known |= !strcmp(session->name, control->sessions[i].name);
        if (!is_known && !ask(session, VTI_REQUEST_STATUS, control->pid) &&
            (!control->pid || session->answer.knows_pid))
            control->count++;
    }
    if (file)
        fclose(file);
}

static int show_json(const struct control *control)
{
    struct vti_buf out = {0};
    struct vti_json json;

    vti_json_init(&json, &out);
    vti_json_array(&json);
    for (unsigned i = 0; i < control->count; i++) {
        const struct vti_answer *answer = &control->sessions[i].answer;

        vti_json_object(&json);
        vti_json_add_string(&json, "file", answer->path);
        vti_json_add_int(&json, "drainer_pid", answer->drainer_pid);
        vti_json_add_bool(&json, "recording", answer->is_on);
        vti_json_add_uint(&json, "processes", answer->process_count);
        vti_json_add_uint(&json, "events", answer->events);
        vti_json_add_uint(&json, "lost", answer->lost);
        vti_json_object_end(&json);
    }
    vti_json_array_end(&json);
    return vti_print_json(&out) ? vti_cmd_error("control", VTI_E_NOMEM) : VTI_EXIT_OK;
}

static int fail_not_recorded(const struct control *control)
{
    return vti_cmd_fail("control", "%ld: not being recorded (venturi control lists recordings)",
                        control->pid);
}

static int show(const struct control *control)
{
    static const struct vti_column columns[] = {{"pid", VTI_RIGHT},       {"recording", VTI_LEFT},
                                                {"processes", VTI_RIGHT}, {"events", VTI_RIGHT},
                                                {"lost", VTI_RIGHT},      {"file", VTI_LEFT}};
    struct vti_table *table;

    if (control->is_json)
        return show_json(control);
    if (!control->count && control->pid)
        return fail_not_recorded(control);
    if (!control->count) {
        puts("no recording is under way");
        return VTI_EXIT_OK;
    }
    if (vti_table_create(&table, columns, 6))
        return vti_cmd_error("control", VTI_E_NOMEM);
    for (unsigned i = 0; i < control->count; i++) {
        const struct vti_answer *answer = &control->sessions[i].answer;

        vti_table_printf(table, "%d", answer->drainer_pid);
        vti_table_text(table, answer->is_on ? "on" : "off");
        vti_table_count(table, answer->process_count);
        vti_table_count(table, answer->events);
        vti_table_count(table, answer->lost);
        vti_table_text(table, answer->path);
    }
    vti_table_print(table, stdout);
    vti_table_free(table);
    return VTI_EXIT_OK;
}

static bool take_operand(struct control *control, const char *word)
{
    static const struct {
        const char *word;
        uint32_t request;
    } actions[] = {{"status", VTI_REQUEST_STATUS},
                   {"on", VTI_REQUEST_ON},
                   {"off", VTI_REQUEST_OFF},
                   {"flush", VTI_REQUEST_FLUSH},
                   {"stop", VTI_REQUEST_STOP}};
    char *end;

    for (unsigned i = 0; i < sizeof actions / sizeof *actions; i++)
        if (!strcmp(word, actions[i].word)) {
            control->request = actions[i].request;
            return true;
        }
    control->pid = strtol(word, &end, 10);
    if (*end || end == word || control->pid <= 0 || control->pid > INT32_MAX) {
        vti_cmd_fail("control", "%s: neither a process id nor on, off, flush, stop, status", word);
        return false;
    }
    return true;
}

/* Acting without a process id is fine while there is no doubt which recording is meant. */
static int act(struct control *control)
{
    int code;

    if (!control->count && control->pid)
        return fail_not_recorded(control);
    if (!control->count)
        return vti_cmd_fail("control", "no recording is under way");
    if (control->count > 1)
        return vti_cmd_fail("control", "%u recordings are under way: say which by a process id",
                            control->count);
    code = ask(&control->sessions[0], control->request, control->pid);
    return code ? vti_cmd_error("control", code) : VTI_EXIT_OK;
}

static int run_command(int argc, char **argv)
{
    struct control *control = calloc(1, sizeof *control);
    struct vti_args args;
    const char *value;
    int result = VTI_EXIT_BAD;
    int option;

    if (!control)
        return vti_cmd_error("control", VTI_E_NOMEM);
    control->request = VTI_REQUEST_STATUS;
    vti_args_init(&args, &vti_cmd_control, argc, argv);
    while ((option = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        if (option == VTI_OPT_BAD || (option == VTI_OPT_OPERAND && !take_operand(control, value)))
            goto out;
        control->is_json |= option == OPT_JSON;
    }
    find_sessions(control);
    result = control->request == VTI_REQUEST_STATUS ? show(control) : act(control);
out:
    free(control);
    return result;
}

const struct vti_command vti_cmd_control = {
    .name = "control",
    .summary = "recordings under way: list, switch on and off, flush, stop",
    .usage = "[--json] [PID] [status|on|off|flush|stop]",
    .about = "Without an action, lists the recordings under way on this machine. PID is a\n"
             "recorded process or its drainer (`venturi run` or venturi-drain); it may be left\n"
             "out while there is only one recording. off and on switch what the trace points\n"
             "record, for all processes of the recording; flush brings the file up to date;\n"
             "stop closes the recording while the program goes on.",
    .options = options,
    .run = run_command,
};
