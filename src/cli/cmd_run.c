// SPDX-License-Identifier: Apache-2.0
// gpurace run — runs a CUDA program under a dynamic engine and reports the races it had.
//
// Exit status: --error-exitcode (66) when there were races; 67 when the verdict is inconclusive and --strict asks for
// it (without it: when the options left nothing to check, or a kernel hung or faulted); else the program's own (128 + N
// when signal N killed it, 124 when --timeout did). 2: the command line makes no sense; 126, 127: the program cannot be
// run, is not there; 1: gpurace itself failed.
#include "base/own.h"
#include "cli/baseline_file.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/meant.h"
#include "cli/run/attempt.h"
#include "cli/run/compilers.h"
#include "cli/run/gpu.h"
#include "cli/run/hidden.h"
#include "cli/run/input.h"
#include "cli/run/launch.h"
#include "cli/run/launches_file.h"
#include "cli/run/program.h"
#include "cli/run/sampling.h"
#include "cli/run/warden.h"
#include "cli/run_command.h"
#include "cli/strict.h"
#include "cli/write_report.h"
#include "engines/core/engine.h"
#include "engines/core/selection.h"
#include "options/options.h"
#include "report/replay.h"
#include "report/report.h"
#include "report/suppress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- the run ---------------------------------------------------------------------------------------------

typedef struct Run {
    GrOptions options;
    GrParts parts;
    GrGpu gpu;
    bool on_gpu;
    char path[PATH_MAX]; // of the program
    const char *const *runtimes;
    char **argv; // the program's
    char results[PATH_MAX];
    int results_fd;                // in memory; -1: on a disk,
    char results_folder[PATH_MAX]; // here, to be removed
    GrSuppressions suppressions, bundled;
    bool suppresses; // there are some
    bool plants;     // `gpurace selftest`: a race beside the program's own
    GrSelection selection;
    const char *coverage; // as the user calls it
    GrEnding ending;
    uint64_t seconds;    // that the run took
    const char *targets; // of a replay; NULL: the first run
    GrInput input;
    GrBaselineFile baseline;
    GrAttempt failed; // the full report, if that is how it ended
} Run;

static gr_status choose_device(Run *r, gr_error *err) {
    GrOptions *o = &r->options;
    if (strcmp(o->device, "cpu"))
        r->gpu = gr_probe_gpu();
    if (!strcmp(o->device, "gpu") && r->gpu.count < 1)
        return gr_fail(err, GR_ERR_NOT_FOUND,
                       "--device gpu: NVIDIA's driver (libcuda.so.1) finds no GPU on this machine");
    r->on_gpu = r->gpu.count > 0;
    o->device = r->on_gpu ? "gpu" : "cpu";
    const char *part = o->sample[0] ? "sample" : o->coverage[0] ? "coverage" : NULL;
    const GrEngine *e = gr_engine_choose(o, r->on_gpu || part);
    if (part && e && !(e->caps & CAP_SAMPLES))
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "the engine %s watches all accesses or none, in every run: --%s is for the engines %s",
                       e->name, part, gr_engines_that(CAP_SAMPLES));
    const char *picks = o->only_launches[0]                ? "only-launches"
                        : o->only_ranges[0]                ? "only-ranges"
                        : o->stopped                       ? "stopped"
                        : strcmp(o->toggle_signal, "none") ? "toggle-signal"
                                                           : NULL;
    if (picks && e && e->caps & CAP_PARTS && !r->on_gpu && o->watchpoints)
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "on the CPU device the engine %s checks all launches of a kernel, but with "
                       "--watchpoints no: --%s is for the engines %s there",
                       e->name, picks, gr_engines_that(CAP_PICKS));
    if (picks && e && !(e->caps & (CAP_PICKS | CAP_PARTS)))
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "the engine %s checks all launches of a kernel: --%s is for the engines %s", e->name,
                       picks, gr_engines_that(CAP_PICKS));
    if (r->on_gpu && !(o->caps & CAP_GPU))
        return gr_fail(err, GR_ERR_UNSUPPORTED, "the engine %s works on the CPU device only: --device cpu",
                       o->engine);
    if (!r->on_gpu && !(o->caps & CAP_CPU))
        return gr_fail(err, GR_ERR_UNSUPPORTED, "the engine %s works on a GPU only: --device gpu", o->engine);
    if (!r->on_gpu && access(r->parts.driver, R_OK))
        return gr_fail(err, GR_ERR_NOT_FOUND, "the CPU device is not installed: no %s", r->parts.driver);
    return e && e->accepts ? e->accepts(o, err) : GR_OK;
}

