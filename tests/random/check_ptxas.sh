#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check_ptxas.sh RANDOM_KERNELS NVCC — what the generator writes is PTX: ptxas takes a sample of it.
set -eu
ptxas=$(dirname "$(readlink -f "$2")")/ptxas
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --emit "$folder" --first 1 --count 20
for f in "$folder"/*.ptx; do
    "$ptxas" -O1 -arch=sm_90 -o /dev/null "$f" 2>"$folder/errors" || { echo "$f"; grep -v '^$' "$folder/errors" | head -20; exit 1; }
done
