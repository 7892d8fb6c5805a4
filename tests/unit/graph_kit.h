/* graph_kit.h - what tests of graphs share: tasks that count what they make, and all ways to run them in this process. */
#ifndef VENTURI_TESTS_GRAPH_KIT_H
#define VENTURI_TESTS_GRAPH_KIT_H

#include <venturi/graph.h>

/* Sync, threads that steal, threads behind the central loop, sync with callbacks. */
enum kit_way { KIT_SYNC, KIT_STEAL, KIT_CENTRAL, KIT_WATCHED, KIT_WAYS };
extern const char *const kit_names[KIT_WAYS];

/* Options for a way, with callbacks that do nothing where it needs some. */
struct vt_run_options kit_options(enum kit_way way);

/* What a test has to run in one of the ways: a graph without anything in it, and a run if it asks for one. */
struct kit_scene {
    enum kit_way way;
    struct vt_run_options options;
    vt_graph *graph; /* given up after the test, as is the run; the test may do it and set NULL */
    vt_run *run;
};

/* A new run of the scene's graph with its options; the one before it is given up. */
vt_run *kit_run(struct kit_scene *scene);

/* A test for cmocka that goes through `test` once in every way, and sees that nothing is left of it. */
typedef void kit_test(struct kit_scene *scene);
void kit_in_every_way(void **state);
#define KIT_EVERY_WAY(test)                                                                        \
    {                                                                                              \
#test, kit_in_every_way, NULL, NULL, &(kit_test *)                                         \
        {                                                                                          \
            test                                                                                   \
        }                                                                                          \
    }

/* Values that were made and values that were destroyed since kit_begin(), and how many there were at a time; atomic. */
extern long kit_made, kit_destroyed, kit_most;
void kit_begin(void);

/* Nothing is left, and nothing was destroyed twice: what was abandoned may take a moment. */
void kit_end(void);

/* A value that is counted; the number is its content. */
struct vt_datum kit_value(int64_t number);
int64_t kit_number(const struct vt_datum *value);

/* Tasks: the sum of all arguments plus one; one that fails and leaves a result and a failure behind; fails in its first `user` tries;
 * takes until it is told to stop; sleeps `user` milliseconds whatever it is told. */
vt_function kit_sum, kit_fail, kit_fail_first, kit_until_told, kit_sleep;

/* A number made of numbers, in which it matters which came first. */
vt_function kit_mix;

/* Their types and contents are the same; `got` is given up. */
void kit_same(const struct vt_datum *want, struct vt_datum *got);

/* Whether this very program can be started again: under an emulator the kernel would have to know of it. A program that asks must
 * end at once where KIT_PROBE is in its environment. */
int kit_can_start_itself(void);

void kit_pause(long ms);

/* A number for `user`. */
void *kit_user(long number);

#endif
