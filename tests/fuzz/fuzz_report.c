/*
 * fuzz_report.c - libFuzzer target: any bytes as a recording, put right as far as checksums go, with all that is said and
 * drawn of it: findings, the page, flame graphs, the comparison with itself, and every format that it can be exported to.
 *
 * The first byte of the input chooses what is made, the second how. The numbers of a page must be those that a reader of it can
 * count with, and a recording must not differ from itself.
 */
#include "analyze/diff.h"
#include "analyze/findings.h"
#include "analyze/flame.h"
#include "export/export.h"
#include "page/diff.h"
#include "page/report.h"
#include "repair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFIX 2

static void require(int condition)
{
    if (!condition)
        abort();
}

/* Reads all bytes, so that a sanitizer sees those that are not there. */
static int take_bytes(void *arg, const void *bytes, size_t count)
{
    volatile uint8_t *sum = arg;

    for (size_t i = 0; i < count; i++)
        *sum = (uint8_t)(*sum + ((const uint8_t *)bytes)[i]);
    return 0;
}

static void make_findings(vt_recording *recording)
{
    struct vti_findings findings = {0};

    require(vti_findings_query(recording, &findings) == 0);
    for (size_t i = 0; i < findings.count; i++) {
        const struct vti_finding *finding = &findings.items[i];

        require(finding->weight >= 0 && finding->weight <= 1);
        require(finding->evidence.name && finding->evidence.file);
        require(!strstr(finding->text, "nan") && !strstr(finding->text, "inf "));
    }
    vti_findings_fini(&findings);
}

static void make_page(vt_recording *recording, unsigned shape)
{
    static const uint64_t events[] = {1, 3, 50, UINT64_MAX};
    struct vti_page_options options = {.events = events[shape % 4], .has_no_source = shape / 4 % 2};
    uint8_t sum = 0;

    require(vti_page_report(recording, &options, &(struct vti_sink){take_bytes, &sum}) == 0);
}

static void make_flame(vt_recording *recording, unsigned shape)
{
    struct vti_flame_options options = {.focus = shape / 4 % 2 ? "a" : NULL,
                                        .is_bottom_up = shape / 2 % 2,
                                        .is_by_thread = shape % 2,
                                        .least_share = shape / 8 % 2 ? 0.1 : 0,
                                        .depth = shape / 16 % 2 ? 3 : UINT32_MAX};
    struct vti_calls_options how = {
        .is_merged = !options.is_by_thread, .track = VT_NONE, .process = VT_NONE};
    struct vti_flame flame = {0};
    struct vti_calls calls;

    require((shape / 32 % 2 ? vti_calls_load_spans : vti_calls_load)(&calls, recording, &how) == 0);
    if (vti_flame_make(&flame, &calls, &options) == 0) {
        require(isfinite(flame.total_ns) && flame.total_ns >= 0);
        for (size_t i = 0; i < flame.count; i++)
            require(flame.frames[i].parent == VT_NONE || flame.frames[i].parent < i);
    }
    vti_flame_fini(&flame);
    vti_calls_fini(&calls);
}

static void make_diff(vt_recording *recording)
{
    struct vti_diff_side base = {0};
    struct vti_diff_side now = {0};
    struct vti_diff diff = {0};
    uint8_t sum = 0;

    require(vti_diff_side_load(&base, recording) == 0);
    require(vti_diff_side_load(&now, recording) == 0);
    require(vti_diff_side_load_parts(&base, recording) == 0);
    require(vti_diff_side_load_parts(&now, recording) == 0);
    require(vti_diff_make(&diff, &base, &now) == 0);
    require(diff.common == diff.function_count);
    require(diff.common_parts == diff.part_count);
    for (size_t i = 0; i < diff.function_count; i++)
        require(diff.functions[i].base.calls == diff.functions[i].now.calls &&
                diff.functions[i].base.self_ns == diff.functions[i].now.self_ns);
    require(vti_page_diff(&diff, &(struct vti_buf){0}, "base", "new",
                          &(struct vti_sink){take_bytes, &sum}) == 0);
    vti_diff_fini(&diff);
    vti_diff_side_fini(&base);
    vti_diff_side_fini(&now);
}

/* It may be that there is nothing for a format. */
static void make_export(vt_recording *recording, unsigned shape)
{
    struct vti_export_options options = {.range = {INT64_MIN, INT64_MAX, VT_NONE},
                                         .is_compat = shape / 64 % 2};
    unsigned count = 0;
    uint8_t sum = 0;

    while (vti_exporters[count])
        count++;
    if (shape / 128)
        options.range = (struct vt_filter){0, 1000, 0};
    (void)vti_exporters[shape % 64 % count]->run(recording, &options,
                                                 &(struct vti_sink){take_bytes, &sum});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1; /* kept: making a file takes longer than reading one */
    vt_recording *recording;
    uint8_t *bytes;
    char path[64];

    if (size < PREFIX + 1)
        return 0;
    if (fd < 0)
        fd = memfd_create("recording", MFD_CLOEXEC);
    size -= PREFIX;
    bytes = malloc(size);
    require(fd >= 0 && bytes && ftruncate(fd, 0) == 0);
    memcpy(bytes, data + PREFIX, size);
    vti_fuzz_repair(bytes, size);
    require(pwrite(fd, bytes, size, 0) == (ssize_t)size);
    free(bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (vt_recording_open(&recording, path))
        return 0;
    switch (data[0] % 5) {
    case 0:
        make_findings(recording);
        break;
    case 1:
        make_page(recording, data[1]);
        break;
    case 2:
        make_flame(recording, data[1]);
        break;
    case 3:
        make_diff(recording);
        break;
    default:
        make_export(recording, data[1]);
        break;
    }
    vt_recording_close(recording);
    return 0;
}
