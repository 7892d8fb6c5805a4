/*
 * osnotes.c - notifications of osprofiler, one on each line, become spans of traces: what `venturi ship --to file://…` writes, or a notifier that
 * prints JSON. Lines that are none of these are counted.
 */
#include "base/error.h"
#include "import/lines.h"
#include "import/notifications.h"

#include <string.h>

#define LINE_MOST (4u << 20)
#define LOOK_BYTES (64u << 10) /* in which such a file shows what it is */

static bool has_key(const struct vti_bytes *line, const char *key, size_t len)
{
    return line->data && memmem(line->data, line->len, key, len);
}
#define HAS(line, key) has_key((line), "\"" key "\"", sizeof(key) + 1)

static bool is_notification(const struct vti_bytes *line)
{
    return line->len > 2 && line->data[0] == '{' && HAS(line, "base_id") && HAS(line, "trace_id") &&
           HAS(line, "timestamp");
}

/* Other documents may stand between them: steps that were shipped into the same file. Where these are all that stands at its begin, the rest is
 * looked through, too. */
static bool fits(const uint8_t *data, size_t size)
{
    struct vti_bytes left = {(const char *)data, size};
    struct vti_bytes line;

    while (vti_next_line(&left, &line)) {
        bool is_begin = line.data < (const char *)data + LOOK_BYTES;

        if (line.len > LINE_MOST)
            return false;
        if (is_notification(&line))
            return true;
        if (line.len && (line.data[0] != '{' || (!is_begin && !HAS(&line, "@timestamp"))))
            return false;
    }
    return false;
}

static int run(const struct vti_import_input *input, struct vti_import_target *target)
{
    struct vti_bytes left = {(const char *)input->data, input->size};
    struct vti_notifications all;
    struct vti_bytes line;
    int code = vti_notifications_init(&all, target);

    while (!code && vti_next_line(&left, &line)) {
        if (line.len > LINE_MOST || (line.len && !HAS(&line, "trace_id")))
            all.unusable += line.len > LINE_MOST || line.data[0] != '{';
        else if (line.len)
            code = vti_notifications_text(&all, line.data, line.len);
        if (!code && input->is_stopped && input->is_stopped())
            code = vti_fail(VTI_E_TIMEOUT, "interrupted, nothing written");
    }
    if (!code && !all.list.count)
        code = vti_fail(VTI_E_EMPTY, "%s: holds no notifications that can be used", input->path);
    if (!code)
        code = vti_notifications_write(&all, input);
    vti_notifications_fini(&all);
    return code;
}

const struct vti_importer vti_import_osnotes = {
    .name = "osnotes",
    .summary = "notifications of osprofiler, one a line, as `venturi ship --to file://` writes",
    .fits = fits,
    .run = run,
    .is_direct = true,
};
