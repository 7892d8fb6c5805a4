/* cmd_energy.c - venturi energy: joules, CO2e and water of a program, and what they went to. */
#include "base/error.h"
#include "cli/cmd.h"
#include "cli/energy.h"
#include "cli/energy_options.h"
#include "cli/reading.h"

#include <stdio.h>
#include <string.h>

#define LIMIT 20

enum { OPT_BY, OPT_COUNTRY, OPT_INTENSITY, OPT_PUE, OPT_WUE, OPT_LIMIT, OPT_JSON };

static const struct vti_option options[] = {
    [OPT_BY] = {0, "by", "WHAT", "function, line, span, task or process"},
    [OPT_COUNTRY] = {0, "country", "ISO", "where the power comes from: FRA, DEU, …"},
    [OPT_INTENSITY] = {0, "intensity", "G", "… or its grams of CO2e a kWh"},
    [OPT_PUE] = {0, "pue", "X", "power of the building for each of the computer's (1)"},
    [OPT_WUE] = {0, "wue", "L", "litres of water a kWh"},
    [OPT_LIMIT] = {'n', "limit", "N", "show N rows (20, in JSON all); 0: all"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_energy;

struct request {
    const char *file, *by, *limit;
    struct vti_energy_stated stated;
    bool is_json;
    struct vti_energy_view view;
};

/* The table of a word of --by, VTI_ENERGY_BY_COUNT if it is none. */
static enum vti_energy_by by_of(const char *word)
{
    unsigned by = 0;

    while (by < VTI_ENERGY_BY_COUNT && strcmp(word, vti_energy_by_word((enum vti_energy_by)by)))
        by++;
    return (enum vti_energy_by)by;
}

/* What there is something of, if nothing was asked for. */
static enum vti_energy_by choose(const struct request *request, const struct vti_energy *energy)
{
    static const enum vti_energy_by order[] = {VTI_ENERGY_BY_FUNCTION, VTI_ENERGY_BY_LINE,
                                               VTI_ENERGY_BY_TASK, VTI_ENERGY_BY_SPAN};

    if (request->by)
        return by_of(request->by);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (energy->tables[order[i]].count)
            return order[i];
    return VTI_ENERGY_BY_PROCESS;
}

/* What is stated now takes the place of what was stated then. */
static int set_footing(struct request *request, const struct vti_energy *energy)
{
    request->view.footing = energy->footing;
    return vti_footing_set(&request->view.footing, &request->stated);
}

static int print(const struct request *request)
{
    const struct vti_energy_view *view = &request->view;
    int code;

    if (request->is_json)
        return vti_energy_print_json(view);
    code = vti_energy_print_sums(view);
    if (!code)
        code = vti_energy_print_items(view);
    if (!code)
        code = vti_energy_print_table(view);
    return code || !view->energy->tables[view->by].count ? code : vti_energy_print_rule(view);
}

static bool has_joules(const struct vti_energy *energy)
{
    for (size_t i = 0; i < energy->tree_count; i++)
        if (energy->trees[i].all.has_source)
            return true;
    return false;
}

/* Exit code after one line: there is no energy, and why. */
static int say_why_not(const vt_recording *recording, const struct vti_energy *energy)
{
    for (size_t i = 0; i < energy->tree_count; i++)
        for (size_t k = 0; k < energy->trees[i].log->note_count; k++)
            if (energy->trees[i].log->notes[k].about == VTI_ENERGY_NOTE_FAILED)
                return vti_cmd_fail("energy", "%s: holds no energy: %s", recording->path,
                                    energy->trees[i].log->notes[k].text);
    return vti_reading_lacks("energy", recording, "energy",
                             energy->tree_count ? " (it ended before the second reading)"
                                                : " (record with `venturi run --energy`)");
}

static int show(vt_recording *recording, void *arg)
{
    struct request *request = arg;
    struct vti_energy energy;
    int code = vti_energy_load(&energy, recording);

    if (!code && !has_joules(&energy)) {
        code = say_why_not(recording, &energy);
        vti_energy_fini(&energy);
        return code;
    }
    request->view.energy = &energy;
    if (!code)
        code = set_footing(request, &energy);
    if (!code) {
        request->view.by = choose(request, &energy);
        code = print(request);
    }
    vti_energy_fini(&energy);
    if (code)
        return vti_cmd_error("energy", code);
    fflush(stdout); /* before what goes to stderr */
    vti_reading_warn_of_open("energy", recording, "readings");
    return VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    const struct vti_place places[] = {
        [OPT_BY] = {.text = &request.by},
        [OPT_COUNTRY] = {.text = &request.stated.country},
        [OPT_INTENSITY] = {.text = &request.stated.intensity},
        [OPT_PUE] = {.text = &request.stated.pue},
        [OPT_WUE] = {.text = &request.stated.wue},
        [OPT_LIMIT] = {.text = &request.limit},
        [OPT_JSON] = {.is_set = &request.is_json},
    };
    int code = vti_args_collect(&vti_cmd_energy, argc, argv, places, &request.file, 1, "one FILE");

    if (!code)
        code = vti_reading_check("energy", request.file);
    if (!code && request.by && by_of(request.by) == VTI_ENERGY_BY_COUNT)
        code = vti_cmd_fail("energy", "--by %s: function, line, span, task or process", request.by);
    if (!code && !vti_energy_stated_check("energy", &request.stated))
        code = VTI_EXIT_BAD;
    request.view.file = request.file;
    request.view.limit = request.is_json ? 0 : LIMIT;
    if (!code && request.limit)
        code = vti_args_limit("energy", request.limit, 0, &request.view.limit);
    if (!request.view.limit)
        request.view.limit = SIZE_MAX;
    return code ? code : vti_reading_do("energy", request.file, show, &request);
}

const struct vti_command vti_cmd_energy = {
    .name = "energy",
    .summary = "joules and CO2e, and the functions, lines, tasks they went to",
    .usage = "[options] FILE",
    .about = "Shows what FILE's program used, if it was recorded with `run --energy`. Each\n"
             "number says whether it was measured, modelled or estimated, and from what. A\n"
             "second of CPU time gets its part of what the processors used at that time: what\n"
             "sleeps gets nothing. Options about power take the place of those given to `run`.",
    .options = options,
    .run = run,
};
