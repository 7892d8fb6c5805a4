// throws.cpp - exceptions through functions with and without something to clean up; templates, methods, lambdas.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#define KEEP __attribute__((noinline))

namespace shop
{

struct Guard {
    int *count;
    KEEP explicit Guard(int *counter) : count(counter)
    {
        ++*count;
    }
    KEEP ~Guard()
    {
        --*count;
    }
};

class Till
{
  public:
    KEEP int take(int coins);
    template <class Number> KEEP Number round(Number value)
    {
        return value + 1;
    }
    virtual ~Till() = default;
    KEEP virtual int worth() const
    {
        return 3;
    }

  private:
    int open = 0;
};

KEEP int fail(int depth)
{
    if (depth == 0)
        throw std::runtime_error("empty");
    return fail(depth - 1) + 1;
}

int Till::take(int coins)
{
    Guard guard(&open);

    return coins % 2 ? fail(3) : coins;
}

} // namespace shop

KEEP static int attempt(shop::Till &till, int i)
{
    try {
        return till.take(i);
    } catch (const std::exception &) {
        return till.worth();
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
    shop::Till till;
    long total = 0;
    auto add = [&total](int value) KEEP { total += value; };

    for (int i = 0; i < rounds; i++) {
        total += attempt(till, i);
        total += till.round(i) + (long)till.round(i * 1.0);
        add(i);
    }
    std::printf("{\"total\": %ld}\n", total);
    return 0;
}
