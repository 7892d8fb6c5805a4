/*
 * flow.c - from the counters of a function to how often each of its lines was executed.
 *
 * What flows into a block flows out of it. The arcs that are not counted form a tree (together with one from the exit to
 * the entry): from its leaves inwards each follows from the others. A line was executed as often as
 * its blocks were entered from elsewhere, and once more for each time around a loop that lies on the line as a whole.
 *
 * gcc's blocks are small, and one execution of a statement may come back to a line of it. There a block is also taken to
 * stand on the last of its lines only, as gcov has it, which counts other things twice; the smaller number is right.
 */
#include "symbols/flow.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY 0u
#define EXIT 1u
#define NONE UINT32_MAX
#define BETWEEN_MOST 8              /* blocks in a row that have no line */
#define CYCLE_STEPS_MOST (1u << 24) /* of all lines of a function; more is not code */

/* The arcs of each block, in both directions; numbers of arcs. The last arc is from the exit to the entry. */
struct graph {
    struct vti_notes_graph *of;
    struct vti_notes_arc *arcs;
    uint32_t arc_count, block_count;
    uint32_t *out_first, *out; /* arcs of block b: out[out_first[b]] up to out[out_first[b + 1]] */
    uint32_t *in_first, *in;
    uint32_t *parent; /* the arc of the tree that leads towards the entry; NONE: not seen yet */
    uint32_t *order;  /* blocks as they were met from the entry on */
    uint64_t *left;   /* of each arc: what is not yet used up by cycles */
    uint32_t *mark;   /* of each block: the line (its number + 1) that it is on, then … */
    uint32_t *next;   /* … the arc to look at next */
    uint32_t *path;
    uint32_t *bare;    /* blocks that have no line; … */
    uint32_t *between; /* … of each block: the line that it belongs to all the same, as `mark` */
    uint32_t bare_count;
    uint32_t steps;
};

static bool take_counts(struct graph *graph, const uint64_t *counters, size_t count)
{
    size_t used = 0;

    for (uint32_t i = 0; i + 1 < graph->arc_count; i++) {
        if (graph->arcs[i].flags & VTI_ARC_ON_TREE)
            continue;
        if (used == count)
            return false;
        graph->arcs[i].count = counters[used++];
    }
    return used == count;
}

static void list_arcs(const struct graph *graph, uint32_t *first, uint32_t *list, bool is_out)
{
    for (uint32_t i = 0; i < graph->arc_count; i++)
        first[(is_out ? graph->arcs[i].from : graph->arcs[i].to) + 1]++;
    for (uint32_t i = 0; i < graph->block_count; i++)
        first[i + 1] += first[i];
    for (uint32_t i = graph->arc_count; i-- > 0;) /* ends at the first of each block */
        list[--first[(is_out ? graph->arcs[i].from : graph->arcs[i].to) + 1]] = i;
    memmove(first, first + 1, graph->block_count * sizeof *first);
    first[graph->block_count] = graph->arc_count;
}

static bool make_room(struct graph *graph)
{
    size_t blocks = (size_t)graph->block_count + 1;
    size_t arcs = graph->arc_count;

    graph->out_first = calloc(blocks, sizeof(uint32_t));
    graph->in_first = calloc(blocks, sizeof(uint32_t));
    graph->out = calloc(arcs, sizeof(uint32_t));
    graph->in = calloc(arcs, sizeof(uint32_t));
    graph->parent = malloc(blocks * sizeof(uint32_t));
    graph->order = calloc(blocks, sizeof(uint32_t));
    graph->left = calloc(arcs, sizeof(uint64_t));
    graph->mark = calloc(blocks, sizeof(uint32_t));
    graph->next = calloc(blocks, sizeof(uint32_t));
    graph->path = calloc(blocks, sizeof(uint32_t));
    graph->bare = calloc(blocks, sizeof(uint32_t));
    graph->between = calloc(blocks, sizeof(uint32_t));
    return graph->out_first && graph->in_first && graph->out && graph->in && graph->parent &&
           graph->order && graph->left && graph->mark && graph->next && graph->path &&
           graph->bare && graph->between;
}

