/* base64.h - base64 on its way to a sink, in one line. */
#ifndef VENTURI_PAGE_BASE64_H
#define VENTURI_PAGE_BASE64_H

#include "export/export.h"

#define VTI_BASE64_PIECE 49152 /* a multiple of 3 */

/* A zeroed one with `to` set is ready. */
struct vti_base64 {
    const struct vti_sink *to; /* borrowed */
    uint8_t left[3];           /* bytes that make no whole group yet */
    size_t left_count;
    char text[VTI_BASE64_PIECE / 3 * 4];
};

/* What a sink calls; `arg` is a struct vti_base64. 0 or a negative code. */
int vti_base64_write(void *arg, const void *bytes, size_t count);

/* The last group, padded. Ready for the next text afterwards. */
int vti_base64_finish(struct vti_base64 *base64);

#endif
