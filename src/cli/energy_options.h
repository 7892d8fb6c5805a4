/*
 * energy_options.h - what a user states about power: where it comes from and what a building adds. The same options of
 * `run --energy` and `energy`; `report` shows what `run` was told.
 */
#ifndef VENTURI_CLI_ENERGY_OPTIONS_H
#define VENTURI_CLI_ENERGY_OPTIONS_H

#include <stdbool.h>

/* As they were given; NULL: not said. */
struct vti_energy_stated {
    const char *country;   /* three letters, two, or a name */
    const char *intensity; /* grams of CO2e for a kWh */
    const char *pue;       /* power of the building for each of the computers */
    const char *wue;       /* litres of water for a kWh */
};

/* Whether they make sense; else false after one line on stderr in the name of the command. */
bool vti_energy_stated_check(const char *command, const struct vti_energy_stated *stated);

#endif
