#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu.sh BUILD [ROUNDS]: what the collider costs on a GPU, with several delays: the table of docs/gpu.md.
set -eu
build=$1 rounds=${2:-9}
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
cp "$build/bench/kernels.ptx" "$files/plain"
for delays in 5000,5000 5000,1 1,1 0,0; do
    "$build/gpurace" ptx --read-delay "${delays%,*}" --write-delay "${delays#*,}" "$build/bench/kernels.ptx" -o "$files/$delays" 2>/dev/null
done
"$build/bench/gpu_bench" "$rounds" "$files/plain" "$files/5000,5000" "$files/5000,1" "$files/1,1" "$files/0,0"
