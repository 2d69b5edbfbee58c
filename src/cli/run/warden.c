// SPDX-License-Identifier: Apache-2.0
#include "cli/run/warden.h"

#include "base/own.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FOLDERS = 8, GRACE_MS = 2000, LOOK_MS = 10 };

// What comes through the pipe, whole: less than PIPE_BUF.
typedef struct Message {
    enum { FOLDER = 1, PROGRAM, DONE } kind;
    pid_t target;
    char folder[PATH_MAX - 64];
} Message;

_Static_assert(sizeof(Message) <= PIPE_BUF, "a message comes whole");

static int to_warden = -1;
static bool begun;
static pid_t warden;

// ---- The warden ----------------------------------------------------------------------------------------------------

static void sleep_ms(unsigned ms) {
    struct timespec t = {0, (long)ms * 1000000};
    nanosleep(&t, NULL);
}

// The leader of the group, and not as a zombie: perhaps nobody takes its status.
static bool is_running(pid_t leader) {
    GrProcess p;
    return gr_process_read(leader, &p) && !p.ended;
}

static void wait_for(pid_t leader) {
    for (unsigned ms = 0; ms < GRACE_MS && is_running(leader); ms += LOOK_MS)
        sleep_ms(LOOK_MS);
}

static void end_program(pid_t target) {
    pid_t leader = target < 0 ? -target : target;
    kill(target, SIGTERM);
    kill(target, SIGCONT);
    wait_for(leader);
    kill(target, SIGKILL);
    wait_for(leader); // until then it may write into the folders
}

static void detach(int pipe) {
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2 && none >= 0; fd++)
        dup2(none, fd);
    if (pipe != 3)
        dup2(pipe, 3);
    closefrom(4);
    (void)!chdir("/");
    prctl(PR_SET_NAME, "gpurace-warden");
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_IGN);
    sigset_t none_blocked;
    sigemptyset(&none_blocked);
    sigprocmask(SIG_SETMASK, &none_blocked, NULL);
}

static _Noreturn void watch(int pipe) {
    static Message folders[FOLDERS];
    unsigned n = 0;
    pid_t target = 0;
    Message m;
    detach(pipe);
    for (;;) {
        ssize_t got = read(3, &m, sizeof m);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != sizeof m)
            break;
        if (m.kind == DONE)
            _exit(0);
        if (m.kind == PROGRAM)
            target = m.target;
        else if (n < FOLDERS)
            folders[n++] = m;
    }
    if (target)
        end_program(target);
    while (n)
        (void)gr_own_remove_folder(folders[--n].folder, NULL);
    _exit(0);
}

// ---- The command ---------------------------------------------------------------------------------------------------

void gr_warden_begin(void) {
    int ends[2];
    if (begun || pipe2(ends, O_CLOEXEC))
        return;
    begun = true;
    fflush(NULL);
    warden = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L); // a fork whose end sends no signal
    if (warden == 0) {
        setsid();
        close(ends[1]);
        watch(ends[0]);
    }
    close(ends[0]);
    if (warden > 0)
        to_warden = ends[1];
    else
        close(ends[1]);
}

// SIGPIPE, where somebody has ended the warden, would end the command, too.
static void tell(const Message *m) {
    sigset_t pipe, before;
    struct timespec now = {0};
    if (to_warden < 0)
        return;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe, &before);
    if (write(to_warden, m, sizeof *m) < 0 && errno == EPIPE && !sigismember(&before, SIGPIPE))
        sigtimedwait(&pipe, NULL, &now);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void gr_warden_folder(const char *folder) {
    Message m = {.kind = FOLDER};
    gr_warden_begin();
    int n = snprintf(m.folder, sizeof m.folder, "%s", folder);
    if (n > 0 && n < (int)sizeof m.folder)
        tell(&m);
}

void gr_warden_program(pid_t target) { tell(&(Message){.kind = PROGRAM, .target = target}); }

pid_t gr_warden_process(void) { return to_warden < 0 ? 0 : warden; }

void gr_warden_end(void) {
    tell(&(Message){.kind = DONE});
    if (to_warden < 0)
        return;
    close(to_warden);
    to_warden = -1;
    while (waitpid(warden, NULL, (int)__WCLONE) < 0 && errno == EINTR) {
    }
}
