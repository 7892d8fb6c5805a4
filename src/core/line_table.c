/*
 * line_table.c - what a thread keeps for the lines of functions, and how that grows: tables of rows, the stack of
 * open calls, units in the arena. Slow path: signals blocked, no malloc.
 */
#include "core/clock.h"
#include "core/line.h"
#include "core/runtime.h"
#include "core/site.h"

#include <string.h>
#include <sys/mman.h>

#define POOL_BYTES 65536u
#define FIRST_TABLES 512u
#define FIRST_FRAMES 256u
#define FRAMES_MAX (1u << 20)
#define FUNCTIONS_MAX (1u << 22)
#define ROWS_MAX (1u << 20)
#define RETRY_LINES 65536u /* lost before it is looked again whether there is a place */

static uint32_t
    function_count; /* functions with lines that this process and its parents have seen */

/* ---- private memory -------------------------------------------------------------------------- */

static void empty_pools(struct vti_lines_state *state)
{
    for (struct vti_line_pool *pool = state->pools; pool; pool = pool->next) {
        memset(pool + 1, 0, pool->used - sizeof *pool);
        pool->used = sizeof *pool;
    }
    state->pool = state->pools;
}

/* Zeroed. */
static void *take(struct vti_lines_state *state, size_t bytes)
{
    struct vti_line_pool **link = &state->pool;
    size_t whole = POOL_BYTES;
    void *at;

    while (*link && (*link)->bytes - (*link)->used < bytes)
        link = &(*link)->next;
    if (!*link) {
        while (whole < bytes + sizeof **link)
            whole *= 2;
        *link = vti_private_map(whole);
        if (!*link)
            return NULL;
        **link = (struct vti_line_pool){NULL, whole, sizeof **link};
        if (!state->pools)
            state->pools = *link;
    }
    at = (char *)*link + (*link)->used;
    (*link)->used += bytes;
    return at;
}

/* The old one stays: what a signal handler has interrupted may be about to read it. */
static void *grow(const void *from, size_t count, size_t room, size_t size)
{
    char *grown = vti_private_map(room * size);

    if (grown && from)
        memcpy(grown, from, count * size);
    return grown;
}

bool vti_line_push_room(struct vti_thread *self)
{
    struct vti_lines_state *state = self->lines;
    size_t used = (size_t)(self->line_top - state->stack) + 1;
    struct vti_line_frame *grown;

    if (self->line_top + 1 < self->line_end)
        return true;
    grown = state->stack_room < FRAMES_MAX
                ? grow(state->stack, used, 2 * state->stack_room, sizeof *grown)
                : NULL;
    if (!grown)
        return false;
    state->stack = grown;
    state->stack_room *= 2;
    self->line_top = grown + used - 1;
    self->line_end = grown + state->stack_room;
    return true;
}

