/*
 * venturi/session.h - start and stop a recording from inside the program.
 *
 * Not needed under `venturi run`, nor with VENTURI_OUTPUT in the environment. A helper process
 * (venturi-drain) writes the file; no thread is started here. Functions return 0 or a negative
 * code, and a program may ignore it: without a recording the trace points do nothing.
 */
#ifndef VENTURI_SESSION_H
#define VENTURI_SESSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VT_API
#define VT_API __attribute__((visibility("default")))
#endif

struct vt_session_options {
    size_t size;           /* sizeof this struct, so that it can grow */
    const char *output;    /* file name; NULL: PROGRAM-YYYYmmdd-HHMMSS-PID.vt */
    int force;             /* replace an existing file */
    uint64_t buffer_bytes; /* shared memory for records; 0: 64 MiB */
    uint32_t ring_seconds; /* keep only the last so many seconds; 0: keep all */
    uint32_t block_ms;     /* when buffers are full wait up to so long; 0: drop and count */
    const char *spool; /* a folder of recordings instead of one file (docs/spool.md); NULL: none */
    uint64_t spool_limit; /* bytes of all of them; the oldest give way; 0: 1 GiB */
};

/* NULL options: defaults. Already recording: -6 (exists). Takes a few milliseconds. */
VT_API int vt_session_start(const struct vt_session_options *options);

/* Ends the recording that vt_session_start() began, children included; the file is whole when it
 * returns. A recording that somebody else started (venturi run, VENTURI_OUTPUT) is left alone: -14. */
VT_API int vt_session_stop(void);

/* All that was recorded until now is in the file when it returns. */
VT_API int vt_session_flush(void);

/* Switch recording off and on for all processes of the session. */
VT_API int vt_session_pause(void);
VT_API int vt_session_resume(void);

/* One line about the last failure in this thread. */
VT_API const char *vt_session_error(void);

#ifdef __cplusplus
}
#endif

#endif
