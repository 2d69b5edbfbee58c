#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cupy-cpu-device.sh PYTHON — makes the CuPy that PYTHON has work on the CPU device.
#
# CuPy's wheels have NVIDIA's static CUDA runtime in one module (cupy_backends.cuda.api.runtime), and that runtime works above NVIDIA's driver
# only. This builds that module anew from CuPy's own source, against the shared runtime (libcudart.so.13), as one would relink a program with
# `nvcc -cudart shared`. What was there is kept beside it (runtime.….so.static). Needs: pip, g++, the headers of Python and of CUDA (CUDA_HOME,
# nvcc on the PATH, /usr/local/cuda, build/cuda), and PyPI. With a GPU it works as before, with the libcudart.so.13 that is found there.
set -euo pipefail
[ $# = 1 ] || { sed -n '3s/^# //p' "$0" >&2; exit 2; }
say() { echo "cupy-cpu-device: $*" >&2; }
die() { say "$*"; exit 1; }
root=$(cd "$(dirname "$0")/.." && pwd)
python=$(command -v "$1") || die "$1: not found"
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") # a link of a virtual environment is not to be followed

find_cuda() {
    local nvcc
    for dir in "${CUDA_HOME:-}" "$(nvcc=$(command -v nvcc) && dirname "$(dirname "$(readlink -f "$nvcc")")" || true)" /usr/local/cuda "$root/build/cuda"; do
        [ -n "$dir" ] && [ -f "$dir/include/cuda_runtime.h" ] && { echo "$dir"; return; }
    done
    return 1
}
pip_python=
for py in "$python" python3 /usr/bin/python3; do
    "$py" -m pip --version >/dev/null 2>&1 && { pip_python=$py; break; }
done
[ -n "$pip_python" ] || die "no Python here has pip"
cuda=$(find_cuda) || die "no CUDA headers: set CUDA_HOME"
read -r version major module < <("$python" - <<'PY'
import importlib.metadata, importlib.util, pathlib
for major in 13, 12:
    try:
        version = importlib.metadata.version(f"cupy-cuda{major}x")
    except importlib.metadata.PackageNotFoundError:
        continue
    folder = pathlib.Path(importlib.util.find_spec("cupy_backends").origin).parent / "cuda/api"
    print(version, major, next(folder.glob("runtime.*.so"), ""))
    break
PY
) || true
[ -n "${module:-}" ] || die "$python has no cupy-cuda13x and no cupy-cuda12x"
if readelf -d "$module" | grep -q 'NEEDED.*libcudart'; then
    say "$module uses the shared runtime already"
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$pip_python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary cupy "cupy==$version"
tar xf cupy-*.tar.gz
"$pip_python" -m pip install --quiet --disable-pip-version-check --no-compile --target tools 'Cython>=3.2,<3.3' 2>/dev/null
cd cupy-"$version"
# The words that CuPy's own build gives to Cython (install/cupy_builder/_command.py).
PYTHONPATH=$work/tools "$pip_python" -m cython --cplus -3 -X linetrace=False -X profile=False -X embedsignature=True -X binding=False \
    -X c_api_binop_methods=True -X freethreading_compatible=True -E CUPY_USE_CUDA_PYTHON=False,CUPY_CUFFT_STATIC=False,CUPY_HIP_VERSION=0 \
    -E CUPY_CUDA_VERSION="$major"000 -E CUPY_CYTHON_VERSION=3.2.0 -w . cupy_backends/cuda/api/runtime.pyx 2>"$work/log" || { cat "$work/log" >&2; die "Cython failed"; }
include=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
shared=
for folder in "$cuda/lib64" "$cuda/lib" "$root/build/cpu-device" "$root/lib/gpurace/cpu-device"; do
    [ -n "$shared" ] || [ ! -e "$folder/libcudart.so.$major" ] || shared=$folder/libcudart.so.$major
done
[ -n "$shared" ] || die "there is no libcudart.so.$major to link with"
g++ -O1 -w -shared -fPIC -I"$include" -I"$cuda/include" -Icupy_backends -Icupy_backends/cuda cupy_backends/cuda/api/runtime.cpp \
    -o "$work/runtime.so" "$shared"
cp "$module" "$module.static"
cp "$work/runtime.so" "$module"
say "$module uses the shared runtime now"
