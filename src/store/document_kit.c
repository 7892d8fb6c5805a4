/* document_kit.c - what makers of documents share: ids, times as text, names of indices, details. */
#include "store/documents_traces.h"

#include "base/bytes.h"
#include "base/utf8.h"

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wctype.h>

#define DAY_NS (INT64_C(86400) * 1000000000)
#define NAME_MOST 255 /* bytes of an index name, as Elasticsearch has it */
#define CAPITAL_DOTTED_I 0x130u
#define COMBINING_DOT 0x307u
#define CAPITAL_SIGMA 0x3a3u
#define FINAL_SIGMA 0x3c2u

/* ---- ids ------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return x;
}

void vti_document_id(uint8_t id[VTI_UUID], const uint8_t recording[VTI_UUID], uint64_t a,
                     uint64_t b, uint64_t c)
{
    uint64_t high = vti_get_u64(recording);
    uint64_t low = vti_get_u64(recording + 8);
    const uint64_t numbers[] = {a, b, c};

    /* Each step is a bijection of both halves for a given number, so different last numbers never meet. */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        high = mix(high ^ numbers[i]) + low;
        low = mix(low + UINT64_C(0x9e3779b97f4a7c15) * (i + 1)) ^ high;
    }
    vti_put_u64(id, mix(high));
    vti_put_u64(id + 8, mix(low));
}

/* ---- times ----------------------------------------------------------------------------------- */

static void put_digits(char *to, unsigned value, unsigned digits)
{
    while (digits--) {
        to[digits] = (char)('0' + value % 10);
        value /= 10;
    }
}

/* Year, month and day of a number of days since 1970, by the civil calendar. */
static void split_day(int64_t day, unsigned *year, unsigned *month, unsigned *of_month)
{
    struct tm tm;
    time_t seconds = (time_t)(day * 86400);

    gmtime_r(&seconds, &tm);
    *year = (unsigned)(tm.tm_year + 1900);
    *month = (unsigned)(tm.tm_mon + 1);
    *of_month = (unsigned)tm.tm_mday;
}

static int64_t day_of(int64_t time_ns, int64_t *rest_ns)
{
    int64_t day = time_ns / DAY_NS;

    *rest_ns = time_ns % DAY_NS;
    if (*rest_ns < 0) {
        *rest_ns += DAY_NS;
        day--;
    }
    return day;
}

size_t vti_time_text(char to[VTI_TIME_TEXT], int64_t time_ns)
{
    static _Thread_local int64_t known_day = INT64_MIN;
    static _Thread_local char known_text[11];
    int64_t rest;
    int64_t day = day_of(time_ns, &rest);
    unsigned seconds = (unsigned)(rest / 1000000000);
    size_t len = 29;

    if (day != known_day) {
        unsigned year, month, of_month;

        split_day(day, &year, &month, &of_month);
        put_digits(known_text, year, 4);
        known_text[4] = '-';
        put_digits(known_text + 5, month, 2);
        known_text[7] = '-';
        put_digits(known_text + 8, of_month, 2);
        known_text[10] = 'T';
        known_day = day;
    }
    memcpy(to, known_text, 11);
    put_digits(to + 11, seconds / 3600, 2);
    to[13] = ':';
    put_digits(to + 14, seconds / 60 % 60, 2);
    to[16] = ':';
    put_digits(to + 17, seconds % 60, 2);
    to[19] = '.';
    put_digits(to + 20, (unsigned)(rest % 1000000000), 9);
    while (len > 23 && to[len - 1] == '0')
        len--;
    to[len++] = 'Z';
    to[len] = 0;
    return len;
}

/* ---- names of indices ------------------------------------------------------------------------ */

/* Whatever this program's locale; 0: the machine has none. */
static locale_t unicode(void)
{
    static _Thread_local locale_t locale;

    if (!locale)
        locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    return locale;
}

/* Lower case as it is in Unicode; without such a locale what is not ASCII becomes '_'. */
static uint32_t lower(uint32_t character)
{
    if (character < 0x80)
        return (uint32_t)tolower((int)character);
    return unicode() ? (uint32_t)towlower_l((wint_t)character, unicode()) : '_';
}

static bool is_cased(const char *text, size_t left)
{
    uint32_t character;

    return left && unicode() && vti_utf8_get((const uint8_t *)text, left, &character) &&
           towlower_l((wint_t)character, unicode()) != towupper_l((wint_t)character, unicode());
}

/* Two letters are no single one in lower case, or not always the same: as Python's lower() has them, and so APF. How many characters
 * that makes. */
