/*
 * bencher.h - runs commands and keeps what they used in a bench: what `bench` and `check` share.
 *
 * Messages are printed here: every function returns 0 or an exit code after one line on stderr.
 */
#ifndef VENTURI_CLI_BENCHER_H
#define VENTURI_CLI_BENCHER_H

#include "cli/command_line.h"
#include "cli/spawn.h"
#include "perf/bench.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

/* How much work a run did, where nothing recorded says so. */
struct vti_items_wish {
    double count;    /* as it was given; 0: not */
    regex_t pattern; /* a number in its output */
    bool has_pattern;
};

struct vti_bencher {
    const char *command; /* ours, for messages: "bench" */
    struct vti_items_wish items;
    bool no_counts;   /* no run is recorded */
    bool records_all; /* every run is */
    bool meters;      /* joules are wanted, too */
    bool said_unseen; /* that a command's children are not in its CPU time */
    uint32_t how;     /* the worst enum vt_energy_how of them */
    char *folder;     /* of recordings, made when it is needed; owned */
    char *self;       /* this program; owned */
    uint64_t random;  /* state of the order of runs */
};

int vti_bencher_init(struct vti_bencher *bencher, const char *command, const char *items);
void vti_bencher_fini(struct vti_bencher *bencher); /* removes the folder, too */

/* The facts of this machine. */
int vti_bencher_machine(struct vti_bencher *bencher, struct vti_bench *bench);

/* One more run of an entry. */
int vti_bencher_run(struct vti_bencher *bencher, const struct vti_command_line *line,
                    struct vti_bench_entry *entry);

/* Recorded runs for counts, two at most: what is not the same in both is no count. The first one stays as NAME.vt in the
 * folder; a command that records nothing is fine. */
int vti_bencher_count(struct vti_bencher *bencher, const struct vti_command_line *line,
                      struct vti_bench_entry *entry, const char *name);

/* Joules, of a few runs that record nothing else; a machine without any source of them is fine. */
int vti_bencher_meter(struct vti_bencher *bencher, const struct vti_command_line *line,
                      struct vti_bench_entry *entry);

/* Runs it recorded with further options of `venturi run` (NULL ends them) into `path`, and keeps how it went. */
int vti_bencher_record(struct vti_bencher *bencher, const struct vti_command_line *line,
                       const char *const *options, const char *path, struct vti_spawned *spawned);

/* The path of a file in the folder of recordings; the caller frees it. NULL after a message. */
char *vti_bencher_path(struct vti_bencher *bencher, const char *name);

/* The next number below `most`. */
unsigned vti_bencher_random(struct vti_bencher *bencher, unsigned most);

#endif
