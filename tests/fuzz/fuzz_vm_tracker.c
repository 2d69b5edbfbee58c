// SPDX-License-Identifier: Apache-2.0
// fuzz_vm_tracker — any PTX that parses, rewritten by the tracker, printed and parsed again as a driver would, and run
// on the CPU device, whose extension takes the calls of the device runtime: nothing of it crashes, and a race that is
// recorded is one of two accesses of the module.
#include "engines/tracker/decode.h"
#include "engines/tracker/device/record.h"
#include "engines/tracker/memory.h"
#include "engines/tracker/pass/tracker_pass.h"
#include "fuzz_vm.h"

#include "fuzz_rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char gr_tracker_runtime_ptx[], gr_tracker_cluster_runtime_ptx[];
extern const char gr_paper_runtime_ptx[], gr_paper_cluster_runtime_ptx[];

enum { SITES = 256 };

// ---- What the tracker asks of the injection ---------------------------------------------------------------

static void *no_driver(GrSession *s, const char *name) {
    (void)s, (void)name;
    return NULL;
}

static CUdeviceptr take(GrSession *s, size_t size) {
    VmRange *range = NULL;
    (void)s;
    return gr_vm_mem_alloc(fuzz_mem(), VM_MEM_INTERNAL, 0, size, 256, &range, NULL) == GR_OK ? range->addr
                                                                                             : 0;
}

static CUresult write(GrSession *s, CUdeviceptr to, const void *from, size_t size) {
    (void)s;
    memcpy(gr_vm_mem_view(fuzz_mem(), to, size), from, size);
    return CUDA_SUCCESS;
}

static void no_note(GrSession *s, const char *what, const char *text) {
    (void)s;
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static GrSession session = {.driver = no_driver, .write = write, .take = take, .note = no_note};

// The metadata of the memory that parameters point to. It stays from input to input, as a program's does from launch to
// launch.
static TrackerMemory *metadata(void) {
    static TrackerMemory *m;
    if (m)
        return m;
    m = gr_tracker_memory_new(&session);
    if (!m)
        abort();
    gr_tracker_memory_add(m, &(GrRange){.at = fuzz_memory(), .size = FUZZ_MEMORY});
    return m;
}

// ---- A module ---------------------------------------------------------------------------------------------

// The module as the tracker leaves it, from its text. NULL: it cannot be rewritten. The runtime's functions do nothing:
// none of them is called.
static PtxModule *rewrite(PtxModule *ptx, bool paper) {
    static char *runtime[2], *cluster[2];
    static GrSiteStatus status[SITES + 1];
    if (!runtime[paper]) {
        runtime[paper] = fuzz_stub(paper ? gr_paper_runtime_ptx : gr_tracker_runtime_ptx);
        cluster[paper] = fuzz_stub(paper ? gr_paper_cluster_runtime_ptx : gr_tracker_cluster_runtime_ptx);
    }
    TrackerOptions o = {.suffix = "7",
                        .runtime = runtime[paper],
                        .cluster_runtime = cluster[paper],
                        .release_first = paper,
                        .all = paper};
    gr_error err = {0};
    StrBuf text = {0};
    PtxModule *out = NULL;
    gr_status st = gr_tracker_rewrite(ptx, &o, status, &err);
    if (fuzz_rewritten(ptx, st, &err, NULL, &text) &&
        gr_ptx_parse_ours(text.data, text.len, "rewritten", &out, &err) != GR_OK) {
        fprintf(stderr, "%u: %s in:\n%s\n", err.line, err.msg, text.data);
        abort();
    }
    gr_str_free(&text);
    return out;
}

// Where the module's races go; NULL: it has no control block.
static const GrTrackedHeader *arm(VmModule *mod, uint32_t n_sites, size_t size) {
    static VmRange *area;
    uint64_t at, bytes;
    bool managed;
    char name[64];
    if (!gr_vm_module_global(mod, gr_tracker_control_name("7", name, sizeof name), &at, &bytes, &managed))
        return NULL;
    GrTrackerControl control = {.area = fuzz_alloc(&area, gr_tracker_area_bytes(SITES)),
                                .pairs = gr_tracker_pairs(n_sites),
                                .volatiles = (uint32_t)(size % 5 % 3),
                                .same_value = size & 8,
                                .stop = size % 7 == 0,
                                .word_mode = size & 16 ? GR_WORDS_WHOLE : GR_WORDS_BYTES,
                                .paper = size % 3 == 0,
                                .module = 7};
    if (!gr_tracker_memory_control(metadata(), &control))
        abort();
    memcpy(gr_vm_mem_view(fuzz_mem(), at, sizeof control), &control, sizeof control);
    return gr_vm_mem_view(fuzz_mem(), control.area, gr_tracker_area_bytes(n_sites));
}

static void check_races(const GrTrackedHeader *area, uint32_t n_sites) {
    const GrPair *p = (const GrPair *)(area + 1);
    for (uint32_t k = 0; k < gr_tracker_pairs(n_sites); k++) {
        if (p[k].state == GR_PAIR_EMPTY)
            continue;
        if (p[k].state != GR_PAIR_READY || !p[k].count || !p[k].bytes || !p[k].class)
            abort();
        for (unsigned i = 0; i < 2; i++)
            if (!p[k].side[i].site || p[k].side[i].site > n_sites)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // Numbers of one that is gone are not used again: its accesses are still in the metadata.
    static uint64_t launches;
    PtxModule *original, *ptx;
    VmModule *mod = NULL;
    if (gr_ptx_parse((const char *)data, size, "input", &original, NULL) != GR_OK)
        return 0;
    uint32_t n_sites = original->n_sites;
    ptx = n_sites <= SITES ? rewrite(original, size % 3 == 0) : NULL;
    gr_ptx_free(original);
    if (!ptx)
        return 0;
    VmDevice *dev = fuzz_device(size);
    if (gr_vm_module_load(dev, &ptx, 1, NULL, NULL, &mod, NULL) == GR_OK) {
        const GrTrackedHeader *area = arm(mod, n_sites, size);
        fuzz_run_from(dev, mod, size & 1, launches);
        launches += 2 * FUZZ_KERNELS;
        if (area)
            check_races(area, n_sites);
    }
    gr_vm_destroy(dev); // the module goes with it
    gr_ptx_free(ptx);
    return 0;
}
