// SPDX-License-Identifier: Apache-2.0
// gpurace repair — tries edits of the source that may repair races: builds and runs the program in a copy of its
// folder, as it is and with each edit.
//
// Exit status: 0 when no race was found, or for each one an edit that removes it; --error-exitcode (66) when not; 2:
// the command line makes no sense; 1: gpurace itself failed, or the program cannot be built as it is.
#include "base/own.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/run/apply.h"
#include "options/options.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A race is to be shown by so many seeds before an edit for it is tried, or by all of --runs.
enum { SHOWN = 5 };

typedef struct Tried {
    GrProposal proposal;
    GrTrialResult result;
    bool removes; // some race
} Tried;

typedef struct Repair {
    GrOptions options;
    GrTrial trial;
    GrTrialResult before;
    GrRepairs repairs;
    VEC(Tried *) tried; // each edit once, for whatever races it was proposed
    uint64_t races, repaired;
    StrBuf text;
    json_t *json;
} Repair;

// ---- Trying ------------------------------------------------------------------------------------------------

static unsigned seen_by(const GrRace *race) { return race->n_seen ? race->n_seen : 1; }

static unsigned wanted(const Repair *x) {
    return x->options.repair_runs < SHOWN ? (unsigned)x->options.repair_runs : SHOWN;
}

// The seeds that it takes to show the race as often as is wanted.
static uint64_t seeds_for(const Repair *x, const GrRace *race) {
    uint64_t least = x->options.repair_runs, all = x->before.seeds;
    if (seen_by(race) < wanted(x))
        return all;
    uint64_t seed = race->n_seen ? race->seen[wanted(x) - 1].run->seed : least;
    return seed > least ? seed : least;
}

// Runs more seeds until each race was shown as often as is wanted.
static gr_status look_longer(Repair *x, gr_error *err) {
    uint64_t most = x->options.repair_most_runs;
    for (bool rare = true; rare && x->before.seeds < most;) {
        rare = false;
        for (size_t k = 0; k < x->before.found.races.len; k++)
            rare |= seen_by(&x->before.found.races.data[k]) < wanted(x);
        if (rare)
            GR_MUST(gr_trial_more(&x->trial, x->before.seeds + 1, &x->before, err));
    }
    return GR_OK;
}

static gr_status try(Repair *x, const GrProposal *p, uint64_t seeds, Tried **out, gr_error *err) {
    Tried *t = NULL;
    for (size_t k = 0; k < x->tried.len; k++)
        if (gr_proposal_same(&x->tried.data[k]->proposal, p))
            t = x->tried.data[k];
    *out = t;
    if (t && (t->result.seeds >= seeds || t->result.why[0]))
        return GR_OK;
    if (!t && (!(t = calloc(1, sizeof *t)) || !gr_vec_push(&x->tried, t))) {
        free(t);
        return gr_no_memory(err);
    }
    gr_trial_result_free(&t->result);
    t->proposal = *p;
    *out = t;
    fprintf(stderr, "gpurace: trying to %s at line %u\n", p->what, p->edits[0].line);
    return gr_trial_run(&x->trial, p, 1, seeds, &t->result, err);
}

static const char *relative(const Repair *x, const char *file) {
    size_t n = strlen(x->trial.copy);
    return !strncmp(file, x->trial.copy, n) && file[n] == '/' ? file + n + 1 : file;
}

static bool same_name(const char *a, const char *b) { return a && b && !strcmp(a, b); }

// Whether two races are likely of one mistake: of one variable in one kernel.
static bool are_alike(const GrRace *a, const GrRace *b) {
    return same_name(a->found.accesses[0].variable, b->found.accesses[0].variable) &&
           same_name(a->found.kernel, b->found.kernel);
}

