// SPDX-License-Identifier: Apache-2.0
#include "cli/run/attempt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// A crash in the child must not be taken for the end of the work: a child that is done says so.
// The end of the pipe that it does not need may be the last descriptor there is for the report.
static void in_child(bool (*work)(void *user, int *status), void *user, pid_t parent, const int ends[2]) {
    int status = 0, report = ends[1];
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // the warden then ends what the child has started
    if (getppid() != parent)          // the parent died before that
        _exit(1);
    signal(SIGPIPE, SIG_IGN); // a reader that has gone away is an error of write, which is seen
    bool done = work(user, &status);
    fflush(NULL);
    if (done && write(report, "", 1) != 1)
        status = 1;
    _exit(status);
}

GrAttempt gr_cli_attempt(bool (*work)(void *user, int *status), void *user) {
    GrAttempt a = {.how = "incomplete"};
    int ends[2], status = 0;
    char said;
    fflush(NULL);
    if (pipe(ends)) {
        a.done = work(user, &a.status);
        return a;
    }
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        in_child(work, user, parent, ends);
    close(ends[1]);
    if (child < 0) {
        a.done = work(user, &a.status);
    } else {
        a.done = read(ends[0], &said, 1) == 1;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status))
            snprintf(a.how, sizeof a.how, "killed by signal %d (%s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
        else
            a.status = WEXITSTATUS(status);
    }
    close(ends[0]);
    return a;
}
