/* head.h - the lines above the rows: what is watched, what the machine gives it, what watching costs. */
#ifndef VENTURI_TOP_HEAD_H
#define VENTURI_TOP_HEAD_H

#include "live/live.h"

#define VTI_TOP_HEAD_LINES 6
#define VTI_TOP_LINE 512

struct vti_top_head {
    char lines[VTI_TOP_HEAD_LINES][VTI_TOP_LINE]; /* harmless text */
    unsigned count;
    bool has_losses; /* the last line says so */
};

void vti_top_head_make(struct vti_top_head *head, struct vti_live *live);

#endif
