/*
 * osreport.c - a report of osprofiler (`osprofiler trace show --json`) becomes spans of a trace.
 *
 * The report nests spans and rounds their times to milliseconds, but keeps the notifications that it was made from: those are taken, wherever they
 * stand. Depth is the file's to choose, so what is open is kept in a list and not on the stack.
 */
#include "base/error.h"
#include "base/json_scan.h"
#include "import/notifications.h"

#include <string.h>

#define LOOK_BYTES (64u << 10) /* in which a report shows what it is */
#define PAYLOAD "meta.raw_payload."

enum { IS_ARRAY = 1, IS_FIRST = 2 };

struct osreport {
    const struct vti_import_input *input;
    struct vti_json_scan scan;
    struct vti_buf open; /* a byte for each object and array around: the flags above */
    struct vti_buf key;
    struct vti_notifications all;
};

/* ---- the file -------------------------------------------------------------------------------- */

/* Into the value that stands next, if there is anything inside. */
static void descend(struct osreport *report)
{
    char sign = vti_json_peek(&report->scan);

    if (sign != '{' && sign != '[') {
        vti_json_skip(&report->scan);
        return;
    }
    vti_json_take(&report->scan, sign);
    vti_buf_add_u8(&report->open, IS_FIRST | (sign == '[' ? IS_ARRAY : 0));
}

/* One step: the next member of what is open, or out of it. */
static int step(struct osreport *report)
{
    uint8_t *flags = &report->open.data[report->open.len - 1];
    bool is_first = *flags & IS_FIRST;
    bool is_more = *flags & IS_ARRAY ? vti_json_next_item(&report->scan, &is_first)
                                     : vti_json_next_key(&report->scan, &is_first, &report->key);

    *flags = (uint8_t)((*flags & IS_ARRAY) | (is_first ? IS_FIRST : 0));
    if (!is_more)
        report->open.len--;
    else if (!(*flags & IS_ARRAY) && vti_json_peek(&report->scan) == '{' &&
             !strncmp((const char *)report->key.data, PAYLOAD, sizeof PAYLOAD - 1))
        return vti_notifications_take(&report->all, &report->scan);
    else
        descend(report);
    return 0;
}

static int read_all(struct osreport *report)
{
    int code = 0;

    descend(report);
    while (!code && report->open.len && !report->scan.failed && !report->open.failed)
        code = step(report);
    if (!code && report->scan.failed)
        code = vti_fail(VTI_E_DAMAGED, "%s: byte %zu: not JSON, or cut off", report->input->path,
                        (size_t)(report->scan.at - (const char *)report->input->data));
    if (!code && !report->all.list.count)
        code = vti_fail(VTI_E_EMPTY, "%s: a report without spans", report->input->path);
    return code;
}

static bool fits(const uint8_t *data, size_t size)
{
    struct vti_json_scan scan = {.at = (const char *)data, .end = (const char *)data + size};

    return vti_json_peek(&scan) == '{' &&
           memmem(data, size < LOOK_BYTES ? size : LOOK_BYTES, PAYLOAD, sizeof PAYLOAD - 1);
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    const char *data = (const char *)input->data;
    struct osreport report = {.input = input, .scan = {.at = data, .end = data + input->size}};
    int code = vti_notifications_init(&report.all, target);

    if (!code)
        code = read_all(&report);
    if (!code)
        code = vti_notifications_write(&report.all, input);
    vti_notifications_fini(&report.all);
    vti_buf_fini(&report.open);
    vti_buf_fini(&report.key);
    return code;
}

const struct vti_importer vti_import_osreport = {
    .name = "osreport",
    .summary = "a report of osprofiler, as `osprofiler trace show --json` writes it",
    .fits = fits,
    .run = run,
    .is_direct = true,
};
