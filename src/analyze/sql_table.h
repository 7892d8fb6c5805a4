/*
 * sql_table.h - what a table of `venturi query` is.
 *
 * To add one: write src/analyze/sql_NAME.c that defines `const struct vti_sql_table vti_sql_NAME`,
 * add one line to sql_tables.def and one to meson.build. `venturi query --list` takes it from
 * there.
 */
#ifndef VENTURI_ANALYZE_SQL_TABLE_H
#define VENTURI_ANALYZE_SQL_TABLE_H

#include "analyze/sql.h"

struct sqlite3_context;

/* What rows are wanted. A table may give more: SQLite looks at each again. */
struct vti_sql_scan {
    vt_recording *recording;
    struct vt_filter filter;            /* track, and times in which rows begin */
    uint32_t site;                      /* or VT_NONE: all */
    const volatile int *is_interrupted; /* to be looked at in long loops without rows */
    struct vti_trace_selves **selves;   /* of the database: loaded by whoever needs it first */
};

#define VTI_SQL_NO_COLUMN (-1)

struct vti_sql_table {
    const char *name;
    const char *about;                           /* one line */
    const struct vti_sql_column *columns;        /* ends with a zeroed one */
    int track_column, begin_column, site_column; /* those the scan narrows, or VTI_SQL_NO_COLUMN */
    int (*open)(void **state, const struct vti_sql_scan *scan);
    int (*next)(void *state); /* 1 with a row, 0 at the end, or a negative code */
    void (*column)(void *state, unsigned at, struct sqlite3_context *context);
    void (*close)(void *state); /* also of NULL */
};

extern const struct vti_sql_table *const vti_sql_tables[]; /* ended by NULL */

/* Results. VT_NONE and NULL become null. */
void vti_sql_result_text(struct sqlite3_context *context, const char *text);
void vti_sql_result_bytes(struct sqlite3_context *context, const char *text, size_t len);
void vti_sql_result_int(struct sqlite3_context *context, int64_t value);
void vti_sql_result_uint(struct sqlite3_context *context, uint64_t value); /* text if too large */
void vti_sql_result_id(struct sqlite3_context *context, uint32_t id);
void vti_sql_result_double(struct sqlite3_context *context, double value);
void vti_sql_result_value(struct sqlite3_context *context, const struct vt_value *value);
void vti_sql_result_process(struct sqlite3_context *context, const vt_recording *recording,
                            uint32_t track); /* id of the track's process */
void vti_sql_result_site_name(struct sqlite3_context *context, const vt_recording *recording,
                              uint32_t site);

struct sqlite3;
struct vti_sql_database; /* what the tables of one database share */

/* Registers all tables. `is_interrupted` must outlive the database. */
int vti_sql_register(struct sqlite3 *db, vt_recording *recording,
                     const volatile int *is_interrupted, struct vti_sql_database **database);
void vti_sql_database_free(struct vti_sql_database *database);

/* The negative code with which a table failed, 0 if none did. */
int vti_sql_database_error(const struct vti_sql_database *database);

#endif
