// SPDX-License-Identifier: Apache-2.0
// host_threads — what orders the threads of the program on the host, as a tool follows it.
#ifndef GR_DEVICE_API_HOST_THREADS_H
#define GR_DEVICE_API_HOST_THREADS_H

#include <stdint.h>

// What orders the threads of the host among themselves, as far as it is seen. Each that waits for the device has a
// number from 1, below 2^16, and counts its waits; a number may pass to another thread, which then counts on.
typedef struct GrHostThreads {
    // For the calling thread: by number, less 1, the last wait of that thread it comes after. *version changes with it.
    const uint64_t *(*knows)(uint32_t *n, uint64_t *version);
    // The calling thread has waited: its later work comes after wait *moment. Yields its number; 0: it is not followed.
    uint32_t (*waited)(uint64_t *moment);
    // Nothing before this is remembered any more.
    void (*settled)(void);
} GrHostThreads;

#endif
