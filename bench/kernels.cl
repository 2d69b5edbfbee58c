// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels.cu in OpenCL, line for line: what the other engines run.
__kernel void saxpy(int n, float a, __global const float *x, __global float *y) {
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

#define TILE 16
__kernel void matmul(__global const float *a, __global const float *b, __global float *c, int n) {
    __local float as[TILE][TILE], bs[TILE][TILE];
    int tx = get_local_id(0) % TILE, ty = get_local_id(0) / TILE, tiles = n / TILE;
    int col = (get_group_id(0) % tiles) * TILE + tx, row = (get_group_id(0) / tiles) * TILE + ty;
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
        as[ty][tx] = a[row * n + t * TILE + tx];
        bs[ty][tx] = b[(t * TILE + ty) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += as[ty][k] * bs[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = sum;
}

__kernel void reduce(__global const int *in, __global int *out, int n) {
    __local int s[256];
    int t = get_local_id(0), i = get_group_id(0) * 256 + t;
    s[t] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k)
            s[t] += s[t + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = s[0];
}

__kernel void hist(__global const unsigned *in, __global unsigned *out, int n) {
    __local unsigned s[256];
    s[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_group_id(0) * get_local_size(0) + get_local_id(0); i < n; i += get_num_groups(0) * get_local_size(0))
        atomic_add(&s[in[i] & 255], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&out[get_local_id(0)], s[get_local_id(0)]);
}

__kernel void ghist(__global const unsigned *in, __global unsigned *out, int n) {
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    if (i < n)
        atomic_add(&out[in[i] & 255], 1);
}

__kernel void bfs(__global const unsigned *first, __global const unsigned *to, __global unsigned *level,
                  __global unsigned *flags, __global unsigned *again, unsigned now, int n) {
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    __global unsigned *frontier = flags + now % 2 * n, *next = flags + (now + 1) % 2 * n;
    if (i >= n || !frontier[i])
        return;
    frontier[i] = 0;
    for (unsigned e = first[i]; e < first[i + 1]; e++) {
        unsigned j = to[e];
        if (atomic_cmpxchg(&level[j], 0xffffffff, now + 1) == 0xffffffff) {
            next[j] = 1;
            atomic_or(again, 1);
        }
    }
}

__kernel void nbody(__global const float4 *p, __global float4 *a, int n) {
    __local float4 s[256];
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    float4 me = p[i];
    float x = 0, y = 0, z = 0;
    for (int t = 0; t < n; t += 256) {
        s[get_local_id(0)] = p[t + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 256; k++) {
            float dx = s[k].x - me.x, dy = s[k].y - me.y, dz = s[k].z - me.z;
            float r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-2f);
            float f = s[k].w * r * r * r;
            x += f * dx;
            y += f * dy;
            z += f * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    a[i] = (float4)(x, y, z, 0);
}

__kernel void collatz(__global int *out, int n) {
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0), steps = 0;
    if (i >= n)
        return;
    for (ulong v = i + 1; v != 1; steps++)
        v = v & 1 ? 3 * v + 1 : v / 2;
    out[i] = steps;
}
