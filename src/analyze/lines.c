/*
 * lines.c - the table of functions and their lines: built, put in order, added up.
 *
 * Numbers of one line may arrive in any order and several times; vti_lines_finish() makes one of them.
 */
#include "analyze/lines.h"

#include "base/bytes.h"
#include "base/error.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where more than a third of what was measured was our own cost, what is left of it is rough: a hook costs more between other
 * code than in the loop in which its price was taken. */
#define ROUGH 1.5

int vti_lines_init(struct vti_lines *lines, double unit_s)
{
    int code;

    memset(lines, 0, sizeof *lines);
    lines->unit_s = unit_s;
    code = vti_map_create(&lines->known);
    return code ? code : vti_map_create(&lines->texts);
}

static void free_line(struct vti_lines_line *line)
{
    free(line->durations);
    free(line->callees);
}

void vti_lines_fini(struct vti_lines *lines)
{
    for (size_t i = 0; i < lines->function_count; i++) {
        struct vti_lines_function *function = &lines->functions[i];

        for (size_t j = 0; j < function->line_count; j++)
            free_line(&function->lines[j]);
        free(function->lines);
    }
    for (size_t i = 0; i < lines->source_count; i++)
        free(lines->sources[i].text);
    free(lines->functions);
    free(lines->sources);
    vti_map_free(lines->known);
    vti_map_free(lines->texts);
    memset(lines, 0, sizeof *lines);
}

const char *vti_lines_text(struct vti_lines *lines, const char *text, size_t len)
{
    const char *zero = memchr(text, 0, len);
    int is_new;
    int64_t at = vti_map_add(lines->texts, text, zero ? (size_t)(zero - text) : len, &is_new);

    return at < 0 ? NULL : vti_map_key(lines->texts, (uint32_t)at, &len);
}

static const char *keep(struct vti_lines *lines, const char *text)
{
    return vti_lines_text(lines, text ? text : "", text ? strlen(text) : 0);
}

/* ---- functions and lines --------------------------------------------------------------------- */

/* Equal texts are one text, so that their addresses will do as a key. */
struct key {
    const char *name, *file;
    uint32_t line, twin, process, track;
};

/* The place of a function whose texts are the table's own. */
static int64_t place_of(struct vti_lines *lines, const struct vti_lines_function *function,
                        int *is_new)
{
    struct key key;

    memset(&key, 0, sizeof key);
    key.name = function->name;
    key.file = function->file;
    key.line = function->line;
    key.twin = function->twin;
    key.process = function->process;
    key.track = function->track;
    return vti_map_add(lines->known, &key, sizeof key, is_new);
}

int64_t vti_lines_function(struct vti_lines *lines, const struct vti_lines_function *function)
{
    struct vti_lines_function made = *function;
    int is_new;
    int64_t at;

    made.name = keep(lines, function->name);
    made.file = keep(lines, function->file);
    made.language = keep(lines, function->language);
    made.plain = keep(lines, function->plain);
    made.thread = keep(lines, function->thread);
    if (!made.name || !made.file || !made.language || !made.plain || !made.thread ||
        vti_grow(&lines->functions, lines->function_count, &lines->function_room,
                 sizeof *lines->functions))
        return VTI_E_NOMEM;
    at = place_of(lines, &made, &is_new);
    if (at < 0 || !is_new)
        return at;
    made.calls = 0;
    made.total = NAN;
    made.excess = 0;
    made.lines = NULL;
    made.line_count = made.line_room = 0;
    lines->functions[lines->function_count++] = made;
    return at;
}

struct vti_lines_line *vti_lines_line(struct vti_lines_function *function, uint32_t line)
{
    if (vti_grow(&function->lines, function->line_count, &function->line_room,
                 sizeof *function->lines))
        return NULL;
    function->lines[function->line_count] = (struct vti_lines_line){
        .line = line, .statement = line, .shortest = NAN, .longest = NAN};
    return &function->lines[function->line_count++];
}

