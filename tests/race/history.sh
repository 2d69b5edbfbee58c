#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# history.sh FOLDER BUILD [PLACES...]: how much the tracker finds when a cell keeps the last 1, 2, 4 or 8 accesses (section 6.7 of the iGUARD paper): the table
# of docs/tracker.md. Builds gpurace for each number of places into FOLDER/PLACES, then runs the corpus and random kernels of BUILD.
# SEEDS (5) and KERNELS (2000) in the environment say how much is run, JOBS (1) how much at once.
set -eu
folder=$1 build=$2
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
for places in "${@:-1 2 4 8}"; do
    for n in $places; do
        cmake -S "$root" -B "$folder/$n" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DGPURACE_BENCHMARKS=OFF "-DCMAKE_C_FLAGS=-DGR_HISTORY=$n" >/dev/null
        cmake --build "$folder/$n" -j "${JOBS:-1}" >/dev/null
        echo "== $n places"
        python3 "$root/tests/race/versus.py" --gpurace "$folder/$n/gpurace" --programs "$build/corpus" --engine tracker --seeds "${SEEDS:-5}" -j "${JOBS:-1}" \
            table3 scopes graph hgrd ldetector subtle async | grep -E '^(false|family|all|[0-9]+ of the)' || true
        python3 "$root/tests/oracle/confirm.py" "$folder/$n/gpurace" "$build/tests/oracle/oracle_kernels" --engine tracker --first 850000 \
            --count "${KERNELS:-2000}" --seeds 1 --jobs "${JOBS:-1}" | grep -E 'launches:|not confirmed|%'
    done
done
