/*
 * line_slow.c - what is unusual about lines: recording is switched, calls end unseen, a row is reached for the
 * first time, there is no place. The hot path is line.c.
 */
#include "core/line_step.h"

void vti_line_start_durations(struct vti_thread *self, struct vti_line *statement)
{
    struct vti_slow slow;
    uint32_t unit;

    vti_slow_block(&slow);
    unit = vti_line_durations_of(self, statement);
    statement->durations = unit ? unit : VTI_NO_DURATIONS;
    if (unit)
        vti_line_count_duration(vti_line_durations(self, statement), statement->shortest - 1);
    vti_slow_leave(&slow);
}

static void end_all(struct vti_thread *self)
{
    uint64_t now = vti_clock_read(self->clock);

    while (self->line_top > self->lines->stack)
        if (self->line_top->frame)
            vti_line_end(self, self->line_top, now);
        else
            self->line_top--; /* a handler has interrupted its pushing */
    self->line_top = NULL;
}

void vti_line_leave_thread(struct vti_thread *self)
{
    if (self->line_top)
        end_all(self);
    vti_line_drop(self);
}

void vti_line_drop(struct vti_thread *self)
{
    if (self->line_top)
        while (self->line_top > self->lines->stack)
            (self->line_top--)->frame = NULL;
    self->line_top = NULL;
    self->line_end = NULL;
    self->lines_word = 0;
    if (self->lines)
        self->lines->arena = NULL;
}

/* Blocks signals and gives this thread if its lines are counted now; NULL: they are not. Recording may have
 * been switched since the last event. vti_slow_leave() must follow. */
static struct vti_thread *look(struct vti_slow *slow)
{
    struct vti_thread *self = vti_slow_enter(slow, 0);
    uint32_t word = vti_control_word();

    if (slow->is_slotless)
        vti_thread_lose_line(vti_self);
    if (!self) {
        if (vti_self && vti_self->line_top)
            end_all(vti_self);
        return NULL;
    }
    if (self->lines_word != word) {
        if (self->line_top)
            end_all(self);
        self->lines_word = word;
        if (word & VTI_CONTROL_LINES && !vti_line_start(self))
            self->line_top = NULL;
    }
    if (!self->line_top && word & VTI_CONTROL_LINES)
        self->slot->lost_lines++; /* no memory */
    return self->line_top ? self : NULL;
}

bool vti_line_is_off(void)
{
    return !(vti_control_word() & VTI_CONTROL_LINES) && (!vti_self || !vti_self->line_top);
}

struct vti_line_frame *vti_line_find(struct vti_thread *self, const void *frame)
{
    const struct vti_line_frame *at = self->line_top;
    uint64_t now;

    if (self->lines->unplaced)
        return NULL;
    while (at > self->lines->stack && at->frame != frame)
        at--;
    if (at == self->lines->stack)
        return NULL;
    now = vti_clock_read(self->clock);
    while (self->line_top != at)
        vti_line_end(self, self->line_top, now);
    return self->line_top;
}

struct vti_line_frame *vti_line_push_slowly(struct vt_lines *lines, const void *frame)
{
    struct vti_slow slow;
    struct vti_thread *self = look(&slow);
    struct vti_line_frame *top = NULL;

    if (!self)
        goto out;
    if (self->line_top->frame == frame)
        vti_line_end(self, self->line_top, vti_clock_read(self->clock));
    if (!self->lines->unplaced && vti_line_push_room(self)) {
        top = vti_line_push(self, vti_line_table_of(self, lines), frame);
    } else { /* too deep: it and all above it are only counted */
        self->lines->unplaced++;
        self->slot->lost_lines++;
    }
out:
    vti_slow_leave(&slow);
    return top;
}

struct vti_line_row *vti_line_row_of(struct vti_thread *self, struct vti_line_frame *top,
                                     uint32_t at)
{
    struct vti_line_table *table = top->table;
    struct vti_slow slow;
    bool is_there;

    if (at >= table->row_count ||
        (self->lines->full_until && self->slot->lost_lines < self->lines->full_until))
        return NULL;
    vti_slow_block(&slow);
    is_there = vti_line_fill(self, table, at);
    vti_slow_leave(&slow);
    return is_there ? &table->rows[at] : NULL;
}

void vti_line_reach_nowhere(struct vti_thread *self, struct vti_line_frame *top)
{
    uint64_t now = vti_clock_read(self->clock);

    self->slot->lost_lines++;
    vti_line_end_statement(self, top, now);
    top->statement = NULL;
    if (top->row)
        vti_line_close(self, top->row->line, now);
    top->row = NULL;
}

void vti_line_switch_over(void)
{
    struct vti_slow slow;

    look(&slow);
    vti_slow_leave(&slow);
}
