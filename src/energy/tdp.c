/*
 * tdp.c - watts of a processor by its name.
 *
 * Names are compared by their words, without marks and clock rates. The words of the table's name must all be there, and
 * what is left over must not tell one model from another ("v4" does, "8-Core Processor" does not); else the other way
 * round. Several that fit and differ are none: a guess would look like a fact.
 */
#include "energy/tables.h"

#include "base/number.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MOST 16
#define NAME_BYTES 160

extern const char vti_table_tdp[];

struct words {
    char text[NAME_BYTES]; /* lower case, each word ends with a zero */
    const char *at[WORDS_MOST];
    unsigned count;
};

static bool has_digit(const char *word)
{
    return word[strcspn(word, "0123456789")] != 0;
}

static bool ends_with(const char *word, const char *end)
{
    size_t len = strlen(word);
    size_t end_len = strlen(end);

    return len >= end_len && !strcmp(word + len - end_len, end);
}

/* Says nothing of the model. */
static bool is_noise(const char *word)
{
    return !has_digit(word) || ends_with(word, "ghz") || ends_with(word, "mhz") ||
           ends_with(word, "-core") || ends_with(word, "th");
}

/* "(R)", "(TM)" and brackets become spaces. */
static void split(struct words *words, const char *name, size_t len)
{
    static const char *const marks[] = {"(r)", "(tm)"};
    bool is_in_word = false;
    size_t out = 0;

    words->count = 0;
    for (size_t i = 0; i < len && out < NAME_BYTES - 2; i++) {
        char c = (char)tolower((unsigned char)name[i]);

        for (unsigned k = 0; k < 2 && c == '('; k++)
            if (len - i >= strlen(marks[k]) && !strncasecmp(name + i, marks[k], strlen(marks[k]))) {
                i += strlen(marks[k]) - 1;
                c = ' ';
            }
        if (c == '(' || c == ')' || c == ',' || c == '"' || c == '@')
            c = ' ';
        if (!isspace((unsigned char)c) && !is_in_word) {
            if (words->count == WORDS_MOST)
                break;
            words->at[words->count++] = words->text + out;
        }
        if (!isspace((unsigned char)c))
            words->text[out++] = c;
        else if (is_in_word)
            words->text[out++] = 0;
        is_in_word = !isspace((unsigned char)c);
    }
    words->text[out] = 0;
}

static bool has_word(const struct words *words, const char *word)
{
    for (unsigned i = 0; i < words->count; i++)
        if (!strcmp(words->at[i], word))
            return true;
    return false;
}

static bool names_model(const struct words *words)
{
    for (unsigned i = 0; i < words->count; i++)
        if (!is_noise(words->at[i]))
            return true;
    return false;
}

/* Whether all words of `a` are in `b`, or all that tell a model. */
static bool is_in(const struct words *a, const struct words *b, bool with_noise)
{
    for (unsigned i = 0; i < a->count; i++)
        if ((with_noise || !is_noise(a->at[i])) && !has_word(b, a->at[i]))
            return false;
    return true;
}

/* How well it fits, 0: not at all. With the more words of the table, the better. */
static unsigned fit(const struct words *cpu, const struct words *entry)
{
    bool is_model = names_model(cpu);

    if (is_model && names_model(entry) && is_in(entry, cpu, true) && is_in(cpu, entry, false))
        return 100 + entry->count + (cpu->count == entry->count ? 100 : 0);
    /* A model without its maker, or a maker without a model, which fits many. */
    return has_word(entry, cpu->at[0]) && is_in(cpu, entry, !is_model) ? 1 : 0;
}

/* A word that must be in the table's name, so that most of the table is not split. Of a name without a model every one must be: the
 * last is the rarest, its first is a maker that half of the table has. */
static const char *telling_word(const struct words *cpu)
{
    for (unsigned i = 0; i < cpu->count; i++)
        if (!is_noise(cpu->at[i]))
            return cpu->at[i];
    return cpu->at[cpu->count - 1];
}

static bool contains(const char *line, size_t len, const char *word)
{
    size_t word_len = strlen(word);

    for (size_t i = 0; i + word_len <= len; i++)
        if (tolower((unsigned char)line[i]) == word[0] && !strncasecmp(line + i, word, word_len))
            return true;
    return false;
}

enum vti_tdp vti_tdp_find(const char *name, double *watts, char *entry, size_t room)
{
    const char *line = vti_table_tdp;
    bool is_ambiguous = false;
    struct words words;
    struct words cpu;
    unsigned best = 0;

    split(&cpu, name, strlen(name));
    for (; *line && cpu.count; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        const char *comma = memrchr(line, ',', len);
        unsigned fits;
        double value;

        if (*line == '#' || !comma || !contains(line, len, telling_word(&cpu)))
            continue;
        value = vti_number_read(comma + 1, NULL);
        split(&words, line, (size_t)(comma - line));
        fits = value > 0 && words.count ? fit(&cpu, &words) : 0;
        if (fits < best || !fits)
            continue;
        is_ambiguous = fits == best && (is_ambiguous || value != *watts);
        best = fits;
        *watts = value;
        snprintf(entry, room, "%.*s", (int)(comma - line), line);
    }
    if (!best)
        return VTI_TDP_UNKNOWN;
    return is_ambiguous ? VTI_TDP_AMBIGUOUS : VTI_TDP_FOUND;
}
