/*
 * sql_module.c - our tables as SQLite's virtual tables.
 *
 * Constraints on track, begin time and site are handed to the table so that it visits less of the
 * recording. They only narrow: SQLite checks every row again, so a value of an unexpected type may
 * simply be ignored here.
 */
#include "analyze/sql_table.h"

#include "analyze/traces_self.h"
#include "base/buf.h"
#include "base/error.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct vti_sql_database {
    vt_recording *recording; /* borrowed */
    const volatile int *is_interrupted;
    int error;
    struct vti_trace_selves *selves; /* owned; NULL: nobody has asked */
    struct entry {
        struct vti_sql_database *database;
        const struct vti_sql_table *table;
    } entries[];
};

struct table {
    sqlite3_vtab base;
    struct entry *entry; /* borrowed */
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct entry *entry;
    void *state; /* of the table */
    bool is_at_end;
    sqlite3_int64 row;
};

/* One letter for each argument of xFilter, in the string that xBestIndex leaves. */
enum { BY_TRACK = 't', BY_SITE = 's', FROM = '>', TO = '<', AT = '=' };

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **result,
                   char **error)
{
    struct entry *entry = aux;
    const struct vti_sql_column *column = entry->table->columns;
    struct vti_buf text = {0};
    struct table *table;
    int code = SQLITE_NOMEM;

    (void)argc;
    (void)argv;
    (void)error;
    vti_buf_add_text(&text, "CREATE TABLE x(");
    for (; column->name; column++)
        vti_buf_printf(&text, "%s\"%s\" %s", column == entry->table->columns ? "" : ",",
                       column->name, column->type);
    vti_buf_add_text(&text, ")");
    vti_buf_add_u8(&text, 0);
    table = text.failed ? NULL : sqlite3_malloc(sizeof *table);
    if (table) {
        memset(table, 0, sizeof *table);
        table->entry = entry;
        code = sqlite3_declare_vtab(db, (const char *)text.data);
        *result = &table->base;
        if (code)
            sqlite3_free(table);
    }
    vti_buf_fini(&text);
    return code;
}

static int disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static char letter_of(const struct vti_sql_table *table, int column, int op)
{
    bool is_equal = op == SQLITE_INDEX_CONSTRAINT_EQ;

    if (column < 0)
        return 0;
    if (column == table->track_column)
        return is_equal ? BY_TRACK : 0;
    if (column == table->site_column)
        return is_equal ? BY_SITE : 0;
    if (column != table->begin_column)
        return 0;
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
        return FROM;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
        return TO;
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return AT;
    default:
        return 0;
    }
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct vti_sql_table *table = ((struct table *)base)->entry->table;
    char *letters = sqlite3_malloc(info->nConstraint + 1);
    double cost = 1e6;
    int count = 0;

    if (!letters)
        return SQLITE_NOMEM;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        char letter = letter_of(table, constraint->iColumn, constraint->op);

        if (!constraint->usable || !letter)
            continue;
        letters[count++] = letter;
        info->aConstraintUsage[i].argvIndex = count;
        cost /= letter == BY_SITE ? 2 : 10;
    }
    letters[count] = 0;
    info->idxStr = letters;
    info->needToFreeIdxStr = 1;
    info->estimatedCost = cost;
    info->estimatedRows = (sqlite3_int64)cost + 1;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);

    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    cursor->entry = ((struct table *)table)->entry;
    *result = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;

    cursor->entry->table->close(cursor->state);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int advance(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    struct vti_sql_database *database = cursor->entry->database;
    int got = cursor->entry->table->next(cursor->state);

    cursor->is_at_end = got <= 0;
    cursor->row++;
    if (*database->is_interrupted)
        return SQLITE_INTERRUPT;
    if (got >= 0)
        return SQLITE_OK;
    database->error = got;
    return SQLITE_ERROR;
}

/* The value rounded down or up to a whole number; false if that is not possible. */
static bool whole_number(sqlite3_value *value, bool is_up, sqlite3_int64 *number)
{
    double real;

    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        *number = sqlite3_value_int64(value);
        return true;
    case SQLITE_FLOAT:
        real = is_up ? ceil(sqlite3_value_double(value)) : floor(sqlite3_value_double(value));
        if (!(real > -9e18 && real < 9e18))
            return false;
        *number = (sqlite3_int64)real;
        return true;
    default:
        return false;
    }
}

