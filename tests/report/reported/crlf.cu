// SPDX-License-Identifier: Apache-2.0
// Its lines end as those of other systems do.

__global__ void store(int *p) {
	p[0] = threadIdx.x; // store
}

int main() {
    int *p;
    cudaMalloc(&p, 4);
    store<<<1, 64>>>(p);
    cudaDeviceSynchronize();
}
