/*
 * check_rev.c - two revisions of a repository, each in a worktree of its own, prepared and then run in turn.
 *
 * The worktrees lie in a folder for temporary files and are gone when we are, also after a failure or a signal; those of one that
 * was killed are gone with the next, which can take the lock that it left. The repository's own files are not touched.
 */
#include "base/error.h"
#include "cli/check.h"
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER "venturi-check-XXXXXX"

struct trees {
    char *folder;   /* owned, as all texts */
    int lock;       /* of a file in it, as long as we are there; -1: none */
    char *prefix;   /* of the current folder in the repository */
    char *names[2]; /* of the revisions, as they were given */
    char *commits[2];
    char *paths[2]; /* of the worktrees */
    char *where[2]; /* the current folder in them */
    bool is_made[2];
};

static const char *const side_names[2] = {"base", "new"};

/* What git says, without its line end; NULL after a message. The caller frees. */
static char *ask_git(char *const *words, const char *what)
{
    struct vti_spawned spawned;
    char last[VTI_LAST_WORDS_BYTES];
    char *answer = NULL;
    int code = vti_spawn(&spawned, words, NULL);

    if (code)
        vti_cmd_error("check", code);
    else if (spawned.status)
        vti_cmd_fail("check", "%s: %s", what, vti_spawned_last_words(&spawned, last));
    else if (!(answer = strndup(spawned.out.data ? (char *)spawned.out.data : "",
                                strcspn((char *)spawned.out.data, "\n"))))
        vti_cmd_fail("check", "out of memory");
    vti_spawned_fini(&spawned);
    return answer;
}

/* "BASE..HEAD"; without an end it is HEAD. */
static int split(struct trees *trees, const char *text)
{
    const char *dots = strstr(text, "..");

    if (!dots || dots == text)
        return vti_cmd_fail("check", "--rev: '%s' is not BASE..HEAD", text);
    trees->names[0] = strndup(text, (size_t)(dots - text));
    dots += dots[2] == '.' ? 3 : 2;
    trees->names[1] = strdup(*dots ? dots : "HEAD");
    return trees->names[0] && trees->names[1] ? 0 : vti_cmd_fail("check", "out of memory");
}

/* In a hook, git's variables say which repository and which index: ours are others, and a checkout would write into the user's. */
static int forget_variables(void)
{
    char *words[] = {"git", "rev-parse", "--local-env-vars", NULL};
    struct vti_spawned spawned;
    int code = vti_spawn(&spawned, words, NULL);
    char *rest = (char *)spawned.out.data;
    char *name;

    while (!code && rest && (name = strsep(&rest, "\n")))
        if (*name)
            unsetenv(name);
    vti_spawned_fini(&spawned);
    return code ? vti_cmd_error("check", code) : 0;
}

/* Outside of a repository git says so, in words that people know. */
static int find_prefix(struct trees *trees)
{
    char *words[] = {"git", "rev-parse", "--show-prefix", NULL};

    trees->prefix = ask_git(words, "--rev");
    return trees->prefix ? 0 : VTI_EXIT_BAD;
}

static int find_commits(struct trees *trees)
{
    for (int i = 0; i < 2; i++) {
        char revision[512];
        char *words[] = {"git",    "rev-parse", "--verify", "--quiet", "--end-of-options",
                         revision, NULL};
        struct vti_spawned spawned;
        int code;

        snprintf(revision, sizeof revision, "%s^{commit}", trees->names[i]);
        code = vti_spawn(&spawned, words, NULL);
        if (!code && !spawned.status)
            trees->commits[i] = strndup((char *)spawned.out.data,
                                        strcspn((char *)spawned.out.data, "\n"));
        vti_spawned_fini(&spawned);
        if (code)
            return vti_cmd_error("check", code);
        if (!trees->commits[i])
            return vti_cmd_fail("check", "--rev: there is no revision '%s' here", trees->names[i]);
    }
    return 0;
}

static int make_tree(struct trees *trees, int side)
{
    char *words[] = {"git", "worktree",           "add", "--detach", "--quiet",
                     NULL,  trees->commits[side], NULL};
    char *said;

    if (asprintf(&trees->paths[side], "%s/%s", trees->folder, side_names[side]) < 0 ||
        asprintf(&trees->where[side], "%s/%s", trees->paths[side], trees->prefix) < 0)
        return vti_cmd_fail("check", "out of memory");
    words[5] = trees->paths[side];
    trees->is_made[side] = true; /* also in parts */
    said = ask_git(words, "git worktree add");
    free(said);
    if (!said)
        return VTI_EXIT_BAD;
    return access(trees->where[side], X_OK) ? vti_cmd_fail("check", "--rev: %s has no folder %s",
                                                           trees->names[side], trees->prefix)
                                            : 0;
}

static int set_up(struct vti_checking *checking, struct trees *trees, int side)
{
    char *words[] = {"/bin/sh", "-c", (char *)checking->setup, NULL};
    struct vti_spawned spawned;
    char last[VTI_LAST_WORDS_BYTES];
    int code;

    if (!checking->setup)
        return 0;
    code = vti_spawn(&spawned, words, trees->where[side]);
    if (code)
        code = vti_cmd_error("check", code);
    else if (spawned.status)
        code = vti_cmd_fail("check", "--setup failed for %s with exit code %d%s%s",
                            trees->names[side], spawned.status,
                            *vti_spawned_last_words(&spawned, last) ? ": " : "", last);
    vti_spawned_fini(&spawned);
    return code;
}

