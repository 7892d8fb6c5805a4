#include "shared.h"

int other(int n);

int other(int n)
{
    int sum = 0;

    while (n--)
        sum += shared_square(n) + shared_always(n);
    return sum;
}
