// SPDX-License-Identifier: Apache-2.0
#include "inject/naming.h"

#include "engines/core/host_pc.h"
#include "findings/range_record.h"
#include "inject/session.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

// A program may allocate without end. Later memory has no name then.
enum { MOST = 20000, FRAMES = 24 };
static unsigned noted;

static const char *kind_of(const GrRange *r) {
    static const char *const kinds[] = {[GR_RANGE_DEVICE] = "device",
                                        [GR_RANGE_POOL] = "pool",
                                        [GR_RANGE_MANAGED] = "managed",
                                        [GR_RANGE_PINNED] = "pinned",
                                        [GR_RANGE_REGISTERED] = "registered",
                                        [GR_RANGE_GLOBAL] = "variable",
                                        [GR_RANGE_MAPPING] = "mapping",
                                        [GR_RANGE_IMPORTED] = "imported",
                                        [GR_RANGE_GRAPH] = "graph"};
    return kinds[r->kind];
}

static bool is_between(const char *object) {
    const char *name = strrchr(object, '/');
    name = name ? name + 1 : object;
    return !strncmp(name, "libgpurace", 10) || !strncmp(name, "libcuda.so", 10) ||
           !strncmp(name, "libcudart.so", 12);
}

// Sets `out` to the calls of the program's own, beneath CUDA's libraries and ours; yields how many.
static unsigned callers(uint64_t out[GR_RANGE_CALLS]) {
    void *frames[FRAMES];
    int n = backtrace(frames, FRAMES);
    unsigned found = 0;
    for (int k = 0; k < n && found < GR_RANGE_CALLS; k++) {
        Dl_info info;
        if (dladdr(frames[k], &info) && info.dli_fname && !is_between(info.dli_fname))
            out[found++] = (uint64_t)(uintptr_t)frames[k] - 1; // the call, not what comes behind it
    }
    return found;
}

static void note(GrRecordKind kind, const GrRangeInfo *info) {
    StrBuf b = {0};
    gr_range_write(info, &b);
    gr_results_append(&gr_session.results, kind, &b);
    gr_str_free(&b);
}

// An engine that finds nothing needs no names.
static bool is_wanted(void) { return noted < MOST && gr_session.engine->caps & CAP_CHECKS; }

void gr_naming_came(const GrRange *r) {
    if (!is_wanted() || !r->at || !r->size)
        return;
    GrRangeInfo info = {.at = r->at, .size = r->size, .launch = gr_session.n_launches, .kind = kind_of(r)};
    uint64_t pcs[GR_RANGE_CALLS];
    StrBuf symbols[GR_RANGE_CALLS] = {{0}};
    static char objects[GR_RANGE_CALLS][4096];
    noted++;
    unsigned n = callers(pcs);
    for (unsigned k = 0; k < n; k++) {
        GrHostPc pc = gr_host_pc(pcs[k], &symbols[k]);
        snprintf(objects[k], sizeof objects[k], "%s", pc.object ? pc.object : "");
        info.calls[k] = (struct GrRangeCall){objects[k], symbols[k].data, pc.at};
    }
    note(GR_RECORD_CAME, &info);
    for (unsigned k = 0; k < n; k++)
        gr_str_free(&symbols[k]);
}

void gr_naming_went(CUdeviceptr at) {
    if (is_wanted() && at)
        note(GR_RECORD_WENT, &(GrRangeInfo){.at = at, .launch = gr_session.n_launches});
}