// Makes the results file in memory that has a name, if the system has such: a driver registers its pages (not those of
// files on a disk, which Linux does not pin for long), and a killed gpurace leaves nothing. Else in a folder of its
// own.
static gr_status make_results_file(Run *r, gr_error *err) {
    r->results_folder[0] = 0;
    r->results_fd = memfd_create("gpurace-results", MFD_CLOEXEC);
    if (r->results_fd >= 0) {
        snprintf(r->results, sizeof r->results, "/proc/%ld/fd/%d", (long)getpid(), r->results_fd);
        if (gr_results_create(r->results, NULL) == GR_OK)
            return GR_OK;
        close(r->results_fd);
    }
    r->results_fd = -1;
    r->results[0] = 0;
    GR_MUST(gr_own_folder(r->results_folder, "run", err));
    snprintf(r->results, sizeof r->results, "%.*s/results", PATH_MAX - 16, r->results_folder);
    return gr_results_create(r->results, err);
}

static gr_status make_results(Run *r, gr_error *err) {
    GrResults results;
    GR_MUST(make_results_file(r, err));
    if (!r->options.stopped)
        return GR_OK;
    GR_MUST(gr_results_look(r->results, &results, err));
    results.header->stopped = 1;
    gr_results_detach(&results);
    return GR_OK;
}

static void drop_results(const Run *r) {
    if (r->results_fd >= 0)
        close(r->results_fd); // closes the name's descriptor
    else if (r->results_folder[0])
        (void)gr_own_remove_folder(r->results_folder, NULL);
}

// The driver, and of the runtimes in its folder those that the program may ask for.
static void add_cpu_device(const Run *r, StrBuf *preload) {
    int folder = (int)(strrchr(r->parts.driver, '/') - r->parts.driver);
    gr_str_addf(preload, ":%s", r->parts.driver);
    for (const char *const *name = r->runtimes; *name; name++)
        gr_str_addf(preload, ":%.*s/%s", folder, r->parts.driver, *name);
}

static int signal_of(const char *word) {
    return !strcmp(word, "USR1") ? SIGUSR1 : !strcmp(word, "USR2") ? SIGUSR2 : 0;
}

static void report_so_far(void *run);

// The words of --schedule, as the device counts them; 0: default.
static void add_schedule(const GrOptions *o, StrBuf *device) {
    static const char *const words[] = {"default", "rr", "random", "pct", "directed"};
    const char *word = gr_options_schedule(o);
    for (unsigned k = 1; k < sizeof words / sizeof *words; k++)
        if (!strcmp(word, words[k]))
            gr_str_addf(device, ",schedule=%u", k);
    if (!strcmp(word, "pct"))
        gr_str_addf(device, ",pct_depth=%llu,pct_steps=%llu", (unsigned long long)o->pct_depth,
                    (unsigned long long)o->pct_steps);
}

