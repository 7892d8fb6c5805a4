/* gzip.c - output that is compressed on its way to a sink. No file name and no time in the header, so that
 * equal input gives equal output. */
#include "export/gzip.h"

#include "base/error.h"

#include <stdlib.h>
#include <zlib.h>

#define WORTH_WRITING (64 * 1024)
#define GZIP_WINDOW (15 + 16) /* 16: a header of gzip instead of zlib's */
#define LEVEL 6
#define MEMORY 8

struct vti_gzip {
    z_stream stream;
    const struct vti_sink *sink;
    uint8_t piece[WORTH_WRITING];
};

int vti_gzip_create(struct vti_gzip **out, const struct vti_sink *sink)
{
    struct vti_gzip *gzip = calloc(1, sizeof *gzip);

    if (!gzip)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    gzip->sink = sink;
    if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        free(gzip);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    *out = gzip;
    return 0;
}

void vti_gzip_free(struct vti_gzip *gzip)
{
    if (gzip)
        deflateEnd(&gzip->stream);
    free(gzip);
}

static int compress_all(struct vti_gzip *gzip, struct vti_buf *buf, int how)
{
    int code = 0;

    if (buf->failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    gzip->stream.next_in = buf->data;
    gzip->stream.avail_in = (uInt)buf->len;
    do {
        gzip->stream.next_out = gzip->piece;
        gzip->stream.avail_out = sizeof gzip->piece;
        deflate(&gzip->stream, how);
        code = gzip->sink->write(gzip->sink->arg, gzip->piece,
                                 sizeof gzip->piece - gzip->stream.avail_out);
    } while (!code && !gzip->stream.avail_out);
    vti_buf_clear(buf);
    return code;
}

int vti_gzip_offer(struct vti_gzip *gzip, struct vti_buf *buf)
{
    if (buf->len < WORTH_WRITING && !buf->failed)
        return 0;
    return compress_all(gzip, buf, Z_NO_FLUSH);
}

int vti_gzip_finish(struct vti_gzip *gzip, struct vti_buf *buf)
{
    return compress_all(gzip, buf, Z_FINISH);
}
