/* quantity.h - sizes and durations as people type them: "64M", "30s", "1.5ms", "2026-11-15T20:15:03". */
#ifndef VENTURI_CLI_QUANTITY_H
#define VENTURI_CLI_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* A number with k, M, G (powers of 1024) or nothing. */
bool vti_parse_bytes(const char *text, uint64_t *bytes);

/* A number with ns, us, ms, s, m, h; without a unit: seconds. Negative ones are refused. */
bool vti_parse_duration(const char *text, int64_t *ns);

#endif