static gr_status run_program(Run *r, gr_error *err) {
    gr_status st = GR_OK;
    StrBuf preload = {0}, merged = {0}, device = {0};
    const GrOptions *o = &r->options;
    gr_str_add(&preload, r->parts.injection);
    if (!r->on_gpu)
        add_cpu_device(r, &preload);
    gr_options_to_text(o, &merged);
    // What the user set for the device by hand comes after ours, and wins.
    const char *more = getenv("GPURACE_CPU_DEVICE");
    gr_str_addf(&device, "seed=%llu", (unsigned long long)o->seed);
    gr_str_addf(&device, ",devices=%llu", (unsigned long long)o->cpu_devices);
    gr_str_addf(&device, ",arch=%llu", (unsigned long long)o->cpu_arch);
    gr_str_addf(&device, ",jobs=%llu", (unsigned long long)o->jobs);
    if (o->shuffle_blocks)
        gr_str_add(&device, ",shuffle=1");
    if (gr_options_pass_strays(o))
        gr_str_add(&device, ",strays=1");
    if (o->weak)
        gr_str_add(&device, ",weak=1");
    if (strcmp(o->windows, "sampled"))
        gr_str_add(&device, ",windows=1");
    add_schedule(o, &device);
    if (o->watchdog)
        gr_str_addf(&device, ",watchdog=%llu", (unsigned long long)o->watchdog * 1000000000);
    if (more && *more)
        gr_str_addf(&device, ",%s", more);
    char cc[16], version[16];
    snprintf(cc, sizeof cc, "%d", r->gpu.cc);
    snprintf(version, sizeof version, "%d", r->gpu.version);
    GR_TRY(!preload.oom && !merged.oom && !device.oom ? GR_OK : gr_no_memory(err));
    bool hosts = !r->on_gpu && (o->caps & CAP_HOST || !gr_options_misses(o, GR_WATCHPOINTS_NEED));
    const char *nvtx = getenv("NVTX_INJECTION64_PATH"); // another tool of the user's
    const char *environment[] = {"NVTX_INJECTION64_PATH",
                                 nvtx ? nvtx : r->parts.injection,
                                 GR_OPTIONS_ENV,
                                 merged.data ? merged.data : "",
                                 GR_RESULTS_ENV,
                                 r->results,
                                 r->on_gpu ? GR_DEVICE_CC_ENV : "GPURACE_CPU_DEVICE",
                                 r->on_gpu ? cc : device.data,
                                 GR_DRIVER_VERSION_ENV,
                                 version,
                                 GR_PLANT_ENV,
                                 r->plants && !r->targets ? "1" : "",
                                 hosts        ? GR_HOST_WATCH_ENV
                                 : r->targets ? GR_ATTRIBUTE_ENV
                                              : NULL,
                                 hosts ? "1" : r->targets,
                                 hosts && r->targets ? GR_ATTRIBUTE_ENV : NULL,
                                 r->targets,
                                 NULL};
    if (o->verbose)
        fprintf(stderr, "gpurace: engine %s, device %s, LD_PRELOAD=%s\n", o->engine, o->device, preload.data);
    GrLaunchPlan plan = {.argv = r->argv,
                         .path = r->path,
                         .preload = preload.data,
                         .environment = environment,
                         .results = r->results,
                         .timeout_s = o->timeout,
                         .wait_s = o->wait,
                         .repeatable = !r->on_gpu,
                         .toggle = signal_of(o->toggle_signal),
                         .tell = signal_of(o->report_signal),
                         .report = r->targets ? NULL : report_so_far,
                         .user = r,
                         .replay = r->targets != NULL,
                         .progress = r->targets ? NULL : r->results};
    time_t start = time(NULL);
    if (r->targets)
        plan.input = gr_input_again(&r->input);
    st = gr_launch(&plan, &r->ending, err);
    if (r->targets)
        close(plan.input);
    r->seconds = (uint64_t)(time(NULL) - start);
done:
    gr_str_free(&preload);
    gr_str_free(&merged);
    gr_str_free(&device);
    return st;
}

// ---- replays ---------------------------------------------------------------------------------------------

