#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench-gpu.sh [words for bench/gpu.py]: builds what is measured, measures it on this machine's NVIDIA GPU, and writes the tables of docs/gpu.md.
# Some 15 minutes. Exit status 77: there is no GPU, and a line says what is missing.
set -uo pipefail
cd "$(dirname "$0")/.."
command -v python3 >/dev/null || { echo "bench-gpu: skipped: no python3"; exit 77; }
python3 bench/gpu.py --find || exit
make --no-print-directory setup || exit
targets=(gpurace gpurace_inject gpu_bench bench_kernels repeat complete-programs)
help=$(cmake --build build --target help)
grep -qE "^kernel_times:|^\.\.\. kernel_times\b" <<<"$help" && targets+=(kernel_times) # where the toolkit has CUPTI
cmake --build build -j"$(nproc)" --target "${targets[@]}" || exit
exec python3 bench/gpu.py build --json build/bench-gpu.json --update-docs docs/gpu.md "$@"