static void give_back(struct graph *graph)
{
    free(graph->out_first);
    free(graph->in_first);
    free(graph->out);
    free(graph->in);
    free(graph->parent);
    free(graph->order);
    free(graph->left);
    free(graph->mark);
    free(graph->next);
    free(graph->path);
    free(graph->bare);
    free(graph->between);
    free(graph->arcs);
}

/* ---- counts of all arcs --------------------------------------------------------------------------- */

/* The tree from the entry on; returns how many blocks it reaches. */
static uint32_t walk_tree(struct graph *graph)
{
    uint32_t count = 0;

    memset(graph->parent, 0xff, ((size_t)graph->block_count + 1) * sizeof *graph->parent);
    graph->parent[ENTRY] = graph->arc_count; /* none, but seen */
    graph->order[count++] = ENTRY;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = graph->order[i];

        for (int side = 0; side < 2; side++) {
            const uint32_t *first = side ? graph->in_first : graph->out_first;
            const uint32_t *list = side ? graph->in : graph->out;

            for (uint32_t j = first[block]; j < first[block + 1]; j++) {
                const struct vti_notes_arc *arc = &graph->arcs[list[j]];
                uint32_t other = side ? arc->from : arc->to;

                if (!(arc->flags & VTI_ARC_ON_TREE) || graph->parent[other] != NONE)
                    continue;
                graph->parent[other] = list[j];
                graph->order[count++] = other;
            }
        }
    }
    return count;
}

static void solve(struct graph *graph)
{
    for (uint32_t i = walk_tree(graph); i-- > 1;) {
        uint32_t block = graph->order[i];
        uint32_t unknown = graph->parent[block];
        uint64_t excess = 0;

        for (uint32_t j = graph->in_first[block]; j < graph->in_first[block + 1]; j++)
            if (graph->in[j] != unknown)
                excess += graph->arcs[graph->in[j]].count;
        for (uint32_t j = graph->out_first[block]; j < graph->out_first[block + 1]; j++)
            if (graph->out[j] != unknown)
                excess -= graph->arcs[graph->out[j]].count;
        graph->arcs[unknown].count = (int64_t)excess < 0 ? 0 - excess : excess;
    }
}

/* ---- lines ---------------------------------------------------------------------------------------- */

/* The cycle that the last arc of a walk closes: uses up what all of its arcs have left, and says how much. */
static uint64_t use_up(struct graph *graph, uint32_t depth)
{
    uint32_t start = graph->arcs[graph->path[depth - 1]].to;
    uint64_t least = UINT64_MAX;
    uint32_t first = depth;

    do {
        uint64_t left = graph->left[graph->path[--first]];

        least = left < least ? left : least;
    } while (graph->arcs[graph->path[first]].from != start);
    for (uint32_t i = first; i < depth; i++)
        graph->left[graph->path[i]] -= least;
    return least;
}

/* Looks for a cycle among the blocks of a line that have counts left, from one of them on: forward along a path,
 * back one step where it leads nowhere. */
static uint64_t use_cycle(struct graph *graph, uint32_t block, uint32_t mark)
{
    uint32_t depth = 0;

    graph->next[block] = graph->out_first[block];
    while (++graph->steps <= CYCLE_STEPS_MOST) {
        uint32_t at = graph->next[block];
        uint32_t arc, to;

        if (at == graph->out_first[block + 1]) {
            graph->mark[block] = 0; /* leads nowhere, from wherever it is reached */
            if (!depth)
                break;
            block = graph->arcs[graph->path[--depth]].from;
            continue;
        }
        graph->next[block] = at + 1;
        arc = graph->out[at];
        to = graph->arcs[arc].to;
        if (!graph->left[arc] || graph->mark[to] != mark)
            continue;
        graph->path[depth++] = arc;
        if (graph->next[to] != NONE) /* it is on the path */
            return use_up(graph, depth);
        block = to;
        graph->next[block] = graph->out_first[block];
    }
    return 0;
}

