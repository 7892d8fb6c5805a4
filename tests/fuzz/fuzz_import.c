/*
 * fuzz_import.c - libFuzzer target: any bytes as a file to import. The first byte chooses the format; what comes
 * out must be a whole recording that the reader finds nothing wrong with.
 */
#include "import/import.h"
#include "venturi/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char output[64];

static void require(int condition)
{
    if (!condition)
        abort();
}

static void clean_up(void)
{
    unlink(output);
}

static void check_recording(void)
{
    struct vt_recording_info info;
    vt_recording *recording;
    struct vt_event event;
    vt_cursor *cursor;
    int got;

    require(vt_recording_open(&recording, output) == 0);
    require(vt_cursor_open(&cursor, recording, NULL) == 0);
    while ((got = vt_cursor_next(cursor, &event)) > 0)
        ;
    require(got == 0);
    vt_cursor_close(cursor);
    vt_recording_info(recording, &info);
    require(info.is_closed && info.damage_count == 0 && info.unknown_blocks == 0);
    vt_recording_close(recording);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {NULL,     "chrome", "collapsed",
                                          "pstats", "oslog",  "osreport"};
    struct vti_import import = {.output = output, .force = true};
    struct vti_import_result result;
    char path[64];
    int fd;

    if (size < 1)
        return 0;
    if (!output[0]) {
        snprintf(output, sizeof output, "/dev/shm/fuzz_import.%d.vt", (int)getpid());
        atexit(clean_up);
    }
    fd = memfd_create("input", 0);
    require(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)size - 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    import.path = path;
    import.format = data[0] % 8 < 6 ? formats[data[0] % 8] : NULL;
    if (!vti_import(&import, &result))
        check_recording();
    close(fd);
    return 0;
}
