// SPDX-License-Identifier: Apache-2.0
#include "campaign/slurm.h"

#include "base/own.h"
#include "campaign/words.h"
#include "options/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

// What a command prints; what it says on standard error goes to the user.
static gr_status ask(const StrBuf *command, const char *name, StrBuf *out, gr_error *err) {
    char part[4096];
    GR_NEED(!command->oom, err);
    fflush(NULL);
    FILE *f = popen(command->data, "re"); // NOLINT(cert-env33-c): its words are quoted for the shell
    if (!f)
        return gr_fail(err, GR_ERR_IO, "cannot start %s: %s", name, strerror(errno));
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        gr_str_addn(out, part, n);
    int status = pclose(f);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return gr_fail(err, GR_ERR_NOT_FOUND,
                       "--slurm: there is no %s on PATH; is this a machine of a Slurm cluster?", name);
    if (status)
        return gr_fail(err, GR_ERR_IO, "--slurm: %s failed (status %d)", name,
                       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return out->oom ? gr_no_memory(err) : GR_OK;
}

static void add_name(const GrSlurm *s, StrBuf *out) {
    char real[PATH_MAX];
    const char *path = realpath(s->folder, real) ? real : s->folder;
    gr_str_addf(out, "gpurace-%016llx", (unsigned long long)gr_hash_bytes(path, strlen(path)));
}

gr_status gr_slurm_queued(const GrSlurm *s, uint64_t *tasks, gr_error *err) {
    StrBuf command = {0}, said = {0};
    *tasks = 0;
    gr_str_add(&command, "squeue --noheader --array --format=%i --name=");
    add_name(s, &command);
    gr_status st = ask(&command, "squeue", &said, err);
    for (size_t k = 0; st == GR_OK && k < said.len; k++)
        *tasks += said.data[k] == '\n';
    gr_str_free(&command);
    gr_str_free(&said);
    return st;
}

// ---- Submitting ----------------------------------------------------------------------------------------------------

// The words come from the user, so the last of each option wins: those that a task needs stand behind them.
static void add_script(const GrSlurm *s, const char *folder, StrBuf *out) {
    char cwd[PATH_MAX];
    gr_str_add(out, "#!/bin/sh\n# A task of a campaign of gpurace: a share of its runs.\ncd ");
    gr_shell_quote(getcwd(cwd, sizeof cwd) ? cwd : ".", out);
    gr_str_add(out, " || exit 1\nexec ");
    gr_shell_quote(s->self, out);
    gr_str_add(out, " campaign");
    for (size_t k = 0; k < s->n_words; k++) {
        gr_str_addc(out, ' ');
        gr_shell_quote(s->words[k], out);
    }
    gr_str_add(out, " --state ");
    gr_shell_quote(folder, out);
    // A share that finds races does not fail its task.
    gr_str_addf(out, " --error-exitcode 0 --strict=no --share \"$SLURM_ARRAY_TASK_ID/%llu\" --",
                (unsigned long long)s->tasks);
    for (char *const *word = s->program; *word; word++) {
        gr_str_addc(out, ' ');
        gr_shell_quote(*word, out);
    }
    gr_str_addc(out, '\n');
}

// "1,2,5": the shares with open runs.
static gr_status add_shares(const GrSlurm *s, const GrKnown *k, uint64_t *tasks, StrBuf *out, gr_error *err) {
    bool *open = calloc(s->tasks + 1, sizeof *open);
    *tasks = 0;
    GR_NEED(open, err);
    for (uint64_t n = 1; n <= k->plan->n; n++)
        if (k->runs[n].state == GR_RUN_OPEN)
            open[n % s->tasks ? n % s->tasks : s->tasks] = true;
    for (uint64_t share = 1; share <= s->tasks; share++)
        if (open[share])
            gr_str_addf(out, "%s%llu", (*tasks)++ ? "," : "", (unsigned long long)share);
    free(open);
    return GR_OK;
}

static gr_status add_sbatch_words(const GrSlurm *s, StrBuf *out, gr_error *err) {
    Arena arena;
    char **words;
    size_t n, at;
    gr_arena_init(&arena);
    const char *wrong = gr_words_split(s->sbatch, strlen(s->sbatch), &arena, &words, &n, &at);
    for (size_t k = 0; !wrong && k < n; k++) {
        gr_str_addc(out, ' ');
        gr_shell_quote(words[k], out);
    }
    gr_arena_free(&arena);
    return !wrong ? GR_OK
                  : gr_fail(err, *wrong ? GR_ERR_ARGUMENT : GR_ERR_NOMEM, "--sbatch: %s",
                            *wrong ? wrong : "out of memory");
}

gr_status gr_slurm_submit(const GrSlurm *s, const GrKnown *k, uint64_t *tasks, char job[64], gr_error *err) {
    StrBuf script = {0}, path = {0}, command = {0}, said = {0};
    char real[PATH_MAX];
    const char *folder = realpath(s->folder, real) ? real : s->folder;
    gr_status st;
    gr_str_addf(&path, "%s/slurm", folder);
    if (!path.oom && mkdir(path.data, 0777) && errno != EEXIST)
        GR_TRY(gr_fail(err, GR_ERR_IO, "cannot make %s: %s", path.data, strerror(errno)));
    gr_str_add(&command, "sbatch --parsable --job-name=");
    add_name(s, &command);
    gr_str_add(&command, " --output=");
    if (!path.oom)
        gr_shell_quote(path.data, &command);
    gr_str_add(&command, "/%A_%a.log --array=");
    GR_TRY(add_shares(s, k, tasks, &command, err));
    GR_TRY(add_sbatch_words(s, &command, err));
    gr_str_add(&path, "/task.sh");
    add_script(s, folder, &script);
    GR_TRY(!path.oom && !script.oom ? GR_OK : gr_no_memory(err));
    GR_TRY(gr_own_write(path.data, GR_OWN_SCRIPT, script.data, script.len, err));
    gr_str_addc(&command, ' ');
    gr_shell_quote(path.data, &command);
    GR_TRY(ask(&command, "sbatch", &said, err));
    snprintf(job, 64, "%.*s", (int)strcspn(said.data ? said.data : "", ";\n"), said.data ? said.data : "");
done:
    gr_str_free(&script);
    gr_str_free(&path);
    gr_str_free(&command);
    gr_str_free(&said);
    return st;
}
