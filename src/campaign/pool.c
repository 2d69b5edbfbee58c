// SPDX-License-Identifier: Apache-2.0
#include "campaign/pool.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 100, GRACE_MS = 2000 };

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static const int awaited[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};

static void awaited_set(sigset_t *set) {
    sigemptyset(set);
    for (size_t k = 0; k < sizeof awaited / sizeof *awaited; k++)
        sigaddset(set, awaited[k]);
}

void gr_pool_open(GrPool *p, uint64_t memory) {
    sigset_t set;
    *p = (GrPool){.memory = memory};
    awaited_set(&set);
    sigprocmask(SIG_BLOCK, &set, &p->mask);
}

// ---- A child -------------------------------------------------------------------------------------------------------

static _Noreturn void become(const GrPool *p, const GrPoolJob *job, pid_t parent, int report) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int in = open("/dev/null", O_RDONLY),
        out = open(job->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = in >= 0 && out >= 0 && (!job->head || dprintf(out, GR_OWN_LOG_LINE "%s\n", job->head) > 0) &&
              dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0;
    for (const char *const *e = job->environment; ok && *e; e += 2)
        ok = setenv(e[0], e[1], 1) == 0;
    sigprocmask(SIG_SETMASK, &p->mask, NULL);
    if (getppid() != parent) // the parent died before prctl
        _exit(1);
    if (ok)
        execv(job->argv[0], job->argv);
    int why = errno;
    (void)!write(report, &why, sizeof why);
    _exit(127);
}

gr_status gr_pool_start(GrPool *p, const GrPoolJob *job, gr_error *err) {
    int ends[2], why = 0;
    GR_NEED(gr_vec_reserve(&p->children, p->children.len + 1), err);
    if (pipe2(ends, O_CLOEXEC))
        return gr_fail(err, GR_ERR_IO, "pipe: %s", strerror(errno));
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(p, job, parent, ends[1]);
    close(ends[1]);
    bool failed = pid < 0 || read(ends[0], &why, sizeof why) == sizeof why;
    close(ends[0]);
    if (failed)
        return gr_fail(err, GR_ERR_IO, "cannot start %s: %s", job->argv[0], strerror(pid < 0 ? errno : why));
    int64_t now = now_ms();
    GrPoolChild c = {.pid = pid, .number = job->number, .began = now};
    if (job->seconds)
        c.deadline = now + (int64_t)job->seconds * 1000;
    p->children.data[p->children.len++] = c;
    return GR_OK;
}

// ---- Waiting -------------------------------------------------------------------------------------------------------

static bool take_ended(GrPool *p, GrPoolEvent *out) {
    for (size_t k = 0; k < p->children.len; k++) {
        GrPoolChild c = p->children.data[k];
        int status;
        if (waitpid(c.pid, &status, WNOHANG) != c.pid)
            continue;
        *out = (GrPoolEvent){.what = GR_POOL_ENDED,
                             .number = c.number,
                             .status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
                             .seconds = (double)(now_ms() - c.began) / 1000,
                             .over_memory = c.over_memory,
                             .overdue = c.overdue};
        gr_session_kill(c.pid, false, SIGKILL); // what the program left running
        p->children.data[k] = p->children.data[--p->children.len];
        return true;
    }
    return false;
}

static void hold_to_limits(GrPool *p) {
    int64_t now = now_ms();
    for (size_t k = 0; k < p->children.len; k++) {
        GrPoolChild *c = &p->children.data[k];
        if (p->memory && gr_session_memory(c->pid) > p->memory) {
            c->over_memory = true;
            gr_session_kill(c->pid, false, SIGKILL);
        }
        if (c->deadline && now >= c->deadline) {
            c->overdue = true;
            gr_session_kill(c->pid, true, SIGKILL);
        }
    }
}

// How long to sleep at most: until somebody has to be looked at.
static int64_t until_look(const GrPool *p, int64_t patience_ms) {
    int64_t now = now_ms(),
            ms = p->memory && p->children.len && patience_ms > LOOK_MS ? LOOK_MS : patience_ms;
    for (size_t k = 0; k < p->children.len; k++) {
        int64_t left = p->children.data[k].deadline - now;
        if (p->children.data[k].deadline && left < ms)
            ms = left > 0 ? left : 0;
    }
    return ms;
}

GrPoolEvent gr_pool_wait(GrPool *p, int64_t patience_ms) {
    GrPoolEvent e = {.what = GR_POOL_NOTHING};
    sigset_t set;
    awaited_set(&set);
    for (int64_t end = now_ms() + patience_ms;;) {
        if (take_ended(p, &e))
            return e;
        int64_t left = end - now_ms();
        if (left <= 0)
            return e;
        int64_t ms = until_look(p, left);
        struct timespec t = {ms / 1000, ms % 1000 * 1000000};
        int sig = sigtimedwait(&set, NULL, &t);
        if (sig > 0 && sig != SIGCHLD)
            return (GrPoolEvent){.what = GR_POOL_SIGNAL, .signal = sig};
        hold_to_limits(p);
    }
}

void gr_pool_close(GrPool *p) {
    for (size_t k = 0; k < p->children.len; k++)
        kill(p->children.data[k].pid, SIGTERM);
    for (int64_t end = now_ms() + GRACE_MS; p->children.len && now_ms() < end;)
        (void)gr_pool_wait(p, LOOK_MS);
    for (size_t k = 0; k < p->children.len; k++)
        gr_session_kill(p->children.data[k].pid, true, SIGKILL);
    while (p->children.len)
        (void)gr_pool_wait(p, LOOK_MS);
    gr_vec_free(&p->children);
    sigprocmask(SIG_SETMASK, &p->mask, NULL);
}
