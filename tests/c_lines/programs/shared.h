/* Functions in a header, in two objects. */
static inline int shared_square(int x)
{
    int y = x;
    if (x < 0)
        y = -x;
    return y * y;
}

static inline __attribute__((always_inline)) int shared_always(int x)
{
    x += 3;
    if (x > 10)
        x -= 10;
    return x;
}
