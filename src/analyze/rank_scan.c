/*
 * rank_scan.c - takes the usual lines of a trace log apart in a fifth of the time, and counts them.
 *
 * Usual is: a timestamp of 26 characters, three ids of 36, a name of at most 58, perhaps the mark
 * of a slow span, a newline. Half of a log is starts, in no order, and no two lines are of one
 * length: a branch on either is guessed wrong every other time and costs as much as the rest, so
 * ends are found by comparing 64 bytes at once. What is taken here vti_log_line_parse() reads the
 * same way. Never looks further than VTI_SCAN_ROOM bytes.
 */
#include "analyze/rank_impl.h"

#include <string.h>

#define TIMESTAMP 26
#define DURATION_MOST 24
#define ID 36
#define PARENT_AT (ID + 1) /* from the base id */
#define SPAN_AT (2 * (ID + 1))
#define NAME_AT (3 * (ID + 1))

typedef uint8_t vector __attribute__((vector_size(16)));
typedef char signed_vector __attribute__((vector_size(16)));

static vector load(const char *at)
{
    vector bytes;

    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

static uint64_t load_word(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* The high bit of each byte that may end a field or a line: blanks and control characters (and
 * bytes beyond ASCII, which ids and timestamps do not have). */
static vector ends(const char *at)
{
    return load(at) - (uint8_t)'!';
}

/* The same of an id, which three overlapping vectors cover. */
static vector ends_in_id(const char *id)
{
    return ends(id) | ends(id + 16) | ends(id + ID - 16);
}

#if defined(__SSE2__)
/* The high bits of 16 bytes. */
static uint64_t high_bits(vector bytes)
{
    return (uint16_t)__builtin_ia32_pmovmskb128((signed_vector)bytes);
}

/* One bit for each of 64 bytes: those that are the same on both sides. */
static uint64_t same_bits(const char *at, vector a, vector b, vector c, vector d)
{
    return high_bits((vector)(load(at) == a)) | high_bits((vector)(load(at + 16) == b)) << 16 |
           high_bits((vector)(load(at + 32) == c)) << 32 |
           high_bits((vector)(load(at + 48) == d)) << 48;
}

/* How far away the newline is; VTI_SCAN_NAME: further. */
static unsigned find_newline(const char *at)
{
    const vector newline = (vector){} + (uint8_t)'\n';
    uint64_t found = same_bits(at, newline, newline, newline, newline);

    return found ? (unsigned)__builtin_ctzll(found) : VTI_SCAN_NAME;
}

static bool is_same(const char *a, const char *b, size_t len)
{
    uint64_t differ = ~same_bits(a, load(b), load(b + 16), load(b + 32), load(b + 48));

    return len == 0 || differ << (64 - len) == 0;
}
#else
static uint64_t high_bits(vector bytes)
{
    uint64_t halves[2];

    memcpy(halves, &bytes, sizeof halves);
    return (halves[0] | halves[1]) & 0x8080808080808080u;
}

static unsigned find_newline(const char *at)
{
    const char *found = memchr(at, '\n', VTI_SCAN_NAME);

    return found ? (unsigned)(found - at) : VTI_SCAN_NAME;
}

static bool is_same(const char *a, const char *b, size_t len)
{
    return !memcmp(a, b, len);
}
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/*
 * Most durations are a digit, a point and one to seven digits. Those are taken all at once: shifted
 * to the end of a word of eight digits, then added up in pairs, fours and eights. Returns how
 * many characters it was; 0: something else.
 */
static unsigned take_duration(const char *at, double *seconds)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const uint64_t ones = 0x0101010101010101u;
    uint64_t digits = load_word(at + 2) ^ ones * '0';
    uint64_t others = ((digits + ones * 0x76) | digits) & (ones << 7); /* bytes that are no digit */
    unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 0;
    unsigned whole = (unsigned)(unsigned char)at[0] - '0';

    if (whole > 9 || at[1] != '.' || count == 0 || at[2 + count] != ' ')
        return 0;
    digits <<= 64 - 8 * count;
    digits = digits * 10 + (digits >> 8);
    digits = ((digits & 0x000000ff000000ffu) * 0x000f424000000064u +
              ((digits >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
             32;
    *seconds = (double)(whole * powers[count] + (uint32_t)digits) / powers[count];
    return 2 + count;
}
#else
static unsigned take_duration(const char *at, double *seconds)
{
    (void)at;
    (void)seconds;
    return 0;
}
#endif

struct usual_line {
    bool is_stop;
    double duration;
    const char *ids; /* the first of three */
    struct vti_log_field name;
};

/* 2020-02-27T08:04:25.789433 and a blank: whether the signs stand where they must. */
static bool has_signs(const char *at)
{
    return at[4] == '-' && at[7] == '-' && at[10] == 'T' && at[13] == ':' && at[16] == ':' &&
           at[TIMESTAMP] == ' ';
}

/* The name, whose line ends at the newline. Returns what follows, NULL: not usual. */
static const char *take_name(struct usual_line *line, const char *at)
{
    unsigned len = find_newline(at);
    const char *next = at + len + 1;
    unsigned suffix = 6 - line->is_stop;

    if (len < 8 || len == VTI_SCAN_NAME)
        return NULL;
    len -= 8u * !memcmp(at + len - 8, VTI_LOG_SLOW_MARK, 8);
    if (len < suffix || memcmp(at + len - 4, line->is_stop ? "stop" : "tart", 4) ||
        memcmp(at + len - suffix, "-s", 2))
        return NULL;
    line->name = (struct vti_log_field){at, len - suffix};
    return next;
}

/* Takes the line at `text` apart if it is a usual one and returns where the next begins; else
 * NULL. */
static const char *take_line(struct usual_line *line, const char *text)
{
    const char *at = text + TIMESTAMP + 1;

    if (!has_signs(text))
        return NULL;
    line->is_stop = *at != ' ';
    if (!line->is_stop) {
        if (memcmp(at, "        ", 8) || at[8] != ' ')
            return NULL;
        at += 9;
    } else {
        unsigned taken = take_duration(at, &line->duration);

        at = taken ? at + taken : vti_log_number(at, at + DURATION_MOST, &line->duration);
        if (!at || *at != ' ')
            return NULL;
        at++;
    }
    if (high_bits(ends(text) | ends(text + TIMESTAMP - 16) | ends_in_id(at) |
                  ends_in_id(at + PARENT_AT) | ends_in_id(at + SPAN_AT)) ||
        at[PARENT_AT - 1] != ' ' || at[SPAN_AT - 1] != ' ' || at[NAME_AT - 1] != ' ' ||
        at[NAME_AT] == ' ')
        return NULL;
    line->ids = at;
    return take_name(line, at + NAME_AT);
}

/* Where a name would be in `recent`: a quick look at its ends, which is where names differ. */
static unsigned recent_place(const char *name, size_t len)
{
    uint64_t head = 0;
    uint64_t tail = 0;

    if (len >= 8) {
        head = load_word(name);
        tail = load_word(name + len - 8);
    } else if (len) {
        memcpy(&head, name, len);
    }
    return (unsigned)(((head * 31 + tail) ^ len) * 0x9e3779b97f4a7c15u >> 32) % VTI_RANK_RECENT;
}

int64_t vti_rank_find(struct vti_rank *rank, const struct vti_log_field *name)
{
    uint32_t *recent = &rank->recent[recent_place(name->at, name->len)];
    int64_t index;

    if (*recent < rank->entry_count && rank->entries[*recent].len == name->len &&
        name->len <= VTI_SCAN_NAME && is_same(rank->entries[*recent].head, name->at, name->len))
        return *recent;
    index = vti_rank_entry(rank, name->at, name->len);
    if (index >= 0)
        *recent = (uint32_t)index;
    return index;
}

void vti_rank_entry_add(struct vti_rank_entry *entry, double duration)
{
    if (entry->count++ == 0) {
        entry->total = entry->max = entry->min = duration; /* 0 + -0.0 would lose the sign */
        return;
    }
    entry->total += duration;
    if (duration > entry->max)
        entry->max = duration;
    if (duration < entry->min)
        entry->min = duration;
}

static int count_wide(struct vti_rank *rank, const struct usual_line *usual)
{
    struct vti_log_line line = {
        .is_stop = usual->is_stop,
        .duration = usual->duration,
        .base = {usual->ids, ID},
        .parent = {usual->ids + PARENT_AT, ID},
        .span = {usual->ids + SPAN_AT, ID},
        .name = usual->name,
    };

    return vti_rank_count_line(rank, &line);
}

int vti_rank_scan(struct vti_rank *rank, const char **at, const char *end)
{
    struct usual_line line;
    const char *next;
    int64_t entry;
    int code;

    while (end - *at > VTI_SCAN_ROOM && (next = take_line(&line, *at))) {
        rank->lines.read++;
        *at = next;
        if (rank->options.is_wide || (line.is_stop && line.duration < 0)) {
            code = count_wide(rank, &line);
            if (code)
                return code;
        } else if (line.is_stop) {
            entry = vti_rank_find(rank, &line.name);
            if (entry < 0)
                return (int)entry;
            vti_rank_entry_add(&rank->entries[entry], line.duration);
            rank->lines.stops++;
        } else {
            rank->lines.starts++;
        }
    }
    return 0;
}
