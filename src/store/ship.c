/*
 * ship.c - the follower: takes recordings in order, makes documents of what is new in them, hands them to the store, and writes down
 * how far it is.
 */
#include "store/ship_impl.h"

#include "base/error.h"
#include "model/fact_blocks.h"
#include "model/model.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_MOST 32 /* recordings that grow and are kept open between looks */

/* A recording that is being read. */
struct follow {
    char *name; /* owned */
    int fd;     /* for the lock; -1: free */
    vt_recording *recording;
    void *makers[VTI_MAKERS_MOST];
    bool is_final;   /* it will not grow … */
    bool is_cut_off; /* … though it has no end */
    int64_t looked_ns;
};

struct follower {
    struct vti_ship ship; /* first: what the other files see */
    struct follow follows[OPEN_MOST];
    int lock_fd;
};

/* ---- one recording --------------------------------------------------------------------------- */

/* Read at all: what is asked for and the store does not take is counted, so that nobody believes it was sent. */
static bool is_wanted(const struct vti_ship *ship, const struct vti_maker *maker)
{
    return maker->kinds & ship->options->kinds;
}

static bool is_taken(const struct vti_ship *ship, const struct vti_maker *maker)
{
    return maker->kinds & ship->options->type->kinds;
}

static void end_makers(struct vti_ship *ship, struct follow *follow)
{
    struct vti_ship_file *file = follow->name ? vti_ship_state_find(&ship->state, follow->name)
                                              : NULL;

    for (size_t i = 0; i < VTI_MAKERS_MOST && vti_maker_at(i); i++) {
        const struct vti_maker *maker = vti_maker_at(i);
        uint64_t outside;

        if (!follow->makers[i])
            continue;
        outside = maker->outside ? maker->outside(follow->makers[i]) : 0;
        ship->result->now.outside += outside;
        if (file)
            file->beyond.outside += outside;
        maker->close(follow->makers[i]);
        follow->makers[i] = NULL;
    }
}

static void end_follow(struct vti_ship *ship, struct follow *follow)
{
    end_makers(ship, follow);
    vt_recording_close(follow->recording);
    if (follow->fd >= 0)
        close(follow->fd);
    free(follow->name);
    *follow = (struct follow){.fd = -1};
}

static int begin_makers(struct vti_ship *ship, struct follow *follow,
                        const struct vti_ship_file *file)
{
    for (size_t i = 0; i < VTI_MAKERS_MOST && vti_maker_at(i); i++) {
        const struct vti_maker *maker = vti_maker_at(i);
        int code = is_wanted(ship, maker) ? maker->open(&follow->makers[i], follow->recording,
                                                        &file->at[i], &ship->options->maker)
                                          : 0;

        if (code)
            return code;
    }
    return 0;
}

static int begin_follow(struct vti_ship *ship, struct follow *follow, const char *name)
{
    char path[PATH_MAX * 2];
    struct vti_ship_file *file;
    int code;

    snprintf(path, sizeof path, "%s/%s", ship->folder, name);
    vti_ship_reading(path);
    follow->name = strdup(name);
    follow->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* never wait for a pipe */
    if (!follow->name || follow->fd < 0)
        code = vti_fail_errno(VTI_E_OPEN, "%s: cannot open", path);
    else
        code = vt_recording_open(&follow->recording, path);
    if (!code) {
        file = vti_ship_state_file(&ship->state, name, follow->recording->header.id);
        if (!file)
            code = vti_fail(VTI_E_NOMEM, "out of memory");
        else if (file->is_done) /* nothing to do */
            code = 1;
        else
            code = begin_makers(ship, follow, file);
    }
    if (code)
        end_follow(ship, follow);
    return code;
}

/* Whether nobody writes it any more; asked before it is read, so that what is read then is all. */
static bool is_final(const struct vti_ship *ship, struct follow *follow)
{
    if (follow->is_final || flock(follow->fd, LOCK_SH | LOCK_NB))
        return follow->is_final;
    follow->is_final = vti_spool_is_name(follow->name) || follow->recording->is_closed;
    if (!follow->is_final && !ship->is_folder && !ship->options->is_once)
        follow->is_final = follow->is_cut_off = vti_ship_is_cut_off(ship->options->source,
                                                                    &follow->looked_ns);
    return follow->is_final;
}

