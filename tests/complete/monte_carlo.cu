// SPDX-License-Identifier: Apache-2.0
// Monte Carlo: pi with xorshift generators kept in memory between launches, an Asian option with Philox counters and normal
// numbers by Box and Muller, and a random walk on a lattice. The CPU draws the same numbers.
#include "complete.h"

#define BOTH __host__ __device__

BOTH unsigned xorshift(unsigned &s)
{
    s ^= s << 13;
    s ^= s >> 17;
    return s ^= s << 5;
}

struct Philox { // 4 x 32, 10 rounds
    unsigned c[4], k[2];
    BOTH static unsigned high(unsigned a, unsigned b)
    {
#ifdef __CUDA_ARCH__
        return __umulhi(a, b);
#else
        return (unsigned)((unsigned long long)a * b >> 32);
#endif
    }
    BOTH void draw(unsigned out[4])
    {
        unsigned x[4] = {c[0], c[1], c[2], c[3]}, key[2] = {k[0], k[1]};
        for (int r = 0; r < 10; r++) {
            unsigned h0 = high(0xd2511f53u, x[0]), l0 = 0xd2511f53u * x[0], h1 = high(0xcd9e8d57u, x[2]), l1 = 0xcd9e8d57u * x[2];
            x[0] = h1 ^ x[1] ^ key[0], x[1] = l1, x[2] = h0 ^ x[3] ^ key[1], x[3] = l0;
            key[0] += 0x9e3779b9u, key[1] += 0xbb67ae85u;
        }
        for (int i = 0; i < 4; i++)
            out[i] = x[i];
        c[0]++;
    }
};

__global__ void darts(unsigned *states, int n, int each, unsigned long long *inside)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hits = 0;
    if (i < n) {
        unsigned s = states[i];
        for (int k = 0; k < each; k++) {
            unsigned long long x = xorshift(s) >> 8, y = xorshift(s) >> 8;
            hits += x * x + y * y < 1ull << 48;
        }
        states[i] = s;
    }
    hits = __reduce_add_sync(~0u, hits);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, (unsigned long long)hits);
}

BOTH double option_path(int path, int steps)
{
    Philox p = {{0, (unsigned)path, 0, 7}, {0x12345678u, 0x9abcdef0u}};
    float price = 100.0f, sum = 0, dt = 1.0f / steps, drift = (0.05f - 0.5f * 0.2f * 0.2f) * dt, spread = 0.2f * sqrtf(dt);
    for (int s = 0; s < steps; s += 4) {
        unsigned u[4];
        p.draw(u);
        for (int k = 0; k < 4; k += 2) {
            float a = ((u[k] >> 8) + 1) * (1.0f / 16777217.0f), b = (u[k + 1] >> 8) * (1.0f / 16777216.0f) * 2;
            float radius = sqrtf(-2 * logf(a)), sine, cosine;
#ifdef __CUDA_ARCH__
            sincospif(b, &sine, &cosine);
#else
            sine = sinf((float)M_PI * b), cosine = cosf((float)M_PI * b);
#endif
            price *= expf(drift + spread * radius * cosine);
            sum += price;
            price *= expf(drift + spread * radius * sine);
            sum += price;
        }
    }
    float payoff = sum / steps - 100.0f;
    return payoff > 0 ? payoff * expf(-0.05f) : 0;
}

__global__ void option(int paths, int steps, double *each)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < paths; i += gridDim.x * blockDim.x)
        each[i] = option_path(i, steps);
}

__global__ void walks(int walkers, int steps, unsigned seed, int *visits, int side)
{
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= walkers)
        return;
    unsigned s = seed + w * 747796405u;
    int x = side / 2, y = side / 2;
    for (int i = 0; i < steps; i++) {
        switch (xorshift(s) >> 30) {
        case 0: x = x + 1 == side ? 0 : x + 1; break;
        case 1: x = x == 0 ? side - 1 : x - 1; break;
        case 2: y = y + 1 == side ? 0 : y + 1; break;
        default: y = y == 0 ? side - 1 : y - 1;
        }
        atomicAdd(&visits[y * side + x], 1);
    }
}

int main()
{
    const int n = 3001, each = 20, paths = 2003, steps = 16, walkers = 300, side = 13;
    Random random(30);
    std::vector<unsigned> states(n);
    for (auto &s : states)
        s = random.next() | 1;
    unsigned *d_states = to_device(states);
    unsigned long long *inside = device_zeros<unsigned long long>(1), want = 0;
    for (int launch = 0; launch < 2; launch++)
        darts<<<blocks_for(n, 128), 128>>>(d_states, n, each, inside);
    double *prices = device_new<double>(paths);
    option<<<6, 96>>>(paths, steps, prices);
    int *visits = device_zeros<int>(side * side);
    walks<<<blocks_for(walkers, 64), 64>>>(walkers, 50, 99, visits, side);
    finish_launches();
    for (auto &s : states)
        for (int k = 0; k < 2 * each; k++) {
            unsigned long long x = xorshift(s) >> 8, y = xorshift(s) >> 8;
            want += x * x + y * y < 1ull << 48;
        }
    expect_same("hits", from_device(inside), want);
    expect_same("states", from_device(d_states, n), states);
    EXPECT(fabs(4.0 * want / (2.0 * n * each) - M_PI) < 0.05);
    std::vector<double> want_prices(paths);
    double mean = 0;
    for (int i = 0; i < paths; i++)
        mean += want_prices[i] = option_path(i, steps);
    expect_near("option", from_device(prices, paths), want_prices, 1e-3);
    EXPECT(fabs(mean / paths - 5.8) < 1);
    std::vector<int> want_visits(side * side, 0);
    for (int w = 0; w < walkers; w++) {
        unsigned s = 99 + w * 747796405u;
        int at[2] = {side / 2, side / 2};
        for (int i = 0; i < 50; i++) {
            unsigned d = xorshift(s) >> 30;
            at[d / 2] = (at[d / 2] + (d % 2 ? side - 1 : 1)) % side;
            want_visits[at[1] * side + at[0]]++;
        }
    }
    expect_same("visits", from_device(visits, side * side), want_visits);
    return finish();
}
