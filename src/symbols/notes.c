/*
 * notes.c - reads the notes that compilers write about the arcs they count.
 *
 * The format is gcc's own and changes with its version: lengths are words of four bytes up to gcc 11 (which is also what
 * clang writes, as 4.8) and bytes from 12 on. What is not known is stepped over.
 */
#include "symbols/notes.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x67636e6fu /* "gcno" */
#define TAG_FUNCTION 0x01000000u
#define TAG_BLOCKS 0x01410000u
#define TAG_ARCS 0x01430000u
#define TAG_LINES 0x01450000u
#define FUNCTIONS_MOST (1u << 20)

bool vti_notes_text_is(struct vti_notes_text a, struct vti_notes_text b)
{
    return a.len == b.len && !memcmp(a.data, b.data, a.len);
}

/* "B22*" is 12.2, "408*" is 4.8. */
static unsigned version_of(uint32_t word)
{
    unsigned first = word >> 24, second = (word >> 16) & 0xff, third = (word >> 8) & 0xff;

    if (second < '0' || second > '9' || third < '0' || third > '9')
        return 0;
    if (first >= 'A' && first <= 'Z')
        return (first - 'A') * 100 + (second - '0') * 10 + third - '0';
    return first < '0' || first > '9' ? 0 : (first - '0') * 10 + third - '0';
}

static size_t unit_of(const struct vti_notes *notes)
{
    return notes->version >= 120 ? 1 : 4;
}

static struct vti_notes_text read_text(const struct vti_notes *notes, struct vti_reader *in)
{
    size_t bytes = (size_t)vti_reader_u32(in) * unit_of(notes);
    const char *data = (const char *)vti_reader_bytes(in, bytes);
    struct vti_notes_text text = {data ? data : "", data ? strnlen(data, bytes) : 0};

    return text;
}

/* The next record; false at the end, or where it does not fit. */
static bool next_record(const struct vti_notes *notes, struct vti_reader *in, uint32_t *tag,
                        struct vti_reader *body)
{
    size_t bytes;

    if (vti_reader_left(in) < 8)
        return false;
    *tag = vti_reader_u32(in);
    bytes = (size_t)vti_reader_u32(in) * unit_of(notes);
    if (!*tag || bytes > vti_reader_left(in))
        return false;
    vti_reader_init(body, in->at, bytes);
    in->at += bytes;
    return true;
}

static bool read_function(const struct vti_notes *notes, struct vti_reader *in,
                          struct vti_notes_function *to)
{
    memset(to, 0, sizeof *to);
    to->ident = vti_reader_u32(in);
    vti_reader_u32(in); /* of its lines */
    to->checksum = vti_reader_u32(in);
    to->name = read_text(notes, in);
    if (notes->version >= 80)
        to->is_made = vti_reader_u32(in) != 0;
    to->file = read_text(notes, in);
    to->line = vti_reader_u32(in);
    if (notes->version >= 80) {
        vti_reader_u32(in); /* column */
        to->last_line = vti_reader_u32(in);
    }
    return !in->failed;
}

static bool add_function(struct vti_notes *notes, size_t *room,
                         const struct vti_notes_function *function)
{
    if (notes->function_count == *room) {
        size_t more = *room ? 2 * *room : 16;
        struct vti_notes_function *grown = more <= FUNCTIONS_MOST
                                               ? realloc(notes->functions, more * sizeof *grown)
                                               : NULL;

        if (!grown)
            return false;
        notes->functions = grown;
        *room = more;
    }
    notes->functions[notes->function_count++] = *function;
    return true;
}

static bool index_functions(struct vti_notes *notes, struct vti_reader *in)
{
    struct vti_notes_function function;
    struct vti_reader body;
    size_t room = 0;
    size_t before = (size_t)(in->at - notes->data);
    uint32_t tag;

    while (next_record(notes, in, &tag, &body)) {
        if (tag == TAG_FUNCTION) {
            if (notes->function_count)
                notes->functions[notes->function_count - 1].end = before;
            if (!read_function(notes, &body, &function))
                return false;
            function.at = (size_t)(in->at - notes->data);
            function.end = notes->size;
            if (!add_function(notes, &room, &function))
                return false;
        }
        before = (size_t)(in->at - notes->data);
    }
    return true;
}

static int by_ident(const void *a, const void *b)
{
    uint32_t left = ((const struct vti_notes_function *)a)->ident;
    uint32_t right = ((const struct vti_notes_function *)b)->ident;

    return left < right ? -1 : left > right;
}

