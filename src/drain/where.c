/*
 * where.c - where a thread is: the innermost call and the innermost line that are open in its chunks.
 *
 * The thread goes on while we look, and nothing in its arena is believed: indices are checked, ways that go on for ever are
 * given up.
 */
#include "drain/where.h"

#include "drain/snapshot.h"
#include "share/lines.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 65536u
#define ROOTS_MOST 4096u /* stacks of one thread that are looked at */
#define ALL_UNITS (VTI_CHUNK_COUNT * VTI_CHUNK_UNITS)

static const void *unit_at(const struct vti_arena_control *arena, uint32_t unit)
{
    return vti_arena_units(arena) + (size_t)unit * VTI_UNIT_BYTES;
}

static void add(uint32_t **list, uint32_t *count, uint32_t *room, uint32_t value)
{
    uint32_t more = *room ? 2 * *room : 8;
    uint32_t *grown;

    if (*count == *room) {
        grown = realloc(*list, more * sizeof *grown);
        if (!grown)
            return;
        *list = grown;
        *room = more;
    }
    (*list)[(*count)++] = value;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Nodes that came since the last time: one without a site and a parent is the bottom of a stack. */
static void search_roots(struct vti_where *where, const struct vti_arena_control *arena)
{
    const struct vti_chunk *chunk;
    uint32_t used;

    if (!where->node_chunk)
        return;
    chunk = vti_arena_chunk(arena, where->node_chunk - 1);
    used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
    if (used > VTI_CHUNK_UNITS)
        used = VTI_CHUNK_UNITS;
    for (uint32_t i = where->node_units; i < used; i++) {
        uint32_t unit = (where->node_chunk - 1) * VTI_CHUNK_UNITS + i;
        const struct vti_node *node = unit_at(arena, unit);

        if (!vti_snapshot_load32(&node->site) && !vti_snapshot_load32(&node->parent) &&
            where->root_count < ROOTS_MOST)
            add(&where->roots, &where->root_count, &where->root_room, unit);
    }
    where->node_units = used > where->node_units ? used : where->node_units;
}

/* Chunks are linked in the order in which they came into use; one of nodes is full when the next one comes. */
static void follow(struct vti_where *where, const struct vti_arena_control *arena, uint32_t first)
{
    const struct vti_chunk *chunk = where->last ? vti_arena_chunk(arena, where->last - 1) : NULL;
    uint32_t next = chunk ? __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE) : first;

    while (next && next <= VTI_CHUNK_COUNT && where->met < VTI_CHUNK_COUNT) {
        uint32_t type;

        chunk = vti_arena_chunk(arena, next - 1);
        type = vti_snapshot_load32(&chunk->type);
        if (type == VTI_CHUNK_NODES) {
            search_roots(where, arena);
            where->node_chunk = next;
            where->node_units = 1;
        } else if (type == VTI_CHUNK_LINES) {
            add(&where->lines, &where->line_count, &where->line_room, next - 1);
        }
        where->last = next;
        where->met++;
        next = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
    }
    search_roots(where, arena);
}

/* ---- what is open ---------------------------------------------------------------------------- */

/* A node is open while it has a begin, and it was its caller's most recent one when it was entered. */
static uint32_t innermost(const struct vti_arena_control *arena, uint32_t root)
{
    const struct vti_node *node = unit_at(arena, root);
    uint32_t at = 0;

    for (uint32_t depth = 0; depth < DEEPEST; depth++) {
        uint32_t recent = vti_snapshot_load32(&node->recent);

        if (!recent || recent >= ALL_UNITS)
            break;
        node = unit_at(arena, recent);
        if (!vti_snapshot_load(&node->begin) || !vti_snapshot_load32(&node->site))
            break;
        at = recent;
    }
    return at;
}

/* Of a line that is open; 0: it is not one, or not open. */
static uint64_t begin_of(const struct vti_line *line)
{
    bool is_line = vti_snapshot_load32(&line->line) && vti_snapshot_load32(&line->statement);

    return is_line && vti_snapshot_load(&line->open) ? vti_snapshot_load(&line->begin) : 0;
}

static uint32_t newest_line(const struct vti_arena_control *arena, uint32_t at, uint64_t *newest)
{
    const struct vti_chunk *chunk = vti_arena_chunk(arena, at);
    uint32_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
    uint32_t found = 0;

    for (uint32_t i = 1; i < used && i < VTI_CHUNK_UNITS; i++) {
        uint32_t unit = at * VTI_CHUNK_UNITS + i;
        uint64_t begin = begin_of(unit_at(arena, unit));

        if (begin > *newest) {
            *newest = begin;
            found = unit;
        }
    }
    return found;
}

void vti_where_find(struct vti_where *where, const struct vti_arena_control *arena, uint32_t first,
                    uint32_t *node, uint32_t *line)
{
    uint64_t newest = 0;

    *node = *line = 0;
    follow(where, arena, first);
    for (uint32_t i = 0; i < where->root_count && !*node; i++)
        *node = innermost(arena, where->roots[i]);
    for (uint32_t i = 0; i < where->line_count; i++) {
        uint32_t found = newest_line(arena, where->lines[i], &newest);

        *line = found ? found : *line;
    }
}

void vti_where_fini(struct vti_where *where)
{
    free(where->roots);
    free(where->lines);
    memset(where, 0, sizeof *where);
}
