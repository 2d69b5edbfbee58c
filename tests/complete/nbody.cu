// SPDX-License-Identifier: Apache-2.0
// All-pairs gravity with tiles of bodies in shared memory, leapfrog steps, in single and double precision from one template.
#include "complete.h"

template <class T> struct Vec4;
template <> struct Vec4<float> {
    typedef float4 type;
};
template <> struct Vec4<double> {
    typedef double4_16a type;
};

template <class T> __host__ __device__ T inverse_root(T x)
{
#ifdef __CUDA_ARCH__
    return rsqrt(x);
#else
    return 1 / sqrt(x);
#endif
}

template <class T, class V> __host__ __device__ void pull(const V &a, const V &b, T &ax, T &ay, T &az)
{
    T dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    T r = inverse_root<T>(dx * dx + dy * dy + dz * dz + T(0.01)), k = b.w * r * r * r;
    ax += dx * k;
    ay += dy * k;
    az += dz * k;
}

template <class T, class V> __global__ void step(const V *from, V *to, V *velocity, int n, T dt)
{
    extern __shared__ __align__(16) char memory[];
    V *tile = (V *)memory;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    V me = from[min(i, n - 1)];
    T ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        if (base + threadIdx.x < n)
            tile[threadIdx.x] = from[base + threadIdx.x];
        __syncthreads();
        int count = min((int)blockDim.x, n - base);
#pragma unroll 4
        for (int j = 0; j < count; j++)
            pull<T>(me, tile[j], ax, ay, az);
        __syncthreads();
    }
    if (i >= n)
        return;
    V v = velocity[i];
    v.x += ax * dt;
    v.y += ay * dt;
    v.z += az * dt;
    me.x += v.x * dt;
    me.y += v.y * dt;
    me.z += v.z * dt;
    velocity[i] = v;
    to[i] = me;
}

template <class T> void test(const char *name, double tolerance)
{
    typedef typename Vec4<T>::type V;
    const int n = 391, steps = 3, block = 96;
    const T dt = T(0.01);
    Random random(19);
    std::vector<V> x(n), v(n), y(n);
    for (int i = 0; i < n; i++) {
        x[i] = {T(random.uniform() - 0.5), T(random.uniform() - 0.5), T(random.uniform() - 0.5), T(random.uniform()) / n};
        v[i] = {0, 0, 0, 0};
    }
    V *d[2] = {to_device(x), device_new<V>(n)}, *velocity = to_device(v);
    for (int s = 0; s < steps; s++)
        step<T, V><<<blocks_for(n, block), block, block * sizeof(V)>>>(d[s % 2], d[(s + 1) % 2], velocity, n, dt);
    finish_launches();
    for (int s = 0; s < steps; s++) {
        y = x;
        for (int i = 0; i < n; i++) {
            T ax = 0, ay = 0, az = 0;
            for (int j = 0; j < n; j++)
                pull<T>(x[i], x[j], ax, ay, az);
            v[i].x += ax * dt;
            v[i].y += ay * dt;
            v[i].z += az * dt;
            y[i].x += v[i].x * dt;
            y[i].y += v[i].y * dt;
            y[i].z += v[i].z * dt;
        }
        x = y;
    }
    std::vector<V> got = from_device(d[steps % 2], n);
    std::vector<T> a, b;
    for (int i = 0; i < n; i++) {
        a.insert(a.end(), {got[i].x, got[i].y, got[i].z});
        b.insert(b.end(), {x[i].x, x[i].y, x[i].z});
    }
    expect_near(name, a, b, tolerance);
}

int main()
{
    test<float>("float", 1e-5);
    test<double>("double", 1e-13);
    return finish();
}
