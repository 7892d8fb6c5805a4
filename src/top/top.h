/* top.h - what is watched and how it is shown; between the files of this folder. */
#ifndef VENTURI_TOP_TOP_H
#define VENTURI_TOP_TOP_H

#include "live/live.h"
#include "top/head.h"
#include "top/rows.h"
#include "top/views.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VTI_TOP_FILTER 64

/* A program that is watched from its start. */
struct vti_top_program {
    pid_t pid;         /* of venturi run; 0: none */
    char path[4096];   /* the recording */
    char output[4096]; /* what the program prints; "": it goes to standard error */
    bool is_temporary; /* the recording goes when we do */
    bool has_ended;
    int status; /* of waitpid() */
};

struct vti_top {
    struct vti_live *live; /* NULL until there is something to follow */
    struct vti_top_program program;
    const struct vti_top_view *view;
    bool is_chosen; /* by the user; else the first that has something is shown */
    struct vti_top_rows rows;
    struct vti_top_head head;
    unsigned sort;
    bool is_reversed, is_paused;
    int64_t interval_ns;
    uint64_t rounds; /* of plain output; 0: until it ends */
    size_t limit;    /* rows of plain output; 0: all */
    char filter[VTI_TOP_FILTER];
};

/* Takes in what is new and makes head and rows of it. 0 or a negative code; what was there before is then still there. */
int vti_top_look(struct vti_top *top);

/* Shows this view, sorted as it is by nature. */
void vti_top_show(struct vti_top *top, const struct vti_top_view *view);

/* Whether there will be nothing new. */
bool vti_top_is_over(struct vti_top *top);

/* Each shows until it is over or the user has seen enough; 0 or a negative code with a message. */
int vti_top_plain(struct vti_top *top);
int vti_top_screen(struct vti_top *top);

/* Starts `venturi run` with the program's words, recording to `path` or to a temporary file if NULL. 0 or a negative code with a message. */
int vti_top_program_start(struct vti_top_program *program, char **words, const char *path,
                          bool is_plain);
void vti_top_program_poll(struct vti_top_program *program);

/* Asks it to stop if it runs, waits, removes what is temporary; the exit code to leave with. */
int vti_top_program_end(struct vti_top_program *program);

#endif
