/* known.c - functions with call counts that are known: loops, recursion, pointers, static and inline ones. */
#include <stdio.h>
#include <stdlib.h>

static int twice(int x)
{
    return 2 * x;
}

static inline int thrice(int x)
{
    return twice(x) + x;
}

__attribute__((noinline)) int leaf(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int is_odd(int n);

int is_even(int n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}

int is_odd(int n)
{
    return n == 0 ? 0 : is_even(n - 1);
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int sum(int count)
{
    int total = 0;

    for (int i = 0; i < count; i++)
        total += leaf(i) + thrice(i);
    return total;
}

int never(void)
{
    return 0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;
    int numbers[64];
    int (*pointer)(int) = leaf;
    int total = 0;

    for (int i = 0; i < 64; i++)
        numbers[i] = (i * 37) % 64;
    qsort(numbers, 64, sizeof *numbers, by_number);
    total += sum(rounds) + fib(15) + is_even(99);
    for (int i = 0; i < rounds; i++)
        total += pointer(i);
    if (total == 1)
        total += never();
    printf("{\"total\": %d}\n", total);
    return 0;
}
