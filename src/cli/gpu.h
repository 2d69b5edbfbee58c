// SPDX-License-Identifier: Apache-2.0
// gpu — which GPUs a program would have, asked before it starts.
#ifndef GR_CLI_GPU_H
#define GR_CLI_GPU_H

typedef struct GrGpu {
    int count;
    int cc;      // 90 for compute capability 9.0; of the first one
    int version; // of the driver, 13000 for CUDA 13.0; 0: not known
} GrGpu;

// What NVIDIA's driver says when a process of its own asks. `count` 0: there is no GPU, or the driver does not work.
GrGpu gr_probe_gpu(void);

// So many devices does CUDA show of `present` when CUDA_VISIBLE_DEVICES is `shown` (NULL: not set), after the CUDA C++ Programming
// Guide: numbers, up to the first that no device has. -1: it has names of devices, or names one twice, which only the driver judges.
int gr_visible_gpus(const char *shown, int present);

#endif
