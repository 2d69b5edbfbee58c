// SPDX-License-Identifier: Apache-2.0
// misuse — synchronization that is wrong in itself, as the device tells: one entry for each kind and place.
#include "exact/exact_internal.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

struct ExactMisuse {
    uint64_t *counter; // may be NULL
};

static const struct {
    const char *name, *meaning;
} kinds[] = {
#define MISUSE(id, text, meaning) {text, meaning},
#include "vm/misuse.def"
#undef MISUSE
};

const char *gr_exact_misuse_name(unsigned kind) {
    return kind < VM_MISUSE_COUNT ? kinds[kind].name : "misuse";
}
const char *gr_exact_misuse_meaning(unsigned kind) {
    return kind < VM_MISUSE_COUNT ? kinds[kind].meaning : "";
}

static uint64_t place_of(const VmMisuseEvent *e) {
    uint64_t h = gr_mix64((uint64_t)e->kind << 32 | e->ptx_line);
    h = gr_mix64(h ^ e->outer_line);
    h = gr_mix64(h ^ ((uint64_t)e->line << 32 | e->column));
    h = gr_mix64(h ^ (e->kernel ? gr_hash_bytes(e->kernel, strlen(e->kernel)) : 1));
    return gr_mix64(h ^ (e->file ? gr_hash_bytes(e->file, strlen(e->file)) : 1));
}

void gr_exact_misuse(void *exact, const VmMisuseEvent *e) {
    Exact *x = exact;
    if (!x->options.misused || (x->options.wanted && !x->options.wanted(x->options.user, e->kernel)))
        return;
    uint64_t key = place_of(e);
    ExactMisuse *m = gr_map_get_u64(&x->misuses, key);
    if (!m) {
        m = calloc(1, sizeof *m);
        if (!m || !gr_map_put_u64(&x->misuses, key, m)) {
            free(m);
            x->nomem = true;
            return;
        }
        m->counter = x->options.misused(x->options.user, e);
    }
    if (m->counter)
        *m->counter += e->threads;
}

void gr_exact_misuses_free(Exact *x) {
    for (size_t k = 0; k < x->misuses.len; k++)
        if (x->misuses.entries[k].live)
            free(x->misuses.entries[k].value);
    gr_map_free(&x->misuses);
}
