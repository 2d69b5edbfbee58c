#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_package.sh CPACK BUILD LOAD_PTX: makes the packages and unpacks each into an empty folder. The command from there, in an empty
# environment, rewrites PTX and finds the race of a small kernel. Exits with 77 where a tool that it needs is missing.
set -eu
cpack=$1 build=$2 load_ptx=$3
for tool in "$cpack" dpkg-deb tar readelf; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*"; exit 1; }

"$cpack" --config "$build/CPackConfig.cmake" -B "$work/packages" >log 2>&1 || { cat log; exit 1; }
deb=$(echo packages/*.deb) tar=$(echo packages/*.tar.gz)
[ -f "$deb" ] && [ -f "$tar" ] || { ls packages; fail "no .deb or no .tar.gz was made"; }
mkdir deb tar
dpkg-deb -x "$deb" deb
tar -xzf "$tar" -C tar --strip-components=1

depends=$(dpkg-deb -f "$deb" Depends)
echo "$deb depends on $depends"
for package in libc6 libelf1 libjansson4 liblz4-1 libzstd1; do
    grep -q "\b$package\b" <<<"$depends" || fail "the .deb does not depend on $package"
done
for file in README.md LICENSE copyright options.md; do
    [ -f deb/usr/share/doc/gpurace/$file ] || fail "the .deb has no $file"
done

for root in deb/usr tar; do
    [ -f $root/include/gpurace/gpurace.h ] || fail "no include/gpurace/gpurace.h in $root"
done

cat >race.ptx <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.visible .entry all_store(.param .u64 out)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
PTX
for gpurace in "$work/deb/usr/bin/gpurace" "$work/tar/bin/gpurace"; do
    clean() { env -i PATH=/nonexistent "$gpurace" "$@"; }
    clean --version
    clean ptx race.ptx -o rewritten.ptx
    grep -q __gr_ rewritten.ptx || { cat rewritten.ptx; fail "gpurace ptx added nothing"; }
    for engine in exact collider; do
        status=0
        clean run --engine $engine --device cpu -- "$load_ptx" race.ptx >out 2>report || status=$?
        [ $status = 66 ] && grep -q 'verdict: races' report || { cat out report; fail "$engine: exit status $status, expected 66"; }
    done
done
