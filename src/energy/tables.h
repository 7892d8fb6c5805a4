/* tables.h - facts of others: power of processors, carbon of countries. The tables are in data/. */
#ifndef VENTURI_ENERGY_TABLES_H
#define VENTURI_ENERGY_TABLES_H

#include <stddef.h>

enum vti_tdp { VTI_TDP_FOUND, VTI_TDP_UNKNOWN, VTI_TDP_AMBIGUOUS };

/* Watts of a processor by the name that the kernel gives it; `entry` gets the name in the table. A name that fits
 * several with other watts is ambiguous. */
enum vti_tdp vti_tdp_find(const char *name, double *watts, char *entry, size_t room);

#endif
