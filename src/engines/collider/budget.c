// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/budget.h"

#include "base/map.h"
#include "base/rng.h"
#include "engines/collider/device/record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// ---- How many windows -----------------------------------------------------------------------------------------------

static const double LEAST_SHARE = 1e-6,
                    MARGIN = 0.9; // of the time that there is, so that chance does not exceed it

gr_status gr_budget_parse(const char *text, uint32_t *thousandths, gr_error *err) {
    char *end;
    *thousandths = 0;
    if (!*text)
        return GR_OK;
    double factor = strtod(text, &end);
    if (end == text || strcmp(*end == 'x' ? end + 1 : end, "") || !(factor >= 1.01 && factor <= 1000))
        return gr_fail(err, GR_ERR_ARGUMENT,
                       "--budget %s: how many times its own time a launch may take, from 1.01 to 1000, as in "
                       "--budget 2x",
                       text);
    *thousandths = (uint32_t)(factor * 1000 + 0.5);
    return GR_OK;
}

double gr_budget_next(BudgetKernel *k) {
    uint64_t n = k->launches++;
    if (n == 0)
        k->share = 1.0 / BUDGET_START;
    return n % BUDGET_OWN == 1 ? 0 : k->share;
}

void gr_budget_took(BudgetKernel *k, double factor, double share, double ns) {
    if (share == 0) {
        k->own_ns = k->own_ns > 0 ? k->own_ns + (ns - k->own_ns) / 4 : ns;
        return;
    }
    if (k->own_ns <= 0)
        return;
    // Windows side by side wait together, so the time is not quite in proportion: no more than a step at a time.
    double room = (factor - 1) * k->own_ns * MARGIN, took = ns - k->own_ns;
    double step = took > room / 4 ? room / took : 4;
    double next = share * (step < 1.0 / 16 ? 1.0 / 16 : step);
    k->share = next > 1 ? 1 : next < LEAST_SHARE ? LEAST_SHARE : next;
}

// ---- Launches -------------------------------------------------------------------------------------------------------

// A launch on its way, between two events of a context. Those of one context are used again there.
typedef struct Slot {
    CUcontext context;           // NULL: has no events yet
    CUevent before, after, idle; // idle: right behind `after`, where no window opens
    enum { SLOT_FREE, SLOT_OPEN, SLOT_SUBMITTED } state;
    uint64_t number;
    BudgetKernel *kernel;
    double share;
} Slot;

struct GrBudget {
    GrSession *session;
    double factor;
    pthread_mutex_t lock; // of all that follows
    bool there, said;     // whether the driver has all of these; whether it was said that it failed
    CUresult (*current)(CUcontext *);
    CUresult (*fill)(CUdeviceptr, unsigned, size_t, CUstream);
    CUresult (*new_event)(CUevent *, unsigned);
    CUresult (*record)(CUevent, CUstream);
    CUresult (*query)(CUevent);
    CUresult (*elapsed)(float *, CUevent, CUevent);
    Map controls; // module and context -> where GrControl.shut is
    Map kernels;  // BudgetKernel; BUDGET_KERNELS at most, `rest` for all others
    BudgetKernel rest;
    uint32_t n_kernels;
    Slot slots[64];  // more launches on their way are not measured
    double empty_ns; // what two events see with nothing between them, at least
    uint64_t n_measured;
    double own_ns, took_ns, shares; // summed up over the measured launches
};

static uint32_t shut_of(double share) { return (uint32_t)((1 - share) * UINT32_MAX); }

