/* calls_kit.c - functions and trees of their calls in a small recording, for tests of what reads them. */
#include "calls_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

const struct vti_calls_options kit_all_calls = {.track = VT_NONE, .process = VT_NONE};

void kit_function(struct kit *kit, uint32_t site, const char *name, uint32_t line,
                  const char *language)
{
    struct vti_site_fact fact = {.site = site,
                                 .type = VTI_SITE_FUNCTION,
                                 .name = vti_bytes_of(name),
                                 .function = vti_bytes_of(name),
                                 .file = vti_bytes_of("x"),
                                 .line = line,
                                 .unit = vti_bytes_of(language)};
    struct vti_buf payload = {0};

    vti_site_write(&payload, &fact);
    kit_fact(kit, VTI_SITES, &payload, 1);
    vti_buf_fini(&payload);
}

void kit_calls_start(struct kit *kit, uint32_t ticks_per_ns)
{
    struct vti_process_fact process = {.process = 0, .pid = 7, .start = 1000, .end = 100000};

    kit_init(kit, 1);
    kit_clock(kit, ticks_per_ns);
    kit_process(kit, &process);
    kit_track(kit, 0, 0, "main");
    kit_track(kit, 1, 0, "other");
}

void kit_calls(struct kit *kit, uint32_t track, const struct vti_call_fact *facts, uint32_t count)
{
    struct vti_buf payload = {0};

    for (uint32_t i = 0; i < count; i++)
        vti_call_write(&payload, &facts[i]);
    assert_int_equal(vti_writer_owned(kit->writer, VTI_CALL_TREE, track, &payload, count, 90000),
                     0);
    vti_buf_fini(&payload);
}

void kit_calls_load(struct kit *kit, const struct vti_calls_options *options,
                    struct vti_calls *calls)
{
    vt_recording *recording = kit_open(kit);

    assert_int_equal(vti_calls_load(calls, recording, options), 0);
    vt_recording_close(recording);
}
