/*
 * sql.h - a recording as tables for SQL.
 *
 * The tables are virtual: rows are made while a query runs, so memory does not grow with the
 * recording. A query can only read them: no files, no other databases, no extensions, no changes.
 * One query at a time; one thread, but for vti_sql_interrupt().
 */
#ifndef VENTURI_ANALYZE_SQL_H
#define VENTURI_ANALYZE_SQL_H

#include "venturi/read.h"

struct vti_sql;

struct vti_sql_column {
    const char *name;
    const char *type; /* "INTEGER", "REAL", "TEXT", or "" for any */
};

struct vti_sql_table;

/* The tables in order; false past the last. `columns` ends with a zeroed one. */
bool vti_sql_table_at(unsigned at, const char **name, const char **about,
                      const struct vti_sql_column **columns);

int vti_sql_open(struct vti_sql **sql, vt_recording *recording);
void vti_sql_close(struct vti_sql *sql);

/* Takes one statement. What SQLite says about a wrong one is the message of the negative code. */
int vti_sql_prepare(struct vti_sql *sql, const char *query);
unsigned vti_sql_column_count(const struct vti_sql *sql);
const char *vti_sql_column_name(const struct vti_sql *sql, unsigned at);

int vti_sql_step(struct vti_sql *sql); /* 1 with a row, 0 at the end, or a negative code */

/* The values of the row, until the next step; type NONE is SQL's null. */
void vti_sql_value(const struct vti_sql *sql, unsigned at, struct vt_value *value);

/* From a signal handler: the step that is running fails soon. */
void vti_sql_interrupt(struct vti_sql *sql);

#endif
