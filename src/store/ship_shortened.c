/*
 * ship_shortened.c - a recording that somebody cuts off while it is read, which raises SIGBUS.
 *
 * Venturi's own writers never shorten what they wrote. What is in hand may be half of something: nothing of it is sent, and we end, as after kill -9, but with a word.
 */
#include "store/ship_impl.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char line[PATH_MAX + 200];

static void end(int number)
{
    (void)number;
    (void)!write(STDERR_FILENO, line, strlen(line));
    _exit(2);
}

void vti_ship_reading(const char *path)
{
    static bool is_set;
    struct sigaction action = {.sa_handler = end};

    snprintf(line, sizeof line,
             "venturi ship: %s: became shorter while it was read; what was sent is written down, "
             "start again for the rest\n",
             path);
    if (!is_set)
        sigaction(SIGBUS, &action, NULL);
    is_set = true;
}
