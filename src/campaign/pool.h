// SPDX-License-Identifier: Apache-2.0
// pool — child processes, some at a time, each with limits on its time and its memory.
//
// A child is the leader of a session of its own, so all that it starts can be found: what a child's programs take is
// what all processes of its session have in memory. Over the limit, all of them but the leader are killed: a leader
// that is `gpurace run` then reports what it has. A leader that is over its time is killed with them. When this process
// dies, whatever way, its children get SIGTERM.
#ifndef GR_CAMPAIGN_POOL_H
#define GR_CAMPAIGN_POOL_H

#include "base/status.h"
#include "base/vec.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct GrPoolChild {
    pid_t pid;
    uint64_t number;         // the caller's
    int64_t began, deadline; // milliseconds; deadline 0: none
    bool over_memory, overdue;
} GrPoolChild;

typedef struct GrPool {
    VEC(GrPoolChild) children;
    uint64_t memory; // bytes for each child; 0: no limit
    sigset_t mask;   // of this process before
} GrPool;

typedef struct GrPoolJob {
    char *const *argv;              // argv[0] is a path
    const char *const *environment; // name, value, …, NULL: besides the environment of this process
    // The file for standard output and error, made anew: the caller has asked whether it may be (own.h).
    const char *log;
    uint64_t number;
    uint64_t seconds; // 0: no limit
    const char *head; // the first line of the log, after what marks it as ours; NULL: no such line
} GrPoolJob;

typedef enum GrPoolWhat { GR_POOL_NOTHING, GR_POOL_ENDED, GR_POOL_SIGNAL } GrPoolWhat;

typedef struct GrPoolEvent {
    GrPoolWhat what;
    uint64_t number; // ENDED
    int status;      // ENDED: as a shell has it, 128 + N for signal N
    double seconds;
    bool over_memory, overdue;
    int signal; // SIGNAL: SIGINT, SIGTERM or SIGHUP, which came to this process
} GrPoolEvent;

// From here to gr_pool_close this process gets SIGCHLD, SIGINT, SIGTERM and SIGHUP as events only.
void gr_pool_open(GrPool *p, uint64_t memory);
gr_status gr_pool_start(GrPool *p, const GrPoolJob *job, gr_error *err);
// What happens next; NOTHING after `patience_ms`.
GrPoolEvent gr_pool_wait(GrPool *p, int64_t patience_ms);
// Ends the children that are left: SIGTERM first, SIGKILL after some seconds.
void gr_pool_close(GrPool *p);

// What the processes of a session have in memory, in bytes. And a signal for all of them, or for all but the leader.
uint64_t gr_session_memory(pid_t session);
void gr_session_kill(pid_t session, bool leader, int signal);

#endif
