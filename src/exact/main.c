/*
 * main.c - stands in for the assembler when a compiler is run by `venturi cc -l --exact`.
 *
 * Takes the same words, changes what is assembled and becomes the assembler that would have run without us: what it prints and
 * returns is its own.
 */
#include "exact/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_MOST ((size_t)1 << 30)
#define PLAIN "VENTURI_EXACT_PLAIN" /* in the environment: the compiler does not optimise */

/* Options whose value is a word of its own. */
static bool takes_a_word(const char *word)
{
    return !strcmp(word, "-o") || !strcmp(word, "-I") || !strcmp(word, "--MD") ||
           !strcmp(word, "--defsym") || !strcmp(word, "--debug-prefix-map");
}

/* The place of the file in the words; 0: standard input, which may be named too. */
static int find_input(int argc, char **argv)
{
    int found = 0;

    for (int i = 1; i < argc; i++) {
        if (takes_a_word(argv[i]))
            i++;
        else if (argv[i][0] != '-' || !argv[i][1] || !strcmp(argv[i], "--"))
            found = i;
    }
    return found;
}

static bool read_all(int fd, struct vti_buf *text)
{
    ssize_t got = 1;

    while (got > 0 && text->len < TEXT_MOST) {
        uint8_t *to = vti_buf_reserve(text, 65536);

        got = to ? read(fd, to, 65536) : -1;
        if (got > 0)
            text->len += (size_t)got;
    }
    return got == 0;
}

static int fail(const char *name)
{
    fprintf(stderr, "venturi: %s: %s\n", name, strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    int input = find_input(argc, argv);
    bool is_named = input && strcmp(argv[input], "-") && strcmp(argv[input], "--");
    const char *name = is_named ? argv[input] : "standard input";
    int fd = is_named ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    int changed = memfd_create("venturi-exact", 0);
    struct vti_buf text = {0};
    struct vti_buf out = {0};
    size_t done = 0;

    if (fd < 0 || changed < 0 || !read_all(fd, &text))
        return fail(name);
    vti_exact_rewrite((const char *)text.data, text.len, !getenv(PLAIN), &out);
    errno = ENOMEM;
    if (out.failed)
        return fail(name);
    while (done < out.len) {
        ssize_t put = write(changed, out.data + done, out.len - done);

        if (put <= 0)
            return fail(name);
        done += (size_t)put;
    }
    if (lseek(changed, 0, SEEK_SET) || dup2(changed, STDIN_FILENO) < 0)
        return fail(name);
    for (int i = input; input && i < argc; i++)
        argv[i] = argv[i + 1];
    argv[0] = "as";
    execvp("as", argv);
    return fail("as");
}