// Runs the program again, with other seeds after the first time, until each race of the first run has its other side.
static void attribute(const Run *r, GrReport *report, const GrResultsView *view) {
    enum { PATIENCE_S = 60, PATIENCE = 20 };
    StrBuf targets = {0};
    gr_error err = {0};
    bool stopped = false;
    size_t races = gr_replay_targets(report, view, &targets), left = races;
    for (uint64_t k = 0; left && targets.len && k < r->options.replays && !stopped; k++) {
        Run replay = *r;
        GrResultsView seen;
        replay.results[0] = 0;
        replay.ending = (GrEnding){0};
        StrBuf numbered = {0};
        gr_str_addf(&numbered, "%llu %s", (unsigned long long)k + 1, targets.data);
        replay.targets = numbered.oom ? "" : numbered.data;
        replay.options.seed += k;
        replay.options.coverage = "";
        replay.options.record_launches = "";
        replay.options.aim = "";
        replay.options.sample = "";  // the targets were among those chosen by the first run's seed
        replay.options.stop = false; // what is looked for may come after the first race
        if (!replay.options.timeout)
            replay.options.timeout = PATIENCE_S + PATIENCE * r->seconds;
        if (r->options.verbose)
            fprintf(stderr, "gpurace: replay %llu, seed %llu: %zu of %zu races have one side only\n",
                    (unsigned long long)k + 1, (unsigned long long)replay.options.seed, left, races);
        gr_status st = make_results(&replay, &err);
        if (st == GR_OK)
            st = run_program(&replay, &err);
        if (st == GR_OK && (st = gr_results_open(replay.results, &seen, &err)) == GR_OK) {
            st = gr_replay_take(report, &seen, (unsigned)k + 1, replay.options.seed, &err);
            gr_results_close(&seen);
        }
        drop_results(&replay);
        gr_tree_free(&replay.ending.left);
        gr_str_free(&numbered);
        report->replays += st == GR_OK;
        stopped = st != GR_OK || replay.ending.signal == SIGINT || replay.ending.signal == SIGTERM;
        if (st != GR_OK)
            gr_report_remark(report, "replay %llu failed: %s", (unsigned long long)k + 1, err.msg);
        else if (replay.ending.timed_out)
            gr_report_remark(report, "a replay was killed after %llu seconds",
                             (unsigned long long)replay.options.timeout);
        gr_str_free(&targets);
        left = gr_replay_targets(report, view, &targets);
    }
    gr_str_free(&targets);
    if (!races)
        return;
    gr_report_remark(
        report,
        "--attribute: the program was run %llu more time%s: %zu of %zu races that had one side have both",
        (unsigned long long)report->replays, report->replays == 1 ? "" : "s", races - left, races);
    if (r->input.what)
        gr_report_remark(report, "standard input is %s and cannot be repeated: replays read none",
                         r->input.what);
}

// ---- the report ------------------------------------------------------------------------------------------

static const char *reproduce(const Run *r, const char *sample, StrBuf *out) {
    GrOptions o = r->options;
    o.sample = sample;
    gr_str_add(out, r->plants ? "gpurace selftest" : "gpurace run");
    gr_options_reproduce(&o, OPT_RUN, out);
    gr_str_add(out, " --");
    for (char **a = r->argv; *a; a++) {
        gr_str_addc(out, ' ');
        gr_shell_quote(*a, out);
    }
    return out->oom ? "" : out->data;
}

// The reason that the report gives, when there is no other.
static void say_why_unused(const Run *r, GrReport *report) {
    char why[400];
    for (size_t i = 0; i < report->reasons.len; i++)
        if (!strcmp(report->reasons.data[i].text, GR_REASON_UNUSED)) {
            gr_program_unreached(r->path, why, sizeof why);
            gr_report_reason(report, "%s", why);
            return;
        }
}

static void add_ending(const Run *r, GrReport *report) {
    if (r->ending.timed_out)
        gr_report_reason(report, "the program was killed after %llu seconds (--timeout)%s",
                         (unsigned long long)r->options.timeout,
                         r->options.shuffle_blocks
                             ? "; if it ends without --shuffle-blocks it has a block-order dependence"
                             : "");
    else if (r->ending.signal)
        gr_report_reason(report, "the program was killed by signal %d (%s)", r->ending.signal,
                         strsignal(r->ending.signal));
}

static int own_status(const GrEnding *e) {
    return e->timed_out ? EXIT_TIMEOUT : e->signal ? 128 + e->signal : e->status;
}

static const char *excludes_kernel(const void *selection, const char *kernel) {
    return gr_selection_excludes_kernel(selection, kernel);
}

static const char *excludes_file(const void *selection, const char *file) {
    return gr_selection_excludes_file(selection, file);
}

// Decides by the options of the engine that has them, as the engine does (engines/collider/options.c).
static bool poisons(const GrOptions *o) {
    char number[32];
    const GrOptTable *table;
    const GrOptRow *row;
    for (size_t k = 0; (row = gr_options_row(k, &table)); k++) {
        if (!table->engine || strcmp(row->name, "poison") || !gr_options_uses(o, table->engine))
            continue;
        const char *word = gr_options_text(o, row->name, number);
        return !strcmp(gr_options_text(o, "poison-writes", number), "yes") || !strcmp(word, "yes") ||
               (!strcmp(word, "auto") && !strcmp(o->device, "gpu"));
    }
    return false;
}

