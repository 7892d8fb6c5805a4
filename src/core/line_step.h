/*
 * line_step.h - the steps of the hot path of lines: a line is reached, a statement ends, a call is pushed and popped.
 *
 * It has code in it, unlike other headers: all of it belongs into functions of line.c, where an event costs
 * little more than its read of the clock.
 */
#ifndef VENTURI_CORE_LINE_STEP_H
#define VENTURI_CORE_LINE_STEP_H

#include "core/clock.h"
#include "core/line.h"

#define VTI_NO_DURATIONS UINT32_MAX /* there was no place for them */

/* ---- line_slow.c ----------------------------------------------------------------------------- */

/* The second execution of a statement ends: that of the first one is known, it is the shortest. */
void vti_line_start_durations(struct vti_thread *self, struct vti_line *statement);

/* An open call that is not the innermost one: those above it have ended unseen. NULL: it is not open. */
struct vti_line_frame *vti_line_find(struct vti_thread *self, const void *frame);

/* Nobody wants lines, and none are open that would have to end. */
bool vti_line_is_off(void);

/* Recording was switched since the last event: open calls end. */
void vti_line_switch_over(void);

/* Pushes a call where something is unusual; NULL: lines are not counted, or there is no place for it. */
struct vti_line_frame *vti_line_push_slowly(struct vt_lines *lines, const void *frame);

/* A row that is reached for the first time; NULL: there is no place for it. */
struct vti_line_row *vti_line_row_of(struct vti_thread *self, struct vti_line_frame *top,
                                     uint32_t at);

/* The line has no place: the one before it ends here, as it would have. */
void vti_line_reach_nowhere(struct vti_thread *self, struct vti_line_frame *top);

/* ---- units ----------------------------------------------------------------------------------- */

/* Each event is counted, and with those of C apart: a line pays for all that happened in its time. */
static inline void vti_line_count(const struct vti_thread *self, const struct vti_line_table *table)
{
    self->slot->line_events++;
    self->slot->c_line_events += table->is_c;
}

/* As long as there were none of C, `c_begun` is 0 everywhere. */
static inline void vti_line_begin(const struct vti_thread *self, struct vti_line *line,
                                  uint64_t now)
{
    line->begun = self->slot->line_events;
    if (vti_unlikely(self->slot->c_line_events))
        line->c_begun = self->slot->c_line_events;
    line->begin = now;
}

static inline void vti_line_open(const struct vti_thread *self, struct vti_line *line, uint64_t now)
{
    if (vti_likely(line->open++ == 0))
        vti_line_begin(self, line, now);
}

static inline void vti_line_close(const struct vti_thread *self, struct vti_line *line,
                                  uint64_t now)
{
    uint64_t begin = line->begin;

    if (vti_unlikely(--line->open != 0) || vti_unlikely(!begin))
        return;
    line->begin = 0; /* first: of a kill in between the time is lost, not counted twice */
    line->total += now - begin;
    line->inner += self->slot->line_events - line->begun;
    if (vti_unlikely(self->slot->c_line_events))
        line->c_inner += self->slot->c_line_events - line->c_begun;
}

static inline struct vti_durations_unit *vti_line_durations(const struct vti_thread *self,
                                                            const struct vti_line *statement)
{
    return (void *)(self->lines->units + (size_t)statement->durations * VTI_UNIT_BYTES);
}

/* As that of a call: counted with the next one. */
static inline void vti_line_count_duration(struct vti_durations_unit *durations, uint64_t took)
{
    durations->counts[VTI_DURATION_BUCKETS + durations->last]++;
    durations->last = (int64_t)vti_duration_bucket(took) - VTI_DURATION_BUCKETS;
}

/* Of a statement whose durations have a place. */
static inline void vti_line_note_execution(struct vti_line *statement,
                                           struct vti_durations_unit *durations, uint64_t took)
{
    if (vti_unlikely(took >= statement->longest))
        statement->longest = took;
    if (vti_unlikely(took < statement->shortest - 1))
        statement->shortest = took + 1;
    vti_line_count_duration(durations, took);
}

static inline bool vti_line_has_durations(const struct vti_line *statement)
{
    return vti_likely(statement->durations + 1 > 1);
}

