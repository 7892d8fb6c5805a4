/* coverage.h - how often lines were executed, from the counters that programs have left. */
#ifndef VENTURI_SYMBOLS_COVERAGE_H
#define VENTURI_SYMBOLS_COVERAGE_H

#include "symbols/module.h"

/*
 * Reads counters of modules (share/coverage.h), each behind its number and its length in bytes, eight bytes each; prints
 * for each function that was executed a line that begins with "f" (number, calls, last line, then as in any answer) and
 * one with "l" (line, hits) for each of its lines. What is missing is said on stderr.
 */
void vti_coverage_print(struct vti_symbols_module **modules, int fd);

#endif
