/* mixed.c - for `venturi cc`: functions whose calls are recorded, around one that only samples can see. */
#include "busy.h"

#define UNSEEN __attribute__((no_instrument_function)) APART

UNSEEN static void unseen(void)
{
    BUSY(20000000);
}

APART static void shown(void)
{
    unseen();
    sink++;
}

APART static void alone(void)
{
    BUSY(20000000);
}

int main(void)
{
    for (int i = 0; i < 5; i++) {
        shown();
        alone();
    }
    return 0;
}
