// SPDX-License-Identifier: Apache-2.0
// kernels — questions about two threads of kernels as people write them, each with the answer it must get.
#ifndef GR_TEST_KERNELS_H
#define GR_TEST_KERNELS_H

#include "queries.h"

// The launch: dimensions [0] x, [1] y, [2] z; those that a kernel does not use are 1.
typedef struct Launch {
    T grid[3], size[3], block[3], thread[3];
} Launch;

static Launch l;

enum { BIG = 1 << 30 };

static const char *const axes[4][3] = {{"gridDim.x", "gridDim.y", "gridDim.z"},
                                       {"blockDim.x", "blockDim.y", "blockDim.z"},
                                       {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
                                       {"threadIdx.x", "threadIdx.y", "threadIdx.z"}};

// Two threads of different blocks, or of one.
static inline void launch(unsigned dimensions, bool blocks) {
    own_block = blocks;
    T threads = num(1), differ = gr_term_false(&q.t);
    for (unsigned k = 0; k < 3; k++) {
        if (k >= dimensions) {
            l.grid[k] = l.size[k] = num(1);
            l.block[k] = l.thread[k] = num(0);
            continue;
        }
        l.grid[k] = all(axes[0][k], 1, k ? 65535 : INT32_MAX);
        l.size[k] = all(axes[1][k], 1, k == 2 ? 64 : 1024);
        l.block[k] = blk(axes[2][k], 0, k ? 65534 : INT32_MAX - 1);
        l.thread[k] = thr(axes[3][k], 0, k == 2 ? 63 : 1023);
        each(lt(l.block[k], l.grid[k]));
        each(lt(l.thread[k], l.size[k]));
        threads = mul(threads, l.size[k]);
        q.sizes[q.n_sizes++] = l.grid[k];
        q.sizes[q.n_sizes++] = l.size[k];
        T id = blocks ? l.block[k] : l.thread[k];
        differ = any(differ, ne(of(id, 1), of(id, 2)));
    }
    must(le(threads, num(1024)));
    must(differ);
}

static inline T at(unsigned k) { return add(mul(l.block[k], l.size[k]), l.thread[k]); }

static inline void block_is(unsigned k, int64_t n) { must(eq(l.size[k], num(n))); }

// ---- The paper's figures -------------------------------------------------------------------------------------------

static inline void copy_up_low(bool square) {
    launch(2, true);
    T rows = all("rows", 0, BIG), cols = all("cols", 0, BIG), i = at(0), j = at(1);
    each(both(lt(i, j), lt(j, rows)));
    if (square)
        must(eq(rows, cols));
    meet(add(mul(j, cols), i), add(mul(i, cols), j), 4);
}
static inline void figure_1(void) { copy_up_low(true); }
static inline void figure_1_alone(void) { copy_up_low(false); }

static inline void figure_2_alone(void) {
    launch(1, true);
    each(eq(l.thread[0], num(0)));
    meet(num(0), num(0), 4);
}
static inline void figure_2(void) {
    figure_2_alone();
    must(eq(l.grid[0], num(1)));
}

static inline void tone_mapping(bool host) {
    launch(2, true);
    T width = all("width", 0, BIG), height = all("height", 0, BIG),
      channels = host ? num(4) : all("channels", 0, BIG);
    if (host) {
        must(eq(l.grid[0], quo(width, num(16))));
        must(eq(l.grid[1], quo(height, num(16))));
        block_is(0, 16);
        block_is(1, 16);
    }
    T index = add(mul(mul(width, channels), at(1)), mul(at(0), channels));
    meet(index, index, 4);
}
static inline void figure_3(void) { tone_mapping(true); }
static inline void figure_3_alone(void) { tone_mapping(false); }

static inline void lud_internal(bool host) {
    launch(2, true);
    T dim = all("dim", host ? 1 : 0, BIG), offset = all("offset", -BIG, BIG);
    block_is(0, 16);
    block_is(1, 16);
    T rid = add(offset, mul(add(l.block[1], num(1)), num(16)));
    T cid = add(offset, mul(add(l.block[0], num(1)), num(16)));
    if (host) {
        must(both(le(num(0), offset), lt(offset, dim)));
        T n = sub(quo(sub(dim, offset), num(16)), num(1));
        must(eq(l.grid[0], n));
        must(eq(l.grid[1], n));
    }
    T index = add(add(mul(add(rid, l.thread[1]), dim), cid), l.thread[0]);
    meet(index, index, 4);
}
static inline void figure_4(void) { lud_internal(true); }
static inline void figure_4_alone(void) { lud_internal(false); }

static inline void shift_pitch(bool host) {
    launch(2, true);
    T pitch = all("pitch", -BIG, BIG), width = all("width", 0, BIG), height = all("height", 0, BIG);
    if (host)
        must(both(lt(num(0), pitch), le(mul(width, num(4)), pitch)));
    each(both(lt(at(0), width), lt(at(1), height)));
    T index = add(mul(at(1), quo(pitch, num(4))), at(0));
    meet(index, index, 4);
}
static inline void figure_5(void) { shift_pitch(true); }
static inline void figure_5_alone(void) { shift_pitch(false); }

// ---- In a block ----------------------------------------------------------------------------------------------------

static inline void reduction(void) { // s[t] += s[t + d], t < d
    launch(1, false);
    T d = all("d", 1, 1024), t = l.thread[0];
    each(lt(t, d));
    meet(t, add(t, d), 4);
}
static inline void reduction_strided(void) { // s[2 * d * t] += s[2 * d * t + d]
    launch(1, false);
    T d = all("d", 1, 1024), i = mul(mul(num(2), d), l.thread[0]);
    each(lt(i, l.size[0]));
    meet(i, add(i, d), 4);
}
static inline void reduction_without_barrier(void) { // the next round reads
    launch(1, false);
    T d = all("d", 2, 1024), t = l.thread[0];
    must(lt(of(t, 1), d));
    must(lt(of(t, 2), quo(d, num(2))));
    meet(t, add(t, quo(d, num(2))), 4);
}
static inline void reduction_without_syncwarp(void) {
    launch(1, false);
    block_is(0, 256);
    each(lt(l.thread[0], num(32)));
    meet(l.thread[0], add(l.thread[0], num(8)), 4);
}
static inline void stencil_without_barrier(void) { // s[t + r] = ..; .. = s[t]
    launch(1, false);
    block_is(0, 256);
    T r = all("r", 1, 3);
    meet(add(l.thread[0], r), l.thread[0], 4);
}

// ---- In a grid -----------------------------------------------------------------------------------------------------

static inline void stencil(void) { // each thread a column
    launch(1, true);
    T w = all("w", 1, BIG), h = all("h", 1, BIG), r = all("r", 0, 100), y = thr("y", 0, BIG);
    each(both(both(le(r, y), lt(y, sub(h, r))), both(le(r, at(0)), lt(at(0), sub(w, r)))));
    T index = add(mul(y, w), at(0));
    meet(index, index, 4);
}

static inline void ceil_grid(bool guard) {
    launch(2, true);
    T w = all("w", 1, BIG), h = all("h", 1, BIG);
    must(eq(l.grid[0], up(w, l.size[0])));
    must(eq(l.grid[1], up(h, l.size[1])));
    if (guard)
        each(both(lt(at(0), w), lt(at(1), h)));
    T index = add(mul(at(1), w), at(0));
    meet(index, index, 4);
}
static inline void grid_2d(void) { ceil_grid(true); }
static inline void grid_2d_without_guard(void) { ceil_grid(false); }

static inline void channels_of(bool all_below) {
    launch(2, true);
    T w = all("w", 1, BIG), h = all("h", 1, BIG), c = all("c", 1, BIG), k = thr("k", 0, BIG);
    each(both(lt(at(0), w), lt(at(1), h)));
    each(all_below ? lt(k, c) : le(k, c));
    T index = add(mul(add(mul(at(1), w), at(0)), c), k);
    meet(index, index, 4);
}
static inline void width_channels(void) { channels_of(true); }
static inline void width_channels_one_more(void) { channels_of(false); }

static inline void transposed(bool guard) { // out[(i % w) * h + i / w]
    launch(1, true);
    T w = all("w", 1, BIG), h = all("h", 1, BIG), n = all("n", 1, BIG), i = at(0);
    must(eq(n, mul(w, h)));
    if (guard)
        each(lt(i, n));
    T index = add(mul(rem(i, w), h), quo(i, w));
    meet(index, index, 4);
}
static inline void quotient_remainder(void) { transposed(true); }
static inline void quotient_remainder_without_guard(void) { transposed(false); }

static inline void grid_stride(void) {
    launch(1, true);
    GrSymbol *rounds = gr_symbol(&q.t, GR_SYM_COUNTER, GR_SYM_THREAD, 32, "k");
    rounds->low = 0;
    T n = all("n", 0, BIG), k = gr_term_sym(&q.t, rounds), i = add(at(0), mul(k, mul(l.grid[0], l.size[0])));
    each(lt(i, n));
    meet(i, i, 4);
}

static inline void grid_3d(void) {
    launch(3, true);
    T w = all("w", 1, BIG), h = all("h", 1, BIG), d = all("d", 1, BIG);
    each(both(both(lt(at(0), w), lt(at(1), h)), lt(at(2), d)));
    T index = add(add(mul(mul(at(2), w), h), mul(at(1), w)), at(0));
    meet(index, index, 4);
}

static inline void chunks(int64_t stride) {
    launch(1, true);
    T k = thr("k", 0, 3), i = add(mul(at(0), num(stride)), k);
    meet(i, i, 4);
}
static inline void chunks_of_4(void) { chunks(4); }
static inline void chunks_of_4_every_3(void) { chunks(3); }

static inline void full_linear(void) {
    launch(3, true);
    T block = add(add(mul(mul(l.block[2], l.grid[1]), l.grid[0]), mul(l.block[1], l.grid[0])), l.block[0]);
    T thread =
        add(add(mul(mul(l.thread[2], l.size[1]), l.size[0]), mul(l.thread[1], l.size[0])), l.thread[0]);
    T i = add(mul(block, mul(mul(l.size[0], l.size[1]), l.size[2])), thread);
    meet(i, i, 4);
}

static inline void halves(void) { // a[2 * i] and a[2 * i + 1]
    launch(1, true);
    meet(mul(at(0), num(2)), add(mul(at(0), num(2)), num(1)), 8);
}

static const struct Kernel {
    const char *name;
    void (*build)(void);
    GrAnswer answer;
} kernels[] = {
    {"figure 1", figure_1, GR_ANSWER_NO},
    {"figure 1 without its assert", figure_1_alone, GR_ANSWER_YES},
    {"figure 2", figure_2, GR_ANSWER_NO},
    {"figure 2 without its grid", figure_2_alone, GR_ANSWER_YES},
    {"figure 3", figure_3, GR_ANSWER_NO},
    {"figure 3 without its grid", figure_3_alone, GR_ANSWER_YES},
    {"figure 4", figure_4, GR_ANSWER_NO},
    {"figure 4 without its loop", figure_4_alone, GR_ANSWER_YES},
    {"figure 5", figure_5, GR_ANSWER_NO},
    {"figure 5 without its allocation", figure_5_alone, GR_ANSWER_YES},
    {"reduction", reduction, GR_ANSWER_NO},
    {"reduction, strided", reduction_strided, GR_ANSWER_NO},
    {"reduction without a barrier", reduction_without_barrier, GR_ANSWER_YES},
    {"reduction without __syncwarp", reduction_without_syncwarp, GR_ANSWER_YES},
    {"stencil", stencil, GR_ANSWER_NO},
    {"stencil without a barrier", stencil_without_barrier, GR_ANSWER_YES},
    {"grid of two dimensions", grid_2d, GR_ANSWER_NO},
    {"grid of two dimensions without a guard", grid_2d_without_guard, GR_ANSWER_YES},
    {"width * channels", width_channels, GR_ANSWER_NO},
    {"width * channels, one too many", width_channels_one_more, GR_ANSWER_YES},
    {"i / w and i % w", quotient_remainder, GR_ANSWER_NO},
    {"i / w and i % w without a guard", quotient_remainder_without_guard, GR_ANSWER_YES},
    {"grid-stride loop", grid_stride, GR_ANSWER_NO},
    {"grid of three dimensions", grid_3d, GR_ANSWER_NO},
    {"chunks of 4", chunks_of_4, GR_ANSWER_NO},
    {"chunks of 4 at every 3rd", chunks_of_4_every_3, GR_ANSWER_YES},
    {"full linear number", full_linear, GR_ANSWER_NO},
    {"halves", halves, GR_ANSWER_NO},
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

#endif
