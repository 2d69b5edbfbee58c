// SPDX-License-Identifier: Apache-2.0
// gpurace campaign — runs a program many times under `gpurace run` and reports what all runs found together.
//
// Exit status: --error-exitcode (66) when any run had races; 67 when the campaign is inconclusive and --strict asks for
// it (without it: when the options left nothing to check, a kernel hung or faulted, or no run left a report); else that
// of the first run that did not end with 0. 75: tasks of Slurm are at work, call again. 2: the command line makes no
// sense; 1: gpurace itself failed; 128 + N: signal N ended it, and the same command goes on.
#include "base/process.h"
#include "campaign/folder.h"
#include "campaign/known.h"
#include "campaign/plan.h"
#include "campaign/slurm.h"
#include "campaign/work.h"
#include "cli/baseline_file.h"
#include "cli/campaign_report.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/run/gpu.h"
#include "cli/run/program.h"
#include "cli/run/progress.h"
#include "cli/write_report.h"
#include "engines/core/engine.h"
#include "options/options.h"

#include <errno.h>
#include <libgen.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Campaign {
    GrOptions options;
    GrCampaignPlan plan;
    GrCampaignFolder folder;
    GrKnown known;
    GrCampaignWork work;
    GrBaselineFile baseline;
    StrBuf run_options, again, arguments; // texts for runs, and of the identity
    char self[PATH_MAX], program[PATH_MAX], code[24];
    uint64_t share, shares;
    uint64_t done_before;
    struct timespec began;
    bool line;    // there is a terminal for the progress line
    char **words; // of the command line, between the command and the program
    size_t n_words;
    bool by_slurm; // Slurm does the runs
    GrSlurm slurm;
    uint64_t queued; // tasks that wait at Slurm
    bool waits;      // for those
} Campaign;

// ---- The command line ----------------------------------------------------------------------------------------------

static gr_status check_engine(const char *name, gr_error *err) {
    char hint[GR_NEAR_ROOM];
    const GrEngine *e = gr_engine_find(name);
    const char *why = e || !strcmp(name, "auto") ? NULL : gr_engine_why_not(name);
    if (e && e->caps & CAP_STATIC)
        return gr_fail(err, GR_ERR_ARGUMENT, "the engine %s runs no program: it is for `gpurace check`",
                       name);
    if (e || !strcmp(name, "auto") || getenv("GPURACE_INJECTION"))
        return GR_OK;
    return why ? gr_fail(err, GR_ERR_ARGUMENT, "the engine %s is not possible: %s", name, why)
               : gr_fail(err, GR_ERR_ARGUMENT, "there is no engine '%s'%s; `gpurace engines` lists them",
                         name, gr_engine_meant(name, hint));
}

// The words of --schedules are those of --schedule.
static gr_status check_schedule(const char *word, gr_error *err) {
    GrOptions scratch;
    StrBuf text = {0};
    gr_status st = gr_options_init(&scratch, err);
    gr_str_add(&text, "schedule=");
    gr_shell_quote(word, &text);
    if (st == GR_OK)
        st = text.oom ? gr_no_memory(err) : gr_options_parse_text(&scratch, text.data, err);
    gr_str_free(&text);
    gr_options_free(&scratch);
    return st;
}

static gr_status read_inputs(Campaign *c, gr_error *err) {
    char *text = NULL;
    size_t len;
    gr_status st = gr_file_read(c->options.inputs, &text, &len, err);
    if (st == GR_OK)
        st = gr_plan_inputs(&c->plan, c->options.inputs, text, len, err);
    free(text);
    return st;
}

static gr_status make_plan(Campaign *c, gr_error *err) {
    GrOptions *o = &c->options;
    GrCampaignPlan *p = &c->plan;
    GR_MUST(gr_plan_seeds(p, o->seeds, err));
    GR_MUST(gr_plan_engines(p, o->engines[0] ? o->engines : o->engine, err));
    GR_MUST(gr_plan_schedules(p, o->schedules[0] ? o->schedules : o->schedule, err));
    if (o->inputs[0])
        GR_MUST(read_inputs(c, err));
    GR_MUST(gr_plan_close(p, err));
    for (size_t k = 0; k < p->engines.len; k++)
        GR_MUST(check_engine(p->engines.data[k], err));
    for (size_t k = 0; k < p->schedules.len; k++)
        GR_MUST(check_schedule(p->schedules.data[k], err));
    return GR_OK;
}

