/*
 * lprof_read.c - the lines of functions from the file that line_profiler writes: a pickled LineStats, whose state
 * is {'timings': {(file, line, name): [(line, hits, time), …]}, 'unit': seconds}.
 *
 * Functions keep their order, because line_profiler 5 shows them in it. No list is taken more often than it
 * stands in the file, so that a small file cannot make a large table.
 */
#include "analyze/lines.h"
#include "analyze/pickle.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

#define HITS_MOST 1e18 /* that are no whole number */
#define TEXT_MOST 65536

struct loading {
    struct vti_lines *lines;
    struct vti_pickle pickle;
    const char *name;
    size_t taken; /* lines */
};

static int refuse(const struct loading *loading, const char *what)
{
    return vti_fail(VTI_E_DAMAGED, "%s: not a line profile of Python: %s", loading->name, what);
}

static const struct vti_pickle_value *value_of(const struct loading *loading, uint32_t item)
{
    return &loading->pickle.values[loading->pickle.items[item].value];
}

static bool is_text(const struct vti_pickle_value *value, const char *text)
{
    return value->type == VTI_PICKLE_TEXT && value->text.len == strlen(text) &&
           !memcmp(value->text.data, text, value->text.len);
}

/* The three items of a tuple. */
static bool take_triple(const struct loading *loading, const struct vti_pickle_value *tuple,
                        const struct vti_pickle_value **items)
{
    uint32_t item = tuple->first;

    if (tuple->type != VTI_PICKLE_TUPLE || tuple->count != 3)
        return false;
    for (unsigned i = 0; i < 3; i++, item = loading->pickle.items[item].next)
        items[i] = value_of(loading, item);
    return true;
}

static bool take_line(const struct vti_pickle_value *value, uint32_t *line)
{
    if (value->type != VTI_PICKLE_INT || value->number < 0 || value->number > INT32_MAX)
        return false;
    *line = (uint32_t)value->number;
    return true;
}

static bool take_time(const struct vti_pickle_value *value, double *time)
{
    *time = value->type == VTI_PICKLE_INT ? (double)value->number : value->real;
    return value->type == VTI_PICKLE_INT ||
           (value->type == VTI_PICKLE_FLOAT && isfinite(value->real));
}

static bool take_hits(const struct vti_pickle_value *value, uint64_t *hits)
{
    double number;

    if (!take_time(value, &number) || number < 0)
        return false;
    *hits = value->type == VTI_PICKLE_INT ? (uint64_t)value->number
            : number < HITS_MOST          ? (uint64_t)number
                                          : (uint64_t)HITS_MOST;
    return true;
}

/* Whether it may have been larger. */
static bool is_capped(const struct vti_pickle_value *value)
{
    if (value->type == VTI_PICKLE_INT)
        return value->number == INT64_MAX || value->number == INT64_MIN;
    return value->real > HITS_MOST;
}

static int take_numbers(struct loading *loading, struct vti_lines_function *function,
                        const struct vti_pickle_value *tuple)
{
    const struct vti_pickle_value *parts[3];
    struct vti_lines_line numbers, *line;

    if (!take_triple(loading, tuple, parts) || !take_line(parts[0], &numbers.line) ||
        !take_hits(parts[1], &numbers.hits) || !take_time(parts[2], &numbers.time))
        return refuse(loading, "a line is not (line, hits, time)");
    line = vti_lines_line(function, numbers.line);
    if (!line)
        return VTI_E_NOMEM;
    loading->lines->is_capped |= is_capped(parts[1]) ||
                                 (parts[2]->type == VTI_PICKLE_INT && is_capped(parts[2]));
    line->hits = line->events = numbers.hits;
    line->time = numbers.time;
    line->how = VTI_LINE_TIMED;
    return 0;
}

static int64_t take_function(struct loading *loading, const struct vti_pickle_value *key)
{
    const struct vti_pickle_value *parts[3];
    struct vti_lines_function function = {.process = VT_NONE, .track = VT_NONE};

    if (!take_triple(loading, key, parts) || parts[0]->type != VTI_PICKLE_TEXT ||
        !take_line(parts[1], &function.line) || parts[2]->type != VTI_PICKLE_TEXT)
        return refuse(loading, "a key is not (file, line, name)");
    if (parts[0]->text.len > TEXT_MOST || parts[2]->text.len > TEXT_MOST)
        return refuse(loading, "a name is too long");
    function.file = vti_lines_text(loading->lines, parts[0]->text.data, parts[0]->text.len);
    function.name = vti_lines_text(loading->lines, parts[2]->text.data, parts[2]->text.len);
    if (!function.file || !function.name)
        return VTI_E_NOMEM;
    return vti_lines_function(loading->lines, &function);
}

