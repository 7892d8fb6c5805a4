/* report_text.c - the summary of a recording in the terminal: what ran, and then part after part. */
#include "analyze/program_name.h"
#include "base/error.h"
#include "cli/prose.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "cli/report.h"

#include <stdio.h>
#include <string.h>

/* "$ ./pipeline alerts.csv", and how it ended if not well. */
static int print_command(const struct vti_report *report, const struct vt_process_info *process)
{
    const char *command = report->study.info.command;
    struct vti_buf safe = {0};
    struct vti_buf out = {0};
    int code;

    if (!*command && !process->status)
        return 0;
    vti_text_safe(&safe, command, strlen(command));
    if (safe.len) {
        vti_buf_add_text(&out, "$ ");
        vti_text_fit(&out, (const char *)safe.data, safe.len, vti_prose_width() - 2);
        vti_buf_add_u8(&out, '\n');
    }
    if (process->how == VT_END_EXIT && process->status)
        vti_buf_printf(&out, "It ended with exit code %u.\n", process->status);
    else if (process->how == VT_END_SIGNAL)
        vti_buf_printf(&out, "It was ended by signal %u.\n", process->status);
    code = safe.failed || out.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
    if (!code && out.len) {
        fputs(vti_terminal_style(stdout, VTI_STYLE_DIM), stdout);
        fwrite(out.data, 1, out.len, stdout);
        fputs(vti_terminal_style(stdout, VTI_STYLE_PLAIN), stdout);
    }
    vti_buf_fini(&safe);
    vti_buf_fini(&out);
    return code;
}

static int print_headline(const struct vti_report *report)
{
    const struct vt_recording_info *info = &report->study.info;
    struct vt_process_info process = {.name = ""};
    struct vti_sentence sentence;
    struct vti_buf text = {0};
    char name[VTI_PROGRAM_NAME];
    char when[VTI_WHEN_BYTES];
    char number[VTI_NUMBER_BYTES];
    int code;

    vt_recording_process(report->study.recording, 0, &process);
    vti_sentence_start(&sentence, "");
    if (!vti_program_name(report->study.recording, name))
        snprintf(name, sizeof name, "%s", info->path);
    vti_sentence_add(&sentence, "%s", name);
    vti_sentence_add(&sentence, "%s", vti_text_when(when, info->start_realtime_ns));
    if (report->study.wall_ns > 0)
        vti_sentence_add(&sentence, "%s", vti_text_duration(number, (double)report->study.wall_ns));
    vti_prose_plural(&text, info->process_count, "process");
    vti_buf_add_text(&text, ", ");
    vti_prose_plural(&text, info->track_count, "thread");
    vti_buf_add_text(&text, ", ");
    vti_prose_plural(&text, report->study.stats.span_count, "span");
    vti_sentence_add(&sentence, "%.*s", (int)text.len, (const char *)text.data);
    vti_buf_fini(&text);
    code = vti_sentence_print(&sentence);
    return code ? code : print_command(report, &process);
}

int vti_report_print(const struct vti_report *report)
{
    static int (*const parts[])(const struct vti_report *) = {
        print_headline,          vti_report_print_findings,  vti_report_print_resources,
        vti_report_print_energy, vti_report_print_tasks,     vti_report_print_steps,
        vti_report_print_spans,  vti_report_print_functions, vti_report_print_others,
        vti_report_print_trust,
    };
    int code = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++)
        code = parts[i](report);
    return code;
}
