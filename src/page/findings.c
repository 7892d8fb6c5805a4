/* findings.c - what stands out, in the directory, with where in the tables it is. */
#include "analyze/findings.h"
#include "base/uuid.h"
#include "page/job.h"

#include <string.h>

static int64_t find_function(const struct vti_page_job *job, const struct vti_evidence *evidence)
{
    const struct vti_profile *profile = &job->study->functions;

    for (size_t i = 0; i < profile->row_count; i++) {
        const struct vti_profile_row *row = &profile->rows[i];
        const struct vti_function *function = &profile->calls->functions[row->function];

        if (row->line == evidence->line &&
            (!strcmp(row->file, evidence->file) || !strcmp(function->file, evidence->file)) &&
            (!strcmp(function->name, evidence->name) || !strcmp(row->name, evidence->name)))
            return (int64_t)i;
    }
    return -1;
}

/* The row of the table of lines: they stand there function by function. */
static int64_t find_line(const struct vti_page_job *job, const struct vti_evidence *evidence)
{
    const struct vti_lines *lines = &job->study->lines;
    int64_t row = 0;

    for (size_t i = 0; i < lines->function_count; i++) {
        const struct vti_lines_function *function = &lines->functions[i];
        bool is_it = !strcmp(function->file, evidence->file);

        for (size_t j = 0; j < function->line_count; j++, row++)
            if (is_it && function->lines[j].line == evidence->line)
                return row;
    }
    return -1;
}

static void add_reference(struct vti_json *json, const char *key, int64_t index)
{
    if (index < 0)
        return;
    vti_json_object(json);
    vti_json_add_int(json, key, index);
    vti_json_object_end(json);
}

/* Which trace, and which of its spans. */
static void add_trace(struct vti_json *json, const struct vti_page_job *job,
                      const struct vti_evidence *evidence)
{
    const struct vti_traces *traces = &job->study->traces;
    char base[VTI_UUID_TEXT];

    for (size_t i = 0; i < traces->trace_count; i++) {
        vti_uuid_text(traces->traces[i].base, base);
        if (strcmp(base, evidence->name) != 0)
            continue;
        vti_json_object(json);
        vti_json_add_uint(json, "trace", i);
        vti_json_add_uint(json, "span", evidence->id);
        vti_json_object_end(json);
        return;
    }
}

static void add_references(struct vti_json *json, struct vti_page_job *job,
                           const struct vti_evidence *evidence)
{
    vti_json_key(json, "refs");
    vti_json_array(json);
    if (!strcmp(evidence->what, "function"))
        add_reference(json, "function", find_function(job, evidence));
    else if (!strcmp(evidence->what, "line"))
        add_reference(json, "line", find_line(job, evidence));
    else if (evidence->id == VT_NONE)
        ;
    else if (!strcmp(evidence->what, "span") || !strcmp(evidence->what, "counter"))
        add_reference(json, "site", vti_page_site(job, evidence->id));
    else if (!strcmp(evidence->what, "trace"))
        add_trace(json, job, evidence);
    else if (!strcmp(evidence->what, "tasks"))
        add_reference(json, "task_run", evidence->id);
    else if (!strcmp(evidence->what, "thread"))
        add_reference(json, "track", vti_page_track(job, evidence->id));
    else if (!strcmp(evidence->what, "process"))
        add_reference(json, "process", vti_page_process(job, evidence->id));
    vti_json_array_end(json);
}

static double severity_of(const struct vti_finding *finding)
{
    double weight = finding->weight > 0 ? finding->weight : 0;

    return ((double)finding->severity + (weight < 1 ? weight : 1)) / (VTI_SEVERITY_WARNING + 1);
}

int vti_page_add_findings(struct vti_page_job *job)
{
    struct vti_json *json = vti_page_directory(job->page);
    struct vti_findings findings = {0};
    int code = job->recording ? vti_findings_make(job->study, &findings)
                              : vti_findings_of_traces(&job->study->traces, &findings);

    vti_json_key(json, "findings");
    vti_json_array(json);
    for (size_t i = 0; i < findings.count && !code; i++) {
        const struct vti_finding *finding = &findings.items[i];

        vti_json_object(json);
        vti_json_add_string(json, "kind", finding->kind);
        vti_json_add_double(json, "severity", severity_of(finding));
        vti_json_add_string(json, "level", vti_severity_text(finding->severity));
        vti_json_add_string(json, "text", finding->text);
        vti_json_add_string(json, "confidence", finding->confidence);
        add_references(json, job, &finding->evidence);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
    vti_findings_fini(&findings);
    return code;
}
