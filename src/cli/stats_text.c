/*
 * stats_text.c - the table of functions as pstats prints it, byte for byte.
 *
 * Text goes into a buffer as it is; whoever prints it on a terminal makes it harmless.
 */
#include "base/bytes.h"
#include "base/error.h"
#include "cli/render.h"
#include "cli/stats.h"

#include <stdlib.h>
#include <string.h>

void vti_stats_sum(struct vti_stats_sums *sums, const struct vti_profile *profile)
{
    memset(sums, 0, sizeof *sums);
    sums->cost_s = profile->calls->cost_ns / 1e9;
    sums->cost_call_s = profile->calls->cost_call_ns / 1e9;
    sums->lost_calls = profile->calls->lost_calls;
    sums->has_unseen = profile->calls->has_unseen;
    sums->is_estimated = profile->calls->is_estimated;
    sums->out_of_range = profile->out_of_range;
    for (size_t i = 0; i < profile->row_count; i++) {
        const struct vti_profile_row *row = &profile->rows[i];

        sums->calls = vti_add_capped(sums->calls, row->numbers.calls);
        sums->primitive = vti_add_capped(sums->primitive, row->numbers.primitive);
        sums->self_s += row->numbers.self_s;
        for (size_t j = 0; j < row->caller_count; j++) {
            uint32_t caller = profile->arcs[row->first_caller + j].caller;

            if (strcmp(profile->rows[caller].file, "jprofile") || profile->rows[caller].line ||
                strcmp(profile->rows[caller].name, "profiler"))
                continue;
            vti_buf_printf(&sums->top, "%8s %s\n", "", row->name);
        }
    }
}

static void add_padded(struct vti_buf *out, const char *text, size_t width)
{
    size_t len = vti_stats_label_width(text);

    vti_buf_add_text(out, text);
    if (len < width)
        vti_buf_printf(out, "%*s", (int)(width - len), "");
}

/* "3", or "5/3" if two of five calls were within another one; "~" if only samples met it. */
static void add_calls(struct vti_buf *out, const struct vti_profile_numbers *numbers, int width)
{
    char text[48];

    if (!numbers->calls && numbers->total_sampled_s > 0)
        snprintf(text, sizeof text, "~");
    else if (numbers->calls == numbers->primitive)
        snprintf(text, sizeof text, "%llu", (unsigned long long)numbers->calls);
    else
        snprintf(text, sizeof text, "%llu/%llu", (unsigned long long)numbers->calls,
                 (unsigned long long)numbers->primitive);
    vti_buf_printf(out, "%*s", width, text);
}

static void add_per_call(struct vti_buf *out, double seconds, uint64_t calls)
{
    if (calls)
        vti_buf_printf(out, "%8.3f ", seconds / (double)calls);
    else
        vti_buf_printf(out, "%9s", "");
}

/* A time, with the mark of an estimate if any of it is one. */
static void add_time(struct vti_buf *out, double seconds, double sampled_s)
{
    char text[48];

    snprintf(text, sizeof text, "%s%.3f", sampled_s > 0 ? "~" : "", seconds);
    vti_buf_printf(out, "%8s ", text);
}

/* Where only samples met it there are no calls to divide by: how far the estimate may be off instead. */
static void add_per_call_or_error(struct vti_buf *out, const struct vti_calls *calls,
                                  double seconds, double sampled_s, uint64_t count)
{
    char text[48];

    if (count || !(sampled_s > 0)) {
        add_per_call(out, seconds, count);
        return;
    }
    snprintf(text, sizeof text, "%.3f", vti_calls_error(calls, sampled_s * 1e9) / 1e9);
    vti_buf_printf(out, "%*s\u00b1%s ", (int)(7 - strlen(text)), "", text);
}

void vti_stats_text_table(struct vti_buf *out, const struct vti_stats_list *list,
                          const struct vti_stats_sums *sums, const char *title)
{
    vti_buf_printf(out, "%s\n\n", title);
    vti_buf_add(out, sums->top.data, sums->top.len);
    vti_buf_printf(out, "%8s %llu function calls ", "", (unsigned long long)sums->calls);
    if (sums->calls != sums->primitive)
        vti_buf_printf(out, "(%llu primitive calls) ", (unsigned long long)sums->primitive);
    vti_buf_printf(out, "in %.3f seconds\n\n", sums->self_s);
    if (!list->count)
        return;
    vti_buf_printf(out, "%.*s\n", (int)list->message.len, (const char *)list->message.data);
    vti_buf_add_text(out, "   ncalls  tottime  percall  cumtime  percall "
                          "filename:lineno(function)\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct vti_profile_numbers *numbers = &list->profile->rows[list->rows[i]].numbers;

        add_calls(out, numbers, 9);
        vti_buf_add_u8(out, ' ');
        add_time(out, numbers->self_s, numbers->self_sampled_s);
        add_per_call_or_error(out, list->profile->calls, numbers->self_s, numbers->self_sampled_s,
                              numbers->calls);
        add_time(out, numbers->total_s, numbers->total_sampled_s);
        add_per_call_or_error(out, list->profile->calls, numbers->total_s, numbers->total_sampled_s,
                              numbers->primitive);
        vti_buf_printf(out, "%s\n", list->labels[list->rows[i]]);
    }
    vti_buf_add_text(out, "\n\n");
}

