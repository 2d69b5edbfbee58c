#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operations that leave the range of their bits under `gpurace check`: test_wraps.py GPURACE PROGRAMS. No kernel of wrong_wraps.cu is proved, all of
wraps.cu are; what a proof takes on trust is a remark, and with --wrap it is no proof."""
import pathlib
import re
import sys
import unittest

import checked

GPURACE, PROGRAMS = sys.argv[1], pathlib.Path(sys.argv[2])
# Kernels of wrong_wraps.cu that the replay of a witness does not show: its index is beyond the memory, or it takes too many threads.
OPEN = {"plain_product", "of_many"}
# Kernels of wraps.cu that could overflow for a size that is too large, and how many lines do.
TRUSTED = {"whole_grid": 1, "rows": 1, "row_of_block": 1, "column_pass": 2}
TRUST = re.compile(r"kernel (\w+)\(.*: decided on the assumption that no number of the launch is so large that (.*) overflows")


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
        self.assertEqual({r["kernel"].split("(")[0] for r in report["races"]}, kernels_of("wrong_wraps.cu") - OPEN)
        open_ = " ".join(report["reasons"] + report["coverage"].get("besides", []))
        for kernel in OPEN:
            self.assertIn(f"kernel {kernel}(", open_)

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
