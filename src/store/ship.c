/*
 * ship.c - the follower: takes recordings in order, again and again, until there is nothing more to come.
 */
#include "store/ship_impl.h"

#include "base/error.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_MOST 32 /* recordings that grow and are kept open between looks */

struct follower {
    struct vti_ship ship; /* first: what the other files see */
    struct vti_follow follows[OPEN_MOST];
    int lock_fd;
};

static struct vti_follow *find_follow(struct follower *follower, const char *name)
{
    for (size_t i = 0; i < OPEN_MOST; i++)
        if (follower->follows[i].name && !strcmp(follower->follows[i].name, name))
            return &follower->follows[i];
    return NULL;
}

static struct vti_follow *free_follow(struct follower *follower)
{
    for (size_t i = 0; i < OPEN_MOST; i++)
        if (!follower->follows[i].name)
            return &follower->follows[i];
    vti_follow_end(&follower->ship,
                   &follower->follows[0]); /* it is opened again where it was left */
    return &follower->follows[0];
}

/* One that cannot be read now: it may have gone, or be no recording; that is said once, and it is passed over. */
static int pass_over(struct vti_ship *ship, const char *name, int code)
{
    char path[PATH_MAX * 2];

    snprintf(path, sizeof path, "%s/%s", ship->folder, name);
    if (code == VTI_E_NOMEM || (!ship->is_folder && code < 0))
        return code;
    if (code < 0 && !access(path, F_OK) && !vti_ship_state_find(&ship->state, name)) {
        static const uint8_t nobody[VTI_UUID] = {0};

        ship->options->say(vti_error_message(code));
        if (!vti_ship_state_file(&ship->state, name, nobody))
            return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    return 0;
}

static int visit_name(struct follower *follower, const char *name)
{
    struct vti_ship *ship = &follower->ship;
    struct vti_ship_file *file = vti_ship_state_find(&ship->state, name);
    struct vti_follow *follow = find_follow(follower, name);
    int code;

    if (file)
        file->is_there = true;
    if (file && file->is_done)
        return vti_ship_tidy(ship, name) ? vti_ship_save(ship) : 0;
    if (!follow) {
        follow = free_follow(follower);
        code = vti_follow_begin(ship, follow, name);
        if (code)
            return pass_over(ship, name, code);
    }
    code = vti_follow_visit(ship, follow);
    if (code != VTI_E_READ || !ship->is_folder)
        return code;
    ship->options->say(vti_error_message(code)); /* it is another one now, and looked at as that */
    vti_follow_end(ship, follow);
    return 0;
}

/* Of a file that gave way to the limit, and so counts as lost whole, we have sent a part. What went another way counts nowhere. */
static uint64_t sent_of_lost(const struct vti_spool_losses *losses,
                             const struct vti_ship_file *file)
{
    const struct vti_spool_loss *loss = vti_spool_losses_find(losses, file->id);
    uint64_t sent = file->sent + file->unsent;

    if (!loss)
        return 0;
    return sent < loss->steps ? sent : loss->steps;
}

/* Files that went away without us. */
static void note_gone(struct follower *follower)
{
    struct vti_ship *ship = &follower->ship;
    struct vti_spool_losses losses = {0};
    bool has_losses = false;

    for (size_t i = ship->state.count; i-- > 0;) {
        struct vti_ship_file *file = &ship->state.files[i];
        struct vti_follow *follow = find_follow(follower, file->name);

        if (file->is_there)
            continue;
        if (follow)
            vti_follow_end(ship, follow);
        if (!has_losses)
            vti_spool_losses_load(&losses, ship->folder);
        has_losses = true;
        if (vti_spool_is_name(file->name))
            ship->state.given_back += sent_of_lost(&losses, file);
        vti_ship_forget(ship, file->name);
    }
    vti_spool_losses_fini(&losses);
}

static int look_through(struct follower *follower)
{
    struct vti_ship *ship = &follower->ship;
    struct vti_ship_names names;
    int code = vti_ship_names_load(&names, ship->folder);

    if (code)
        return code;
    for (size_t i = 0; i < ship->state.count; i++)
        ship->state.files[i].is_there = false;
    for (size_t i = 0; i < names.count && !code; i++)
        code = visit_name(follower, names.names[i]);
    if (!code)
        note_gone(follower);
    vti_ship_names_fini(&names);
    return code;
}

static int look(struct follower *follower)
{
    struct vti_ship *ship = &follower->ship;
    char copy[PATH_MAX];

    if (ship->is_folder)
        return look_through(follower);
    snprintf(copy, sizeof copy, "%s", ship->options->source);
    return visit_name(follower, basename(copy));
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static bool is_over(struct follower *follower)
{
    struct vti_ship *ship = &follower->ship;
    const struct vti_ship_state *state = &ship->state;

    if (ship->options->is_once || vti_ship_is_stopped())
        return true;
    return !ship->is_folder && state->count == 1 && state->files[0].is_done;
}

/* All that there was is sent: no letter of before comes again. */
static int settle_dead(struct vti_ship *ship)
{
    struct stat info;

    if (!ship->dead_known)
        return 0;
    vti_map_free(ship->dead_known);
    ship->dead_known = NULL;
    ship->state.dead_bytes = stat(ship->dead_path, &info) ? 0 : (uint64_t)info.st_size;
    return vti_ship_save(ship);
}

static int follow_all(struct follower *follower)
{
    struct vti_ship *ship = &follower->ship;
    bool had_stop;

    do {
        int code;

        had_stop = vti_ship_is_stopped(); /* what came before the stop is still sent */
        code = look(follower);
        if (!code)
            code = settle_dead(ship);
        if (code == 1)
            ship->result->has_rest = true;
        if (code)
            return code < 0 ? code : 0;
        if (ship->mood == VTI_SHIP_SENDING)
            vti_ship_set_mood(ship, VTI_SHIP_IDLE, "");
        vti_ship_status(ship, false);
        if (is_over(follower) && (ship->options->is_once || !vti_ship_is_stopped() || had_stop))
            return 0;
    } while (vti_ship_wait(ship, had_stop ? 1 : ship->options->every_ms) ||
             !vti_ship_is_stopped_hard());
    return 0;
}

static void end(struct follower *follower)
{
    struct vti_ship *ship = &follower->ship;

    for (size_t i = 0; i < OPEN_MOST; i++)
        vti_follow_end(ship, &follower->follows[i]);
    if (ship->store)
        ship->options->type->close(ship->store);
    vti_ship_look_around(ship);
    for (size_t i = 0; i < ship->state.count && ship->is_folder; i++)
        ship->result->kept += vti_ship_is_all_there_is(ship, &ship->state.files[i]);
    ship->result->all = ship->state.counts;
    ship->result->all.lost = ship->lost;
    ship->result->all.unsent = ship->unsent;
    ship->result->all.lost_events = ship->lost_events;
    if (!access(ship->dead_path, F_OK))
        snprintf(ship->result->dead_path, sizeof ship->result->dead_path, "%.1000s",
                 ship->dead_path);
    if (ship->state.path && follower->lock_fd >= 0 && ship->store)
        vti_ship_set_mood(ship, VTI_SHIP_ENDED, "");
    vti_batch_fini(&ship->batch);
    vti_ship_waiting_fini(&ship->counted);
    vti_map_free(ship->dead_known);
    vti_ship_state_fini(&ship->state);
    if (follower->lock_fd >= 0)
        close(follower->lock_fd);
}

int vti_ship_run(const struct vti_ship_options *options, struct vti_ship_result *result)
{
    struct follower *follower = calloc(1, sizeof *follower);
    char why[1024];
    int code;

    memset(result, 0, sizeof *result);
    if (!follower)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    follower->ship.options = options;
    follower->ship.result = result;
    follower->lock_fd = -1;
    for (size_t i = 0; i < OPEN_MOST; i++)
        follower->follows[i].fd = -1;
    code = vti_ship_begin(&follower->ship, &follower->lock_fd);
    if (!code && options->begun)
        options->begun();
    if (!code)
        code = follow_all(follower);
    if (code)
        snprintf(why, sizeof why, "%s", vti_error_message(code));
    end(follower); /* looks around once more, and may find another fault than the one that counts */
    free(follower);
    return code ? vti_fail(code, "%s", why) : 0;
}
