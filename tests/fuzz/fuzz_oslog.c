/*
 * fuzz_oslog.c - libFuzzer target: any bytes as trace logs, one or two (a zero byte parts them), which become recordings and then trees.
 *
 * What is imported must be a whole recording; what is made of it must be a tree, however the ids lie about that.
 */
#include "analyze/traces.h"
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES 2

static char outputs[FILES][64];

static void require(int condition)
{
    if (!condition)
        abort();
}

static void clean_up(void)
{
    for (int i = 0; i < FILES; i++)
        unlink(outputs[i]);
}

static void check_span(const struct vti_trace *trace, uint32_t at)
{
    const struct vti_trace_span *span = &trace->spans[at];
    uint32_t children = 0;

    require(span->self_ns >= 0 && span->self_ns <= span->end_ns - span->begin_ns);
    require(span->begin_ns >= trace->begin_ns && span->end_ns <= trace->end_ns);
    require(span->parent == VTI_NO_SPAN
                ? span->depth == 0
                : span->parent < at && span->depth == trace->spans[span->parent].depth + 1);
    require(!span->is_critical || span->parent == VTI_NO_SPAN ||
            trace->spans[span->parent].is_critical);
    for (uint32_t child = span->first_child; child != VTI_NO_SPAN;
         child = trace->spans[child].next) {
        require(child > at && child < trace->span_count && trace->spans[child].parent == at);
        require(++children <= trace->span_count);
    }
}

/* One that is asked for by its id is what it is among all of them. */
static void check_alone(const struct vti_trace *trace, vt_recording **recordings, size_t count)
{
    struct vti_traces traces;

    require(vti_traces_load(&traces, recordings, count, trace->base) == 0);
    require(traces.trace_count == 1 && traces.traces[0].span_count == trace->span_count);
    require(traces.traces[0].begin_ns == trace->begin_ns &&
            traces.traces[0].end_ns == trace->end_ns);
    vti_traces_fini(&traces);
}

static void check_traces(vt_recording **recordings, size_t count)
{
    struct vti_traces traces;
    struct vti_trace_bases bases;

    require(vti_traces_load(&traces, recordings, count, NULL) == 0);
    require(vti_traces_bases(&bases, recordings, count) == 0);
    require(bases.count == traces.trace_count);
    for (size_t i = 0; i < traces.trace_count; i++) {
        const struct vti_trace *trace = &traces.traces[i];

        require(trace->span_count > 0 && trace->service_count > 0);
        for (uint32_t k = 0; k < trace->span_count; k++)
            check_span(trace, k);
    }
    if (traces.trace_count)
        check_alone(&traces.traces[0], recordings, count);
    free(bases.list);
    vti_traces_fini(&traces);
}

/* The recording of a log; NULL if it was none. */
static vt_recording *import_log(const uint8_t *data, size_t size, const char *output)
{
    struct vti_import import = {.output = output, .format = "oslog", .force = true};
    struct vti_import_result result;
    struct vt_recording_info info;
    vt_recording *recording = NULL;
    int fd = memfd_create("input", 0);
    char path[64];

    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    import.path = path;
    if (!vti_import(&import, &result)) {
        require(vt_recording_open(&recording, output) == 0);
        vt_recording_info(recording, &info);
        require(info.is_closed && info.damage_count == 0 && info.unknown_blocks == 0);
    }
    close(fd);
    return recording;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = memchr(data, 0, size);
    size_t first = zero ? (size_t)(zero - data) : size;
    vt_recording *recordings[FILES];
    size_t count = 0;

    if (!outputs[0][0]) {
        for (int i = 0; i < FILES; i++)
            snprintf(outputs[i], sizeof outputs[i], "/dev/shm/fuzz_oslog.%d.%d.vt", (int)getpid(),
                     i);
        atexit(clean_up);
    }
    recordings[count] = import_log(data, first, outputs[0]);
    count += recordings[count] != NULL;
    if (zero) {
        recordings[count] = import_log(zero + 1, size - first - 1, outputs[1]);
        count += recordings[count] != NULL;
    }
    if (count)
        check_traces(recordings, count);
    for (size_t i = 0; i < count; i++)
        vt_recording_close(recordings[i]);
    return 0;
}
