// SPDX-License-Identifier: Apache-2.0
// jobs — starts children while there is room, reads from all of them, and hands over what is next in order.
#include "engines/verifier/solve/jobs.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Piece {
    pid_t child; // 0: not started, or over
    int from;
    bool done, died;
    StrBuf data;
} Piece;

typedef struct Running {
    const GrJobs *j;
    Piece *pieces;
    struct pollfd *polled; // `most` of them, and which piece each is
    size_t *which;
    size_t started, taken, ended;
} Running;

static gr_status start(Running *r, gr_error *err) {
    Piece *p = &r->pieces[r->started];
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC))
        return gr_fail(err, GR_ERR_IO, "a child has no pipe: %s", strerror(errno));
    fflush(NULL); // or the child writes it, too
    pid_t parent = getpid(), child = fork();
    if (child < 0) {
        gr_status st = gr_fail(err, GR_ERR_IO, "a child cannot be started: %s", strerror(errno));
        close(pipes[0]);
        close(pipes[1]);
        return st;
    }
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) // the parent died before prctl
            _exit(1);
        for (size_t k = 0; k < r->started; k++)
            if (r->pieces[k].child)
                close(r->pieces[k].from);
        close(pipes[0]);
        r->j->work(r->j->user, r->started, pipes[1]);
        fflush(NULL);
        _exit(0);
    }
    close(pipes[1]);
    p->child = child;
    p->from = pipes[0];
    r->started++;
    return GR_OK;
}

static void end(Running *r, Piece *p) {
    int status = 0;
    pid_t waited;
    close(p->from);
    while ((waited = waitpid(p->child, &status, 0)) < 0 && errno == EINTR)
        ;
    p->died = waited != p->child || !WIFEXITED(status) || WEXITSTATUS(status);
    p->child = 0;
    p->done = true;
    r->ended++;
}

static void show_progress(const Running *r) {
    if (!r->j->progress)
        return;
    if (r->ended < r->j->n)
        fprintf(stderr, "\r\033[K%zu of %zu %s", r->ended, r->j->n, r->j->progress);
    else
        fputs("\r\033[K", stderr);
    fflush(stderr);
}

// Reads what there is; waits until there is some.
static gr_status read_some(Running *r, gr_error *err) {
    char data[65536];
    nfds_t n = 0;
    for (size_t k = r->taken; k < r->started; k++)
        if (r->pieces[k].child) {
            r->which[n] = k;
            r->polled[n++] = (struct pollfd){.fd = r->pieces[k].from, .events = POLLIN};
        }
    if (poll(r->polled, n, -1) < 0 && errno != EINTR)
        return gr_fail(err, GR_ERR_IO, "poll: %s", strerror(errno));
    for (nfds_t k = 0; k < n; k++) {
        Piece *p = &r->pieces[r->which[k]];
        if (!r->polled[k].revents)
            continue;
        ssize_t got = read(p->from, data, sizeof data);
        if (got > 0)
            gr_str_addn(&p->data, data, (size_t)got);
        else if (got == 0 || errno != EINTR) {
            end(r, p);
            show_progress(r);
        }
        if (p->data.oom)
            return gr_fail(err, GR_ERR_NOMEM, "memory is out");
    }
    return GR_OK;
}

static gr_status take_next(Running *r, gr_error *err) {
    gr_status st = GR_OK;
    while (st == GR_OK && r->taken < r->started && r->pieces[r->taken].done) {
        Piece *p = &r->pieces[r->taken];
        st = r->j->take(r->j->user, r->taken, p->data.data, p->data.len, p->died, err);
        gr_str_free(&p->data);
        r->taken++;
    }
    return st;
}

static void stop(Running *r) {
    for (size_t k = 0; r->pieces && k < r->started; k++) {
        Piece *p = &r->pieces[k];
        if (p->child) {
            kill(p->child, SIGKILL);
            end(r, p);
        }
        gr_str_free(&p->data);
    }
    free(r->pieces);
    free(r->polled);
    free(r->which);
}

gr_status gr_jobs_run(const GrJobs *j, gr_error *err) {
    size_t most = j->most < j->n ? j->most : j->n;
    Running r = {.j = j,
                 .pieces = calloc(j->n + 1, sizeof *r.pieces),
                 .polled = calloc(most + 1, sizeof *r.polled),
                 .which = calloc(most + 1, sizeof *r.which)};
    gr_status st = r.pieces && r.polled && r.which ? GR_OK : gr_fail(err, GR_ERR_NOMEM, "memory is out");
    while (st == GR_OK && r.taken < j->n) {
        if (r.started < j->n && r.started - r.ended < most)
            st = start(&r, err);
        else
            st = read_some(&r, err);
        if (st == GR_OK)
            st = take_next(&r, err);
    }
    stop(&r);
    return st;
}
