// names.cpp - functions that only their classes, template arguments and places tell apart; something to do before main().
#include <string>

#define KEEP __attribute__((noinline))

namespace shop
{

template <class Coin> struct Till {
    Coin sum{};
    KEEP void take(const Coin &coin)
    {
        sum += coin;
    }
};

struct Purse {
    int coins;
    KEEP explicit operator bool() const
    {
        return coins > 0;
    }
    KEEP Purse operator<<(int more) const
    {
        return {coins + more};
    }
    KEEP int operator()(int many) const
    {
        return coins * many;
    }
};

namespace
{
template <class Any> KEEP Any same(Any any)
{
    return any;
}
} // namespace

} // namespace shop

KEEP static int before_main()
{
    return 3;
}

int ready = before_main();

int main()
{
    shop::Till<double> numbers;
    shop::Till<std::string> names;
    shop::Purse purse{ready};
    auto first = [&](int many) __attribute__((noinline)) { return many + purse.coins; };
    auto second = [&](int many) __attribute__((noinline)) { return many * 2 + purse.coins; };

    for (int i = 0; i < 3; i++)
        numbers.take(i);
    names.take("penny");
    return (purse << 2) && purse(first(1)) + second(2) + shop::same(1) == 0 ? 1 : 0;
}
