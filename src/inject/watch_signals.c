// SPDX-License-Identifier: Apache-2.0
// watch_signals — SIGSEGV for faults on watched pages, SIGTRAP for the one instruction after which a page closes.
//
// Both signals stay the program's. Once gpurace has handlers of its own, it keeps the program's settings by sigaction
// and signal here, and applies them to every signal that is not gpurace's. Neither may be blocked while we watch, as a
// fault that comes blocked kills: the masks that the program sets lose the two.
#include "inject/watch.h"

#include "findings/results.h"
#include "inject/hooks.h"
#include "inject/inside_run.h"
#include "options/options.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int (*SigactionFn)(int, const struct sigaction *, struct sigaction *);
typedef int (*MaskFn)(int, const sigset_t *, sigset_t *);
typedef void (*Handler)(int);

static SigactionFn real_sigaction;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of `theirs`
static struct sigaction theirs[2];                       // SIGSEGV, SIGTRAP: what the program asked for
static _Atomic bool ours;

// ---- Faults and steps -----------------------------------------------------------------------------------------------

enum { STEP_PAGES = 8, TRAP_FLAG = 0x100 };

// The pages that this thread's current instruction has open.
static _Thread_local struct {
    unsigned n;
    uint64_t page[STEP_PAGES];
} step __attribute__((tls_model("initial-exec")));

static void close_pages(void) {
    for (unsigned k = 0; k < step.n; k++)
        gr_watch_close(step.page[k]);
    step.n = 0;
}

#if defined(__x86_64__)
static uint64_t pc_of(const ucontext_t *c) { return (uint64_t)c->uc_mcontext.gregs[REG_RIP]; }
static uint64_t top_of(const ucontext_t *c) {
    uint64_t top;
    memcpy(&top, (const void *)c->uc_mcontext.gregs[REG_RSP], sizeof top);
    return top;
}
static bool is_write(const ucontext_t *c) { return c->uc_mcontext.gregs[REG_ERR] & 2; }
static bool is_stepping(const ucontext_t *c) { return c->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG; }
static void set_stepping(ucontext_t *c, bool yes) {
    if (yes)
        c->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    else
        c->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}
#elif defined(__aarch64__)
static uint64_t pc_of(const ucontext_t *c) { return c->uc_mcontext.pc; }
static uint64_t top_of(const ucontext_t *c) { return c->uc_mcontext.regs[30]; }
// The exception syndrome's bit "write, not read", from the record of it that the kernel leaves.
static bool is_write(const ucontext_t *c) {
    const uint8_t *p = (const uint8_t *)c->uc_mcontext.__reserved,
                  *end = p + sizeof c->uc_mcontext.__reserved;
    while (end - p >= 16) {
        uint32_t head[2];
        memcpy(head, p, sizeof head);
        uint64_t syndrome;
        memcpy(&syndrome, p + 8, sizeof syndrome);
        if (head[0] == 0x45535201)
            return syndrome & 1 << 6;
        if (!head[0] || !head[1] || head[1] > (size_t)(end - p))
            break;
        p += head[1];
    }
    return true;
}
static bool is_stepping(const ucontext_t *c) { return (void)c, false; }
static void set_stepping(ucontext_t *c, bool yes) { (void)c, (void)yes; }
#else
#define NOT_HERE
static uint64_t pc_of(const ucontext_t *c) { return (void)c, 0; }
static uint64_t top_of(const ucontext_t *c) { return (void)c, 0; }
static bool is_write(const ucontext_t *c) { return (void)c, true; }
static bool is_stepping(const ucontext_t *c) { return (void)c, false; }
static void set_stepping(ucontext_t *c, bool yes) { (void)c, (void)yes; }
#endif

// Does with the signal what would have happened without us.
static void pass_on(int sig, siginfo_t *info, void *context) {
    struct sigaction *kept = &theirs[sig == SIGTRAP], a = *kept;
    bool sent = info->si_code <= 0; // by kill and the like
    if (a.sa_handler == SIG_IGN && sent)
        return;
    if (a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN) {
        struct sigaction deflt = {.sa_handler = SIG_DFL};
        if (real_sigaction)
            real_sigaction(sig, &deflt, NULL);
        if (sent || sig == SIGTRAP) // else the instruction does it again
            syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), sig);
        return;
    }
    if ((unsigned)a.sa_flags & SA_RESETHAND) {
        kept->sa_handler = SIG_DFL;
        kept->sa_flags &= ~SA_SIGINFO;
    }
    sigset_t block = a.sa_mask;
    sigdelset(&block, SIGSEGV);
    sigdelset(&block, SIGTRAP);
    pthread_sigmask(SIG_BLOCK, &block, NULL); // until the handler returns
    if (a.sa_flags & SA_SIGINFO)
        a.sa_sigaction(sig, info, context);
    else
        a.sa_handler(sig);
}

