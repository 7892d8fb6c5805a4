/* suggest.c - finds what somebody may have meant to type. */
#include "cli/frame.h"

#include <string.h>

#define WORD_MOST 32

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours that turn one word into the other. */
static unsigned count_mistakes(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned rows[3][WORD_MOST + 1]; /* of the table of prefixes: the current one and two before */

    for (unsigned j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *before = rows[(i + 2) % 3];
        const unsigned *two_before = rows[(i + 1) % 3];

        row[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            row[j] = least(least(row[j - 1], before[j]) + 1,
                           before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_before[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

void vti_suggest(const char *candidate, const char *word, size_t len, const char **best,
                 unsigned *distance)
{
    size_t candidate_len = strlen(candidate);
    unsigned mistakes;

    if (len < 2 || len > WORD_MOST || candidate_len > WORD_MOST)
        return;
    if (candidate_len > len && !memcmp(candidate, word, len))
        mistakes = 1; /* it was begun */
    else
        mistakes = count_mistakes(candidate, candidate_len, word, len);
    if (mistakes < *distance && mistakes <= (len + 1) / 3) {
        *best = candidate;
        *distance = mistakes;
    }
}
