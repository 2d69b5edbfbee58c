// SPDX-License-Identifier: Apache-2.0
// LABELS: exact-soak
// Conjugate gradients for the five-point Laplacian, in one cooperative launch: all blocks meet at grid barriers, dot products
// go through atomics on doubles, three of which take turns. Managed memory throughout.
#include "complete.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

struct System {
    int side;
    double *x, *r, *p, *ap, *dots; // dots: p.Ap and r.r, three of each
    int *iterations;
};

__host__ __device__ double apply(const double *v, int side, int i)
{
    int x = i % side, y = i / side;
    double sum = 4.1 * v[i];
    if (x > 0)
        sum -= v[i - 1];
    if (x < side - 1)
        sum -= v[i + 1];
    if (y > 0)
        sum -= v[i - side];
    if (y < side - 1)
        sum -= v[i + side];
    return sum;
}

__device__ void add_dot(cg::thread_block block, double mine, double *to)
{
    __shared__ double warps[32];
    auto warp = cg::tiled_partition<32>(block);
    double sum = cg::reduce(warp, mine, cg::plus<double>());
    if (warp.thread_rank() == 0)
        warps[warp.meta_group_rank()] = sum;
    block.sync();
    if (block.thread_rank() == 0) {
        sum = 0;
        for (unsigned w = 0; w < warp.meta_group_size(); w++)
            sum += warps[w];
        atomicAdd(to, sum);
    }
    block.sync();
}

__global__ void solve(System s, double bound, int limit)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int n = s.side * s.side, first = (int)grid.thread_rank(), stride = (int)grid.size();
    double *pap = s.dots, *rr = s.dots + 3, mine = 0;
    for (int i = first; i < n; i += stride) {
        s.p[i] = s.r[i];
        mine += s.r[i] * s.r[i];
    }
    add_dot(block, mine, &rr[0]);
    grid.sync();
    int k = 0;
    for (; k < limit; k++) {
        int now = k % 3, next = (k + 1) % 3;
        double old = *(volatile double *)&rr[now];
        if (old <= bound)
            break;
        mine = 0;
        for (int i = first; i < n; i += stride) {
            double a = apply(s.p, s.side, i);
            s.ap[i] = a;
            mine += a * s.p[i];
        }
        add_dot(block, mine, &pap[now]);
        grid.sync();
        double alpha = old / *(volatile double *)&pap[now];
        mine = 0;
        for (int i = first; i < n; i += stride) {
            s.x[i] += alpha * s.p[i];
            double r = s.r[i] - alpha * s.ap[i];
            s.r[i] = r;
            mine += r * r;
        }
        if (first == 0) // nobody looks at those of the step after the next now
            rr[(k + 2) % 3] = pap[(k + 2) % 3] = 0;
        add_dot(block, mine, &rr[next]);
        grid.sync();
        double beta = *(volatile double *)&rr[next] / old;
        for (int i = first; i < n; i += stride)
            s.p[i] = s.r[i] + beta * s.p[i];
        grid.sync();
    }
    if (first == 0)
        *s.iterations = k;
}

int main()
{
    System s;
    s.side = 43;
    const int n = s.side * s.side;
    for (double **p : {&s.x, &s.r, &s.p, &s.ap})
        CHECK(cudaMallocManaged(p, n * sizeof(double)));
    CHECK(cudaMallocManaged(&s.dots, 6 * sizeof(double)));
    CHECK(cudaMallocManaged(&s.iterations, sizeof(int)));
    Random random(21);
    std::vector<double> want(n), got(n), check(n);
    for (auto &e : want)
        e = random.uniform() - 0.5;
    for (int i = 0; i < n; i++) {
        s.r[i] = check[i] = apply(want.data(), s.side, i);
        s.x[i] = 0;
    }
    for (int i = 0; i < 6; i++)
        s.dots[i] = 0;
    double bound = 1e-24;
    int limit = 300;
    void *arguments[] = {&s, &bound, &limit};
    int per_sm, sms, block = 160;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, solve, block, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaLaunchCooperativeKernel(solve, std::min(per_sm * sms, 6), block, arguments, 0, 0));
    finish_launches();
    got.assign(s.x, s.x + n);
    expect_near("solution", got, want, 1e-10);
    EXPECT(*s.iterations > 10 && *s.iterations < limit);
    return finish();
}
