/* requests.c - what those want who have connected to the session's socket: to be recorded, to hand something over, to control the recording. */
#include "drain/drain_state.h"

#include "base/error.h"
#include "drain/clock.h"
#include "drain/proc.h"
#include "drain/socket.h"

#include <stdio.h>
#include <unistd.h>

#define ANCESTORS_MAX 64

static bool knows(const struct vti_drain *drain, pid_t pid)
{
    for (const struct vti_target *p = drain->processes; p; p = p->next)
        if (p->pid == pid)
            return true;
    return pid == getpid();
}

/* Something from one of our processes. Takes the descriptor. */
static int accept_gift(struct vti_drain *drain, pid_t pid, const struct vti_gift_request *gift,
                       int given)
{
    struct vti_target *process = drain->processes;

    while (process && (process->pid != pid || process->is_over))
        process = process->next;
    if (process)
        vti_target_read(process, vti_clock_now_ns(), false);
    if (drain->is_closed || !process || !process->is_announced) {
        close(given);
        return VTI_E_SESSION;
    }
    return vti_gifts_take(process, &drain->sources, gift->kind, gift->name, given);
}

/* Does what is asked; 0 or a negative code. */
static int obey(struct vti_drain *drain, const struct vti_client *client, uint32_t type)
{
    if (drain->is_closed || !client->is_same_user)
        return VTI_E_SESSION;
    if (type == VTI_REQUEST_ON || type == VTI_REQUEST_OFF)
        vti_drain_switch(drain, type == VTI_REQUEST_ON);
    else if (type == VTI_REQUEST_FLUSH)
        vti_drain_read_all(drain, true);
    else if (type == VTI_REQUEST_STOP)
        vti_drain_stop(drain);
    else if (type != VTI_REQUEST_STATUS)
        return VTI_E_USAGE;
    return 0;
}

static void serve(void *arg, const struct vti_client *client)
{
    struct vti_drain *drain = arg;
    struct vti_answer answer = {.drainer_pid = getpid()};
    struct vti_drain_stats stats = {0};
    struct vti_gift_request gift;
    int given;

    if (!vti_socket_request(client->fd, &gift, &given)) {
        if (given >= 0)
            close(given);
        return;
    }
    if (gift.request.type == VTI_REQUEST_ATTACH) {
        vti_drain_attach(drain, client->fd, client->pid, gift.request.arena_version);
        return;
    }
    answer.error = given >= 0 ? accept_gift(drain, client->pid, &gift, given)
                              : obey(drain, client, gift.request.type);
    stats = drain->stats;
    vti_recorder_stats(drain->recorder, &stats);
    answer.process_count = vti_drain_alive(drain);
    answer.is_on = drain->control_word != 0;
    answer.knows_pid = knows(drain, gift.request.pid);
    answer.events = stats.file.events;
    answer.lost = stats.file.lost_events;
    snprintf(answer.path, sizeof answer.path, "%s", drain->path);
    vti_socket_answer(client->fd, &answer, -1);
}

/* A program that root records may change its user and still belongs to the recording; strangers do not. */
static bool descends_from_us(void *drain, pid_t pid)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        if (knows(drain, pid))
            return true;
        pid = (pid_t)vti_proc_parent(pid);
    }
    return false;
}

void vti_drain_see_clients(struct vti_drain *drain)
{
    vti_clients_accept(&drain->clients, vti_clock_now_ns(), descends_from_us, drain);
    vti_clients_serve(&drain->clients, vti_clock_now_ns(), serve, drain);
}