// Proposals for the race: those first that fit all that are alike.
static unsigned propose(Repair *x, const GrRace *race, GrProposal out[2 * GR_REPAIR_PROPOSALS]) {
    enum { MANY = 64 };
    const GrFinding *alike[MANY] = {&race->found};
    size_t n = 1;
    const GrRaceVec *all = &x->before.found.races;
    for (size_t k = 0; k < all->len && n < MANY; k++)
        if (&all->data[k] != race && are_alike(race, &all->data[k]))
            alike[n++] = &all->data[k].found;
    unsigned found = n > 1 ? gr_repair_propose(&x->repairs, alike, n, out) : 0, from = found;
    GrProposal own[GR_REPAIR_PROPOSALS];
    unsigned n_own = gr_repair_propose(&x->repairs, alike, 1, own);
    for (unsigned k = 0; k < n_own; k++) {
        bool known = false;
        for (unsigned i = 0; i < from; i++)
            known |= gr_proposal_same(&own[k], &out[i]);
        if (!known)
            out[found++] = own[k];
    }
    return found;
}

// ---- What is said ------------------------------------------------------------------------------------------

static void say_race(Repair *x, const GrRace *race, json_t *o) {
    const GrAccess *a = &race->found.accesses[0];
    const GrFrame *f = gr_access_frame(a, a->headline);
    const char *class = gr_report_class(&x->before.found, race->found.class)->name,
               *file = f->file ? relative(x, f->file) : "PTX";
    uint32_t line = f->file ? f->line : a->ptx_line, seen = seen_by(race);
    gr_str_addf(&x->text, "%s:%u: %s, id %s, seen with %u of %llu seeds\n", file, line, class, race->id, seen,
                (unsigned long long)x->before.seeds);
    json_object_set_new(o, "id", json_string(race->id));
    json_object_set_new(o, "class", json_string(class));
    json_object_set_new(o, "file", json_string(file));
    json_object_set_new(o, "line", json_integer(line));
    json_object_set_new(o, "seen_with", json_integer(seen));
}

// Of an edit that was said before only the place. `why`: why it does not remove the race; "": it does.
static void say_edit(Repair *x, const Tried *t, const char *why, bool again, json_t *list) {
    const GrProposal *p = &t->proposal;
    unsigned long long seeds = t->result.seeds;
    StrBuf hunks = {0};
    const char *file = relative(x, p->file), *removes = *why ? "fails" : "removes";
    gr_repair_hunks(p, &hunks);
    const char *diff = hunks.data ? hunks.data : "";
    if (again)
        gr_str_addf(&x->text, "\n    the edit above (%s, %s:%u) ", p->what, file, p->edits[0].line);
    else
        gr_str_addf(&x->text, "\n    %s:\n\n--- %s\n+++ %s\n%s\n    this ", p->what, file, file, diff);
    if (*why)
        gr_str_addf(&x->text, "does not remove the race: %s\n", why);
    else
        gr_str_addf(&x->text, "removes the race%s in %llu seed%s\n", again ? ", too," : "", seeds,
                    seeds == 1 ? "" : "s");
    json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:I}", "what", p->what, "file", file, "hunks", diff, "result",
                          removes, "seeds", (json_int_t)seeds);
    if (o && *why)
        json_object_set_new(o, "why", json_string(why));
    json_array_append_new(list, o);
    x->text.oom |= hunks.oom;
    gr_str_free(&hunks);
}

static bool is_among(const GrProposal *p, const GrProposal *all, unsigned n) {
    for (unsigned k = 0; k < n; k++)
        if (gr_proposal_same(p, &all[k]))
            return true;
    return false;
}

// An edit that removes another race, and this one as well: one that is proposed for both, or a race that few seeds
// miss.
static Tried *covering(Repair *x, const GrRace *race, const GrProposal *all, unsigned n) {
    char why[400];
    for (size_t k = 0; k < x->tried.len; k++) {
        Tried *t = x->tried.data[k];
        if (t->removes && t->result.seeds >= seeds_for(x, race) &&
            (is_among(&t->proposal, all, n) || 2 * seen_by(race) >= x->before.seeds) &&
            gr_trial_removes(&x->before, &t->result, race, why))
            return t;
    }
    return NULL;
}

