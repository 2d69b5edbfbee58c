// SPDX-License-Identifier: Apache-2.0
// European options by the formula of Black and Scholes, in single precision with the fast intrinsics, in double, and by a
// binomial tree in shared memory, one block per option.
#include "complete.h"

struct Option {
    float price, strike, years;
};
const float RATE = 0.02f, VOLATILITY = 0.3f;
const int STEPS = 120;

__device__ float phi(float d)
{
    const float a[5] = {0.31938153f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float c = rsqrtf(2.0f * 3.14159265f) * __expf(-0.5f * d * d) * (k * (a[0] + k * (a[1] + k * (a[2] + k * (a[3] + k * a[4])))));
    return d > 0 ? 1.0f - c : c;
}

__global__ void fast(const Option *o, int n, float2 *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float root = __fsqrt_rn(o[i].years);
        float d1 = __fdividef(__logf(__fdividef(o[i].price, o[i].strike)) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * o[i].years, VOLATILITY * root);
        float d2 = d1 - VOLATILITY * root, discount = __expf(-RATE * o[i].years);
        float call = o[i].price * phi(d1) - o[i].strike * discount * phi(d2);
        out[i] = {call, call - o[i].price + o[i].strike * discount};
    }
}

__host__ __device__ double2 exact(Option o)
{
    double root = sqrt((double)o.years), vol = VOLATILITY, rate = RATE;
    double d1 = (log((double)o.price / o.strike) + (rate + 0.5 * vol * vol) * o.years) / (vol * root), d2 = d1 - vol * root;
    double discount = exp(-rate * o.years), call = o.price * 0.5 * erfc(-d1 / sqrt(2.0)) - o.strike * discount * 0.5 * erfc(-d2 / sqrt(2.0));
    return {call, call - o.price + o.strike * discount};
}

__global__ void precise(const Option *o, int n, double2 *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = exact(o[i]);
}

__global__ void binomial(const Option *o, float *out)
{
    __shared__ float value[2][STEPS + 1];
    Option me = o[blockIdx.x];
    float dt = me.years / STEPS, spread = VOLATILITY * sqrtf(dt), up = expf(spread), down = 1 / up;
    float p = (expf(RATE * dt) - down) / (up - down), discount = expf(-RATE * dt);
    for (int i = threadIdx.x; i <= STEPS; i += blockDim.x)
        value[0][i] = fmaxf(me.price * expf(spread * (2 * i - STEPS)) - me.strike, 0);
    int from = 0;
    for (int step = STEPS; step > 0; step--, from ^= 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < step; i += blockDim.x)
            value[!from][i] = discount * (p * value[from][i + 1] + (1 - p) * value[from][i]);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = value[from][0];
}

int main()
{
    const int n = 5003, trees = 23;
    Random random(34);
    std::vector<Option> o(n);
    for (auto &e : o)
        e = {5 + 25 * random.uniform(), 5 + 95 * random.uniform(), 0.25f + 9.75f * random.uniform()};
    Option *d = to_device(o);
    float2 *f = device_new<float2>(n);
    double2 *g = device_new<double2>(n);
    float *b = device_new<float>(trees);
    fast<<<9, 96>>>(d, n, f);
    precise<<<9, 96>>>(d, n, g);
    binomial<<<trees, 64>>>(d, b);
    finish_launches();
    std::vector<double> want, got_fast, got_precise, want_tree;
    for (auto &e : from_device(f, n))
        got_fast.insert(got_fast.end(), {e.x, e.y});
    for (auto &e : from_device(g, n))
        got_precise.insert(got_precise.end(), {e.x, e.y});
    for (auto &e : o) {
        double2 w = exact(e);
        want.insert(want.end(), {w.x, w.y});
    }
    for (int i = 0; i < trees; i++)
        want_tree.push_back(want[2 * i]);
    expect_near("double", got_precise, want, 1e-13);
    expect_near("fast", got_fast, want, 2e-5);
    expect_near("binomial", from_device(b, trees), want_tree, 1e-2);
    return finish();
}
