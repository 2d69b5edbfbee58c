// SPDX-License-Identifier: Apache-2.0
#include "campaign/store.h"

#include "base/str.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// The format of the file, in SQLite's own field for such a number.
enum { FORMAT = 2, PATIENCE_MS = 20000 };

struct GrStore {
    sqlite3 *db;
    StrBuf path;
};

static const char tables[] = "BEGIN;"
                             "CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
                             "CREATE TABLE run(id INTEGER PRIMARY KEY, seed INTEGER NOT NULL, input TEXT NOT "
                             "NULL, engine TEXT NOT NULL,"
                             " schedule TEXT NOT NULL, verdict TEXT NOT NULL, status INTEGER NOT NULL, "
                             "void INTEGER NOT NULL, seconds REAL NOT NULL, report TEXT,"
                             " UNIQUE(seed, input, engine, schedule));"
                             "CREATE TABLE reason(run INTEGER NOT NULL, nth INTEGER NOT NULL, text TEXT NOT "
                             "NULL, PRIMARY KEY(run, nth));"
                             "CREATE TABLE race(id TEXT PRIMARY KEY, title TEXT NOT NULL);"
                             "CREATE TABLE seen(run INTEGER NOT NULL, race TEXT NOT NULL, count INTEGER NOT "
                             "NULL, PRIMARY KEY(run, race))"
                             " WITHOUT ROWID;"
                             "PRAGMA user_version=2; PRAGMA application_id=1735422563;" // GR_OWN_SQLITE_ID
                             "COMMIT";

// ---- SQLite, with our errors ---------------------------------------------------------------------------------------

static gr_status fail(const GrStore *s, gr_error *err) {
    int code = sqlite3_errcode(s->db);
    if (code == SQLITE_NOMEM)
        return gr_no_memory(err);
    return gr_fail(err, code == SQLITE_BUSY ? GR_ERR_LIMIT : GR_ERR_IO, "%s: %s",
                   s->path.data ? s->path.data : "the results", sqlite3_errmsg(s->db));
}

static gr_status execute(GrStore *s, const char *sql, gr_error *err) {
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? GR_OK : fail(s, err);
}

// A statement with its values: a letter of `types` each, t: text (NULL: SQL's), i: int64_t, d: double.
static gr_status prepare(GrStore *s, sqlite3_stmt **out, gr_error *err, const char *sql, const char *types,
                         va_list values) {
    *out = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, out, NULL) != SQLITE_OK)
        return fail(s, err);
    for (int k = 1; *types; types++, k++) {
        int bound = SQLITE_OK;
        if (*types == 't')
            bound = sqlite3_bind_text(*out, k, va_arg(values, const char *), -1, SQLITE_STATIC);
        else if (*types == 'i')
            bound = sqlite3_bind_int64(*out, k, va_arg(values, int64_t));
        else
            bound = sqlite3_bind_double(*out, k, va_arg(values, double));
        if (bound != SQLITE_OK)
            return fail(s, err);
    }
    return GR_OK;
}

static gr_status query(GrStore *s, sqlite3_stmt **out, gr_error *err, const char *sql, const char *types,
                       ...) {
    va_list values;
    va_start(values, types);
    gr_status st = prepare(s, out, err, sql, types, values);
    va_end(values);
    return st;
}

// A statement that yields no rows.
static gr_status change(GrStore *s, gr_error *err, const char *sql, const char *types, ...) {
    va_list values;
    sqlite3_stmt *q;
    va_start(values, types);
    gr_status st = prepare(s, &q, err, sql, types, values);
    va_end(values);
    if (st == GR_OK && sqlite3_step(q) != SQLITE_DONE)
        st = fail(s, err);
    sqlite3_finalize(q);
    return st;
}

// The next row; *more: there is one.
static gr_status step(GrStore *s, sqlite3_stmt *q, bool *more, gr_error *err) {
    int code = sqlite3_step(q);
    *more = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? GR_OK : fail(s, err);
}

