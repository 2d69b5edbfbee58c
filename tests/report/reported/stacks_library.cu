// SPDX-License-Identifier: Apache-2.0
// stacks_library: a library, which stacks_caller calls, that launches a kernel with a race.
__global__ void add_up(int *to, int n) {
    if (threadIdx.x < n)
        to[0]++;
}

extern "C" void library_step(int *to) {
    add_up<<<1, 64>>>(to, 64); // launch
}
