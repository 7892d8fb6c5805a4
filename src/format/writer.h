/*
 * writer.h - what write.c (gathering and writing blocks) and write_end.c (closing) share. Private to
 * these two.
 */
#ifndef VENTURI_FORMAT_WRITER_H
#define VENTURI_FORMAT_WRITER_H

#include "base/hash.h"
#include "format/index.h"
#include "format/write.h"

struct vti_written_track {
    uint32_t track;
    struct vti_index_builder *index; /* owned */
    uint64_t lost_events;            /* to the disk, since the last LOSSES entry */
    uint64_t lost_first;
    uint64_t lost_last;
};

/* One for each block in `gathered`; kind 0 is the file header. */
struct vti_queued {
    struct vti_block_header header;
    uint64_t bytes;
};

struct vti_writer {
    int fd;                  /* owned */
    char *path;              /* owned */
    struct vti_buf gathered; /* blocks to be written, back to back */
    struct vti_buf queue;    /* of struct vti_queued */
    struct vti_map *track_ids;
    struct vti_buf tracks;       /* of struct vti_written_track, in the order of track_ids */
    struct vti_buf fact_offsets; /* of uint64_t: blocks in the file but EVENTS, INDEX and END */
    uint64_t file_bytes;         /* whole blocks in the file, with its header */
    uint64_t events;
    uint64_t lost_events;
    uint64_t disk_lost;
    uint64_t short_by;    /* bytes that the last failed write lacked */
    int disk_error;       /* errno of the last write that failed, 0 if the last one went well */
    int64_t tried_ns;     /* when that was */
    uint32_t end_blocks;  /* INDEX and END */
    bool is_index_broken; /* memory was short: there will be no end */
};

/* Writes what has gathered, whatever happened before; a full disk gives 0 and sets disk_error. */
int vti_writer_write(struct vti_writer *writer);

/* Writes bytes at the end of the file: all of them, or none. A full disk gives 0 and sets disk_error. */
int vti_writer_append(struct vti_writer *writer, const void *bytes, size_t count);

/* Counts events of a track as lost to the disk. */
void vti_writer_lose(struct vti_writer *writer, struct vti_written_track *track, uint64_t events,
                     uint64_t first, uint64_t last);

void vti_writer_free(struct vti_writer *writer);
struct vti_written_track *vti_writer_track(struct vti_writer *writer,
                                           size_t at); /* NULL past the last */

#endif