static const char *text_at(sqlite3_stmt *q, int column) {
    const char *text = (const char *)sqlite3_column_text(q, column);
    return text ? text : "";
}

static void roll_back(GrStore *s) {
    if (!sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

// ---- The file ------------------------------------------------------------------------------------------------------

static gr_status set_up(GrStore *s, gr_error *err) {
    sqlite3_stmt *q = NULL;
    gr_status st;
    bool more;
    int64_t format = -1, objects = -1;
    GR_TRY(query(s, &q, err,
                 "SELECT (SELECT user_version FROM pragma_user_version), count(*) FROM sqlite_master", ""));
    GR_TRY(step(s, q, &more, err));
    if (more) {
        format = sqlite3_column_int64(q, 0);
        objects = sqlite3_column_int64(q, 1);
    }
    sqlite3_finalize(q);
    q = NULL;
    if (!format && !objects)
        st = execute(s, tables, err);
    else if (format != FORMAT)
        st = gr_fail(err, GR_ERR_FORMAT, "%s: not the results of a campaign of this version of gpurace",
                     s->path.data);
done:
    sqlite3_finalize(q);
    return st;
}

gr_status gr_store_open(const char *path, GrStore **out, gr_error *err) {
    gr_status st;
    GrStore *s = calloc(1, sizeof *s);
    *out = NULL;
    GR_NEED(s, err);
    gr_str_add(&s->path, path);
    int code = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (s->path.oom || !s->db)
        st = gr_no_memory(err);
    else
        st = code == SQLITE_OK ? GR_OK : fail(s, err);
    if (st == GR_OK)
        st = sqlite3_busy_timeout(s->db, PATIENCE_MS) == SQLITE_OK ? set_up(s, err) : fail(s, err);
    if (st == GR_OK)
        *out = s;
    else
        gr_store_close(s);
    return st;
}

void gr_store_close(GrStore *s) {
    if (!s)
        return;
    sqlite3_close(s->db);
    gr_str_free(&s->path);
    free(s);
}

gr_status gr_store_about(GrStore *s, const char *key, const char *value, Arena *arena, const char **before,
                         gr_error *err) {
    sqlite3_stmt *q = NULL;
    gr_status st;
    bool more;
    *before = NULL;
    GR_TRY(query(s, &q, err, "SELECT value FROM about WHERE key = ?", "t", key));
    GR_TRY(step(s, q, &more, err));
    if (more && !(*before = gr_arena_strdup(arena, text_at(q, 0))))
        st = gr_no_memory(err);
    else if (!more)
        st = change(s, err, "INSERT INTO about VALUES(?, ?)", "tt", key, value);
done:
    sqlite3_finalize(q);
    return st;
}

// ---- Adding --------------------------------------------------------------------------------------------------------

// A race seen by two engines may have two titles. The one that is kept must not hang on which run ended first.
#define ADD_RACE     "INSERT INTO race "
#define BETTER_TITLE " ON CONFLICT DO UPDATE SET title = min(title, excluded.title)"

// Runs that failed have no reasons that are kept apart, and no races.
static const char replace_failed[] =
    "DELETE FROM run WHERE seed = ? AND input = ? AND engine = ? AND schedule = ? AND report IS NULL";

static gr_status add(GrStore *s, const GrCampaignRun *run, const GrCampaignOutcome *o, gr_error *err) {
    GR_MUST(change(s, err, replace_failed, "ittt", (int64_t)run->seed, run->input->text, run->engine,
                   run->schedule));
    GR_MUST(change(s, err,
                   "INSERT INTO run(seed, input, engine, schedule, verdict, status, void, seconds, report)"
                   " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   "ittttiidt", (int64_t)run->seed, run->input->text, run->engine, run->schedule, o->verdict,
                   (int64_t)o->status, (int64_t)o->is_void, o->seconds, o->report));
    int64_t id = sqlite3_last_insert_rowid(s->db);
    GR_MUST(
        change(s, err, "DELETE FROM reason WHERE run = ?", "i", id)); // of a failed one that had this number
    for (size_t k = 0; k < o->reasons.len; k++)
        GR_MUST(
            change(s, err, "INSERT INTO reason VALUES(?, ?, ?)", "iit", id, (int64_t)k, o->reasons.data[k]));
    for (size_t k = 0; k < o->races.len; k++) {
        const GrCampaignRace *r = &o->races.data[k];
        GR_MUST(change(s, err, ADD_RACE "VALUES(?, ?)" BETTER_TITLE, "tt", r->id, r->title));
        GR_MUST(change(
            s, err,
            "INSERT INTO seen VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            "iti", id, r->id, (int64_t)r->count));
    }
    return GR_OK;
}

gr_status gr_store_add(GrStore *s, const GrCampaignRun *run, const GrCampaignOutcome *o, gr_error *err) {
    gr_status st = execute(s, "BEGIN IMMEDIATE", err);
    if (st == GR_OK)
        st = add(s, run, o, err);
    if (st == GR_OK)
        st = execute(s, "COMMIT", err);
    roll_back(s);
    return st;
}

// `fresh` has the numbers of runs there that are not here, or that only failed here.
static const char merging[] =
    "BEGIN IMMEDIATE;"
    "INSERT OR IGNORE INTO about SELECT * FROM other.about;"
    "DELETE FROM reason WHERE run IN (SELECT m.id FROM run m JOIN other.run r USING(seed, input, engine, "
    "schedule)"
    " WHERE m.report IS NULL AND r.report IS NOT NULL);"
    "DELETE FROM run WHERE id IN (SELECT m.id FROM run m JOIN other.run r USING(seed, input, engine, "
    "schedule)"
    " WHERE m.report IS NULL AND r.report IS NOT NULL);"
    "CREATE TEMP TABLE fresh AS SELECT r.id AS id FROM other.run r LEFT JOIN run m USING(seed, input, "
    "engine, schedule)"
    " WHERE m.id IS NULL;"
    "INSERT INTO run(seed, input, engine, schedule, verdict, status, void, seconds, report)"
    " SELECT seed, input, engine, schedule, verdict, status, void, seconds, report FROM other.run"
    " WHERE id IN (SELECT id FROM fresh) ORDER BY id;"
    "INSERT INTO reason SELECT m.id, x.nth, x.text FROM other.reason x JOIN fresh f ON f.id = x.run"
    " JOIN other.run r ON r.id = x.run JOIN run m USING(seed, input, engine, schedule);" ADD_RACE
    "SELECT id, title FROM other.race WHERE true" BETTER_TITLE ";"
    "INSERT INTO seen SELECT m.id, x.race, x.count FROM other.seen x JOIN fresh f ON f.id = x.run"
    " JOIN other.run r ON r.id = x.run JOIN run m USING(seed, input, engine, schedule);";

gr_status gr_store_merge(GrStore *s, const char *path, uint64_t *added, gr_error *err) {
    sqlite3_stmt *q = NULL;
    gr_status st;
    bool more;
    *added = 0;
    GR_TRY(change(s, err, "ATTACH ? AS other", "t", path));
    GR_TRY(query(s, &q, err,
                 "SELECT key FROM other.about o JOIN about USING(key) WHERE o.value != about.value", ""));
    GR_TRY(step(s, q, &more, err));
    if (more)
        GR_TRY(gr_fail(err, GR_ERR_ARGUMENT, "%s is of another campaign: its %s is another", path,
                       text_at(q, 0)));
    sqlite3_finalize(q);
    q = NULL;
    GR_TRY(execute(s, merging, err));
    GR_TRY(query(s, &q, err, "SELECT count(*) FROM fresh", ""));
    GR_TRY(step(s, q, &more, err));
    *added = (uint64_t)sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    q = NULL;
    GR_TRY(execute(s, "DROP TABLE fresh; COMMIT", err));
done:
    sqlite3_finalize(q);
    roll_back(s);
    (void)sqlite3_exec(s->db, "DETACH other", NULL, NULL, NULL);
    return st;
}

// ---- Reading -------------------------------------------------------------------------------------------------------

// The function that gr_store_runs and its like call for each row; one of the three is set.
typedef struct Telling {
    gr_status (*run)(void *user, const GrStoredRun *run, gr_error *err);
    gr_status (*race)(void *user, int64_t run, const GrCampaignRace *race, gr_error *err);
    gr_status (*reason)(void *user, int64_t run, const char *text, gr_error *err);
    void *user;
} Telling;

static gr_status tell_row(const Telling *t, sqlite3_stmt *q, gr_error *err) {
    int64_t id = sqlite3_column_int64(q, 0);
    if (t->race) {
        GrCampaignRace r = {text_at(q, 1), text_at(q, 2), (uint64_t)sqlite3_column_int64(q, 3)};
        return t->race(t->user, id, &r, err);
    }
    if (t->reason)
        return t->reason(t->user, id, text_at(q, 1), err);
    GrStoredRun r = {.id = id,
                     .seed = (uint64_t)sqlite3_column_int64(q, 1),
                     .input = text_at(q, 2),
                     .engine = text_at(q, 3),
                     .schedule = text_at(q, 4),
                     .verdict = sqlite3_column_int(q, 8) ? text_at(q, 5) : GR_CAMPAIGN_FAILED,
                     .status = sqlite3_column_int(q, 6),
                     .is_void = sqlite3_column_int(q, 7) != 0};
    return t->run(t->user, &r, err);
}

static gr_status each_row(GrStore *s, const char *sql, const Telling *t, gr_error *err) {
    sqlite3_stmt *q = NULL;
    gr_status st;
    bool more;
    GR_TRY(query(s, &q, err, sql, ""));
    for (;;) {
        GR_TRY(step(s, q, &more, err));
        if (!more)
            break;
        GR_TRY(tell_row(t, q, err));
    }
done:
    sqlite3_finalize(q);
    return st;
}

gr_status gr_store_runs(GrStore *s, gr_status (*tell)(void *user, const GrStoredRun *run, gr_error *err),
                        void *user, gr_error *err) {
    return each_row(s,
                    "SELECT id, seed, input, engine, schedule, verdict, status, void, report IS NOT NULL"
                    " FROM run ORDER BY id",
                    &(Telling){.run = tell, .user = user}, err);
}

gr_status gr_store_races(GrStore *s,
                         gr_status (*tell)(void *user, int64_t run, const GrCampaignRace *race,
                                           gr_error *err),
                         void *user, gr_error *err) {
    return each_row(
        s,
        "SELECT seen.run, race.id, race.title, seen.count FROM seen JOIN race ON race.id = seen.race"
        " ORDER BY seen.run, race.id",
        &(Telling){.race = tell, .user = user}, err);
}

gr_status gr_store_reasons(GrStore *s,
                           gr_status (*tell)(void *user, int64_t run, const char *text, gr_error *err),
                           void *user, gr_error *err) {
    return each_row(s, "SELECT run, text FROM reason ORDER BY run, nth",
                    &(Telling){.reason = tell, .user = user}, err);
}

gr_status gr_store_report(GrStore *s, const GrCampaignRun *run, char **out, gr_error *err) {
    sqlite3_stmt *q = NULL;
    gr_status st;
    bool more;
    *out = NULL;
    GR_TRY(query(s, &q, err,
                 "SELECT report FROM run WHERE seed = ? AND input = ? AND engine = ? AND schedule = ? AND "
                 "report IS NOT NULL",
                 "ittt", (int64_t)run->seed, run->input->text, run->engine, run->schedule));
    GR_TRY(step(s, q, &more, err));
    if (more && !(*out = strdup(text_at(q, 0))))
        st = gr_no_memory(err);
done:
    sqlite3_finalize(q);
    return st;
}
