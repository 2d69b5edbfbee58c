// SPDX-License-Identifier: Apache-2.0
// 7-point stencil in three dimensions, double precision: blocks march along z with the planes in registers and the current
// one in shared memory; the sides are periodic in x and y and fixed in z. Memory with a pitch, copied with cudaMemcpy3D.
#include "complete.h"

const int TX = 16, TY = 8;

__global__ void march(cudaPitchedPtr from, cudaPitchedPtr to, int nx, int ny, int nz)
{
    __shared__ double plane[TY + 2][TX + 2];
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < nx && y < ny;
    auto at = [&](cudaPitchedPtr p, int i, int j, int k) -> double & {
        return ((double *)((char *)p.ptr + ((size_t)k * ny + j) * p.pitch))[i];
    };
    double below = 0, here = 0, above = 0;
    if (inside) {
        below = at(from, x, y, 0);
        here = at(from, x, y, 1);
    }
    for (int z = 1; z < nz - 1; z++) {
        if (inside) {
            above = at(from, x, y, z + 1);
            plane[ty][tx] = here;
            if (tx == 1)
                plane[ty][0] = at(from, (x + nx - 1) % nx, y, z);
            if (tx == TX || x == nx - 1)
                plane[ty][tx + 1] = at(from, (x + 1) % nx, y, z);
            if (ty == 1)
                plane[0][tx] = at(from, x, (y + ny - 1) % ny, z);
            if (ty == TY || y == ny - 1)
                plane[ty + 1][tx] = at(from, x, (y + 1) % ny, z);
        }
        __syncthreads();
        if (inside) {
            double sum = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above;
            at(to, x, y, z) = 0.4 * here + 0.1 * sum;
            below = here;
            here = above;
        }
        __syncthreads();
    }
}

int main()
{
    const int nx = 37, ny = 21, nz = 13, steps = 5;
    auto index = [&](int x, int y, int z) { return ((size_t)z * ny + y) * nx + x; };
    Random random(16);
    std::vector<double> a((size_t)nx * ny * nz), b, got(a.size());
    for (auto &e : a)
        e = random.uniform();
    cudaPitchedPtr d[2];
    cudaMemcpy3DParms copy = {};
    copy.extent = make_cudaExtent(nx * sizeof(double), ny, nz);
    for (auto &p : d) {
        CHECK(cudaMalloc3D(&p, copy.extent));
        copy.srcPtr = make_cudaPitchedPtr(a.data(), nx * sizeof(double), nx, ny);
        copy.dstPtr = p;
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
    }
    dim3 block(TX, TY), grid(blocks_for(nx, TX), blocks_for(ny, TY));
    for (int s = 0; s < steps; s++)
        march<<<grid, block>>>(d[s % 2], d[(s + 1) % 2], nx, ny, nz);
    copy.srcPtr = d[steps % 2];
    copy.dstPtr = make_cudaPitchedPtr(got.data(), nx * sizeof(double), nx, ny);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    finish_launches();
    for (int s = 0; s < steps; s++) {
        b = a;
        for (int z = 1; z < nz - 1; z++)
            for (int y = 0; y < ny; y++)
                for (int x = 0; x < nx; x++)
                    b[index(x, y, z)] = 0.4 * a[index(x, y, z)] +
                                        0.1 * (a[index((x + nx - 1) % nx, y, z)] + a[index((x + 1) % nx, y, z)] +
                                               a[index(x, (y + ny - 1) % ny, z)] + a[index(x, (y + 1) % ny, z)] +
                                               a[index(x, y, z - 1)] + a[index(x, y, z + 1)]);
        a.swap(b);
    }
    expect_near("field", got, a, 1e-13);
    return finish();
}