static gr_status read_share(Campaign *c, gr_error *err) {
    unsigned long long share, shares;
    char more;
    if (!c->options.share[0])
        return GR_OK;
    if (sscanf(c->options.share, "%llu/%llu%c", &share, &shares, &more) != 2 || !share || share > shares ||
        shares > GR_CAMPAIGN_MOST_RUNS)
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "--share takes I/N, such as 3/16: the third of 16 shares, not '%s'", c->options.share);
    c->share = share;
    c->shares = shares;
    return GR_OK;
}

static gr_status check_options(const Campaign *c, gr_error *err) {
    const GrOptions *o = &c->options;
    if (o->seed != 1)
        return gr_fail(err, GR_ERR_ARGUMENT, "--seed is for one run; a campaign takes --seeds %llu",
                       (unsigned long long)o->seed);
    if (o->record_launches[0])
        return gr_fail(
            err, GR_ERR_ARGUMENT,
            "--record-launches is for one run, not for a campaign: each run would overwrite the file");
    if (c->shares && o->stop_after)
        return gr_fail(err, GR_ERR_ARGUMENT, "--stop-after needs to see all runs: not with --share");
    if (o->slurm && !c->shares && o->stop_after)
        return gr_fail(err, GR_ERR_ARGUMENT, "--stop-after needs to see all runs: not with --slurm");
    if (o->fresh && (o->slurm || o->merge || c->shares))
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "--fresh begins anew each time: not with --slurm, --share or --merge");
    if (o->slurm && o->merge)
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "--merge runs nothing, so there is nothing for --slurm: name one of them");
    if (c->shares && o->merge)
        return gr_fail(err, GR_ERR_ARGUMENT, "--merge runs nothing: not with --share");
    return GR_OK;
}

// What runs get, and what must be the same when the campaign goes on. What is of the campaign's own report stays here.
static gr_status make_texts(Campaign *c, char **program, gr_error *err) {
    GrOptions o = c->options, defaults;
    GR_MUST(gr_options_init(&defaults, err));
    o.format = defaults.format;
    o.baseline = defaults.baseline;
    o.output = defaults.output;
    o.max_reports = defaults.max_reports;
    o.strict = "no"; // the statuses of runs are the program's own
    o.error_exitcode = defaults.error_exitcode;
    o.coverage = defaults.coverage;
    o.engine = defaults.engine;
    o.schedule = defaults.schedule;
    o.seed = defaults.seed;
    o.given = NULL; // an option that was given as its default makes no other campaign
    gr_options_to_text(&o, &c->run_options);
    gr_str_add(&c->run_options, "");
    gr_options_reproduce(&o, OPT_RUN, &c->again);
    if (c->options.coverage[0]) {
        gr_str_add(&c->again, " --coverage ");
        gr_shell_quote(c->options.coverage, &c->again);
    }
    for (char **word = program; *word; word++) {
        gr_str_add(&c->arguments, word > program ? " " : "");
        gr_shell_quote(*word, &c->arguments);
    }
    gr_options_free(&defaults);
    return c->run_options.oom || c->again.oom || c->arguments.oom ? gr_no_memory(err) : GR_OK;
}

static gr_status hash_program(Campaign *c, gr_error *err) {
    char *bytes = NULL;
    size_t len;
    gr_status st = gr_file_read(c->program, &bytes, &len, err);
    if (st == GR_OK)
        snprintf(c->code, sizeof c->code, "%016llx", (unsigned long long)gr_hash_bytes(bytes, len));
    free(bytes);
    return st;
}

// ---- Work ----------------------------------------------------------------------------------------------------------

static uint64_t processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0 ? (uint64_t)CPU_COUNT(&set) : 1;
}

// Runs on a GPU would share its memory, and change each other's timing.
static uint64_t default_jobs(const GrOptions *o) {
    return strcmp(o->device, "cpu") && gr_probe_gpu().count > 0 ? 1 : processors();
}

// The time that a run may take: what `gpurace run` allows its program and each replay, and enough to write the report.
static uint64_t patience(const GrOptions *o) {
    enum { GRACE_S = 5, REPORT_S = 300 };
    return o->timeout ? (o->timeout + GRACE_S) * (1 + (o->attribute ? o->replays : 0)) + REPORT_S : 0;
}

static bool samples(const char *engine) {
    const GrEngine *e = gr_engine_find(engine);
    return !e || e->caps & CAP_SAMPLES; // auto chooses one that does
}

static void tell_race(void *user, const GrKnownRace *race, const GrCampaignRun *run) {
    Campaign *c = user;
    if (c->options.quiet)
        return;
    if (c->line)
        gr_progress_wipe();
    fprintf(stderr, "gpurace: race %s, run %llu (seed %llu): %s\n", race->id, (unsigned long long)run->number,
            (unsigned long long)run->seed, race->title);
}

