/*
 * line.c - the hot path of lines: which line of a function runs (venturi/line.h).
 *
 * As in call.c each function does its usual work in a straight line (line_step.h) and leaves what is unusual to
 * line_slow.c. The clock is read once for an event. Numbers are written by their own thread only and are
 * right whenever the process is killed. A signal handler that has lines may come at any point: what it
 * opens it closes again.
 */
#include "core/line_step.h"

#include <string.h>

_Static_assert(VT_ON_LINES == VTI_CONTROL_LINES, "one idea of bits");

static inline struct vti_line_frame *begin_call(struct vt_lines *lines, const void *frame)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_table *table = self ? vti_line_known_table(self, lines) : NULL;

    if (vti_likely(table && table->function && self->line_top + 1 < self->line_end &&
                   self->line_top->frame != frame && !self->lines->unplaced))
        return vti_line_push(self, table, frame);
    return vti_line_is_off() || !lines->function ? NULL : vti_line_push_slowly(lines, frame);
}

void vt_lines_enter(struct vt_lines *lines, const void *frame)
{
    struct vti_line_frame *top = begin_call(lines, frame);

    if (vti_unlikely(!top))
        return;
    vti_line_count(vti_self, top->table);
    top->table->function->hits++;
}

/* The innermost call reaches a row. The clock was read before all else: what has to wait for it waits less. */
static inline void arrive(struct vti_thread *self, struct vti_line_frame *top, uint32_t at,
                          uint32_t is_start, uint64_t now)
{
    struct vti_line_row *row = &top->table->rows[at];
    struct vti_line_row *from = top->row;

    vti_line_count(self, top->table);
    if (vti_unlikely(at >= top->table->row_count || !row->line)) {
        row = vti_line_row_of(self, top, at);
        if (!row) {
            vti_line_reach_nowhere(self, top);
            return;
        }
        now = vti_clock_read(self->clock);
    }
    vti_line_step(self, top, row, is_start != 0, now);
    vti_line_settle(self, from);
    if (vti_unlikely(is_start & VT_LINE_UNTOLD))
        row->line->events--;
}

void vt_line_reach(const void *frame, uint32_t row, uint32_t is_start)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_frame *top;
    uint64_t now;

    if (vti_unlikely(!self)) {
        if (!vti_line_is_off())
            vti_line_switch_over();
        return;
    }
    now = vti_clock_read(self->clock);
    top = self->line_top;
    if (vti_unlikely(top->frame != frame)) {
        top = vti_line_find(self, frame);
        self->slot->lost_lines += !top && self->lines->unplaced;
    }
    if (vti_likely(top))
        arrive(self, top, row, is_start, now);
}

/* Else its place on the stack was of another call, which has ended unseen. A function without a place may be any. */
static inline bool is_of(const struct vti_line_frame *top, const struct vt_lines *lines)
{
    return vti_likely(top->table->lines == lines) || !top->table->lines;
}

/* Out of line: beside it what is usual saves no registers. */
__attribute__((noinline)) static void reach_slowly(struct vt_lines *lines, const void *frame,
                                                   uint32_t row, uint32_t is_start)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_frame *top = vti_likely(self) ? self->line_top : NULL;
    uint64_t now = vti_likely(self) ? vti_clock_read(self->clock) : 0;

    if (top && vti_unlikely(top->frame != frame)) {
        top = vti_line_find(self, frame);
        if (!top && self->lines->unplaced) {
            self->slot->lost_lines++;
            return;
        }
    }
    if (vti_unlikely(!top || !is_of(top, lines))) {
        top = begin_call(lines, frame);
        self = vti_self;
        now = top ? vti_clock_read(self->clock) : 0;
    }
    if (vti_likely(top))
        arrive(self, top, row, is_start, now);
}

/* The same when the innermost call is the one. */
__attribute__((noinline)) static void arrive_slowly(struct vti_thread *self,
                                                    struct vti_line_frame *top, uint32_t row)
{
    arrive(self, top, row, VT_LINE_STARTS, vti_clock_read(self->clock));
}

__attribute__((noinline)) static void move_slowly(const struct vti_thread *self,
                                                  struct vti_line *from, struct vti_line *to,
                                                  uint64_t now)
{
    vti_line_close(self, from, now);
    vti_line_open(self, to, now);
}

/* One line is left for another: no other call is at either of them, and there were no events of C. */
static inline void move(const struct vti_thread *self, struct vti_line *from, struct vti_line *to,
                        uint64_t now)
{
    uint64_t begin = from->begin;

    if (vti_unlikely(from->open != 1 || !begin || to->open || self->slot->c_line_events)) {
        move_slowly(self, from, to, now);
        return;
    }
    from->begin = 0; /* first, as in vti_line_close() */
    from->open = 0;
    from->total += now - begin;
    from->inner += self->slot->line_events - from->begun;
    to->open = 1;
    to->begun = self->slot->line_events;
    to->begin = now;
}

/* As vti_line_step(), from one statement to another of the same call, each on a line of its own, both of which have run
 * before. Of a row that is plain the open statement is the line itself. */
