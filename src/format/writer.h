/*
 * writer.h - what write.c (gathering and writing blocks), write_losses.c (what a full disk refuses), write_gone.c (a file that somebody removed) and
 * write_end.c (closing) share. Private to these four.
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
    struct vti_buf lost_entries; /* to the disk: see write_losses.c */
    struct vti_buf fact_offsets; /* of uint64_t: blocks in the file but EVENTS, INDEX and END */
    uint64_t file_bytes;         /* whole blocks in the file, with its header */
    uint64_t events;
    uint64_t tasks, steps; /* entries of such blocks in the file */
    uint64_t lost_events;
    uint64_t disk_lost;
    uint64_t disk_lost_tasks;
    uint64_t disk_lost_steps;
    uint64_t short_by;    /* bytes that the last failed write lacked */
    int disk_error;       /* errno of the last write that failed, 0 if the last one went well */
    int64_t tried_ns;     /* when that was */
    uint32_t end_blocks;  /* INDEX and END */
    bool is_index_broken; /* memory was short: there will be no end */
    bool is_gone;         /* the file was removed or emptied by somebody else */
    bool is_let_go;       /* it was removed, and nothing is written any more: see write_gone.c */
    uint64_t most_bytes;  /* that the file may have; 0: any number */
};

/* Writes what has gathered, whatever happened before; a full disk gives 0 and sets disk_error. */
int vti_writer_write(struct vti_writer *writer);

/* Writes bytes at the end of the file: all of them, or none. A full disk gives 0 and sets disk_error. */
int vti_writer_append(struct vti_writer *writer, const void *bytes, size_t count);

/* Appends one block to `out`, all or nothing. Sets the header's payload length and checksum. */
int vti_writer_put(struct vti_writer *writer, struct vti_buf *out, struct vti_block_header *header,
                   const struct vti_buf *payload);

/* Notes a block of facts that stands at the end of the file. */
void vti_writer_note_fact(struct vti_writer *writer, uint64_t offset);

/* Whether a whole block gives way where the disk is full: there are many like it, and others are of use without it. */
bool vti_writer_may_drop(const struct vti_block_header *header, const uint8_t *block);
void vti_writer_drop(struct vti_writer *writer, const struct vti_block_header *header);

/* One LOSSES block with an entry for each track and process that lost something to the disk, if any did. */
int vti_writer_losses(struct vti_writer *writer);

/* What has gathered for a file that is let go is counted, and gone. */
void vti_writer_forget(struct vti_writer *writer);

/* 0, or VTI_E_WRITE: somebody has removed or emptied the file meanwhile, which writing to it does not tell. */
int vti_writer_check_file(struct vti_writer *writer);

/* Reads all of so many bytes; false: they are not there. */
bool vti_writer_read(const struct vti_writer *writer, void *to, size_t count, uint64_t offset);

/* Counts events of a track as lost to the disk; without a track only in total. */
void vti_writer_lose(struct vti_writer *writer, struct vti_written_track *track, uint64_t events,
                     uint64_t first, uint64_t last);

void vti_writer_free(struct vti_writer *writer);
struct vti_written_track *vti_writer_track(struct vti_writer *writer,
                                           size_t at); /* NULL past the last */

/* The track's entry, made if it is new; NULL when memory is short. */
struct vti_written_track *vti_writer_find_track(struct vti_writer *writer, uint32_t track);

#endif
