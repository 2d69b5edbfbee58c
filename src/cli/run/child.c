// SPDX-License-Identifier: Apache-2.0
#include "cli/run/child.h"

#include "cli/run/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static volatile pid_t running;

static void on_signal(int sig) {
    came = sig;
    if (running > 0)
        kill(-running, sig);
}

static _Noreturn void become(const GrChild *c) {
    int in = open("/dev/null", O_RDONLY),
        out = open(c->log ? c->log : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    setpgid(0, 0);
    gr_warden_program(-getpid());
    signal(SIGPIPE, SIG_DFL);
    if (in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0 && chdir(c->folder) == 0)
        execvp(c->argv[0], c->argv);
    dprintf(STDERR_FILENO, "gpurace: cannot start %s: %s\n", c->argv[0], strerror(errno));
    _exit(127);
}

gr_status gr_cli_run(const GrChild *c, int *status, gr_error *err) {
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act = {.sa_handler = on_signal}, before[3];
    sigset_t set, mask;
    int code = 0;
    sigemptyset(&set);
    for (int k = 0; k < 3; k++)
        sigaddset(&set, ours[k]);
    sigprocmask(SIG_BLOCK, &set, &mask); // until `running` is known
    came = 0;
    pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        become(c);
    }
    running = pid;
    for (int k = 0; k < 3; k++)
        sigaction(ours[k], &act, &before[k]);
    if (pid > 0)
        setpgid(pid, pid); // whichever of the two is first
    sigprocmask(SIG_SETMASK, &mask, NULL);
    while (pid > 0 && waitpid(pid, &code, 0) < 0 && errno == EINTR) {
    }
    running = 0;
    gr_warden_program(0);
    for (int k = 0; k < 3; k++)
        sigaction(ours[k], &before[k], NULL);
    if (pid < 0)
        return gr_fail(err, GR_ERR_IO, "fork: %s", strerror(errno));
    *status = WIFSIGNALED(code) ? 128 + WTERMSIG(code) : WEXITSTATUS(code);
    return came ? gr_fail(err, GR_ERR_LIMIT, "signal %d ended it", (int)came) : GR_OK;
}
