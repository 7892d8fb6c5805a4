/*
 * ship_tidy.c - recordings of a spool that are sent: they are deleted, once nobody else needs them; what is damaged is set aside instead.
 *
 * Nothing else of a folder is ever touched: its name tells whether a file is a spool's.
 */
#include "store/ship_impl.h"

#include "base/error.h"
#include "model/model.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

static bool is_needed_elsewhere(struct vti_ship *ship, const char *name)
{
    char line[PATH_MAX + 200];
    int code;

    if (vti_spool_all_done(ship->folder, ship->state.path, name, &code))
        return false;
    if (code && !ship->has_said_other) {
        ship->has_said_other = true;
        snprintf(line, sizeof line,
                 "%s; all recordings are kept for that store (delete the file to forget the store)",
                 vti_error_message(code));
        ship->options->say(line);
    }
    return true;
}

bool vti_ship_is_all_there_is(const struct vti_ship *ship, const struct vti_ship_file *file)
{
    /* --only says that the rest is not meant. */
    return ship->options->kinds == UINT32_MAX && file->is_done && !file->told && !file->unsent &&
           vti_spool_is_name(file->name) && !ship->result->now.shipped && !ship->result->now.dead;
}

static bool can_delete(struct vti_ship *ship, const char *name, int fd)
{
    const struct vti_ship_file *file = vti_ship_state_find(&ship->state, name);

    if (file && file->unsent) /* of that there is nothing elsewhere; who sends it deletes it */
        return false;
    if (file && vti_ship_is_all_there_is(ship, file))
        return false;
    return ship->is_folder && !ship->options->keeps_files && vti_spool_is_name(name) &&
           !is_needed_elsewhere(ship, name) && !flock(fd, LOCK_EX | LOCK_NB);
}

void vti_ship_forget(struct vti_ship *ship, const char *name)
{
    struct vti_ship_file *file = vti_ship_state_find(&ship->state, name);

    if (!file)
        return;
    ship->state.counts.lost += file->lost;
    ship->state.counts.unsent += file->unsent;
    vti_ship_state_forget(&ship->state, (size_t)(file - ship->state.files));
}

bool vti_ship_delete(struct vti_ship *ship, const char *name, int fd)
{
    char path[PATH_MAX * 2];
    const struct vti_ship_file *file = vti_ship_state_find(&ship->state, name);
    struct vti_ship_result *result = ship->result;

    snprintf(path, sizeof path, "%s/%s", ship->folder, name);
    if (!can_delete(ship, name, fd) || unlink(path))
        return false;
    result->deleted++;
    if (file) {
        result->gone.outside += file->beyond.outside;
        result->gone.kinds |= file->beyond.kinds;
        result->now.outside -= file->beyond.outside < result->now.outside ? file->beyond.outside
                                                                          : result->now.outside;
    }
    vti_ship_forget(ship, name);
    return true;
}

bool vti_ship_set_aside(struct vti_ship *ship, const char *name, const vt_recording *recording)
{
    size_t places = recording->damage.count - recording->has_tail_damage;
    char path[PATH_MAX * 2], aside[PATH_MAX * 2 + 16];
    char text[PATH_MAX * 2];

    if (!places || !ship->is_folder || !vti_spool_is_name(name))
        return false;
    snprintf(path, sizeof path, "%s/%s", ship->folder, name);
    snprintf(aside, sizeof aside, "%s.damaged", path);
    if (rename(path, aside))
        return false;
    snprintf(text, sizeof text,
             "%s: damaged in %zu place%s, what was there is not sent; it is kept as %s.damaged",
             name, places, places == 1 ? "" : "s", name);
    ship->options->say(text);
    vti_ship_forget(ship, name);
    return true;
}

bool vti_ship_tidy(struct vti_ship *ship, const char *name)
{
    char path[PATH_MAX * 2];
    bool is_gone;
    int fd;

    if (!ship->is_folder || ship->options->keeps_files || !vti_spool_is_name(name))
        return false;
    snprintf(path, sizeof path, "%s/%s", ship->folder, name);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    is_gone = vti_ship_delete(ship, name, fd);
    close(fd);
    return is_gone;
}
