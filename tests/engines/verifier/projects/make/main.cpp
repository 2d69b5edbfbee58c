// SPDX-License-Identifier: Apache-2.0
#include "steps.h"

int main() {
    shift(128);
    reverse(64);
}
