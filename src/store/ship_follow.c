/*
 * ship_follow.c - one recording: documents are made of what is new in it and handed to the store, and how far that is, is written down.
 */
#include "store/ship_impl.h"

#include "base/error.h"
#include "model/fact_blocks.h"
#include "model/model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read at all: what is asked for and the store does not take is counted, so that nobody believes it was sent. */
static bool is_wanted(const struct vti_ship *ship, const struct vti_maker *maker)
{
    return maker->kinds & ship->options->kinds;
}

static bool is_taken(const struct vti_ship *ship, const struct vti_maker *maker)
{
    return maker->kinds & ship->options->type->kinds;
}

static void end_makers(struct vti_ship *ship, struct vti_follow *follow)
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

void vti_follow_end(struct vti_ship *ship, struct vti_follow *follow)
{
    end_makers(ship, follow);
    vt_recording_close(follow->recording);
    if (follow->fd >= 0)
        close(follow->fd);
    free(follow->name);
    *follow = (struct vti_follow){.fd = -1};
}

static int begin_makers(struct vti_ship *ship, struct vti_follow *follow,
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

int vti_follow_begin(struct vti_ship *ship, struct vti_follow *follow, const char *name)
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
        vti_follow_end(ship, follow);
    return code;
}

/* Whether nobody writes it any more; asked before it is read, so that what is read then is all. */
static bool is_final(const struct vti_ship *ship, struct vti_follow *follow)
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
int vti_ship_save(struct vti_ship *ship)
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
static int commit(struct vti_ship *ship, const struct vti_follow *follow, size_t maker)
{
    struct vti_ship_file *file = vti_ship_state_find(&ship->state, follow->name);

    vti_maker_at(maker)->position(follow->makers[maker], &file->at[maker]);
    for (size_t i = 0; i < ship->batch.count; i++)
        file->sent += ship->batch.documents[i].kind == VTI_DOCUMENT_STEP;
    for (size_t i = 0; i < ship->batch.count; i++)
        file->told += ship->batch.documents[i].fate != VTI_FATE_PASSED;
    return vti_ship_save(ship);
}

/* A batch of what the store does not take. */
static void count_unsent(struct vti_ship *ship, const struct vti_follow *follow, size_t maker)
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
static void warn_merged(struct vti_ship *ship, const struct vti_follow *follow)
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
static int drain(struct vti_ship *ship, struct vti_follow *follow, size_t maker)
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

static void note_lost(struct vti_follow *follow, struct vti_ship_file *file)
{
    file->lost = 0;
    for (size_t i = 0; i < VTI_MAKERS_MOST && vti_maker_at(i); i++)
        if (follow->makers[i] && vti_maker_at(i)->lost)
            file->lost += vti_maker_at(i)->lost(follow->makers[i]);
}

static int finish(struct vti_ship *ship, struct vti_follow *follow)
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
    vti_follow_end(ship, follow);
    return code ? vti_ship_save(ship) : 0;
}

int vti_follow_visit(struct vti_ship *ship, struct vti_follow *follow)
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