int vti_lines_callee(struct vti_lines_line *line, const struct vti_lines_callee *callee)
{
    if (vti_grow(&line->callees, line->callee_count, &line->callee_room, sizeof *line->callees))
        return VTI_E_NOMEM;
    line->callees[line->callee_count++] = *callee;
    return 0;
}

/* ---- adding up ------------------------------------------------------------------------------- */

/* Durations of two lines: `from` keeps its own. */
static int add_durations(struct vti_lines_line *to, const struct vti_lines_line *from)
{
    if (!from->durations)
        return 0;
    if (!to->durations) {
        to->durations = malloc(sizeof *to->durations);
        if (!to->durations)
            return VTI_E_NOMEM;
        *to->durations = *from->durations;
        return 0;
    }
    vti_durations_add(to->durations, from->durations);
    return 0;
}

/* Everything but callees, times multiplied by `scale`. */
static int add_numbers(struct vti_lines_line *to, const struct vti_lines_line *from, double scale)
{
    to->how = to->how > from->how ? to->how : from->how;
    to->is_mixed |= from->is_mixed;
    to->measured += from->measured * scale;
    to->events = vti_add_capped(to->events, from->events);
    to->hits = vti_add_capped(to->hits, from->hits);
    to->samples = vti_add_capped(to->samples, from->samples);
    to->time += from->time * scale;
    to->error = hypot(to->error, from->error * scale);
    to->suspended += from->suspended * scale;
    to->resumes = vti_add_capped(to->resumes, from->resumes);
    to->shortest = fmin(to->shortest, from->shortest * scale);
    to->longest = fmax(to->longest, from->longest * scale);
    return add_durations(to, from);
}

