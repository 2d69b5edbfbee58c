// SPDX-License-Identifier: Apache-2.0
// retire — memory of pools that the program frees with cudaFree. CUDA does not wait there for users of the memory, and
// on a GPU the memory stays mapped. So it goes when everything that was submitted before has ended. Later work does not
// find it.
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"

typedef struct Retired {
    uint64_t addr, size, item, launch; // the last one that may use it
    uint32_t call;
} Retired;

static VEC(Retired) retired; // in the order of the calls

static void tell(GrWorkKind kind, const Retired *r) {
    gr_work_frees(kind, r->item, r->launch, r->addr, r->size, r->call);
}

void gr_work_freed(uint64_t addr, uint64_t size) {
    Retired r = {.addr = addr,
                 .size = size,
                 .item = gr_queue_number(),
                 .launch = gr_queue_launches(NULL),
                 .call = gr_work_call()};
    tell(GR_WORK_FREES, &r);
    tell(GR_WORK_FREED, &r);
}

void gr_retire(const VmRange *range) {
    Retired r = {.addr = range->addr,
                 .size = range->size,
                 .item = gr_queue_number(),
                 .launch = gr_queue_launches(NULL),
                 .call = gr_work_call()};
    tell(GR_WORK_FREES, &r);
    bool in_use = gr_queue_oldest() < r.item;
    if (in_use && gr_vec_push(&retired, r)) {
        gr_mem_retire(r.addr, r.launch);
        return;
    }
    if (in_use) // no room to remember it
        gr_queue_outlast();
    tell(GR_WORK_FREED, &r);
    gr_mem_free_now(r.addr);
}

void gr_retire_collect(void) {
    size_t n = 0;
    uint64_t oldest = retired.len ? gr_queue_oldest() : 0;
    for (; n < retired.len && retired.data[n].item < oldest; n++) {
        tell(GR_WORK_FREED, &retired.data[n]);
        gr_mem_drop_retired(retired.data[n].addr);
    }
    if (n)
        memmove(retired.data, retired.data + n, (retired.len - n) * sizeof *retired.data);
    retired.len -= n;
}

void gr_retire_end(void) {
    for (size_t k = 0; k < retired.len; k++)
        tell(GR_WORK_FREED, &retired.data[k]);
    retired.len = 0;
}
