// SPDX-License-Identifier: Apache-2.0
// child — forks, limits, reads, kills, waits.
#include "engines/verifier/solve/child.h"

#include "base/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double gr_seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool gr_child_write(int out, const void *data, size_t len) {
    const char *at = data;
    while (len) {
        ssize_t n = write(out, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

// Bytes of address space in use.
static size_t mapped(void) {
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f)
        return 0;
    if (fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit(pid_t parent, size_t bytes) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) // the parent died before prctl
        _exit(1);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    // What the caller does at signals is none of the child's business: it just dies.
    static const int deadly[] = {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE, SIGALRM};
    for (size_t k = 0; k < sizeof deadly / sizeof *deadly; k++)
        signal(deadly[k], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (SANITIZED) // addresses cannot be limited, and what is printed must be seen
        return;
    size_t most = mapped() + bytes;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    // A solver out of memory says so on its way out, and is UNKNOWN to the user, not a message.
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, STDERR_FILENO);
}

static bool append(GrChildResult *r, size_t *cap, const char *data, size_t len) {
    if (r->len + len > *cap) {
        size_t more = (r->len + len) * 2;
        char *bigger = realloc(r->data, more);
        if (!bigger)
            return false;
        r->data = bigger;
        *cap = more;
    }
    memcpy(r->data + r->len, data, len);
    r->len += len;
    return true;
}

// Reads to the end or the deadline. False: memory is out.
static bool collect(int from, double deadline, GrChildResult *r) {
    char piece[4096];
    size_t cap = 0;
    for (;;) {
        double left = deadline - gr_seconds_now();
        if (left <= 0) {
            r->end = GR_CHILD_TIME;
            return true;
        }
        struct pollfd p = {.fd = from, .events = POLLIN};
        int ready = poll(&p, 1, left > 1000 ? 1000000 : (int)(left * 1000) + 1);
        if (ready <= 0)
            continue;
        ssize_t n = read(from, piece, sizeof piece);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return true;
        if (!append(r, &cap, piece, (size_t)n))
            return false;
    }
}

// Waits for a child that has said all; kills it when the time is over.
static pid_t wait_until(pid_t child, double deadline, int *status, GrChildEnd *end) {
    pid_t waited;
    while ((waited = waitpid(child, status, WNOHANG)) == 0 || (waited < 0 && errno == EINTR)) {
        if (gr_seconds_now() > deadline)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); // it is on its way out
    }
    if (waited)
        return waited;
    *end = GR_CHILD_TIME;
    kill(child, SIGKILL);
    while ((waited = waitpid(child, status, 0)) < 0 && errno == EINTR)
        ;
    return waited;
}

gr_status gr_child_run(void (*work)(void *user, int out), void *user, double seconds, size_t bytes,
                       GrChildResult *result, gr_error *err) {
    *result = (GrChildResult){0};
    int pipes[2];
    double deadline = gr_seconds_now() + seconds;
    if (pipe2(pipes, O_CLOEXEC))
        return gr_fail(err, GR_ERR_IO, "the solver has no pipe: %s", strerror(errno));
    pid_t parent = getpid(), child = fork();
    if (child < 0) {
        int why = errno;
        close(pipes[0]);
        close(pipes[1]);
        return gr_fail(err, GR_ERR_IO, "the solver cannot be started: %s", strerror(why));
    }
    if (!child) {
        close(pipes[0]);
        limit(parent, bytes);
        work(user, pipes[1]);
        _exit(0);
    }
    close(pipes[1]);
    bool ok = collect(pipes[0], deadline, result);
    close(pipes[0]);
    if (!ok)
        deadline = 0;
    int status = 0;
    pid_t waited = wait_until(child, deadline, &status, &result->end);
    if (result->end == GR_CHILD_DONE && waited == child && (!WIFEXITED(status) || WEXITSTATUS(status)))
        result->end = GR_CHILD_DIED;
    if (ok)
        return GR_OK;
    free(result->data);
    *result = (GrChildResult){0};
    return gr_fail(err, GR_ERR_NOMEM, "memory is out");
}
