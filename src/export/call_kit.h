/* call_kit.h - what the exporters of function profiles have in common. */
#ifndef VENTURI_EXPORT_CALL_KIT_H
#define VENTURI_EXPORT_CALL_KIT_H

#include "analyze/calls.h"
#include "analyze/profile.h"
#include "export/export.h"

/* Formats that write out whole stacks show so many frames of them; what is deeper counts for the last. */
#define VTI_STACK_FRAMES 1024

/* Calls of all tracks, each with its own tree; VTI_E_EMPTY if there are none. Free them after 0. */
int vti_export_calls(struct vti_calls *calls, vt_recording *recording);

/* The table of all tracks together; VTI_E_EMPTY if there is none. */
int vti_export_profile(struct vti_profile *profile, vt_recording *recording);

/* "Step.execute", and "Step.execute (step.py:12)"; UTF-8 in one line, in which `without` (0: none)
 * becomes a colon. Twins have a number behind the name. */
void vti_export_name(struct vti_buf *out, const struct vti_function *function, char without);
void vti_export_label(struct vti_buf *out, const struct vti_function *function, char without);

/* The name of the track of a call, or "all". */
const char *vti_export_track(const vt_recording *recording, const struct vti_call *call);

/* A text that is UTF-8 in one line. */
void vti_export_line(struct vti_buf *out, const char *text, char without);

#endif
