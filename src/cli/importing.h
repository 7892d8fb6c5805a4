/* importing.h - files of other tools where a recording is wanted: made one of, for as long as the command runs. */
#ifndef VENTURI_CLI_IMPORTING_H
#define VENTURI_CLI_IMPORTING_H

#include "venturi/read.h"

/* Opens `path`: a recording, or a file that commands take as it is (a trace log), of which one is made that nobody else sees. What could not be
 * taken of it is a warning on stderr. 0 or a negative code. */
int vti_importing_open(const char *command, const char *path, vt_recording **recording);

#endif
