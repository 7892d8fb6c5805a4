/* attach.h - how a process gets its arena: connects to the drainer, or starts one first. */
#ifndef VENTURI_CORE_ATTACH_H
#define VENTURI_CORE_ATTACH_H

#include "core/runtime.h"
#include "share/protocol.h"

/* The mapped arena, its control page read-only; NULL with vti_attach_error() set. Slow path only. */
struct vti_arena_control *vti_attach(const struct vti_settings *settings);

/* vti_ask() of share/protocol.h; a failure can be read by vti_attach_error(). */
int vti_session_ask(const char *session, uint32_t type, int limit_ms, struct vti_answer *answer,
                    int *fd);

/* Starts venturi-drain for these settings and waits until it listens. 0 or a negative code. */
int vti_helper_start(const struct vti_settings *settings);

/* The session name that stands for an output file: the same for every process that names the file. */
void vti_session_name(char *to, size_t room, const char *output);

/* Why the last of these failed, one line; never NULL. */
const char *vti_attach_error(void);
int vti_attach_fail(int code, const char *what, int error_number);

#endif
