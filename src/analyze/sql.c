/*
 * sql.c - one database in memory that holds nothing but our virtual tables, and one statement on
 * it.
 *
 * The query comes from the user but the names in it may come from anywhere, so the database is shut
 * tight: an authorizer lets reading through and nothing else.
 */
#include "analyze/sql.h"

#include "analyze/sql_table.h"
#include "base/error.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES_MOST (64 << 20)

struct vti_sql {
    sqlite3 *db;                       /* owned */
    sqlite3_stmt *statement;           /* owned */
    struct vti_sql_database *database; /* owned */
    volatile int is_interrupted;
};

#define VTI_SQL_TABLE(name) extern const struct vti_sql_table vti_sql_##name;
#include "analyze/sql_tables.def"
#undef VTI_SQL_TABLE

const struct vti_sql_table *const vti_sql_tables[] = {
#define VTI_SQL_TABLE(name) &vti_sql_##name,
#include "analyze/sql_tables.def"
#undef VTI_SQL_TABLE
    NULL,
};

bool vti_sql_table_at(unsigned at, const char **name, const char **about,
                      const struct vti_sql_column **columns)
{
    if (at >= sizeof vti_sql_tables / sizeof *vti_sql_tables - 1)
        return false;
    *name = vti_sql_tables[at]->name;
    *about = vti_sql_tables[at]->about;
    *columns = vti_sql_tables[at]->columns;
    return true;
}

static int authorize(void *arg, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    (void)arg;
    (void)first;
    (void)database;
    (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return strcmp(second, "load_extension") ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int fail(const struct vti_sql *sql)
{
    int code = sql->database ? vti_sql_database_error(sql->database) : 0;

    if (sql->is_interrupted)
        return vti_fail(VTI_E_TIMEOUT, "interrupted");
    if (code)
        return code; /* its message is set */
    if (sqlite3_errcode(sql->db) == SQLITE_NOMEM)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (sqlite3_errcode(sql->db) == SQLITE_AUTH)
        return vti_fail(VTI_E_LIMIT, "only SELECT is possible: %s", sqlite3_errmsg(sql->db));
    return vti_fail(VTI_E_LIMIT, "%s", sqlite3_errmsg(sql->db));
}

/* SQLite declares a virtual table when it is first used, which the authorizer would not let
 * pass. */
static int touch_tables(struct vti_sql *sql)
{
    for (size_t i = 0; vti_sql_tables[i]; i++) {
        sqlite3_stmt *statement = NULL;
        char query[64];
        int code;

        sqlite3_snprintf(sizeof query, query, "SELECT 1 FROM %s", vti_sql_tables[i]->name);
        code = sqlite3_prepare_v2(sql->db, query, -1, &statement, NULL);
        sqlite3_finalize(statement);
        if (code)
            return fail(sql);
    }
    return 0;
}

int vti_sql_open(struct vti_sql **result, vt_recording *recording)
{
    struct vti_sql *sql = calloc(1, sizeof *sql);
    int code;

    *result = NULL;
    if (!sql)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (sqlite3_open_v2(":memory:", &sql->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)) {
        code = vti_fail(VTI_E_NOMEM, "SQLite does not start: %s", sqlite3_errmsg(sql->db));
        goto out;
    }
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_limit(sql->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, CELL_BYTES_MOST);
    code = vti_sql_register(sql->db, recording, &sql->is_interrupted, &sql->database);
    if (!code)
        code = touch_tables(sql);
    if (!code)
        sqlite3_set_authorizer(sql->db, authorize, NULL);
out:
    if (code)
        vti_sql_close(sql);
    else
        *result = sql;
    return code;
}

void vti_sql_close(struct vti_sql *sql)
{
    if (!sql)
        return;
    sqlite3_finalize(sql->statement);
    sqlite3_close(sql->db);
    vti_sql_database_free(sql->database);
    free(sql);
}

int vti_sql_prepare(struct vti_sql *sql, const char *query)
{
    sqlite3_stmt *second = NULL;
    const char *rest = NULL;

    sqlite3_finalize(sql->statement);
    sql->statement = NULL;
    if (sqlite3_prepare_v2(sql->db, query, -1, &sql->statement, &rest))
        return fail(sql);
    if (!sql->statement)
        return vti_fail(VTI_E_LIMIT, "the query is empty");
    if (!sqlite3_stmt_readonly(sql->statement) || !sqlite3_column_count(sql->statement))
        return vti_fail(VTI_E_LIMIT, "only SELECT is possible");
    if (sqlite3_prepare_v2(sql->db, rest, -1, &second, NULL) || second) {
        sqlite3_finalize(second);
        return vti_fail(VTI_E_LIMIT, "one query at a time, there is more after the first ';'");
    }
    return 0;
}

unsigned vti_sql_column_count(const struct vti_sql *sql)
{
    return (unsigned)sqlite3_column_count(sql->statement);
}

const char *vti_sql_column_name(const struct vti_sql *sql, unsigned at)
{
    const char *name = sqlite3_column_name(sql->statement, (int)at);

    return name ? name : "";
}

int vti_sql_step(struct vti_sql *sql)
{
    switch (sqlite3_step(sql->statement)) {
    case SQLITE_ROW:
        return 1;
    case SQLITE_DONE:
        return 0;
    default:
        return fail(sql);
    }
}

void vti_sql_value(const struct vti_sql *sql, unsigned at, struct vt_value *value)
{
    int column = (int)at;

    memset(value, 0, sizeof *value);
    switch (sqlite3_column_type(sql->statement, column)) {
    case SQLITE_INTEGER:
        value->type = VT_VALUE_INT;
        value->i = sqlite3_column_int64(sql->statement, column);
        break;
    case SQLITE_FLOAT:
        value->type = VT_VALUE_DOUBLE;
        value->d = sqlite3_column_double(sql->statement, column);
        break;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
        value->type = VT_VALUE_TEXT;
        value->text.data = sqlite3_column_blob(sql->statement, column);
        value->text.len = (size_t)sqlite3_column_bytes(sql->statement, column);
        break;
    default:
        value->type = VT_VALUE_NONE;
    }
}

void vti_sql_interrupt(struct vti_sql *sql)
{
    sql->is_interrupted = 1;
    sqlite3_interrupt(sql->db);
}
