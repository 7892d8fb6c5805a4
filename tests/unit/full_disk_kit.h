/* full_disk_kit.h - a writer on a disk that is full, for good, for a while or at its end: one course for whatever is written. */
#ifndef VENTURI_TESTS_FULL_DISK_KIT_H
#define VENTURI_TESTS_FULL_DISK_KIT_H

#include "format/write.h"

#define KIT_BLOCK 100u

/* What is written, and looked at when the recording is closed. */
struct kit_course {
    void (*start)(void); /* facts that come before everything */
    void (*add)(void);   /* so many entries */
    uint64_t entries;
    /* Closes the writer: so many entries at least and at most are there, the others counted as lost. */
    void (*finish)(uint64_t least, uint64_t most);
    uint64_t least; /* that 10,000 bytes hold */
};

extern struct vti_writer *kit_writer;
extern const char *kit_path;

/* Closes the writer, and lets the disk have room again. */
void kit_close(struct vti_writer_stats *stats);

/* All of them, and one without any limit: how many have failed. */
int kit_run_course(const struct kit_course *course);

#endif
