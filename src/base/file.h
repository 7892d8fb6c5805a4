/*
 * file.h - whole files: mapped for reading, written under a temporary name and renamed when whole.
 */
#ifndef VENTURI_BASE_FILE_H
#define VENTURI_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file mapped read-only. Size 0 maps to data NULL. A directory or a missing file is an error. */
struct vti_mapping {
    const uint8_t *data;
    size_t size;
};

/* Whether both names lead to one file that exists: an output must never be its own input. */
bool vti_file_is_same(const char *a, const char *b);

/* For main(): a file that we open must not become our standard output because that was closed. What is put in its place refuses writes
 * as the closed one would, and a program that we start does not get it. */
void vti_file_hold_standard(void);

int vti_mapping_open(struct vti_mapping *mapping, const char *path);
void vti_mapping_close(struct vti_mapping *mapping);

/*
 * Output that appears under its name only when it is whole. "-" is standard output. Bytes go to
 * PATH.part-PID until vti_output_commit() renames it; vti_output_abandon() removes it. Without `force`
 * an existing PATH is refused at once (VTI_E_EXISTS). Files are made with mode 0600 & ~umask when
 * `is_private`, else 0666 & ~umask. A device or pipe is written as it is.
 */
struct vti_output;

int vti_output_open(struct vti_output **out, const char *path, bool force, bool is_private);

/* Whether it could be opened so, for who has much to do before: nothing is left behind. Pipes and devices are not tried. */
int vti_output_probe(const char *path, bool force);

int vti_output_write(struct vti_output *out, const void *bytes, size_t count); /* buffered */
uint64_t vti_output_offset(const struct vti_output *out);

/* A descriptor of the file for a caller that writes all of it by other means and closes it before the
 * commit; or a negative code, also for standard output, devices and pipes. */
int vti_output_fd(const struct vti_output *out);
int vti_output_commit(struct vti_output *out); /* frees `out` in every case */
void vti_output_abandon(struct vti_output *out);

#endif
