/* c_lines_files.c - files that lines of C are in: which are left out, and the texts of the others. */
#include "drain/c_lines_files.h"

#include "drain/recorder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_BYTES_MOST (8u << 20)
#define SHOWS_SYSTEM "VENTURI_SYSTEM_LINES" /* in the environment: nothing is left out */

bool vti_c_lines_is_of_system(struct vti_bytes file)
{
    static const char *const folders[] = {"/usr/include/", "/usr/lib/", "/usr/lib32/",
                                          "/usr/lib64/"};

    if (getenv(SHOWS_SYSTEM))
        return false;
    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++)
        if (file.len > strlen(folders[i]) && !memcmp(file.data, folders[i], strlen(folders[i])))
            return true;
    return false;
}

static void write_source(struct vti_recorder *recorder, const char *file, size_t len)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct vti_source_fact fact = {.file = file, .file_len = len};
    struct vti_buf text = {0};
    struct stat st;
    uint8_t *to = NULL;
    ssize_t got = -1;

    if (fd < 0)
        return;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= (off_t)SOURCE_BYTES_MOST)
        to = vti_buf_reserve(&text, (size_t)st.st_size + 1);
    if (to)
        got = read(fd, to, (size_t)st.st_size);
    if (got >= 0) {
        fact.text = (const char *)to;
        fact.text_len = (size_t)got;
        vti_recorder_source(recorder, &fact);
    }
    vti_buf_fini(&text);
    close(fd);
}

void vti_c_lines_write_sources(struct vti_recorder *recorder, const struct vti_map *files)
{
    for (uint32_t i = 0; i < vti_map_count(files); i++) {
        size_t len;
        const char *file = vti_map_key(files, i, &len);

        if (strlen(file) == len)
            write_source(recorder, file, len);
    }
}
