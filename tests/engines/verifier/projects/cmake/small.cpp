// SPDX-License-Identifier: Apache-2.0
#include "neighbours.h"

int main() { neighbours(64); }
