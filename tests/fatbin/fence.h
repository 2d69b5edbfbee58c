// SPDX-License-Identifier: Apache-2.0
// fence — a buffer whose end is the end of what is readable: reading one byte too many crashes in every build. For one
// cmocka program.
#ifndef GR_TESTS_FENCE_H
#define GR_TESTS_FENCE_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FENCE_SIZE = 1 << 20 };
static uint8_t *fence_end;

static inline int make_fence(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *p = mmap(NULL, FENCE_SIZE + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + FENCE_SIZE, page, PROT_NONE) != 0)
        return -1;
    fence_end = p + FENCE_SIZE;
    return 0;
}

static inline void *at_fence(const void *data, size_t len) {
    assert_true(len <= FENCE_SIZE);
    return memcpy(fence_end - len, data, len);
}

#endif
