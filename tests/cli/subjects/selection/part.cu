// SPDX-License-Identifier: Apache-2.0
// A part of the program that was built without PTX, as libraries may be.
__global__ void machine_code(int *p) { p[threadIdx.x] = 1; }

void launch_part(int *p) { machine_code<<<1, 64>>>(p); }
