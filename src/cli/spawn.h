/*
 * spawn.h - a program that runs to its end with its output kept, and what it used.
 *
 * A signal that ends us ends it too (see stop.h): it is in a process group of its own, which is told, and killed if it does not
 * listen.
 */
#ifndef VENTURI_CLI_SPAWN_H
#define VENTURI_CLI_SPAWN_H

#include "base/buf.h"

#include <stdbool.h>

struct vti_spawned {
    int status; /* its exit code, or 128 and the number of the signal that ended it */
    bool is_killed;
    bool ignores_children; /* it ignored SIGCHLD: what its children used may be in no sum */
    double
        cpu_s; /* user and system, with all processes that were waited for, or left behind and ended before it */
    double wall_s;
    double rss_bytes; /* of the largest of them */
    struct vti_buf out,
        err; /* what it wrote, terminated by a zero byte that the length leaves out; 16 MB at most */
};

/* 0 whatever its end was; a negative code with a message if it could not be started, or a signal stopped us.
 * _fini in every case. */
int vti_spawn(struct vti_spawned *spawned, char *const *words, const char *directory);
void vti_spawned_fini(struct vti_spawned *spawned);

/* The last line that it wrote to stderr, or to stdout, for a message. */
#define VTI_LAST_WORDS_BYTES 256
const char *vti_spawned_last_words(const struct vti_spawned *spawned,
                                   char to[VTI_LAST_WORDS_BYTES]);

#endif
