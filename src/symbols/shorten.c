/*
 * shorten.c - C++ names as a table shows them: which function it is, not its whole signature.
 *
 * Works on what the demangler wrote, which may be cut off anywhere: brackets need not fit.
 */
#include "symbols/shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST 96 /* bytes; of longer names template arguments are left out, the inner ones first */
#define ROOM 1024

struct text {
    char bytes[ROOM];
    size_t len;
};

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static void put(struct text *to, const char *from, size_t len)
{
    if (len > sizeof to->bytes - 1 - to->len)
        len = sizeof to->bytes - 1 - to->len;
    memcpy(to->bytes + to->len, from, len);
    to->len += len;
    to->bytes[to->len] = 0;
}

static size_t in_parentheses(const char *from)
{
    size_t at = 0;
    int depth = 0;

    do {
        depth += (from[at] == '(') - (from[at] == ')');
        at++;
    } while (depth > 0 && from[at]);
    return at;
}

/* The length of what stands in brackets, with them; of whatever kind they are. In parentheses "<" may compare. */
static size_t bracketed(const char *from)
{
    size_t at = 0;
    int depth = 0;

    do {
        if (from[at] == '(') {
            at += in_parentheses(from + at);
            continue;
        }
        depth += strchr("<{[", from[at]) != NULL;
        depth -= strchr(">}]", from[at]) != NULL;
        at += from[at] == '-' && from[at + 1] == '>' ? 2 : 1;
    } while (depth > 0 && from[at]);
    return at;
}

/* Namespaces and marks that stand for a version of the library. */
static void drop_versions(struct text *to, const char *from)
{
    static const char *const parts[] = {"__cxx11::", "__1::", "[abi:cxx11]"};

    while (*from) {
        size_t len = 0;

        for (unsigned i = 0; i < sizeof parts / sizeof *parts && !len; i++)
            len = starts(from, parts[i]) ? strlen(parts[i]) : 0;
        if (!len)
            put(to, from, 1);
        from += len ? len : 1;
    }
}

/* The length of ", std::allocator<…> ". */
static size_t allocator_length(const char *from)
{
    const size_t name = 16;
    size_t len;

    if (!starts(from, ", std::allocator<"))
        return 0;
    len = name + bracketed(from + name);
    return len + (from[len] == ' ');
}

/* The whole, with less in its template arguments. */
static void drop_defaults(struct text *to, const char *from)
{
    static const char string[] = "basic_string<char, std::char_traits<char>";

    while (*from) {
        size_t len = allocator_length(from);

        if (!len && starts(from, string)) {
            len = strlen(string);
            len += allocator_length(from + len);
            len += from[len] == '>';
            put(to, "string", 6);
        } else if (!len) {
            len = 1;
            put(to, from, starts(from, " >") ? 0 : len); /* as it was written before C++11 */
        }
        from += len;
    }
}

/* "operator" and what it is one of: its brackets are none. */
static size_t operator_length(const char *from)
{
    size_t len = 8;

    if (!starts(from, "operator") || isalnum((unsigned char)from[8]) || from[8] == '_')
        return 0;
    if (starts(from + len, "()"))
        return len + 2;
    while (from[len] && strchr("<>=!+-*/%^&|~,[]", from[len]))
        len++;
    return len;
}

/* How long the parameters of a function are, with what may stand behind them. */
static size_t parameters(const char *from)
{
    static const char *const behind[] = {" const", " volatile", " &&", " &", " noexcept"};
    size_t at = bracketed(from);

    for (unsigned i = 0; i < sizeof behind / sizeof *behind; i++)
        if (starts(from + at, behind[i]))
            at += strlen(behind[i]);
    return at;
}

static bool is_word(const struct text *text)
{
    char last = text->len ? text->bytes[text->len - 1] : ' ';

    return isalnum((unsigned char)last) || last == '_';
}

/* Only the name, with those of the functions that it is in. */
static void keep_name(struct text *to, const char *from)
{
    bool is_operator = false;
    size_t len;

    while (*from) {
        len = is_word(to) ? 0 : operator_length(from);
        if (len) {
            put(to, from, len);
            is_operator = true;
        } else if (!to->len && starts(from, "decltype (")) {
            len = 9 + bracketed(from + 9);
        } else if (*from == '(' && starts(from, "(anonymous namespace)")) {
            len = 21;
            put(to, from, len);
        } else if (*from == '(' && to->len >= 8 && starts(to->bytes + to->len - 8, "decltype")) {
            len = bracketed(from);
        } else if (*from == '(') {
            len = parameters(from);
            if (!starts(from + len, "::"))
                return;
            is_operator = false;
        } else if (strchr("<{[", *from)) {
            len = bracketed(from);
            put(to, from, len);
        } else {
            len = 1;
            put(to, from, len);
            if (*from == ' ' && !is_operator)
                to->bytes[to->len = 0] = 0; /* what was there was a type */
        }
        from += len;
    }
}

/* Calls of a lambda are the lambda. clang numbers them from 0 on. */
static void name_lambdas(struct text *to, const char *from)
{
    unsigned number;
    int len;

    while (*from) {
        if (starts(from, "$_") && sscanf(from, "$_%5u%n", &number, &len) == 1) {
            char name[32];

            snprintf(name, sizeof name, "{lambda#%u}", number + 1);
            put(to, name, strlen(name));
            from += len;
        } else if (to->len && to->bytes[to->len - 1] == '}' && !strcmp(from, "::operator()")) {
            return;
        } else {
            put(to, from++, 1);
        }
    }
}

/* Of template arguments that are nested as deep as that only dots. */
static void drop_arguments(struct text *to, const char *from, int deepest)
{
    int depth = 0;

    while (*from) {
        size_t len = operator_length(from);

        if (len) {
            put(to, from, len);
            from += len;
            continue;
        }
        if (*from == '<' && ++depth == deepest) {
            put(to, "<...>", 5);
            from += bracketed(from);
            depth--;
            continue;
        }
        depth -= *from == '>';
        put(to, from++, 1);
    }
}

void vti_shorten(const char *demangled, char *to, size_t room)
{
    struct text plain = {.len = 0}, whole = {.len = 0}, name = {.len = 0}, shown = {.len = 0};

    drop_versions(&plain, demangled);
    drop_defaults(&whole, plain.bytes);
    keep_name(&name, whole.bytes);
    name_lambdas(&shown, name.bytes);
    for (int depth = 2; shown.len > MOST && depth > 0; depth--) {
        name = shown;
        shown.len = 0;
        drop_arguments(&shown, name.bytes, depth);
    }
    snprintf(to, room, "%s", shown.bytes);
}
