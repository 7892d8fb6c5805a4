/* report_page.c - venturi report -o: everything that a recording holds as a page. */
#include "cli/report_page.h"

#include "analyze/profile.h"
#include "cli/cmd.h"
#include "cli/reading.h"
#include "cli/stop.h"
#include "import/import.h"
#include "page/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const struct vti_report_page *request;
    struct vti_page_options options;
    vt_recording *recording; /* NULL: a file of another tool */
};

static int take_events(const char *text, uint64_t *events)
{
    char *end;

    *events = VTI_PAGE_EVENTS;
    if (!text)
        return 0;
    if (!strcmp(text, "all")) {
        *events = UINT64_MAX;
        return 0;
    }
    errno = 0;
    *events = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || !*events)
        return vti_cmd_fail("report", "--events %s: not a number from 1 on, nor 'all'", text);
    return 0;
}

static int make(const struct vti_sink *sink, void *arg)
{
    const struct job *job = arg;

    return job->recording ? vti_page_report(job->recording, &job->options, sink)
                          : vti_page_report_file(job->request->file, &job->options, sink);
}

static int write_page(vt_recording *recording, void *arg)
{
    struct job *job = arg;

    job->recording = recording;
    return vti_page_output_write("report", &job->request->output, make, job);
}

int vti_report_page(const struct vti_report_page *request)
{
    struct job job = {.request = request,
                      .options = {.has_no_source = request->has_no_source,
                                  .is_growing = request->is_growing,
                                  .stated = request->stated,
                                  .progress = vti_page_output_progress}};
    int code = vti_reading_check("report", request->file);

    if (!code)
        code = take_events(request->events, &job.options.events);
    if (!code)
        code = vti_page_output_check("report", &request->output, request->file);
    if (code)
        return code;
    code = vti_profile_is_recording(request->file) || vti_import_is_direct(request->file)
               ? vti_reading_do("report", request->file, write_page, &job)
               : write_page(NULL, &job);
    vti_stop_end();
    return code;
}
