// SPDX-License-Identifier: Apache-2.0
// shared_window — where the CPU device has shared memory among generic addresses: no host and no GPU has memory there.
#ifndef GR_DEVICE_API_SHARED_WINDOW_H
#define GR_DEVICE_API_SHARED_WINDOW_H

#include <stdint.h>

// Block r of the cluster has shared memory from r << GR_CPU_SHARED_SHIFT in the window; so offsets hold the rank, too.
#define GR_CPU_SHARED_WINDOW UINT64_C(0x810000000000)
enum { GR_CPU_SHARED_SHIFT = 24, GR_CPU_SHARED_RANKS = 256 };

#endif
