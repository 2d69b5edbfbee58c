// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/kept.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void gr_kept_init(GrKept *k, GrSession *s) { *k = (GrKept){.session = s}; }

void gr_kept_free(GrKept *k) { gr_vec_free(&k->controls); }

// Rarely more than once: most such memory is allocated before kernels are loaded.
static void tell(GrKept *k, CUdeviceptr control) {
    uint64_t told[3] = {k->low, k->high - k->low, k->granules};
    CUresult rc = k->session->write(k->session, control + offsetof(GrControl, kept), told, sizeof told);
    if (rc == CUDA_SUCCESS || k->failed)
        return;
    char text[96];
    snprintf(text, sizeof text, "stores to memory that the host may read are poisoned (CUDA error %d)",
             (int)rc);
    k->session->note(k->session, "poison", text);
    k->failed = true;
}

static uint64_t granules_of(uint64_t low, uint64_t high) {
    uint64_t first = low >> GR_GRANULE_SHIFT, last = (high - 1) >> GR_GRANULE_SHIFT, bits = 0;
    if (last - first >= GR_GRANULES)
        return UINT64_MAX;
    for (uint64_t n = first; n <= last; n++)
        bits |= (uint64_t)1 << n % GR_GRANULES;
    return bits;
}

static void keep(GrKept *k, uint64_t low, uint64_t high) {
    bool none = k->low == k->high;
    if (low == high)
        return;
    uint64_t granules = granules_of(low, high);
    if (!none && low >= k->low && high <= k->high && !(granules & ~k->granules))
        return;
    k->granules |= granules;
    k->low = none || low < k->low ? low : k->low;
    k->high = none || high > k->high ? high : k->high;
    for (size_t i = 0; i < k->controls.len; i++)
        tell(k, k->controls.data[i].at);
}

static bool is_managed(GrSession *s, CUdeviceptr at) {
    unsigned managed = 0;
    CUresult (*ask)(void *, CUpointer_attribute, CUdeviceptr) =
        (CUresult(*)(void *, CUpointer_attribute, CUdeviceptr))s->driver(s, "cuPointerGetAttribute");
    return ask && ask(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at) == CUDA_SUCCESS && managed;
}

bool gr_kept_is_shared(GrSession *s, const GrRange *r) {
    switch (r->kind) {
    case GR_RANGE_DEVICE:
    case GR_RANGE_POOL:
    case GR_RANGE_MAPPING:
    case GR_RANGE_GRAPH: return false;
    case GR_RANGE_GLOBAL: return is_managed(s, r->at);
    case GR_RANGE_MANAGED:
    case GR_RANGE_PINNED:
    case GR_RANGE_REGISTERED:
    case GR_RANGE_IMPORTED: break;
    }
    return true;
}

void gr_kept_allocated(GrKept *k, const GrRange *r) {
    if (k->session && gr_kept_is_shared(k->session, r))
        keep(k, r->at, r->at + r->size);
}

// Kernels of a second device may look at the memory of the first.
static void see_device(GrKept *k) {
    CUdevice device;
    CUresult (*ask)(CUdevice *) = (CUresult(*)(CUdevice *))k->session->driver(k->session, "cuCtxGetDevice");
    if (!ask || ask(&device) != CUDA_SUCCESS)
        return;
    if (k->has_device && device != k->device)
        keep(k, 0, UINT64_MAX);
    k->has_device = true;
    k->device = device;
}

void gr_kept_loaded(GrKept *k, const GrModule *m, CUdeviceptr at, GrControl *control) {
    if (!k->session)
        return;
    see_device(k);
    control->kept = k->low;
    control->kept_bytes = k->high - k->low;
    control->kept_granules = k->granules;
    if (gr_vec_push(&k->controls, ((struct GrKeptControl){m, at})))
        return;
    control->kept = 0; // nobody will tell it of more
    control->kept_bytes = control->kept_granules = UINT64_MAX;
}

void gr_kept_unloaded(GrKept *k, const GrModule *m) {
    size_t n = 0;
    for (size_t i = 0; i < k->controls.len; i++)
        if (k->controls.data[i].module != m)
            k->controls.data[n++] = k->controls.data[i];
    k->controls.len = n;
}
