// SPDX-License-Identifier: Apache-2.0
#include "cli/run/launch.h"

#include "base/limits.h"
#include "base/process.h"
#include "cli/run/progress.h"
#include "cli/run/warden.h"
#include "findings/results.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---- our parts -------------------------------------------------------------------------------------------

// An absolute name stands for itself.
static bool join(char out[PATH_MAX], const char *folder, const char *name) {
    int n = snprintf(out, PATH_MAX, "%s%s%s", name[0] == '/' ? "" : folder, name[0] == '/' ? "" : "/", name);
    return n > 0 && n < PATH_MAX;
}

// LD_PRELOAD separates its entries with blanks and colons, and knows no quotes.
static bool fits_preload(const char *path) { return !path[strcspn(path, " :")]; }

static bool find_in(const char *lib, const char *cpu_device, GrParts *out) {
    return join(out->injection, lib, "libgpurace.so") && join(out->driver, cpu_device, "libcuda.so.1") &&
           access(out->injection, R_OK) == 0;
}

gr_status gr_find_parts(GrParts *out, gr_error *err) {
    char self[PATH_MAX], lib[PATH_MAX], device[PATH_MAX];
    GR_MUST(gr_process_self(self, err));
    *strrchr(self, '/') = 0;
    bool found = (join(lib, self, "lib") && join(device, self, "cpu-device") && find_in(lib, device, out)) ||
                 (join(lib, self, GPURACE_INSTALLED) && join(device, self, GPURACE_INSTALLED "/cpu-device") &&
                  find_in(lib, device, out));
    const char *other = getenv("GPURACE_INJECTION"); // another build of the library, with other engines
    if (other) {
        snprintf(out->injection, sizeof out->injection, "%s", other);
        found = found || access(other, R_OK) == 0;
    }
    if (!found)
        return gr_fail(err, GR_ERR_NOT_FOUND, "libgpurace.so is neither in %s/lib nor in %s", self, lib);
    if (!fits_preload(out->injection) || !fits_preload(out->driver))
        return gr_fail(
            err, GR_ERR_UNSUPPORTED,
            "%s: gpurace cannot work from a folder whose name has a blank or a colon in it (LD_PRELOAD)",
            out->injection);
    return GR_OK;
}

// ---- the program -----------------------------------------------------------------------------------------

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

static gr_status set_environment(const GrLaunchPlan *plan) {
    const char *before = getenv("LD_PRELOAD");
    StrBuf preload = {0};
    gr_str_add(&preload, plan->preload);
    if (before && *before)
        gr_str_addf(&preload, ":%s", before);
    bool ok = !preload.oom && setenv("LD_PRELOAD", preload.data, 1) == 0 &&
              setenv(GR_PRELOAD_ENV, plan->preload, 1) == 0;
    for (const char *const *e = plan->environment; ok && *e; e += 2)
        ok = setenv(e[0], e[1], 1) == 0;
    gr_str_free(&preload);
    return ok ? GR_OK : GR_ERR_NOMEM;
}

// A descriptor of the results that every program of the run inherits, for those that cannot open the path any more: it
// stands where programs seldom have theirs, and select() can have it. Without one the path has to do.
static void hand_results_on(const char *results) {
    enum { MOST = 1024, ROOM = 24 };
    struct rlimit most;
    char number[16];
    int fd = open(results, O_RDWR | O_CLOEXEC);
    rlim_t end = getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur < MOST ? most.rlim_cur : MOST;
    int high = fd >= 0 && end > 2 * ROOM ? fcntl(fd, F_DUPFD, (int)end - ROOM) : -1;
    if (fd >= 0)
        close(fd);
    snprintf(number, sizeof number, "%d", high);
    if (high >= 0)
        setenv(GR_RESULTS_FD_ENV, number, 1);
}

static bool redirect(const GrLaunchPlan *plan) {
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return none >= 0 && dup2(plan->input, STDIN_FILENO) >= 0 && dup2(none, STDOUT_FILENO) >= 0 &&
           dup2(none, STDERR_FILENO) >= 0;
}

