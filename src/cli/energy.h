/* energy.h - what the files of `venturi energy` share: what was gathered, and what of it is asked for. */
#ifndef VENTURI_CLI_ENERGY_H
#define VENTURI_CLI_ENERGY_H

#include "analyze/energy.h"

struct vti_energy_view {
    const struct vti_energy *energy; /* borrowed */
    struct vti_footing footing;      /* as stated now, else when it was recorded */
    const char *file;                /* NULL: a summary, of which there is more elsewhere */
    enum vti_energy_by by;
    size_t limit; /* rows */
};

/* "12.3 J", "4.56 kJ", "-" for what is not known. */
#define VTI_JOULES_BYTES 32
const char *vti_text_joules(char to[VTI_JOULES_BYTES], double joules);

/* What was used and where that is from; a table of what used it. 0 or a negative code. */
int vti_energy_print_sums(const struct vti_energy_view *view);
int vti_energy_print_items(const struct vti_energy_view *view);
int vti_energy_print_table(const struct vti_energy_view *view);
int vti_energy_print_rule(
    const struct vti_energy_view *view); /* by which joules of the table are shared out */
int vti_energy_print_json(const struct vti_energy_view *view);

/* A text as long as it may be, in lines that fit, after a few letters. 0 or a negative code. */
int vti_energy_print_prose(const char *before, const char *text);

#endif
