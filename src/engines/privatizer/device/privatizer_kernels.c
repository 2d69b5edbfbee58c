// SPDX-License-Identifier: Apache-2.0
// privatizer_kernels — what the host launches between the passes of GR_OF_BLOCKS.
#include "engines/privatizer/device/merge.h"

GR_SREG32(ntid_x, "ntid.x")
GR_SREG32(nctaid_x, "nctaid.x")

static GR_NOINLINE void gr_priv_lines_of_grid(const Slot *s, int merges) {
    Team t = {gr_ctaid_x() * ntid_x() + gr_tid_x(), nctaid_x() * ntid_x()};
    gr_priv_all_lines(s, &t, merges);
}

#define KERNEL __attribute__((nvptx_kernel))

KERNEL void __gr_merge_blocks(uint64_t base, uint64_t stride, uint64_t span, uint64_t lines, uint64_t log,
                              uint32_t n) {
    Slot s = {.base = base,
              .united = base + stride,
              .privates = base + 2 * stride,
              .stride = stride,
              .span = span,
              .lines = lines,
              .n_lines = span >> GR_LINE_SHIFT,
              .log = log,
              .n = n};
    gr_priv_lines_of_grid(&s, 1);
}

// `sums`: n numbers of pass 1, then n of pass 2.
KERNEL void __gr_check_blocks(uint64_t base, uint64_t stride, uint64_t span, uint64_t lines, uint64_t log,
                              uint32_t n, uint64_t sums) {
    Slot s = {.base = base,
              .united = base + stride,
              .privates = base + 2 * stride,
              .stride = stride,
              .span = span,
              .lines = lines,
              .n_lines = span >> GR_LINE_SHIFT,
              .log = log,
              .n = n};
    GR_GLOBAL uint64_t *sum = (GR_GLOBAL uint64_t *)sums;
    gr_priv_lines_of_grid(&s, 0);
    GR_ROLLED for (uint32_t k = gr_ctaid_x() * ntid_x() + gr_tid_x(); k < n;
                   k += nctaid_x() * ntid_x()) if (sum[k] != sum[n + k])
        gr_priv_report(&s, GR_FOUND_READ, k, k, 0, 0);
}
