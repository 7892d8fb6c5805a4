/* losses.h - adding up losses; for overview.c. */
#ifndef VENTURI_ANALYZE_LOSSES_H
#define VENTURI_ANALYZE_LOSSES_H

#include "analyze/overview.h"
#include "model/model.h"

int vti_losses_add(struct vti_losses *losses, const struct vt_loss_info *loss);

/* One that stands between the events of a track. */
int vti_losses_add_event(struct vti_losses *losses, const struct vti_track *track,
                         struct vti_clock *clock, const struct vti_event *event);

/* All that are stated in blocks of their own. */
int vti_losses_add_stated(struct vti_losses *losses, const vt_recording *recording);

#endif
