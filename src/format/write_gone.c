/*
 * write_gone.c - a file that somebody else removes or empties while it is being written.
 *
 * Writing to it goes well, and nobody will ever read it; what it takes of the disk comes back only when it is closed. Who follows a program for weeks lets it go.
 */
#include "base/error.h"
#include "format/writer.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool vti_writer_read(const struct vti_writer *writer, void *to, size_t count, uint64_t offset)
{
    uint8_t *at = to;

    while (count) {
        ssize_t got = pread(writer->fd, at, count, (off_t)offset);

        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            at += got;
            offset += (uint64_t)got;
            count -= (size_t)got;
        }
    }
    return true;
}

int vti_writer_check_file(struct vti_writer *writer)
{
    struct vti_file_header header;
    uint8_t bytes[VTI_FILE_HEADER_BYTES];
    struct stat st;

    if (fstat(writer->fd, &st) || !S_ISREG(st.st_mode))
        return 0;
    writer->is_gone = true;
    if (st.st_nlink == 0)
        return vti_fail(VTI_E_WRITE, "%s: was removed while it was being written", writer->path);
    if (!vti_writer_read(writer, bytes, sizeof bytes, 0) ||
        vti_file_header_parse(bytes, sizeof bytes, &header))
        return vti_fail(VTI_E_WRITE, "%s: was changed by somebody else while it was being written",
                        writer->path);
    writer->is_gone = false;
    return 0;
}

bool vti_writer_is_removed(const struct vti_writer *writer)
{
    struct stat st;

    return !fstat(writer->fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 0;
}

void vti_writer_let_go(struct vti_writer *writer)
{
    writer->is_let_go = true;
    (void)!ftruncate(writer->fd, 0); /* else it is there until the end, and does not grow */
}

void vti_writer_forget(struct vti_writer *writer)
{
    const struct vti_queued *queue = (const void *)writer->queue.data;

    for (size_t i = 0; i < writer->queue.len / sizeof *queue; i++) {
        writer->events += queue[i].header.kind == VTI_EVENTS ? queue[i].header.count : 0;
        writer->tasks += queue[i].header.kind == VTI_TASKS ? queue[i].header.count : 0;
        writer->steps += queue[i].header.kind == VTI_STEPS ? queue[i].header.count : 0;
    }
    vti_buf_clear(&writer->queue);
    vti_buf_clear(&writer->gathered);
    writer->disk_error = 0;
}
