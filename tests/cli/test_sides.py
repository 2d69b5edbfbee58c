#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What makes the collider see more, on the CPU device: poisoned writes, and replays that catch the other side. Usage: test_sides.py GPURACE PROGRAM SOURCE SCHEMA"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SOURCE, SCHEMA = sys.argv[1:5]


def line_of(label):
    with open(SOURCE, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.rstrip().endswith(f"// {label}"))


class Run:
    def __init__(self, *args, options=(), text=False, **more):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            output = os.path.join(folder, "report")
            environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
            command = [GPURACE, "run", "--device", "cpu", "--engine", "collider", "--format", "text" if text else "json",
                       "--output", output, *options, "--", PROGRAM, *args]
            more.setdefault("stdin", subprocess.DEVNULL)
            environment.update(more.pop("env", {}))
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=120, check=False, **more)
            self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
            with open(output, encoding="utf-8") as file:
                self.report = file.read() if text else json.load(file)
        if not text:
            self.validate()

    def validate(self):
        try:
            import jsonschema
        except ImportError:
            return
        with open(SCHEMA, encoding="utf-8") as file:
            jsonschema.validate(self.report, json.load(file))


class Poison(unittest.TestCase):
    """Threads of different warps that store one value."""

    def check(self, kernel, value, width, schedule="default"):
        found = 0
        for seed in range(1, 41):  # somewhat less than every second one finds it
            if found >= 2:
                return
            run = Run(kernel, options=["--poison-writes", "--watchpoints", "no", "--schedule", schedule, "--seed", str(seed)])
            for race in run.report["races"]:
                self.assertEqual((race["class"], race["accesses"][0]["line"]), ("lost update", line_of(kernel)))
                self.assertEqual((race["expected"], race["seen"]),
                                 (f"0x{value:0{width}x}", f"0x{value ^ 1:0{width}x}"))
                found += 1
        self.fail(f"found {found} times in 40 runs")

    def test_global(self):
        self.check("same", 7, 8)

    def test_shared_and_narrow(self):
        self.check("same_shared", 1, 4)

    def test_what_is_never_poisoned(self):
        """An address, and memory that the host may look at: such stores change nothing that a thread sees."""
        for seed in range(1, 5):
            for args in (("same_address",), ("same", "pinned"), ("same", "managed")):
                run = Run(*args, options=["--poison-writes", "--watchpoints", "no", "--schedule", "default", "--seed", str(seed)])
                self.assertEqual(run.report["races"], [], args)

    def classes(self, kernel, schedule):
        """Those that watchpoints and causality give."""
        for seed in range(1, 4):
            run = Run(kernel, options=["--poison-writes", "--engine", "collider+exact", "--schedule", schedule, "--seed", str(seed)])
            for race in run.report["races"]:
                self.assertEqual(race["accesses"][0]["line"], line_of(kernel))
                if not race["evidence"].startswith("value changed"):
                    yield race["class"]
                if race.get("witness"):
                    yield race["witness"]["class"]

    def test_same_values_in_every_schedule(self):
        for schedule in ("default", "directed", "random", "rr", "pct"):
            for kernel in ("same", "same_shared"):
                self.assertEqual(set(self.classes(kernel, schedule)), {"same-value write"}, (schedule, kernel))

    def test_opposite_values_are_different(self):
        for schedule in ("default", "directed"):
            self.assertEqual(set(self.classes("opposite", schedule)), {"write-write race"}, schedule)

    def test_values_in_every_schedule(self):
        for schedule in ("directed", "rr", "pct"):
            self.check("same", 7, 8, schedule)

    def test_text_explains_the_value(self):
        for seed in range(1, 41):
            run = Run("same_shared", options=["--poison-writes", "--watchpoints", "no", "--schedule", "default", "--seed", str(seed)], text=True)
            if "which has the lowest bit turned: another thread was about to store the same value" in run.report:
                return
        self.fail("no report explains the value")

    def test_a_program_without_races_is_the_same(self):
        plain = Run("neighbours")
        for seed in ("1", "2", "3"):
            run = Run("neighbours", options=["--poison-writes", "--seed", seed])
            self.assertEqual((run.status, run.report["verdict"], run.stdout), (0, "clean", plain.stdout), run.stderr)