static void become_program(const GrLaunchPlan *plan, bool own_group, const sigset_t *mask, int report) {
    if (own_group)
        setpgid(0, 0);
    gr_warden_program(own_group ? -getpid() : getpid());
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (plan->repeatable)
        personality(ADDR_NO_RANDOMIZE); // refused in some containers: then host addresses vary
    hand_results_on(plan->results);
    if (set_environment(plan) == GR_OK && (!plan->replay || redirect(plan)))
        execv(plan->path, plan->argv);
    int why = errno;
    if (write(report, &why, sizeof why) < 0)
        _exit(126);
    _exit(127);
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

typedef struct Wait {
    const GrTree *before; // children that are none of the program's
    pid_t target;         // for kill: the program, or minus its group
    bool own_group;
    int64_t deadline; // 0: none
    int killed;       // 0, SIGTERM, SIGKILL: what it got at the deadline
    GrProgress progress;
    const GrLaunchPlan *plan;
    GrResults results; // what the program asks there; header NULL: it cannot
} Wait;

static void on_deadline(Wait *w) {
    enum { GRACE_MS = 2000 };
    w->killed = w->killed ? SIGKILL : SIGTERM;
    kill(w->target, w->killed);
    w->deadline = w->killed == SIGKILL ? 0 : now_ms() + GRACE_MS;
}

static void toggle(const Wait *w) {
    uint32_t stopped = !__atomic_load_n(&w->results.header->stopped, __ATOMIC_SEQ_CST);
    __atomic_store_n(&w->results.header->stopped, stopped, __ATOMIC_SEQ_CST);
    fprintf(stderr, "gpurace: checking is %s\n", stopped ? "stopped" : "started");
}

// Writes the report that processes of the program have asked for. One report answers all requests so far.
static void answer(const Wait *w) {
    GrResultsHeader *h = w->results.header;
    uint32_t asked = __atomic_load_n(&h->asked, __ATOMIC_SEQ_CST);
    if (asked == __atomic_load_n(&h->answered, __ATOMIC_SEQ_CST))
        return;
    w->plan->report(w->plan->user);
    __atomic_store_n(&h->answered, asked, __ATOMIC_SEQ_CST);
}

static void on_signal(const Wait *w, const siginfo_t *info) {
    bool hears = w->results.header != NULL;
    if (hears && info->si_signo == w->plan->toggle)
        toggle(w);
    else if (hears && info->si_signo == w->plan->tell)
        __atomic_add_fetch(&w->results.header->asked, 1, __ATOMIC_SEQ_CST);
    if (hears && (info->si_signo == w->plan->toggle || info->si_signo == w->plan->tell))
        return;
    // The terminal tells all of our group about other signals, but its hang-up (SIGHUP) to the session's leader alone.
    bool hangs_up = info->si_signo == SIGHUP && getsid(0) == getpid();
    if (w->own_group || hangs_up || info->si_code == SI_USER || info->si_code == SI_QUEUE)
        kill(w->target, info->si_signo);
}

// Reaps ended processes (orphans become our children); returns how many. *ended: `pid` was among them, with *status.
static unsigned reap(pid_t pid, bool *ended, int *status) {
    int code;
    unsigned n = 0;
    for (pid_t got; (got = waitpid(-1, &code, WNOHANG)) > 0; n++)
        if (got == pid) {
            *status = code;
            *ended = true;
        }
    return n;
}

static int wait_for(pid_t pid, Wait *w, const sigset_t *set) {
    enum { ASKED_MS = 200 }; // how often we look whether a process has asked for something
    int status = 0;
    for (bool ended = false;;) {
        (void)reap(pid, &ended, &status);
        if (ended)
            return status;
        if (w->results.header)
            answer(w);
        siginfo_t info;
        int sig;
        int64_t now = now_ms(), left = gr_progress_tick(&w->progress, now);
        if (w->deadline && (left < 0 || w->deadline - now < left))
            left = w->deadline > now ? w->deadline - now : 0;
        if (w->results.header && (left < 0 || left > ASKED_MS))
            left = ASKED_MS;
        struct timespec t = {left / 1000, left % 1000 * 1000000};
        sig = left < 0 ? sigwaitinfo(set, &info) : sigtimedwait(set, &info, &t);
        if (sig < 0 && errno == EAGAIN) {
            if (w->deadline && now_ms() >= w->deadline)
                on_deadline(w);
        } else if (sig > 0 && sig != SIGCHLD)
            on_signal(w, &info);
    }
}

static void say_what_is_waited_for(const GrTree *left, uint64_t seconds) {
    enum { NAMED = 4 };
    fprintf(stderr, "gpurace: the program has ended, and left running:");
    for (size_t i = 0; i < left->len && i < NAMED; i++)
        fprintf(stderr, "%s %ld %s", i ? "," : "", (long)left->data[i].pid, left->data[i].program);
    if (left->len > NAMED)
        fprintf(stderr, ", and %zu more", left->len - NAMED);
    fprintf(stderr, "; waiting for up to %llu s (--wait)\n", (unsigned long long)seconds);
}

static bool asks_for_end(int sig) {
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

// Until nothing of the program runs any more, or for its time: a daemon may never end. What then runs is in *left.
static void wait_for_tree(const Wait *w, uint64_t seconds, bool silent, const sigset_t *set, GrTree *left) {
    enum { SILENT_MS = 1000, TICK_MS = 100 };
    int64_t began = now_ms(), end = began + (int64_t)seconds * 1000;
    bool said = silent, stop = false, ended;
    int status;
    for (;; gr_tree_free(left)) {
        gr_tree_read(w->before, left);
        // A process that ended while /proc was read may have left a child that was not read.
        unsigned gone = reap(-1, &ended, &status);
        int64_t now = now_ms();
        if (!left->len && gone)
            continue;
        if (!left->len || now >= end || stop || (w->deadline && now >= w->deadline))
            return;
        if (!said && now - began >= SILENT_MS) {
            say_what_is_waited_for(left, seconds);
            said = true;
        }
        siginfo_t info;
        struct timespec t = {0, TICK_MS * 1000000};
        int sig = sigtimedwait(set, &info, &t);
        if (sig > 0 && sig != SIGCHLD) {
            on_signal(w, &info);
            stop = asks_for_end(sig);
        }
    }
}

enum { KILLED_S = 1 }; // until processes are gone that --timeout has killed

gr_status gr_launch(const GrLaunchPlan *plan, GrEnding *out, gr_error *err) {
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&set, forwarded[i]);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return gr_fail(err, GR_ERR_IO, "cannot start the program: pipe: %s%s", strerror(errno),
                       gr_limit_advice(errno));
    GrTree children;
    gr_tree_read(NULL, &children); // of a shell, for example, that became this process by exec
    (void)gr_vec_push(&children, ((GrTreeProcess){.pid = gr_warden_process()})); // if /proc could not be read
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigprocmask(SIG_BLOCK, &set, &before);
    // At a terminal the program must stay in the foreground group to be allowed to read; elsewhere a group of its own
    // lets --timeout reach what it starts.
    bool own_group = plan->replay || !isatty(STDIN_FILENO);
    pid_t pid = fork();
    if (pid == 0)
        become_program(plan, own_group, &before, ends[1]);
    close(ends[1]);
    gr_status st = GR_OK;
    if (pid < 0) {
        st = gr_fail(err, GR_ERR_IO, "cannot start the program: fork: %s%s", strerror(errno),
                     gr_limit_advice(errno));
    } else {
        if (own_group)
            setpgid(pid, pid);
        Wait w = {
            .before = &children, .target = own_group ? -pid : pid, .own_group = own_group, .plan = plan};
        if (plan->report)
            (void)gr_results_look(plan->results, &w.results, NULL); // without it nobody is heard
        if (plan->timeout_s)
            w.deadline = now_ms() + (int64_t)plan->timeout_s * 1000;
        if (plan->progress)
            gr_progress_begin(&w.progress, plan->progress, now_ms());
        int why, status = wait_for(pid, &w, &set);
        gr_warden_program(0);
        gr_progress_end(&w.progress);
        gr_results_detach(&w.results);
        *out = (GrEnding){.timed_out = w.killed != 0};
        if (WIFSIGNALED(status))
            out->signal = WTERMSIG(status);
        else
            out->status = WEXITSTATUS(status);
        if (read(ends[0], &why, sizeof why) == sizeof why)
            st = gr_fail(err, GR_ERR_IO, "%s: %s", plan->path, strerror(why));
        wait_for_tree(&w, w.killed ? KILLED_S : plan->wait_s, w.killed || plan->replay, &set, &out->left);
    }
    gr_tree_free(&children);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(ends[0]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return st;
}
