#!/bin/sh
# Makes kernels.ptx of kernels.cu again: make.sh [NVCC [compare]]. The names of files in it are without folders. With `compare` nothing is
# written: it fails when kernels.ptx is not what kernels.cu gives, and ends with 77 when this nvcc writes another version of PTX.
cd "$(dirname "$0")" || exit 1
made=$(mktemp) || exit 1
trap 'rm -f "$made" "$made.old" "$made.new"' EXIT
"${1:-nvcc}" -std=c++17 -gencode arch=compute_80,code=compute_80 -Xcicc -O0 -lineinfo --ptx kernels.cu -o "$made" || exit 1
sed -i -E 's|^(\s*\.file\s+[0-9]+ )".*/([^/"]+)"|\1"\2"|; /^\/\/ (Compiler|Cuda|Based|Generated)/d' "$made"
if [ "$2" != compare ]; then
    cat "$made" >kernels.ptx
    exit
fi
if [ "$(grep '^\.version' "$made")" != "$(grep '^\.version' kernels.ptx)" ]; then
    echo "skipped: this nvcc writes $(grep '^\.version' "$made"), and kernels.ptx is of $(grep '^\.version' kernels.ptx)"
    exit 77
fi
# A name that nvcc makes up anew, in the code and, byte by byte, in what is for debuggers.
plain() { sed -E 's/_INTERNAL_[0-9a-f]{8}_/_INTERNAL_/g; /^\.b8 /d' "$1"; }
plain kernels.ptx >"$made.old"
plain "$made" >"$made.new"
diff "$made.old" "$made.new" || { echo "kernels.ptx is not what kernels.cu gives: run make.sh"; exit 1; }
