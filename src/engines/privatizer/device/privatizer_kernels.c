// SPDX-License-Identifier: Apache-2.0
// privatizer_kernels — what the host launches between the passes of GR_OF_BLOCKS.
#include "engines/privatizer/device/merge.h"

GR_SREG32(ntid_x, "ntid.x")
GR_SREG32(nctaid_x, "nctaid.x")

// The one slot of GR_OF_BLOCKS.
GR_INLINE Slot slot_of_grid(uint64_t base, uint64_t stride, uint64_t span, uint64_t lines, uint64_t log,
                            uint32_t n) {
    return (Slot){.base = base,
                  .united = base + stride,
                  .privates = base + 2 * stride,
                  .stride = stride,
                  .span = span,
                  .lines = lines,
                  .n_lines = span >> GR_LINE_SHIFT,
                  .log = log,
                  .n = n};
}

static GR_NOINLINE void gr_priv_lines_of_grid(const Slot *s, int merges) {
    Team t = {gr_ctaid_x() * ntid_x() + gr_tid_x(), nctaid_x() * ntid_x()};
    gr_priv_all_lines(s, &t, merges);
}

#define KERNEL __attribute__((nvptx_kernel))

KERNEL void __gr_merge_blocks(uint64_t base, uint64_t stride, uint64_t span, uint64_t lines, uint64_t log,
                              uint32_t n) {
    Slot s = slot_of_grid(base, stride, span, lines, log, n);
    gr_priv_lines_of_grid(&s, 1);
}

// `sums`: n numbers of pass 1, then n of pass 2.
KERNEL void __gr_check_blocks(uint64_t base, uint64_t stride, uint64_t span, uint64_t lines, uint64_t log,
                              uint32_t n, uint64_t sums) {
    Slot s = slot_of_grid(base, stride, span, lines, log, n);
    GR_GLOBAL uint64_t *sum = (GR_GLOBAL uint64_t *)sums;
    gr_priv_lines_of_grid(&s, 0);
    GR_ROLLED for (uint32_t k = gr_ctaid_x() * ntid_x() + gr_tid_x(); k < n;
                   k += nctaid_x() * ntid_x()) if (sum[k] != sum[n + k])
        gr_priv_report(&s, GR_FOUND_READ, k, k, 0, 0);
}

static GR_NOINLINE uint64_t gr_priv_address(uint64_t offset, uint64_t shared, uint64_t arena,
                                            uint64_t arena_bytes, uint64_t extents, uint32_t n) {
    if (offset - shared < arena_bytes)
        return arena + (offset - shared);
    GR_ROLLED for (uint32_t k = 0; k < n; k++) {
        GR_GLOBAL GrPrivExtent *e = (GR_GLOBAL GrPrivExtent *)extents + k;
        if (offset - e->offset < e->size)
            return e->at + (offset - e->offset);
    }
    return 0;
}

// What the blocks with slots wrote, in their order, goes to the program's memory. One thread for a word, so nothing is atomic.
KERNEL void __gr_commit(uint64_t control) {
    GR_GLOBAL GrPrivControl *c = (GR_GLOBAL GrPrivControl *)control;
    uint64_t n_lines = c->span >> GR_LINE_SHIFT;
    uint32_t thread = gr_ctaid_x() * ntid_x() + gr_tid_x(), warps = nctaid_x() * ntid_x() / 32;
    GR_ROLLED for (uint64_t line = c->shared_bytes / GR_LINE + thread / 32; line < n_lines; line += warps) {
        GR_ROLLED for (uint32_t k = thread % 32; k < GR_LINE / 4 && byte_at(c->changed + line); k += 32) {
            uint64_t at = line * GR_LINE + k * 4;
            uint64_t to =
                gr_priv_address(at, c->shared_bytes, c->arena, c->arena_bytes, c->extents, c->n_extents);
            if (!to)
                continue;
            // The program's memory is what it was before the launch.
            uint32_t was = word_at(to), all = was, updaters = 0, updated = 0;
            GR_ROLLED for (uint64_t s = 0; s < c->slots; s++) {
                uint64_t base = c->copies + s * c->slot_stride;
                uint32_t now = word_at(base + at), own = bytes_of(now ^ was);
                if (byte_at(base + c->span + at / 4)) {
                    updaters++;
                    updated = now;
                } else {
                    all = (all & ~own) | (now & own);
                }
            }
            if (updaters)
                all = updaters == 1 ? updated : word_at(c->sum + at);
            if (all != was)
                put_word(to, all);
        }
    }
}
