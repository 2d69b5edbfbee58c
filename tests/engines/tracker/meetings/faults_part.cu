// SPDX-License-Identifier: Apache-2.0
// A part of the program that was built without PTX.
__global__ void no_ptx(int *p) { p[0] = (int)threadIdx.x; }

void launch_without_ptx(int *p) { no_ptx<<<1, 64>>>(p); }
