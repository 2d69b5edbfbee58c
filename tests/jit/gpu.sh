#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu.sh BUILD [LOGS]: what gpurace makes of code that is compiled ahead of time and while a program runs, on a GPU: the C programs, programs of
# `gpurace nvcc`, cuda-gdb, and those Python packages that python3 has. Needs nvcc, and from BUILD: gpurace, gpurace-ptxas, lib, cpu-device,
# tests/cli/jit and jit_linked. Prints a line for each part; the whole outputs go to LOGS. Exit status: 77 without a GPU.
set -u
build=$(cd "$1" && pwd) logs=${2:-$(mktemp -d)} root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$logs"
[ -e /dev/nvidiactl ] || { echo "skipped: no GPU"; exit 77; }
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "skipped: no nvcc"; exit 77; }
cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
nvcc=$cuda/bin/nvcc
export DEVICE=gpu CUDA_HOME=$cuda
failed=0

part() { # name, command...
    local name=$1 status=0
    shift
    timeout 240 "$@" >"$logs/$name" 2>&1 || status=$?
    case $status in 0) echo "ok   $name" ;; 77) echo "skip $name: $(tail -1 "$logs/$name")" ;; *) failed=1; echo "FAIL $name ($status):"; tail -25 "$logs/$name" | cut -c1-400 ;; esac
}

library() { find -L "$cuda" /usr/local/cuda "$(python3 -c 'import nvidia; print(list(nvidia.__path__)[0])' 2>/dev/null || echo /nowhere)" -name "$1" 2>/dev/null | head -1; }
nvrtc=$(library libnvrtc.so.13) nvjitlink=$(library libnvJitLink.so.13)
if [ -n "$nvrtc" ] && [ -n "$nvjitlink" ]; then
    export LD_LIBRARY_PATH=$(dirname "$nvjitlink")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    part c_programs python3 "$root/tests/cli/test_jit.py" "$build/gpurace" "$build/tests/cli/jit" "$build/tests/cli/jit_linked" "$nvrtc" "$nvjitlink"
else
    echo "skip c_programs: no NVRTC or no nvJitLink in $cuda"
fi
part ahead_of_time python3 "$root/tests/cli/test_ahead_of_time.py" "$build/gpurace" "$nvcc" "$build/cpu-device"

# cuda-gdb stops at the racing line.
gdb() {
    command -v cuda-gdb >/dev/null || { echo "no cuda-gdb"; return 77; }
    local folder
    folder=$(mktemp -d)
    GPURACE_OPTIONS="poison-writes=yes" GPURACE_NVCC=$nvcc "$build/gpurace" nvcc -O2 -arch=native -lineinfo -o "$folder/program" "$root/examples/table_init_race.cu" || return 1
    cuda-gdb -batch -ex run "$folder/program"
    cuda-gdb -batch -ex run "$folder/program" 2>&1 | grep -q 'SIGTRAP'
}
export -f gdb
export build nvcc root
part cuda_gdb bash -c gdb

for program in bindings numba_kernels cupy_kernels triton_kernels triton_launched torch_compiled jax_kernels; do
    part "$program" python3 "$root/tests/jit/run.py" --device gpu "$build/gpurace" "$(command -v python3)" "$root/tests/jit/$program.py"
done
exit $failed