static gr_status repair_race(Repair *x, const GrRace *race, bool misuse, json_t *list, gr_error *err) {
    GrProposal all[2 * GR_REPAIR_PROPOSALS];
    unsigned n = propose(x, race, all);
    if (misuse && !n)
        return GR_OK;
    json_t *o = json_object(), *edits = json_array();
    gr_status st = GR_OK;
    if (!o || !edits)
        st = gr_no_memory(err);
    if (st == GR_OK)
        say_race(x, race, o);
    Tried *done = covering(x, race, all, n);
    bool removed = done != NULL;
    if (done)
        say_edit(x, done, "", true, edits);
    for (unsigned k = 0; k < n && !removed && st == GR_OK; k++) {
        Tried *t = NULL;
        size_t known = x->tried.len;
        char why[400] = "";
        st = try(x, &all[k], seeds_for(x, race), &t, err);
        if (st == GR_OK) {
            removed = gr_trial_removes(&x->before, &t->result, race, why);
            t->removes |= removed;
            say_edit(x, t, why, known == x->tried.len, edits);
        }
    }
    if (!n && !removed)
        gr_str_add(&x->text, "\n    no edit is known for this race\n");
    gr_str_addc(&x->text, '\n');
    x->races++;
    x->repaired += removed;
    json_object_set_new(o, "repaired", json_boolean(removed));
    json_object_set_new(o, "edits", edits);
    json_array_append_new(list, o);
    return st;
}

// ---- Applying ----------------------------------------------------------------------------------------------

// Why the edits do not do together what each does alone. "": they do.
static gr_status try_together(Repair *x, const GrApplied *a, char why[400], gr_error *err) {
    GrTrialResult all;
    fprintf(stderr, "gpurace: trying all edits together\n");
    gr_status st = gr_trial_run(&x->trial, a->files.data, a->files.len, x->options.repair_runs, &all, err);
    for (size_t k = 0; k < x->before.found.races.len && st == GR_OK && !why[0]; k++) {
        const GrRace *race = &x->before.found.races.data[k];
        char alone[400];
        bool removed = false;
        for (size_t i = 0; i < x->tried.len && !removed; i++)
            removed = x->tried.data[i]->removes &&
                      gr_trial_removes(&x->before, &x->tried.data[i]->result, race, alone);
        if (removed)
            (void)gr_trial_removes(&x->before, &all, race, why);
    }
    gr_trial_result_free(&all);
    return st;
}

static gr_status apply(Repair *x, gr_error *err) {
    const char *to = x->options.repair_apply;
    GrApplied a = {.files = {0}};
    size_t n = 0;
    char why[400] = "";
    gr_status st = GR_OK;
    for (size_t k = 0; k < x->tried.len; k++)
        if (x->tried.data[k]->removes && !gr_applied_add(&a, &x->tried.data[k]->proposal))
            snprintf(why, sizeof why, "two of them change one line");
        else
            n += x->tried.data[k]->removes;
    if (n > 1 && !why[0])
        st = try_together(x, &a, why, err);
    if (st == GR_OK && why[0])
        gr_str_addf(&x->text, "the edits are not applied: together they do not do, %s\n", why);
    else if (st == GR_OK && n && (st = gr_applied_write(&a, &x->trial, to, err)) == GR_OK)
        gr_str_addf(&x->text, "%zu edit%s: %s\n", n, n == 1 ? "" : "s",
                    strcmp(to, GR_APPLY_IN_PLACE) ? to : "made in your files");
    gr_applied_free(&a);
    return st;
}

static gr_status put(Repair *x, gr_error *err) {
    const GrOptions *o = &x->options;
    bool json = !strcmp(o->list_format, "json");
    char *text = json ? json_dumps(x->json, JSON_INDENT(2)) : NULL;
    const char *out = json ? text : x->text.data;
    gr_status st = GR_OK;
    if (!out || x->text.oom)
        st = gr_fail(err, GR_ERR_NOMEM, "out of memory (or a name that is no UTF-8)");
    else if (o->output[0])
        st = gr_own_write(o->output, GR_OWN_REPORT, out, strlen(out), err);
    else if (printf("%s%s", out, json ? "\n" : "") < 0 || fflush(stdout))
        st = gr_fail(err, GR_ERR_IO, "cannot write to standard output");
    free(text);
    return st;
}

