/*
 * program.c - a program that is watched from its start: `venturi run` records it, we follow the recording.
 *
 * The terminal is ours meanwhile: what the program prints goes to a file whose name is said at the end, with -b to standard error.
 */
#include "base/beside.h"
#include "base/error.h"
#include "top/top.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEAVE_MS 5000 /* a program that is asked to stop has so long */

static int open_output(struct vti_top_program *program)
{
    const char *folder = getenv("TMPDIR");
    int file;

    snprintf(program->output, sizeof program->output, "%s/venturi-top-XXXXXX",
             folder && *folder ? folder : "/tmp");
    file = mkstemp(program->output);
    if (file < 0)
        return vti_fail(VTI_E_SYSTEM, "%s: cannot be made: %s", program->output, strerror(errno));
    return file;
}

static void exec_run(const char *tool, const struct vti_top_program *program, char **words,
                     int output)
{
    char *command[512] = {(char *)tool, "run", "-q", "--force", "-o", (char *)program->path, "--"};
    int nothing = open("/dev/null", O_RDONLY);
    unsigned at = 7;

    while (*words && at + 1 < sizeof command / sizeof *command)
        command[at++] = *words++;
    command[at] = NULL;
    setpgid(0, 0); /* ^C on the terminal is for us: we stop it ourselves */
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    execv(tool, command);
    _exit(126);
}

int vti_top_program_start(struct vti_top_program *program, char **words, const char *path,
                          bool is_plain)
{
    static const char *const places[] = {"venturi", "../../bin/venturi"};
    const char *folder = getenv("TMPDIR");
    char tool[PATH_MAX];
    int output;

    if (!vti_beside_find(places, sizeof places / sizeof *places, tool, sizeof tool))
        return vti_fail(VTI_E_SYSTEM, "the program venturi is not beside this one");
    program->is_temporary = !path;
    if (path)
        snprintf(program->path, sizeof program->path, "%s", path);
    else
        snprintf(program->path, sizeof program->path, "%s/venturi-top-%ld.vt",
                 folder && *folder ? folder : "/tmp", (long)getpid());
    output = is_plain ? dup(STDERR_FILENO) : open_output(program);
    if (output < 0)
        return output;
    program->pid = fork();
    if (!program->pid)
        exec_run(tool, program, words, output);
    close(output);
    if (program->pid < 0) {
        program->pid = 0;
        return vti_fail(VTI_E_SYSTEM, "cannot start another process: %s", strerror(errno));
    }
    return 0;
}

void vti_top_program_poll(struct vti_top_program *program)
{
    if (program->pid && !program->has_ended &&
        waitpid(program->pid, &program->status, WNOHANG) == program->pid)
        program->has_ended = true;
}

static void stop(struct vti_top_program *program)
{
    const struct timespec moment = {.tv_nsec = 10000000};

    kill(program->pid, SIGTERM);
    for (unsigned ms = 0; ms < LEAVE_MS && !program->has_ended; ms += 10) {
        nanosleep(&moment, NULL);
        vti_top_program_poll(program);
    }
    if (program->has_ended)
        return;
    kill(-program->pid, SIGKILL);
    waitpid(program->pid, &program->status, 0);
    program->has_ended = true;
}

int vti_top_program_end(struct vti_top_program *program)
{
    bool was_running;

    if (!program->pid)
        return 0;
    vti_top_program_poll(program);
    was_running = !program->has_ended;
    if (was_running)
        stop(program);
    if (program->is_temporary)
        unlink(program->path);
    else
        fprintf(stderr, "venturi: %s\n", program->path);
    if (*program->output)
        fprintf(stderr, "venturi: what it printed is in %s\n", program->output);
    if (was_running) /* as asked */
        return 0;
    return WIFEXITED(program->status) ? WEXITSTATUS(program->status)
                                      : 128 + WTERMSIG(program->status);
}
