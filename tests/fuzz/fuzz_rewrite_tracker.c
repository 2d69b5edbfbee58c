// SPDX-License-Identifier: Apache-2.0
// fuzz_rewrite_tracker — any PTX that parses, rewritten by the tracker, by its own rules or the paper's. (fuzz_api runs
// it.)
#include "engines/tracker/pass/tracker_pass.h"
#include "fuzz_rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char gr_tracker_runtime_ptx[], gr_tracker_cluster_runtime_ptx[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    PtxModule *m = fuzz_parse((const char *)data, size, false);
    if (!m)
        return 0;
    static char *runtime, *cluster;
    if (!runtime) {
        runtime = fuzz_stub(gr_tracker_runtime_ptx);
        cluster = fuzz_stub(gr_tracker_cluster_runtime_ptx);
    }
    bool paper = size % 3 == 0;
    TrackerOptions o = {
        .suffix = "7", .runtime = runtime, .cluster_runtime = cluster, .release_first = paper, .all = paper};
    gr_error err = {0};
    StrBuf out = {0};
    GrSiteStatus *status = calloc((size_t)m->n_sites + 1, sizeof *status);
    gr_status st = gr_tracker_rewrite(m, &o, status, &err);
    if (fuzz_rewritten(m, st, &err, status, &out))
        fuzz_parses_again(&out);
    free(status);
    gr_ptx_free(m);
    gr_str_free(&out);
    return 0;
}
