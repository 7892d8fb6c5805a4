/* energy_options.c - what a user states about power, checked. */
#include "cli/energy_options.h"

#include "cli/cmd.h"

#include <math.h>
#include <stdlib.h>
#include <venturi/energy.h>

#define MOST_INTENSITY 3000 /* grams: three times that of the worst coal */
#define MOST_PUE 10
#define MOST_WUE 100

/* What was given, so that nothing can be seen. */
static const char *shown(const char *text)
{
    return *text ? text : "''";
}

/* A number in a range, digits first: strtod takes words and hexadecimal digits, too. */
static bool is_number(const char *command, const char *option, const char *text, double least,
                      double most)
{
    bool has_digits = (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
    char *end;
    double value = has_digits && text[1] != 'x' && text[1] != 'X' ? strtod(text, &end) : NAN;

    if (isfinite(value) && end != text && !*end && value >= least && value <= most)
        return true;
    vti_cmd_fail(command, "--%s %s: not a number from %g to %g", option, shown(text), least, most);
    return false;
}

bool vti_energy_stated_check(const char *command, const struct vti_energy_stated *stated)
{
    const char *iso3;
    const char *name;
    int year;

    if (stated->country && stated->intensity) {
        vti_cmd_fail(command, "--country and --intensity: one of them says it all");
        return false;
    }
    if (stated->country && !(vt_grid_intensity(stated->country, &iso3, &name, &year) > 0)) {
        vti_cmd_fail(command, "--country %s: not known; like FRA or France, or --intensity G",
                     shown(stated->country));
        return false;
    }
    return (!stated->intensity ||
            is_number(command, "intensity", stated->intensity, 0, MOST_INTENSITY)) &&
           (!stated->pue || is_number(command, "pue", stated->pue, 1, MOST_PUE)) &&
           (!stated->wue || is_number(command, "wue", stated->wue, 0, MOST_WUE));
}
