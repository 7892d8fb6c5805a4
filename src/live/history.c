/*
 * history.c - what a live state has shown in the past day, in SQLite.
 *
 * Three levels of steps; a value of a longer step is the average of the shorter ones in it that are known. A step is written when
 * it is over, the coarser ones with the finest that ends them; what is too old is deleted every ten seconds, in one transaction a second.
 */
#include "live/history.h"

#include "base/error.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVELS 3
#define POINTS_MOST 5000
#define TRIM "DELETE FROM history WHERE level = ? AND time_ms "
#define APPLICATION_ID 0x56746869 /* "Vthi" */

static const struct {
    int64_t step_ms, keep_ms;
} levels[LEVELS] = {{100, 600000}, {1000, 7200000}, {10000, 86400000}};

static const char *const names[] = {
    "cpu",       "memory",       "machine",       "read",       "written",  "processes",
    "threads",   "spans",        "events",        "errors",     "lost",     "file",
    "tasks",     "tasks_failed", "tasks_running", "steps",      "messages", "steps_failed",
    "step_time", "watts",        "own_watts",     "server_cpu", "waiting",  "items",
    "effective"}; /* new ones come last: files of before get them added */

#define NAMES (sizeof names / sizeof *names)

struct sums {
    int64_t begin_ms; /* of the step; 0: none has begun */
    double sum[NAMES];
    unsigned count[NAMES];
};

struct vti_history {
    sqlite3 *db;
    sqlite3_stmt *insert, *trim[2]; /* what is too old; what lies in the future */
    struct sums sums[LEVELS];
    int64_t committed_ms, trimmed_ms;
    bool in_transaction;
    /* Counters as they were at the last look, for rates: */
    int64_t looked_ms;
    uint64_t errors, lost, tasks_failed;
    bool has_looked;
};

static int fail(struct vti_history *history, const char *what)
{
    return vti_fail(VTI_E_WRITE, "history: %s: %s", what, sqlite3_errmsg(history->db));
}

