/* cmd_doctor.c - venturi doctor: what this machine allows, and which settings count. */
#include "base/error.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/machine.h"
#include "cli/render.h"

#include <string.h>

enum { OPT_JSON };

static const struct vti_option options[] = {
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_doctor;

static const char *const states[] = {
    [VTI_CHECK_OK] = "ok",
    [VTI_CHECK_NOTE] = "note",
    [VTI_CHECK_BAD] = "NO",
};

static int print_checks(const struct vti_check *checks)
{
    static const struct vti_column columns[] = {
        {"Check", VTI_LEFT}, {"", VTI_LEFT}, {"Found", VTI_LEFT}};
    struct vti_table *table;
    int code = vti_table_create(&table, columns, 3);

    if (code)
        return code;
    for (unsigned i = 0; i < VTI_CHECK_COUNT; i++) {
        vti_table_text(table, checks[i].name);
        vti_table_text(table, states[checks[i].state]);
        vti_table_text(table, checks[i].text);
        if (checks[i].hint) {
            vti_table_text(table, "");
            vti_table_text(table, "");
            vti_table_text(table, checks[i].hint);
        }
    }
    code = vti_table_print(table, stdout);
    vti_table_free(table);
    return code;
}

static int print_settings(const struct vti_setting *settings)
{
    static const struct vti_column columns[] = {
        {"Setting", VTI_LEFT}, {"Value", VTI_LEFT}, {"From", VTI_LEFT}, {"What it does", VTI_LEFT}};
    struct vti_table *table;
    int code = vti_table_create(&table, columns, 4);

    if (code)
        return code;
    for (unsigned i = 0; i < VTI_SETTING_COUNT; i++) {
        vti_table_text(table, settings[i].name);
        vti_table_text(table, *settings[i].value ? settings[i].value : "-");
        vti_table_text(table, settings[i].from);
        vti_table_text(table, settings[i].meaning);
    }
    code = vti_table_print(table, stdout);
    vti_table_free(table);
    return code;
}

static int print_text(const struct vti_check *checks, const struct vti_setting *settings,
                      bool works)
{
    int code = print_checks(checks);

    if (!code) {
        puts("");
        code = print_settings(settings);
    }
    if (code)
        return code;
    puts("");
    puts(works ? "Recording works here." : "Recording does not work here.");
    for (unsigned i = 0; i < VTI_SETTING_COUNT; i++)
        if (settings[i].trouble)
            vti_cmd_warn("doctor", "%s in the environment is %s; the default counts",
                         settings[i].name, settings[i].trouble);
    return 0;
}

static int print_json(const struct vti_check *checks, const struct vti_setting *settings,
                      bool works)
{
    static const char *const words[] = {"ok", "note", "bad"};
    struct vti_buf text = {0};
    struct vti_json json;

    vti_json_init(&json, &text);
    vti_json_object(&json);
    vti_json_add_string(&json, "version", VENTURI_VERSION);
    vti_json_add_bool(&json, "works", works);
    vti_json_key(&json, "checks");
    vti_json_array(&json);
    for (unsigned i = 0; i < VTI_CHECK_COUNT; i++) {
        vti_json_object(&json);
        vti_json_add_string(&json, "name", checks[i].name);
        vti_json_add_string(&json, "state", words[checks[i].state]);
        vti_json_add_string(&json, "found", checks[i].text);
        vti_json_add_string(&json, "hint", checks[i].hint);
        vti_json_object_end(&json);
    }
    vti_json_array_end(&json);
    vti_json_key(&json, "settings");
    vti_json_array(&json);
    for (unsigned i = 0; i < VTI_SETTING_COUNT; i++) {
        vti_json_object(&json);
        vti_json_add_string(&json, "name", settings[i].name);
        vti_json_add_string(&json, "value", settings[i].value);
        vti_json_add_string(&json, "from", settings[i].from);
        vti_json_add_string(&json, "trouble", settings[i].trouble);
        vti_json_object_end(&json);
    }
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    return vti_print_json(&text);
}

static int run(int argc, char **argv)
{
    struct vti_check checks[VTI_CHECK_COUNT];
    struct vti_setting settings[VTI_SETTING_COUNT];
    bool is_json = false;
    bool works = true;
    const struct vti_place places[] = {[OPT_JSON] = {.is_set = &is_json}};
    int code = vti_args_collect(&vti_cmd_doctor, argc, argv, places, NULL, 0,
                                "it takes no operands");

    if (code)
        return code;
    vti_machine_check(checks);
    vti_machine_settings(settings);
    for (unsigned i = 0; i < VTI_CHECK_COUNT; i++)
        works &= checks[i].state != VTI_CHECK_BAD;
    code = is_json ? print_json(checks, settings, works) : print_text(checks, settings, works);
    if (code)
        return vti_cmd_error("doctor", code);
    return works ? VTI_EXIT_OK : VTI_EXIT_NO;
}

const struct vti_command vti_cmd_doctor = {
    .name = "doctor",
    .summary = "what this machine allows, and which settings count",
    .usage = "[--json]",
    .about = "Tries what recording needs on this machine: the clock, shared memory, the\n"
             "drainer, space on the disk; and lists the settings that count. Exit code 0:\n"
             "recording works here, 1: it does not.",
    .options = options,
    .run = run,
};