static int compare_callees(const void *left, const void *right)
{
    const struct vti_lines_callee *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    if (!order)
        order = strcmp(a->file, b->file);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_times(const void *left, const void *right)
{
    const struct vti_lines_callee *a = left, *b = right;

    return a->time < b->time ? 1 : a->time > b->time ? -1 : compare_callees(left, right);
}

/* Calls within calls of the same line, and our own cost, would make more of them than the line took. */
static void fit_callees(struct vti_lines_line *line)
{
    double sum = 0, share = 1;

    for (size_t i = 0; i < line->callee_count; i++)
        sum += line->callees[i].time;
    if (line->how != VTI_LINE_UNTIMED && sum > line->time)
        share = line->time / sum;
    for (size_t i = 0; i < line->callee_count; i++)
        line->callees[i].time = rint(line->callees[i].time * share);
}

/* One for each callee, the longest first. */
static void finish_callees(struct vti_lines_line *line)
{
    size_t kept = 0;

    if (!line->callee_count)
        return;
    qsort(line->callees, line->callee_count, sizeof *line->callees, compare_callees);
    for (size_t i = 1; i < line->callee_count; i++) {
        struct vti_lines_callee *to = &line->callees[kept];

        if (compare_callees(to, &line->callees[i])) {
            line->callees[++kept] = line->callees[i];
        } else {
            to->calls = vti_add_capped(to->calls, line->callees[i].calls);
            to->time += line->callees[i].time;
        }
    }
    line->callee_count = kept + 1;
    fit_callees(line);
    qsort(line->callees, line->callee_count, sizeof *line->callees, compare_times);
}

static int compare_lines(const void *left, const void *right)
{
    const struct vti_lines_line *a = left, *b = right;

    return (a->line > b->line) - (a->line < b->line);
}

/* `from` goes into `to` and is gone. */
static int unite(struct vti_lines_line *to, struct vti_lines_line *from)
{
    int code = add_numbers(to, from, 1);

    for (size_t i = 0; i < from->callee_count && !code; i++)
        code = vti_lines_callee(to, &from->callees[i]);
    free_line(from);
    return code;
}

static int finish_function(struct vti_lines_function *function)
{
    size_t count = function->line_count, kept = 0;
    int code = 0;

    if (!count)
        return 0;
    qsort(function->lines, count, sizeof *function->lines, compare_lines);
    for (size_t i = 1; i < count; i++) {
        int failed = 0;

        if (function->lines[kept].line == function->lines[i].line)
            failed = unite(&function->lines[kept], &function->lines[i]);
        else
            function->lines[++kept] = function->lines[i];
        code = failed ? failed : code;
    }
    function->line_count = kept + 1;
    for (size_t i = 0; i < function->line_count; i++) {
        function->lines[i].time = rint(function->lines[i].time);
        finish_callees(&function->lines[i]);
    }
    return code;
}

int vti_lines_finish(struct vti_lines *lines)
{
    int code = 0;

    for (size_t i = 0; i < lines->function_count && !code; i++)
        code = finish_function(&lines->functions[i]);
    return code ? vti_fail(code, "out of memory") : 0;
}

static int compare_functions(const void *left, const void *right)
{
    const struct vti_lines_function *a = left, *b = right;
    int order = strcmp(a->file, b->file);

    if (!order)
        order = (a->line > b->line) - (a->line < b->line);
    if (!order)
        order = strcmp(a->name, b->name);
    if (!order)
        order = (a->twin > b->twin) - (a->twin < b->twin);
    return order ? order : (a->track > b->track) - (a->track < b->track);
}

int vti_lines_sort(struct vti_lines *lines)
{
    int is_new, code;

    if (!lines->function_count)
        return 0;
    qsort(lines->functions, lines->function_count, sizeof *lines->functions, compare_functions);
    vti_map_free(lines->known);
    lines->known = NULL;
    code = vti_map_create(&lines->known);
    for (size_t i = 0; i < lines->function_count && !code; i++)
        code = place_of(lines, &lines->functions[i], &is_new) < 0 ? VTI_E_NOMEM : 0;
    return code;
}

bool vti_lines_has_hits(const struct vti_lines_function *function,
                        const struct vti_lines_line *line)
{
    return line->hits || line->how == VTI_LINE_UNTIMED || strcmp(function->language, "c") != 0;
}

bool vti_lines_has_time(const struct vti_lines_function *function)
{
    bool has_one = strcmp(function->language, "c") != 0 || !isnan(function->total);

    for (size_t i = 0; i < function->line_count && !has_one; i++)
        has_one = function->lines[i].how != VTI_LINE_UNTIMED;
    return has_one;
}

bool vti_lines_is_rough(const struct vti_lines_function *function,
                        const struct vti_lines_line *line)
{
    return line->how == VTI_LINE_TIMED && line->measured > ROUGH * line->time &&
           !strcmp(function->language, "c");
}

double vti_lines_total(const struct vti_lines_function *function)
{
    double sum = 0;

    for (size_t i = 0; i < function->line_count; i++)
        sum += function->lines[i].time;
    return fmin(sum, function->total); /* the sum, where that is not a number */
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int add_line(struct vti_lines *to, struct vti_lines_function *function,
                    const struct vti_lines_line *from, double scale)
{
    struct vti_lines_line *line = vti_lines_line(function, from->line);
    int code = line ? add_numbers(line, from, scale) : VTI_E_NOMEM;

    if (!code)
        line->statement = from->statement;
    for (size_t i = 0; i < from->callee_count && !code; i++) {
        struct vti_lines_callee callee = from->callees[i];

        callee.name = keep(to, callee.name);
        callee.file = keep(to, callee.file);
        callee.time *= scale;
        code = callee.name && callee.file ? vti_lines_callee(line, &callee) : VTI_E_NOMEM;
    }
    return code;
}

static int add_function(struct vti_lines *to, const struct vti_lines_function *from, double scale)
{
    int64_t at = vti_lines_function(to, from);
    struct vti_lines_function *function;
    int code = 0;

    if (at < 0)
        return (int)at;
    function = &to->functions[at];
    function->calls = vti_add_capped(function->calls, from->calls);
    function->total = vti_lines_total(function) + vti_lines_total(from) * scale;
    if (from->last_line > function->last_line)
        function->last_line = from->last_line;
    for (size_t i = 0; i < from->line_count && !code; i++)
        code = add_line(to, function, &from->lines[i], scale);
    return code;
}

static void rescale(struct vti_lines *lines, double unit_s)
{
    double scale = lines->unit_s / unit_s;

    for (size_t i = 0; i < lines->function_count; i++) {
        struct vti_lines_function *function = &lines->functions[i];

        function->total *= scale;
        for (size_t j = 0; j < function->line_count; j++) {
            struct vti_lines_line *line = &function->lines[j];

            line->time *= scale;
            line->measured *= scale;
            line->error *= scale;
            line->suspended *= scale;
            line->shortest *= scale;
            line->longest *= scale;
            for (size_t k = 0; k < line->callee_count; k++)
                line->callees[k].time *= scale;
        }
    }
    lines->unit_s = unit_s;
}

int vti_lines_add(struct vti_lines *to, const struct vti_lines *from)
{
    int code = 0;

    if (from->unit_s > to->unit_s)
        rescale(to, from->unit_s);
    for (size_t i = 0; i < from->function_count && !code; i++)
        code = add_function(to, &from->functions[i], from->unit_s / to->unit_s);
    for (size_t i = 0; i < from->source_count && !code; i++)
        code = vti_lines_keep_source(to, from->sources[i].file, strlen(from->sources[i].file),
                                     from->sources[i].text, from->sources[i].len);
    to->is_file = to->is_file && from->is_file;
    to->is_estimated = to->is_estimated || from->is_estimated;
    to->is_timed = to->is_timed || from->is_timed;
    to->has_counts = to->has_counts || from->has_counts;
    to->is_capped = to->is_capped || from->is_capped;
    to->has_nameless = to->has_nameless || from->has_nameless;
    to->cost_ns += from->cost_ns;
    to->cost_event_ns = fmax(to->cost_event_ns, from->cost_event_ns);
    to->lost_lines = vti_add_capped(to->lost_lines, from->lost_lines);
    if (from->recorded_s > to->recorded_s)
        to->recorded_s = from->recorded_s;
    return code ? vti_fail(code, "out of memory") : vti_lines_finish(to);
}

const struct vti_lines_source *vti_lines_source(const struct vti_lines *lines, const char *file)
{
    for (size_t i = lines->source_count; i-- > 0;)
        if (!strcmp(lines->sources[i].file, file))
            return &lines->sources[i];
    return NULL;
}

/* Whether the same text is there already, from another process. */
static bool is_kept(const struct vti_lines *lines, const struct vti_lines_source *source)
{
    for (size_t i = lines->source_count; i-- > 0;)
        if (lines->sources[i].file == source->file && lines->sources[i].len == source->len &&
            (!source->len || !memcmp(lines->sources[i].text, source->text, source->len)))
            return true;
    return false;
}

int vti_lines_keep_source(struct vti_lines *lines, const char *file, size_t file_len,
                          const char *text, size_t len)
{
    struct vti_lines_source source = {vti_lines_text(lines, file, file_len),
                                      (char *)(uintptr_t)text, len};

    if (source.file && is_kept(lines, &source))
        return 0;
    source.text = malloc(len + 1);
    if (!source.file || !source.text ||
        vti_grow(&lines->sources, lines->source_count, &lines->source_room,
                 sizeof *lines->sources)) {
        free(source.text);
        return VTI_E_NOMEM;
    }
    if (len)
        memcpy(source.text, text, len);
    source.text[len] = 0;
    lines->sources[lines->source_count++] = source;
    return 0;
}
