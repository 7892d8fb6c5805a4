// templates.cpp - trace points in C++: templates, exceptions, lambdas, values of every type.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <venturi/venturi.h>

template <typename T> T twice(T value)
{
    VT_SPAN("twice");
    VT_ATTR("value", value);
    return value + value;
}

static void fail()
{
    VT_SPAN("fail");
    VT_ERROR("runtime_error", "thrown");
    throw std::runtime_error("thrown");
}

int main()
{
    int caught = 0;

    VT_SPAN("main");
    twice(1);
    twice(2.5);
    twice(3ul);
    for (int i = 0; i < 10; i++) {
        try {
            fail();
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    [] { VT_SPAN("lambda"); }();
    VT_ATTR("text", std::string("from a string").c_str());
    VT_COUNTER("caught", "errors", caught);
    std::printf("{\"spans\": 15}\n");
    return 0;
}
