/* plugin.c - a library whose inner function has the name NAME. */
__attribute__((noinline)) int NAME(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

int entry(int x)
{
    return NAME(x) + NAME(x + 1);
}
