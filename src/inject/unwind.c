// SPDX-License-Identifier: Apache-2.0
#include "inject/unwind.h"

#include <stddef.h>
#include <unwind.h>

// ---- What is known of call sites ---------------------------------------------------------------------------------

enum { SITES = 1 << 14, TRIES = 16 };
enum { UNKNOWN, VARIES, OUTERMOST, LEAST }; // else the distance in bytes

// Nothing goes, so threads need no lock. Where there is no room the stack is unwound each time.
static struct Site {
    uintptr_t pc;      // atomic; 0: free
    uint32_t distance; // atomic
} sites[SITES];

static uint64_t unwindings; // atomic

uint64_t gr_unwindings(void) { return __atomic_load_n(&unwindings, __ATOMIC_RELAXED); }

// NULL: it has none, or there is no room for a new one.
static struct Site *site_of(uintptr_t pc, bool make) {
    size_t at = (size_t)((uint64_t)pc * UINT64_C(0x9E3779B97F4A7C15) >> 50);
    for (unsigned k = 0; k < TRIES; k++) {
        struct Site *s = &sites[(at + k) % SITES];
        uintptr_t there = __atomic_load_n(&s->pc, __ATOMIC_RELAXED);
        if (!there && make &&
            __atomic_compare_exchange_n(&s->pc, &there, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return s;
        if (there == pc || !there)
            return there ? s : NULL;
    }
    return NULL;
}

static void learn(uintptr_t pc, uintptr_t distance) {
    struct Site *s = site_of(pc, true);
    uint32_t now = distance < UINT32_MAX ? (uint32_t)distance : VARIES, before = UNKNOWN;
    if (s &&
        !__atomic_compare_exchange_n(&s->distance, &before, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
        before != now)
        __atomic_store_n(&s->distance, VARIES, __ATOMIC_RELAXED);
}

// ---- Two ways to the callers --------------------------------------------------------------------------------------

// The highest place of a return address that this thread has had: no walk goes beyond.
static __thread const uintptr_t *top;

typedef struct Unwinding {
    GrUnwound *out;
    uintptr_t inner;                     // the frame of our own function: what is below is ours
    const uintptr_t *at[GR_UNWIND_MOST]; // where the return addresses lie; NULL: not known
    bool ended;
} Unwinding;

static _Unwind_Reason_Code take(struct _Unwind_Context *c, void *of) {
    Unwinding *u = of;
    uintptr_t pc = _Unwind_GetIP(c), sp = _Unwind_GetCFA(c); // sp: as the callee has returned
    if (!pc || u->out->n == GR_UNWIND_MOST)
        return _URC_END_OF_STACK;
    if (sp <= u->inner)
        return _URC_NO_REASON;
    const uintptr_t *at = (const uintptr_t *)sp - 1;
    u->at[u->out->n] = *at == pc ? at : NULL;
    u->out->pc[u->out->n++] = pc;
    return _URC_NO_REASON;
}

static void unwind(const void *frame, GrUnwound *out) {
    Unwinding u = {.out = out, .inner = (uintptr_t)frame};
    out->n = 0;
    __atomic_add_fetch(&unwindings, 1, __ATOMIC_RELAXED);
    (void)_Unwind_Backtrace(take, &u);
#ifdef __x86_64__ // elsewhere a return address may be in a register
    for (unsigned k = 0; k < out->n; k++) {
        bool last = k + 1 == out->n;
        if (last && out->n < GR_UNWIND_MOST)
            learn(out->pc[k], OUTERMOST);
        else if (!last)
            learn(out->pc[k],
                  u.at[k] && u.at[k + 1] > u.at[k] ? (uintptr_t)u.at[k + 1] - (uintptr_t)u.at[k] : VARIES);
        if (u.at[k] > top)
            top = u.at[k];
    }
#endif
}

// False: not all call sites are known.
static bool walk(const void *frame, GrUnwound *out) {
    const uintptr_t *at = (const uintptr_t *)frame + 1;
    for (out->n = 0; at <= top;) {
        const struct Site *s = site_of(*at, false);
        uint32_t distance = s ? __atomic_load_n(&s->distance, __ATOMIC_RELAXED) : UNKNOWN;
        out->pc[out->n++] = *at;
        if (distance == OUTERMOST || out->n == GR_UNWIND_MOST)
            return true;
        if (distance < LEAST)
            return false;
        at = (const uintptr_t *)((uintptr_t)at + distance);
    }
    return false;
}

bool gr_unwind(const void *frame, GrUnwound *out) {
    if (walk(frame, out))
        return true;
    unwind(frame, out);
    return false;
}
