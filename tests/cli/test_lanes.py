#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the collider says of lanes of one warp that store to one place: all of them, the first two values that differ, who stored
which. Usage: test_lanes.py GPURACE PROGRAM SCHEMA"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SCHEMA = sys.argv[1:4]
DIFFERENT, SAME = "intra-warp lost update", "intra-warp same-value write"


ALL = range(32)
# kernel, space, lanes that store, where a lane stores and what, bytes of it that the report shows, from which of them on
KERNELS = [
    ("three_values", "global", ALL, lambda l: 12, lambda l: l % 3, 4, 0),
    ("two_groups", "global", ALL, lambda l: l // 16 * 4, lambda l: l % 2, 4, 0),
    ("two_kinds", "global", ALL, lambda l: l // 16 * 4, lambda l: 9 if l < 16 else l, 4, 0),
    ("bytes", "global", ALL, lambda l: 5 + (l & 4), lambda l: 0xF0 + (l & 1), 1, 0),
    ("halves", "global", ALL, lambda l: min(l, 30) * 2, lambda l: 0x100 + l, 2, 0),
    ("doubles", "global", ALL, lambda l: l // 2 * 8, lambda l: (l & 1) << 63, 8, 0),
    ("vectors", "global", ALL, lambda l: l // 8 * 16, lambda l: 3 | (l & 7) << 32, 8, 8),
    ("in_shared", "shared", ALL, lambda l: (l & 6) * 4, lambda l: l & 7, 4, 0),
    ("generic", "shared", ALL, lambda l: (l & 1) * 4, lambda l: l, 4, 0),
    ("diverged", "global", range(1, 32, 5), lambda l: 0, lambda l: l, 4, 0),
    ("after_exit", "global", range(29, 32), lambda l: 0, lambda l: l // 30, 4, 0),
    ("second_warp", "global", ALL, lambda l: min(l + 32, 40) * 4, lambda l: l + 32, 4, 0),
    ("same", "global", ALL, lambda l: l // 8 * 4, lambda l: 7, 4, 0),
]


def conflicts(lanes, where, value):
    """The places that several lanes store to, by class: {class: {place: lanes}}."""
    places, found = {}, {}
    for lane in lanes:
        places.setdefault(where(lane), []).append(lane)
    for place, group in places.items():
        if len(group) > 1:
            found.setdefault(SAME if len({value(lane) for lane in group}) == 1 else DIFFERENT, {})[place] = group
    return found


WANTED = {(kernel, kind) for kernel, _, lanes, where, value, _, _ in KERNELS for kind in conflicts(lanes, where, value)}


def run(*options):
    """Report and standard error of a run, whose lanes nobody parts at random."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report.json")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
        environment["GPURACE_CPU_DEVICE"] = "split=0"
        command = [GPURACE, "run", "--engine", "collider", "--device", "cpu", *options]
        text = subprocess.run([*command, "--", PROGRAM], env=environment, capture_output=True, text=True, timeout=100, check=False)
        subprocess.run([*command, "--format", "json", "--output", output, "--", PROGRAM], env=environment, timeout=100, check=False)
        with open(output, encoding="utf-8") as file:
            report = json.load(file)
        try:
            import jsonschema

            with open(SCHEMA, encoding="utf-8") as file:
                jsonschema.validate(report, json.load(file))
        except ImportError:
            pass
        return report, text.stderr


def races(report):
    found = {}
    for race in report["races"]:
        if "intra-warp" in race["class"]:
            found.setdefault((race["kernel"].split("(")[0], race["class"]), []).append(race)
    return found


class Lanes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report, cls.text = run()
        cls.found = races(cls.report)

    def test_all_lanes_and_both_values(self):
        for kernel, space, lanes, where, value, size, shift in KERNELS:
            for kind, groups in conflicts(lanes, where, value).items():
                with self.subTest(kernel=kernel, kind=kind):
                    race, = self.found.get((kernel, kind), [None])
                    self.assertIsNotNone(race)
                    address = int(race["accesses"][0]["address"], 16) % 256
                    group = groups[address - shift]  # any of them may be the first to report
                    other = next((lane for lane in group if value(lane) != value(group[0])), group[0])
                    self.assertEqual(race["lanes"], {"all": group, "stored_expected": [l for l in group if value(l) == value(group[0])],
                                                     "stored_seen": [l for l in group if value(l) == value(other)]})
                    self.assertEqual(race["expected"], f"0x{value(group[0]):0{2 * size}x}")
                    self.assertEqual(race["seen"], f"0x{value(other):0{2 * size}x}")
                    self.assertEqual(race["count"], len(groups))
                    self.assertEqual([a["lanes"] for a in race["accesses"]], [group, group])
                    self.assertEqual((race["space"], race["accesses"][0]["thread"][0] % 32), (space, group[0]))

    def test_nothing_else(self):
        self.assertEqual(set(self.found), WANTED)

    def test_text(self):
        for line in ["lanes 0 3 6 9 12 15 18 21 24 27 30 stored 0x00000000", "lanes 1 4 7 10 13 16 19 22 25 28 31 stored 0x00000001",
                     "lanes 2 5 8 11 14 17 20 23 26 29 stored something else", "lane 29 stored 0x00000000", "lanes 30 31 stored 0x00000001",
                     "lanes 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 all stored 0x00000009",
                     "other side: the same instruction, in other lanes of the warp; at this address: 29 30 31"]:
            self.assertIn("    " + line, self.text)

    def test_same_values_may_be_hidden(self):
        found = races(run("--same-value", "no")[0])
        self.assertEqual(set(found), {race for race in WANTED if race[1] == DIFFERENT})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