static void remark_unheeded(void *report, const char *option, const char *why) {
    gr_report_remark(report, "%s had no effect: %s", option, why);
}

// What the command knows of the run.
static void describe_run(Run *r, char folder[PATH_MAX], GrReport *out) {
    GrReport report;
    const GrEngine *engine = gr_engine_find(r->options.engine);
    gr_report_init(&report);
    report.find_class = gr_engine_class;
    report.find_decoder = gr_engine_decoder;
    report.engine = r->options.engine;
    report.evidence = engine ? engine->evidence : "see the engine";
    // What one of two found is explained by the other, which follows what orders accesses.
    const GrEngine *first = engine ? gr_engine_part(engine, 0) : NULL,
                   *second = engine ? gr_engine_part(engine, 1) : NULL;
    if (first && (first->caps | second->caps) & CAP_CAUSALITY) {
        const GrEngine *causal = second->caps & CAP_CAUSALITY ? second : first;
        first = causal == first ? second : first;
        report.first = (struct GrSecondOpinion){first->name, first->evidence};
        report.causal = (struct GrSecondOpinion){causal->name, causal->evidence};
    }
    if (!gr_options_misses(&r->options, GR_WATCHPOINTS_NEED))
        report.evidence = GR_EVIDENCE_VALUE " or " GR_EVIDENCE_WATCHPOINT;
    report.device = r->options.device;
    report.seed = r->options.seed;
    report.max_reports = r->options.max_reports;
    report.paths = r->options.path_map;
    report.poisoned = poisons(&r->options);
    report.folder = getcwd(folder, PATH_MAX);
    report.suppressions = r->suppresses ? &r->suppressions : NULL;
    report.bundled = r->options.bundled_suppressions ? &r->bundled : NULL;
    if (gr_selection_has_kernels(&r->selection))
        report.excludes_kernel = excludes_kernel;
    if (gr_selection_has_files(&r->selection))
        report.excludes_file = excludes_file;
    report.excludes_user = &r->selection;
    report.sample = r->options.sample;
    report.selftest.wanted = r->plants;
    if (!gr_options_misses(&r->options, GR_AIM_NEEDS))
        report.aim = r->options.aim;
    if (r->coverage[0]) {
        report.so_far.path = r->options.coverage;
        report.so_far.name = r->coverage;
    }
    add_ending(r, &report);
    *out = report;
}

static int status_of(const Run *r, const GrReport *report, bool lost) {
    if (report->selftest.missed)
        return EXIT_MISSED;
    if (gr_report_fails(report))
        return (int)r->options.error_exitcode;
    if (lost)
        return EXIT_OURS;
    return gr_strictly_fails_report(r->options.strict, report) ? EXIT_INCONCLUSIVE : own_status(&r->ending);
}

// Where standard error has no such line yet.
static void say_selftest(const GrReport *report) {
    if (report->selftest.text)
        fprintf(stderr, "gpurace: %s\n", report->selftest.text);
}

// `going`: the program still runs.
static bool report_all(Run *r, bool going, int *status) {
    GrResultsView view;
    GrReport report;
    StrBuf again = {0}, sample = {0};
    char folder[PATH_MAX];
    bool done = false, lost = false;
    gr_error why = {0}, *err = &why;
    describe_run(r, folder, &report);
    gr_status st = GR_OK;
    GR_TRY(gr_results_open(r->results, &view, err));
    report.going = going;
    if (going) // it is added when the program has ended
        report.so_far.path = NULL;
    else
        gr_hidden_tell(&view, &r->ending, r->options.wait, &report);
    st = gr_report_build(&report, &view, err);
    if (st == GR_OK && !going) {
        say_why_unused(r, &report);
        gr_say_kernel_meant("--kernel", r->options.kernel, &report, gr_report_reason);
        gr_say_kernel_meant("--not-kernel", r->options.not_kernel, &report, gr_report_remark);
    }
    if (st == GR_OK && r->options.attribute && !going)
        attribute(r, &report, &view);
    gr_options_unheeded(&r->options, remark_unheeded, &report);
    gr_results_close(&view);
    GR_TRY(st);
    bool listed = report.sample[0] && report.so_far.path && gr_sampling_again(&report, &sample);
    report.reproduce = reproduce(r, listed ? sample.data : r->options.sample, &again);
    GR_TRY(gr_baseline_apply(&r->baseline, &report, err));
    GR_TRY(gr_write_report(&report, &r->options, stderr, &lost, err));
    if (r->plants && (r->options.output[0] || r->options.quiet))
        say_selftest(&report);
    *status = status_of(r, &report, lost);
    done = true;
done:
    if (st != GR_OK)
        gr_complain(EXIT_OURS, err);
    gr_str_free(&again);
    gr_str_free(&sample);
    gr_report_free(&report);
    return done;
}

