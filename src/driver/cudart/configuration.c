// SPDX-License-Identifier: Apache-2.0
// configuration — what stands between <<< and >>>, on its way from the launch expression to the launch stub.
//
// f<<<g, b>>>(h()) pushes, evaluates h(), calls the stub of f, which pops. h() may launch as well, so this is
// a stack, one per thread. It has no fixed depth: an exception out of h() leaves its entry behind.
#include "driver/cudart/registration.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} Configuration;

static _Thread_local struct {
    Configuration *stack;
    size_t depth, capacity;
} self;

static pthread_once_t key_made = PTHREAD_ONCE_INIT;
static pthread_key_t key; // its only use: free the stack when a thread ends

static void make_key(void) { pthread_key_create(&key, free); }

static bool grow(void) {
    size_t capacity = self.capacity == 0 ? 4 : self.capacity * 2;
    if (capacity > SIZE_MAX / sizeof *self.stack)
        return false;
    Configuration *stack = realloc(self.stack, capacity * sizeof *stack);
    if (stack == NULL)
        return false;
    pthread_once(&key_made, make_key);
    pthread_setspecific(key, stack);
    self.stack = stack;
    self.capacity = capacity;
    return true;
}

// Nonzero tells the launch expression not to call the stub.
unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                               struct CUstream_st *stream) {
    if (self.depth == self.capacity && !grow())
        return (unsigned)gr_rt_leave(cudaErrorMemoryAllocation);
    self.stack[self.depth++] = (Configuration){gridDim, blockDim, sharedMem, stream};
    return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                                 void *stream) {
    if (self.depth == 0)
        return gr_rt_leave(cudaErrorMissingConfiguration);
    const Configuration *top = &self.stack[--self.depth];
    *gridDim = top->grid;
    *blockDim = top->block;
    *sharedMem = top->shared;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}
