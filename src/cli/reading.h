/* reading.h - what the commands that read recordings have in common. */
#ifndef VENTURI_CLI_READING_H
#define VENTURI_CLI_READING_H

#include "venturi/read.h"

/* Whether `path` was given and can be a recording: 0, or an exit code after one line on stderr. */
int vti_reading_check(const char *command, const char *path);

/* The part of it for files that need not be recordings: a folder is none, and what to do with a spool is said. */
int vti_reading_refuse_folder(const char *command, const char *path);

/* Fails with a code of reading `path`; where another command is for such a file, it is named instead. Returns VTI_EXIT_BAD. */
int vti_reading_refuse(const char *command, const char *path, int code);

/* Fails because the recording does not hold what is asked for: damaged, not closed, or as `hint` says. */
int vti_reading_lacks(const char *command, const vt_recording *recording, const char *what,
                      const char *hint);

/* The track of the thread that has this name or number: 0, or an exit code after one line on stderr. */
int vti_reading_thread(const char *command, const char *wanted, const vt_recording *recording,
                       uint32_t *id);

/* Whether it holds lines, which only `venturi lines` shows. */
bool vti_reading_has_lines(vt_recording *recording);

/* Snapshots are a second apart: without its end a recording may lack the last of them. */
void vti_reading_warn_of_open(const char *command, const vt_recording *recording, const char *what);

/*
 * Opens the recording, has `work` done with it, closes it; then a line on stderr for what was
 * damaged, if anything was. Returns what `work` does, an exit code, or one of its own after one
 * line on stderr: also if there is nothing in the recording.
 */
int vti_reading_do(const char *command, const char *path,
                   int (*work)(vt_recording *recording, void *arg), void *arg);

/*
 * A moment of a recording that lasts from begin_ns to end_ns: "1.5s" and "300ms" count from its
 * start, "-2s" from its end, "10%" and "-10%" are shares of its length.
 */
bool vti_parse_moment(const char *text, int64_t begin_ns, int64_t end_ns, int64_t *ns);

/* Both ends of a range, NULL for the recording's own: 0, or an exit code after one line on
 * stderr. */
int vti_reading_range(const char *command, const vt_recording *recording, const char *from,
                      const char *to, struct vt_filter *range);

/* "2026-11-15 20:15:03", local time. */
#define VTI_WHEN_BYTES 40
const char *vti_text_when(char to[VTI_WHEN_BYTES], int64_t realtime_ns);

/* "2.50 GHz" from ticks per nanosecond. */
#define VTI_RATE_BYTES 32
const char *vti_text_rate(char to[VTI_RATE_BYTES], double ticks_per_ns);

#endif