static void say_cut_off(const struct vti_ship *ship)
{
    char line[PATH_MAX + 100];

    snprintf(line, sizeof line,
             "%s: has no end and nobody writes it: it was cut off; all that is there is sent",
             ship->options->source);
    ship->options->say(line);
}

/* On the disk, or a failure; waits for room if there is none. */
static int save(struct vti_ship *ship)
{
    for (unsigned try = 0;; try++) {
        int code = vti_ship_state_save(&ship->state, ship->options->settings->shown);

        if (code != VTI_E_DISK_FULL)
            return code;
        vti_ship_set_mood(ship, VTI_SHIP_AWAY, vti_error_message(code));
        if (!vti_ship_wait(ship, vti_ship_backoff(try, ship->options->retry_ms)))
            return code;
    }
}

/* What was delivered is written down. */
static int commit(struct vti_ship *ship, const struct follow *follow, size_t maker)
{
    struct vti_ship_file *file = vti_ship_state_find(&ship->state, follow->name);

    vti_maker_at(maker)->position(follow->makers[maker], &file->at[maker]);
    for (size_t i = 0; i < ship->batch.count; i++)
        file->sent += ship->batch.documents[i].kind == VTI_DOCUMENT_STEP;
    for (size_t i = 0; i < ship->batch.count; i++)
        file->told += ship->batch.documents[i].fate != VTI_FATE_PASSED;
    return save(ship);
}

/* A batch of what the store does not take. */
static void count_unsent(struct vti_ship *ship, const struct follow *follow, size_t maker)
{
    struct vti_ship_file *file = vti_ship_state_find(&ship->state, follow->name);
    char line[300];

    file->unsent += ship->batch.count;
    ship->result->now.unsent += ship->batch.count;
    if (ship->has_said_unsent)
        return;
    ship->has_said_unsent = true;
    snprintf(line, sizeof line, "%s are not sent: %.50s does not take them; %s",
             vti_maker_at(maker)->name, ship->options->type->name,
             ship->is_folder ? "their recordings are kept (--only names what is meant)"
                             : "they are in the recording only");
    ship->options->say(line);
}

/* Entries of a merged recording are numbered anew: nobody can know them for those of its parts. Traces have their own ids. */
static void warn_merged(struct vti_ship *ship, const struct follow *follow)
{
    struct vti_bytes parts;
    char line[400];

    if (ship->has_said_merged || ship->batch.documents[0].kind != VTI_DOCUMENT_STEP ||
        !vti_recording_meta(follow->recording, "merged", &parts))
        return;
    ship->has_said_merged = true;
    snprintf(line, sizeof line,
             "%.200s was merged: if its parts are sent too, their steps will be there twice",
             follow->name);
    ship->options->say(line);
}

/* All that is there now of one kind. 0, 1: it was told to stop, or a negative code. */
static int drain(struct vti_ship *ship, struct follow *follow, size_t maker)
{
    int got = 1;

    while (got == 1) {
        int code;

        vti_batch_clear(&ship->batch);
        got = vti_maker_at(maker)->next(follow->makers[maker], &ship->batch, &ship->options->limits,
                                        follow->is_final);
        if (got < 0)
            return got;
        if (!vti_recording_is_in(follow->recording, &follow->recording->map))
            return vti_fail(VTI_E_READ, "%s: was replaced by another file",
                            follow->recording->path);
        if (!ship->batch.count)
            continue;
        if (!is_taken(ship, vti_maker_at(maker))) {
            count_unsent(ship, follow, maker);
            vti_maker_at(maker)->position(
                follow->makers[maker], &vti_ship_state_find(&ship->state, follow->name)->at[maker]);
            vti_batch_clear(&ship->batch);
            continue;
        }
        warn_merged(ship, follow);
        code = vti_ship_deliver(ship);
        if (!code)
            code = commit(ship, follow, maker);
        if (code)
            return code;
        vti_batch_clear(&ship->batch);
        if (vti_ship_is_stopped_hard())
            return 1;
    }
    /* What held nothing is passed over for good; on the disk with what comes next. */
    vti_maker_at(maker)->position(follow->makers[maker],
                                  &vti_ship_state_find(&ship->state, follow->name)->at[maker]);
    return 0;
}

