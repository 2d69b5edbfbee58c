#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PTX in which N stores of one thread, at N lines, race with N loads each at N lines of another: N * N distinct races."""
import sys

n, source = int(sys.argv[1]), sys.argv[2]
print(""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p<3>;
ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32;
@!%p1 bra LOADS;""")
for i in range(n):
    print(f".loc 1 {i + 1} 1\nst.global.u32 [%rd1+{4 * i}], %r1;")
print("bra END;\nLOADS: @!%p2 bra END;")
for j in range(n):
    print(f".loc 1 {n + j + 1} 1")
    for i in range(n):
        print(f"ld.global.u32 %r2, [%rd1+{4 * i}];")
print(f'END: ret;\n}}\n.file 1 "{source}"')
