/*
 * rank_log.c - cuts a trace log that comes in pieces into lines and counts them into the rows.
 *
 * A piece is kept only until its lines are taken apart, and is small enough to stay in the CPU's
 * cache between read(2) and memchr. Called for every byte of logs of many gigabytes: nothing here
 * may grow with the number of lines.
 */
#include "analyze/rank_impl.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (1024u * 1024)
#define PIECE_AT VTI_LOG_LINE_MOST
#define ALIGNMENT 4096u
#define BUFFER_BYTES (PIECE_AT + PIECE_BYTES + ALIGNMENT) /* the last: slack */

/* Notes what began. The time inside it is gathered as its children end. */
static int open_span(struct vti_rank *rank, uint32_t entry, const struct vti_log_line *line)
{
    int64_t replaced;
    uint64_t key[2];

    vti_open_key(key, line->span.at, line->span.len);
    if (vti_open_add(&rank->open, key, entry, &replaced))
        return VTI_E_NOMEM;
    if (replaced >= 0)
        rank->entries[replaced].unfinished++;
    return 0;
}

/* Ends the span and tells its parent; returns the time it spent outside its children. */
static double close_span(struct vti_rank *rank, const struct vti_log_line *line)
{
    struct vti_open_span *span;
    double inside = 0;
    uint64_t key[2];

    vti_open_key(key, line->span.at, line->span.len);
    span = vti_open_find(&rank->open, key);
    if (span) {
        inside = span->inside;
        vti_open_remove(&rank->open, span);
    } else {
        rank->lines.orphans++;
    }
    vti_open_key(key, line->parent.at, line->parent.len);
    span = vti_open_find(&rank->open, key);
    if (span && line->duration > 0)
        span->inside += line->duration;
    /* Children that ran at the same time may add up to more than their parent. */
    return inside < line->duration ? line->duration - inside : 0;
}

int vti_rank_count_line(struct vti_rank *rank, const struct vti_log_line *line)
{
    bool is_wide = rank->options.is_wide;
    double self = 0;
    int64_t entry;

    rank->lines.starts += !line->is_stop;
    if (!line->is_stop && !is_wide)
        return 0;
    entry = vti_rank_find(rank, &line->name);
    if (entry < 0)
        return (int)entry;
    if (!line->is_stop)
        return open_span(rank, (uint32_t)entry, line);
    if (is_wide)
        self = close_span(rank, line);
    if (line->duration < 0) {
        if (rank->lines.negative++ == 0)
            rank->lines.first_negative = rank->lines.read;
        return 0;
    }
    rank->lines.stops++;
    vti_rank_entry_add(&rank->entries[entry], line->duration);
    if (!is_wide)
        return 0;
    rank->entries[entry].self += self;
    return vti_rank_note(&rank->entries[entry], line->duration);
}

static int take_line(struct vti_rank *rank, const char *text, size_t len)
{
    struct vti_log_line line;
    const char *reason = vti_log_line_parse(&line, text, len);

    if (!reason)
        return vti_rank_count_line(rank, &line);
    vti_rank_refuse(rank, reason);
    return 0;
}

/* The script opens its log as text: a lone carriage return ends a line too, one before a newline
 * belongs to it. */
static int take_compat_lines(struct vti_rank *rank, const char *text, size_t len)
{
    const char *end = text + len;
    int code = 0;

    if (len && end[-1] == '\r')
        end--;
    for (bool is_more = true; is_more && !code; rank->lines.read += is_more) {
        const char *stop = memchr(text, '\r', (size_t)(end - text));

        is_more = stop != NULL;
        code = vti_rank_compat_line(rank, text, (size_t)((is_more ? stop : end) - text));
        text = is_more ? stop + 1 : end;
    }
    return code;
}

static int refuse_long_line(struct vti_rank *rank)
{
    if (rank->options.is_compat)
        return vti_fail(VTI_E_DAMAGED, "line %llu is longer than 1 MiB",
                        (unsigned long long)rank->lines.read);
    vti_rank_refuse(rank, "is longer than 1 MiB");
    return 0;
}

static int take_any_line(struct vti_rank *rank, const char *text, size_t len)
{
    rank->lines.read++;
    if (len > VTI_LOG_LINE_MOST)
        return refuse_long_line(rank);
    return rank->options.is_compat ? take_compat_lines(rank, text, len)
                                   : take_line(rank, text, len);
}

/* Puts a line that is not whole yet in front of the next piece; one that is too long is skipped. */
static int keep_rest(struct vti_rank *rank, const char *rest, size_t len)
{
    if (rank->is_skipping)
        return 0;
    if (len <= VTI_LOG_LINE_MOST) {
        memmove(rank->buffer + PIECE_AT - len, rest, len);
        rank->begun = len;
        return 0;
    }
    rank->begun = 0;
    rank->is_skipping = true;
    rank->lines.read++;
    return refuse_long_line(rank);
}

/*
 *   | spare | begun line | piece | slack |
 *
 * A piece is always read to the same aligned place: a copy to other addresses takes up to three
 * times as long. The line that it cuts is kept in front of that place. Behind the piece there is
 * slack for looking at more bytes than there are.
 */
char *vti_rank_log_room(struct vti_rank *rank, size_t *room)
{
    if (!rank->buffer)
        rank->buffer = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
    if (!rank->buffer)
        return NULL;
    *room = PIECE_BYTES;
    return rank->buffer + PIECE_AT;
}

int vti_rank_log_filled(struct vti_rank *rank, size_t count)
{
    char *piece = rank->buffer + PIECE_AT;
    const char *begin = piece - rank->begun;
    const char *end = piece + count;
    const char *from = piece; /* no newline between begin and it */
    int code = 0;

    while (!code) {
        const char *newline;

        if (!rank->is_skipping && !rank->options.is_compat) {
            code = vti_rank_scan(rank, &begin, end);
            from = begin > from ? begin : from;
        }
        newline = code ? NULL : memchr(from, '\n', (size_t)(end - from));
        if (!newline)
            break;
        if (!rank->is_skipping)
            code = take_any_line(rank, begin, (size_t)(newline - begin));
        rank->is_skipping = false;
        begin = from = newline + 1;
    }
    if (!code)
        code = keep_rest(rank, begin, (size_t)(end - begin));
    return code == VTI_E_NOMEM ? vti_fail(VTI_E_NOMEM, "out of memory") : code;
}

static int finish_entries(struct vti_rank *rank)
{
    int code = 0;

    for (size_t i = 0; i < rank->open.place_count; i++)
        if (rank->open.places[i].key[0] | rank->open.places[i].key[1])
            rank->entries[rank->open.places[i].row].unfinished++;
    for (uint32_t i = 0; i < rank->entry_count && !code; i++) {
        struct vti_rank_entry *entry = &rank->entries[i];

        if (!entry->count)
            continue;
        entry->avg = entry->total / (double)entry->count;
        if (rank->options.is_wide)
            code = vti_rank_percentiles(entry);
    }
    return code;
}

int vti_rank_log_end(struct vti_rank *rank)
{
    int code = 0;

    if (rank->begun)
        code = take_any_line(rank, rank->buffer + PIECE_AT - rank->begun, rank->begun);
    rank->begun = 0;
    if (!code)
        code = finish_entries(rank);
    return code == VTI_E_NOMEM ? vti_fail(VTI_E_NOMEM, "out of memory") : code;
}
