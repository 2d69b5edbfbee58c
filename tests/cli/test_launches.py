#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace run --record-launches FILE`, and the way back: `gpurace check --launches FILE`. test_launches.py GPURACE PROGRAM SOURCE [check]"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SOURCE = sys.argv[1:4]
HAS_CHECK = sys.argv[4:] == ["check"]


def pointer(allocation, offset, extent, **more):
    return {"bytes": 8, "allocation": allocation, "offset": offset, "extent": extent, **more}


def number(value, n=4):
    return {"bytes": n, "value": f"0x{value:0{2 * n}x}"}


def launch(kernel, grid, block, args, count, shared=0, **more):
    return {"kernel": kernel, "grid": [grid, 1, 1], "block": [block, 1, 1], **more, "dynamic_shared": shared, "args": args, "count": count}


HEAD = {"format": "gpurace launches", "version": 1}
A, B = pointer(0, 0, 4096), pointer(1, 0, 8192)
SHAPE = {"bytes": 24, "fields": [number(1 << 32 | 64, 8), pointer(0, 0, 8192), number(7, 8)]}
LAUNCHES = [
    launch("shift", 2, 32, [A, B, number(64), number(0)], 1),
    launch("shift", 1, 64, [A, pointer(0, 400, 4096), number(64), number(1)], 10),
    launch("shaped", 2, 32, [SHAPE, pointer(1, 0, 1024, variable="table")], 1),
    launch("first", 1, 32, [A], 1),
    launch("shift", 1, 32, [A, B, number(17), number(1)], 3),
    launch("bare", 4, 32, [], 1, 128, cooperative=True),
]
LEFT_OUT = [{"left_out": 1}]  # the graph that allocates


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpurace-test-")
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "run.jsonl")

    def run_program(self, *words, engine="none", program=(PROGRAM,), status=0):
        command = [GPURACE, "run", "--device", "cpu", "--engine", engine, "--error-exitcode", "0", "--record-launches", self.file, "--", *program]
        done = subprocess.run([*map(str, command), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def lines(self):
        """What is in the file; the padding of structures is zero."""
        head, *lines = map(json.loads, self.file.read_text().splitlines())
        self.assertEqual(head, HEAD)
        for line in lines:
            for argument in line.get("args", []):
                if "fields" in argument:
                    tag = argument["fields"][-1]
                    tag["value"] = f"0x{int(tag['value'], 16) & 0xffff:016x}"
        return lines


class Recording(Run):
    def test_every_engine_records_the_same(self):
        for engine in ("none", "exact", "collider", "tracker"):
            with self.subTest(engine):
                self.run_program(engine=engine)
                self.assertEqual(self.lines(), LAUNCHES + LEFT_OUT)

    def test_equal_launches_are_one_line(self):
        self.run_program(20000)
        self.assertEqual(self.lines(), LAUNCHES + [launch("bare", 1, 1, [], 20000)] + LEFT_OUT)

    def test_different_launches_are_kept_up_to_a_number(self):
        self.run_program(5, 4200)
        lines = self.lines()
        self.assertEqual(len(lines), 4096 + 1)
        self.assertEqual(lines[-1], {"left_out": 1 + 4200 + len(LAUNCHES) + 1 - 4096})
        self.assertEqual(sum(x.get("count", 0) for x in lines), 10 + 3 + 4 + 5 + 4096 - len(LAUNCHES) - 1)

    def test_a_killed_program_leaves_what_it_launched(self):
        self.run_program(5, 0, "kill", status=128 + 9)
        self.assertEqual(self.lines(), LAUNCHES + [launch("bare", 1, 1, [], 5)] + LEFT_OUT)

    def test_processes_add_up(self):
        self.run_program(program=("/bin/sh", "-c", '"$0" & "$0" && wait', PROGRAM))
        twice = [{**x, "count": 2 * x["count"]} for x in LAUNCHES] + [{"left_out": 2}]
        self.assertCountEqual(self.lines(), twice)

    def test_a_program_without_cuda(self):
        self.run_program(program=("/usr/bin/env", "true"))
        self.assertEqual(self.lines(), [])

    def test_a_file_that_cannot_be_written(self):
        self.file = self.file.parent / "none" / "run.jsonl"
        done = self.run_program(program=("/bin/echo", "ran"), status=2)
        self.assertEqual(done.stdout, "")
        self.assertIn("none/run.jsonl", done.stderr)


@unittest.skipUnless(HAS_CHECK, "there is no verifier")
class RoundTrip(Run):
    def check(self, *launches, status=0):
        self.file.write_text("".join(json.dumps(x) + "\n" for x in (HEAD, *launches)))
        return self.check_file(status)

    def check_file(self, status=0):
        command = [GPURACE, "check", "--format", "json", SOURCE, "--launches", self.file]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stderr[done.stderr.index("{"):])

    def test_what_was_recorded_is_decided(self):
        self.run_program(engine="exact")
        report = self.check_file(status=66)
        race, = report["races"]
        self.assertEqual(race["kernel"], "shift(float*, float const*, int, int)" if "(" in race["kernel"] else "shift")
        line, = [n for n, text in enumerate(pathlib.Path(SOURCE).read_text().splitlines(), 1) if text.endswith("// SHIFT")]
        self.assertEqual({a["line"] for a in race["accesses"]}, {line})
        self.assertIn("for the recorded launch at run.jsonl:2", race["witness"])
        self.assertEqual(race["count"], 1)
        # All else is free of races. What is left is what is not in the file.
        reason, = report["reasons"]
        self.assertIn("lacks 1 launches", reason)
        self.assertTrue(any(r.endswith("has no launch of unused") for r in report["coverage"]["remarks"]))

    def test_what_the_file_says_decides(self):
        first, second = LAUNCHES[3], {**LAUNCHES[3], "grid": [2, 1, 1]}
        self.assertEqual(self.check(first)["races"], [])
        race, = self.check(second, status=66)["races"]
        self.assertEqual(race["kernel"].split("(")[0], "first")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
