/*
 * import.h - files of other profilers and tracers become recordings.
 *
 * To add a format: write src/import/NAME.c that defines `const struct vti_importer vti_import_NAME`, add one
 * line to importers.def and to meson.build. Input is hostile: bounded, and one clear error; the result
 * appears when it is whole, else not at all.
 */
#ifndef VENTURI_IMPORT_IMPORT_H
#define VENTURI_IMPORT_IMPORT_H

#include "format/write.h"

#define VTI_IMPORT_NOTE 160 /* bytes */

struct vti_import_target;

/* What is read. */
struct vti_import_input {
    const char *path; /* for messages */
    const uint8_t *data;
    size_t size;
    bool (*is_stopped)(void); /* asked now and then; or NULL */
};

struct vti_importer {
    const char *name;
    const char *summary;                            /* one line for the help */
    bool (*fits)(const uint8_t *data, size_t size); /* whether this is what the file looks like */
    int (*run)(const struct vti_import_input *input, struct vti_import_target *target);
    bool
        is_direct; /* commands take such a file where a recording is wanted; it says when things were: `run` begins with vti_import_start() */
};

extern const struct vti_importer *const vti_importers[]; /* ended by NULL */

/* Whether commands take this file as it is: one that can be read and that a direct importer knows. */
bool vti_import_is_direct(const char *path);

/* Whether it is a plain file that looks like this format. */
bool vti_import_looks_like(const char *path, const char *format);

struct vti_import {
    const char *path;
    const char *output;
    const char *format; /* name, or NULL: by what the file looks like */
    bool force;
    bool (*is_stopped)(void);
};

struct vti_import_result {
    struct vti_writer_stats file;
    char note[VTI_IMPORT_NOTE]; /* what could not be taken as it is, one line; "": nothing */
};

/* 0 and what was written, or a negative code, and then there is nothing. */
int vti_import(const struct vti_import *import, struct vti_import_result *result);

#endif
