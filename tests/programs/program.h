/* program.h - what the test programs share: one line of facts about what they did, for the test to check. */
#ifndef VENTURI_TEST_PROGRAM_H
#define VENTURI_TEST_PROGRAM_H

/* Prints {"key": value, …} as one line of JSON and flushes: pairs of const char * and long, NULL at the end. */
void say(const char *key, ...);

/* An argument as a number, or `fallback`. */
long number(int argc, char **argv, int at, long fallback);

/* Counters in a file that the test maps: they survive any death of the program. */
struct counters {
    unsigned long begins;
    unsigned long ends;
    unsigned long others;
};

struct counters *map_counters(const char *path);

#endif
