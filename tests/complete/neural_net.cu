// SPDX-License-Identifier: Apache-2.0
// A small neural network trained by gradient descent, forward and backward with a launch per layer and the error going down
// (as Rodinia's backprop); weights after training against the same steps on the CPU.
#include "complete.h"

const int IN = 13, HIDDEN = 37, OUT = 3, SAMPLES = 50;
const float RATE = 0.3f;

__host__ __device__ float squash(float x)
{
    return 1 / (1 + expf(-x));
}

// A block per neuron: weighted sum of the layer before, the bias last.
__global__ void forward(const float *weights, const float *in, int n, float *out)
{
    __shared__ float sums[2];
    const float *w = weights + blockIdx.x * (n + 1);
    float sum = 0;
    for (int i = threadIdx.x; i <= n; i += blockDim.x)
        sum += w[i] * (i < n ? in[i] : 1.0f);
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = squash(sums[0] + sums[1]);
}

__global__ void output_error(const float *out, const float *target, float *delta, float *error)
{
    int i = threadIdx.x;
    if (i >= OUT)
        return;
    float e = target[i] - out[i];
    delta[i] = out[i] * (1 - out[i]) * e;
    atomicAdd(error, e * e);
}

__global__ void hidden_error(const float *weights, const float *delta, const float *hidden, float *hidden_delta)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= HIDDEN)
        return;
    float sum = 0;
    for (int o = 0; o < OUT; o++)
        sum += weights[o * (HIDDEN + 1) + i] * delta[o];
    hidden_delta[i] = hidden[i] * (1 - hidden[i]) * sum;
}

__global__ void adjust(float *weights, const float *delta, const float *in, int n, int neurons)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y * blockDim.y + threadIdx.y;
    if (i <= n && k < neurons)
        weights[k * (n + 1) + i] += RATE * delta[k] * (i < n ? in[i] : 1.0f);
}

int main()
{
    Random random(54);
    std::vector<float> w1(HIDDEN * (IN + 1)), w2(OUT * (HIDDEN + 1)), x(SAMPLES * IN), t(SAMPLES * OUT, 0.1f);
    for (auto *w : {&w1, &w2})
        for (auto &e : *w)
            e = random.uniform() - 0.5f;
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < IN; i++)
            x[s * IN + i] = random.uniform() + (i % OUT == s % OUT ? 0.5f : 0.0f);
        t[s * OUT + s % OUT] = 0.9f;
    }
    float *d_w1 = to_device(w1), *d_w2 = to_device(w2), *d_x = to_device(x), *d_t = to_device(t);
    float *hidden = device_new<float>(HIDDEN), *out = device_new<float>(OUT), *delta = device_new<float>(OUT);
    float *hidden_delta = device_new<float>(HIDDEN), *error = device_zeros<float>(SAMPLES);
    for (int s = 0; s < SAMPLES; s++) {
        forward<<<HIDDEN, 64>>>(d_w1, d_x + s * IN, IN, hidden);
        forward<<<OUT, 64>>>(d_w2, hidden, HIDDEN, out);
        output_error<<<1, 32>>>(out, d_t + s * OUT, delta, error + s);
        hidden_error<<<blocks_for(HIDDEN, 32), 32>>>(d_w2, delta, hidden, hidden_delta);
        adjust<<<dim3(blocks_for(HIDDEN + 1, 16), blocks_for(OUT, 4)), dim3(16, 4)>>>(d_w2, delta, hidden, HIDDEN, OUT);
        adjust<<<dim3(blocks_for(IN + 1, 16), blocks_for(HIDDEN, 4)), dim3(16, 4)>>>(d_w1, hidden_delta, d_x + s * IN, IN, HIDDEN);
    }
    finish_launches();
    std::vector<double> want_error(SAMPLES, 0.0);
    for (int s = 0; s < SAMPLES; s++) {
        float h[HIDDEN], o[OUT], d[OUT], hd[HIDDEN];
        auto layer = [](const std::vector<float> &w, const float *in, int n, float *to, int neurons) {
            for (int k = 0; k < neurons; k++) {
                float sum = w[k * (n + 1) + n];
                for (int i = 0; i < n; i++)
                    sum += w[k * (n + 1) + i] * in[i];
                to[k] = squash(sum);
            }
        };
        layer(w1, &x[s * IN], IN, h, HIDDEN);
        layer(w2, h, HIDDEN, o, OUT);
        for (int k = 0; k < OUT; k++) {
            d[k] = o[k] * (1 - o[k]) * (t[s * OUT + k] - o[k]);
            want_error[s] += (t[s * OUT + k] - o[k]) * (t[s * OUT + k] - o[k]);
        }
        for (int i = 0; i < HIDDEN; i++) {
            float sum = 0;
            for (int k = 0; k < OUT; k++)
                sum += w2[k * (HIDDEN + 1) + i] * d[k];
            hd[i] = h[i] * (1 - h[i]) * sum;
        }
        for (int k = 0; k < OUT; k++)
            for (int i = 0; i <= HIDDEN; i++)
                w2[k * (HIDDEN + 1) + i] += RATE * d[k] * (i < HIDDEN ? h[i] : 1);
        for (int k = 0; k < HIDDEN; k++)
            for (int i = 0; i <= IN; i++)
                w1[k * (IN + 1) + i] += RATE * hd[k] * (i < IN ? x[s * IN + i] : 1);
    }
    expect_near("first layer", from_device(d_w1, w1.size()), w1, 1e-4);
    expect_near("second layer", from_device(d_w2, w2.size()), w2, 1e-4);
    std::vector<float> e = from_device(error, SAMPLES);
    expect_near("errors", e, want_error, 1e-4);
    EXPECT(e[SAMPLES - 1] + e[SAMPLES - 2] + e[SAMPLES - 3] < 0.8f * (e[0] + e[1] + e[2]));
    return finish();
}
