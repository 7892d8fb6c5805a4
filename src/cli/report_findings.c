/* report_findings.c - what stands out, as sentences and as JSON. */
#include "base/error.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/report.h"

#include <stdio.h>
#include <string.h>

#define INDENT 4

static void add_finding(struct vti_buf *out, const struct vti_finding *finding)
{
    static const char signs[] = {
        [VTI_SEVERITY_INFO] = '-', [VTI_SEVERITY_NOTICE] = '*', [VTI_SEVERITY_WARNING] = '!'};
    bool is_warning = finding->severity == VTI_SEVERITY_WARNING;
    struct vti_buf safe = {0};

    vti_text_safe(&safe, finding->text, strlen(finding->text));
    if (*finding->confidence)
        vti_buf_printf(&safe, " (%s)", finding->confidence);
    vti_buf_printf(out, "  %s%c%s ",
                   vti_terminal_style(stdout, is_warning ? VTI_STYLE_WARN : VTI_STYLE_BOLD),
                   signs[finding->severity], vti_terminal_style(stdout, VTI_STYLE_PLAIN));
    if (safe.len)
        vti_prose_wrap(out, (const char *)safe.data, safe.len, vti_prose_width(), INDENT);
    vti_buf_add_u8(out, '\n');
    out->failed |= safe.failed;
    vti_buf_fini(&safe);
}

int vti_report_print_findings(const struct vti_report *report)
{
    const struct vti_findings *findings = &report->findings;
    struct vti_buf out = {0};
    int code;

    vti_buf_printf(&out, "\n%sFindings%s\n", vti_terminal_style(stdout, VTI_STYLE_BOLD),
                   vti_terminal_style(stdout, VTI_STYLE_PLAIN));
    for (size_t i = 0; i < findings->count && i < VTI_FINDINGS_SHOWN; i++)
        add_finding(&out, &findings->items[i]);
    if (!findings->count)
        vti_buf_add_text(&out, "  " VTI_FINDINGS_NONE "\n");
    if (findings->count > VTI_FINDINGS_SHOWN)
        vti_buf_printf(&out, "    ... and %zu more, see --json\n",
                       findings->count - VTI_FINDINGS_SHOWN);
    code = out.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
    if (!code)
        fwrite(out.data, 1, out.len, stdout);
    vti_buf_fini(&out);
    return code;
}

static void add_evidence(struct vti_json *json, const struct vti_evidence *evidence)
{
    vti_json_key(json, "evidence");
    vti_json_object(json);
    vti_json_add_string(json, "what", evidence->what);
    if (*evidence->name)
        vti_json_add_string(json, "name", evidence->name);
    if (*evidence->file)
        vti_json_add_string(json, "file", evidence->file);
    if (evidence->line)
        vti_json_add_uint(json, "line", evidence->line);
    if (evidence->id != VT_NONE)
        vti_json_add_uint(json, "id", evidence->id);
    vti_json_object_end(json);
}

void vti_report_json_findings(struct vti_json *json, const struct vti_report *report)
{
    vti_json_key(json, "findings");
    vti_json_array(json);
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct vti_finding *finding = &report->findings.items[i];

        vti_json_object(json);
        vti_json_add_string(json, "kind", finding->kind);
        vti_json_add_string(json, "severity", vti_severity_text(finding->severity));
        vti_json_add_double(json, "weight", finding->weight);
        vti_json_add_string(json, "text", finding->text);
        vti_json_add_string(json, "confidence", finding->confidence);
        add_evidence(json, &finding->evidence);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}
