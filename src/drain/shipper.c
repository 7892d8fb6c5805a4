/* shipper.c - starts venturi-ship for a spool, and ends it. */
#include "drain/shipper.h"

#include "base/beside.h"
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 15000 /* a little more than it has itself */
#define READY_MS 10000
#define STEP_MS 20

static void become(const char *program, const char *spool, const char *url)
{
    char log[PATH_MAX];
    char word[VTI_SECRET_MOST + 16];
    char *const words[] = {(char *)(uintptr_t) "venturi-ship",
                           (char *)(uintptr_t)spool,
                           (char *)(uintptr_t) "-q",
                           (char *)(uintptr_t) "--to",
                           word,
                           NULL};
    int fd;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if ((size_t)snprintf(log, sizeof log, "%s/ship.log", spool) < sizeof log &&
        (fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600)) >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    if (vti_secret_send(url, word, sizeof word) >= 0) /* on no command line, in no environment */
        execv(program, words);
    _exit(127);
}

char *vti_shipper_take_url(void)
{
    char *word = getenv("VENTURI_SHIP");
    char *url;

    if (!word || !*word)
        return NULL;
    url = vti_secret_receive(word);
    if (!url)
        fprintf(stderr, "venturi: connection_string: cannot be read; spans stay in the spool\n");
    vti_secret_hide_login(word); /* where it is the URL itself */
    unsetenv("VENTURI_SHIP");
    return url;
}

pid_t vti_shipper_start(const char *spool, const char *url)
{
    static const char *const places[] = {"venturi-ship", "../libexec/venturi/venturi-ship"};
    char program[PATH_MAX];
    pid_t pid;

    if (!spool || !url || !*url)
        return 0;
    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program)) {
        fprintf(stderr,
                "venturi: connection_string: venturi-ship is not there (it is built with "
                "libcurl); spans stay in %s\n",
                spool);
        return 0;
    }
    pid = fork();
    if (pid == 0)
        become(program, spool, url);
    if (pid < 0)
        fprintf(stderr, "venturi: venturi-ship cannot be started: %s\n", strerror(errno));
    return pid > 0 ? pid : 0;
}

/* Whether it has come so far that SIGTERM is a request: before, it would only kill it. */
static bool is_ready(pid_t shipper)
{
    char path[64];
    char line[256];
    unsigned long long caught = 0;
    bool is_it = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)shipper);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        is_it |= !strcmp(line, "Name:\tventuri-ship\n");
        if (!strncmp(line, "SigCgt:", 7) || !strncmp(line, "SigBlk:", 7))
            caught |= strtoull(line + 7, NULL, 16);
    }
    if (file)
        fclose(file);
    return is_it && (caught >> (SIGTERM - 1) & 1);
}

void vti_shipper_end(pid_t shipper)
{
    static const struct timespec step = {0, STEP_MS * 1000000};

    if (!shipper)
        return;
    for (int left = READY_MS; left > 0 && !is_ready(shipper); left -= STEP_MS) {
        if (waitpid(shipper, NULL, WNOHANG))
            return; /* it has ended by itself: another one is at this spool, or the URL is wrong */
        nanosleep(&step, NULL);
    }
    kill(shipper, SIGTERM);
    for (int left = PATIENCE_MS; left > 0 && waitpid(shipper, NULL, WNOHANG) == 0; left -= STEP_MS)
        nanosleep(&step, NULL);
    if (waitpid(shipper, NULL, WNOHANG) == 0) {
        kill(shipper, SIGKILL);
        waitpid(shipper, NULL, 0);
    }
}
