// SPDX-License-Identifier: Apache-2.0
// Sizes that the environment of a program gives. The verifier, which reads the source, knows of them only what the host
// code says.
#pragma once

#include <cstdlib>

// The number in the environment under this name, else the usual one.
static inline int input(const char *name, const char *usual) {
    const char *text = getenv(name);
    return atoi(text ? text : usual);
}
