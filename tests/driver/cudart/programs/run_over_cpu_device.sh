#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_over_cpu_device.sh DEVICE_FOLDER MAJOR PROGRAM [DEVICES]: runs the program on the CPU device: with the libraries found by
# the loader, with them preloaded, and under `gpurace run`, and wants status 0 and a line PASS each time.
set -u
device=$1 major=$2 program=$3 devices=${4:-1}
bad=0
try() {
    local out status
    out=$(timeout 100 "$@" "$program" 2>&1)
    status=$?
    if [ $status != 0 ] || ! grep -qx PASS <<<"$out"; then
        printf '%s %s: status %d\n%s\n' "$*" "$program" "$status" "$out"
        bad=1
    fi
}
try env GPURACE_CPU_DEVICE=devices=$devices LD_LIBRARY_PATH="$device"
try env GPURACE_CPU_DEVICE=devices=$devices LD_PRELOAD="$device/libcuda.so.1:$device/libcudart.so.$major"
try "$device/../gpurace" run --device cpu --cpu-devices $devices --engine none --
exit $bad
