/*
 * profile_build.c - a profile, row by row: by what pstats knows a function by.
 *
 * pstats tells functions apart by file, line and name, so no two rows may share all three.
 */
#include "analyze/profile_impl.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MOST 1e12 /* thirty thousand years; sums of it stay numbers */

static int no_memory(void)
{
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

int vti_profile_begin(struct vti_profile *profile)
{
    memset(profile, 0, sizeof *profile);
    profile->calls = calloc(1, sizeof *profile->calls);
    profile->is_owner = true;
    return profile->calls ? 0 : no_memory();
}

void vti_profile_fini(struct vti_profile *profile)
{
    if (profile->is_owner && profile->calls) {
        vti_calls_fini(profile->calls);
        free(profile->calls);
    }
    free(profile->rows);
    free(profile->arcs);
    vti_map_free(profile->keys);
    vti_map_free(profile->pairs);
    memset(profile, 0, sizeof *profile);
}

int64_t vti_profile_row(struct vti_profile *profile, const char *file, uint32_t line,
                        const char *name, int *is_new)
{
    struct {
        const char *file, *name;
        uint64_t line;
    } key = {vti_calls_text(profile->calls, file), vti_calls_text(profile->calls, name), line};
    int64_t at;

    if (!key.file || !key.name || (!profile->keys && vti_map_create(&profile->keys)) ||
        vti_grow(&profile->rows, profile->row_count, &profile->row_room, sizeof *profile->rows))
        return no_memory();
    at = vti_map_add(profile->keys, &key, sizeof key, is_new);
    if (at < 0)
        return no_memory();
    if (*is_new)
        profile->rows[profile->row_count++] = (struct vti_profile_row){.file = key.file,
                                                                       .name = key.name,
                                                                       .line = line,
                                                                       .shortest_s = NAN,
                                                                       .longest_s = NAN,
                                                                       .p50_s = NAN,
                                                                       .p90_s = NAN,
                                                                       .p99_s = NAN};
    return at;
}

int64_t vti_profile_plain_row(struct vti_profile *profile, const char *file, uint32_t line,
                              const char *name)
{
    struct vti_function function = {.name = name, .function = name, .file = file, .line = line};
    bool is_builtin = !strcmp(file, "~") && !line;
    int is_new;
    int64_t row = vti_profile_row(profile, file, line, name, &is_new);
    int64_t at;

    if (row < 0 || !is_new)
        return row;
    function.language = is_builtin ? "builtin" : "python";
    at = vti_calls_function(profile->calls, &function);
    if (at < 0)
        return at;
    profile->rows[row].function = (uint32_t)at;
    return row;
}

double vti_profile_seconds(struct vti_profile *profile, double seconds)
{
    if (seconds >= 0 && seconds <= SECONDS_MOST)
        return seconds;
    profile->out_of_range++;
    return seconds > 0 ? SECONDS_MOST : 0; /* what is not a number is none */
}

int64_t vti_profile_arc(struct vti_profile *profile, uint32_t caller, uint32_t callee)
{
    uint32_t key[2] = {caller, callee};
    int is_new;
    int64_t at;

    if ((!profile->pairs && vti_map_create(&profile->pairs)) ||
        vti_grow(&profile->arcs, profile->arc_count, &profile->arc_room, sizeof *profile->arcs))
        return no_memory();
    at = vti_map_add(profile->pairs, key, sizeof key, &is_new);
    if (at < 0)
        return no_memory();
    if (is_new)
        profile->arcs[profile->arc_count++] = (struct vti_profile_arc){.caller = caller,
                                                                       .callee = callee};
    return at;
}

int vti_profile_order(struct vti_profile *profile)
{
    struct vti_profile_arc *ordered = calloc(profile->arc_count + 1, sizeof *ordered);
    size_t at = 0;

    if (!ordered)
        return no_memory();
    for (size_t i = 0; i < profile->arc_count; i++)
        profile->rows[profile->arcs[i].callee].caller_count++;
    for (size_t i = 0; i < profile->row_count; i++) {
        profile->rows[i].first_caller = at;
        at += profile->rows[i].caller_count;
        profile->rows[i].caller_count = 0;
    }
    for (size_t i = 0; i < profile->arc_count; i++) {
        struct vti_profile_row *row = &profile->rows[profile->arcs[i].callee];

        ordered[row->first_caller + row->caller_count++] = profile->arcs[i];
    }
    free(profile->arcs);
    profile->arcs = ordered;
    profile->arc_room = profile->arc_count + 1;
    vti_map_free(profile->pairs);
    profile->pairs = NULL;
    return 0;
}

/* As cProfile has it: functions without a file are at ('~', 0, '<name>'). */
static void write_name(struct vti_buf *to, const struct vti_function *function, bool has_file,
                       unsigned number)
{
    const char *name = function->function[0] ? function->function : function->name;
    bool is_bare = !has_file && name[0] != '<';

    vti_buf_clear(to);
    vti_buf_printf(to, "%s%s", is_bare ? "<" : "", name);
    if (number)
        vti_buf_printf(to, " [%u]", number + 1);
    vti_buf_printf(to, "%s", is_bare ? ">" : "");
    vti_buf_add_u8(to, 0);
}

int64_t vti_profile_function_row(struct vti_profile *profile, uint32_t function)
{
    struct vti_function of = profile->calls->functions[function];
    bool has_file = of.file[0] && strcmp(of.file, "~") && strcmp(of.language, "builtin");
    struct vti_buf name = {0};
    unsigned number = 0;
    int is_new = 0;
    int64_t first = -1;
    int64_t row = 0;

    while (!is_new && row >= 0) {
        write_name(&name, &of, has_file, number);
        row = name.failed
                  ? no_memory()
                  : vti_profile_row(profile, has_file ? of.file : "~", has_file ? of.line : 0,
                                    (const char *)name.data, &is_new);
        if (first < 0)
            first = row;
        if (!is_new && row >= 0)
            number = ++profile->rows[first].namesakes;
    }
    vti_buf_fini(&name);
    if (row >= 0)
        profile->rows[row].function = function;
    return row;
}

int vti_profile_callees(const struct vti_profile *profile, size_t **firsts, uint32_t **order)
{
    size_t *at = calloc(profile->row_count + 2, sizeof *at);

    *firsts = at;
    *order = calloc(profile->arc_count + 1, sizeof **order);
    if (!at || !*order)
        return no_memory();
    for (size_t i = 0; i < profile->arc_count; i++)
        at[profile->arcs[i].caller + 2]++;
    for (size_t i = 2; i < profile->row_count + 2; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < profile->arc_count; i++)
        (*order)[at[profile->arcs[i].caller + 1]++] = (uint32_t)i;
    return 0;
}
