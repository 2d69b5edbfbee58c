// SPDX-License-Identifier: Apache-2.0
#include "cli/run/trial.h"

#include "base/own.h"
#include "cli/run/child.h"
#include "cli/run/copy.h"
#include "options/exits.h"
#include "report/read/read_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The copy ----------------------------------------------------------------------------------------------

static gr_status find(const char *path, char out[PATH_MAX], gr_error *err) {
    return realpath(path, out) ? GR_OK : gr_fail(err, GR_ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
}

// The program, in the copy when it is in the folder.
static gr_status find_program(GrTrial *t, const char *folder, gr_error *err) {
    const char *name = t->argv[0], *in = name[0] == '/' ? gr_below(name, folder) : NULL;
    int n =
        in ? snprintf(t->program, PATH_MAX, "%s%s", t->copy, in) : snprintf(t->program, PATH_MAX, "%s", name);
    return n > 0 && n < PATH_MAX ? GR_OK : gr_fail(err, GR_ERR_LIMIT, "the path of %s is too long", name);
}

static gr_status make_command(GrTrial *t, gr_error *err) {
    size_t n = 0;
    while (t->argv[n])
        n++;
    t->run = gr_arena_array(&t->arena, n + 16, sizeof *t->run);
    GR_NEED(t->run, err);
    char *const own[] = {t->self,
                         "run",
                         "--engine=exact",
                         "--device=cpu",
                         "--no-config", // the copy has the project's, which is about the user's runs
                         "--format=json",
                         "--max-reports=0",
                         "--error-exitcode=66",
                         "--strict=no", // else a status is the program's own
                         gr_arena_printf(&t->arena, "--schedule=%s", t->schedule),
                         gr_arena_printf(&t->arena, "--timeout=%llu", (unsigned long long)t->timeout_s),
                         gr_arena_printf(&t->arena, "--output=%s/report.json", t->top)};
    memcpy(t->run, own, sizeof own);
    t->n_run = sizeof own / sizeof *own; // the seed comes last
    if (*t->with)
        t->run[t->n_run++] = (char *)(uintptr_t)t->with;
    t->run[t->n_run + 1] = "--";
    t->run[t->n_run + 2] = t->program;
    memcpy(t->run + t->n_run + 3, t->argv + 1, n * sizeof *t->run);
    for (size_t k = 0; k < t->n_run; k++)
        GR_NEED(t->run[k], err);
    return GR_OK;
}

gr_status gr_trial_open(GrTrial *t, gr_error *err) {
    char cwd[PATH_MAX], *folder = t->folder_path;
    const char *in;
    t->top[0] = 0;
    gr_arena_init(&t->arena);
    GR_MUST(find(t->folder, folder, err));
    GR_MUST(find(".", cwd, err));
    GR_MUST(find("/proc/self/exe", t->self, err));
    in = gr_below(cwd, folder);
    if (!in)
        return gr_fail(
            err, GR_ERR_ARGUMENT,
            "--folder: the working folder %s is not in %s, so the build command would not be in the copy",
            cwd, folder);
    GR_MUST(gr_own_folder(t->top, "repair", err));
    if (snprintf(t->copy, PATH_MAX, "%s/copy", t->top) >= PATH_MAX ||
        snprintf(t->cwd, PATH_MAX, "%s/copy%s", t->top, in) >= PATH_MAX)
        return gr_fail(err, GR_ERR_LIMIT, "the path of %s is too long", cwd);
    GR_MUST(gr_copy_folder(folder, t->top, t->copy, err));
    GR_MUST(find_program(t, folder, err));
    return make_command(t, err);
}

void gr_trial_close(GrTrial *t) {
    gr_error err;
    if (t->top[0] && gr_own_remove_folder(t->top, &err) != GR_OK)
        fprintf(stderr, "gpurace: %s\n", err.msg);
    gr_arena_free(&t->arena);
}

// ---- Build and runs ----------------------------------------------------------------------------------------

// The last line of the log that says something, for a sentence.
static void last_words(const GrTrial *t, char out[200]) {
    char path[PATH_MAX + 16], *text = NULL;
    size_t len = 0;
    snprintf(path, sizeof path, "%s/log", t->top);
    out[0] = 0;
    if (gr_file_read(path, &text, &len, NULL) != GR_OK)
        return;
    const char *error = strstr(text, "error"), *from = text;
    while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        text[--len] = 0;
    for (const char *p = text; *p; p++)
        if (*p == '\n' && (!error || p < error))
            from = p + 1;
    snprintf(out, 200, "%.*s", (int)strcspn(from, "\n"), from);
    free(text);
}

static gr_status child(GrTrial *t, char *const *argv, int *status, gr_error *err) {
    char log[PATH_MAX + 16];
    snprintf(log, sizeof log, "%s/log", t->top);
    return gr_cli_run(&(GrChild){argv, t->cwd, log}, status, err);
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

// The program as a file, if it is one of the copy.
static bool look(const GrTrial *t, struct stat *out) {
    char path[2 * PATH_MAX];
    bool absolute = t->program[0] == '/';
    snprintf(path, sizeof path, "%s%s%s", absolute ? "" : t->cwd, absolute ? "" : "/", t->program);
    return strchr(t->program, '/') && gr_below(path, t->copy) && !stat(path, out);
}

static gr_status build(GrTrial *t, GrTrialResult *out, gr_error *err) {
    int status = 0;
    char words[200];
    struct stat before, after;
    bool was = look(t, &before);
    gr_status st = child(t, (char *[]){"/bin/sh", "-c", (char *)(uintptr_t)t->build, NULL}, &status, err);
    if (st == GR_OK && status) {
        last_words(t, words);
        snprintf(out->why, sizeof out->why, "it does not compile: %s",
                 *words ? words : "the build command fails");
    }
    out->stale = was && look(t, &after) && same_file(&before, &after);
    return st;
}

static uint64_t sum(const GrCountedVec *v) {
    uint64_t n = 0;
    for (size_t k = 0; k < v->len; k++)
        n += v->data[k].count;
    return n;
}

static gr_status run(GrTrial *t, uint64_t seed, GrTrialResult *out, gr_error *err) {
    char number[32], path[PATH_MAX + 16], words[200];
    int status = 0;
    GrReport one;
    gr_status st;
    snprintf(number, sizeof number, "--seed=%llu", (unsigned long long)seed);
    snprintf(path, sizeof path, "%s/report.json", t->top);
    t->run[t->n_run] = number;
    (void)gr_own_remove(path, GR_OWN_SCRATCH);
    gr_report_init(&one);
    GR_TRY(child(t, t->run, &status, err));
    if (status && status != EXIT_RACES) {
        last_words(t, words);
        snprintf(out->why, sizeof out->why, "with seed %llu the program ends with status %d: %s",
                 (unsigned long long)seed, status, words);
    }
    if (access(path, R_OK)) // the run did not get so far
        goto done;
    GR_TRY(gr_report_read(path, &one, err));
    out->faults += one.faults.len;
    out->reasons += sum(&one.reasons);
    if (one.reasons.len && !out->why[0] && status != EXIT_RACES)
        snprintf(out->why, sizeof out->why, "with seed %llu: %s", (unsigned long long)seed,
                 one.reasons.data[0].text);
    GR_TRY(gr_report_add_file(&out->found, path, err));
done:
    gr_report_free(&one);
    return st;
}

static gr_status edit(const GrProposal *p, gr_error *err) {
    StrBuf text = {0};
    gr_repair_apply(p, &text);
    gr_status st =
        text.oom ? gr_no_memory(err) : gr_own_write(p->file, GR_OWN_SCRATCH, text.data, text.len, err);
    gr_str_free(&text);
    return st;
}

// Compares real paths: a link in the copy, which the build may have made, can lead elsewhere.
static bool is_in_copy(const GrTrial *t, const GrProposal *p) {
    char real[PATH_MAX];
    return gr_below(p->file, t->copy) && realpath(p->file, real) && gr_below(real, t->copy);
}

gr_status gr_trial_more(GrTrial *t, uint64_t seeds, GrTrialResult *out, gr_error *err) {
    while (out->seeds < seeds) {
        GR_MUST(run(t, ++out->seeds, out, err));
        out->why[0] = 0; // a racy program may fail
    }
    return GR_OK;
}

gr_status gr_trial_run(GrTrial *t, const GrProposal *p, size_t n, uint64_t seeds, GrTrialResult *out,
                       gr_error *err) {
    gr_status st = GR_OK;
    size_t edited = 0;
    memset(out, 0, sizeof *out);
    gr_report_init(&out->found);
    for (size_t k = 0; k < n; k++)
        if (!is_in_copy(t, &p[k])) {
            snprintf(
                out->why, sizeof out->why,
                "%s is not in the folder that was copied: see --folder; and the build command must name it "
                "relative to the folder",
                p[k].file);
            return GR_OK;
        }
    while (edited < n)
        GR_TRY(edit(&p[edited++], err));
    GR_TRY(build(t, out, err));
    while (out->seeds < seeds && !out->why[0]) {
        GR_TRY(run(t, ++out->seeds, out, err));
        if (!n) // a racy program may fail
            out->why[0] = 0;
    }
done:
    for (size_t k = 0; k < edited; k++) {
        gr_status back = gr_own_write(p[k].file, GR_OWN_SCRATCH, p[k].code->text, p[k].code->len,
                                      st == GR_OK ? err : NULL);
        st = st == GR_OK ? back : st;
    }
    return st;
}

void gr_trial_result_free(GrTrialResult *r) { gr_report_free(&r->found); }

// ---- Before and after --------------------------------------------------------------------------------------

static const GrRace *find_race(const GrRaceVec *races, const char *id) {
    for (size_t k = 0; k < races->len; k++)
        if (!strcmp(races->data[k].id, id))
            return &races->data[k];
    return NULL;
}

// A race that only `after` has.
static const GrRace *fresh(const GrRaceVec *before, const GrRaceVec *after) {
    for (size_t k = 0; k < after->len; k++)
        if (!find_race(before, after->data[k].id))
            return &after->data[k];
    return NULL;
}

static bool says_fresh(const GrTrialResult *before, const GrTrialResult *after, char why[400]) {
    const GrRace *race = fresh(&before->found.races, &after->found.races),
                 *hidden = fresh(&before->found.hidden, &after->found.hidden);
    const GrRace *misuse = fresh(&before->found.misuses, &after->found.misuses), *one = race     ? race
                                                                                        : hidden ? hidden
                                                                                                 : misuse;
    if (!one)
        return false;
    const GrAccess *a = &one->found.accesses[0];
    const GrFrame *f = gr_access_frame(a, a->headline);
    const char *slash = f->file ? strrchr(f->file, '/') : NULL;
    snprintf(why, 400, "it brings another %s at %s:%u",
             gr_report_class(&after->found, one->found.class)->name, slash ? slash + 1 : "the PTX",
             f->file ? f->line : a->ptx_line);
    return true;
}

bool gr_trial_removes(const GrTrialResult *before, const GrTrialResult *after, const GrRace *race,
                      char why[400]) {
    why[0] = 0;
    if (after->why[0])
        snprintf(why, 400, "%s", after->why);
    else if (find_race(&after->found.races, race->id) || find_race(&after->found.hidden, race->id) ||
             find_race(&after->found.misuses, race->id))
        snprintf(why, 400, "the race is still there");
    else if (after->faults > before->faults || after->reasons > before->reasons)
        snprintf(why, 400, "a run did not end as without the edit: %s",
                 after->found.faults.len    ? after->found.faults.data[0].text
                 : after->found.reasons.len ? after->found.reasons.data[0].text
                                            : "");
    else
        (void)says_fresh(before, after, why);
    if (why[0] && !after->why[0] && after->stale)
        snprintf(why, 400, "the build command did not make the program anew, and the race is still there");
    return !why[0];
}
