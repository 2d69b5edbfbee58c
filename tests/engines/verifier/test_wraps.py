#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operations that leave the range of their bits under `gpurace check`: test_wraps.py GPURACE PROGRAMS. No kernel of wrong_wraps.cu is proved, all of
wraps.cu are; what a proof takes on trust is a remark, and with --wrap it is no proof."""
import pathlib
import re
import sys
import tempfile
import unittest

import checked

GPURACE, PROGRAMS = sys.argv[1], pathlib.Path(sys.argv[2])
# Kernels of wrong_wraps.cu that are shown to race however slow the machine is. Others may take the solver too long, and of two no witness can be replayed: its index
# is beyond the memory, or it takes too many threads.
QUICK = {"low_shift", "low_product", "sum", "byte", "guarded", "compared", "of_few", "low_of_64_bits", "last_bit"}
# Kernels of wraps.cu that could overflow for a size that is too large, and how many lines do.
TRUSTED = {"whole_grid": 1, "rows": 1, "row_of_block": 1, "column_pass": 2}
TRUST = re.compile(r"kernel (\w+)\(.*: decided on the assumption that no number of the launch is so large that (.*) overflows")
# An address of shared memory in 32 bits: both threads have 0 in the sum.
SHARED = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
.reqntid 2, 1, 1
{
.reg .b32 %r<8>;
.shared .align 4 .b8 values[256];
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 31;
mov.u32 %r3, values;
add.u32 %r4, %r3, %r2;
add.u32 %r5, %r4, %r2;
st.shared.u32 [%r5], %r1;
ret;
}
"""


def check(name, *options):
    report, said, _ = checked.ask(GPURACE, [PROGRAMS / name], [], options)
    if not report:
        raise AssertionError(said)
    return report


def kernels_of(name):
    return set(re.findall(r"__global__ void (\w+)\(", (PROGRAMS / name).read_text()))


class Wraps(unittest.TestCase):
    def test_what_wraps_is_not_proved(self):
        report = check("wrong_wraps.cu", "--solver-time", "3")
        shown = {r["kernel"].split("(")[0] for r in report["races"]}
        open_ = set(re.findall(r"kernel (\w+)\(", " ".join(report["reasons"] + report["coverage"].get("besides", []))))
        self.assertEqual(shown | open_, kernels_of("wrong_wraps.cu"))
        self.assertEqual(QUICK - shown, set())

    def test_a_sum_of_32_bits_in_shared_memory_wraps(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "shared.ptx")
            path.write_text(SHARED)
            self.assertEqual(check(path)["verdict"], "races")

    def test_what_cannot_meet_is_proved(self):
        report = check("wraps.cu")
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))
        trusted = {found[1]: len(re.findall(r"at wraps\.cu:\d+", found[2])) for found in map(TRUST.search, report["coverage"]["remarks"]) if found}
        self.assertEqual(trusted, TRUSTED)

    def test_with_wrap_nothing_is_trusted(self):
        report = check("wraps.cu", "--wrap", "--solver-time", "1", "--replay", "no")
        self.assertFalse([r for r in report["coverage"]["remarks"] if TRUST.search(r)])
        proved = {re.sub(r"^_Z\d+([a-z_0-9]*?[a-z])P[if].*", r"\1", k["name"]) for k in report["coverage"]["kernels"]}
        self.assertFalse(proved & {"whole_grid", "row_of_block"}, proved)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
