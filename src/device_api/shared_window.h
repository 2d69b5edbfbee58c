// SPDX-License-Identifier: Apache-2.0
// shared_window — where the CPU device has shared memory among its generic addresses. No host and no GPU has memory there. For device code too.
#ifndef GR_DEVICE_API_SHARED_WINDOW_H
#define GR_DEVICE_API_SHARED_WINDOW_H

#include <stdint.h>

// Block r of the cluster has its shared memory from r << GR_CPU_SHARED_SHIFT in the window. Offsets in the window have the rank in the same place.
#define GR_CPU_SHARED_WINDOW UINT64_C(0x810000000000)
enum { GR_CPU_SHARED_SHIFT = 24, GR_CPU_SHARED_RANKS = 256 };

#endif
