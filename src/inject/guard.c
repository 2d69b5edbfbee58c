// SPDX-License-Identifier: Apache-2.0
#include "inject/guard.h"

#include "inject/hooks.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

typedef int (*SigactionFn)(int, const struct sigaction *, struct sigaction *);

enum { SIGNALS = 5 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[SIGNALS];
static _Thread_local sigjmp_buf *landing __attribute__((tls_model("initial-exec")));

// The C library's function: the name is this library's own, for what programs ask (watch_signals.c).
static SigactionFn real_sigaction(void) {
    static SigactionFn fn;
    if (!fn)
        *(void **)&fn = gr_real_dlsym(RTLD_NEXT, "sigaction");
    return fn;
}

// Handles another thread's signal, or one that a process sent, as if this handler were not there.
static void pass_on(const struct sigaction *to, int sig, siginfo_t *info, void *context) {
    if (to->sa_flags & SA_SIGINFO) {
        to->sa_sigaction(sig, info, context);
    } else if (to->sa_handler == SIG_DFL) {
        real_sigaction()(sig, to, NULL);
        if (info->si_code <= 0)
            raise(sig); // what was sent comes again; an instruction faults again by itself
    } else if (to->sa_handler != SIG_IGN) {
        to->sa_handler(sig);
    }
}

// The kernel says so, or abort, which sends the signal to its own thread. (If malloc gave up on a broken heap, the
// program may stop at malloc's lock later; without this it would be dead now.)
static bool is_crash(int sig, const siginfo_t *info) {
    return info->si_code > 0 || (sig == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid());
}

static void on_crash(int sig, siginfo_t *info, void *context) {
    if (landing && is_crash(sig, info))
        siglongjmp(*landing, sig);
    for (unsigned k = 0; k < SIGNALS; k++)
        if (signals[k] == sig)
            pass_on(&before[k], sig, info, context);
}

// Puts the handlers back, except those that `work` set itself.
static void restore(void) {
    struct sigaction now;
    landing = NULL;
    for (unsigned k = 0; k < SIGNALS; k++)
        if (!real_sigaction()(signals[k], NULL, &now) && now.sa_sigaction == on_crash)
            real_sigaction()(signals[k], &before[k], NULL);
}

gr_status gr_guarded(gr_status (*work)(void *user, gr_error *err), void *user, gr_error *err) {
    sigjmp_buf here;
    struct sigaction mine = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (landing || !real_sigaction()) // within another: that one lands
        return work(user, err);
    sigemptyset(&mine.sa_mask);
    int sig = sigsetjmp(here, 1);
    if (sig) {
        restore();
        return gr_fail(err, GR_ERR_INTERNAL, "gpurace crashed on it (signal %d, %s): please report it", sig,
                       strsignal(sig));
    }
    landing = &here;
    for (unsigned k = 0; k < SIGNALS; k++)
        real_sigaction()(signals[k], &mine, &before[k]);
    gr_status st = work(user, err);
    restore();
    return st;
}
