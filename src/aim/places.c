// SPDX-License-Identifier: Apache-2.0
// places — how accesses are named from run to run.
#include "aim/aim_internal.h"

#include "base/rng.h"

uint32_t gr_aim_named(Aim *a, SampleSite s) {
    uint64_t key = gr_mix64(s.function + 0x9e3779b97f4a7c15u * s.nth);
    uint32_t n = (uint32_t)(uintptr_t)gr_map_get_u64(&a->names, key);
    if (n)
        return n;
    n = (uint32_t)a->places.len;
    Place p = {.name = s, .wish = a->otherwise};
    return gr_vec_push(&a->places, p) && gr_map_put_u64(&a->names, key, (void *)(uintptr_t)n) ? n : 0;
}

static uint64_t known_key(uint64_t fingerprint, uint32_t site) { return gr_mix64(fingerprint) + site; }

uint32_t gr_aim_known(const Aim *a, uint64_t fingerprint, uint32_t site) {
    return (uint32_t)(uintptr_t)gr_map_get_u64(&a->known, known_key(fingerprint, site));
}

bool gr_aim_module(Aim *a, const PtxModule *m) {
    uint64_t fingerprint = a->options.fingerprint(m);
    const PtxFunc *f = NULL;
    gr_map_free(&a->modules); // where one was that is gone, this one may come to lie
    SampleSite here = {.nth = 0};
    for (uint32_t k = 1; k <= m->n_sites; k++) { // functions one after the other
        if (m->sites[k].func != f) {
            f = m->sites[k].func;
            here = (SampleSite){.function = gr_sample_function(f)};
        }
        here.nth++;
        uint32_t n = gr_aim_named(a, here);
        if (!n || !gr_map_put_u64(&a->known, known_key(fingerprint, k), (void *)(uintptr_t)n))
            return false;
    }
    return true;
}

uint32_t gr_aim_place(Aim *a, const PtxModule *m, uint32_t site) {
    if (!m || !site)
        return 0;
    uint64_t key = (uint64_t)(uintptr_t)m;
    void *fingerprint = gr_map_get_u64(&a->modules, key);
    if (!fingerprint) {
        fingerprint = (void *)(uintptr_t)a->options.fingerprint(m);
        (void)gr_map_put_u64(&a->modules, key, fingerprint);
    }
    return gr_aim_known(a, (uintptr_t)fingerprint, site);
}
