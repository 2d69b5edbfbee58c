// SPDX-License-Identifier: Apache-2.0
// Sizes that whoever starts a program chooses. What reads the source of such a program knows of them only what its host code says.
#pragma once

#include <cstdlib>

// The number in the environment under this name, else the usual one.
static inline int input(const char *name, const char *usual) {
    const char *text = getenv(name);
    return atoi(text ? text : usual);
}