static int run(struct vti_history *history, const char *sql)
{
    return sqlite3_exec(history->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(history, sql);
}

/* ---- opening ----------------------------------------------------------------------------------- */

static int64_t pragma(struct vti_history *history, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;

    if (sqlite3_prepare_v2(history->db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* A file is ours, or empty. */
static int check(struct vti_history *history, const char *path)
{
    int64_t id = pragma(history, "PRAGMA application_id");
    int64_t pages = pragma(history, "SELECT count(*) FROM sqlite_schema");

    if (id == APPLICATION_ID || (id == 0 && pages == 0))
        return 0;
    return vti_fail(VTI_E_OPEN, "%s: not a history that `venturi serve` has written", path);
}

static int make_table(struct vti_history *history)
{
    struct vti_buf sql = {0};
    int code;

    vti_buf_add_text(&sql, "CREATE TABLE IF NOT EXISTS history (level INTEGER, time_ms INTEGER");
    for (size_t i = 0; i < NAMES; i++)
        vti_buf_printf(&sql, ", \"%s\" REAL", names[i]);
    vti_buf_add_text(&sql, ", PRIMARY KEY (level, time_ms)) WITHOUT ROWID");
    vti_buf_add_u8(&sql, 0);
    code = sql.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : run(history, (char *)sql.data);
    vti_buf_fini(&sql);
    return code;
}

/* A file that was begun when there were fewer names. */
static int add_columns(struct vti_history *history)
{
    int64_t there = pragma(history, "SELECT count(*) - 2 FROM pragma_table_info('history')");
    char sql[96];
    int code = 0;

    for (int64_t i = there; i > 0 && i < (int64_t)NAMES && !code; i++) {
        snprintf(sql, sizeof sql, "ALTER TABLE history ADD COLUMN \"%s\" REAL", names[i]);
        code = run(history, sql);
    }
    return code;
}

static int prepare(struct vti_history *history)
{
    struct vti_buf sql = {0};
    int code = 0;

    vti_buf_add_text(&sql, "INSERT OR REPLACE INTO history VALUES (?, ?");
    for (size_t i = 0; i < NAMES; i++)
        vti_buf_add_text(&sql, ", ?");
    vti_buf_add_text(&sql, ")");
    vti_buf_add_u8(&sql, 0);
    if (sql.failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    else if (sqlite3_prepare_v2(history->db, (char *)sql.data, -1, &history->insert, NULL) ||
             sqlite3_prepare_v2(history->db, TRIM "< ?", -1, &history->trim[0], NULL) ||
             sqlite3_prepare_v2(history->db, TRIM "> ?", -1, &history->trim[1], NULL))
        code = fail(history, "its table is another");
    vti_buf_fini(&sql);
    return code;
}

/* A new file is for its owner alone, whatever SQLite and the umask would make of it. That it cannot be made is said by who opens it. */
static void make_private(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
}

int vti_history_open(struct vti_history **result, const char *path)
{
    struct vti_history *history = calloc(1, sizeof *history);
    char sql[64];
    int code = 0;

    *result = NULL;
    if (!history)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (path)
        make_private(path);
    if (sqlite3_open_v2(path ? path : ":memory:", &history->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        code = vti_fail(VTI_E_OPEN, "%s: cannot open it: %s", path ? path : "history",
                        sqlite3_errmsg(history->db));
    if (!code && path)
        code = check(history, path);
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d", APPLICATION_ID);
    if (!code)
        code = run(history, "PRAGMA synchronous = OFF");
    if (!code && path)
        code = run(history, "PRAGMA journal_mode = WAL");
    if (!code)
        code = run(history, sql);
    if (!code)
        code = make_table(history);
    if (!code)
        code = add_columns(history);
    if (!code)
        code = prepare(history);
    if (code) {
        vti_history_close(history);
        return code;
    }
    *result = history;
    return 0;
}

void vti_history_close(struct vti_history *history)
{
    if (!history)
        return;
    if (history->in_transaction)
        run(history, "COMMIT");
    sqlite3_finalize(history->insert);
    sqlite3_finalize(history->trim[0]);
    sqlite3_finalize(history->trim[1]);
    sqlite3_close(history->db);
    free(history);
}

/* ---- adding ------------------------------------------------------------------------------------ */

static double known(uint64_t value)
{
    return value == VTI_LIVE_UNKNOWN ? NAN : (double)value;
}

static double rate(uint64_t now, uint64_t before, int64_t ms)
{
    return ms > 0 && now >= before ? (double)(now - before) * 1000 / (double)ms : NAN;
}

static void look_at_tasks(const struct vti_live *live, double *values, uint64_t *failed)
{
    size_t count;
    const struct vti_live_task_group *groups = vti_live_task_groups(live, &count);
    double per_s = 0;
    double running = NAN;

    for (size_t i = 0; i < count; i++) {
        per_s += groups[i].per_s;
        *failed += groups[i].states[2] + groups[i].states[5] + groups[i].states[6];
        if (groups[i].running != VTI_LIVE_UNKNOWN)
            running = (isnan(running) ? 0 : running) + (double)groups[i].running;
    }
    values[12] = count ? per_s : NAN;
    values[14] = running;
}

static void look_at_steps(const struct vti_live *live, double *values)
{
    size_t count;
    const struct vti_live_step *steps = vti_live_steps(live, &count);
    double time_ns = 0;
    double sum = 0;

    if (!count)
        return;
    values[15] = values[16] = values[17] = 0;
    for (size_t i = 0; i < count; i++) {
        values[15] += steps[i].per_s;
        values[16] += steps[i].messages_per_s;
        values[17] += steps[i].failed_per_s;
        sum += (double)steps[i].execute.count;
        time_ns += (double)steps[i].execute.sum_ns;
    }
    values[18] = sum > 0 ? time_ns / sum : NAN;
}

/* In the order of `names`. */
static void look(struct vti_history *history, const struct vti_live *live, int64_t now_ms,
                 double *values)
{
    int64_t ms = history->has_looked ? now_ms - history->looked_ms : 0;
    struct vti_live_summary all;
    struct vti_live_resources resources;
    struct vti_live_energy energy;
    struct vti_live_cost cost;
    struct vti_live_ship ship;
    struct vti_live_items items;
    uint64_t failed = 0;

    for (size_t i = 0; i < NAMES; i++)
        values[i] = NAN;
    vti_live_summary(live, &all);
    vti_live_resources(live, &resources);
    vti_live_energy(live, &energy);
    vti_live_cost(live, &cost);
    vti_live_ship(live, &ship);
    vti_live_items(live, &items);
    values[0] = resources.usage.cpu;
    values[1] = known(resources.usage.memory_bytes);
    values[2] = resources.machine_busy;
    values[3] = resources.usage.read_per_s;
    values[4] = resources.usage.written_per_s;
    values[5] = known(resources.processes);
    values[6] = known(resources.usage.threads);
    values[7] = all.spans_per_s;
    values[8] = all.events_per_s;
    values[9] = rate(all.errors, history->errors, ms);
    values[10] = rate(all.lost_events, history->lost, ms);
    values[11] = all.bytes_per_s;
    look_at_tasks(live, values, &failed);
    values[13] = isnan(values[12]) ? NAN : rate(failed, history->tasks_failed, ms);
    look_at_steps(live, values);
    values[19] = energy.watts;
    values[20] = energy.own_watts;
    values[21] = cost.own_cpu;
    values[22] = ship.is_known ? (double)ship.waiting : NAN;
    values[23] = items.is_counted ? items.raw_per_s : NAN;
    values[24] = items.effective_per_s;
    history->errors = all.errors;
    history->lost = all.lost_events;
    history->tasks_failed = failed;
    history->looked_ms = now_ms;
    history->has_looked = true;
}

static int write_step(struct vti_history *history, unsigned level)
{
    struct sums *sums = &history->sums[level];
    sqlite3_stmt *insert = history->insert;
    int code = 0;

    if (!history->in_transaction)
        code = run(history, "BEGIN");
    history->in_transaction = !code;
    if (code)
        return code;
    sqlite3_bind_int(insert, 1, (int)level);
    sqlite3_bind_int64(insert, 2, sums->begin_ms);
    for (int i = 0; i < (int)NAMES; i++)
        if (sums->count[i])
            sqlite3_bind_double(insert, 3 + i, sums->sum[i] / sums->count[i]);
        else
            sqlite3_bind_null(insert, 3 + i);
    if (sqlite3_step(insert) != SQLITE_DONE)
        code = fail(history, "cannot add to it");
    sqlite3_reset(insert);
    memset(sums, 0, sizeof *sums);
    return code;
}

/* Two statements, each of a range of the key: with both in one, all rows are looked at. */
static int trim_level(struct vti_history *history, unsigned level, unsigned which, int64_t ms)
{
    sqlite3_stmt *trim = history->trim[which];
    int code = 0;

    sqlite3_bind_int(trim, 1, (int)level);
    sqlite3_bind_int64(trim, 2, ms);
    if (sqlite3_step(trim) != SQLITE_DONE)
        code = fail(history, "cannot delete from it");
    sqlite3_reset(trim);
    return code;
}

/* Also what lies in the future: the clock was set back. */
static int trim(struct vti_history *history, int64_t now_ms)
{
    int code = 0;

    for (unsigned i = 0; i < LEVELS && !code; i++) {
        code = trim_level(history, i, 0, now_ms - levels[i].keep_ms);
        if (!code)
            code = trim_level(history, i, 1, now_ms + levels[i].step_ms);
    }
    history->trimmed_ms = now_ms;
    return code;
}

static int end_second(struct vti_history *history, int64_t now_ms)
{
    int code = 0;
    bool is_back = now_ms < history->committed_ms;

    if (!history->in_transaction || (!is_back && now_ms - history->committed_ms < 1000))
        return 0;
    if (is_back || now_ms - history->trimmed_ms >= 10000)
        code = trim(history, now_ms);
    if (!code)
        code = run(history, "COMMIT");
    history->in_transaction = code != 0;
    history->committed_ms = now_ms;
    return code;
}

int vti_history_add(struct vti_history *history, const struct vti_live *live)
{
    struct vti_live_summary all;
    double values[NAMES];
    int64_t now_ms;
    int code = 0;

    vti_live_summary(live, &all);
    now_ms = all.now_unix_ns / 1000000;
    if (history->has_looked && now_ms >= history->looked_ms && now_ms - history->looked_ms < 90)
        return 0;
    look(history, live, now_ms, values);
    for (unsigned i = 0; i < LEVELS && !code; i++) {
        struct sums *sums = &history->sums[i];
        int64_t begin_ms = now_ms - now_ms % levels[i].step_ms;

        if (sums->begin_ms && sums->begin_ms != begin_ms)
            code = write_step(history, i);
        sums->begin_ms = begin_ms;
        for (size_t n = 0; n < NAMES; n++)
            if (isfinite(values[n])) {
                sums->sum[n] += values[n];
                sums->count[n]++;
            }
    }
    return code ? code : end_second(history, now_ms);
}

/* ---- asking ------------------------------------------------------------------------------------ */

static bool is_asked(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
            return true;
    }
    return !list;
}

static int check_names(const char *list)
{
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        size_t len = strcspn(at, ",");
        bool is_one = false;

        for (size_t i = 0; i < NAMES; i++)
            is_one |= strlen(names[i]) == len && !strncmp(at, names[i], len);
        if (!is_one)
            return vti_fail(VTI_E_USAGE, "names: '%.*s' is none", (int)(len < 40 ? len : 40), at);
    }
    return 0;
}

/* The finest level that reaches back so far; `now` is what was seen last. */
static unsigned level_for(const struct vti_history *history,
                          const struct vti_history_question *question)
{
    /* Of what is over nothing is added any more: a file has what was kept before. */
    int64_t now_ms = history->has_looked ? history->looked_ms : question->to_ms;
    unsigned level = 0;

    while (level + 1 < LEVELS && now_ms - question->from_ms > levels[level].keep_ms)
        level++;
    return level;
}

struct answer {
    int64_t *times;
    double *values; /* NAMES a row */
    size_t count, room;
};

static int take_rows(struct vti_history *history, unsigned level, int64_t step_ms,
                     const struct vti_history_question *question, struct answer *answer)
{
    struct vti_buf sql = {0};
    sqlite3_stmt *statement = NULL;
    int code = 0;

    vti_buf_printf(&sql, "SELECT time_ms - time_ms %% %lld", (long long)step_ms);
    for (size_t i = 0; i < NAMES; i++)
        vti_buf_printf(&sql, ", avg(\"%s\")", names[i]);
    vti_buf_add_text(&sql, " FROM history WHERE level = ? AND time_ms >= ? AND time_ms < ? "
                           "GROUP BY 1 ORDER BY 1 LIMIT ?");
    vti_buf_add_u8(&sql, 0);
    if (sql.failed ||
        sqlite3_prepare_v2(history->db, (char *)sql.data, -1, &statement, NULL) != SQLITE_OK)
        code = fail(history, "cannot be read");
    if (!code) {
        sqlite3_bind_int(statement, 1, (int)level);
        sqlite3_bind_int64(statement, 2, question->from_ms);
        sqlite3_bind_int64(statement, 3, question->to_ms);
        sqlite3_bind_int64(statement, 4, (int64_t)answer->room);
    }
    while (!code && answer->count < answer->room && sqlite3_step(statement) == SQLITE_ROW) {
        double *row = answer->values + answer->count * NAMES;

        answer->times[answer->count++] = sqlite3_column_int64(statement, 0);
        for (int i = 0; i < (int)NAMES; i++)
            row[i] = sqlite3_column_type(statement, 1 + i) == SQLITE_NULL
                         ? NAN
                         : sqlite3_column_double(statement, 1 + i);
    }
    sqlite3_finalize(statement);
    vti_buf_fini(&sql);
    return code;
}

static void write_answer(struct vti_json *json, const struct answer *answer, const char *list)
{
    vti_json_key(json, "times_ms");
    vti_json_array(json);
    for (size_t i = 0; i < answer->count; i++)
        vti_json_int(json, answer->times[i]);
    vti_json_array_end(json);
    vti_json_key(json, "series");
    vti_json_object(json);
    for (size_t n = 0; n < NAMES; n++) {
        if (!is_asked(list, names[n]))
            continue;
        vti_json_key(json, names[n]);
        vti_json_array(json);
        for (size_t i = 0; i < answer->count; i++)
            vti_json_double(json, answer->values[i * NAMES + n]);
        vti_json_array_end(json);
    }
    vti_json_object_end(json);
}

int vti_history_write(struct vti_history *history, const struct vti_history_question *question,
                      struct vti_json *json)
{
    unsigned points = question->points < POINTS_MOST ? question->points : POINTS_MOST;
    unsigned level = level_for(history, question);
    int64_t step_ms = levels[level].step_ms;
    int64_t length_ms = question->to_ms - question->from_ms;
    struct answer answer = {.room = points ? points : 1};
    int code = check_names(question->names);

    if (!code && length_ms <= 0)
        code = vti_fail(VTI_E_USAGE, "from: must be before to");
    if (code)
        return code;
    if (length_ms / step_ms >= (int64_t)answer.room)
        step_ms *= length_ms / step_ms / (int64_t)answer.room + 1;
    answer.room++;
    answer.times = calloc(answer.room, sizeof *answer.times);
    answer.values = calloc(answer.room * NAMES, sizeof *answer.values);
    code = answer.times && answer.values ? take_rows(history, level, step_ms, question, &answer)
                                         : vti_fail(VTI_E_NOMEM, "out of memory");
    if (!code) {
        vti_json_add_int(json, "from_ms", question->from_ms);
        vti_json_add_int(json, "to_ms", question->to_ms);
        vti_json_add_int(json, "step_ms", step_ms);
        write_answer(json, &answer, question->names);
    }
    free(answer.times);
    free(answer.values);
    return code;
}
