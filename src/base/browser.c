/*
 * browser.c - opens a page: with the first program that BROWSER names, or with xdg-open.
 *
 * No shell sees the name of the file, and nobody waits: the browser is a grandchild in a session of its own.
 */
#include "base/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MOST 32

/* BROWSER is a list with ':' between programs, each with words; %s stands for the address. */
static void split(char *text, char *address, char *words[WORDS_MOST + 2])
{
    size_t count = 0;
    bool has_address = false;
    char *save = NULL;

    text[strcspn(text, ":")] = 0;
    for (char *word = strtok_r(text, " \t", &save); word && count < WORDS_MOST;
         word = strtok_r(NULL, " \t", &save)) {
        bool is_place = !strcmp(word, "%s");

        words[count++] = is_place ? address : word;
        has_address |= is_place;
    }
    if (count && !has_address)
        words[count++] = address;
    words[count] = NULL;
}

static void become(char **words, int report)
{
    int null = open("/dev/null", O_RDWR);
    int error;

    setsid();
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    execvp(words[0], words);
    error = errno;
    if (write(report, &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

/* The pipe closes when the program has begun; else what went wrong comes through it. */
static bool start(char **words)
{
    int ends[2];
    int error = 0;
    pid_t child;
    ssize_t got;

    if (pipe2(ends, O_CLOEXEC))
        return false;
    child = fork();
    if (!child) {
        if (!fork())
            become(words, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (child > 0)
        waitpid(child, NULL, 0);
    do
        got = read(ends[0], &error, sizeof error);
    while (got < 0 && errno == EINTR);
    close(ends[0]);
    return child > 0 && !got;
}

bool vti_browser_open(const char *path)
{
    const char *wanted = getenv("BROWSER");
    char *address = realpath(path, NULL);
    char *text = strdup(wanted ? wanted : "");
    char *words[WORDS_MOST + 2] = {NULL};
    char *standard[] = {(char *)"xdg-open", address, NULL};
    bool is_open = false;

    if (address && text) {
        split(text, address, words);
        is_open = (words[0] && start(words)) || start(standard);
    }
    free(text);
    free(address);
    return is_open;
}
