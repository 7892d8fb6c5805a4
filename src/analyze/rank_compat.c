/*
 * rank_compat.c - one line of a log as Mistral's rank_profiled_methods.py sees it, mistakes
 * included.
 *
 * The script is Python: a line is text, words are what lies between Unicode white space, and
 * lengths are characters. It takes the second word for a duration if it has at most ten characters,
 * and the sixth without its last five for the name. Where it would end with an exception, so do we.
 * Two things are not repeated: digits that are not ASCII, and the place of a total that is not a
 * number.
 */
#include "analyze/rank_impl.h"

#include "base/error.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DURATION_MOST 10 /* characters */
#define NAME_WORD 5
#define SUFFIX 5

struct word {
    const uint8_t *at;
    size_t len;   /* bytes */
    size_t count; /* characters */
};

static int fail(const struct vti_rank *rank, const char *why)
{
    return vti_fail(VTI_E_DAMAGED, "line %llu %s, where the script fails",
                    (unsigned long long)rank->lines.read, why);
}

/* What str.split() splits at. */
static bool is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Splits the line; keeps the first words, returns how many there are, or -1 if it is not UTF-8. */
static int split(const char *text, size_t len, struct word words[NAME_WORD + 1])
{
    const uint8_t *at = (const uint8_t *)text;
    const uint8_t *end = at + len;
    bool is_inside = false;
    int count = 0;

    while (at < end) {
        uint32_t value;
        size_t bytes = vti_utf8_get(at, (size_t)(end - at), &value);

        if (!bytes)
            return -1;
        if (is_space(value)) {
            is_inside = false;
        } else {
            if (!is_inside && count++ <= NAME_WORD)
                words[count - 1] = (struct word){at, 0, 0};
            is_inside = true;
            if (count <= NAME_WORD + 1) {
                words[count - 1].len += bytes;
                words[count - 1].count++;
            }
        }
        at += bytes;
    }
    return count;
}

/* Copies the word without the underscores that Python allows between digits. */
static bool copy_number(char *to, const struct word *word)
{
    for (size_t i = 0; i < word->len; i++) {
        if (word->at[i] != '_')
            *to++ = (char)word->at[i];
        else if (i == 0 || i + 1 == word->len || !isdigit(word->at[i - 1]) ||
                 !isdigit(word->at[i + 1]))
            return false;
    }
    *to = 0;
    return true;
}

/* What float() accepts. */
static bool to_float(const struct word *word, double *value)
{
    char text[DURATION_MOST * 4 + 1];
    const char *at = text;
    char *end;

    if (!copy_number(text, word))
        return false;
    at += *at == '-' || *at == '+';
    if (strcasecmp(at, "inf") && strcasecmp(at, "infinity") && strcasecmp(at, "nan") &&
        at[strspn(at, "0123456789.eE+-")])
        return false;
    if (*at == '-' || *at == '+')
        return false;
    *value = strtod(text, &end);
    return end != text && !*end;
}

/* Python's word[0:len(word) - 5]: of a short word a negative index counts from its end. */
static size_t name_bytes(const struct word *word)
{
    size_t keep = word->count >= SUFFIX       ? word->count - SUFFIX
                  : 2 * word->count >= SUFFIX ? 2 * word->count - SUFFIX
                                              : 0;
    size_t bytes = 0;

    for (; keep; keep--)
        do
            bytes++;
        while (bytes < word->len && (word->at[bytes] & 0xc0) == 0x80);
    return bytes;
}

int vti_rank_compat_line(struct vti_rank *rank, const char *text, size_t len)
{
    struct word words[NAME_WORD + 1] = {{0}};
    int count = split(text, len, words);
    double duration;
    int64_t entry;

    if (count < 0)
        return fail(rank, "is not UTF-8");
    if (count < 2)
        return fail(rank, count ? "has only one word" : "is blank");
    if (words[1].count > DURATION_MOST) {
        rank->lines.starts++;
        return 0;
    }
    if (count <= NAME_WORD)
        return fail(rank, "has fewer than six words");
    if (!to_float(&words[1], &duration))
        return fail(rank, "has no number as its second word");
    entry = vti_rank_entry(rank, (const char *)words[NAME_WORD].at, name_bytes(&words[NAME_WORD]));
    if (entry < 0)
        return (int)entry;
    rank->lines.stops++;
    vti_rank_entry_add(&rank->entries[entry], duration);
    return 0;
}