static void add_time_left(const Campaign *c, StrBuf *out) {
    struct timespec now;
    const GrKnown *k = &c->known;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t here = k->done + k->failed - c->done_before, open = k->plan->n - k->done - k->failed;
    double seconds = (double)(now.tv_sec - c->began.tv_sec);
    if (!here || seconds < 3 || c->shares)
        return;
    double left = seconds / (double)here * (double)open;
    if (left < 90)
        gr_str_addf(out, ", about %.0f s left", left);
    else
        gr_str_addf(out, ", about %.0f min left", left / 60);
}

static void tell_progress(void *user, uint64_t under_way) {
    Campaign *c = user;
    const GrKnown *k = &c->known;
    StrBuf text = {0};
    if (!c->line)
        return;
    gr_str_addf(&text, "gpurace: %llu of %llu runs, %llu under way, %zu race%s",
                (unsigned long long)(k->done + k->failed), (unsigned long long)k->plan->n,
                (unsigned long long)under_way, k->races.len, k->races.len == 1 ? "" : "s");
    if (k->failed)
        gr_str_addf(&text, ", %llu failed", (unsigned long long)k->failed);
    add_time_left(c, &text);
    if (!text.oom)
        gr_progress_show(text.data);
    gr_str_free(&text);
}

static gr_status do_runs(Campaign *c, char **program, gr_error *err) {
    GrOptions *o = &c->options;
    c->work = (GrCampaignWork){.plan = &c->plan,
                               .known = &c->known,
                               .store = c->folder.store,
                               .self = c->self,
                               .folder = c->folder.runs,
                               .scope = c->folder.scope,
                               .options = c->run_options.data,
                               .coverage = o->coverage,
                               .samples = samples,
                               .program = program,
                               .jobs = o->pool ? o->pool : default_jobs(o),
                               .memory = o->memory << 20,
                               .seconds = patience(o),
                               .stop_after = o->stop_after,
                               .share = c->shares ? c->share : 0,
                               .shares = c->shares ? c->shares : 1,
                               .found = tell_race,
                               .progress = tell_progress,
                               .user = c};
    c->line = gr_progress_wanted();
    c->done_before = c->known.done + c->known.failed;
    clock_gettime(CLOCK_MONOTONIC, &c->began);
    gr_status st = gr_campaign_work(&c->work, err);
    if (c->line)
        gr_progress_wipe();
    return st;
}

static GrSlurm slurm_of(const Campaign *c, char **program) {
    return (GrSlurm){.self = c->self,
                     .folder = c->options.state,
                     .words = c->words,
                     .n_words = c->n_words,
                     .program = program,
                     .sbatch = c->options.sbatch,
                     .tasks = c->options.tasks < c->plan.n ? c->options.tasks : c->plan.n};
}

// The open runs become tasks, if no tasks are there.
static gr_status let_slurm(Campaign *c, gr_error *err) {
    const GrKnown *k = &c->known;
    static const char later[] = "the same command reports when they are done";
    char job[64];
    uint64_t tasks;
    gr_status st = GR_OK;
    if (k->done + k->failed == k->plan->n)
        return GR_OK;
    c->waits = true;
    if (c->queued) {
        fprintf(stderr, "gpurace: %llu tasks are in Slurm's queue or at work; %s\n",
                (unsigned long long)c->queued, later);
    } else {
        st = gr_slurm_submit(&c->slurm, k, &tasks, job, err);
        if (st == GR_OK)
            fprintf(stderr, "gpurace: job %s of Slurm: %llu tasks; %s\n", job, (unsigned long long)tasks,
                    later);
    }
    return st;
}

// ---- The command ---------------------------------------------------------------------------------------------------

// The log of a run that could not be done is what the user has to see.
static int complain(int status, const gr_error *err) {
    char text[sizeof err->file + sizeof err->msg + 32];
    char *log = NULL;
    size_t len;
    bool has_log = err->file[0] && !err->line && gr_file_read(err->file, &log, &len, NULL) == GR_OK;
    fprintf(stderr, "gpurace: %s%s\n", has_log ? err->msg : gr_error_text(err, text, sizeof text),
            has_log ? "; it said:" : "");
    if (has_log)
        fputs(log + strcspn(log, "\n") + (strchr(log, '\n') != NULL), stderr); // without our own line
    free(log);
    return status;
}

