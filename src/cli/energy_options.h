/*
 * energy_options.h - what a user states about power: where it comes from and what a building adds. The same options of
 * `run --energy`, `energy` and `report`; what is stated later takes the place of what `run` was told.
 */
#ifndef VENTURI_CLI_ENERGY_OPTIONS_H
#define VENTURI_CLI_ENERGY_OPTIONS_H

#include "analyze/energy.h"

#include <stdbool.h>

/* Whether they make sense; else false after one line on stderr in the name of the command. */
bool vti_energy_stated_check(const char *command, const struct vti_energy_stated *stated);

#endif
