/*
 * between.c - what was called between snapshots of this process.
 *
 * Counts and times are differences. Of the shortest and the longest call only that is known which
 * the earlier snapshot had not seen: without one that is better, it is unknown. A function that was
 * open all the time was not called in between: those it called have no caller.
 */
#include "between.h"

#include "base/error.h"
#include "calibrate.h"
#include "functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct between {
    struct vti_calls *calls;
    const struct vti_py_snapshot *after, *before;
    double ns_per_tick;
    const struct vti_py_wanted *wanted;
    uint32_t *call_of; /* of each node of `after`: index of its call, VT_NONE: none */
    double *outside;   /* of each call: what its hooks took outside of it */
    PyObject *twins;   /* texts and line of a function to how many have them */
    PyObject *indices; /* id of a function to its index */
};

static const char *language_name(uint32_t language)
{
    static const char *const names[] = {"", "python", "builtin", "c"};

    return language < sizeof names / sizeof *names ? names[language] : "";
}

/* How many functions of this process have had the same texts before; -1 with an exception. */
static long count_twin(struct between *between, const struct vti_py_function *function)
{
    PyObject *key = Py_BuildValue("(OOOI)", function->file, function->name, function->qualname,
                                  function->line);
    PyObject *known = key ? PyDict_GetItemWithError(between->twins, key) : NULL;
    long count = known ? PyLong_AsLong(known) : 0;
    PyObject *next = PyErr_Occurred() ? NULL : PyLong_FromLong(count + 1);

    if (!next || PyDict_SetItem(between->twins, key, next))
        count = -1;
    Py_XDECREF(next);
    Py_XDECREF(key);
    return count;
}

/* A text as it is shown; NULL with an exception. *owner keeps it. */
static const char *shown(PyObject *text, PyObject **owner)
{
    *owner = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    return *owner ? PyBytes_AS_STRING(*owner) : NULL;
}

static int64_t add_function(struct between *between, const struct vti_py_function *known)
{
    PyObject *file = NULL, *name = NULL, *qualname = NULL;
    long twin = count_twin(between, known);
    struct vti_function function = {.name = shown(known->qualname, &qualname),
                                    .function = shown(known->name, &name),
                                    .file = shown(known->file, &file),
                                    .language = language_name(known->language),
                                    .line = known->line,
                                    .twin = (uint32_t)twin};
    int64_t index = VTI_E_NOMEM;

    if (twin >= 0 && function.name && function.function && function.file)
        index = vti_calls_function(between->calls, &function);
    Py_XDECREF(file);
    Py_XDECREF(name);
    Py_XDECREF(qualname);
    return index;
}

/* Nothing is known of it: its number must do. */
static int64_t add_unknown(struct between *between, uint32_t id)
{
    char name[32];
    bool is_more = id == VT_FUNCTION_MORE;
    const struct vti_function function = {
        .name = name, .function = name, .file = "", .language = is_more ? "" : "c"};

    snprintf(name, sizeof name, is_more ? "(more functions)" : "(function %u)", id);
    return vti_calls_function(between->calls, &function);
}

static const struct vti_py_function *known_function(uint32_t id)
{
    const struct vti_py_function *known = vti_py_function(id);

    return known ? known : vti_py_function_meet(id);
}

static int64_t function_of(struct between *between, uint32_t id)
{
    const struct vti_py_function *known = known_function(id);
    PyObject *key = PyLong_FromUnsignedLong(id);
    PyObject *found = key ? PyDict_GetItemWithError(between->indices, key) : NULL;
    int64_t index = found ? PyLong_AsLong(found) : VTI_E_NOMEM;
    PyObject *value = NULL;

    if (key && !found)
        index = known ? add_function(between, known) : add_unknown(between, id);
    if (!found && index >= 0)
        value = PyLong_FromLongLong(index);
    if (!found && (!value || PyDict_SetItem(between->indices, key, value)))
        index = VTI_E_NOMEM;
    Py_XDECREF(value);
    Py_XDECREF(key);
    PyErr_Clear();
    return index;
}

static void set_extremes(const struct between *between, struct vti_call *call,
                         const struct vt_call_node *now, const struct vt_call_node *then,
                         double inner)
{
    bool is_first = !then || then->shortest == UINT64_MAX;

    if (now->shortest == UINT64_MAX)
        return;
    if (is_first || now->shortest < then->shortest)
        call->shortest_ns = fmax((double)now->shortest * between->ns_per_tick - inner, 0);
    if (is_first || now->longest > then->longest)
        call->longest_ns = fmax((double)now->longest * between->ns_per_tick - inner, 0);
}

