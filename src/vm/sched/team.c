// SPDX-License-Identifier: Apache-2.0
// team — threads that share a piece of work with the calling one.
//
// Pieces are short and follow each other closely (a slice of a launch, then the next one). So a helper looks for the
// next piece for some microseconds before it sleeps. If a helper is late, the caller claims its part, and the helper
// does nothing: no thread ever waits until a helper without work is scheduled.
#include "vm/sched/team.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 400 };

typedef struct Helper {
    VmTeam *team;
    pthread_t thread;
    unsigned index;
} Helper;

struct VmTeam {
    pthread_mutex_t lock;
    pthread_cond_t come, done;
    _Atomic unsigned piece;     // counts pieces of work
    _Atomic uint64_t unclaimed; // parts of it that no thread has begun
    _Atomic unsigned working;   // helpers at work, or looking whether there is some
    bool closing;
    void (*work)(void *arg, unsigned k);
    void *arg;
    unsigned size;
    pid_t owner; // threads do not survive fork
    Helper helper[VM_TEAM_MAX];
};

void gr_vm_team_relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool claim(VmTeam *t, unsigned k) {
    uint64_t bit = UINT64_C(1) << k;
    return (atomic_fetch_and(&t->unclaimed, ~bit) & bit) != 0;
}

static void *help(void *arg) {
    Helper *h = arg;
    VmTeam *t = h->team;
    for (unsigned seen = 0;;) {
        for (unsigned k = 0; k < SPINS && atomic_load_explicit(&t->piece, memory_order_relaxed) == seen; k++)
            gr_vm_team_relax();
        pthread_mutex_lock(&t->lock);
        while (atomic_load(&t->piece) == seen && !t->closing)
            pthread_cond_wait(&t->come, &t->lock);
        seen = atomic_load(&t->piece);
        bool closing = t->closing, mine = !closing && claim(t, h->index);
        if (mine)
            atomic_fetch_add(&t->working, 1);
        pthread_mutex_unlock(&t->lock);
        if (closing)
            return NULL;
        if (!mine)
            continue;
        t->work(t->arg, h->index);
        if (atomic_fetch_sub(&t->working, 1) == 1) {
            pthread_mutex_lock(&t->lock);
            pthread_cond_signal(&t->done);
            pthread_mutex_unlock(&t->lock);
        }
    }
}

VmTeam *gr_vm_team_new(unsigned want) {
    VmTeam *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->come, NULL);
    pthread_cond_init(&t->done, NULL);
    t->owner = getpid();
    // The program's signals are handled on the program's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (t->size = 1; t->size < want && t->size < VM_TEAM_MAX; t->size++) {
        Helper *h = &t->helper[t->size];
        *h = (Helper){.team = t, .index = t->size};
        if (pthread_create(&h->thread, NULL, help, h) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return t;
}

void gr_vm_team_free(VmTeam *t) {
    if (!t)
        return;
    if (t->owner == getpid()) {
        pthread_mutex_lock(&t->lock);
        t->closing = true;
        pthread_cond_broadcast(&t->come);
        pthread_mutex_unlock(&t->lock);
        for (unsigned k = 1; k < t->size; k++)
            pthread_join(t->helper[k].thread, NULL);
    }
    pthread_cond_destroy(&t->come);
    pthread_cond_destroy(&t->done);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

unsigned gr_vm_team_size(const VmTeam *t) { return t->size; }

void gr_vm_team_run(VmTeam *t, unsigned n, void (*work)(void *arg, unsigned k), void *arg) {
    pthread_mutex_lock(&t->lock);
    t->work = work;
    t->arg = arg;
    atomic_store(&t->unclaimed, (n < 64 ? UINT64_C(1) << n : 0) - 1);
    atomic_fetch_add(&t->piece, 1);
    pthread_cond_broadcast(&t->come);
    pthread_mutex_unlock(&t->lock);
    for (unsigned k = 0; k < n; k++)
        if (claim(t, k))
            work(arg, k);
    for (unsigned k = 0; k < SPINS && atomic_load(&t->working); k++)
        gr_vm_team_relax();
    // The lock is taken in any case, as a helper may still be on its way out of it.
    pthread_mutex_lock(&t->lock);
    while (atomic_load(&t->working))
        pthread_cond_wait(&t->done, &t->lock);
    pthread_mutex_unlock(&t->lock);
}
