/*
 * main.c - venturi-symbols: lines with addresses in, lines with functions out.
 *
 * Run by the drainer when a recording is closed; it may be given anything, also files that are damaged.
 */
#include "symbols/function.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Cuts a line at its tabs into three parts; false if it has another number of them. */
static bool split(char *line, char **parts)
{
    for (int i = 0; i < 3; i++) {
        char *tab = strchr(line, '\t');

        parts[i] = line;
        if ((tab != NULL) != (i < 2))
            return false;
        if (tab) {
            *tab = 0;
            line = tab + 1;
        }
    }
    return true;
}

static void print_text(const char *text, char end)
{
    for (; *text; text++)
        putchar((unsigned char)*text < ' ' ? '?' : *text);
    putchar(end);
}

static void answer(struct vti_symbols_module **modules, char *line)
{
    struct vti_symbols_function function = {.name = ""};
    const struct vti_symbols_module *of;
    char *parts[3];
    char *end;
    unsigned long long offset;
    bool is_number;

    if (split(line, parts)) {
        errno = 0;
        offset = strtoull(parts[2], &end, 16);
        is_number = !errno && end != parts[2] && !*end;
        of = is_number ? vti_symbols_open(modules, parts[0], parts[1]) : NULL;
        if (of)
            vti_symbols_find(of, offset, &function);
    }
    print_text(function.name, '\t');
    print_text(function.plain, '\t');
    print_text(function.file, '\t');
    printf("%d\n", function.line);
}

int main(void)
{
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
        answer(&modules, line);
    }
    free(line);
    vti_symbols_free(modules);
    return ferror(stdout) || ferror(stdin) ? 2 : 0;
}