static int take_timings(struct loading *loading, const struct vti_pickle_value *key,
                        const struct vti_pickle_value *list)
{
    const struct vti_pickle *pickle = &loading->pickle;
    int64_t at = take_function(loading, key);
    int code = 0;

    if (at < 0)
        return (int)at;
    if (list->type != VTI_PICKLE_LIST)
        return refuse(loading, "a function has no list of lines");
    loading->taken += list->count;
    if (loading->taken > pickle->item_count)
        return refuse(loading, "lines are shared by functions");
    for (uint32_t item = list->first; item != UINT32_MAX && !code; item = pickle->items[item].next)
        code = take_numbers(loading, &loading->lines->functions[at], value_of(loading, item));
    return code;
}

static int take_dict(struct loading *loading, const struct vti_pickle_value *dict)
{
    const struct vti_pickle *pickle = &loading->pickle;
    int code = 0;

    if (dict->type != VTI_PICKLE_DICT)
        return refuse(loading, "its timings are no dictionary");
    for (uint32_t at = dict->first; !code && at != UINT32_MAX;) {
        uint32_t value = pickle->items[at].next;

        code = take_timings(loading, value_of(loading, at), value_of(loading, value));
        at = pickle->items[value].next;
    }
    return code;
}

/* Who wrote it is told by where its class was: 1 and 2, 3 to 5.0.0, from then on. */
static bool is_line_stats(const struct vti_pickle_value *class_of)
{
    static const char *const modules[] = {"_line_profiler", "line_profiler._line_profiler",
                                          "line_profiler.line_profiler"};

    if (class_of->text.name_len != 9 || memcmp(class_of->text.name, "LineStats", 9) != 0)
        return false;
    for (unsigned i = 0; i < sizeof modules / sizeof *modules; i++)
        if (class_of->text.len == strlen(modules[i]) &&
            !memcmp(class_of->text.data, modules[i], class_of->text.len))
            return true;
    return false;
}

/* The state of the object; NULL after a message. */
static const struct vti_pickle_value *find_state(const struct loading *loading, uint32_t root)
{
    const struct vti_pickle_value *object = &loading->pickle.values[root];
    const struct vti_pickle_value *state;

    if (object->type != VTI_PICKLE_OBJECT) {
        refuse(loading, "something else was pickled");
        return NULL;
    }
    if (!is_line_stats(value_of(loading, object->first))) {
        refuse(loading, "an object of another class was pickled");
        return NULL;
    }
    state = object->count == 2 ? value_of(loading, object->last) : NULL;
    if (!state || state->type != VTI_PICKLE_DICT) {
        refuse(loading, "it has no timings");
        return NULL;
    }
    return state;
}

static int take_state(struct loading *loading, uint32_t root)
{
    const struct vti_pickle_value *state = find_state(loading, root);
    const struct vti_pickle_value *timings = NULL;
    bool has_unit = false;

    if (!state)
        return VTI_E_DAMAGED;
    for (uint32_t at = state->first; at != UINT32_MAX;) {
        uint32_t value = loading->pickle.items[at].next;

        if (is_text(value_of(loading, at), "timings"))
            timings = value_of(loading, value);
        else if (is_text(value_of(loading, at), "unit"))
            has_unit = take_time(value_of(loading, value), &loading->lines->unit_s);
        at = loading->pickle.items[value].next;
    }
    if (!timings)
        return refuse(loading, "it has no timings");
    if (!has_unit || !(loading->lines->unit_s > 0))
        return refuse(loading, "it has no unit of time");
    return take_dict(loading, timings);
}

bool vti_lines_is_lprof(const void *bytes, size_t count)
{
    const uint8_t *data = bytes;

    return count > 2 && data[0] == 0x80 && data[1] >= 2 && data[1] <= 5;
}

int vti_lines_read_lprof(struct vti_lines *lines, const char *name, const void *bytes, size_t count)
{
    struct loading loading = {.lines = lines, .name = name};
    uint32_t root = 0;
    int code = vti_lines_init(lines, 0);

    lines->is_file = true;
    if (!code)
        code = vti_pickle_read(&loading.pickle, name, bytes, count, &root);
    if (!code)
        code = take_state(&loading, root);
    if (!code)
        code = vti_lines_finish(lines);
    vti_pickle_free(&loading.pickle);
    if (code)
        vti_lines_fini(lines);
    return code == VTI_E_NOMEM ? vti_fail(code, "out of memory") : code;
}
