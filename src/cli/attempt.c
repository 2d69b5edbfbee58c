// SPDX-License-Identifier: Apache-2.0
#include "cli/attempt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// A crash in the child must not be taken for the end of the work: a child that is done says so.
static void in_child(bool (*work)(void *user, int *status), void *user, int report) {
    int status = 0;
    signal(SIGPIPE, SIG_IGN); // a reader that has gone away is an error of write, which is seen
    bool done = work(user, &status);
    fflush(NULL);
    if (done && write(report, "", 1) != 1)
        status = 1;
    _exit(status);
}

GrAttempt gr_attempt(bool (*work)(void *user, int *status), void *user) {
    GrAttempt a = {.how = "incomplete"};
    int ends[2], status = 0;
    char said;
    fflush(NULL);
    if (pipe(ends)) {
        a.done = work(user, &a.status);
        return a;
    }
    pid_t child = fork();
    if (child == 0)
        in_child(work, user, ends[1]);
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
