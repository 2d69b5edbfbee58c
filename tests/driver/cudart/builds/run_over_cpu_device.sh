#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_over_cpu_device.sh DEVICE_FOLDER MAJOR PROGRAM [DEVICES [EXPECTED]]: runs the program on the CPU device: with the libraries
# found by the loader, with them preloaded, and under `gpurace run`, and wants status 0 each time, and on its standard output a line PASS or
# what the file EXPECTED has.
set -u
device=$1 major=$2 program=$3 devices=${4:-1} expected=${5-}
bad=0
is_right() {
    if [ "$expected" ]; then diff "$expected" - <<<"$1"; else grep -qx PASS <<<"$1"; fi
}
try() {
    local out status
    out=$(timeout 100 "$@" "$program" 2>"$errors")
    status=$?
    if [ $status != 0 ] || ! is_right "$out"; then
        cat "$errors"
        printf '%s %s: status %d\n%s\n' "$*" "$program" "$status" "$out"
        bad=1
    fi
}
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
try env GPURACE_CPU_DEVICE=devices=$devices LD_LIBRARY_PATH="$device"
try env GPURACE_CPU_DEVICE=devices=$devices LD_PRELOAD="$device/libcuda.so.1:$device/libcudart.so.$major"
try "$device/../gpurace" run --device cpu --cpu-devices $devices --engine none --strict no --
exit $bad
