/* test_shorten.c - C++ names as tables show them, also of names that were cut off anywhere. */
#include "symbols/shorten.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static const struct {
    const char *name, *shown;
} names[] = {
    {"main", "main"},
    {"shop::Till<double>::take(double)", "shop::Till<double>::take"},
    {"shop::Till<" STRING " >::~Till()", "shop::Till<std::string>::~Till"},
    {"std::vector<int, std::allocator<int> >::size() const", "std::vector<int>::size"},
    {"double shop::round<double>(double)", "shop::round<double>"},
    {"std::enable_if<(A < B), int>::type f<int>(int)", "f<int>"},
    {"decltype (x.y(1)) g<int>(int)", "g<int>"},
    {"(anonymous namespace)::f(int (*)(char))", "(anonymous namespace)::f"},
    {"A::operator()(int) const", "A::operator()"},
    {"A::operator->()", "A::operator->"},
    {"bool operator< <int>(A<int> const&, A<int> const&)", "operator< <int>"},
    {"A::operator std::string() const", "A::operator std::string"},
    {"operator new(unsigned long)", "operator new"},
    {"my_operator(int)", "my_operator"},
    {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}"},
    {"f(int) const::{lambda()#2}::operator()() const", "f::{lambda()#2}"},
    {"main::$_0::operator()(int) const", "main::{lambda#1}"},
};

static void test_names(void **state)
{
    char shown[256];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vti_shorten(names[i].name, shown, sizeof shown);
        assert_string_equal(shown, names[i].shown);
    }
}

static void test_long_names_lose_their_arguments(void **state)
{
    char shown[256];

    (void)state;
    vti_shorten(
        "a::b<c<dddddddddddddddddddddddddddddddddddddddd, eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee>, "
        "fffffffffffffffffffffffff>::g(int)",
        shown, sizeof shown);
    assert_string_equal(shown, "a::b<c<...>, fffffffffffffffffffffffff>::g");
}

static void test_cut_off_anywhere(void **state)
{
    char part[512], shown[64];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t from = 0; from < strlen(names[i].name); from++)
            for (size_t len = 0; from + len <= strlen(names[i].name); len++) {
                memcpy(part, names[i].name + from, len);
                part[len] = 0;
                vti_shorten(part, shown, sizeof shown);
                assert_true(strlen(shown) <= len + 16); /* "{lambda#1}" takes more room */
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_long_names_lose_their_arguments),
        cmocka_unit_test(test_cut_off_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
