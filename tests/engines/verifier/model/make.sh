#!/bin/sh
# Makes kernels.ptx of kernels.cu again: make.sh [NVCC]. The names of files in it are without folders.
cd "$(dirname "$0")" || exit 1
${1:-nvcc} -std=c++17 -gencode arch=compute_80,code=compute_80 -Xcicc -O0 -lineinfo --ptx kernels.cu -o kernels.ptx || exit 1
sed -i -E 's|^(\s*\.file\s+[0-9]+ )".*/([^/"]+)"|\1"\2"|; /^\/\/ (Compiler|Cuda|Based|Generated)/d' kernels.ptx