/* An execution of a statement ends. */
static inline void vti_line_end_execution(struct vti_thread *self, struct vti_line *statement,
                                          uint64_t took)
{
    if (vti_unlikely(!statement->durations) && statement->shortest)
        vti_line_start_durations(self, statement);
    if (vti_line_has_durations(statement)) {
        vti_line_note_execution(statement, vti_line_durations(self, statement), took);
        return;
    }
    if (took >= statement->longest)
        statement->longest = took;
    if (took < statement->shortest - 1)
        statement->shortest = took + 1;
}

/* Whether a unit is that of a statement over several lines, which is timed apart from them. */
static inline bool vti_line_is_shared(const struct vti_line *statement)
{
    return statement->statement == 0;
}

/* A row is left: from now on its durations are found at once, if they have a place. */
static inline void vti_line_settle(const struct vti_thread *self, struct vti_line_row *row)
{
    if (row && row->plain && vti_line_has_durations(row->plain))
        row->durations = vti_line_durations(self, row->plain);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static inline void vti_line_end_statement(struct vti_thread *self, struct vti_line_frame *top,
                                          uint64_t now)
{
    struct vti_line *statement = top->statement;

    if (vti_unlikely(!statement))
        return;
    if (vti_likely(top->begin))
        vti_line_end_execution(self, statement, now - top->begin);
    if (vti_unlikely(vti_line_is_shared(statement)))
        vti_line_close(self, statement, now);
}

/* The innermost call goes: its line and the function are left, whatever becomes of the statement. */
static inline void vti_line_pop(struct vti_thread *self, struct vti_line_frame *top, uint64_t now)
{
    if (vti_likely(top->row))
        vti_line_close(self, top->row->line, now);
    vti_line_close(self, top->table->function, now);
    top->frame = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->line_top = top - 1;
    self->lines->unplaced = 0; /* what is above the innermost one has ended with it */
}

static inline void vti_line_end(struct vti_thread *self, struct vti_line_frame *top, uint64_t now)
{
    vti_line_end_statement(self, top, now);
    vti_line_pop(self, top, now);
}

static inline struct vti_line_frame *vti_line_push(struct vti_thread *self,
                                                   struct vti_line_table *table, const void *frame)
{
    struct vti_line_frame *top = self->line_top + 1;

    self->line_top = top; /* first, and blank: a handler goes on above it */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    top->table = table;
    top->row = NULL;
    top->statement = NULL;
    top->begin = 0;
    top->frame = frame;
    table->function->open++; /* it begins with its first line: that saves a look at the clock */
    return top;
}

static inline void vti_line_begin_statement(struct vti_thread *self, struct vti_line_frame *top,
                                            const struct vti_line_row *row, bool is_start,
                                            uint64_t now)
{
    vti_line_end_statement(self, top, now);
    top->statement = row->statement;
    top->begin = is_start ? now : 0;
    row->statement->hits += is_start;
    if (vti_unlikely(row->statement != row->line)) {
        row->first->hits += is_start;
        vti_line_open(self, row->statement, now);
    }
}

static inline void vti_line_step(struct vti_thread *self, struct vti_line_frame *top,
                                 struct vti_line_row *row, bool is_start, uint64_t now)
{
    struct vti_line *function;

    if (vti_unlikely(!top->row)) {
        function = top->table->function;
        if (!function->begin)
            vti_line_begin(self, function, now);
        vti_line_open(self, row->line, now);
    } else if (vti_likely(top->row != row)) {
        vti_line_close(self, top->row->line, now);
        vti_line_open(self, row->line, now);
    }
    top->row = row;
    row->line->events++;
    if (vti_likely(is_start || top->statement != row->statement))
        vti_line_begin_statement(self, top, row, is_start, now);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The thread if its lines are counted and recording has not been switched; else NULL. */
static inline struct vti_thread *vti_line_counting(void)
{
    struct vti_thread *self = vti_self;

    return vti_likely(self && self->lines_word == vti_control_word() && self->line_top) ? self
                                                                                        : NULL;
}

static inline struct vti_line_table *vti_line_known_table(const struct vti_thread *self,
                                                          const struct vt_lines *lines)
{
    uint32_t number = __atomic_load_n(&lines->number, __ATOMIC_RELAXED);

    return number < self->lines->table_room ? self->lines->tables[number] : NULL;
}

#endif
