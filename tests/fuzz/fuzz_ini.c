/*
 * fuzz_ini.c - libFuzzer target: any bytes as an ini file, followed as a logging configuration; formats of what was found are
 * filled in. No file is opened.
 */
#include "net/ini.h"
#include "net/log_format.h"
#include "net/logging_config.h"

#include <stdlib.h>
#include <string.h>

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Whether a text is ended within the file's. */
static void check_text(const struct vti_ini *ini, const char *text)
{
    require(text >= ini->text && text + strlen(text) <= ini->text + ini->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct vti_logging logging;
    const struct vti_log_record record = {"profiler_trace", "message", 1582790665954502999};
    struct vti_buf notes = {0};
    struct vti_ini ini;
    char line[300];

    if (!vti_ini_parse(&ini, "fuzz.conf", data, size)) {
        for (size_t i = 0; i < ini.count; i++) {
            check_text(&ini, ini.entries[i].section);
            check_text(&ini, ini.entries[i].key);
            check_text(&ini, ini.entries[i].value);
        }
        if (!vti_logging_load(&logging, &ini, "fuzz.conf", "a.profiler_trace", &notes)) {
            for (size_t i = 0; i < logging.count; i++) {
                const struct vti_log_spec *spec = &logging.specs[i];
                size_t len = vti_log_format(line, sizeof line, spec->format, spec->date, &record);

                require(len < sizeof line && strlen(line) == len);
                require(strnlen(spec->path, sizeof spec->path) < sizeof spec->path);
            }
        }
    }
    vti_buf_fini(&notes);
    vti_ini_close(&ini);
    return 0;
}