static bool report_in_full(void *user, int *status) { return report_all(user, false, status); }

static bool report_going(void *user, int *status) { return report_all(user, true, status); }

static void report_so_far(void *run) {
    if (!gr_cli_attempt(report_going, run).done)
        fputs("gpurace: the report so far could not be written\n", stderr);
}

// When the full report failed: the races again, in as few words as will do.
static bool report_in_brief(void *user, int *status) {
    Run *r = user;
    GrResultsView view;
    GrReport report;
    char folder[PATH_MAX];
    gr_error err = {0};
    describe_run(r, folder, &report);
    report.so_far.path = NULL; // perhaps the run has been added already
    gr_status st = gr_results_open(r->results, &view, &err);
    if (st == GR_OK) {
        gr_hidden_tell(&view, &r->ending, r->options.wait, &report);
        st = gr_report_build(&report, &view, &err);
    }
    if (st != GR_OK) {
        gr_complain(EXIT_OURS, &err);
        return false;
    }
    gr_report_brief(&report, r->failed.how, stderr);
    *status = report.verdict == GR_VERDICT_RACES ? (int)r->options.error_exitcode : EXIT_OURS;
    return true; // what it holds goes with the process
}

// What was launched, whatever becomes of the report. False: it could not be written.
static bool write_launches(const Run *r) {
    gr_error err = {0};
    const char *path = r->options.record_launches;
    gr_status st = *path ? gr_launches_file_write(r->results, path, &err) : GR_OK;
    if (st != GR_OK)
        fprintf(stderr, "gpurace: --record-launches: %s\n", err.msg);
    return st == GR_OK;
}

static int report_run(Run *r) {
    r->failed = gr_cli_attempt(report_in_full, r);
    if (r->failed.done)
        return r->failed.status;
    GrAttempt brief = gr_cli_attempt(report_in_brief, r);
    if (brief.done)
        return brief.status;
    fprintf(stderr,
            "gpurace: verdict: inconclusive\n  because   no report could be written: the full one was %s, a "
            "short one %s\n",
            r->failed.how, brief.how);
    return EXIT_OURS;
}

// ---- the command -----------------------------------------------------------------------------------------

