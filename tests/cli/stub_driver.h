// SPDX-License-Identifier: Apache-2.0
#ifndef GR_TESTS_STUB_DRIVER_H
#define GR_TESTS_STUB_DRIVER_H

#include <cuda.h>
#undef cuGetProcAddress

#define STUB_EXPORT __attribute__((visibility("default")))

// A line of the file $STUB_LOG, if there is one.
void stub_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
