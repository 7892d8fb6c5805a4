/*
 * accept.c - reads the header Accept: media ranges with parameters and weights.
 *
 * The header is a stranger's: every byte is looked at once, nothing is copied, and what makes no sense is passed over up to the next comma.
 */
#include "live/accept.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* A stretch of the header. */
struct span {
    const char *at;
    size_t len;
};

/* How well a range fits one format, the closest one so far. */
struct fit {
    int closeness; /* 0: none does; 1: any type; 2: any of this kind; 3: by name; 4: by name and version */
    int weight; /* thousandths */
};

static struct span trim(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct span){at, (size_t)(end - at)};
}

static bool is_word(struct span span, const char *word)
{
    return span.len == strlen(word) && strncasecmp(span.at, word, span.len) == 0;
}

/* The next piece up to `mark` outside of quotes; *at goes behind it. False when nothing is left. */
static bool next_piece(const char **at, const char *end, char mark, struct span *piece)
{
    const char *from = *at;
    bool is_quoted = false;

    if (from >= end)
        return false;
    while (*at < end && (is_quoted || **at != mark)) {
        if (**at == '"')
            is_quoted = !is_quoted;
        else if (is_quoted && **at == '\\' && *at + 1 < end)
            ++*at;
        ++*at;
    }
    *piece = trim(from, *at);
    if (*at < end)
        ++*at;
    return true;
}

/* "0.75" in thousandths; what is no weight counts as 0, so that it chooses nothing. */
static int read_weight(struct span text)
{
    int weight = 0, scale = 1000;

    if (!text.len || (text.at[0] != '0' && text.at[0] != '1') || text.len > 5 ||
        (text.len > 1 && text.at[1] != '.'))
        return 0;
    weight = (text.at[0] - '0') * scale;
    for (size_t i = 2; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return 0;
        scale /= 10;
        weight += (text.at[i] - '0') * scale;
    }
    return weight > 1000 ? 0 : weight;
}

static struct span unquote(struct span span)
{
    if (span.len >= 2 && span.at[0] == '"' && span.at[span.len - 1] == '"')
        return (struct span){span.at + 1, span.len - 2};
    return span;
}

static void take_fit(struct fit *fit, int closeness, int weight)
{
    if (closeness > fit->closeness || (closeness == fit->closeness && weight > fit->weight))
        *fit = (struct fit){closeness, weight};
}

/* One range: "text/plain; version=0.0.4; q=0.5". */
static void take_range(struct span range, struct fit *text, struct fit *open)
{
    const char *at = range.at, *end = range.at + range.len;
    struct span type, parameter, version = {0};
    int weight = 1000;

    if (!next_piece(&at, end, ';', &type))
        return;
    while (next_piece(&at, end, ';', &parameter)) {
        const char *equals = memchr(parameter.at, '=', parameter.len);
        struct span name, value;

        if (!equals)
            continue;
        name = trim(parameter.at, equals);
        value = unquote(trim(equals + 1, parameter.at + parameter.len));
        if (is_word(name, "q"))
            weight = read_weight(value);
        else if (is_word(name, "version"))
            version = value;
    }
    if (is_word(type, "*/*")) {
        take_fit(text, 1, weight);
    } else if (is_word(type, "text/*")) {
        take_fit(text, 2, weight);
    } else if (is_word(type, "text/plain") && (!version.len || is_word(version, "0.0.4"))) {
        take_fit(text, version.len ? 4 : 3, weight);
    } else if (is_word(type, "application/openmetrics-text") &&
               (!version.len || is_word(version, "1.0.0"))) {
        take_fit(open, version.len ? 4 : 3, weight);
    }
}

enum vti_exposition vti_accept_choose(const char *accept)
{
    const char *end = accept ? accept + strlen(accept) : NULL;
    struct fit text = {0}, open = {0};
    struct span range;

    while (accept && next_piece(&accept, end, ',', &range))
        take_range(range, &text, &open);
    return open.weight && open.weight >= text.weight ? VTI_EXPOSITION_OPENMETRICS
                                                     : VTI_EXPOSITION_TEXT;
}