static void note_lost(struct follow *follow, struct vti_ship_file *file)
{
    file->lost = 0;
    for (size_t i = 0; i < VTI_MAKERS_MOST && vti_maker_at(i); i++)
        if (follow->makers[i] && vti_maker_at(i)->lost)
            file->lost += vti_maker_at(i)->lost(follow->makers[i]);
}

static int finish(struct vti_ship *ship, struct follow *follow)
{
    struct vti_ship_file *file = vti_ship_state_find(&ship->state, follow->name);
    int code;

    note_lost(follow, file);
    end_makers(ship, follow);
    vti_ship_beyond_note(&file->beyond, follow->recording);
    file->is_done = true;
    code = vti_ship_state_save(&ship->state, ship->options->settings->shown);
    if (code && code != VTI_E_DISK_FULL)
        return code;
    /* A full disk gets room by this; what is not there any more needs no state. */
    if (vti_ship_set_aside(ship, follow->name, follow->recording) ||
        vti_ship_delete(ship, follow->name, follow->fd))
        code = 1;
    end_follow(ship, follow);
    return code ? save(ship) : 0;
}

static int visit(struct vti_ship *ship, struct follow *follow)
{
    bool was_final = is_final(ship, follow);
    int64_t added;
    int code;

    vti_ship_reading(follow->recording->path);
    added = vt_recording_refresh(follow->recording);
    code = added < 0 ? (int)added : 0;
    /* It was closed since it was opened. */
    if (!code && !was_final && follow->recording->is_closed && is_final(ship, follow)) {
        was_final = true;
        added = vt_recording_refresh(follow->recording);
        code = added < 0 ? (int)added : 0;
    }
    for (size_t i = 0; i < VTI_MAKERS_MOST && vti_maker_at(i) && !code; i++)
        if (follow->makers[i])
            code = drain(ship, follow, i);
    if (code)
        return code;
    if (was_final && follow->is_cut_off)
        say_cut_off(ship);
    if (was_final)
        return finish(ship, follow);
    note_lost(follow, vti_ship_state_find(&ship->state, follow->name));
    return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static struct follow *find_follow(struct follower *follower, const char *name)
{
    for (size_t i = 0; i < OPEN_MOST; i++)
        if (follower->follows[i].name && !strcmp(follower->follows[i].name, name))
            return &follower->follows[i];
    return NULL;
}

static struct follow *free_follow(struct follower *follower)
{
    for (size_t i = 0; i < OPEN_MOST; i++)
        if (!follower->follows[i].name)
            return &follower->follows[i];
    end_follow(&follower->ship, &follower->follows[0]); /* it is opened again where it was left */
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
    struct follow *follow = find_follow(follower, name);
    int code;

    if (file)
        file->is_there = true;
    if (file && file->is_done)
        return vti_ship_tidy(ship, name) ? save(ship) : 0;
    if (!follow) {
        follow = free_follow(follower);
        code = begin_follow(ship, follow, name);
        if (code)
            return pass_over(ship, name, code);
    }
    code = visit(ship, follow);
    if (code != VTI_E_READ || !ship->is_folder)
        return code;
    ship->options->say(vti_error_message(code)); /* it is another one now, and looked at as that */
    end_follow(ship, follow);
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
        struct follow *follow = find_follow(follower, file->name);

        if (file->is_there)
            continue;
        if (follow)
            end_follow(ship, follow);
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
    return save(ship);
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
        end_follow(ship, &follower->follows[i]);
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
