/* sql_losses.c - tables losses and damage: what is missing from the recording, and why. */
#include "analyze/check.h"
#include "analyze/sql_table.h"
#include "base/error.h"

#include <stdlib.h>

struct state {
    const vt_recording *recording;
    uint32_t next; /* row */
    struct vt_loss_info loss;
    struct vt_damage_info damage;
};

static int open_losses(void **result, const struct vti_sql_scan *scan)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    state->recording = scan->recording;
    *result = state;
    return 0;
}

static int open_damage(void **result, const struct vti_sql_scan *scan)
{
    int code = open_losses(result, scan);

    return code ? code : vti_recording_check(scan->recording);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static const struct vti_sql_column loss_columns[] = {
    {"reason", "TEXT"},         {"events", "INTEGER"},
    {"lower_bound", "INTEGER"}, {"process", "INTEGER"},
    {"track", "INTEGER"},       {"begin_ns", "INTEGER"},
    {"end_ns", "INTEGER"},      {0},
};

static int next_loss(void *arg)
{
    struct state *state = arg;

    return vt_recording_loss(state->recording, state->next++, &state->loss);
}

static void loss_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct vt_loss_info *loss = &((struct state *)arg)->loss;

    switch (at) {
    case 0:
        vti_sql_result_text(context, loss->reason);
        break;
    case 1:
        vti_sql_result_uint(context, loss->events);
        break;
    case 2:
        vti_sql_result_int(context, loss->is_lower_bound);
        break;
    case 3:
        vti_sql_result_id(context, loss->process);
        break;
    case 4:
        vti_sql_result_id(context, loss->track);
        break;
    case 5:
        vti_sql_result_int(context, loss->begin_ns);
        break;
    case 6:
        vti_sql_result_int(context, loss->end_ns);
        break;
    }
}

const struct vti_sql_table vti_sql_losses = {
    .name = "losses",
    .about = "events that are missing: how many, when and why",
    .columns = loss_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_losses,
    .next = next_loss,
    .column = loss_column,
    .close = free,
};

/* ---- damage ---------------------------------------------------------------------------------- */

static const struct vti_sql_column damage_columns[] = {
    {"begin_offset", "INTEGER"},
    {"end_offset", "INTEGER"},
    {"what", "TEXT"},
    {0},
};

static int next_damage(void *arg)
{
    struct state *state = arg;

    return vt_recording_damage(state->recording, state->next++, &state->damage);
}

static void damage_column(void *arg, unsigned at, struct sqlite3_context *context)
{
    const struct vt_damage_info *damage = &((struct state *)arg)->damage;

    switch (at) {
    case 0:
        vti_sql_result_uint(context, damage->begin_offset);
        break;
    case 1:
        vti_sql_result_uint(context, damage->end_offset);
        break;
    case 2:
        vti_sql_result_text(context, damage->what);
        break;
    }
}

const struct vti_sql_table vti_sql_damage = {
    .name = "damage",
    .about = "ranges of the file that cannot be read",
    .columns = damage_columns,
    .track_column = VTI_SQL_NO_COLUMN,
    .begin_column = VTI_SQL_NO_COLUMN,
    .site_column = VTI_SQL_NO_COLUMN,
    .open = open_damage,
    .next = next_damage,
    .column = damage_column,
    .close = free,
};