GrBudget *gr_budget_new(GrSession *s, uint32_t thousandths) {
    GrBudget *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->session = s;
    b->factor = thousandths / 1000.0;
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

static bool find_driver(GrBudget *b) {
    bool all = true;
    if (b->there)
        return true;
#define FIND(field, name)                                                                                    \
    b->field = (__typeof__(b->field))b->session->driver(b->session, name);                                   \
    all = all && b->field;
    FIND(current, "cuCtxGetCurrent")
    FIND(fill, "cuMemsetD32Async")
    FIND(new_event, "cuEventCreate")
    FIND(record, "cuEventRecord")
    FIND(query, "cuEventQuery")
    FIND(elapsed, "cuEventElapsedTime")
#undef FIND
    return b->there = all;
}

static void complain(GrBudget *b, const char *what) {
    if (!b->said)
        b->session->note(b->session, "budget", what);
    b->said = true;
}

static uint64_t place_of(const GrModule *m, CUcontext context) {
    return gr_mix64((uintptr_t)m ^ gr_mix64((uintptr_t)context));
}

uint32_t gr_budget_loaded(GrBudget *b, const GrModule *m, CUdeviceptr control) {
    CUcontext context = NULL;
    pthread_mutex_lock(&b->lock);
    bool ok = find_driver(b) && b->current(&context) == CUDA_SUCCESS &&
              gr_map_put_u64(&b->controls, place_of(m, context),
                             (void *)(uintptr_t)(control + offsetof(GrControl, shut)));
    pthread_mutex_unlock(&b->lock);
    if (!ok)
        complain(b, "not kept in a module: the driver lacks what measures launches");
    return shut_of(1.0 / BUDGET_START);
}

static BudgetKernel *kernel_of(GrBudget *b, const GrLaunch *l) {
    uint64_t key = gr_mix64((uintptr_t)l->func);
    for (unsigned k = 0; k < 3; k++)
        key = gr_mix64(key ^ ((uint64_t)l->grid[k] << 32 | l->block[k]));
    BudgetKernel *found = gr_map_get_u64(&b->kernels, key);
    if (found || b->n_kernels == BUDGET_KERNELS)
        return found ? found : &b->rest;
    found = calloc(1, sizeof *found);
    if (!found || !gr_map_put_u64(&b->kernels, key, found)) {
        free(found);
        return &b->rest;
    }
    b->n_kernels++;
    return found;
}

// Looks which launches of this context have ended. With the lock, as all functions below.
static void look(GrBudget *b, CUcontext context) {
    for (unsigned k = 0; k < sizeof b->slots / sizeof *b->slots; k++) {
        Slot *s = &b->slots[k];
        float ms;
        CUresult rc = s->state == SLOT_SUBMITTED && s->context == context
                          ? b->query(s->share == 0 ? s->idle : s->after)
                          : CUDA_ERROR_NOT_READY;
        if (rc == CUDA_ERROR_NOT_READY)
            continue;
        s->state = SLOT_FREE;
        if (rc != CUDA_SUCCESS || b->elapsed(&ms, s->before, s->after) != CUDA_SUCCESS)
            continue;
        double ns = (double)ms * 1e6;
        float nothing;
        if (s->share == 0 && b->elapsed(&nothing, s->after, s->idle) == CUDA_SUCCESS &&
            (b->empty_ns == 0 || nothing * 1e6 < b->empty_ns))
            b->empty_ns = nothing * 1e6;
        ns -= b->empty_ns < ns * 3 / 4 ? b->empty_ns : ns * 3 / 4;
        gr_budget_took(s->kernel, b->factor, s->share, ns);
        if (s->kernel->own_ns > 0) {
            b->n_measured++;
            b->own_ns += s->kernel->own_ns;
            b->took_ns += ns;
            b->shares += s->share;
        }
    }
}

static Slot *free_slot(GrBudget *b, CUcontext context) {
    for (unsigned k = 0; k < sizeof b->slots / sizeof *b->slots; k++) {
        Slot *s = &b->slots[k];
        if (s->state != SLOT_FREE || (s->context && s->context != context))
            continue;
        if (!s->context &&
            (b->new_event(&s->before, 0) != CUDA_SUCCESS || b->new_event(&s->after, 0) != CUDA_SUCCESS ||
             b->new_event(&s->idle, 0) != CUDA_SUCCESS))
            return NULL;
        s->context = context;
        return s;
    }
    return NULL;
}

void gr_budget_begin(GrBudget *b, const GrLaunch *l) {
    CUcontext context = NULL;
    if (!l->module || l->programmatic || l->from_graph || !b->there || b->current(&context) != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&b->lock);
    CUdeviceptr shut = (CUdeviceptr)(uintptr_t)gr_map_get_u64(&b->controls, place_of(l->module, context));
    Slot *s = NULL;
    double share = 0;
    if (shut) {
        look(b, context);
        BudgetKernel *kernel = kernel_of(b, l);
        share = gr_budget_next(kernel);
        if ((s = free_slot(b, context)) != NULL) {
            s->state = SLOT_OPEN;
            s->number = l->number;
            s->kernel = kernel;
            s->share = share;
        }
    }
    pthread_mutex_unlock(&b->lock);
    // Without the lock: the driver may make these wait for the device.
    if (shut && b->fill(shut, shut_of(share), 1, l->stream) != CUDA_SUCCESS)
        complain(b, "not kept in a launch: the driver refuses to write before it");
    if (s && b->record(s->before, l->stream) != CUDA_SUCCESS)
        s->number = 0; // gr_budget_end will not know it
}

void gr_budget_end(GrBudget *b, const GrLaunch *l, CUresult result) {
    Slot *s = NULL;
    pthread_mutex_lock(&b->lock);
    for (unsigned k = 0; k < sizeof b->slots / sizeof *b->slots && !s; k++)
        if (b->slots[k].state == SLOT_OPEN && b->slots[k].number == l->number)
            s = &b->slots[k];
    pthread_mutex_unlock(&b->lock);
    if (!s)
        return;
    bool measured = result == CUDA_SUCCESS && b->record(s->after, l->stream) == CUDA_SUCCESS &&
                    (s->share > 0 || b->record(s->idle, l->stream) == CUDA_SUCCESS);
    pthread_mutex_lock(&b->lock);
    s->state = measured ? SLOT_SUBMITTED : SLOT_FREE;
    pthread_mutex_unlock(&b->lock);
}

void gr_budget_next_run(GrBudget *b) {
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    for (size_t k = 0; k < b->kernels.len; k++)
        *(BudgetKernel *)b->kernels.entries[k].value = (BudgetKernel){0};
    b->rest = (BudgetKernel){0};
    for (unsigned k = 0; k < sizeof b->slots / sizeof *b->slots; k++)
        b->slots[k].state = SLOT_FREE;
    pthread_mutex_unlock(&b->lock);
}

void gr_budget_finish(GrBudget *b) {
    if (!b)
        return;
    char text[256];
    if (b->n_measured) {
        snprintf(text, sizeof text,
                 "--budget: %llu launches were measured; together they took %.2f times their own time, with "
                 "%.3g %% of "
                 "their windows",
                 (unsigned long long)b->n_measured, b->took_ns / b->own_ns,
                 100 * b->shares / (double)b->n_measured);
        b->session->remark(b->session, text);
    } else {
        snprintf(
            text, sizeof text,
            "--budget: no kernel was launched often enough to learn its own time; one window in %u opened",
            BUDGET_START);
        b->session->remark(b->session, text);
    }
    for (size_t k = 0; k < b->kernels.len; k++)
        free(b->kernels.entries[k].value);
    gr_map_free(&b->kernels);
    gr_map_free(&b->controls);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
