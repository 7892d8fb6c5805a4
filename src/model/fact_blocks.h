/* fact_blocks.h - the blocks of facts as they stand in the file, for what copies recordings. */
#ifndef VENTURI_MODEL_FACT_BLOCKS_H
#define VENTURI_MODEL_FACT_BLOCKS_H

#include "model/model.h"

/*
 * Calls `each` for every block of facts whose checksum is right, in file order. Stops when it
 * returns non-zero and returns that. Blocks of events, indexes, END and unknown kinds are left out.
 */
int vti_fact_blocks(const vt_recording *recording,
                    int (*each)(const struct vti_block_header *header, const uint8_t *payload,
                                void *arg),
                    void *arg);

/* The value of a META key, the last one if there are several; false if there is none. The bytes
 * lie in the mapping. */
bool vti_recording_meta(const vt_recording *recording, const char *key, struct vti_bytes *value);

/* The first tick of a clock domain whose time is not before `ns`. */
uint64_t vti_clock_tick_at(struct vti_clock *clock, int64_t ns);

#endif
