/*
 * stats_list.c - which functions `venturi stats` shows, in which order, as pstats decides it.
 *
 * Sorting is stable, abbreviations and messages are those of pstats: see its documentation.
 */
#include "cli/stats_list.h"

#include "base/error.h"
#include "base/json.h"
#include "cli/pattern.h"
#include "cli/render.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum field {
    BY_PRIMITIVE,
    BY_CALLS,
    BY_SELF,
    BY_TOTAL,
    BY_FILE,
    BY_LINE,
    BY_NAME,
    BY_LABEL,
    BY_NFL
};

/* In the order in which pstats has them, on which abbreviations depend. */
static const struct {
    const char *word;
    enum field field;
    const char *title;
} keys_known[] = {
    {"calls", BY_CALLS, "call count"},        {"ncalls", BY_CALLS, "call count"},
    {"cumtime", BY_TOTAL, "cumulative time"}, {"cumulative", BY_TOTAL, "cumulative time"},
    {"filename", BY_FILE, "file name"},       {"line", BY_LINE, "line number"},
    {"module", BY_FILE, "file name"},         {"name", BY_NAME, "function name"},
    {"nfl", BY_NFL, "name/file/line"},        {"pcalls", BY_PRIMITIVE, "primitive call count"},
    {"stdname", BY_LABEL, "standard name"},   {"time", BY_SELF, "internal time"},
    {"tottime", BY_SELF, "internal time"},
};
#define KEYS (sizeof keys_known / sizeof *keys_known)
#define KEYS_MOST 16

struct sorting {
    const struct vti_stats_list *list;
    enum field fields[KEYS_MOST];
    size_t count;
};

