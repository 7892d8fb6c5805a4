/*
 * line_quick.c - what is usual when a line is reached, for hooks that stand between any two instructions of a program: compiled
 * so that it touches no vector registers, which nobody has saved. It must call nothing that might.
 *
 * As vti_line_step(), for lines that are statements of their own and never timed one by one.
 */
#include "core/line_step.h"

static inline bool is_usual(const struct vti_thread *self, const struct vti_line_frame *top,
                            const void *frame, uint32_t at)
{
    const struct vti_line_row *row;

    if (!top || top->frame != frame || at >= top->table->row_count || top->begin ||
        self->clock != VTI_TICKS_QUICK)
        return false;
    row = &top->table->rows[at];
    return row->line && row->statement == row->line &&
           (!top->statement || !vti_line_is_shared(top->statement));
}

/* Nobody wants lines, and the thread knows that already. */
static bool is_off(void)
{
    const struct vti_thread *self = vti_self;
    uint32_t word = vti_control_word();

    return !(word & VTI_CONTROL_LINES) && (!self || !self->line_top || self->lines_word == word);
}

bool vt_line_reach_quick(const void *frame, uint32_t at)
{
    struct vti_thread *self = vti_line_counting();
    struct vti_line_frame *top = self ? self->line_top : NULL;
    struct vti_line_row *row;
    uint64_t now;

    if (vti_unlikely(!top) && is_off())
        return true;
    if (vti_unlikely(!is_usual(self, top, frame, at)))
        return false;
    row = &top->table->rows[at];
    vti_line_count(self, top->table);
    now = vti_clock_quick();
    if (vti_unlikely(!top->row)) {
        struct vti_line *function = top->table->function;

        if (!function->begin)
            vti_line_begin(self, function, now);
        vti_line_open(self, row->line, now);
    } else if (vti_likely(top->row != row)) {
        vti_line_close(self, top->row->line, now);
        vti_line_open(self, row->line, now);
    }
    top->row = row;
    top->statement = row->statement;
    row->line->events++;
    return true;
}