/* The range may come out a little larger than asked, never smaller. */
static void narrow(struct vti_sql_scan *scan, char letter, sqlite3_value *value)
{
    struct vt_filter *filter = &scan->filter;
    sqlite3_int64 number;

    if (letter == BY_TRACK || letter == BY_SITE) {
        if (sqlite3_value_type(value) != SQLITE_INTEGER)
            return;
        number = sqlite3_value_int64(value);
        if (number >= 0 && number < VT_NONE)
            *(letter == BY_TRACK ? &filter->track : &scan->site) = (uint32_t)number;
        return;
    }
    if (letter != TO && whole_number(value, false, &number) && number > filter->from_ns)
        filter->from_ns = number;
    if (letter != FROM && whole_number(value, true, &number) && number < INT64_MAX &&
        number + 1 < filter->to_ns)
        filter->to_ns = number + 1;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *letters, int argc,
                  sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    struct vti_sql_database *database = cursor->entry->database;
    struct vti_sql_scan scan = {.recording = database->recording,
                                .filter = {INT64_MIN, INT64_MAX, VT_NONE},
                                .site = VT_NONE,
                                .is_interrupted = database->is_interrupted,
                                .selves = &database->selves};
    int code;

    (void)number;
    for (int i = 0; i < argc; i++)
        narrow(&scan, letters[i], argv[i]);
    cursor->entry->table->close(cursor->state);
    cursor->state = NULL;
    cursor->row = 0;
    code = cursor->entry->table->open(&cursor->state, &scan);
    if (code) {
        database->error = code;
        return code == VTI_E_NOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
    }
    return advance(base);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->is_at_end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int at)
{
    struct cursor *cursor = (struct cursor *)base;

    cursor->entry->table->column(cursor->state, (unsigned)at, context);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((struct cursor *)base)->row;
    return SQLITE_OK;
}

/* Without xCreate the tables are simply there, and none can be made of them. */
static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = advance,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = row_id,
};

int vti_sql_register(sqlite3 *db, vt_recording *recording, const volatile int *is_interrupted,
                     struct vti_sql_database **result)
{
    struct vti_sql_database *database;
    size_t count = 0;

    while (vti_sql_tables[count])
        count++;
    database = calloc(1, sizeof *database + count * sizeof database->entries[0]);
    *result = database;
    if (!database)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    database->recording = recording;
    database->is_interrupted = is_interrupted;
    for (size_t i = 0; i < count; i++) {
        database->entries[i] = (struct entry){database, vti_sql_tables[i]};
        if (sqlite3_create_module(db, vti_sql_tables[i]->name, &module, &database->entries[i]))
            return vti_fail(VTI_E_NOMEM, "%s", sqlite3_errmsg(db));
    }
    return 0;
}

void vti_sql_database_free(struct vti_sql_database *database)
{
    if (database)
        vti_trace_selves_free(database->selves);
    free(database);
}

int vti_sql_database_error(const struct vti_sql_database *database)
{
    return database->error;
}

/* ---- results --------------------------------------------------------------------------------- */

void vti_sql_result_bytes(sqlite3_context *context, const char *text, size_t len)
{
    sqlite3_result_text64(context, text ? text : "", len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void vti_sql_result_text(sqlite3_context *context, const char *text)
{
    if (text)
        vti_sql_result_bytes(context, text, strlen(text));
    else
        sqlite3_result_null(context);
}

void vti_sql_result_int(sqlite3_context *context, int64_t value)
{
    sqlite3_result_int64(context, value);
}

void vti_sql_result_uint(sqlite3_context *context, uint64_t value)
{
    char text[24];

    if (value <= INT64_MAX) {
        sqlite3_result_int64(context, (sqlite3_int64)value);
        return;
    }
    sqlite3_snprintf(sizeof text, text, "%llu", (unsigned long long)value);
    vti_sql_result_text(context, text);
}

void vti_sql_result_id(sqlite3_context *context, uint32_t id)
{
    if (id == VT_NONE)
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, id);
}

void vti_sql_result_double(sqlite3_context *context, double value)
{
    sqlite3_result_double(context, value);
}

void vti_sql_result_value(sqlite3_context *context, const struct vt_value *value)
{
    switch (value->type) {
    case VT_VALUE_INT:
        vti_sql_result_int(context, value->i);
        break;
    case VT_VALUE_UINT:
        vti_sql_result_uint(context, value->u);
        break;
    case VT_VALUE_DOUBLE:
        vti_sql_result_double(context, value->d);
        break;
    case VT_VALUE_TEXT:
        vti_sql_result_bytes(context, value->text.data, value->text.len);
        break;
    default:
        sqlite3_result_null(context);
    }
}

void vti_sql_result_process(sqlite3_context *context, const vt_recording *recording, uint32_t id)
{
    struct vt_track_info track;

    vt_recording_track_by_id(recording, id, &track);
    vti_sql_result_id(context, track.process);
}

void vti_sql_result_site_name(sqlite3_context *context, const vt_recording *recording, uint32_t id)
{
    struct vt_site_info site;

    if (id == VT_NONE) {
        sqlite3_result_null(context);
        return;
    }
    vt_recording_site_by_id(recording, id, &site);
    vti_sql_result_text(context, site.name);
}
