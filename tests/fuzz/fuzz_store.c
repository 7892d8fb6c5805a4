/* fuzz_store.c - URLs of stores and dead letters: whatever they hold, what is read of them is whole. */
#include "store/documents_traces.h"
#include "store/ship_impl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const struct vti_maker *vti_maker_at(size_t at)
{
    (void)at;
    return NULL;
}

static void read_url(const char *url)
{
    struct vti_store_settings settings;

    if (!vti_settings_parse(&settings, url)) {
        if (settings.password && strlen(settings.password) > 8 &&
            strstr(settings.shown, settings.password) &&
            !strstr(settings.host, settings.password) && !strstr(settings.path, settings.password))
            abort(); /* a secret where people see it */
        free(vti_settings_query(&settings, "a"));
    }
    vti_settings_fini(&settings);
}

/* What stores take from a letter of a trace: texts that are inside of what was kept, objects of JSON. */
static void read_detail(const struct vti_trace_detail *detail, const char *end)
{
    const uint32_t texts[] = {detail->name,       detail->service,    detail->project,
                              detail->host,       detail->error_type, detail->error_message,
                              detail->begin_info, detail->end_info};
    size_t bytes = 0;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = vti_trace_detail_text(detail, texts[i]);

        if (text >= end || strnlen(text, (size_t)(end - text)) == (size_t)(end - text))
            abort();
        bytes += strlen(text);
    }
    if (detail->part > VTI_TRACE_ERROR || bytes < 4 ||
        *vti_trace_detail_text(detail, detail->begin_info) != '{' ||
        *vti_trace_detail_text(detail, detail->end_info) != '{')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vti_batch batch = {0};
    struct vti_map *names;
    char *text = malloc(size + 1);

    if (!text || vti_map_create(&names))
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    read_url(text);
    vti_spool_is_name(text);
    if (!vti_dead_read(&batch, text, size, names) &&
        (batch.count != 1 || batch.documents->body_len < 2 ||
         *vti_batch_body(&batch, batch.documents) != '{'))
        abort();
    if (batch.count && vti_trace_detail_of(&batch, batch.documents))
        read_detail(vti_trace_detail_of(&batch, batch.documents),
                    (const char *)batch.details.data + batch.details.len);
    vti_batch_fini(&batch);
    vti_map_free(names);
    free(text);
    return 0;
}
