// SPDX-License-Identifier: Apache-2.0
#include "inject/uses.h"

#include <string.h>

// What a kernel has; such a list ends with name NULL.
typedef struct KernelUses {
    const char *name;
    unsigned uses;
} KernelUses;

static unsigned wanted; // bits: what the engine does not look for here
static unsigned seen;   // atomic: of these, what is noted
static CUstream first;  // atomic: the stream of the first work
static int first_is_known;

static unsigned device(void) {
    return strcmp(gr_session.options.device, "gpu") ? GR_BLIND_CPU : GR_BLIND_GPU;
}

void gr_uses_begin(void) {
    for (unsigned use = 0; use < GR_USES; use++)
        if (gr_blind_find(gr_session.engine->blind, use, device()))
            wanted |= 1u << use;
}

void gr_use_seen(GrUse use) {
    unsigned bit = 1u << use;
    if (!(wanted & bit) || __atomic_load_n(&seen, __ATOMIC_RELAXED) & bit ||
        __atomic_fetch_or(&seen, bit, __ATOMIC_RELAXED) & bit)
        return;
    const GrBlind *row = gr_blind_find(gr_session.engine->blind, use, device());
    gr_session_blindf("%s (%s)", row->what, gr_session.engine->name);
}

void gr_use_stream(CUstream stream) {
    if (!(wanted & 1u << GR_USE_STREAMS))
        return;
    if (!__atomic_load_n(&first_is_known, __ATOMIC_ACQUIRE)) { // two threads at once: either is the first
        __atomic_store_n(&first, stream, __ATOMIC_RELAXED);
        __atomic_store_n(&first_is_known, 1, __ATOMIC_RELEASE);
    } else if (__atomic_load_n(&first, __ATOMIC_RELAXED) != stream) {
        gr_use_seen(GR_USE_STREAMS);
    }
}

void gr_uses_take(LoadedModule *m, const PtxModule *ptx) {
    uint32_t n = 0;
    unsigned callees = GR_USES_UNKNOWN;
    KernelUses *all = wanted ? GR_NEW_ARRAY(&m->arena, KernelUses, (size_t)ptx->n_funcs + 1) : NULL;
    for (uint32_t k = 0; all && k < ptx->n_funcs; k++) {
        const PtxFunc *f = ptx->funcs[k];
        if (!f->is_entry || !f->has_body)
            continue;
        all[n] = (KernelUses){gr_arena_strdup(&m->arena, f->name), gr_uses_of_kernel(f, wanted, &callees)};
        n += all[n].name != NULL;
    }
    if (all)
        all[n].name = NULL;
    m->uses = all;
    for (uint32_t k = 0; k < ptx->n_vars; k++)
        if (ptx->vars[k]->is_managed)
            gr_use_seen(GR_USE_HOST);
}

void gr_uses_launched(const Kernel *k) {
    for (const KernelUses *u = k->module ? k->module->uses : NULL; u && u->name; u++)
        if (!strcmp(u->name, k->name)) {
            for (unsigned use = 0; use < GR_USES; use++)
                if (u->uses >> use & 1)
                    gr_use_seen(use);
            return;
        }
}
