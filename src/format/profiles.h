/* profiles.h - entries of PROFILE blocks: the rows of a function table that was imported. */
#ifndef VENTURI_FORMAT_PROFILES_H
#define VENTURI_FORMAT_PROFILES_H

#include "base/buf.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum { VTI_PROFILE_COUNT_ONLY = 1 }; /* a flag of a caller: it has no times */

/* Of a function, or of the calls that one caller made of it. */
struct vti_profile_fact {
    uint32_t site; /* of the function; of the caller */
    uint32_t flags;
    uint64_t calls;
    uint64_t primitive;
    double self_s;
    double total_s;
};

/* A row is followed by the number of its callers and by these. */
void vti_profile_write(struct vti_buf *out, const struct vti_profile_fact *fact);
bool vti_profile_read(struct vti_reader *in, struct vti_profile_fact *fact);

#endif