static gr_status parse(Campaign *c, int argc, char **argv, int *rest, bool *help, gr_error *err) {
    const char *env = getenv("GPURACE_OPTIONS");
    GR_MUST(gr_options_init(&c->options, err));
    GR_MUST(gr_config_read(&c->options, OPT_CAMPAIGN, argc, argv, err));
    c->options.seed = 1; // what a project says of these two is for one run
    c->options.record_launches = "";
    if (env)
        GR_MUST(gr_options_parse_text(&c->options, env, err));
    GR_MUST(gr_options_parse_args(&c->options, OPT_CAMPAIGN, argc, argv, rest, help, err));
    if (*help)
        return GR_OK;
    if (*rest >= argc)
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "no program was given: gpurace campaign [options] -- PROGRAM [ARGUMENTS]");
    c->words = argv + 1;
    c->n_words = (size_t)*rest - 1 - !strcmp(argv[*rest - 1], "--");
    GR_MUST(read_share(c, err));
    GR_MUST(check_options(c, err));
    GR_MUST(make_plan(c, err));
    GR_MUST(gr_write_report_check(&c->options, err));
    GR_MUST(gr_baseline_open(&c->baseline, c->options.baseline, err));
    return gr_program_find(argv[*rest], c->program, err);
}

// The folder, with what shares found, if it is of this campaign.
static gr_status open_folder(Campaign *c, gr_error *err) {
    uint64_t shares = 0, added = 0;
    GR_MUST(gr_folder_open(c->options.state, c->share, c->shares, &c->folder, err));
    if (c->options.fresh)
        GR_MUST(gr_folder_renew(&c->folder, err));
    // Before the files of shares are read: tasks that end in between must not be taken for lost.
    if (c->by_slurm)
        GR_MUST(gr_slurm_queued(&c->slurm, &c->queued, err));
    // Shares that are there say whose campaign it is.
    if (!c->shares)
        GR_MUST(gr_folder_merge(&c->folder, &shares, &added, err));
    GrCampaignIdentity now = {"gpurace " GPURACE_VERSION, c->arguments.data, c->again.data, c->code};
    GR_MUST(gr_folder_identify(&c->folder, &now, err));
    if (added)
        fprintf(stderr, "gpurace: %llu run%s of %llu share%s added\n", (unsigned long long)added,
                added == 1 ? "" : "s", (unsigned long long)shares, shares == 1 ? " was" : "s were");
    return GR_OK;
}

static gr_status load(Campaign *c, gr_error *err) {
    GR_MUST(gr_known_init(&c->known, &c->plan, err));
    GR_MUST(gr_known_load(&c->known, c->folder.store, !c->options.merge && !c->by_slurm, err));
    if (c->folder.all)
        GR_MUST(gr_known_load(&c->known, c->folder.all, true, err));
    return GR_OK;
}

static gr_status go(Campaign *c, char **program, int *status, gr_error *err) {
    GR_MUST(gr_process_self(c->self, err));
    GR_MUST(hash_program(c, err));
    GR_MUST(make_texts(c, program, err));
    c->by_slurm = c->options.slurm && !c->shares;
    c->slurm = slurm_of(c, program);
    GR_MUST(open_folder(c, err));
    GR_MUST(load(c, err));
    if (c->by_slurm)
        GR_MUST(let_slurm(c, err));
    else if (!c->options.merge)
        GR_MUST(do_runs(c, program, err));
    GrCampaignReport report = {
        .options = &c->options,
        .plan = &c->plan,
        .known = &c->known,
        .folder = &c->folder,
        .baseline = &c->baseline,
        .waits = c->waits,
        .end = {.stop_after = c->work.stopped ? c->options.stop_after : 0, .partial = c->shares > 1}};
    GR_MUST(gr_campaign_report(&report, status, err));
    if (c->waits)
        *status = EXIT_LATER;
    if (c->work.signal) {
        fprintf(stderr, "gpurace: ended by signal %d (%s); the same command goes on\n", c->work.signal,
                strsignal(c->work.signal));
        *status = 128 + c->work.signal;
    }
    return GR_OK;
}

int gr_cmd_campaign(int argc, char **argv) {
    Campaign c = {.folder = GR_NO_FOLDER};
    gr_error err = {0};
    int rest = 0, status = EXIT_USAGE;
    bool help = false;
    gr_plan_init(&c.plan);
    gr_status st = parse(&c, argc, argv, &rest, &help, &err);
    if (st != GR_OK)
        status = complain(EXIT_USAGE, &err);
    else if (help)
        status = gr_print_help("campaign", stdout);
    else if (go(&c, argv + rest, &status, &err) != GR_OK)
        status = complain(err.code == GR_ERR_ARGUMENT ? EXIT_USAGE : EXIT_OURS, &err);
    gr_baseline_close(&c.baseline);
    gr_known_free(&c.known);
    gr_folder_close(&c.folder);
    gr_plan_free(&c.plan);
    gr_str_free(&c.run_options);
    gr_str_free(&c.again);
    gr_str_free(&c.arguments);
    gr_options_free(&c.options);
    return status;
}
