/* lines_calibrate.h - what one event of a line costs: measured in the program itself. */
#ifndef VENTURI_PY_LINES_CALIBRATE_H
#define VENTURI_PY_LINES_CALIBRATE_H

/* Once, when the hook for lines has been switched on; some hundred us. 0, or -1 with an exception. */
int vti_py_lines_calibrate(void);

#endif