bool vti_notes_open(struct vti_notes *notes, const void *data, size_t size)
{
    struct vti_reader in;
    uint32_t magic;

    memset(notes, 0, sizeof *notes);
    notes->data = data;
    notes->size = size;
    vti_reader_init(&in, data, size);
    magic = vti_reader_u32(&in);
    notes->version = version_of(vti_reader_u32(&in));
    notes->stamp = vti_reader_u32(&in);
    if (notes->version >= 120)
        vti_reader_u32(&in);
    notes->folder = (struct vti_notes_text){"", 0};
    if (notes->version >= 90)
        notes->folder = read_text(notes, &in);
    if (notes->version >= 80)
        vti_reader_u32(&in);
    if (in.failed || magic != MAGIC || notes->version < 48 || !index_functions(notes, &in)) {
        vti_notes_close(notes);
        return false;
    }
    if (notes->function_count)
        qsort(notes->functions, notes->function_count, sizeof *notes->functions, by_ident);
    return true;
}

void vti_notes_close(struct vti_notes *notes)
{
    free(notes->functions);
    memset(notes, 0, sizeof *notes);
}

const struct vti_notes_function *vti_notes_find(const struct vti_notes *notes, uint32_t ident)
{
    const struct vti_notes_function key = {.ident = ident};

    if (!notes->function_count)
        return NULL;
    return bsearch(&key, notes->functions, notes->function_count, sizeof key, by_ident);
}

/* ---- one function ------------------------------------------------------------------------------- */

/* Doubles an array when `count` is a power of two: it has room for as many. */
static void *grown(void *items, size_t count, size_t item_bytes)
{
    void *more;

    if (count & (count - 1))
        return items;
    more = realloc(items, (count ? 2 * count : 1) * item_bytes);
    if (!more)
        free(items);
    return more;
}

static bool read_arcs(struct vti_notes_graph *graph, struct vti_reader *in)
{
    uint32_t from = vti_reader_u32(in);

    while (vti_reader_left(in) >= 8) {
        struct vti_notes_arc arc = {.from = from};

        arc.to = vti_reader_u32(in);
        arc.flags = vti_reader_u32(in);
        if (from >= graph->block_count || arc.to >= graph->block_count)
            return false;
        graph->arcs = grown(graph->arcs, graph->arc_count, sizeof *graph->arcs);
        if (!graph->arcs)
            return false;
        graph->arcs[graph->arc_count++] = arc;
    }
    return !in->failed;
}

/* Line numbers; a zero, and then a file that the next ones belong to; a file without a name is the end. */
static bool read_lines(const struct vti_notes *notes, struct vti_notes_graph *graph,
                       struct vti_reader *in)
{
    struct vti_notes_line line = {.block = vti_reader_u32(in)};
    size_t before = graph->line_count;

    if (line.block >= graph->block_count)
        return false;
    while (vti_reader_left(in) >= 4) {
        line.line = vti_reader_u32(in);
        if (!line.line) {
            line.file = read_text(notes, in);
            if (!line.file.len)
                break;
            continue;
        }
        line.order = (uint32_t)graph->line_count;
        graph->lines = grown(graph->lines, graph->line_count, sizeof *graph->lines);
        if (!graph->lines || !line.file.data)
            return false;
        graph->lines[graph->line_count++] = line;
    }
    if (graph->line_count > before)
        graph->lines[graph->line_count - 1].is_last = true;
    return !in->failed;
}

static bool read_record(const struct vti_notes *notes, struct vti_notes_graph *graph, uint32_t tag,
                        struct vti_reader *body)
{
    switch (tag) {
    case TAG_BLOCKS:
        if (graph->block_count)
            return false;
        graph->block_count = notes->version >= 80 ? vti_reader_u32(body)
                                                  : (uint32_t)(vti_reader_left(body) / 4);
        /* Every block but the last has an arc, of at least so many bytes. */
        return !body->failed && graph->block_count <= notes->size / 8 + 2;
    case TAG_ARCS:
        return read_arcs(graph, body);
    case TAG_LINES:
        return read_lines(notes, graph, body);
    default:
        return true;
    }
}

bool vti_notes_graph(const struct vti_notes *notes, const struct vti_notes_function *function,
                     struct vti_notes_graph *graph)
{
    struct vti_reader in;
    struct vti_reader body;
    uint32_t tag;
    bool is_good = true;

    memset(graph, 0, sizeof *graph);
    vti_reader_init(&in, notes->data + function->at, function->end - function->at);
    while (is_good && next_record(notes, &in, &tag, &body))
        is_good = read_record(notes, graph, tag, &body);
    if (is_good && graph->block_count >= 2)
        return true;
    vti_notes_graph_free(graph);
    return false;
}

void vti_notes_graph_free(struct vti_notes_graph *graph)
{
    free(graph->arcs);
    free(graph->lines);
    memset(graph, 0, sizeof *graph);
}
