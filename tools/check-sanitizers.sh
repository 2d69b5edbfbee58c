#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The unit tests, the fuzzers and gpurace itself under AddressSanitizer and UndefinedBehaviorSanitizer. Programs that nvcc built run under
# that gpurace with the sanitizers' runtime preloaded (tests/verdicts/run.py --sanitized). What to do:
#   build    build all of that into build-asan, by clang and with warnings as errors
#   run      run the unit tests built there
#   levels   build and run the unit tests with the CPU device's inner loops for newer processors, too (build-asan-levels):
#            the same source, and as long again
# Without an argument: build and run.
set -eu
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 || { grep -E 'error|warning|FAILED|undefined' "$log" | head -50; exit 1; }; }
build() { # folder, levels, targets
    quietly cmake --preset asan+ubsan -B "$1" -DGPURACE_WERROR=ON -DGPURACE_X86_LEVELS="$2"
    quietly cmake --build "$1" -j"$(nproc)" --target "${@:3}"
}
run() { ctest --test-dir "$1" -j"$(nproc)" -L unit -R ^test_ --output-on-failure; }

product="gpurace gpurace_inject cuda_driver cudart"

case ${1:-both} in
build) build build-asan OFF unit-tests fuzzers $product ;;
run) run build-asan ;;
levels) build build-asan-levels ON unit-tests; run build-asan-levels ;;
both) build build-asan OFF unit-tests fuzzers $product; run build-asan ;;
*) echo "usage: $0 [build|run|levels]" >&2; exit 2 ;;
esac
