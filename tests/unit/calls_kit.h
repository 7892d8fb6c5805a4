/* calls_kit.h - functions and trees of their calls in a small recording, for tests of what reads them. */
#ifndef VENTURI_TESTS_CALLS_KIT_H
#define VENTURI_TESTS_CALLS_KIT_H

#include "analyze/calls.h"
#include "format/calls.h"
#include "recording_kit.h"

extern const struct vti_calls_options kit_all_calls;

/* One process with the tracks 0 (main) and 1 (other). */
void kit_calls_start(struct kit *kit, uint32_t ticks_per_ns);
void kit_function(struct kit *kit, uint32_t site, const char *name, uint32_t line,
                  const char *language);
void kit_calls(struct kit *kit, uint32_t track, const struct vti_call_fact *facts, uint32_t count);

/* All of a recording that was closed; the caller frees them. */
void kit_calls_load(struct kit *kit, const struct vti_calls_options *options,
                    struct vti_calls *calls);

#endif
