// SPDX-License-Identifier: Apache-2.0
// workload — inputs and expectations of the benchmarks' kernels. See workload.h.
#include "workload.h"

#include <math.h>
#include <string.h>

enum {
    N = 1 << 20,
    MATRIX = 256,
    BINS = 256,
    NODES = 1 << 16,
    DEGREE = 8,
    BODIES = 2048,
    COLLATZ = 1 << 16,
};

static uint32_t scramble(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static void clear(const Work *w, unsigned b, void *bytes) { memset(bytes, 0, w->bytes[b]); }

// ---- saxpy -------------------------------------------------------------------------------------------------

// Small integers: exact, in whatever order and however they are contracted.
static void fill_floats(const Work *w, unsigned b, void *bytes) {
    float *f = bytes;
    for (uint32_t k = 0; k < w->bytes[b] / 4; k++)
        f[k] = b == 0 ? (float)(k % 17) : b == 1 ? (float)(k % 5) : 0;
}

static bool check_saxpy(const Work *w, void *const *buf) {
    const float *y = buf[1];
    (void)w;
    for (uint32_t k = 0; k < N; k++)
        if (y[k] != 2.0f * (float)(k % 17) + (float)(k % 5))
            return false;
    return true;
}

// ---- matmul ------------------------------------------------------------------------------------------------

static bool check_matmul(const Work *w, void *const *buf) {
    const float *a = buf[0], *b = buf[1], *c = buf[2];
    (void)w;
    for (uint32_t k = 0; k < MATRIX * MATRIX; k += 97) {
        float sum = 0;
        for (uint32_t j = 0; j < MATRIX; j++)
            sum += a[k / MATRIX * MATRIX + j] * b[j * MATRIX + k % MATRIX];
        if (c[k] != sum)
            return false;
    }
    return true;
}

// ---- reduce, hist, ghist -----------------------------------------------------------------------------------

static void fill_ints(const Work *w, unsigned b, void *bytes) {
    uint32_t *x = bytes;
    for (uint32_t k = 0; k < w->bytes[b] / 4; k++)
        x[k] = b == 0 ? k * 2654435761u >> 20 : 0;
}

static bool check_reduce(const Work *w, void *const *buf) {
    const uint32_t *x = buf[0], *out = buf[1];
    (void)w;
    for (uint32_t k = 0; k < N / 256; k++) {
        uint32_t sum = 0;
        for (uint32_t j = 0; j < 256; j++)
            sum += x[k * 256 + j];
        if (out[k] != sum)
            return false;
    }
    return true;
}

static bool check_hist(const Work *w, void *const *buf) {
    const uint32_t *x = buf[0];
    uint32_t want[BINS] = {0};
    (void)w;
    for (uint32_t k = 0; k < N; k++)
        want[x[k] % BINS]++;
    return !memcmp(want, buf[1], sizeof want);
}

// ---- bfs: levels of a random graph, one launch per level ---------------------------------------------------

static uint32_t neighbour(uint32_t node, uint32_t k) {
    return k == 0 ? (node + 1) % NODES : scramble(node * DEGREE + k) % NODES;
}

static void fill_bfs(const Work *w, unsigned b, void *bytes) {
    uint32_t *x = bytes;
    for (uint32_t k = 0; k < w->bytes[b] / 4; k++)
        switch (b) {
        case 0: x[k] = k * DEGREE; break; // where the edges of node k begin
        case 1: x[k] = neighbour(k / DEGREE, k % DEGREE); break;
        case 2: x[k] = k ? UINT32_MAX : 0; break; // levels
        case 3: x[k] = k == 0; break;             // in the frontier: a half for even levels, one for odd
        default: x[k] = 0;
        }
}

static bool check_bfs(const Work *w, void *const *buf) {
    static uint32_t level[NODES], queue[NODES];
    uint32_t head = 0, tail = 0;
    (void)w;
    memset(level, 0xff, sizeof level);
    level[0] = 0;
    for (queue[tail++] = 0; head < tail; head++)
        for (uint32_t k = 0; k < DEGREE; k++) {
            uint32_t to = neighbour(queue[head], k);
            if (level[to] == UINT32_MAX) {
                level[to] = level[queue[head]] + 1;
                queue[tail++] = to;
            }
        }
    return !memcmp(level, buf[2], sizeof level);
}

// ---- nbody: accelerations, all pairs -----------------------------------------------------------------------

static void fill_bodies(const Work *w, unsigned b, void *bytes) {
    float *f = bytes;
    for (uint32_t k = 0; k < w->bytes[b] / 4; k++)
        f[k] = b ? 0 : (float)(scramble(k) >> 8) / (float)(1 << 24);
}

static bool check_nbody(const Work *w, void *const *buf) {
    const float *p = buf[0], *a = buf[1];
    (void)w;
    for (uint32_t i = 0; i < BODIES; i += 61) {
        double sum[3] = {0}, most = 0;
        for (uint32_t j = 0; j < BODIES; j++) {
            double d[3], r2 = 1e-2;
            for (unsigned k = 0; k < 3; k++) {
                d[k] = (double)p[4 * j + k] - (double)p[4 * i + k];
                r2 += d[k] * d[k];
            }
            for (unsigned k = 0; k < 3; k++)
                sum[k] += (double)p[4 * j + 3] * d[k] / (r2 * sqrt(r2));
        }
        for (unsigned k = 0; k < 3; k++)
            most = fmax(most, fabs(sum[k]));
        for (unsigned k = 0; k < 3; k++)
            if (!(fabs((double)a[4 * i + k] - sum[k]) <= 1e-3 * most))
                return false;
    }
    return true;
}

// ---- collatz -----------------------------------------------------------------------------------------------

static bool check_collatz(const Work *w, void *const *buf) {
    const uint32_t *out = buf[0];
    (void)w;
    for (uint32_t k = 0; k < COLLATZ; k++) {
        uint32_t steps = 0;
        for (uint64_t v = k + 1; v != 1; steps++)
            v = v & 1 ? 3 * v + 1 : v / 2;
        if (out[k] != steps)
            return false;
    }
    return true;
}

#define BUF(n)                                                                                               \
    { WORK_BUFFER, n }
#define WORD(v)                                                                                              \
    { WORK_WORD, v }

const Work gr_work[] = {
    {.name = "saxpy",
     .grid = N / 256,
     .block = 256,
     .bytes = {N * 4, N * 4},
     .arg = {WORD(N), WORD(0x40000000 /* 2.0f */), BUF(0), BUF(1)},
     .again = -1,
     .output = 1,
     .out_words = N,
     .fill = fill_floats,
     .check = check_saxpy},
    {.name = "matmul",
     .grid = MATRIX / 16 * (MATRIX / 16),
     .block = 256,
     .bytes = {MATRIX * MATRIX * 4, MATRIX *MATRIX * 4, MATRIX *MATRIX * 4},
     .arg = {BUF(0), BUF(1), BUF(2), WORD(MATRIX)},
     .again = -1,
     .output = 2,
     .out_words = MATRIX * MATRIX,
     .fill = fill_floats,
     .check = check_matmul},
    {.name = "reduce",
     .grid = N / 256,
     .block = 256,
     .bytes = {N * 4, N / 256 * 4},
     .arg = {BUF(0), BUF(1), WORD(N)},
     .again = -1,
     .output = 1,
     .out_words = N / 256,
     .fill = fill_ints,
     .check = check_reduce},
    {.name = "hist",
     .grid = 64,
     .block = 256,
     .bytes = {N * 4, BINS * 4},
     .arg = {BUF(0), BUF(1), WORD(N)},
     .again = -1,
     .output = 1,
     .out_words = BINS,
     .fill = fill_ints,
     .check = check_hist},
    {.name = "ghist",
     .grid = N / 256,
     .block = 256,
     .bytes = {N * 4, BINS * 4},
     .arg = {BUF(0), BUF(1), WORD(N)},
     .again = -1,
     .output = 1,
     .out_words = BINS,
     .fill = fill_ints,
     .check = check_hist},
    {.name = "bfs",
     .grid = NODES / 256,
     .block = 256,
     .bytes = {(NODES + 1) * 4, NODES *DEGREE * 4, NODES * 4, NODES * 8, 4},
     .arg = {BUF(0), BUF(1), BUF(2), BUF(3), BUF(4), {WORK_LEVEL, 0}, WORD(NODES)},
     .again = 4,
     .output = 2,
     .out_words = NODES,
     .fill = fill_bfs,
     .check = check_bfs},
    {.name = "nbody",
     .grid = BODIES / 256,
     .block = 256,
     .bytes = {BODIES * 16, BODIES * 16},
     .arg = {BUF(0), BUF(1), WORD(BODIES)},
     .again = -1,
     .output = 1,
     .out_words = BODIES * 4,
     .approximate = true,
     .fill = fill_bodies,
     .check = check_nbody},
    {.name = "collatz",
     .grid = COLLATZ / 256,
     .block = 256,
     .bytes = {COLLATZ * 4},
     .arg = {BUF(0), WORD(COLLATZ)},
     .again = -1,
     .output = 0,
     .out_words = COLLATZ,
     .fill = clear,
     .check = check_collatz},
};
const size_t gr_n_work = sizeof gr_work / sizeof *gr_work;
