/* make_recording.h - between the files of make_recording. */
#ifndef VENTURI_TESTS_MAKE_RECORDING_H
#define VENTURI_TESTS_MAKE_RECORDING_H

#include "base/buf.h"
#include "format/facts.h"
#include "format/write.h"

#include <stdint.h>

extern struct vti_writer *writer;
extern struct vti_buf payload; /* of the block that is being made; empty between two */

void check(int code); /* ends with a message if it is negative */
struct vti_bytes text(const char *string);
uint64_t ticks_at(uint64_t us); /* since the start */

void add_steps(void);

#endif
