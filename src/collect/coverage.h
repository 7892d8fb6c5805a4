/* coverage.h - lines of C: what each module that `venturi cc -l` makes (coverage_hooks.c) says to libventuri-lines. */
#ifndef VENTURI_COLLECT_COVERAGE_H
#define VENTURI_COLLECT_COVERAGE_H

#include <stdint.h>

/* Describes the counters of an object by calling the three functions below. */
typedef void (*vt_coverage_writer)(void);

/*
 * An object of a module has counters. `module` is any address in that module, always the same. gcc hands over its own
 * description, clang a function that can be asked for one.
 */
void vt_coverage_add_gcc(const void *module, const void *description);
void vt_coverage_add_clang(const void *module, vt_coverage_writer writer);

/* All objects of the module are known; its counters lie between two multiples of a page. */
void vt_coverage_open(const void *module, void *start, void *end);

/* It is about to be unloaded, or the program ends. */
void vt_coverage_close(const void *module);

/* What a writer calls. */
void vt_coverage_file(const char *path, uint32_t version, uint32_t stamp);
void vt_coverage_function(uint32_t ident, uint32_t checksum);
void vt_coverage_counters(uint32_t count, const uint64_t *counters);

#endif
