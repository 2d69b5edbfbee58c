#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A race found, and its repair found clean: examples/reduction_race.cu and its twin, on the CPU device. `make demo` has
# built gpurace. Fails when the race is not reported, or the twin is not clean.
set -eu
cd "$(dirname "$0")/.."

cmake --build build --target examples/reduction_race examples/reduction_fixed >/dev/null

bold='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
show() { printf '\n%s\n' "$bold$*$plain"; }
# expect STATUS COMMAND...: shows it, runs it, and fails unless it exits with STATUS.
expect() {
    local want=$1 got=0
    shift
    show "$ $*"
    "$@" || got=$?
    [ $got = "$want" ] || { echo "demo: exit status $got, expected $want" >&2; exit 1; }
}

show "A block's sum in shared memory, without the barrier that each step needs (examples/reduction_race.cu):"
sed -n '/^__global__/,/^}/p' examples/reduction_race.cu
expect 66 build/gpurace run --device cpu -- build/examples/reduction_race

show "The repair:"
diff -u <(sed -n '/^__global__/,/^}/p' examples/reduction_race.cu) <(sed -n '/^__global__/,/^}/p' examples/reduction_fixed.cu) |
    grep '^[+-][^+-]' || true
expect 0 build/gpurace run --device cpu -- build/examples/reduction_fixed
