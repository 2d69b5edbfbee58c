// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/hold.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 4096, STATE_MASK = (1 << GR_HOST_STATE_BITS) - 1 };

uint64_t gr_late_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void gr_holds_begin(Holds *h, GrSession *s, const LateDriver *d) {
    *h = (Holds){.session = s, .driver = d, .state = GR_HOST_OPEN, .host = GR_HOST_OPEN};
    pthread_mutex_init(&h->lock, NULL);
}

void gr_holds_end(Holds *h) {
    for (size_t i = 0; i < h->pages.len; i++)
        free(h->pages.data[i].words);
    gr_vec_free(&h->pages);
    gr_vec_free(&h->controls);
    pthread_mutex_destroy(&h->lock);
}

// ---- The page -----------------------------------------------------------------------------------------------------

static HoldPage *page_of(Holds *h, CUcontext context) {
    for (size_t i = 0; i < h->pages.len; i++)
        if (h->pages.data[i].context == context && h->pages.data[i].at)
            return &h->pages.data[i];
    return NULL;
}

// Memory of the process and none of the context's, so that a function of the host may look when the context is gone.
// Without the lock, which such functions need: the driver might wait for them.
static HoldPage new_page(Holds *h, CUcontext context) {
    CUresult (*enter)(void *, size_t, unsigned) =
        (CUresult(*)(void *, size_t, unsigned))h->session->driver(h->session, "cuMemHostRegister");
    CUresult (*where)(CUdeviceptr *, void *, unsigned) =
        (CUresult(*)(CUdeviceptr *, void *, unsigned))h->session->driver(h->session,
                                                                         "cuMemHostGetDevicePointer");
    HoldPage p = {.context = context, .words = enter && where ? aligned_alloc(PAGE, PAGE) : NULL};
    if (!p.words)
        return p;
    memset(p.words, 0, PAGE);
    if (enter(p.words, PAGE, CU_MEMHOSTREGISTER_DEVICEMAP) != CUDA_SUCCESS) {
        free(p.words);
        p.words = NULL;
    } else if (where(&p.at, p.words, 0) != CUDA_SUCCESS) {
        p.at = 0; // registered, so the memory stays
    }
    return p;
}

CUdeviceptr gr_holds_loaded(Holds *h, const GrModule *m, CUcontext context, CUdeviceptr control) {
    pthread_mutex_lock(&h->lock);
    const HoldPage *known = page_of(h, context);
    HoldPage p = known ? *known : (HoldPage){0};
    (void)gr_vec_push(&h->controls, ((HoldControl){m, context, control + offsetof(GrControl, beside), 0}));
    pthread_mutex_unlock(&h->lock);
    if (p.words)
        return p.at;
    p = new_page(h, context);
    if (!p.words)
        return 0;
    pthread_mutex_lock(&h->lock);
    p.words->host = h->state;
    p.words->newest = h->newest;
    bool kept = gr_vec_push(&h->pages, p);
    pthread_mutex_unlock(&h->lock);
    return kept ? p.at : 0;
}

void gr_holds_forget(Holds *h, const GrModule *m, CUcontext context) {
    size_t n = 0;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->controls.len; i++)
        if (h->controls.data[i].module != m && h->controls.data[i].context != context)
            h->controls.data[n++] = h->controls.data[i];
    h->controls.len = n;
    for (size_t i = 0; context && i < h->pages.len; i++)
        if (h->pages.data[i].context == context)
            h->pages.data[i].at = 0;
    pthread_mutex_unlock(&h->lock);
}

// ---- Kernels are told ---------------------------------------------------------------------------------------------

static void complain(Holds *h) {
    pthread_mutex_lock(&h->lock);
    bool first = !h->said;
    h->said = true;
    pthread_mutex_unlock(&h->lock);
    if (first)
        h->session->remark(
            h->session,
            "--late-work: the driver refused to write a word before a launch, which then waits as others do");
}

// Another thread may add controls meanwhile.
static void tell(Holds *h, const GrModule *m, CUcontext context, CUstream stream, uint32_t what) {
    for (size_t i = 0;; i++) {
        CUdeviceptr at = 0;
        pthread_mutex_lock(&h->lock);
        while (i < h->controls.len && !at) {
            HoldControl *c = &h->controls.data[i];
            if ((!m || c->module == m) && c->context == context && c->told != what) {
                at = c->word;
                c->told = what;
            } else {
                i++;
            }
        }
        pthread_mutex_unlock(&h->lock);
        if (!at)
            return;
        // Without the lock: it may wait for room in the stream.
        if (h->driver->fill(at, what, 1, stream) != CUDA_SUCCESS)
            complain(h);
    }
}

