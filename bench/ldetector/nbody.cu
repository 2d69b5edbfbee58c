// SPDX-License-Identifier: Apache-2.0
// nbody (LDetector, table V; CUDA SDK): four rows of a block share the work for a body, and row 0 adds up what they found. The race: all rows store the body's new position.
#include "program.h"

enum { COLUMNS = 64, ROWS = 4, TILE = COLUMNS * ROWS };

__global__ void integrate(const float4 *position, const float4 *speed, float4 *moved, float4 *speed_now, unsigned n) {
    __shared__ float4 tile[TILE];
    unsigned t = threadIdx.x, row = threadIdx.y, own = row * COLUMNS + t;
    for (unsigned chunk = 0; chunk < ROWS; chunk++) {
        unsigned body = (blockIdx.x * ROWS + chunk) * COLUMNS + t;
        float4 me = position[body];
        float x = 0, y = 0, z = 0;
        for (unsigned first = 0; first < n; first += TILE) {
            tile[own] = position[first + own];
            __syncthreads();
            for (unsigned k = 0; k < COLUMNS; k++) {
                float4 o = tile[row * COLUMNS + k];
                float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, far = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
                float pull = o.w * far * far * far;
                x += dx * pull, y += dy * pull, z += dz * pull;
            }
            __syncthreads();
        }
        tile[own] = make_float4(x, y, z, 0);
        __syncthreads();
        for (unsigned r = 1; row == 0 && r < ROWS; r++)
            x += tile[r * COLUMNS + t].x, y += tile[r * COLUMNS + t].y, z += tile[r * COLUMNS + t].z;
        float4 v = speed[body];
        v.x += x * 0.01f, v.y += y * 0.01f, v.z += z * 0.01f;
        if (row == 0)
            speed_now[body] = v;
        moved[body] = make_float4(me.x + v.x * 0.01f, me.y + v.y * 0.01f, me.z + v.z * 0.01f, me.w); // the race
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned grid = p.part(60), n = grid * TILE;
    std::vector<float4> start(n);
    for (unsigned k = 0; k < n; k++)
        start[k] = make_float4((float)(scrambled(k) % 997), (float)(scrambled(k + n) % 997), (float)(scrambled(k + 2 * n) % 997), 1);
    float4 *position = p.memory(start), *speed = p.memory<float4>(n), *moved = p.memory<float4>(n), *speed_now = p.memory<float4>(n);
    dim3 block(COLUMNS, ROWS);
    p.time(integrate, grid, block, [] {}, [&] { integrate<<<grid, block>>>(position, speed, moved, speed_now, n); });
    return 0;
}
