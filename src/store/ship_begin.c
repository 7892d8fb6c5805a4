/* ship_begin.c - before anything is sent: where state, status and dead letters are, that nobody else sends the same, and how far it was. */
#include "store/ship_impl.h"

#include "base/error.h"
#include "base/hash.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* FOLDER/ship-NAME-HASH for a folder, FILE.ship-NAME-HASH for a recording. */
static int find_places(struct vti_ship *ship)
{
    const struct vti_ship_options *options = ship->options;
    const char *shown = options->settings->shown;
    const char *dir = options->state_dir;
    uint32_t hash = (uint32_t)vti_hash(shown, strlen(shown));
    struct stat info;
    char copy[PATH_MAX], *name;
    int len;

    if (stat(options->source, &info))
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", options->source);
    if (strlen(options->source) >= PATH_MAX - 64 || (dir && strlen(dir) >= PATH_MAX / 2))
        return vti_fail(VTI_E_USAGE, "%.100s…: the path is too long", options->source);
    ship->is_folder = S_ISDIR(info.st_mode);
    snprintf(copy, sizeof copy, "%s", options->source);
    snprintf(ship->folder, sizeof ship->folder, "%s",
             ship->is_folder ? options->source : dirname(copy));
    snprintf(copy, sizeof copy, "%s", options->source);
    name = basename(copy);
    len = snprintf(ship->base, sizeof ship->base, "%s/%s%sship-%s-%08" PRIx32,
                   dir ? dir : ship->folder, ship->is_folder ? "" : name,
                   ship->is_folder ? "" : ".", options->type->name, hash);
    if (len < 0 || len >= PATH_MAX)
        return vti_fail(VTI_E_USAGE, "%.100s…: the path is too long", options->source);
    snprintf(ship->dead_path, sizeof ship->dead_path, "%s.dead.ndjson", ship->base);
    return 0;
}

/* Two that send the same to the same place would only get in each other's way. */
static int lock(const struct vti_ship *ship, int *fd)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s.lock", ship->base);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return vti_fail_errno(VTI_E_WRITE, "%s: cannot write", path);
    if (flock(*fd, LOCK_EX | LOCK_NB))
        return vti_fail(VTI_E_OPEN, "%s: another venturi ship sends it there already",
                        ship->options->source);
    return 0;
}

int vti_ship_begin(struct vti_ship *ship, int *lock_fd)
{
    char path[PATH_MAX + 16];
    int code = find_places(ship);

    if (!code)
        code = lock(ship, lock_fd);
    if (code)
        return code;
    snprintf(path, sizeof path, "%s.state", ship->base);
    code = vti_ship_state_load(&ship->state, path);
    if (code == VTI_E_DAMAGED) {
        char line[PATH_MAX + 100];

        snprintf(line, sizeof line, "%s; all is sent again, under the same ids",
                 vti_error_message(code));
        ship->options->say(line);
        code = 0;
    }
    if (!code)
        code = vti_dead_known(&ship->dead_known, ship->dead_path, ship->state.dead_bytes);
    ship->has_repeat = true;
    ship->progress_ns = vti_ship_now();
    /* Before anything is sent: whether it can be written down. It tells other shippers of the folder of us, too. */
    if (!code)
        code = vti_ship_state_save(&ship->state, ship->options->settings->shown);
    if (!code)
        code = ship->options->type->open(&ship->store, ship->options->settings);
    return code;
}