static gr_status repair(Repair *x, gr_error *err) {
    json_t *list = json_array();
    x->json = json_pack("{s:s,s:o}", "tool", "gpurace " GPURACE_VERSION, "races", list);
    GR_NEED(x->json, err);
    if (x->options.output[0])
        GR_MUST(gr_own_try(x->options.output, GR_OWN_REPORT, err));
    if (x->options.repair_apply[0] && strcmp(x->options.repair_apply, GR_APPLY_IN_PLACE))
        GR_MUST(gr_own_try(x->options.repair_apply, GR_OWN_REPORT, err));
    GR_MUST(gr_trial_open(&x->trial, err));
    fprintf(stderr, "gpurace: building and running the copy as it is\n");
    GR_MUST(gr_trial_run(&x->trial, NULL, 0, x->options.repair_runs, &x->before, err));
    if (x->before.why[0])
        return gr_fail(err, GR_ERR_ARGUMENT, "as the program is, %s", x->before.why);
    if (!x->before.found.runs.len && !x->before.found.content)
        return gr_fail(
            err, GR_ERR_ARGUMENT,
            "the program does not run in the copy: is %s what the build command makes, relative to "
            "the folder?",
            x->trial.argv[0]);
    GR_MUST(look_longer(x, err));
    x->before.found.folder = x->trial.copy;
    json_object_set_new(x->json, "seeds", json_integer((json_int_t)x->before.seeds));
    for (size_t k = 0; k < x->before.found.races.len; k++)
        GR_MUST(repair_race(x, &x->before.found.races.data[k], false, list, err));
    for (size_t k = 0; k < x->before.found.misuses.len; k++)
        GR_MUST(repair_race(x, &x->before.found.misuses.data[k], true, list, err));
    if (x->options.repair_apply[0])
        GR_MUST(apply(x, err));
    gr_str_addf(&x->text, "gpurace: %llu race%s, %llu with an edit that removes it\n",
                (unsigned long long)x->races, x->races == 1 ? "" : "s", (unsigned long long)x->repaired);
    return put(x, err);
}

static void free_all(Repair *x) {
    for (size_t k = 0; k < x->tried.len; k++) {
        gr_trial_result_free(&x->tried.data[k]->result);
        free(x->tried.data[k]);
    }
    gr_vec_free(&x->tried);
    gr_trial_result_free(&x->before);
    gr_trial_close(&x->trial);
    gr_repairs_free(&x->repairs);
    gr_str_free(&x->text);
    json_decref(x->json);
}

static int start(Repair *x, char **argv) {
    const GrOptions *o = &x->options;
    gr_error err = {0};
    x->trial.folder = o->repair_folder;
    x->trial.build = o->repair_build;
    x->trial.argv = argv;
    x->trial.timeout_s = o->repair_timeout;
    x->trial.schedule = o->repair_schedule;
    x->trial.with = o->repair_with;
    gr_arena_init(&x->repairs.arena);
    gr_arena_init(&x->trial.arena);
    signal(SIGPIPE, SIG_IGN); // a reader that has gone away must not keep us from removing the copy
    gr_status st = repair(x, &err);
    int status = st != GR_OK              ? gr_complain(EXIT_OURS, &err)
                 : x->repaired < x->races ? (int)o->error_exitcode
                                          : 0;
    free_all(x);
    return status;
}

int gr_cmd_repair(int argc, char **argv) {
    Repair x = {.races = 0};
    gr_error err = {0};
    int rest = 0, status;
    bool help = false;
    if (gr_options_init(&x.options, &err) != GR_OK)
        return gr_complain(EXIT_OURS, &err);
    if (gr_config_read(&x.options, OPT_REPAIR, argc, argv, &err) != GR_OK ||
        gr_options_parse_args(&x.options, OPT_REPAIR, argc, argv, &rest, &help, &err) != GR_OK) {
        status = gr_complain(EXIT_USAGE, &err);
    } else if (help) {
        status = gr_print_help("repair", stdout);
    } else if (rest >= argc || !x.options.repair_build[0]) {
        fputs(
            "gpurace: a build command and a program are needed: gpurace repair --build 'make app' -- ./app\n",
            stderr);
        status = EXIT_USAGE;
    } else {
        status = start(&x, argv + rest);
    }
    gr_options_free(&x.options);
    return status;
}
