/*
 * findings.c - runs the rules over a recording and puts what they say in order.
 *
 * Must never say more than the numbers do: a rule that cannot know says nothing.
 */
#include "analyze/findings_impl.h"

#include "base/error.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 64 /* bytes of a name in a sentence: what is longer cannot be read in one */
#define FILE_MOST 40

static const struct {
    const char *kind;
    vti_rule *find;
} rules[] = {
#define VTI_RULE(kind, function) {kind, function},
#include "analyze/findings.def"
#undef VTI_RULE
};

/* ---- saying ---------------------------------------------------------------------------------- */

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

void vti_finding_say(struct vti_finder *finder, enum vti_severity severity, double weight,
                     const struct vti_evidence *evidence, const char *doubt, const char *format,
                     ...)
{
    struct vti_findings *findings = finder->findings;
    struct vti_finding *finding;
    char text[1024];
    va_list args;

    if (finder->code)
        return;
    if (vti_grow(&findings->items, findings->count, &findings->capacity, sizeof *findings->items)) {
        finder->code = VTI_E_NOMEM;
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    finding = &findings->items[findings->count++];
    *finding = (struct vti_finding){.kind = finder->kind,
                                    .severity = severity,
                                    .weight = weight > 0 ? weight < 1 ? weight : 1 : 0,
                                    .text = copy(text),
                                    .confidence = doubt,
                                    .evidence = *evidence};
    finding->evidence.name = copy(evidence->name);
    finding->evidence.file = copy(evidence->file);
    if (!finding->text || !finding->evidence.name || !finding->evidence.file)
        finder->code = VTI_E_NOMEM;
}

static size_t whole_characters(const char *text, size_t len, size_t most)
{
    if (len <= most)
        return len;
    while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* Bytes that are no UTF-8 are replaced, so that the sentence is. */
static void add_clipped(struct vti_buf *out, const char *text, size_t most)
{
    size_t len = strlen(text);
    size_t head = whole_characters(text, len, len > most ? most / 2 : most);

    vti_utf8_repair(out, text, head);
    if (head < len) {
        const char *tail = text + len - most / 2;

        while (((unsigned char)*tail & 0xc0) == 0x80)
            tail++;
        vti_buf_add_text(out, "\xe2\x80\xa6");
        vti_utf8_repair(out, tail, strlen(tail));
    }
}

char *vti_clip(char to[VTI_CLIP_BYTES], const char *name, const char *file, uint32_t line)
{
    const char *slash = strrchr(file ? file : "", '/');
    struct vti_buf text = {0};

    add_clipped(&text, *name ? name : "(no name)", NAME_MOST);
    if (line && file && *file) {
        vti_buf_add_text(&text, " (");
        add_clipped(&text, slash ? slash + 1 : file, FILE_MOST);
        vti_buf_printf(&text, ":%u)", line);
    }
    vti_buf_add_u8(&text, 0);
    snprintf(to, VTI_CLIP_BYTES, "%s", text.failed ? "?" : (const char *)text.data);
    /* Replacements are longer than what they replace: the end may have been cut in a character. */
    to[vti_utf8_good(to, strlen(to))] = 0;
    vti_buf_fini(&text);
    return to;
}

char *vti_subject_text(char to[VTI_CLIP_BYTES], const struct vti_subject *subject)
{
    bool is_function = !strcmp(subject->what, "function");

    return vti_clip(to, subject->name, is_function ? subject->file : "", subject->line);
}

struct vti_evidence vti_subject_evidence(const struct vti_subject *subject)
{
    return (struct vti_evidence){subject->what, (char *)subject->name, (char *)subject->file,
                                 subject->line, subject->id};
}

char *vti_text_times(char to[VTI_TIMES_BYTES], uint64_t count)
{
    char number[VTI_NUMBER_BYTES];

    if (count == 1)
        snprintf(to, VTI_TIMES_BYTES, "once");
    else if (count == 2)
        snprintf(to, VTI_TIMES_BYTES, "twice");
    else
        snprintf(to, VTI_TIMES_BYTES, "%s times", vti_text_count(number, count));
    return to;
}

char *vti_text_in_calls(char to[VTI_TIMES_BYTES], uint64_t count, const char *call)
{
    char number[VTI_NUMBER_BYTES];

    *to = 0;
    if (count)
        snprintf(to, VTI_TIMES_BYTES, " in %s %s%s", vti_text_count(number, count), call,
                 count == 1 ? "" : "s");
    return to;
}

const char *vti_severity_text(enum vti_severity severity)
{
    static const char *const texts[] = {"info", "notice", "warning"};

    return texts[severity];
}

/* ---- running --------------------------------------------------------------------------------- */

static int by_severity(const void *left, const void *right)
{
    const struct vti_finding *a = left;
    const struct vti_finding *b = right;
    int order;

    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    order = strcmp(a->kind, b->kind);
    return order ? order : strcmp(a->text, b->text);
}

/* In order, or none at all. */
static int finish(struct vti_finder *finder)
{
    struct vti_findings *findings = finder->findings;

    if (!finder->code && findings->count)
        qsort(findings->items, findings->count, sizeof *findings->items, by_severity);
    if (!finder->code)
        return 0;
    vti_findings_fini(findings);
    return finder->code == VTI_E_NOMEM ? vti_fail(VTI_E_NOMEM, "out of memory") : finder->code;
}

int vti_findings_make(const struct vti_study *study, struct vti_findings *findings)
{
    struct vti_finder finder = {.study = study, .findings = findings};

    *findings = (struct vti_findings){0};
    finder.code = vti_worlds_make(&finder);
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !finder.code; i++) {
        finder.kind = rules[i].kind;
        rules[i].find(&finder);
    }
    vti_worlds_fini(&finder);
    return finish(&finder);
}

int vti_findings_of_traces(const struct vti_traces *traces, struct vti_findings *findings)
{
    const struct vti_study study = {.traces = *traces};
    struct vti_finder finder = {.study = &study, .findings = findings};

    *findings = (struct vti_findings){0};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].find == vti_find_trace_errors || rules[i].find == vti_find_slow_trace) {
            finder.kind = rules[i].kind;
            rules[i].find(&finder);
        }
    return finish(&finder);
}

int vti_findings_query(vt_recording *recording, struct vti_findings *findings)
{
    struct vti_study study;
    int code = vti_study_load(&study, recording, false);

    *findings = (struct vti_findings){0};
    if (!code)
        code = vti_findings_make(&study, findings);
    vti_study_fini(&study);
    return code;
}

void vti_findings_fini(struct vti_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].text);
        free(findings->items[i].evidence.name);
        free(findings->items[i].evidence.file);
    }
    free(findings->items);
    *findings = (struct vti_findings){0};
}
