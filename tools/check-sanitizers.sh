#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the unit tests again into build-asan, by clang and with warnings as errors, under AddressSanitizer and
# UndefinedBehaviorSanitizer, and runs them. The other tests load our libraries into programs
# that nvcc built without a sanitizer's runtime, which does not go together. With the argument --levels the CPU device's inner loops
# are compiled for newer processors, too: the same source, and as long again.
set -eu
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 || { grep -E 'error|warning|FAILED|undefined' "$log" | head -50; exit 1; }; }
levels=OFF
[ "${1:-}" != --levels ] || levels=ON
quietly cmake --preset asan+ubsan -DGPURACE_WERROR=ON -DGPURACE_X86_LEVELS=$levels
quietly cmake --build build-asan -j"$(nproc)" --target unit-tests
ctest --test-dir build-asan -j"$(nproc)" -L unit -R ^test_ --output-on-failure
