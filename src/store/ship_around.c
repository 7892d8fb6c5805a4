/* ship_around.c - what waits to be sent and what never will be: also while the store is away, which is when people ask. */
#include "store/ship_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Makers keep in the first word of their place how far they are in the file. */
static uint64_t behind(const struct vti_ship_file *file, uint64_t bytes)
{
    uint64_t at = UINT64_MAX;

    for (size_t i = 0; i < VTI_MAKERS_MOST && vti_maker_at(i); i++)
        if (file->at[i].words[0] && file->at[i].words[0] < at)
            at = file->at[i].words[0];
    return at == UINT64_MAX ? 0 : at < bytes ? at : bytes;
}

static void add_waiting(struct vti_ship *ship, const char *path, const struct vti_ship_file *file)
{
    struct stat info;

    if ((file && file->is_done) || stat(path, &info) || !S_ISREG(info.st_mode))
        return;
    ship->waiting_files++;
    ship->waiting_bytes += (uint64_t)info.st_size;
    if (ship->options->kinds & ship->options->type->kinds & VTI_DOCUMENT_STEP) {
        uint64_t steps;
        uint64_t sent = file ? file->sent : 0;

        vti_ship_reading(path);
        steps = vti_ship_count_steps(&ship->counted, path, &info);
        ship->waiting += steps > sent ? steps - sent : 0;
    }
    if (file)
        ship->waiting_bytes -= behind(file, (uint64_t)info.st_size);
}

static void look_through(struct vti_ship *ship)
{
    struct vti_ship_names names;

    if (vti_ship_names_load(&names, ship->folder))
        return;
    for (size_t i = 0; i < names.count; i++) {
        char path[PATH_MAX * 2];

        snprintf(path, sizeof path, "%s/%s", ship->folder, names.names[i]);
        add_waiting(ship, path, vti_ship_state_find(&ship->state, names.names[i]));
    }
    vti_ship_names_fini(&names);
}

/* Of traces only what is in hand is known to be documents. */
static uint64_t count_in_hand(const struct vti_batch *batch)
{
    uint64_t count = 0;

    for (size_t i = 0; i < batch->count; i++)
        count += batch->documents[i].fate == VTI_FATE_WAITING &&
                 batch->documents[i].kind != VTI_DOCUMENT_STEP;
    return count;
}

void vti_ship_look_around(struct vti_ship *ship)
{
    struct vti_ship_state *state = &ship->state;
    struct vti_spool_losses losses = {0};
    uint64_t steps;

    ship->waiting = count_in_hand(&ship->batch);
    ship->waiting_files = ship->waiting_bytes = 0;
    if (ship->is_folder) {
        look_through(ship);
        vti_spool_losses_load(&losses, ship->folder);
    } else {
        add_waiting(ship, ship->options->source, state->count ? state->files : NULL);
    }
    vti_ship_waiting_prune(&ship->counted);
    ship->lost_events = losses.all.events;
    steps = losses.all.steps;
    steps -= steps < state->given_back ? steps : state->given_back;
    vti_spool_losses_fini(&losses);
    ship->lost = state->counts.lost + steps;
    ship->unsent = state->counts.unsent;
    for (size_t i = 0; i < state->count; i++) {
        ship->lost += state->files[i].lost;
        ship->unsent += state->files[i].unsent;
    }
}
