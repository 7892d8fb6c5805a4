/* json_check.c - JSON to the letter of RFC 8259, in one pass, without recursion and without memory. */
#include "base/json_check.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define DEPTH_MOST 256

struct check {
    const char *at;
    const char *end;
    uint8_t kinds[DEPTH_MOST]; /* of what is open: '}' or ']', what it will be closed by */
    size_t depth;
};

/* A line's end is blank in JSON, too, and is none here. */
static char peek(struct check *check)
{
    while (check->at < check->end && (*check->at == ' ' || *check->at == '\t'))
        check->at++;
    return check->at < check->end ? *check->at : 0;
}

static bool take(struct check *check, char character)
{
    if (peek(check) != character || !character)
        return false;
    check->at++;
    return true;
}

static bool is_digit(const struct check *check)
{
    return check->at < check->end && *check->at >= '0' && *check->at <= '9';
}

static bool take_digits(struct check *check)
{
    const char *start = check->at;

    while (is_digit(check))
        check->at++;
    return check->at > start;
}

static bool take_number(struct check *check)
{
    if (*check->at == '-')
        check->at++;
    if (check->at < check->end && *check->at == '0')
        check->at++;
    else if (!take_digits(check))
        return false;
    if (check->at < check->end && *check->at == '.') {
        check->at++;
        if (!take_digits(check))
            return false;
    }
    if (check->at < check->end && (*check->at == 'e' || *check->at == 'E')) {
        check->at++;
        if (check->at < check->end && (*check->at == '+' || *check->at == '-'))
            check->at++;
        return take_digits(check);
    }
    return true;
}

static bool take_escape(struct check *check)
{
    if (check->at == check->end)
        return false;
    if (*check->at++ != 'u')
        return memchr("\"\\/bfnrt", check->at[-1], 8) != NULL;
    for (int i = 0; i < 4; i++, check->at++)
        if (check->at == check->end || !*check->at ||
            !memchr("0123456789abcdefABCDEF", *check->at, 22))
            return false;
    return true;
}

static bool take_string(struct check *check)
{
    if (!take(check, '"'))
        return false;
    while (check->at < check->end && *check->at != '"') {
        char c = *check->at++;

        if ((unsigned char)c < 0x20 || (c == '\\' && !take_escape(check)))
            return false;
    }
    return check->at++ < check->end;
}

static bool take_word(struct check *check, const char *word)
{
    size_t len = strlen(word);

    if ((size_t)(check->end - check->at) < len || memcmp(check->at, word, len))
        return false;
    check->at += len;
    return true;
}

static bool push(struct check *check, char closing)
{
    check->at++;
    if (check->depth == DEPTH_MOST)
        return false;
    check->kinds[check->depth++] = (uint8_t)closing;
    return true;
}

/* A value, or how one begins that has others in it: then *is_open. */
static bool take_value(struct check *check, bool *is_open)
{
    char next = peek(check);

    *is_open = next == '{' || next == '[';
    switch (next) {
    case '{':
        return push(check, '}');
    case '[':
        return push(check, ']');
    case '"':
        return take_string(check);
    case 't':
        return take_word(check, "true");
    case 'f':
        return take_word(check, "false");
    case 'n':
        return take_word(check, "null");
    default:
        return (next == '-' || (next >= '0' && next <= '9')) && take_number(check);
    }
}

static char closing(const struct check *check)
{
    return (char)check->kinds[check->depth - 1];
}

/* What the text itself is in is never closed. */
static bool take_closing(struct check *check)
{
    if (check->depth == 1 || !take(check, closing(check)))
        return false;
    check->depth--;
    return true;
}

bool vti_json_are_members(const char *text, size_t len)
{
    struct check check = {.at = text, .end = text + len, .kinds = {'}'}, .depth = 1};
    bool is_open = true; /* nothing stands before this in what is open */

    if (vti_utf8_good(text, len) != len)
        return false;
    if (!peek(&check))
        return check.at == check.end;
    for (;;) {
        if (!is_open || !take_closing(&check)) {
            if (closing(&check) == '}' && (!take_string(&check) || !take(&check, ':')))
                return false;
            if (!take_value(&check, &is_open))
                return false;
            if (is_open)
                continue;
        }
        is_open = false;
        while (take_closing(&check))
            continue;
        if (!peek(&check))
            return check.at == check.end && check.depth == 1;
        if (!take(&check, ','))
            return false;
    }
}