static int parse(Run *r, int argc, char **argv, bool *stop, gr_error *err) {
    GrOptions *o = &r->options;
    const char *env = getenv("GPURACE_OPTIONS");
    int rest;
    *stop = true;
    if (gr_options_init(o, err) != GR_OK)
        return gr_complain(EXIT_OURS, err);
    if (gr_config_read(o, OPT_RUN, argc, argv, err) != GR_OK)
        return gr_complain(EXIT_USAGE, err);
    if (env && gr_options_parse_text(o, env, err) != GR_OK) {
        fputs("gpurace: GPURACE_OPTIONS: ", stderr);
        fprintf(stderr, "%s\n", err->msg);
        return EXIT_USAGE;
    }
    bool help;
    char hint[GR_NEAR_ROOM];
    GrLaunchRanges launches; // the injection reads it again
    if (gr_options_parse_args(o, OPT_RUN, argc, argv, &rest, &help, err) != GR_OK)
        return gr_complain(EXIT_USAGE, err);
    if (help)
        return gr_print_help("run", stdout);
    if (rest >= argc) {
        fputs("gpurace: no program was given: gpurace run [options] -- PROGRAM [ARGUMENTS]\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(o->engine, "auto") && !gr_engine_find(o->engine) && !getenv("GPURACE_INJECTION")) {
        const char *why = gr_engine_why_not(o->engine);
        if (why)
            fprintf(stderr, "gpurace: --engine %s is not possible: %s\n", o->engine, why);
        else
            fprintf(stderr, "gpurace: there is no engine '%s'%s; `gpurace run --help` lists them\n",
                    o->engine, gr_engine_meant(o->engine, hint));
        return EXIT_USAGE;
    }
    const GrEngine *chosen = gr_engine_find(o->engine);
    if (chosen && chosen->caps & CAP_STATIC) {
        fprintf(stderr,
                "gpurace: the engine %s runs no program: it checks files, `gpurace check --engine %s FILE`\n",
                o->engine, o->engine);
        return EXIT_USAGE;
    }
    if (o->suppressions[0]) { // before the program runs: a mistake there should not cost a run
        if (gr_suppressions_read(o->suppressions, &r->suppressions, err) != GR_OK)
            return gr_complain(EXIT_USAGE, err);
        r->suppresses = true;
    }
    if (gr_suppressions_bundled(&r->bundled, err) != GR_OK)
        return gr_complain(EXIT_OURS, err);
    r->coverage = o->coverage;
    if (gr_baseline_open(&r->baseline, o->baseline, err) != GR_OK || gr_sampling_check(o, err) != GR_OK ||
        gr_selection_init(&r->selection, o, err) != GR_OK ||
        gr_launch_ranges_read(o->only_launches, &launches, err) != GR_OK ||
        gr_write_report_check(o, err) != GR_OK ||
        (o->record_launches[0] && gr_launches_file_try(o->record_launches, err) != GR_OK))
        return gr_complain(EXIT_USAGE, err);
    gr_vec_free(&launches.of);
    r->argv = argv + rest;
    *stop = false;
    return 0;
}

// What would take the planted race for one of the program's.
static gr_status check_selftest(const GrOptions *o, gr_error *err) {
    const char *wrong = o->stop ? "stop" : o->coverage[0] ? "coverage" : o->aim[0] ? "aim" : NULL;
    return wrong ? gr_fail(err, GR_ERR_ARGUMENT,
                           "selftest: not with --%s, which would act on the planted race", wrong)
                 : GR_OK;
}

int gr_cmd_run(int argc, char **argv) { return gr_run_command(argc, argv, false); }

int gr_run_command(int argc, char **argv, bool selftest) {
    Run r = {.results_fd = -1, .plants = selftest};
    gr_error err = {0};
    bool stop;
    int status = parse(&r, argc, argv, &stop, &err);
    gr_status st = GR_OK;
    if (stop)
        goto done;
    st = gr_program_find(r.argv[0], r.path, &err);
    if (st != GR_OK) {
        status = gr_say_source(r.argv[0]) ? EXIT_NOT_RUN
                 : st == GR_ERR_NOT_FOUND ? gr_complain(EXIT_NOT_FOUND, &err)
                                          : gr_complain(EXIT_NOT_RUN, &err);
        goto done;
    }
    if (selftest && check_selftest(&r.options, &err) != GR_OK) {
        status = gr_complain(EXIT_USAGE, &err);
        goto done;
    }
    status = EXIT_OURS;
    gr_warden_begin();
    if (gr_find_parts(&r.parts, &err) != GR_OK || choose_device(&r, &err) != GR_OK ||
        gr_sampling_aim(&r.options, &err) != GR_OK) {
        status = gr_complain(err.code == GR_ERR_ARGUMENT ? EXIT_USAGE : status, &err);
    } else if (gr_program_check(r.path, r.on_gpu, &r.runtimes, &err) != GR_OK) {
        status = gr_complain(EXIT_NOT_RUN, &err);
    } else if (gr_compilers_set_up(r.on_gpu, &err) != GR_OK || make_results(&r, &err) != GR_OK) {
        gr_complain(status, &err);
    } else if (gr_input_remember(&r.input), run_program(&r, &err) != GR_OK) {
        status = gr_complain(EXIT_NOT_RUN, &err);
    } else {
        bool recorded = write_launches(&r);
        status = report_run(&r);
        if (!recorded && status != (int)r.options.error_exitcode)
            status = EXIT_OURS;
    }
done:
    gr_compilers_clean_up();
    drop_results(&r);
    gr_tree_free(&r.ending.left);
    gr_baseline_close(&r.baseline);
    gr_suppressions_free(&r.suppressions);
    gr_suppressions_free(&r.bundled);
    gr_selection_free(&r.selection);
    gr_options_free(&r.options);
    return status;
}