/* ---- callers and callees --------------------------------------------------------------------- */

struct relation {
    const struct vti_profile_arc *arc;
    uint32_t other; /* row */
};

static int compare_relations(const void *left, const void *right, void *arg)
{
    const struct vti_profile *profile = arg;
    const struct vti_profile_row *a = &profile->rows[((const struct relation *)left)->other];
    const struct vti_profile_row *b = &profile->rows[((const struct relation *)right)->other];
    int order = strcmp(a->file, b->file);

    if (!order && a->line != b->line)
        order = a->line < b->line ? -1 : 1;
    return order ? order : strcmp(a->name, b->name);
}

static size_t heading(struct vti_buf *out, const struct vti_stats_list *list, const char *title)
{
    const struct vti_profile *profile = list->profile;
    size_t all = 0;
    size_t width;

    vti_buf_printf(out, "%.*s\n", (int)list->message.len, (const char *)list->message.data);
    width = vti_stats_list_width(list) + 2;
    add_padded(out, "Function ", width);
    vti_buf_printf(out, "%s\n", title);
    /* pstats looks at the first row that has callers. */
    while (all < profile->row_count && !profile->rows[all].caller_count)
        all++;
    if (all < profile->row_count && !profile->arcs[profile->rows[all].first_caller].is_count_only)
        vti_buf_printf(out, "%*s    ncalls  tottime  cumtime\n", (int)width, "");
    return width;
}

static void add_relations(struct vti_buf *out, const struct vti_stats_list *list, uint32_t row,
                          size_t width, const char *arrow, struct relation *relations, size_t count)
{
    add_padded(out, list->labels[row], width);
    vti_buf_printf(out, "%s ", arrow);
    if (!count)
        vti_buf_add_u8(out, '\n');
    if (count)
        qsort_r(relations, count, sizeof *relations, compare_relations, (void *)list->profile);
    for (size_t i = 0; i < count; i++) {
        const struct vti_profile_arc *arc = relations[i].arc;
        const char *label = list->labels[relations[i].other];

        if (arc->is_count_only) {
            vti_buf_printf(out, "%*s%s(%llu) %8.3f\n", i ? (int)width + 3 : 0, "", label,
                           (unsigned long long)arc->numbers.calls,
                           list->profile->rows[relations[i].other].numbers.total_s);
            continue;
        }
        vti_buf_printf(out, "%*s", i ? (int)width + 1 : 0, "");
        add_calls(out, &arc->numbers, i ? 9 : 7);
        vti_buf_add_u8(out, ' ');
        add_time(out, arc->numbers.self_s, arc->numbers.self_sampled_s);
        add_time(out, arc->numbers.total_s, arc->numbers.total_sampled_s);
        vti_buf_printf(out, " %s\n", label);
    }
}

int vti_stats_text_callees(struct vti_buf *out, const struct vti_stats_list *list)
{
    const struct vti_profile *profile = list->profile;
    struct relation *relations = calloc(profile->arc_count + 1, sizeof *relations);
    uint32_t *order;
    size_t *firsts;
    size_t width;
    int code = vti_profile_callees(profile, &firsts, &order);

    if (!relations)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < profile->arc_count && !code; i++)
        relations[i] = (struct relation){&profile->arcs[order[i]], profile->arcs[order[i]].callee};
    if (!code && list->count) {
        width = heading(out, list, "called...");
        for (size_t i = 0; i < list->count; i++) {
            uint32_t row = list->rows[i];

            add_relations(out, list, row, width, "->", relations + firsts[row],
                          firsts[row + 1] - firsts[row]);
        }
        vti_buf_add_text(out, "\n\n");
    }
    free(relations);
    free(order);
    free(firsts);
    return code;
}

int vti_stats_text_callers(struct vti_buf *out, const struct vti_stats_list *list)
{
    const struct vti_profile *profile = list->profile;
    struct relation *relations = calloc(profile->arc_count + 1, sizeof *relations);
    size_t width;

    if (!relations)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < profile->arc_count; i++)
        relations[i] = (struct relation){&profile->arcs[i], profile->arcs[i].caller};
    if (list->count) {
        width = heading(out, list, "was called by...");
        for (size_t i = 0; i < list->count; i++) {
            const struct vti_profile_row *row = &profile->rows[list->rows[i]];

            add_relations(out, list, list->rows[i], width, "<-", relations + row->first_caller,
                          row->caller_count);
        }
        vti_buf_add_text(out, "\n\n");
    }
    free(relations);
    return 0;
}