uint32_t gr_holds_tell(Holds *h, const GrModule *m, CUcontext context, CUstream stream, uint32_t how) {
    const uint32_t most = UINT32_MAX >> GR_BESIDE_NUMBER;
    pthread_mutex_lock(&h->lock);
    uint32_t number = h->newest < most ? h->newest + 1 : 1;
    __atomic_store_n(&h->newest, number, __ATOMIC_RELAXED);
    h->n_before += h->n_behind;
    h->n_behind = 0;
    for (size_t i = 0; i < h->pages.len; i++)
        __atomic_store_n(&h->pages.data[i].words->newest, number, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&h->lock);
    tell(h, m, context, stream, number << GR_BESIDE_NUMBER | how);
    return number;
}

bool gr_holds_are_told(Holds *h, const GrModule *m, CUcontext context) {
    bool told = false;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->controls.len && !told; i++) {
        const HoldControl *c = &h->controls.data[i];
        told = (!m || c->module == m) && c->context == context && c->told;
    }
    pthread_mutex_unlock(&h->lock);
    return told;
}

void gr_holds_release(Holds *h, const GrModule *m, CUcontext context, CUstream stream) {
    tell(h, m, context, stream, 0);
}

// ---- What the host does -------------------------------------------------------------------------------------------

// Shows the host's state to kernels. With the lock.
static void show(Holds *h) {
    GrHostState state = h->host == GR_HOST_OPEN && h->n_before ? GR_HOST_TOUCHES : h->host;
    uint32_t word = ((h->state >> GR_HOST_STATE_BITS) + 1) << GR_HOST_STATE_BITS | (uint32_t)state;
    __atomic_store_n(&h->state, word, __ATOMIC_RELAXED);
    for (size_t i = 0; i < h->pages.len; i++)
        __atomic_store_n(&h->pages.data[i].words->host, word, __ATOMIC_RELAXED);
}

void gr_holds_say(Holds *h, GrHostState state) {
    pthread_mutex_lock(&h->lock);
    h->host = state;
    __atomic_store_n(&h->changed, gr_late_now(), __ATOMIC_RELAXED);
    show(h);
    pthread_mutex_unlock(&h->lock);
}

// What is behind it may be behind the newest launch in its stream.
uint32_t gr_holds_shut(Holds *h, bool for_newest) {
    pthread_mutex_lock(&h->lock);
    uint32_t newest = h->newest;
    if (for_newest) {
        h->n_before++;
        show(h);
    } else {
        h->n_behind++;
    }
    pthread_mutex_unlock(&h->lock);
    return newest;
}

void gr_holds_opened(Holds *h, uint32_t newest, bool for_newest) {
    pthread_mutex_lock(&h->lock);
    if (newest == h->newest && !for_newest) {
        h->n_behind--;
    } else {
        h->n_before--;
        show(h);
    }
    pthread_mutex_unlock(&h->lock);
}

GrHostState gr_holds_state(const Holds *h) {
    return (GrHostState)(__atomic_load_n(&h->state, __ATOMIC_RELAXED) & STATE_MASK);
}

static bool has_said(Holds *h, size_t ring, uint32_t number) {
    bool said = false;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->pages.len; i++) {
        const uint32_t *words = (const uint32_t *)((const char *)h->pages.data[i].words + ring);
        said = said || __atomic_load_n(&words[number % GR_HOLD_RING], __ATOMIC_RELAXED) == number;
    }
    pthread_mutex_unlock(&h->lock);
    return said;
}

bool gr_holds_begun(Holds *h, uint32_t number) { return has_said(h, offsetof(GrHold, begun), number); }

void gr_holds_await_inside(Holds *h, uint32_t number) {
    for (uint64_t until = gr_late_now() + HOLD_INSIDE_NS;
         !has_said(h, offsetof(GrHold, inside), number) && gr_late_now() < until;) {
    }
}

void gr_holds_share(Holds *h, uint32_t number) {
    pthread_mutex_lock(&h->lock);
    size_t n = h->pages.len;
    pthread_mutex_unlock(&h->lock);
    if (n < 2)
        return;
    for (uint64_t until = gr_late_now() + HOLD_SHARE_NS; !gr_holds_begun(h, number);)
        if (gr_late_now() > until)
            return;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->pages.len; i++) {
        HoldPage *p = &h->pages.data[i];
        if (__atomic_load_n(&p->words->begun[number % GR_HOLD_RING], __ATOMIC_RELAXED) != number)
            __atomic_store_n(&p->words->grid, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&p->words->begun[number % GR_HOLD_RING], number, __ATOMIC_RELAXED);
        __atomic_store_n(&p->words->inside[number % GR_HOLD_RING], number, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&h->lock);
}
