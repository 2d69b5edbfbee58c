#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptxas takes what replays of --attribute run, and so does our own parser: test_meet.sh MEET_PTX PTXAS FILE-OR-FOLDER…
set -u
meet=$1 ptxas=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0 n=0

# Atomic operations of all kinds, whose own registers hold their address, and targets too old for clusters.
cat >"$tmp/atomics.ptx" <<'PTX'
.version 6.3
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 p0)
{
	.reg .pred %p<2>;
	.reg .b16 %rs<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [p0];
	setp.eq.u64 %p1, %rd1, 7;
	atom.global.add.u32 %r1, [%rd1+4], 1;
	@%p1 atom.acq_rel.gpu.global.cas.b64 %rd2, [%rd1+8], %rd1, 5;
	@!%p1 atom.exch.b64 %rd1, [%rd1], 5;
	red.shared.min.s32 [dyn+4], -3;
	atom.shared.inc.u32 %r1, [%r1], 9;
	red.release.sys.add.u32 [%rd1], 1;
	st.release.gpu.u16 [%rd1+2], %rs1;
	st.volatile.shared.v2.u32 [%r1], {%r1, %r2};
	{ .reg .b64 %rd1; mov.u64 %rd1, 16; st.relaxed.sys.u8 [%rd1], 1; }
	st.local.u32 [%rd1], 1;
	ret;
}
PTX

for path in "$tmp/atomics.ptx" "$@"; do
  [ -d "$path" ] && set -- "$path"/*.ptx || set -- "$path"
  for file; do
    n=$((n + 1))
    if ! "$meet" "$file" >"$tmp/out.ptx" || ! grep -q '__gr3_caught' "$tmp/out.ptx"; then
      echo "FAIL $file: it is not rewritten"; failed=1
    elif ! "$ptxas" -arch="$(sed -n 's/^\.target \(sm_[0-9a-z]*\).*/\1/p' "$tmp/out.ptx")" "$tmp/out.ptx" -o "$tmp/out" 2>"$tmp/why"; then
      echo "FAIL $file: $(head -3 "$tmp/why")"; failed=1
    fi
  done
done
echo "$n modules"
exit $failed
