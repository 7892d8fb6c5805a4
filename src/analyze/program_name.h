/* program_name.h - what a recording is called where people read: the program, and which file of a run in several (docs/spool.md) it is. */
#ifndef VENTURI_ANALYZE_PROGRAM_NAME_H
#define VENTURI_ANALYZE_PROGRAM_NAME_H

#include "venturi/read.h"

#include <stdbool.h>
#include <stddef.h>

#define VTI_PROGRAM_NAME 256

/* The first process without its folder; of an interpreter the script that it runs. False: nobody has said a name. */
bool vti_program_name(const vt_recording *recording, char to[VTI_PROGRAM_NAME]);

/* Whether it is one file of a run that has, or may have, others, and its number as text: not if all of the run is in it. */
bool vti_spool_part(const vt_recording *recording, char *number, size_t room);

#endif
