/* Loops of all kinds, several statements and loops on one line, macros over lines, switch, goto. */
#include <stdio.h>

#define TWICE(x)                                                                                   \
    do {                                                                                           \
        (x) += 1;                                                                                  \
        (x) += 1;                                                                                  \
    } while (0)

static int kind(int n)
{
    switch (n % 5) {
    case 0:
        return 10;
    case 1:
    case 2:
        n++;
        break;
    case 3:
        n += 2; /* falls through */
    default:
        n += 3;
    }
    return n;
}

static int search(int n)
{
    int tries = 0;
again:
    tries++;
    if (tries < n)
        goto again;
    if (n > 3)
        goto out;
    tries = -tries;
out:
    return tries;
}

static int nested(int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            if (j == 3)
                continue;
            if (i == 7)
                break;
            sum += i * j;
        }
    while (sum > 100)
        sum -= 7;
    do {
        sum++;
    } while (sum % 10);
    return sum;
}

/* clang-format off */
static int on_one_line(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; while (s > 5) s /= 2; return s; }
/* clang-format on */

static int choose(int a, int b)
{
    int best = a > b ? a : b;

    return (a && b) || best > 3 ? best + (a < 0 ? 1 : 2) : 0;
}

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 23; i++)
        sum += kind(i);
    sum += search(2) + search(5);
    sum += nested(9);
    sum += on_one_line(30);
    for (int i = -2; i < 3; i++)
        sum += choose(i, 2 - i);
    TWICE(sum);
    printf("%d\n", sum);
    return 0;
}
