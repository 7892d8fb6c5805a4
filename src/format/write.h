/*
 * write.h - a recording being written: header first, then blocks, at the end indexes, END and trailer.
 *
 * Used by the drainer, merge, slice, import and tests. One thread at a time. Blocks are gathered in
 * memory and written by vti_writer_flush() in pieces that end at a block boundary, so that the file is
 * readable after every write. A disk that is full does not end the recording: blocks that cannot be
 * written are dropped and counted (LOSSES, reason disk full), the file is cut back to the last whole
 * block, and writing goes on when there is room again.
 */
#ifndef VENTURI_FORMAT_WRITE_H
#define VENTURI_FORMAT_WRITE_H

#include "base/buf.h"
#include "format/encode.h"
#include "format/facts.h"
#include "format/layout.h"

struct vti_writer;

struct vti_writer_stats {
    uint64_t bytes;       /* in the file so far */
    uint64_t events;      /* written */
    uint64_t lost_events; /* all losses that were recorded, those of the disk included */
    uint64_t disk_lost;   /* events, tasks and steps that the disk had no room for */
    uint64_t disk_lost_tasks;
    uint64_t disk_lost_steps;
    uint64_t
        gone; /* events, tasks and steps in a file that somebody removed or emptied before it was closed */
    uint64_t gone_tasks;
    uint64_t gone_steps;
    uint32_t blocks;
    int disk_error; /* errno of the last failed write, 0 if the last one went well */
};

/* `fd` is an empty file open for reading and writing; the writer owns it from here on, even on failure.
 * `path` is for messages. */
int vti_writer_create(struct vti_writer **writer, int fd, const char *path);

/* One block of facts: `payload` holds `count` entries of `kind`. first and last may be zero. */
int vti_writer_facts(struct vti_writer *writer, enum vti_kind kind, const struct vti_buf *payload,
                     uint32_t count, uint64_t first, uint64_t last);

/* The same for kinds that belong to a track. */
int vti_writer_owned(struct vti_writer *writer, enum vti_kind kind, uint32_t owner,
                     const struct vti_buf *payload, uint32_t count, uint64_t last);

/* Cuts the encoder's waiting events into a block of the recording (and notes it for the index). */
int vti_writer_events(struct vti_writer *writer, struct vti_encoder *encoder);

/* The same for a block that vti_encoder_cut() made earlier (whole: header, payload, padding). */
int vti_writer_block(struct vti_writer *writer, const struct vti_block_header *header,
                     const uint8_t *block);

/* A LOSSES entry, also added to the total that END carries (VTI_LOSS_SLICED is not). */
int vti_writer_loss(struct vti_writer *writer, const struct vti_loss_fact *loss);

/* Writes what has gathered. A full disk is not an error here: see the stats. */
int vti_writer_flush(struct vti_writer *writer);
uint64_t vti_writer_buffered(const struct vti_writer *writer); /* bytes not yet written */

/* From so many bytes on the disk counts as full; only the end of the recording may be behind them. */
void vti_writer_limit(struct vti_writer *writer, uint64_t bytes);

/* Whether somebody has removed the file. */
bool vti_writer_is_removed(const struct vti_writer *writer);

/* Gives the disk back what such a file takes. Whatever comes is only counted (`gone` of the stats), and takes neither disk nor memory. */
void vti_writer_let_go(struct vti_writer *writer);

void vti_writer_stats(const struct vti_writer *writer, struct vti_writer_stats *stats);

/* Indexes, END, trailer, fsync, close. If the disk has no room for them the last events and tasks give way,
 * counted as lost. Frees the writer in every case. */
int vti_writer_close(struct vti_writer *writer, struct vti_writer_stats *stats);

/* Frees everything, closes the file without an end, as after a crash. */
void vti_writer_abandon(struct vti_writer *writer);

#endif