static int no_memory(void)
{
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

size_t vti_stats_label_width(const char *label)
{
    size_t count = 0;

    for (; *label; label++)
        count += ((unsigned char)*label & 0xc0) != 0x80;
    return count;
}

size_t vti_stats_list_width(const struct vti_stats_list *list)
{
    size_t widest = 0;

    for (size_t i = 0; i < list->count; i++) {
        size_t width = vti_stats_label_width(list->labels[list->rows[i]]);

        widest = width > widest ? width : widest;
    }
    return widest;
}

/* ---- sorting --------------------------------------------------------------------------------- */

/* Each word claims its beginnings, the longest first, up to one that an earlier word has: that one is
 * then nobody's. Returns the index in keys_known, or -1. */
static int find_key(const char *word, size_t len)
{
    size_t shortest[KEYS]; /* length of the shortest beginning that each word claims */
    bool is_taken = false;
    int owner = -1;

    for (size_t i = 0; i < KEYS; i++) {
        shortest[i] = strlen(keys_known[i].word) + 1;
        while (shortest[i] > 1) {
            size_t next = shortest[i] - 1;
            bool is_word = next == len && !memcmp(keys_known[i].word, word, len);
            size_t other = 0;

            while (other < i && (next < shortest[other] ||
                                 strncmp(keys_known[other].word, keys_known[i].word, next)))
                other++;
            is_taken |= is_word && other < i;
            if (other < i)
                break;
            shortest[i] = next;
            if (is_word)
                owner = (int)i;
        }
    }
    return is_taken ? -1 : owner;
}

/* The numbers of the old profiler. */
static int find_old_key(const char *word, size_t len)
{
    static const char *const old[] = {"-1", "0", "1", "2"};
    static const char *const names[] = {"stdname", "calls", "time", "cumulative"};

    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (strlen(old[i]) == len && !memcmp(old[i], word, len))
            return find_key(names[i], strlen(names[i]));
    return -1;
}

static int refuse_key(const char *word, size_t len)
{
    char fitting[160] = "";
    size_t used = 0;

    for (size_t i = 0; len && i < KEYS; i++)
        if (!strncmp(keys_known[i].word, word, len))
            used += (size_t)snprintf(fitting + used, sizeof fitting - used, "%s%s",
                                     used ? " or " : "", keys_known[i].word);
    if (used)
        return vti_fail(VTI_E_USAGE, "--sort: '%.*s' could be %s", (int)len, word, fitting);
    return vti_fail(VTI_E_USAGE,
                    "--sort: '%.*s' is none of calls, cumulative, filename, line, name, nfl, "
                    "pcalls, stdname, time (or short for one), none",
                    (int)len, word);
}

static int parse_keys(struct sorting *sorting, const char *keys, struct vti_buf *message)
{
    vti_buf_add_text(message, "   Ordered by: ");
    for (const char *at = keys;; at++) {
        size_t len = strcspn(at, ",");
        int key = find_key(at, len);

        if (key < 0)
            key = find_old_key(at, len);
        if (key < 0 || sorting->count == KEYS_MOST)
            return refuse_key(at, len);
        vti_buf_printf(message, "%s%s", sorting->count ? ", " : "", keys_known[key].title);
        sorting->fields[sorting->count++] = keys_known[key].field;
        at += len;
        if (!*at)
            break;
    }
    vti_buf_add_u8(message, '\n');
    return 0;
}

static int compare_counts(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_seconds(double a, double b)
{
    return a < b ? -1 : a > b;
}

static int compare_field(const struct sorting *sorting, enum field field, uint32_t left,
                         uint32_t right)
{
    const struct vti_profile_row *a = &sorting->list->profile->rows[left];
    const struct vti_profile_row *b = &sorting->list->profile->rows[right];
    int by_name;

    switch (field) {
    case BY_PRIMITIVE:
        return -compare_counts(a->numbers.primitive, b->numbers.primitive);
    case BY_CALLS:
        return -compare_counts(a->numbers.calls, b->numbers.calls);
    case BY_SELF:
        return -compare_seconds(a->numbers.self_s, b->numbers.self_s);
    case BY_TOTAL:
        return -compare_seconds(a->numbers.total_s, b->numbers.total_s);
    case BY_FILE:
        return strcmp(a->file, b->file);
    case BY_LINE:
        return compare_counts(a->line, b->line);
    case BY_NAME:
        return strcmp(a->name, b->name);
    case BY_LABEL:
        return strcmp(sorting->list->labels[left], sorting->list->labels[right]);
    default:
        by_name = strcmp(a->name, b->name);
        if (!by_name)
            by_name = strcmp(a->file, b->file);
        return by_name ? by_name : compare_counts(a->line, b->line);
    }
}

static int compare_rows(const void *left, const void *right, void *arg)
{
    const struct sorting *sorting = arg;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    for (size_t i = 0; i < sorting->count; i++) {
        int order = compare_field(sorting, sorting->fields[i], a, b);

        if (order)
            return order;
    }
    return a < b ? -1 : a > b;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* On a terminal: a name with a line end in it would look like a row of its own. Elsewhere it is as pstats has it. */
static void keep_on_one_line(struct vti_buf *label)
{
    struct vti_buf safe = {0};

    if (!isatty(STDOUT_FILENO) || label->failed || !label->len ||
        !memchr(label->data, '\n', label->len))
        return;
    vti_text_safe(&safe, (const char *)label->data, label->len);
    vti_buf_fini(label);
    *label = safe;
}

static char *make_label(const struct vti_profile_row *row)
{
    struct vti_buf label = {0};
    size_t len = strlen(row->name);

    if (strcmp(row->file, "~") || row->line)
        vti_buf_printf(&label, "%s:%u(%s)", row->file, row->line, row->name);
    else if (len > 1 && row->name[0] == '<' && row->name[len - 1] == '>')
        vti_buf_printf(&label, "{%.*s}", (int)len - 2, row->name + 1);
    else
        vti_buf_add_text(&label, row->name);
    keep_on_one_line(&label);
    vti_buf_add_u8(&label, 0);
    if (label.failed)
        vti_buf_fini(&label);
    return (char *)label.data;
}

int vti_stats_list_make(struct vti_stats_list *list, const struct vti_profile *profile,
                        const char *keys, bool is_reversed)
{
    struct sorting sorting = {.list = list};
    int code = 0;

    memset(list, 0, sizeof *list);
    list->profile = profile;
    list->labels = calloc(profile->row_count + 1, sizeof *list->labels);
    list->rows = calloc(profile->row_count + 1, sizeof *list->rows);
    if (!list->labels || !list->rows)
        return no_memory();
    for (size_t i = 0; i < profile->row_count; i++) {
        list->labels[i] = make_label(&profile->rows[i]);
        if (!list->labels[i])
            return no_memory();
        if (!profile->rows[i].is_caller_only)
            list->rows[list->count++] = (uint32_t)i;
    }
    list->all = list->count;
    if (!strcmp(keys, "none")) {
        vti_buf_add_text(&list->message, "   Random listing order was used\n");
        return 0;
    }
    code = parse_keys(&sorting, keys, &list->message);
    if (code)
        return code;
    qsort_r(list->rows, list->count, sizeof *list->rows, compare_rows, &sorting);
    for (size_t i = 0; is_reversed && i < list->count / 2; i++) {
        uint32_t other = list->rows[i];

        list->rows[i] = list->rows[list->count - 1 - i];
        list->rows[list->count - 1 - i] = other;
    }
    return 0;
}

void vti_stats_list_free(struct vti_stats_list *list)
{
    for (size_t i = 0; list->labels && i < list->profile->row_count; i++)
        free(list->labels[i]);
    free(list->labels);
    free(list->rows);
    vti_buf_fini(&list->message);
    memset(list, 0, sizeof *list);
}

/* ---- restrictions ---------------------------------------------------------------------------- */

/* As repr() of Python shows a text. */
static void add_repr(struct vti_buf *out, const char *text)
{
    char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';

    vti_buf_add_u8(out, (uint8_t)quote);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;

        if (byte == '\\' || byte == (unsigned char)quote)
            vti_buf_printf(out, "\\%c", byte);
        else if (byte == '\n' || byte == '\r' || byte == '\t')
            vti_buf_printf(out, "\\%c", byte == '\n' ? 'n' : byte == '\r' ? 'r' : 't');
        else if (byte < 0x20 || byte == 0x7f)
            vti_buf_printf(out, "\\x%02x", byte);
        else
            vti_buf_add_u8(out, byte);
    }
    vti_buf_add_u8(out, (uint8_t)quote);
}

static int match(struct vti_stats_list *list, const char *pattern)
{
    regex_t regex;
    size_t kept = 0;
    int code = vti_pattern_compile(&regex, pattern);

    if (code == VTI_E_USAGE) {
        vti_buf_add_text(&list->message, "   <Invalid regular expression ");
        add_repr(&list->message, pattern);
        vti_buf_add_text(&list->message, ">\n");
        return 0;
    }
    if (code)
        return code;
    for (size_t i = 0; i < list->count; i++)
        if (!regexec(&regex, list->labels[list->rows[i]], 0, NULL, 0))
            list->rows[kept++] = list->rows[i];
    list->count = kept;
    regfree(&regex);
    return 0;
}

/* What repr() shows: 20, 0.1, 'text'. */
static void add_shown(struct vti_buf *out, const char *restriction, char kind, double share)
{
    char number[32];

    if (kind == 'i') {
        vti_buf_printf(out, "%lld", strtoll(restriction, NULL, 10));
    } else if (kind == 'f') {
        vti_buf_add(out, number, (size_t)vti_double_text(number, share));
        if (!strpbrk(number, ".e"))
            vti_buf_add_text(out, ".0");
    } else {
        add_repr(out, restriction);
    }
}

/* 'i' for a whole number, 'f' for a share, 'r' for a regular expression. */
static char kind_of(const char *restriction, long long *number, double *share)
{
    char *end;

    errno = 0;
    *number = strtoll(restriction, &end, 10);
    if (!errno && end != restriction && !*end)
        return 'i';
    errno = 0;
    *share = strtod(restriction, &end);
    return !errno && end != restriction && !*end ? 'f' : 'r';
}

int vti_stats_list_restrict(struct vti_stats_list *list, const char *restriction)
{
    size_t before = list->count;
    long long number;
    double share;
    char kind = kind_of(restriction, &number, &share);
    int code = 0;

    if (kind == 'f' && !(share >= 0 && share <= 1))
        return vti_fail(VTI_E_USAGE, "'%s' is no share: from 0 to 1", restriction);
    if (kind == 'i' && number >= 0 && (unsigned long long)number < list->count)
        list->count = (size_t)number;
    else if (kind == 'f' && share < 1)
        list->count = (size_t)((double)list->count * share + 0.5);
    else if (kind == 'r')
        code = match(list, restriction);
    if (!code && before != list->count) {
        vti_buf_printf(&list->message, "   List reduced from %zu to %zu due to restriction <",
                       before, list->count);
        add_shown(&list->message, restriction, kind, share);
        vti_buf_add_text(&list->message, ">\n");
    }
    return code;
}
