// SPDX-License-Identifier: Apache-2.0
// The processes of a session, as /proc lists them.
#include "campaign/pool.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What /proc/PID/stat says: the session, and how many pages of it are in memory. False: the process is gone.
static bool look(pid_t pid, long *session, uint64_t *pages) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    // The name, which may have anything in it, is in parentheses; behind them: state, parent, group, session, …, the 22nd is the pages.
    const char *at = strrchr(text, ')');
    long long resident;
    if (!at ||
        sscanf(at + 1,
               " %*c %*d %*d %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %lld",
               session, &resident) != 2)
        return false;
    *pages = resident > 0 ? (uint64_t)resident : 0;
    return true;
}

// Calls `visit` for each process of the session.
static void each_process(pid_t session, void (*visit)(void *user, pid_t pid, uint64_t pages), void *user) {
    DIR *all = opendir("/proc");
    for (const struct dirent *d; all && (d = readdir(all));) {
        long of;
        uint64_t pages;
        pid_t pid = isdigit((unsigned char)d->d_name[0]) ? (pid_t)strtol(d->d_name, NULL, 10) : 0;
        if (pid > 0 && look(pid, &of, &pages) && of == session)
            visit(user, pid, pages);
    }
    if (all)
        closedir(all);
}

static void add_pages(void *total, pid_t pid, uint64_t pages) {
    (void)pid;
    *(uint64_t *)total += pages;
}

uint64_t gr_session_memory(pid_t session) {
    uint64_t pages = 0;
    each_process(session, add_pages, &pages);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

typedef struct Killing {
    pid_t session;
    bool leader;
    int signal;
} Killing;

static void kill_one(void *user, pid_t pid, uint64_t pages) {
    const Killing *k = user;
    (void)pages;
    if (k->leader || pid != k->session)
        kill(pid, k->signal);
}

void gr_session_kill(pid_t session, bool leader, int signal) {
    Killing k = {session, leader, signal};
    each_process(session, kill_one, &k);
}
