/* Functions whose names debug info and linkers tell apart in their own ways, each with time of its own. */
#include <ctime>
#include <vector>

static double cpu()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

static unsigned long burn(double s)
{
    double since = cpu();
    unsigned long x = 1;
    while (cpu() - since < s)
        for (int i = 0; i < 20000; i++)
            x = x * 6364136223846793005ul + 1;
    return x;
}

namespace {
unsigned long hidden(double s)
{
    return burn(s); // hidden
}
}

namespace ns {
unsigned long named(double s)
{
    return hidden(s); // named
}
}

template <class T> static unsigned long shaped(T s)
{
    return burn(s); // shaped
}

int main()
{
    std::vector<double> all(1, 0.05);
    auto lambda = [](double s) {
        return ns::named(s); // lambda
    };
    return (lambda(all[0]) + shaped(0.05) + shaped(0.05f)) == 0;
}
