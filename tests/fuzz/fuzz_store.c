/* fuzz_store.c - URLs of stores and dead letters: whatever they hold, what is read of them is whole. */
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
    vti_batch_fini(&batch);
    vti_map_free(names);
    free(text);
    return 0;
}
