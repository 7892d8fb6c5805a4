/* flame.h - what `venturi flame` shows; between its two ways of showing it. */
#ifndef VENTURI_CLI_FLAME_H
#define VENTURI_CLI_FLAME_H

#include "analyze/flame.h"

struct vti_flame_view {
    const vt_recording *recording; /* borrowed, as all */
    const struct vti_calls *calls;
    const struct vti_flame *flame;
    const struct vti_flame_options *options;
    const char *thread; /* the only one, or NULL */
    bool is_spans;      /* frames are spans, not calls */
    size_t width;       /* columns */
};

/* As rows of frames on standard output, the roots on top. 0 or a negative code. */
int vti_flame_draw(const struct vti_flame_view *view);

/* The same frames as JSON. */
int vti_flame_json(const struct vti_flame_view *view);

/* How a frame is called: "Step.execute", of C++ without parameters, of a thread its name, or its number in `to`. */
#define VTI_THREAD_BYTES 32
const char *vti_flame_name(char to[VTI_THREAD_BYTES], const struct vti_flame_view *view,
                           const struct vti_flame_frame *frame);

#endif