static void put_on(struct graph *graph, uint32_t block, uint32_t mark)
{
    graph->mark[block] = mark;
    graph->next[block] = NONE;
}

/* Whether a block can be reached from blocks of the line only. */
static bool is_within(struct graph *graph, uint32_t block, uint32_t mark)
{
    for (uint32_t j = graph->in_first[block]; j < graph->in_first[block + 1]; j++, graph->steps++)
        if (graph->mark[graph->arcs[graph->in[j]].from] != mark)
            return false;
    return graph->in_first[block] < graph->in_first[block + 1];
}

/* What the compiler has put between two parts of a line has no line of its own: it belongs to that one. */
static void mark_between(struct graph *graph, uint32_t mark)
{
    bool is_changed = graph->bare_count > 0;

    for (int i = 0; is_changed && i < BETWEEN_MOST && graph->steps < CYCLE_STEPS_MOST; i++) {
        is_changed = false;
        for (uint32_t j = 0; j < graph->bare_count; j++) {
            uint32_t block = graph->bare[j];

            if (graph->mark[block] == mark || !is_within(graph, block, mark))
                continue;
            put_on(graph, block, mark);
            graph->between[block] = mark;
            for (uint32_t k = graph->out_first[block]; k < graph->out_first[block + 1]; k++)
                graph->left[graph->out[k]] = graph->arcs[graph->out[k]].count;
            is_changed = true;
        }
    }
}

static void mark_blocks(struct graph *graph, const struct vti_notes_line *lines, size_t count,
                        uint32_t mark, bool by_last)
{
    for (size_t i = 0; i < count; i++) {
        if (by_last && !lines[i].is_last)
            continue;
        put_on(graph, lines[i].block, mark);
    }
}

static uint64_t cycles(struct graph *graph, const struct vti_notes_line *lines, size_t count,
                       uint32_t mark, bool by_last)
{
    uint64_t sum = 0;
    uint64_t found;

    do {
        found = 0;
        mark_blocks(graph, lines, count, mark, by_last);
        for (uint32_t i = 0; i < graph->bare_count; i++)
            if (graph->between[graph->bare[i]] == mark)
                put_on(graph, graph->bare[i], mark);
        for (size_t i = 0; i < count && !found; i++)
            if (graph->mark[lines[i].block] == mark && graph->next[lines[i].block] == NONE)
                found = use_cycle(graph, lines[i].block, mark);
        sum += found;
    } while (found && graph->steps <= CYCLE_STEPS_MOST);
    return sum;
}

static uint64_t block_count(const struct graph *graph, uint32_t block)
{
    uint64_t sum = 0;

    for (uint32_t j = graph->out_first[block]; j < graph->out_first[block + 1]; j++)
        if (graph->out[j] + 1 < graph->arc_count)
            sum += graph->arcs[graph->out[j]].count;
    return sum;
}

static uint64_t entered(struct graph *graph, uint32_t block, uint32_t mark)
{
    uint64_t sum = 0;

    if (block == ENTRY) /* what comes in is not counted where functions are left by a jump */
        return block_count(graph, block);
    for (uint32_t j = graph->in_first[block]; j < graph->in_first[block + 1]; j++)
        if (graph->mark[graph->arcs[graph->in[j]].from] != mark)
            sum += graph->arcs[graph->in[j]].count;
    return sum;
}

/* All entries of one line. A block may name it twice: it counts once. */
static uint64_t line_hits(struct graph *graph, const struct vti_notes_line *lines, size_t count,
                          uint32_t mark, bool by_last)
{
    uint64_t entries = 0, sum = 0;
    bool has_blocks = false;

    mark_blocks(graph, lines, count, mark, by_last);
    if (!by_last)
        mark_between(graph, mark);
    for (size_t i = 0; i < count; i++) {
        bool is_again = i && lines[i].block == lines[i - 1].block;
        bool stands = graph->mark[lines[i].block] == mark;

        if (is_again)
            continue;
        has_blocks |= stands;
        if (stands)
            entries += entered(graph, lines[i].block, mark);
        else
            sum += block_count(graph, lines[i].block);
        for (uint32_t j = graph->out_first[lines[i].block];
             j < graph->out_first[lines[i].block + 1]; j++)
            graph->left[graph->out[j]] = graph->arcs[graph->out[j]].count;
    }
    if (!has_blocks)
        return sum;
    return entries + cycles(graph, lines, count, mark, by_last);
}

