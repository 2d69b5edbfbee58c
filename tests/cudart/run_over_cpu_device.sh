#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_over_cpu_device.sh DEVICE_FOLDER PROGRAM: runs the program on the CPU device, once with the libraries found by the
# loader and once with them preloaded, and wants status 0 and a line PASS each time.
set -u
device=$1 program=$2
bad=0
try() {
    local out status
    out=$(env "$@" timeout 100 "$program" 2>&1)
    status=$?
    if [ $status != 0 ] || ! grep -qx PASS <<<"$out"; then
        printf '%s %s: status %d\n%s\n' "$*" "$program" "$status" "$out"
        bad=1
    fi
}
try LD_LIBRARY_PATH="$device"
try LD_PRELOAD="$device/libcuda.so.1:$device/libcudart.so.13"
exit $bad
