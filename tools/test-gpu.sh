#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test-gpu.sh [soak]: builds what the tests of tests/gpu need, runs them on this machine's NVIDIA GPUs, and writes the table of docs/gpu.md.
# Minutes; with `soak` also ten programs a hundred times each. Exit status: CTest's; 77: there is no GPU, and a line says what is missing.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
case ${1-} in '' | soak) ;; *) echo "usage: tools/test-gpu.sh [soak]" >&2; exit 2 ;; esac

driver=tests/gpu/gpu.py results=build/gpu-tests
command -v python3 >/dev/null || { echo "skipped: no python3 to look for a GPU with"; exit 77; }
python3 $driver --find || exit

make --no-print-directory setup || exit
targets=(gpurace gpurace_inject conformance examples corpus complete-programs gpu-programs cudart_programs)
help=$(cmake --build build --target help)
for target in jit jit_linked; do # only where the toolkit has NVRTC and nvJitLink
    grep -qE "^$target:|^\.\.\. $target\b" <<<"$help" && targets+=("$target")
done
cmake --build build -j"$(nproc)" --target "${targets[@]}" || exit

rm -rf $results
without=(-LE soak)
[ "${1-}" = soak ] && without=()
ctest --test-dir build -j"$(nproc)" --output-on-failure -L '^gpu$' "${without[@]}"
status=$?
python3 $driver --results $results --page docs/gpu.md >&2 || status=1
exit $status
