/*
 * fuzz_log.c - libFuzzer target: a trace log that comes in pieces of random size, as from a pipe.
 *
 * The first byte chooses the way of reading, the next four seed the sizes. Beside memory errors it
 * looks for differences: the quick reader must agree, line by line and name by name, with the plain
 * one.
 */
#include "analyze/rank_impl.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX 5

enum { IS_WIDE = 1, IS_COMPAT = 2, IS_TINY = 4 };

static void require(int condition)
{
    if (!condition)
        abort();
}

static struct vti_rank *create(unsigned choice)
{
    struct vti_rank_options options = {
        .is_wide = (choice & IS_WIDE) && !(choice & IS_COMPAT),
        .is_compat = (choice & IS_COMPAT) != 0,
    };
    struct vti_rank *rank;

    require(vti_rank_create(&rank, &options) == 0);
    return rank;
}

static int feed(struct vti_rank *rank, const uint8_t *data, size_t size, uint32_t seed, size_t most)
{
    int code = 0;

    while (size && !code) {
        size_t room;
        char *to = vti_rank_log_room(rank, &room);
        size_t count;

        require(to && room > 0);
        seed = seed * 1664525 + 1013904223;
        count = 1 + seed % most;
        count = count < size ? count : size;
        count = count < room ? count : room;
        memcpy(to, data, count);
        code = vti_rank_log_filled(rank, count);
        data += count;
        size -= count;
    }
    return code ? code : vti_rank_log_end(rank);
}

/* The plain way: cut at newlines, take apart, add up. */
static void feed_plainly(struct vti_rank *rank, const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    const char *end = at + size;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        struct vti_log_line line;
        const char *reason = vti_log_line_parse(&line, at, (size_t)(stop - at));
        int64_t entry;

        rank->lines.read++;
        if (reason)
            vti_rank_refuse(rank, reason);
        else if (!line.is_stop)
            rank->lines.starts++;
        else if (line.duration < 0)
            rank->lines.negative++;
        else {
            rank->lines.stops++;
            entry = vti_rank_entry(rank, line.name.at, line.name.len);
            require(entry >= 0);
            vti_rank_entry_add(&rank->entries[entry], line.duration);
        }
        at = stop + 1;
    }
}

static void compare(struct vti_rank *rank, const uint8_t *data, size_t size)
{
    struct vti_rank *plain = create(0);

    feed_plainly(plain, data, size);
    require(rank->lines.read == plain->lines.read && rank->lines.starts == plain->lines.starts &&
            rank->lines.stops == plain->lines.stops &&
            rank->lines.negative == plain->lines.negative &&
            rank->lines.unusable == plain->lines.unusable &&
            rank->lines.first_unusable == plain->lines.first_unusable);
    for (uint32_t i = 0; i < plain->entry_count; i++) {
        const struct vti_rank_entry *one = &plain->entries[i];
        int64_t found = vti_map_find(rank->names, one->name, one->len);

        require(found >= 0);
        require(rank->entries[found].count == one->count &&
                rank->entries[found].total == one->total && rank->entries[found].max == one->max &&
                rank->entries[found].min == one->min);
    }
    vti_rank_free(plain);
}

static void look_at_rows(struct vti_rank *rank)
{
    for (int key = VTI_RANK_TOTAL; key <= VTI_RANK_SELF; key++) {
        require(vti_rank_sort(rank, (enum vti_rank_key)key) == 0);
        for (size_t i = 0; i < vti_rank_count(rank); i++) {
            struct vti_rank_row row;

            vti_rank_row(rank, i, &row);
            require(strnlen(row.name, row.len + 1) <= row.len);
            if (rank->options.is_wide && row.count)
                require(row.min <= row.p50 && row.p50 <= row.p99 && row.p99 <= row.max &&
                        row.self >= 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char
        *buffer; /* kept: getting two megabytes from the sanitizer takes longer than a run */
    struct vti_rank *rank;
    uint32_t seed;
    int code;

    if (size < PREFIX)
        return 0;
    rank = create(data[0]);
    rank->buffer = buffer;
    memcpy(&seed, data + 1, sizeof seed);
    code = feed(rank, data + PREFIX, size - PREFIX, seed, data[0] & IS_TINY ? 7 : 2000);
    require(code == 0 || (code == VTI_E_DAMAGED && (data[0] & IS_COMPAT)));
    if (!(data[0] & IS_COMPAT))
        compare(rank, data + PREFIX, size - PREFIX);
    if (!code)
        look_at_rows(rank);
    buffer = rank->buffer;
    rank->buffer = NULL;
    vti_rank_free(rank);
    return 0;
}
