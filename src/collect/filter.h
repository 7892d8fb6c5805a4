/* filter.h - which functions are not recorded: VENTURI_INCLUDE, VENTURI_EXCLUDE, VENTURI_ONLY_MINE. */
#ifndef VENTURI_COLLECT_FILTER_H
#define VENTURI_COLLECT_FILTER_H

#include "collect/module.h"

/* Whether a function is to be recorded; asked once for each. */
bool vti_filter_allows(const struct vti_module *module, uintptr_t address);

#endif
