/* marshal_impl.h - what marshal.c and marshal_code.c share. Private to these two. */
#ifndef VENTURI_ANALYZE_MARSHAL_IMPL_H
#define VENTURI_ANALYZE_MARSHAL_IMPL_H

#include "analyze/marshal.h"
#include "base/bytes.h"

struct vti_marshal_reading {
    struct vti_marshal *marshal;
    struct vti_reader in;
    const uint8_t *start;
    const char *name; /* of the file, for messages */
};

/* The index of the value that begins at `in`, or a negative code. */
int64_t vti_marshal_value(struct vti_marshal_reading *reading, unsigned depth);

/* The same for the rest of a code object: what stands for it is the text of its name. */
int64_t vti_marshal_code(struct vti_marshal_reading *reading, unsigned depth);

/* Sets the message and returns VTI_E_DAMAGED. */
int vti_marshal_refuse(const struct vti_marshal_reading *reading, const char *what);

#endif