bool vti_line_start(struct vti_thread *self)
{
    struct vti_lines_state *state = self->lines;

    if (!state)
        state = self->lines = vti_private_map(sizeof *state);
    if (!state)
        return false;
    if (!state->stack) {
        state->stack = vti_private_map(FIRST_FRAMES * sizeof *state->stack);
        state->stack_room = FIRST_FRAMES;
    }
    if (!state->stack)
        return false;
    if (state->arena != self->arena) {
        empty_pools(state);
        if (state->tables)
            madvise(state->tables, state->table_room * sizeof *state->tables, MADV_DONTNEED);
        state->line_chunk = state->duration_chunk = state->callee_chunk = 0;
        state->full_until = 0;
        if (!vti_edges_start(&state->callees))
            return false;
        state->units = vti_arena_units(self->arena);
        state->arena = self->arena;
    }
    state->unplaced = 0;
    state->stack[0] = (struct vti_line_frame){.frame = (const void *)UINTPTR_MAX};
    self->line_top = state->stack;
    self->line_end = state->stack + state->stack_room;
    return true;
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool is_full(const struct vti_thread *self)
{
    return self->lines->full_until && self->slot->lost_lines < self->lines->full_until;
}

static void *new_unit(struct vti_thread *self, uint32_t *current, uint32_t type,
                      struct vti_chunk **chunk)
{
    struct vti_lines_state *state = self->lines;

    *chunk = is_full(self) ? NULL : vti_chunk_room(self, current, type, 1);
    state->full_until = *chunk ? 0 : self->slot->lost_lines + RETRY_LINES;
    if (!*chunk)
        return NULL;
    return state->units + (size_t)vti_chunk_unit(*chunk, *current) * VTI_UNIT_BYTES;
}

static struct vti_line *new_line(struct vti_thread *self, const struct vti_line_table *table,
                                 uint32_t number, uint32_t statement)
{
    struct vti_chunk *chunk;
    struct vti_line *line = new_unit(self, &self->lines->line_chunk, VTI_CHUNK_LINES, &chunk);

    if (!line)
        return NULL;
    line->site = table->lines->function;
    line->is_c = table->is_c;
    line->is_mixed = table->lines->is_mixed;
    line->line = number;
    line->statement = statement;
    vti_chunk_publish(chunk, 1);
    return line;
}

static uint32_t unit_of(const struct vti_lines_state *state, const struct vti_line *line)
{
    return (uint32_t)(((uintptr_t)line - (uintptr_t)state->units) / VTI_UNIT_BYTES);
}

/* They take eight times the room of a line: the last quarter is kept for lines. */
uint32_t vti_line_durations_of(struct vti_thread *self, const struct vti_line *line)
{
    struct vti_lines_state *state = self->lines;
    const struct vti_free_list *all = &vti_arena_producer(self->arena)->chunks;
    struct vti_chunk *chunk;
    uint32_t unit;

    if (__atomic_load_n(&all->unused, __ATOMIC_RELAXED) > VTI_CHUNK_COUNT / 4 * 3)
        return 0;
    chunk = vti_chunk_room(self, &state->duration_chunk, VTI_CHUNK_LINE_DURATIONS,
                           VTI_DURATION_UNITS);
    if (!chunk)
        return 0;
    unit = vti_chunk_unit(chunk, state->duration_chunk);
    chunk->sites[(chunk->used - 1) / VTI_DURATION_UNITS] = unit_of(state, line);
    vti_chunk_publish(chunk, VTI_DURATION_UNITS);
    return unit;
}

struct vti_line_callee *vti_line_callee_of(struct vti_thread *self, const struct vti_line *line,
                                           uint32_t site)
{
    struct vti_lines_state *state = self->lines;
    uint32_t line_unit = unit_of(state, line);
    uint64_t key = (uint64_t)line_unit << 32 | site;
    uint32_t unit = vti_edges_find(&state->callees, key);
    struct vti_line_callee *callee;
    struct vti_chunk *chunk;

    if (unit)
        return (struct vti_line_callee *)(state->units + (size_t)unit * VTI_UNIT_BYTES);
    if (!vti_edges_room(&state->callees))
        return NULL;
    callee = new_unit(self, &state->callee_chunk, VTI_CHUNK_LINE_CALLEES, &chunk);
    if (!callee)
        return NULL;
    callee->line = line_unit;
    callee->site = site;
    vti_edges_add(&state->callees, key, vti_chunk_unit(chunk, state->callee_chunk));
    vti_chunk_publish(chunk, 1);
    return callee;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Of the function in this process; 0 if there are too many. */
static uint32_t number_of(struct vt_lines *lines)
{
    uint32_t number = __atomic_load_n(&lines->number, __ATOMIC_RELAXED);

    if (number)
        return number;
    vti_runtime_lock();
    number = lines->number;
    if (!number && function_count < FUNCTIONS_MAX)
        number = ++function_count;
    __atomic_store_n(&lines->number, number, __ATOMIC_RELAXED);
    vti_runtime_unlock();
    return number;
}

static bool table_room(struct vti_lines_state *state, uint32_t number)
{
    uint32_t room = state->table_room ? state->table_room : FIRST_TABLES;
    struct vti_line_table **grown;

    if (number < state->table_room)
        return true;
    while (room <= number)
        room *= 2;
    grown = grow(state->tables, state->table_room, room, sizeof *grown);
    if (!grown)
        return false;
    __atomic_store_n(&state->tables, grown, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    state->table_room = room;
    return true;
}

static bool is_of_c(const struct vti_thread *self, const struct vt_lines *lines)
{
    const struct vti_site_entry *site = vti_site_find(self->arena, lines->function);
    const char *texts = (const char *)(site + 1);

    return site && site->unit_len == 1 &&
           texts[(size_t)site->name_len + site->function_len + site->file_len] == 'c';
}

static void describe(const struct vti_thread *self, struct vti_line_table *table,
                     const struct vt_lines *lines)
{
    table->lines = lines;
    table->is_c = is_of_c(self, lines);
    table->row_count = lines->row_count;
    for (uint32_t i = 0; i < table->row_count; i++) {
        uint32_t first = lines->rows[i].statement;

        if (first != i && first < table->row_count)
            table->rows[first].is_shared = true;
    }
}

struct vti_line_table *vti_line_table_of(struct vti_thread *self, struct vt_lines *lines)
{
    struct vti_lines_state *state = self->lines;
    uint32_t number = number_of(lines);
    struct vti_line_table *table = NULL;

    state->nowhere.function = &state->nowhere_function;
    if (number && lines->row_count <= ROWS_MAX && table_room(state, number)) {
        table = state->tables[number];
        if (!table)
            table = take(state, sizeof *table + lines->row_count * sizeof *table->rows);
        if (table && !state->tables[number])
            describe(self, table, lines);
        state->tables[number] = table;
    }
    if (table && !table->function)
        table->function = new_line(self, table, 0, lines->last_line);
    if (table && table->function)
        return table;
    self->slot->lost_lines++;
    return &state->nowhere;
}

/* The row that a statement begins with. */
static bool fill_first(struct vti_thread *self, struct vti_line_table *table, uint32_t at)
{
    const struct vt_line_row *known = &table->lines->rows[at];
    struct vti_line_row *row = &table->rows[at];
    struct vti_line *line;

    if (row->line)
        return true;
    if (row->is_shared && !row->whole)
        row->whole = new_line(self, table, known->line, 0);
    if (row->is_shared && !row->whole)
        return false;
    line = new_line(self, table, known->line, known->line);
    row->first = line;
    row->statement = row->is_shared ? row->whole : line;
    row->plain = row->is_shared || table->is_c || self->clock != VTI_TICKS_QUICK ? NULL : line;
    row->line = line;
    return line != NULL;
}

bool vti_line_fill(struct vti_thread *self, struct vti_line_table *table, uint32_t at)
{
    const struct vt_line_row *known = &table->lines->rows[at];
    uint32_t first = known->statement < table->row_count ? known->statement : at;
    struct vti_line_row *row = &table->rows[at];

    if (row->line)
        return true;
    if (!fill_first(self, table, first))
        return false;
    if (at == first)
        return true;
    row->first = table->rows[first].line;
    row->statement = table->rows[first].statement;
    row->line = new_line(self, table, known->line, table->lines->rows[first].line);
    return row->line != NULL;
}
