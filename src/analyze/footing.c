/* footing.c - joules become kilowatt hours, grams of CO2e and litres of water. Nothing is guessed: a place that nobody stated is not known. */
#include "analyze/energy.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define JOULES_KWH 3.6e6

static double kwh_of(const struct vti_footing *footing, double joules)
{
    return joules / JOULES_KWH * (footing->pue > 0 ? footing->pue : 1);
}

double vti_footing_grams(const struct vti_footing *footing, double joules)
{
    return footing->source[0] ? kwh_of(footing, joules) * footing->intensity : NAN;
}

double vti_footing_litres(const struct vti_footing *footing, double joules)
{
    return footing->wue > 0 ? kwh_of(footing, joules) * footing->wue : NAN;
}

static int set_number(double *to, const char *what, const char *text, double least)
{
    char *end;
    double value;

    if (!text)
        return 0;
    value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < least)
        return vti_fail(VTI_E_USAGE, "%s: '%s' is not a number of at least %g", what, text, least);
    *to = value;
    return 0;
}

int vti_footing_set(struct vti_footing *footing, const struct vti_energy_stated *stated)
{
    const char *country = stated->country;
    const char *intensity = stated->intensity;
    const char *iso3;
    const char *name;
    double grams;
    int year;

    if (country && intensity)
        return vti_fail(VTI_E_USAGE, "one of --country and --intensity");
    if (set_number(&footing->pue, "--pue", stated->pue, 1) ||
        set_number(&footing->wue, "--wue", stated->wue, 0) ||
        set_number(&footing->intensity, "--intensity", intensity, 0))
        return VTI_E_USAGE;
    if (intensity)
        snprintf(footing->source, sizeof footing->source, "as stated");
    if (!country)
        return 0;
    grams = vt_grid_intensity(country, &iso3, &name, &year);
    if (grams <= 0)
        return vti_fail(VTI_E_USAGE,
                        "--country: '%s' is not in the table (ISO 3166, three letters, such as "
                        "FRA); --intensity takes grams of CO2e a kWh",
                        country);
    footing->intensity = grams;
    snprintf(footing->source, sizeof footing->source, "%s %d, %s", name, year, vt_grid_source());
    return 0;
}

int vti_energy_state(struct vti_energy *energy, const struct vti_energy_stated *stated)
{
    if (!stated->country && !stated->intensity && !stated->pue && !stated->wue)
        return 0;
    if (!energy->tree_count)
        return vti_fail(VTI_E_EMPTY,
                        "--country, --intensity, --pue and --wue: it holds no energy (record with "
                        "`venturi run --energy`)");
    return vti_footing_set(&energy->footing, stated);
}
