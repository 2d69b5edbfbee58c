// SPDX-License-Identifier: Apache-2.0
// The processes of a session.
#include "base/process.h"
#include "campaign/pool.h"

#include <signal.h>
#include <unistd.h>

typedef struct Session {
    pid_t id;
    uint64_t pages;
    bool leader;
    int signal;
} Session;

static void add_pages(void *user, const GrProcess *p) {
    Session *s = user;
    s->pages += p->session == s->id ? p->pages : 0;
}

uint64_t gr_session_memory(pid_t session) {
    Session s = {.id = session};
    gr_processes(add_pages, &s);
    return s.pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void kill_one(void *user, const GrProcess *p) {
    const Session *s = user;
    if (p->session == s->id && (s->leader || p->pid != s->id))
        kill(p->pid, s->signal);
}

void gr_session_kill(pid_t session, bool leader, int signal) {
    gr_processes(kill_one, &(Session){session, 0, leader, signal});
}
