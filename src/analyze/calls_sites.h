/* calls_sites.h - which function a site of a recording stands for. */
#ifndef VENTURI_ANALYZE_CALLS_SITES_H
#define VENTURI_ANALYZE_CALLS_SITES_H

#include "analyze/calls.h"
#include "model/model.h"

/* A zeroed one with `calls` and `recording` set is ready. */
struct vti_call_sites {
    struct vti_calls *calls; /* borrowed, as the recording is */
    const vt_recording *recording;
    bool takes_spans;   /* sites of spans are functions too, of language "span" */
    struct vti_ids met; /* by site, … */
    int64_t *functions; /* … these; owned */
    size_t room;
};

/* The index of the function, VTI_E_NOT_FOUND if the site is none (no message), VTI_E_NOMEM. */
int64_t vti_call_sites_find(struct vti_call_sites *sites, uint32_t site);
void vti_call_sites_fini(struct vti_call_sites *sites);

#endif