static void on_fault(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    int error = errno;
    if (step.n && !is_stepping(c)) // a handler of the program never came back to the instruction
        close_pages();
    GrWatchAnswer a = GR_WATCH_NOT_OURS;
    uint64_t at = (uint64_t)(uintptr_t)info->si_addr, page = gr_watch_page_size();
    if (info->si_code == SEGV_ACCERR)
        a = gr_watch_fault(at, pc_of(c), top_of(c), is_write(c), !(step.n && at % page == 0));
    if (a == GR_WATCH_STEP) {
#if defined(__x86_64__)
        if (step.n == STEP_PAGES)
            close_pages();
        step.page[step.n++] = at / page * page;
        set_stepping(c, true);
#endif
    }
    errno = error;
    if (a == GR_WATCH_NOT_OURS)
        pass_on(sig, info, context);
}

static void on_trap(int sig, siginfo_t *info, void *context) {
    ucontext_t *c = context;
    if (!step.n || info->si_code <= 0) {
        pass_on(sig, info, context);
        return;
    }
    int error = errno;
    close_pages();
    set_stepping(c, false);
    errno = error;
}

// ---- What the program asks ------------------------------------------------------------------------------------------

static bool is_ours(int sig) { return (sig == SIGSEGV || sig == SIGTRAP) && atomic_load(&ours); }

// This run may come to watch: then masks are kept free of the two signals from the start.
static bool may_watch(void) {
    static _Atomic int known;
    if (!known) {
        known = gr_run_variable(GR_RESULTS_ENV) && gr_run_variable(GR_HOST_WATCH_ENV) ? 1 : -1;
    }
    return known > 0;
}

static void *next(const char *name) { return gr_real_dlsym(RTLD_NEXT, name); }

EXPORT int sigaction(int sig, const struct sigaction *a, struct sigaction *old) {
    if (!real_sigaction)
        *(void **)&real_sigaction = next("sigaction");
    if (!real_sigaction) {
        errno = ENOSYS;
        return -1;
    }
    if (is_ours(sig)) {
        pthread_mutex_lock(&lock);
        if (old)
            *old = theirs[sig == SIGTRAP];
        if (a)
            theirs[sig == SIGTRAP] = *a;
        pthread_mutex_unlock(&lock);
        return 0;
    }
    if (!a || !may_watch())
        return real_sigaction(sig, a, old);
    struct sigaction mine = *a;
    sigdelset(&mine.sa_mask, SIGSEGV);
    sigdelset(&mine.sa_mask, SIGTRAP);
    return real_sigaction(sig, &mine, old);
}

static Handler set_handler(int sig, Handler h, int flags) {
    struct sigaction a = {.sa_handler = h, .sa_flags = flags}, old;
    return sigaction(sig, &a, &old) ? SIG_ERR : old.sa_handler;
}

// The C library's two kinds of signal(): both end in sigaction, where we would not see them.
#define SIGNAL(name, flags)                                                                                  \
    EXPORT Handler name(int sig, Handler h);                                                                 \
    EXPORT Handler name(int sig, Handler h) {                                                                \
        if (is_ours(sig))                                                                                    \
            return set_handler(sig, h, flags);                                                               \
        Handler (*real)(int, Handler) = (Handler(*)(int, Handler))next(#name);                               \
        return real ? real(sig, h) : SIG_ERR;                                                                \
    }
SIGNAL(signal, SA_RESTART)
SIGNAL(bsd_signal, SA_RESTART)
SIGNAL(sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
SIGNAL(__sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))

static int set_mask(MaskFn real, int how, const sigset_t *set, sigset_t *old) {
    sigset_t mine;
    if (set && how != SIG_UNBLOCK && may_watch()) {
        mine = *set;
        sigdelset(&mine, SIGSEGV);
        sigdelset(&mine, SIGTRAP);
        set = &mine;
    }
    return real(how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    static MaskFn real;
    if (!real)
        *(void **)&real = next("pthread_sigmask");
    return real ? set_mask(real, how, set, old) : ENOSYS;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    static MaskFn real;
    if (!real)
        *(void **)&real = next("sigprocmask");
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    return set_mask(real, how, set, old);
}

bool gr_watch_signals(void) {
#ifdef NOT_HERE
    return false;
#endif
    // On the program's alternate stack where it has one: its own handler may be there for a stack that is full.
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER},
                     trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (!real_sigaction)
        *(void **)&real_sigaction = next("sigaction");
    if (!real_sigaction)
        return false;
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGSEGV);
    sigaddset(&both, SIGTRAP);
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    pthread_mutex_lock(&lock);
    bool ok = !real_sigaction(SIGSEGV, &fault, &theirs[0]) && !real_sigaction(SIGTRAP, &trap, &theirs[1]);
    atomic_store(&ours, ok);
    pthread_mutex_unlock(&lock);
    return ok;
}
