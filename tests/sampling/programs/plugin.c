/* plugin.c - for modules.c; PADDING moves the code, INNER is what does the work. */
#include "busy.h"

void work(void);

APART static void INNER(void)
{
    BUSY(10000000);
}

void work(void)
{
#if PADDING
    BUSY(10);
    BUSY(20);
    BUSY(30);
#endif
    INNER();
    sink++;
}