/* As in analyze/calls_load.c: in self_ns, until vti_calls_settle(), what is to be subtracted inside. */
static int add_node(struct between *between, size_t at)
{
    static const struct vt_call_node none;
    const struct vt_call_node *now = &between->after->nodes[at];
    int64_t earlier = vti_py_snapshot_find(between->before, now->thread, now->node);
    const struct vt_call_node *then = earlier < 0 ? NULL : &between->before->nodes[earlier];
    const struct vt_call_node *base = then ? then : &none;
    int64_t parent = vti_py_snapshot_find(between->after, now->thread, now->parent);
    const struct vti_py_function *known = known_function(now->function);
    struct vti_py_cost cost = vti_py_cost(known && !between->wanted->is_raw ? known->language : 0);
    double entries = (double)(now->calls - base->calls + now->resumes - base->resumes);
    double inner = cost.inner * between->ns_per_tick;
    struct vti_call call = {
        .parent = parent < 0 ? VT_NONE : between->call_of[parent],
        .track = VT_NONE,
        .is_open = now->is_open,
        .calls = now->calls - base->calls,
        .resumes = now->resumes - base->resumes,
        .total_ns = (double)(now->total - base->total) * between->ns_per_tick,
        .self_ns = entries * inner,
        .suspended_ns = (double)(now->suspended - base->suspended) * between->ns_per_tick,
        .shortest_ns = NAN,
        .longest_ns = NAN,
    };
    int64_t function;
    int64_t index;

    if (between->wanted->no_builtins && known && known->language == VT_LANGUAGE_BUILTIN) {
        between->call_of[at] = call.parent;
        return 0;
    }
    if (!(entries > 0)) {
        between->call_of[at] = VT_NONE;
        return 0;
    }
    function = function_of(between, now->function);
    call.function = (uint32_t)function;
    set_extremes(between, &call, now, then, inner);
    index = function < 0 ? function : vti_calls_add(between->calls, &call);
    if (index < 0)
        return (int)index;
    between->outside[index] = entries * (cost.pair - cost.inner) * between->ns_per_tick;
    between->call_of[at] = (uint32_t)index;
    return 0;
}

static int add_durations(struct between *between, const struct vt_call_durations *now)
{
    const struct vt_call_durations *then = vti_py_snapshot_durations(between->before, now);
    struct vti_durations durations = {.ns_per_tick = between->ns_per_tick};
    const struct vti_py_function *known = known_function(now->function);
    int64_t function;

    if (between->wanted->no_builtins && known && known->language == VT_LANGUAGE_BUILTIN)
        return 0;
    for (size_t i = 0; i < VT_DURATION_BUCKETS; i++)
        durations.counts[i] = now->counts[i] - (then ? then->counts[i] : 0);
    if (!vti_durations_count(&durations))
        return 0;
    function = function_of(between, now->function);
    if (function < 0)
        return (int)function;
    return vti_calls_durations(between->calls, (uint32_t)function, &durations);
}

static int add_period(struct between *between, const struct vti_py_period *period)
{
    const struct vti_py_snapshot *after = period->after;
    uint32_t thread = between->wanted->thread;
    int code = 0;

    between->after = after;
    between->before = period->before;
    between->ns_per_tick = 1e9 / after->ticks_per_second;
    for (size_t i = 0; i < after->node_count && !code; i++) {
        between->call_of[i] = VT_NONE;
        if (!thread || after->nodes[i].thread == thread)
            code = add_node(between, i);
    }
    for (size_t i = 0; i < after->duration_count && !code; i++)
        if (!thread || after->durations[i].thread == thread)
            code = add_durations(between, &after->durations[i]);
    between->calls->lost_calls += after->lost_calls -
                                  (period->before ? period->before->lost_calls : 0);
    return code;
}

int vti_py_between(struct vti_calls *calls, const struct vti_py_period *periods, size_t count,
                   const struct vti_py_wanted *wanted)
{
    struct between between = {
        .calls = calls, .wanted = wanted, .twins = PyDict_New(), .indices = PyDict_New()};
    size_t most = 0;
    size_t all = 0;
    int code = VTI_E_NOMEM;

    for (size_t i = 0; i < count; i++) {
        all += periods[i].after->node_count;
        most = periods[i].after->node_count > most ? periods[i].after->node_count : most;
    }
    vti_calls_init(calls);
    between.call_of = malloc((most + 1) * sizeof *between.call_of);
    between.outside = malloc((all + 1) * sizeof *between.outside);
    if (between.call_of && between.outside && between.twins && between.indices)
        code = 0;
    for (size_t i = 0; i < count && !code; i++)
        code = add_period(&between, &periods[i]);
    if (!code) {
        vti_calls_settle(calls, between.outside);
        vti_calls_finish(calls);
    }
    Py_XDECREF(between.indices);
    Py_XDECREF(between.twins);
    free(between.outside);
    free(between.call_of);
    PyErr_Clear();
    return code;
}