class Attribution(unittest.TestCase):
    """Races of which the first run saw one side; replays name the other one, at the right line."""

    def race(self, kernel, seeds=range(1, 6), options=()):
        for seed in seeds:
            run = Run(kernel, options=["--watchpoints", "no", "--attribute", "--seed", str(seed), *options])
            races = [r for r in run.report["races"] if self.at(r["accesses"][0], f"{kernel} first")]
            if races:
                self.assertEqual(len(races), 1, run.report)
                return run, races[0]
        self.fail("no race was found to attribute")

    def at(self, access, label):
        lines = [f["line"] for f in access["frames"]]
        return line_of(label) in lines

    def check(self, kernel, kind, space="global", sizes=(4, 4), race_class="clobbered read"):
        run, race = self.race(kernel)
        self.assertEqual((race["class"], race["space"], len(race["accesses"])), (race_class, space, 2), race)
        first, other = race["replay"]["first"], race["accesses"][1]
        self.assertTrue(self.at(first, f"{kernel} first"), first)
        self.assertTrue(self.at(other, f"{kernel} other"), other)
        self.assertEqual((other["kind"], first["size"], other["size"]), (kind, *sizes))
        self.assertNotEqual((first["thread"], first["block"]), (other["thread"], other["block"]))
        a, b = int(first["address"], 16), int(other["address"], 16)
        self.assertTrue(a < b + other["size"] and b < a + first["size"], race)
        self.assertGreaterEqual(run.report["replays"], race["replay"]["number"])
        return race

    def test_store(self):
        race = self.check("read_store", "store")
        self.assertEqual((race["replay"]["first"]["block"], race["accesses"][1]["block"]), ([0, 0, 0], [1, 0, 0]))
        self.assertEqual(race["replay"]["first"]["thread"], race["accesses"][1]["thread"])

    def test_reduction(self):
        self.check("read_atomic", "atomic")

    def test_exchange(self):
        self.check("read_exchange", "atomic")

    def test_volatile_store(self):
        self.check("read_volatile", "store")

    def test_lost_update(self):
        self.check("store_store", "atomic", race_class="lost update")

    def test_shared(self):
        race = self.check("in_shared", "store", "shared")
        self.assertEqual(race["replay"]["first"]["block"], race["accesses"][1]["block"])

    def test_generic_address(self):
        race = self.check("generic", "store", "shared")
        self.assertEqual(race["replay"]["first"]["block"], race["accesses"][1]["block"])

    def test_part_of_a_word(self):
        self.check("narrow", "store", sizes=(1, 4))

    def test_part_of_a_vector(self):
        self.check("wide", "store", sizes=(16, 4))

    def test_memory_of_another_block(self):
        race = self.check("cluster", "store", "shared")
        self.assertEqual(race["accesses"][1]["block"][0], race["replay"]["first"]["block"][0] + 1)

    def test_what_cannot_be_caught(self):
        run, race = self.race("copied")
        self.assertEqual((run.report["replays"], len(race["accesses"])), (3, 1))
        self.assertNotIn("replay", race)
        text = Run("copied", options=["--watchpoints", "no", "--attribute", "--replays", "2"], text=True).report
        self.assertIn("in 2 replays no store or atomic operation of a kernel touched the bytes", text)

    def test_text(self):
        text = Run("read_store", options=["--watchpoints", "no", "--attribute"], text=True).report
        self.assertRegex(text, rf"other side, caught by a replay: .*sides.cu:{line_of('read_store other')}:")
        self.assertIn("the two met in replay 1 (seed 1), not in the first run", text)
        self.assertIn("remark    --attribute: the program was run 1 more time: 1 of 1 races", text)

    def test_the_first_run_is_the_programs(self):
        """Its output and exit status; replays print nothing, and read the same input."""
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            words, left = os.path.join(folder, "in"), os.path.join(folder, "left")
            with open(words, "w", encoding="utf-8") as file:
                file.write("skipped\nread_store\n")
            with open(words, encoding="utf-8") as file:
                os.lseek(file.fileno(), len("skipped\n"), os.SEEK_SET)
                run = Run("-", "input", left, options=["--watchpoints", "no", "--attribute"], stdin=file)
            self.assertEqual((run.status, run.stdout.count("\n"), run.report["replays"]), (66, 1, 1), run.stderr)
            self.assertEqual(len(run.report["races"][0]["accesses"]), 2)
            with open(left, encoding="utf-8") as file:
                self.assertEqual(file.read(), "run\nrun\n")

    def test_input_that_is_gone(self):
        reader, writer = os.pipe()
        os.write(writer, b"read_store\n")
        os.close(writer)
        run = Run("-", "input", options=["--watchpoints", "no", "--attribute"], stdin=reader)
        os.close(reader)
        self.assertIn("standard input is a pipe and cannot be repeated: replays read none",
                      "\n".join(run.report["coverage"]["remarks"]))
        self.assertEqual(len(run.report["races"][0]["accesses"]), 1)

    def test_nothing_to_do(self):
        run = Run("neighbours", options=["--watchpoints", "no", "--attribute"])
        self.assertEqual((run.status, run.report["verdict"]), (0, "clean"))
        self.assertNotIn("replays", run.report)


class Stop(unittest.TestCase):
    """--stop: the kernel ends at its first race, whoever found it."""

    def check(self, kernel, engine, schedule):
        run = Run(kernel, options=["--engine", engine, "--schedule", schedule, "--stop"])
        self.assertEqual((run.status, run.stdout.split(":")[0]), (66, "cudaErrorLaunchFailure"), run.report)
        self.assertIn("trap", " ".join(run.report["reasons"]))
        return run.report["races"]

    def test_watchpoint(self):
        for schedule in ("default", "directed", "rr"):
            race, = self.check("same", "collider", schedule)
            self.assertEqual((race["class"], race["evidence"]), ("same-value write", "conflicting access inside the window"))
            self.assertLess(race["count"], 4)  # of the warps of one block

    def test_causality(self):
        race, = self.check("same", "exact", "default")
        self.assertEqual(race["class"], "same-value write")

    def test_both(self):
        for race in self.check("same", "collider+exact", "default") + self.check("read_store", "collider+exact", "directed"):
            self.assertTrue(race["witness"], race)

    def test_a_copy_that_meets_a_window(self):
        """The memset races with the kernel as well: another race, not the witness of this one."""
        races = [r for r in self.check("copied", "collider+exact", "default") if r["engine"] == "collider"]
        self.assertTrue(races and all(r["witness"] for r in races), races)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
