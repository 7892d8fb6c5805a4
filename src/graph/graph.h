/*
 * graph.h - a graph as it lies in memory: nodes as they were added, and the plan that runs follow.
 *
 * Nodes, arguments and texts lie in a few large arrays, because a graph may have a million of them. The plan holds the same edges both
 * ways, without duplicates, keys and aliases; it is made by the first check or run and forgotten when something is added.
 */
#ifndef VENTURI_GRAPH_GRAPH_H
#define VENTURI_GRAPH_GRAPH_H

#include "graph/texts.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <venturi/graph.h>

enum vti_node_type { VTI_NODE_TASK, VTI_NODE_LITERAL, VTI_NODE_ALIAS };

/* 48 bytes. */
struct vti_node {
    vt_function *function;
    void *user;
    uint32_t
        first_arg; /* into `args`; of a literal: into `values`; of an alias: what it stands for is args[first_arg] */
    uint32_t arg_count;
    uint32_t name;       /* into `names`; VTI_NO_TEXT for those that are no tasks */
    uint32_t key;        /* into `keys`, VTI_NO_TEXT: none */
    uint32_t user_bytes; /* size of the copy that `user` points to */
    uint32_t special;    /* number + 1 of its entry in `specials` */
    uint8_t type;        /* enum vti_node_type */
    uint8_t owns_user;   /* `user` is a copy, freed with the graph */
};

/* What few tasks have. */
struct vti_special {
    int32_t priority;
    int64_t retries; /* -1: as the run */
    double timeout;  /* -1: as the run */
};

/* An argument: what it is in the two highest bits, and a number. */
#define VTI_ARG_TYPE 0xC0000000u
#define VTI_ARG_TASK 0x00000000u  /* a node; in the plan's: a task, neither alias nor literal */
#define VTI_ARG_VALUE 0x40000000u /* into `values` */
#define VTI_ARG_KEY 0x80000000u   /* into `keys`; none is left when the plan was made */
#define VTI_ARG_NUMBER 0x3FFFFFFFu
#define VTI_MAX_NODES 0x3FFFFFFFu

/* Edges by node: those of node i are [first[i], first[i + 1]). */
struct vti_plan {
    uint32_t holders;     /* atomic: the graph, and each run that follows it */
    uint32_t count;       /* of nodes */
    uint32_t *args;       /* as those of the graph, without keys, aliases and literals */
    bool owns_args;       /* else they are the graph's, where there are none of those */
    uint32_t *first_need; /* count + 1 */
    uint32_t *needs;      /* what a node depends on, each once: tasks first, then literals */
    uint32_t *task_needs; /* how many of them are tasks */
    uint32_t *first_user; /* count + 1 */
    uint32_t *users;      /* what depends on a node */
    uint32_t *sorted;     /* all nodes, each after what it needs; NULL: they were added so */
    uint32_t *pages;      /* where all of these lie but `args` and `sorted` */
    size_t page_bytes;
};

struct vt_graph {
    struct vti_node *nodes;
    uint32_t count;
    size_t room;
    uint32_t *args;
    size_t arg_count, arg_room;
    struct vt_datum *values;
    size_t value_count, value_room;
    struct vti_special *specials; /* see vti_graph_special() */
    size_t special_count, special_room;
    struct vti_texts keys;
    uint32_t *key_nodes; /* for each key: its node, or VT_NO_TASK: only named so far */
    size_t key_room;
    struct vti_texts names;
    struct vt_site **sites; /* for each name; made by vti_graph_sites() */
    uint32_t site_count;
    uint32_t last_name;  /* most are added with the same name again */
    bool has_priorities; /* one that is not 0 */
    bool has_timeouts;
    bool has_others; /* aliases, literals or keys that were named before they were added */

    pthread_mutex_t lock; /* of making the plan and the sites: vti_graph_lock() */
    struct vti_plan
        *plan;        /* NULL: has to be made; read it under the lock or after vti_graph_plan() */
    unsigned holders; /* the caller's, and one for each run */
    char *error;      /* one line, or NULL */
};

/* Sets the line of vt_graph_error() and returns `code`. */
int vti_graph_fail(vt_graph *graph, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Around what is made once for all runs of a graph; never of two graphs at a time. */
void vti_graph_lock(vt_graph *graph);
void vti_graph_unlock(vt_graph *graph);

/* Checks the graph and makes its plan, if that has not been done; 0, or negative: see the graph's error. Any thread, several at once. */
int vti_graph_plan(vt_graph *graph);

/* The special entry of a task, or NULL. */
const struct vti_special *vti_graph_special(const vt_graph *graph, uint32_t task);

/* Makes the site of each name, for recording. Any thread. */
int vti_graph_sites(vt_graph *graph);

/* What a node stands for: the target of an alias, itself otherwise. */
uint32_t vti_plan_target(const struct vti_plan *plan, const vt_graph *graph, uint32_t node);

/* The key if it has one, else "#17" in `room` (at least 16 bytes). */
const char *vti_graph_key(const vt_graph *graph, uint32_t node, char *room);

/* The node that an argument of the graph names: VT_NO_TASK if it is a value, or the key was never added. Not bounded by `count`. */
uint32_t vti_graph_named(const vt_graph *graph, uint32_t arg);

/* Says in the graph's error which keys are missing and who needs them, or what the cycle is that must be there; returns the code. */
int vti_graph_say_missing(vt_graph *graph);
int vti_graph_say_cycle(vt_graph *graph);

/* vt_graph_free() gives up the caller's hold; a run has one of its own. */
void vti_graph_hold(vt_graph *graph);
void vti_graph_drop(vt_graph *graph);

/* Gives up one hold of a plan; NULL is fine. */
void vti_plan_drop(struct vti_plan *plan);

#endif
