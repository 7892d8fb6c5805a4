/* What a timer would see: lines that sleep, recursion, longjmp over timed functions, values in all kinds of registers. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static jmp_buf back;

static void rest(int ms)
{
    usleep(1000u * (unsigned)ms);
}

static void three_calls(void)
{
    rest(20);
    rest(40);
    /* clang-format off */
    rest(10); rest(10);
    /* clang-format on */
}

static int fib(int n)
{
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

static void leap(int depth)
{
    if (depth == 0)
        longjmp(back, 1);
    leap(depth - 1);
}

static double numbers(void)
{
    double a = 1, b = 2, c = 3, d = 0;
    long e = 1;
    float f[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    char text[64];

    for (int i = 0; i < 1000; i++) {
        a = a * 1.0001 + b;
        b = b * 0.9999 + c * (i & 3);
        c = c + 1 / (1 + a * a);
        for (int j = 0; j < 8; j++)
            f[j] = f[j] * 0.5f + (float)j;
        e = e * 31 + i;
        d += e & 1 ? a : -b;
    }
    memset(text, 'x', sizeof text);
    return a + b + c + d + f[3] + (double)(e & 0xffff) + text[63];
}

static void *on_thread(void *arg)
{
    three_calls();
    return arg;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, on_thread, NULL);
    three_calls();
    pthread_join(thread, NULL);
    if (setjmp(back) == 0)
        leap(5);
    rest(30);
    printf("%d %.17g\n", fib(12), numbers());
    return 0;
}
