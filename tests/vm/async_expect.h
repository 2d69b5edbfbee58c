// SPDX-License-Identifier: Apache-2.0
// async_expect — what kernels of ptx/async.ptx must answer, on the CPU device (test_async.c) and on any other
// (features/async_ptx_drv.cu).
#ifndef GR_TEST_VM_ASYNC_EXPECT_H
#define GR_TEST_VM_ASYNC_EXPECT_H

#include <stdint.h>

// mbarrier_forms: the answers in order.
static const uint32_t mbarrier_forms_want[17] = {4, 0, 3, 0, 1, 1, 1, 0, 0, 1, 1, 3, 1, 2, 0, 1, 0};

// shared_updates: the words of its buffer.
static const uint32_t shared_updates_want[32] = {100,
                                                 104,
                                                 108,
                                                 112,
                                                 96,
                                                 100,
                                                 100,
                                                 100,
                                                 100,
                                                 100 | 4,
                                                 100 | 8,
                                                 100 | 12,
                                                 7,
                                                 100,
                                                 7,
                                                 8,
                                                 7,
                                                 8,
                                                 9,
                                                 10,
                                                 0x55667788,
                                                 0x11223344,
                                                 107,
                                                 0,
                                                 100,
                                                 100 ^ 7,
                                                 0x55667788 + 100,
                                                 0x11223344 + 100,
                                                 100,
                                                 100,
                                                 100,
                                                 100};

// reduce_global: of each reduction the source, the destination before and after.
typedef union Cell {
    uint32_t u[4];
    int32_t i[4];
    uint64_t l[2];
    int64_t s[2];
    float f[4];
    double d[2];
    uint16_t h[8];
} Cell;
static const Cell reduce_from[27] = {
    {.u = {1, 2, UINT32_MAX, 4}},
    {.i = {-1, 2, INT32_MIN, 4}},
    {.l = {1, UINT64_MAX}},
    {.u = {5, 9, 5, 0}},
    {.u = {5, 9, 5, 0}},
    {.u = {5, 9, UINT32_MAX, 0}},
    {.u = {5, 9, UINT32_MAX, 0}},
    {.i = {5, -9, INT32_MAX, 0}},
    {.i = {5, -9, INT32_MIN, 0}},
    {.l = {5, UINT64_MAX}},
    {.l = {5, UINT64_MAX}},
    {.s = {5, -9}},
    {.s = {5, -9}},
    {.u = {0xff, 0xf0f0, 0, 7}},
    {.u = {0xff, 0xf0f0, 0, 7}},
    {.u = {0xff, 0xf0f0, 0, 7}},
    {.l = {UINT64_C(0xff00ff00ff00ff00), 3}},
    {.l = {UINT64_C(0xff00ff00ff00ff00), 3}},
    {.l = {UINT64_C(0xff00ff00ff00ff00), 3}},
    {.f = {1.5f, -2.0f, 1e-40f, 3.0f}},
    {.d = {1.5, 1e-310}},
    // 1, -2, 65504, the least subnormal; then the same for bf16
    {.h = {0x3c00, 0xc000, 0x7bff, 1, 0, 0, 0, 0}},
    {.h = {0x3f80, 0xc000, 1, 0, 0, 0, 0, 0}},
    {.h = {0x3c00, 0xc000, 0, 0, 0, 0, 0, 0}},
    {.h = {0x3c00, 0xc000, 0, 0, 0, 0, 0, 0}},
    {.h = {0x3f80, 0xc000, 0, 0, 0, 0, 0, 0}},
    {.h = {0x3f80, 0xc000, 0, 0, 0, 0, 0, 0}},
};
static const Cell reduce_to[27] = {
    {.u = {10, 20, 30, 40}},
    {.i = {10, -20, 30, 40}},
    {.l = {UINT64_MAX, 30}},
    {.u = {4, 9, 7, 1}},
    {.u = {4, 0, 7, 1}},
    {.u = {6, 8, 3, 1}},
    {.u = {6, 8, 3, 1}},
    {.i = {-6, 8, 3, 1}},
    {.i = {-6, 8, 3, 1}},
    {.l = {6, 8}},
    {.l = {6, 8}},
    {.s = {-6, 8}},
    {.s = {-6, 8}},
    {.u = {0x0f, 0xffff, 5, 5}},
    {.u = {0x0f, 0xffff, 5, 5}},
    {.u = {0x0f, 0xffff, 5, 5}},
    {.l = {UINT64_C(0xffff0000ffff0000), 5}},
    {.l = {UINT64_C(0xffff0000ffff0000), 5}},
    {.l = {UINT64_C(0xffff0000ffff0000), 5}},
    {.f = {0.25f, 2.0f, 0.0f, 0.125f}},
    {.d = {0.25, 1e-310}},
    {.h = {0x3c00, 0x3c00, 0x7bff, 1, 0, 0, 0, 0}},
    {.h = {0x3f80, 0x3f80, 1, 0, 0, 0, 0, 0}},
    {.h = {0x4000, 0x3c00, 0x8000, 0, 0, 0, 0, 0}},
    {.h = {0x4000, 0x3c00, 0x8000, 0, 0, 0, 0, 0}},
    {.h = {0x4000, 0x3f80, 0x8000, 0, 0, 0, 0, 0}},
    {.h = {0x4000, 0x3f80, 0x8000, 0, 0, 0, 0, 0}},
};
static const Cell reduce_want[27] = {
    {.u = {11, 22, 29, 44}},
    {.i = {9, -18, INT32_MIN + 30, 44}},
    {.l = {0, 29}},
    {.u = {5, 0, 0, 0}},
    {.u = {3, 9, 5, 0}},
    {.u = {5, 8, 3, 0}},
    {.u = {6, 9, UINT32_MAX, 1}},
    {.i = {-6, -9, 3, 0}},
    {.i = {5, 8, 3, 1}},
    {.l = {5, 8}},
    {.l = {6, UINT64_MAX}},
    {.s = {-6, -9}},
    {.s = {5, 8}},
    {.u = {0x0f, 0xf0f0, 0, 5}},
    {.u = {0xff, 0xffff, 5, 7}},
    {.u = {0xf0, 0x0f0f, 5, 2}},
    {.l = {UINT64_C(0xff000000ff000000), 1}},
    {.l = {UINT64_C(0xffffff00ffffff00), 7}},
    {.l = {UINT64_C(0x00ffff0000ffff00), 6}},
    {.f = {1.75f, 0.0f, 1e-40f, 3.125f}},
    {.d = {1.75, 2e-310}},
    {.h = {0x4000, 0xbc00, 0x7c00, 2, 0, 0, 0, 0}},
    {.h = {0x4000, 0xbf80, 2, 0, 0, 0, 0, 0}},
    {.h = {0x3c00, 0xc000, 0x8000, 0, 0, 0, 0, 0}},
    {.h = {0x4000, 0x3c00, 0, 0, 0, 0, 0, 0}},
    {.h = {0x3f80, 0xc000, 0x8000, 0, 0, 0, 0, 0}},
    {.h = {0x4000, 0x3f80, 0, 0, 0, 0, 0, 0}},
};

#endif