static void find_bare(struct graph *graph)
{
    for (size_t i = 0; i < graph->of->line_count; i++)
        graph->mark[graph->of->lines[i].block] = 1;
    for (uint32_t i = EXIT + 1; i < graph->block_count; i++)
        if (!graph->mark[i])
            graph->bare[graph->bare_count++] = i;
    memset(graph->mark, 0, graph->block_count * sizeof *graph->mark);
}

static int by_line(const void *a, const void *b)
{
    const struct vti_notes_line *left = a;
    const struct vti_notes_line *right = b;
    size_t len = left->file.len < right->file.len ? left->file.len : right->file.len;
    int differ = memcmp(left->file.data, right->file.data, len);

    if (differ || left->file.len != right->file.len)
        return differ ? differ : left->file.len < right->file.len ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    if (left->block != right->block)
        return left->block < right->block ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

static bool count_lines(struct graph *graph, struct vti_flow *flow, bool by_last)
{
    struct vti_notes_line *lines = graph->of->lines;
    size_t count = graph->of->line_count;
    size_t end;

    flow->lines = calloc(count + 1, sizeof *flow->lines);
    if (!flow->lines)
        return false;
    if (count)
        qsort(lines, count, sizeof *lines, by_line);
    for (size_t i = 0; i < count; i = end) {
        struct vti_flow_line *line = &flow->lines[flow->line_count++];

        for (end = i + 1; end < count && lines[end].line == lines[i].line &&
                          vti_notes_text_is(lines[end].file, lines[i].file);)
            end++;
        line->file = lines[i].file;
        line->line = lines[i].line;
        line->hits = line_hits(graph, lines + i, end - i, 2 * (uint32_t)i + 1, false);
        if (by_last) {
            uint64_t hits = line_hits(graph, lines + i, end - i, 2 * (uint32_t)i + 2, true);

            line->hits = hits && hits < line->hits ? hits : line->hits;
        }
    }
    return true;
}

bool vti_flow_solve(struct vti_flow *flow, struct vti_notes_graph *notes, const uint64_t *counters,
                    size_t count, bool by_last)
{
    struct graph graph = {.of = notes, .block_count = notes->block_count};
    bool is_good = notes->arc_count < UINT32_MAX - 1 && notes->line_count < UINT32_MAX / 2 - 1;

    memset(flow, 0, sizeof *flow);
    graph.arc_count = (uint32_t)notes->arc_count + 1;
    graph.arcs = is_good ? calloc(graph.arc_count, sizeof *graph.arcs) : NULL;
    if (!graph.arcs)
        return false;
    if (notes->arc_count)
        memcpy(graph.arcs, notes->arcs, notes->arc_count * sizeof *graph.arcs);
    graph.arcs[notes->arc_count] = (struct vti_notes_arc){
        .from = EXIT, .to = ENTRY, .flags = VTI_ARC_ON_TREE};
    is_good = take_counts(&graph, counters, count) && make_room(&graph);
    if (is_good) {
        list_arcs(&graph, graph.out_first, graph.out, true);
        list_arcs(&graph, graph.in_first, graph.in, false);
        solve(&graph);
        find_bare(&graph);
        flow->calls = block_count(&graph, ENTRY);
        is_good = count_lines(&graph, flow, by_last);
    }
    give_back(&graph);
    return is_good;
}

void vti_flow_free(struct vti_flow *flow)
{
    free(flow->lines);
    memset(flow, 0, sizeof *flow);
}