/* The descriptor, -1 if somebody else has it; nothing that we start inherits it. */
static int lock_folder(const char *folder, int flags)
{
    char *path = NULL;
    int fd = -1;

    if (asprintf(&path, "%s/lock", folder) < 0)
        return -1;
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        close(fd);
        fd = -1;
    }
    free(path);
    return fd;
}

static void remove_folder(const char *folder, int lock)
{
    char *path = NULL;

    if (lock >= 0 && asprintf(&path, "%s/lock", folder) >= 0) {
        unlink(path);
        free(path);
    }
    rmdir(folder);
    if (lock >= 0)
        close(lock);
}

static int make_folder(struct trees *trees)
{
    const char *parent = getenv("TMPDIR");

    if (asprintf(&trees->folder, "%s/" FOLDER, parent && *parent ? parent : "/tmp") < 0) {
        trees->folder = NULL;
        return vti_cmd_fail("check", "out of memory");
    }
    if (!mkdtemp(trees->folder)) {
        free(trees->folder);
        trees->folder = NULL;
        return vti_cmd_fail("check", "cannot make a folder for worktrees");
    }
    trees->lock = lock_folder(trees->folder, O_CREAT);
    return 0;
}

/* Also after a signal, when vti_spawn() starts nothing any more: in a group of its own, so that the next Ctrl-C does not reach it. */
static void tidy(const char *const *words)
{
    pid_t child = fork();

    if (!child) {
        setpgid(0, 0);
        (void)!freopen("/dev/null", "w", stdout);
        (void)!freopen("/dev/null", "w", stderr);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Twice --force: one that git was still making is locked. What git does not know as a worktree yet is only files. */
static void remove_tree(const char *path)
{
    const char *const remove[] = {"git", "worktree", "remove", "--force", "--force", path, NULL};
    const char *const clear[] = {"rm", "-rf", "--", path, NULL};
    const char *const prune[] = {"git", "worktree", "prune", NULL};

    tidy(remove);
    if (access(path, F_OK))
        return;
    tidy(clear);
    tidy(prune);
}

static void remove_trees(struct trees *trees)
{
    for (int side = 0; side < 2; side++) {
        if (trees->is_made[side])
            remove_tree(trees->paths[side]);
        free(trees->names[side]);
        free(trees->commits[side]);
        free(trees->paths[side]);
        free(trees->where[side]);
    }
    if (trees->folder)
        remove_folder(trees->folder, trees->lock);
    free(trees->folder);
    free(trees->prefix);
}

/* A worktree that git knows: ours, if it lies in a folder of our name, and left behind if that one's lock can be taken. */
static void consider_leftover(char *path)
{
    char *slash = strrchr(path, '/');
    char *name;
    int lock;

    if (!slash || (strcmp(slash + 1, side_names[0]) && strcmp(slash + 1, side_names[1])))
        return;
    *slash = 0;
    name = strrchr(path, '/');
    if (!name || strlen(name + 1) != strlen(FOLDER) ||
        strncmp(name + 1, FOLDER, strlen(FOLDER) - 6) || (lock = lock_folder(path, 0)) < 0)
        return;
    for (int side = 0; side < 2; side++) {
        char *tree = NULL;

        if (asprintf(&tree, "%s/%s", path, side_names[side]) >= 0) {
            remove_tree(tree);
            free(tree);
        }
    }
    remove_folder(path, lock);
}

/* What one that was killed left: nobody else would ever take it away. */
static void remove_leftovers(void)
{
    char *words[] = {"git", "worktree", "list", "--porcelain", NULL};
    struct vti_spawned spawned;
    int code = vti_spawn(&spawned, words, NULL);
    char *rest = code || spawned.status ? NULL : (char *)spawned.out.data;
    char *line;

    while (rest && (line = strsep(&rest, "\n")))
        if (!strncmp(line, "worktree ", 9))
            consider_leftover(line + 9);
    vti_spawned_fini(&spawned);
}

static int name_side(struct vti_checking *checking, const struct trees *trees, int side)
{
    checking->lines[side].directory = trees->where[side];
    if (asprintf(&checking->names[side], "%s (%.10s), %s", trees->names[side], trees->commits[side],
                 checking->lines[side].text) < 0) {
        checking->names[side] = NULL;
        return vti_cmd_fail("check", "out of memory");
    }
    return 0;
}

int vti_check_revisions(struct vti_checking *checking)
{
    struct trees trees = {.lock = -1};
    int code = split(&trees, checking->rev);

    if (!code)
        code = forget_variables();
    if (!code)
        code = find_prefix(&trees);
    if (!code)
        code = find_commits(&trees);
    if (!code) {
        remove_leftovers();
        code = make_folder(&trees);
    }
    for (int side = 0; side < 2 && !code; side++) {
        code = make_tree(&trees, side);
        if (!code)
            code = set_up(checking, &trees, side);
        if (!code)
            code = name_side(checking, &trees, side);
    }
    if (!code)
        code = vti_check_live(checking);
    if (!code && !strcmp(trees.commits[0], trees.commits[1]))
        vti_buf_printf(&checking->comparison.notes,
                       "both revisions are one commit, %.10s: nothing can have changed\n",
                       trees.commits[0]);
    if (!code && !checking->selftest)
        code = vti_check_explain(checking); /* while the worktrees are there */
    remove_trees(&trees);
    for (int side = 0; side < 2; side++)
        checking->lines[side].directory = NULL;
    return code;
}
