/* diff.c - two runs become one table of functions and one tree of paths. */
#include "analyze/diff_impl.h"
#include "base/error.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct vti_profile *vti_diff_table(const struct vti_diff_side *side,
                                         enum vti_diff_table table)
{
    return table == VTI_DIFF_COUNTED ? &side->counted : &side->spans;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static int add_tree(struct vti_diff *diff, struct vti_diff_rows *rows, struct vti_map *places,
                    const struct vti_calls *calls, int side, int table)
{
    uint32_t *path_of = calloc(calls->call_count + 1, sizeof *path_of);
    int code = path_of ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    for (size_t i = 0; i < calls->call_count && !code; i++) {
        const struct vti_call *call = &calls->calls[i];
        uint32_t key[3] = {call->parent == VT_NONE ? VT_NONE : path_of[call->parent],
                           rows->of[side][table][call->function], (uint32_t)table};
        struct vti_diff_numbers *numbers;
        int is_new = 0;
        int64_t at = vti_map_add(places, key, sizeof key, &is_new);

        if (at < 0 ||
            vti_grow(&diff->paths, diff->path_count, &diff->path_room, sizeof *diff->paths)) {
            code = vti_fail(VTI_E_NOMEM, "out of memory");
            break;
        }
        if (is_new)
            diff->paths[diff->path_count++] = (struct vti_diff_path){key[0], key[1], {0}, {0}};
        path_of[i] = (uint32_t)at;
        numbers = side ? &diff->paths[at].now : &diff->paths[at].base;
        numbers->calls += call->calls + call->resumes;
        numbers->self_ns += call->self_ns;
        numbers->total_ns += call->total_ns;
    }
    free(path_of);
    return code;
}

/* Parents come before their children on each side, and so they do in the sum. */
static int match_paths(struct vti_diff *diff, struct vti_diff_rows *rows)
{
    const struct vti_diff_side *sides[2] = {diff->base, diff->now};
    struct vti_map *places = NULL;
    int code = vti_map_create(&places);

    for (int side = 0; side < 2 && !code; side++) {
        code = add_tree(diff, rows, places, &sides[side]->trees, side, VTI_DIFF_COUNTED);
        if (!code)
            code = add_tree(diff, rows, places, &sides[side]->span_tree, side, VTI_DIFF_SPANS);
    }
    vti_map_free(places);
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Where a function of a side's table stands once the rows are in their order: rows are moved, so the numbers are
 * too. */
static int by_change(const void *left, const void *right, void *arg)
{
    const struct vti_diff_function *rows = arg;
    const struct vti_diff_function *a = &rows[*(const uint32_t *)left];
    const struct vti_diff_function *b = &rows[*(const uint32_t *)right];
    double one = fabs(a->now.self_ns - a->base.self_ns);
    double other = fabs(b->now.self_ns - b->base.self_ns);

    if (one != other)
        return one < other ? 1 : -1;
    return *(const uint32_t *)left < *(const uint32_t *)right ? -1 : 1;
}

static int order_functions(struct vti_diff *diff, struct vti_diff_rows *rows)
{
    const struct vti_diff_side *sides[2] = {diff->base, diff->now};
    size_t count = diff->function_count;
    uint32_t *order = malloc((count + 1) * sizeof *order);
    uint32_t *place = malloc((count + 1) * sizeof *place);
    struct vti_diff_function *sorted = malloc((count + 1) * sizeof *sorted);
    int code = order && place && sorted ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    for (size_t i = 0; i < count && !code; i++)
        order[i] = (uint32_t)i;
    if (!code && count) {
        qsort_r(order, count, sizeof *order, by_change, diff->functions);
        for (size_t i = 0; i < count; i++) {
            sorted[i] = diff->functions[order[i]];
            place[order[i]] = (uint32_t)i;
        }
        for (int side = 0; side < 2; side++)
            for (int table = 0; table < VTI_DIFF_TABLES; table++) {
                const struct vti_profile *profile = vti_diff_table(sides[side],
                                                                   (enum vti_diff_table)table);

                for (size_t i = 0; i < profile->row_count; i++) {
                    uint32_t *at = &rows->of[side][table][profile->rows[i].function];

                    *at = place[*at];
                }
            }
        free(diff->functions);
        diff->functions = sorted;
        diff->function_room = count + 1;
        sorted = NULL;
    }
    free(order);
    free(place);
    free(sorted);
    return code;
}

static void note_load(struct vti_buf *doubts, const char *which, double others)
{
    if (others > 0)
        vti_buf_printf(doubts,
                       "other programs kept %.0f %% of the machine's CPUs busy during the %s run, "
                       "so that its times may be longer\n",
                       100 * others, which);
}

/* A command on one line: so are doubts. */
static void add_command(struct vti_buf *doubts, const char *command)
{
    for (; *command; command++)
        vti_buf_add_u8(doubts, (uint8_t)(*command == '\n' ? ' ' : *command));
}

static void note_commands(struct vti_buf *doubts, const char *base, const char *now)
{
    if (!*base || !*now || !strcmp(base, now))
        return;
    vti_buf_add_text(doubts, "the commands differ: ");
    add_command(doubts, base);
    vti_buf_add_text(doubts, ", then ");
    add_command(doubts, now);
    vti_buf_add_u8(doubts, '\n');
}

static void note_doubts(struct vti_diff *diff)
{
    const struct vti_diff_side *base = diff->base;
    const struct vti_diff_side *now = diff->now;
    struct vti_buf *doubts = &diff->doubts;

    note_commands(doubts, base->command, now->command);
    if (base->is_sampled != now->is_sampled)
        vti_buf_printf(doubts, "the %s run was sampled, the %s one counted\n",
                       base->is_sampled ? "base" : "new", base->is_sampled ? "new" : "base");
    if (base->counted.is_imported != now->counted.is_imported)
        vti_buf_printf(doubts,
                       "the %s run was measured by another profiler, whose own cost is in "
                       "its times\n",
                       base->counted.is_imported ? "base" : "new");
    if (!base->counted.row_count != !now->counted.row_count &&
        !base->spans.row_count != !now->spans.row_count)
        vti_buf_printf(doubts, "one run counted calls, the other recorded spans\n");
    if (*base->cpu && *now->cpu && strcmp(base->cpu, now->cpu))
        vti_buf_printf(doubts, "the runs were on different processors: %s, then %s\n", base->cpu,
                       now->cpu);
    if (base->lost_events || now->lost_events)
        vti_buf_printf(doubts, "events were lost: %llu in the base, %llu in the new run\n",
                       (unsigned long long)base->lost_events, (unsigned long long)now->lost_events);
    note_load(doubts, "base", base->others_busy);
    note_load(doubts, "new", now->others_busy);
    if (!base->is_closed || !now->is_closed)
        vti_buf_printf(doubts, "the %s recording was cut off\n",
                       !base->is_closed && !now->is_closed ? "base and the new"
                       : base->is_closed                   ? "new"
                                                           : "base");
}

static int make_rows(struct vti_diff *diff, struct vti_diff_rows *rows)
{
    const struct vti_diff_side *sides[2] = {diff->base, diff->now};

    for (int side = 0; side < 2; side++)
        for (int table = 0; table < VTI_DIFF_TABLES; table++) {
            const struct vti_profile *profile = vti_diff_table(sides[side],
                                                               (enum vti_diff_table)table);
            size_t count = profile->calls ? profile->calls->function_count : 0;

            rows->of[side][table] = calloc(count + 1, sizeof(uint32_t));
            if (!rows->of[side][table])
                return vti_fail(VTI_E_NOMEM, "out of memory");
        }
    return 0;
}

int vti_diff_make(struct vti_diff *diff, const struct vti_diff_side *base,
                  const struct vti_diff_side *now)
{
    struct vti_diff_rows rows = {0};
    int code;

    *diff = (struct vti_diff){.base = base, .now = now};
    code = make_rows(diff, &rows);
    if (!code)
        code = vti_diff_match(diff, &rows);
    if (!code)
        code = order_functions(diff, &rows);
    if (!code)
        code = match_paths(diff, &rows);
    if (!code)
        code = vti_diff_match_parts(diff);
    note_doubts(diff);
    for (int i = 0; i < 2 * VTI_DIFF_TABLES; i++)
        free(rows.of[i / VTI_DIFF_TABLES][i % VTI_DIFF_TABLES]);
    return code;
}

void vti_diff_fini(struct vti_diff *diff)
{
    free(diff->functions);
    free(diff->paths);
    free(diff->parts);
    vti_buf_fini(&diff->doubts);
    memset(diff, 0, sizeof *diff);
}
