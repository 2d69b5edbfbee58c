// SPDX-License-Identifier: Apache-2.0
// wrote — which PTX texts this process's gpurace made. The CPU device asks (gr_api_wrote, device_api/hooks.h): what a text says of itself proves nothing.
#ifndef GR_INJECT_WROTE_H
#define GR_INJECT_WROTE_H

#include <stdbool.h>
#include <stddef.h>

// Notes a text before the driver gets it. Any thread, no lock needed. False: memory is out.
bool gr_wrote(const char *text, size_t len);

#endif
