/* export.c - the list of exporters, and gathering of output for their sinks. */
#include "export/export.h"

#include "base/error.h"

#include <string.h>

#define WORTH_WRITING (64 * 1024)

#define VTI_EXPORTER(name) extern const struct vti_exporter vti_export_##name;
#include "export/exporters.def"
#undef VTI_EXPORTER

const struct vti_exporter *const vti_exporters[] = {
#define VTI_EXPORTER(name) &vti_export_##name,
#include "export/exporters.def"
#undef VTI_EXPORTER
    NULL,
};

const struct vti_exporter *vti_exporter_find(const char *name)
{
    for (int i = 0; vti_exporters[i]; i++)
        if (!strcmp(vti_exporters[i]->name, name))
            return vti_exporters[i];
    return NULL;
}

int vti_sink_flush(const struct vti_sink *sink, struct vti_buf *buf)
{
    int code;

    if (buf->failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    code = buf->len ? sink->write(sink->arg, buf->data, buf->len) : 0;
    vti_buf_clear(buf);
    return code;
}

int vti_sink_offer(const struct vti_sink *sink, struct vti_buf *buf)
{
    if (buf->len < WORTH_WRITING && !buf->failed)
        return 0;
    return vti_sink_flush(sink, buf);
}
