// SPDX-License-Identifier: Apache-2.0
// gpu — which GPUs a program would have, asked before it starts.
#ifndef GR_CLI_RUN_GPU_H
#define GR_CLI_RUN_GPU_H

typedef struct GrGpu {
    int count;
    int cc;      // 90 for compute capability 9.0; of the first one
    int version; // of the driver, 13000 for CUDA 13.0; 0: not known
} GrGpu;

// What NVIDIA's driver says when a process of its own asks. `count` 0: there is no GPU, or the driver does not work.
GrGpu gr_probe_gpu(void);

#endif