void vt_line_reach_in(struct vt_lines *lines, const void *frame, uint32_t at, uint32_t is_start)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_frame *top = vti_likely(self) ? self->line_top : NULL;
    struct vti_line_row *row, *from;
    uint64_t now;

    if (vti_unlikely(!top || top->frame != frame || top->table->lines != lines ||
                     at >= top->table->row_count || is_start != VT_LINE_STARTS)) {
        reach_slowly(lines, frame, at, is_start);
        return;
    }
    now = vti_clock_quick(); /* early: what has to wait for it waits less */
    row = &top->table->rows[at];
    from = top->row;
    if (vti_unlikely(!from || !from->durations || !row->plain || !top->begin)) {
        arrive_slowly(self, top, at);
        return;
    }
    vti_line_note_execution(from->plain, from->durations, now - top->begin);
    self->slot->line_events++;
    top->begin = now;
    row->plain->events++;
    top->row = row;
    row->plain->hits++;
    top->statement = row->plain;
    if (vti_likely(from != row))
        move(self, from->plain, row->plain,
             now); /* last: beside the call in it nothing has to be kept */
}

void vt_lines_leave(const void *frame)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_frame *top;

    if (vti_unlikely(!self)) {
        if (!vti_line_is_off())
            vti_line_switch_over();
        return;
    }
    top = self->line_top;
    if (vti_unlikely(top->frame != frame)) {
        top = vti_line_find(self, frame);
        if (!top) {
            self->lines->unplaced -= self->lines->unplaced != 0;
            return;
        }
    }
    vti_line_count(self, top->table);
    vti_line_end(self, top, vti_clock_read(self->clock));
}

void vt_lines_suspend(const void *frame, struct vt_line_pause *pause)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_frame *top = self ? self->line_top : NULL;
    uint64_t now;

    *pause = (struct vt_line_pause){0, 0};
    if (top && vti_unlikely(top->frame != frame))
        top = vti_line_find(self, frame);
    if (vti_unlikely(!top)) {
        vt_lines_leave(frame);
        return;
    }
    vti_line_count(self, top->table);
    now = vti_clock_read(self->clock);
    pause->since = now;
    if (top->statement) {
        pause->elapsed = top->begin ? now - top->begin + 1 : 0;
        if (vti_line_is_shared(top->statement))
            vti_line_close(self, top->statement, now);
    }
    vti_line_pop(self, top, now);
}

static inline void count_pause(struct vti_line *line, uint64_t took)
{
    line->resumes++;
    line->suspended += took;
}

void vt_lines_resume(struct vt_lines *lines, const void *frame, uint32_t at,
                     const struct vt_line_pause *pause)
{
    struct vti_line_frame *top = begin_call(lines, frame);
    struct vti_thread *self = vti_self;
    struct vti_line_row *row;
    uint64_t took;
    uint64_t now;

    if (vti_unlikely(!top))
        return;
    vti_line_count(self, top->table);
    row = at < top->table->row_count ? &top->table->rows[at] : NULL;
    if (row && vti_unlikely(!row->line))
        row = vti_line_row_of(self, top, at);
    if (!row)
        return; /* before its first line, or there is no place: it begins with the next one */
    now = vti_clock_read(self->clock);
    took = pause->since && pause->since < now ? now - pause->since : 0;
    vti_line_step(self, top, row, false, now);
    row->line->events--;
    top->begin = pause->elapsed ? now - (pause->elapsed - 1) : 0;
    count_pause(row->line, took);
    if (row->statement != row->line)
        count_pause(row->statement, took);
    count_pause(top->table->function, took);
}

void vt_line_callee(const void *frame, uint32_t function, uint64_t ticks)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_row *row = self && self->line_top->frame == frame ? self->line_top->row : NULL;
    struct vti_line_callee *callee = row ? row->callee : NULL;
    struct vti_slow slow;

    if (!row || !function)
        return;
    if (vti_unlikely(!callee || callee->site != function)) {
        vti_slow_block(&slow);
        callee = vti_line_callee_of(self, row->line, function);
        vti_slow_leave(&slow);
        if (!callee) {
            self->slot->lost_lines++;
            return;
        }
        row->callee = callee;
    }
    callee->calls++;
    callee->total += ticks;
}

void vt_line_lost(void)
{
    struct vti_thread *self = vti_self;

    if (self && self->slot)
        self->slot->lost_lines++;
}

/* ---- a hook that measures itself ------------------------------------------------------------- */

/* A unit without any event is none to those who read. */
static uint64_t forget(const struct vti_thread *self, struct vti_line *line)
{
    uint64_t total = line ? line->total : 0;

    if (!line || line->open)
        return 0;
    line->events = line->hits = line->total = line->inner = line->c_inner = 0;
    line->suspended = line->resumes = line->shortest = line->longest = 0;
    if (line->durations + 1 > 1)
        memset(vti_line_durations(self, line), 0, VTI_DURATION_UNITS * VTI_UNIT_BYTES);
    return total;
}

uint64_t vt_lines_forget(struct vt_lines *lines)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_table *table = self ? vti_line_known_table(self, lines) : NULL;
    uint64_t total = 0;

    if (!table)
        return 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        struct vti_line_row *row = &table->rows[i];

        total += forget(self, row->line);
        forget(self, row->whole);
        if (row->callee)
            row->callee->calls = row->callee->total = 0;
    }
    forget(self, table->function);
    return total;
}
