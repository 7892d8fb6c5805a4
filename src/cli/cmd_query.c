/* cmd_query.c - venturi query: SQL over a recording. */
#include "analyze/sql.h"
#include "analyze/values.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/cmd.h"
#include "cli/reading.h"
#include "cli/rows.h"
#include "cli/stop.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPT_JSON, OPT_CSV, OPT_LIST };

static const struct vti_option options[] = {
    [OPT_JSON] = {0, "json", NULL, "write JSON: an array with an object for each row"},
    [OPT_CSV] = {0, "csv", NULL, "write CSV"},
    [OPT_LIST] = {0, "list", NULL, "list the tables and their columns"},
    {0},
};

extern const struct vti_command vti_cmd_query;

struct request {
    const char *file, *query;
    bool is_json, is_csv, wants_list;
};

/* How rows come out; `buf` is flushed when it is worth it. */
struct output {
    struct vti_sql *sql;
    struct vti_buf buf;
    bool has_rows;
    struct vti_rows *rows; /* for the table */
    bool is_terminal;
};

static struct vti_sql *running; /* for the signal handler */

static void interrupt(void)
{
    if (running)
        vti_sql_interrupt(running);
}

static int take_arguments(struct request *request, int argc, char **argv)
{
    const struct vti_place places[] = {
        [OPT_JSON] = {.is_set = &request->is_json},
        [OPT_CSV] = {.is_set = &request->is_csv},
        [OPT_LIST] = {.is_set = &request->wants_list},
    };
    const char *operands[2] = {NULL, NULL};
    int code = vti_args_collect(&vti_cmd_query, argc, argv, places, operands, 2,
                                "one FILE and one query");

    if (code)
        return code;
    request->file = operands[0];
    request->query = operands[1];
    if (request->is_json && request->is_csv)
        return vti_cmd_fail("query", "either --json or --csv");
    if (request->wants_list)
        return 0;
    code = vti_reading_check("query", request->file);
    if (!code && !request->query)
        code = vti_cmd_fail("query", "which query? \"SELECT ...\"; --list shows the tables");
    return code;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static void list_as_json(struct vti_buf *out)
{
    const struct vti_sql_column *columns;
    const char *name;
    const char *about;
    struct vti_json json;

    vti_json_init(&json, out);
    vti_json_array(&json);
    for (unsigned i = 0; vti_sql_table_at(i, &name, &about, &columns); i++) {
        vti_json_object(&json);
        vti_json_add_string(&json, "table", name);
        vti_json_add_string(&json, "about", about);
        vti_json_key(&json, "columns");
        vti_json_array(&json);
        for (; columns->name; columns++)
            vti_json_string(&json, columns->name);
        vti_json_array_end(&json);
        vti_json_object_end(&json);
    }
    vti_json_array_end(&json);
    vti_buf_add_u8(out, '\n');
}

static void list_as_text(struct vti_buf *out)
{
    const struct vti_sql_column *columns;
    const char *name;
    const char *about;

    for (unsigned i = 0; vti_sql_table_at(i, &name, &about, &columns); i++) {
        size_t line;

        vti_buf_printf(out, "%s%s: %s\n ", i ? "\n" : "", name, about);
        for (line = 1; columns->name; columns++) {
            size_t len = strlen(columns->name);

            if (line + len + 2 > 78) {
                vti_buf_add_text(out, "\n ");
                line = 1;
            }
            vti_buf_printf(out, " %s%s", columns->name, columns[1].name ? "," : "");
            line += len + 2;
        }
        vti_buf_add_u8(out, '\n');
    }
}

static int print_list(const struct request *request)
{
    struct vti_buf out = {0};
    int code = VTI_EXIT_OK;

    if (request->is_json)
        list_as_json(&out);
    else
        list_as_text(&out);
    if (out.failed)
        code = vti_cmd_error("query", VTI_E_NOMEM);
    else
        fwrite(out.data, 1, out.len, stdout);
    vti_buf_fini(&out);
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_number(const struct vt_value *value)
{
    return value->type == VT_VALUE_INT || value->type == VT_VALUE_DOUBLE;
}

/* Nothing for what is unknown and what is no finite number. */
static void add_number(struct vti_buf *out, const struct vt_value *value)
{
    if (value->type == VT_VALUE_INT)
        vti_buf_add_decimal(out, value->i);
    else if (value->type == VT_VALUE_DOUBLE)
        vti_csv_double(out, value->d);
}

static void add_json_row(struct output *output)
{
    struct vt_value value;
    struct vti_json json;

    vti_buf_add_text(&output->buf, output->has_rows ? ",\n" : "\n");
    output->has_rows = true;
    vti_json_init(&json, &output->buf);
    vti_json_object(&json);
    for (unsigned i = 0; i < vti_sql_column_count(output->sql); i++) {
        vti_sql_value(output->sql, i, &value);
        vti_json_key(&json, vti_sql_column_name(output->sql, i));
        vti_json_value(&json, &value);
    }
    vti_json_object_end(&json);
}

static void add_csv_text(struct output *output, const char *text, size_t len)
{
    struct vti_buf safe = {0};

    if (output->is_terminal) {
        vti_text_safe(&safe, text, len);
        vti_csv_text(&output->buf, (const char *)safe.data, safe.len);
        output->buf.failed |= safe.failed;
        vti_buf_fini(&safe);
    } else {
        vti_csv_text(&output->buf, text, len);
    }
}

static void add_csv_row(struct output *output)
{
    struct vt_value value;

    for (unsigned i = 0; i < vti_sql_column_count(output->sql); i++) {
        vti_sql_value(output->sql, i, &value);
        if (i)
            vti_buf_add_u8(&output->buf, ',');
        if (value.type == VT_VALUE_TEXT)
            add_csv_text(output, value.text.data, value.text.len);
        else
            add_number(&output->buf, &value);
    }
    vti_buf_add_u8(&output->buf, '\n');
}

static void add_table_row(struct output *output)
{
    struct vti_buf cell = {0};
    struct vt_value value;

    for (unsigned i = 0; i < vti_sql_column_count(output->sql); i++) {
        vti_sql_value(output->sql, i, &value);
        vti_buf_clear(&cell);
        if (value.type == VT_VALUE_TEXT)
            vti_buf_add(&cell, value.text.data, value.text.len);
        else
            add_number(&cell, &value);
        if (!cell.len && value.type != VT_VALUE_TEXT)
            vti_buf_add_u8(&cell, '-');
        vti_rows_cell(output->rows, (const char *)cell.data, cell.len, is_number(&value));
    }
    vti_buf_fini(&cell);
}

static int begin_output(const struct request *request, struct output *output)
{
    unsigned count = vti_sql_column_count(output->sql);
    int code = 0;

    if (request->is_json) {
        vti_buf_add_u8(&output->buf, '[');
    } else if (request->is_csv) {
        for (unsigned i = 0; i < count; i++) {
            const char *name = vti_sql_column_name(output->sql, i);

            if (i)
                vti_buf_add_u8(&output->buf, ',');
            add_csv_text(output, name, strlen(name));
        }
        vti_buf_add_u8(&output->buf, '\n');
    } else {
        code = vti_rows_create(&output->rows, count, stdout);
        for (unsigned i = 0; i < count && !code; i++)
            vti_rows_title(output->rows, i, vti_sql_column_name(output->sql, i));
    }
    return code;
}

static int flush_output(struct output *output, size_t least)
{
    if (output->buf.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (output->buf.len < least)
        return 0;
    if (output->buf.len)
        fwrite(output->buf.data, 1, output->buf.len, stdout);
    vti_buf_clear(&output->buf);
    return ferror(stdout) ? vti_fail(VTI_E_WRITE, "standard output: cannot write") : 0;
}

static int write_rows(const struct request *request, struct output *output)
{
    int code = begin_output(request, output);
    int got = 0;

    while (!code && (got = vti_sql_step(output->sql)) > 0) {
        if (request->is_json)
            add_json_row(output);
        else if (request->is_csv)
            add_csv_row(output);
        else
            add_table_row(output);
        code = output->rows ? vti_rows_end(output->rows) : flush_output(output, 1u << 16);
    }
    if (code || got < 0)
        return code ? code : got;
    if (request->is_json)
        vti_buf_add_text(&output->buf, output->has_rows ? "\n]\n" : "]\n");
    return output->rows ? vti_rows_finish(output->rows) : flush_output(output, 0);
}

static int query(vt_recording *recording, void *arg)
{
    const struct request *request = arg;
    struct output output = {.is_terminal = isatty(STDOUT_FILENO)};
    int code = vti_sql_open(&output.sql, recording);

    running = output.sql;
    vti_stop_watch(interrupt);
    if (!code)
        code = vti_sql_prepare(output.sql, request->query);
    if (!code)
        code = write_rows(request, &output);
    if (code && !vti_stop_asked())
        vti_cmd_error("query", code);
    running = NULL;
    vti_sql_close(output.sql);
    vti_buf_fini(&output.buf);
    vti_rows_free(output.rows);
    return code ? VTI_EXIT_BAD : VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    int code = take_arguments(&request, argc, argv);

    if (code)
        return code;
    if (request.wants_list)
        return print_list(&request);
    code = vti_reading_do("query", request.file, query, &request);
    if (vti_stop_asked()) {
        fflush(stdout);
        vti_stop_end();
    }
    return code;
}

const struct vti_command vti_cmd_query = {
    .name = "query",
    .summary = "SQL over a recording",
    .usage = "[options] FILE \"SELECT ...\"",
    .about = "Runs one SQL query (SQLite's dialect) over the tables of a recording. Times are\n"
             "nanoseconds since its start; what is unknown is null. Nothing can be changed\n"
             "and no other file can be reached. --list names the tables; it needs no FILE.",
    .options = options,
    .run = run,
};
