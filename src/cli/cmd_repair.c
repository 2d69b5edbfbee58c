// SPDX-License-Identifier: Apache-2.0
// gpurace repair — tries edits of the source that may repair races: builds and runs the program in a copy of its
// folder, as it is and with each edit.
//
// Exit status: 0 when no race was found, or for each one an edit that removes it; --error-exitcode (66) when not; 2:
// the command line makes no sense; 1: gpurace itself failed, or the program cannot be built as it is.
#include "base/own.h"
#include "cli/commands.h"
#include "cli/run/trial.h"
#include "options/options.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tried {
    GrProposal proposal;
    GrTrialResult result;
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

static gr_status try(Repair *x, const GrProposal *p, const GrTrialResult **out, gr_error *err) {
    for (size_t k = 0; k < x->tried.len; k++)
        if (gr_proposal_same(&x->tried.data[k]->proposal, p)) {
            *out = &x->tried.data[k]->result;
            return GR_OK;
        }
    Tried *t = calloc(1, sizeof *t);
    if (!t || !gr_vec_push(&x->tried, t)) {
        free(t);
        return gr_no_memory(err);
    }
    t->proposal = *p;
    *out = &t->result;
    fprintf(stderr, "gpurace: trying to %s at line %u\n", p->what, p->edits[0].line);
    return gr_trial_run(&x->trial, p, &t->result, err);
}

static const char *relative(const Repair *x, const char *file) {
    size_t n = strlen(x->trial.copy);
    return !strncmp(file, x->trial.copy, n) && file[n] == '/' ? file + n + 1 : file;
}

// ---- What is said ------------------------------------------------------------------------------------------

static void say_race(Repair *x, const GrRace *race, json_t *o) {
    const GrAccess *a = &race->found.accesses[0];
    const GrFrame *f = gr_access_frame(a, a->headline);
    const char *class = gr_report_class(&x->before.found, race->found.class)->name,
               *file = f->file ? relative(x, f->file) : "PTX";
    uint32_t line = f->file ? f->line : a->ptx_line, seen = race->n_seen ? race->n_seen : 1;
    gr_str_addf(&x->text, "%s:%u: %s, id %s, seen with %u of %llu seeds\n", file, line, class, race->id, seen,
                (unsigned long long)x->trial.runs);
    json_object_set_new(o, "id", json_string(race->id));
    json_object_set_new(o, "class", json_string(class));
    json_object_set_new(o, "file", json_string(file));
    json_object_set_new(o, "line", json_integer(line));
    json_object_set_new(o, "seen_with", json_integer(seen));
}

static void say_edit(Repair *x, const GrProposal *p, const char *why, json_t *list) {
    StrBuf hunks = {0};
    const char *file = relative(x, p->file), *removes = *why ? "fails" : "removes";
    gr_repair_hunks(p, &hunks);
    const char *diff = hunks.data ? hunks.data : "";
    gr_str_addf(&x->text, "\n    %s:\n\n--- %s\n+++ %s\n%s\n", p->what, file, file, diff);
    if (*why)
        gr_str_addf(&x->text, "    this does not remove the race: %s\n", why);
    else
        gr_str_addf(&x->text, "    this removes the race in %llu seed%s\n", (unsigned long long)x->trial.runs,
                    x->trial.runs == 1 ? "" : "s");
    json_t *o =
        json_pack("{s:s,s:s,s:s,s:s}", "what", p->what, "file", file, "hunks", diff, "result", removes);
    if (o && *why)
        json_object_set_new(o, "why", json_string(why));
    json_array_append_new(list, o);
    x->text.oom |= hunks.oom;
    gr_str_free(&hunks);
}

static gr_status repair_race(Repair *x, const GrRace *race, json_t *list, gr_error *err) {
    GrProposal all[GR_REPAIR_PROPOSALS];
    const GrFinding *found = &race->found;
    unsigned n = gr_repair_propose(&x->repairs, &found, 1, all);
    json_t *o = json_object(), *edits = json_array();
    bool removed = false;
    gr_status st = GR_OK;
    if (!o || !edits)
        st = gr_no_memory(err);
    if (st == GR_OK)
        say_race(x, race, o);
    for (unsigned k = 0; k < n && !removed && st == GR_OK; k++) {
        const GrTrialResult *after = NULL;
        char why[400] = "";
        st = try(x, &all[k], &after, err);
        if (st == GR_OK) {
            removed = gr_trial_removes(&x->before, after, race, why);
            say_edit(x, &all[k], why, edits);
        }
    }
    if (!n)
        gr_str_add(&x->text, "\n    no edit is known for this race\n");
    gr_str_addc(&x->text, '\n');
    x->races++;
    x->repaired += removed;
    json_object_set_new(o, "repaired", json_boolean(removed));
    json_object_set_new(o, "edits", edits);
    json_array_append_new(list, o);
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
    x->json = json_pack("{s:s,s:o,s:I}", "tool", "gpurace " GPURACE_VERSION, "races", list, "seeds",
                        (json_int_t)x->trial.runs);
    GR_NEED(x->json, err);
    if (x->options.output[0])
        GR_MUST(gr_own_try(x->options.output, GR_OWN_REPORT, err));
    GR_MUST(gr_trial_open(&x->trial, err));
    fprintf(stderr, "gpurace: building and running the copy as it is\n");
    GR_MUST(gr_trial_run(&x->trial, NULL, &x->before, err));
    if (x->before.why[0])
        return gr_fail(err, GR_ERR_ARGUMENT, "as the program is, %s", x->before.why);
    if (!x->before.found.runs.len && !x->before.found.content)
        return gr_fail(
            err, GR_ERR_ARGUMENT,
            "the program does not run in the copy: is %s what the build command makes, relative to "
            "the folder?",
            x->trial.argv[0]);
    x->before.found.folder = x->trial.copy;
    for (size_t k = 0; k < x->before.found.races.len; k++)
        GR_MUST(repair_race(x, &x->before.found.races.data[k], list, err));
    gr_str_addf(&x->text, "gpurace: %llu race%s, %llu with an edit that removes it in %llu seed%s\n",
                (unsigned long long)x->races, x->races == 1 ? "" : "s", (unsigned long long)x->repaired,
                (unsigned long long)x->trial.runs, x->trial.runs == 1 ? "" : "s");
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
    x->trial.runs = o->repair_runs;
    x->trial.timeout_s = o->repair_timeout;
    x->trial.schedule = o->repair_schedule;
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
    if (gr_options_parse_args(&x.options, OPT_REPAIR, argc, argv, &rest, &help, &err) != GR_OK) {
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
