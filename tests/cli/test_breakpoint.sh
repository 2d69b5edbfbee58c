#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs built from rewritten PTX ahead of time, on the CPU device and without gpurace: a race stops at a breakpoint that names the
# kernel and the line of the racing access; a program without races is as it was. test_breakpoint.sh GPURACE NVCC CPU_DEVICE SOURCE_DIR
set -u
GPURACE=$1 NVCC=$2
export GPURACE NVCC
examples=$4/examples
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

check() { # what, status
  [ "$2" = 0 ] && echo "ok   $1" || { echo "FAIL $1"; failed=1; }
}

build() { # name, options of nvcc
  name=$1
  shift
  "$examples/ahead_of_time.sh" --seed 3 -- "$@" -cudart shared -o "$tmp/$name" "$examples/$name.cu" >"$tmp/log" 2>&1 ||
    { cat "$tmp/log"; check "$name builds" 1; }
}

run() { LD_LIBRARY_PATH=$cpu_device "$tmp/$1" >"$tmp/out" 2>"$tmp/err"; }

cpu_device=$3
line=$(grep -n 'RACE: intra-warp lost update' "$examples/elect_race.cu" | cut -d: -f1)
for options in "-O2 -arch=sm_90 -lineinfo" "-G -arch=sm_90"; do
  build elect_race $options
  run elect_race
  check "nvcc $options: the program fails" "$([ $? -ne 0 ]; echo $?)"
  grep -q "CPU device: breakpoint in kernel .*elect.* at .*/elect_race.cu:$line: thread (.*) of block (.*) noticed a data race" "$tmp/err"
  check "nvcc $options: stopped in the kernel, at the racing line" $?
  grep -q "unspecified launch failure" "$tmp/err"
  check "nvcc $options: CUDA's error goes to the program" $?
done
cat "$tmp/err"

build elect_fixed -O2 -arch=sm_90 -lineinfo
run elect_fixed
check "a program without races ends well" $?
grep -q PASS "$tmp/out"
check "and computes what it did" $?
exit $failed
