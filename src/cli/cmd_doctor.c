#include "cli/cmd.h"
static int run(int a, char **b){(void)a;(void)b;return 0;}
const struct vti_command vti_cmd_doctor = {.name="doctor",.summary="x",.usage="",.run=run};
