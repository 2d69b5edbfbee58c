// SPDX-License-Identifier: Apache-2.0
// Temperature of a chip with its power, several time steps per launch: blocks compute a shrinking pyramid in shared memory,
// so that neighbouring blocks overlap and nothing is exchanged within a launch (as Rodinia's hotspot does).
#include "complete.h"
#include <algorithm>

const int SIDE = 16;

struct Chip {
    int width, height;
    float step, across, up, ambient;
};

__global__ void pyramid(Chip c, const float *from, const float *power, float *to, int steps)
{
    __shared__ float now[SIDE][SIDE], next[SIDE][SIDE], heat[SIDE][SIDE];
    int useful = SIDE - 2 * steps, tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * useful + tx - steps, y = (int)blockIdx.y * useful + ty - steps;
    bool inside = x >= 0 && y >= 0 && x < c.width && y < c.height;
    if (inside) {
        now[ty][tx] = from[y * c.width + x];
        heat[ty][tx] = power[y * c.width + x];
    }
    __syncthreads();
    int left = max(0, tx - (x > 0)), right = min(SIDE - 1, tx + (x < c.width - 1));
    int above = max(0, ty - (y > 0)), below = min(SIDE - 1, ty + (y < c.height - 1));
    for (int s = 1; s <= steps; s++) {
        bool mine = inside && tx >= s && ty >= s && tx < SIDE - s && ty < SIDE - s;
        if (mine) {
            float t = now[ty][tx];
            next[ty][tx] = t + c.step * (heat[ty][tx] + (now[ty][left] + now[ty][right] - 2 * t) * c.across +
                                         (now[above][tx] + now[below][tx] - 2 * t) * c.up + (c.ambient - t) * 0.01f);
        }
        __syncthreads();
        if (mine)
            now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (inside && tx >= steps && ty >= steps && tx < SIDE - steps && ty < SIDE - steps)
        to[y * c.width + x] = now[ty][tx];
}

int main()
{
    const Chip c = {75, 51, 0.05f, 1.1f, 0.9f, 80.0f};
    const int total = 14, at_once = 3;
    Random random(17);
    std::vector<float> t(c.width * c.height), power(t.size()), next(t.size());
    for (size_t i = 0; i < t.size(); i++) {
        t[i] = 60 + 30 * random.uniform();
        power[i] = random.below(20) ? 0.5f * random.uniform() : 20.0f;
    }
    float *d[2] = {to_device(t), device_new<float>(t.size())}, *d_power = to_device(power);
    int side = 0;
    for (int done = 0; done < total; side ^= 1) {
        int steps = std::min(at_once, total - done), useful = SIDE - 2 * steps;
        dim3 grid(blocks_for(c.width, useful), blocks_for(c.height, useful));
        pyramid<<<grid, dim3(SIDE, SIDE)>>>(c, d[side], d_power, d[!side], steps);
        done += steps;
    }
    finish_launches();
    for (int s = 0; s < total; s++) {
        for (int y = 0; y < c.height; y++)
            for (int x = 0; x < c.width; x++) {
                auto at = [&](int i, int j) {
                    return t[std::min(std::max(j, 0), c.height - 1) * c.width + std::min(std::max(i, 0), c.width - 1)];
                };
                float v = at(x, y);
                next[y * c.width + x] =
                    v + c.step * (power[y * c.width + x] + (at(x - 1, y) + at(x + 1, y) - 2 * v) * c.across +
                                  (at(x, y - 1) + at(x, y + 1) - 2 * v) * c.up + (c.ambient - v) * 0.01f);
            }
        t.swap(next);
    }
    expect_near("temperature", from_device(d[side], t.size()), t, 1e-5);
    return finish();
}
