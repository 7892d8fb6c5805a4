/*
 * main.c - venturi-symbols: lines with addresses in, lines with functions out.
 *
 * Run by the drainer when a recording is closed; it may be given anything, also files that are damaged.
 */
#include "symbols/answer.h"
#include "symbols/chain.h"
#include "symbols/coverage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define COUNTERS_FD 3
#define VISIBLE 10 /* thousandths of all samples */

/* Cuts a line at its tabs into at most four parts; how many there are. */
static int split(char *line, char **parts)
{
    int count = 0;

    while (line && count < 4)
        parts[count++] = strsep(&line, "\t");
    return line ? 0 : count;
}

/* The module and the offset of a question; NULL if it is none. */
static struct vti_symbols_module *understand(struct vti_symbols_module **modules, char **parts,
                                             int count, unsigned long long *offset)
{
    char *end;

    if (count < 3)
        return NULL;
    errno = 0;
    *offset = strtoull(parts[2], &end, 16);
    if (errno || end == parts[2] || *end)
        return NULL;
    return vti_symbols_open(modules, parts[0], parts[1]);
}

static void answer(struct vti_symbols_module **modules, char *line)
{
    struct vti_symbols_function function = {.name = ""};
    struct vti_symbols_module *of;
    char *parts[4];
    int count = split(line, parts);
    unsigned long long offset;

    of = understand(modules, parts, count, &offset);
    if (of) {
        of->is_seen |= count == 3 || strtoul(parts[3], NULL, 10) >= VISIBLE;
        vti_symbols_find(of, offset, &function);
    }
    vti_answer_print(&function);
}

/* The same for lines of functions. */
static void answer_chain(struct vti_symbols_module **modules, char *line)
{
    struct vti_symbols_module *of;
    char *parts[4];
    unsigned long long offset;

    of = understand(modules, parts, split(line, parts), &offset);
    if (of)
        vti_chain_print(of, offset);
    putchar('\n');
}

int main(int argc, char **argv)
{
    bool is_of_lines = argc > 1 && !strcmp(argv[1], "lines");
    const struct rlimit no_core = {0, 0};
    struct vti_symbols_module *modules = NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;

    setrlimit(RLIMIT_CORE, &no_core);
    unsetenv("DEBUGINFOD_URLS"); /* never over the network, and never slow */
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    while ((len = getline(&line, &room, stdin)) > 0) {
        if (line[len - 1] == '\n')
            line[len - 1] = 0;
        if (is_of_lines)
            answer_chain(&modules, line);
        else
            answer(&modules, line);
    }
    free(line);
    if (is_of_lines)
        vti_coverage_print(&modules, COUNTERS_FD);
    vti_symbols_say(modules);
    vti_symbols_free(modules);
    return ferror(stdout) || ferror(stdin) ? 2 : 0;
}
