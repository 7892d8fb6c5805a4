/* check.h - looks at every block of a recording, so that its damage list is complete. */
#ifndef VENTURI_ANALYZE_CHECK_H
#define VENTURI_ANALYZE_CHECK_H

#include "venturi/read.h"

/* Reads checksums of all blocks of events, not their contents. 0 or a negative code. */
int vti_recording_check(vt_recording *recording);

#endif
