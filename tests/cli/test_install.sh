#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_install.sh BUILD [PROGRAM]: what `make install` puts somewhere else works there, without the build folder: the
# command, and with a racy PROGRAM the libraries too.
set -eu
build=$1 program=${2:-}
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >/dev/null
cd /
gpurace=$prefix/bin/gpurace
"$gpurace" --version
wanted=$'bin/gpurace\nbin/gpurace-ptxas\nlib/gpurace/cpu-device/libcuda.so.1\nlib/gpurace/cpu-device/libcudart.so.12\nlib/gpurace/cpu-device/libcudart.so.13'
if [ -e "$build/lib/libgpurace-verifier.so" ]; then
    wanted+=$'\nlib/gpurace/gpurace-launch\nlib/gpurace/libgpurace-build.so\nlib/gpurace/libgpurace-verifier.so'
fi
wanted+=$'\nlib/gpurace/libgpurace.so'
found=$(cd "$prefix" && find bin lib -not -type d | LC_ALL=C sort)
[ "$found" = "$wanted" ] || { echo "installed:"; echo "$found"; exit 1; }
for file in man/man1/gpurace.1 man/man1/gpurace-run.1 bash-completion/completions/gpurace zsh/site-functions/_gpurace \
    fish/vendor_completions.d/gpurace.fish cmake/gpurace/gpurace-config.cmake; do
    [ -s "$prefix/share/$file" ] || { echo "not installed: share/$file"; exit 1; }
done
[ -s "$prefix/include/gpurace/gpurace.h" ] || { echo "not installed: include/gpurace/gpurace.h"; exit 1; }
for file in $found; do
    if readelf -d "$prefix/$file" | grep -E 'R(UN)?PATH' | grep -v '\[\$ORIGIN\]'; then
        echo "$file looks for libraries where it was built"
        exit 1
    fi
done
[ "$(readlink "$prefix/bin/gpurace-ptxas")" = gpurace ] || { echo "gpurace-ptxas is no link to gpurace"; exit 1; }
[ -n "$program" ] || exit 0
status=0
"$gpurace" run --device cpu -- "$program" 2>"$prefix/report" || status=$?
[ $status = 66 ] || { cat "$prefix/report"; echo "exit status $status, expected 66"; exit 1; }