static unsigned lower_as_python(uint32_t character, bool is_after_letter, const char *next,
                                size_t left, uint32_t to[2])
{
    to[0] = lower(character);
    to[1] = COMBINING_DOT;
    if (!unicode())
        return 1;
    if (character == CAPITAL_SIGMA && is_after_letter && !is_cased(next, left))
        to[0] = FINAL_SIGMA;
    if (character == CAPITAL_DOTTED_I)
        to[0] = 'i';
    return character == CAPITAL_DOTTED_I ? 2 : 1;
}

/* What Elasticsearch refuses in a name. */
static bool is_refused(uint32_t character)
{
    return character <= ' ' || character == 0x7f ||
           (character < 0x80 && strchr("\\/*?\"<>|,#:", (int)character));
}

static size_t put_character(char *to, uint32_t character)
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        to[0] = (char)(0xc0 | character >> 6);
        to[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        to[0] = (char)(0xe0 | character >> 12);
        to[1] = (char)(0x80 | (character >> 6 & 0x3f));
        to[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | character >> 18);
    to[1] = (char)(0x80 | (character >> 12 & 0x3f));
    to[2] = (char)(0x80 | (character >> 6 & 0x3f));
    to[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

/* Appends text in lower case, at most up to `most` bytes in all. */
static size_t put_name(char *to, size_t len, size_t most, const char *text)
{
    size_t left = strlen(text);
    bool is_after_letter = false;

    while (left && len + 4 <= most) {
        uint32_t lowered[2];
        unsigned count;
        uint32_t character;
        size_t bytes = vti_utf8_get((const uint8_t *)text, left, &character);

        if (!bytes) {
            bytes = 1;
            character = '_';
        }
        count = lower_as_python(character, is_after_letter, text + bytes, left - bytes, lowered);
        for (unsigned i = 0; i < count; i++)
            len += put_character(to + len, is_refused(lowered[i]) ? '_' : lowered[i]);
        is_after_letter = is_cased(text, left);
        text += bytes;
        left -= bytes;
    }
    return len;
}

static char *make_name(const char *prefix, const char *source, int64_t day)
{
    char *to = malloc(NAME_MOST + 1);
    unsigned year, month, of_month;
    size_t len;

    if (!to)
        return NULL;
    /* A store refuses capitals: no index that APF has made has them, in its prefix either. */
    len = put_name(to, 0, NAME_MOST / 2, prefix);
    to[len++] = '-';
    len = put_name(to, len, NAME_MOST - 9, source);
    split_day(day, &year, &month, &of_month);
    to[len] = '-';
    put_digits(to + len + 1, year, 4);
    put_digits(to + len + 5, month, 2);
    put_digits(to + len + 7, of_month, 2);
    to[len + 9] = 0;
    if (strchr("-_+.", *to)) /* refused as a first letter */
        *to = 'x';
    return to;
}

static int64_t find(struct vti_index_names *names, const char *prefix, const char *source,
                    int64_t day, int *is_new)
{
    struct vti_buf *key = &names->key;

    vti_buf_clear(key);
    vti_buf_add_u64(key, (uint64_t)day);
    vti_buf_add(key, prefix, strlen(prefix) + 1);
    vti_buf_add(key, source, strlen(source));
    if (names->last < names->count) { /* nearly always */
        size_t len;
        const char *last = vti_map_key(names->map, (uint32_t)names->last, &len);

        if (!key->failed && len == key->len && !memcmp(last, key->data, len))
            return (int64_t)names->last;
    }
    if (key->failed || (!names->map && vti_map_create(&names->map)))
        return -1;
    return vti_map_add(names->map, key->data, key->len, is_new);
}

const char *vti_index_daily(struct vti_index_names *names, const char *prefix, const char *source,
                            int64_t time_ns)
{
    int64_t rest;
    int64_t day = day_of(time_ns, &rest);
    int is_new = 0;
    int64_t at;

    /* Room first: what is in the map must have a name. */
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? names->capacity * 2 : 16;
        void *more = reallocarray(names->names, capacity, sizeof *names->names);

        if (!more)
            return NULL;
        names->names = more;
        names->capacity = capacity;
    }
    at = find(names, prefix, source, day, &is_new);
    if (at < 0)
        return NULL;
    if (is_new)
        names->names[names->count++] = make_name(prefix, source, day);
    names->last = (size_t)at;
    return names->names[at];
}

void vti_index_names_fini(struct vti_index_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    vti_map_free(names->map);
    vti_buf_fini(&names->key);
    memset(names, 0, sizeof *names);
}

/* ---- details --------------------------------------------------------------------------------- */

const struct vti_trace_detail *vti_trace_detail_of(const struct vti_batch *batch,
                                                   const struct vti_document *document)
{
    return document->kind == VTI_DOCUMENT_TRACE ? vti_batch_detail(batch, document) : NULL;
}

const char *vti_trace_detail_text(const struct vti_trace_detail *detail, uint32_t offset)
{
    return (const char *)detail + offset;
}
