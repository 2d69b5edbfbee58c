#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From where the program called CUDA, as reports say it: stacks.py GPURACE FOLDER [TEST ...]"""
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from gpurace_reports import FOLDER, GPURACE, check_schema  # noqa: E402

SOURCES = os.path.join(HERE, "reported")
ENGINES = ("exact", "collider", "tracker")


def run(*command, options=()):
    """What a run says on standard error."""
    return subprocess.run([GPURACE, "run", "--device", "cpu", *options, "--", *command], cwd=HERE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=300).stderr


def path(program):
    return os.path.join(FOLDER, program)


def report(*command, options=()):
    said = run(*command, options=("--format", "json", *options))
    try:
        parsed = json.loads(said)
    except ValueError as error:
        raise AssertionError(said) from error
    check_schema(parsed)
    return parsed


def line_of(file, mark, comment="//"):
    with open(os.path.join(SOURCES, file), encoding="utf-8") as source:
        lines = [n for n, line in enumerate(source, 1) if line.rstrip().endswith(f"{comment} {mark}")]
    assert len(lines) == 1, (file, mark, lines)
    return lines[0]


def places(stack):
    return [(re.sub(r"\(.*", "", frame["function"].replace("(anonymous namespace)", "anonymous")),
             frame["file"] and os.path.basename(frame["file"]), frame["line"]) for frame in stack]


def marked(file, *frames, comment="//"):
    return [(function, file, line_of(file, mark, comment)) for function, mark in frames]


class Lines(unittest.TestCase):
    """With -g."""

    launch = [("pass", "launch"), ("void anonymous::Refine<int>::run", "refine"), ("main", "main")]

    def test_launch(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                found = report(path("stacks"), "launch", options=("--engine", engine))
                self.assertEqual(found["verdict"], "races")
                for race in found["races"]:
                    for side in race["accesses"]:
                        if side["thread"] is None:
                            continue
                        wanted = [(f.replace("void ", ""), *rest) for f, *rest in marked("stacks.cu", *self.launch)]
                        self.assertEqual(places(side["stack"]), wanted)
                        self.assertRegex(side["called"], "^cu(da)?LaunchKernel$")

    def side(self, mode, kind, engine):
        for seed in range(1, 9):  # engines need not see each race in every run
            found = report(path("stacks"), mode, options=("--engine", engine, "--seed", str(seed)))
            sides = [side for race in found["races"] for side in race["accesses"] if side["kind"] == kind]
            if sides:
                return sides[0]
        raise AssertionError((mode, kind, engine))

    def test_api(self):
        """Copies, memsets, allocations and frees, of which only the host's code has a place."""
        for mode, kind, called, function, mark, main in (
                ("copy", "copy", "cudaMemcpyAsync", "copy_back", "copy", "main copies"),
                ("memset", "memset", "cudaMemsetAsync", "clear", "memset", "main clears"),
                ("alloc", "allocation", "cudaMallocAsync", "take", "alloc", "main takes"),
                ("free", "free", "cudaFreeAsync", "give_back", "free", "main frees")):
            for engine in ("exact", "tracker"):
                with self.subTest(kind=kind, engine=engine):
                    side = self.side(mode, kind, engine)
                    self.assertEqual(side["called"], called)
                    self.assertEqual(places(side["stack"]), marked("stacks.cu", (function, mark), ("main", main)))

    def test_captured(self):
        """What was captured is told where it was captured, not where the graph was launched."""
        side = self.side("graph", "memset", "exact")
        self.assertEqual(side["called"], "cudaMemsetAsync")
        self.assertEqual(places(side["stack"]), marked("stacks.cu", ("clear", "memset"), ("main", "main captures")))

    def test_captured_kernel(self):
        for race in report(path("stacks"), "kernel node")["races"]:
            for side in race["accesses"]:
                self.assertEqual(places(side["stack"]), marked("stacks.cu", ("main", "captured")))

    def test_memory(self):
        memory = report(path("stacks"), "launch")["races"][0]["accesses"][0]["memory"]
        self.assertEqual(memory["called"], "cudaMalloc")
        self.assertEqual(places(memory["stack"]), marked("stacks.cu", ("main", "memory")))

    def test_text(self):
        said = run(path("stacks"), "launch")
        launch, refine, main = (line_of("stacks.cu", mark) for mark in ("launch", "refine", "main"))
        self.assertRegex(said, rf"launched from pass at \S*stacks\.cu:{launch}, called by "
                               rf"\(anonymous namespace\)::Refine<int>::run at \S*stacks\.cu:{refine}, called by main at \S*stacks\.cu:{main}\n")
        line = line_of("stacks.cu", "copy")
        for seed in range(1, 9):
            said = run(path("stacks"), "copy", options=("--verbose", "--seed", str(seed)))
            if "data race" in said:
                break
        self.assertRegex(said, rf"other side: cudaMemcpyAsync at \S*stacks\.cu:{line}\n")
        self.assertRegex(said, rf"missing: cudaMemcpyAsync at \S*stacks\.cu:{line} read;")

    def test_text_is_short(self):
        """Four frames, or all with --verbose."""
        self.assertRegex(run(path("stacks"), "deep"), r"called by \w+ at \S+ \(\d+ more\)\n")
        self.assertNotRegex(run(path("stacks"), "deep", options=("--verbose",)), r"more\)")

    def test_converted(self):
        """A report that was read says the same."""
        file = path("stacks.json")
        run(path("stacks"), "copy", options=("--format", "json", "--output", file, "--seed", "3"))
        with open(file, encoding="utf-8") as written:
            before = json.load(written)
        said = subprocess.run([GPURACE, "report", "--format", "json", file], stdout=subprocess.PIPE, check=False).stdout
        stacks = [[(side.get("called"), side.get("stack"), side.get("memory")) for race in r["races"] for side in race["accesses"]]
                  for r in (before, json.loads(said))]
        self.assertEqual(*stacks)
        self.assertTrue(any(stack for _, stack, _ in stacks[0]))


class Formats(unittest.TestCase):
    """SARIF: the lines are locations that code hosts show."""

    def sarif(self, mode):
        for seed in range(1, 9):
            log = json.loads(run(path("stacks"), mode, options=("--format", "sarif", "--seed", str(seed))))
            if log["runs"][0]["results"]:
                return log["runs"][0]["results"][0]
        raise AssertionError(mode)

    def places(self, locations):
        return [(os.path.basename(place["physicalLocation"]["artifactLocation"]["uri"]), place["physicalLocation"]["region"]["startLine"],
                 place["message"]["text"]) for place in locations]

    def test_launch(self):
        result = self.sarif("launch")
        launch, refine, main, memory = (("stacks.cu", line_of("stacks.cu", mark)) for mark in ("launch", "refine", "main", "memory"))
        related = self.places(result["relatedLocations"])
        self.assertIn((*launch, "the kernel was launched here"), related)
        self.assertIn((*memory, "the memory was allocated here"), related)
        steps = self.places(step["location"] for step in result["codeFlows"][0]["threadFlows"][0]["locations"])
        self.assertEqual([step[:2] for step in steps[:3]], [main, refine, launch])
        self.assertRegex(steps[1][2], "^calls pass")

    def test_copy(self):
        result = self.sarif("copy")
        first = self.places(result["relatedLocations"])[0]
        self.assertEqual(first[:2], ("stacks.cu", line_of("stacks.cu", "copy")))
        self.assertIn("[here](1)", result["message"]["text"])


class Names(unittest.TestCase):
    """Without -g."""

    def test_functions(self):
        stack = report(path("stacks_bare"), "launch")["races"][0]["accesses"][0]["stack"]
        self.assertEqual([f for f, _, _ in places(stack)], ["pass", "anonymous::Refine<int>::run", "main"])
        self.assertEqual({frame["line"] for frame in stack}, {None})

    def test_text(self):
        self.assertIn("launched from pass, called by (anonymous namespace)::Refine<int>::run, called by main\n",
                      run(path("stacks_bare"), "launch"))


class Libraries(unittest.TestCase):
    def test_library(self):
        stack = report(path("stacks_caller"))["races"][0]["accesses"][0]["stack"]
        self.assertEqual(places(stack), marked("stacks_library.cu", ("library_step", "launch")) +
                         marked("stacks_caller.cpp", ("work", "work"), ("main", "main")))

    def test_thread(self):
        stack = report(path("stacks_caller"), "thread")["races"][0]["accesses"][0]["stack"]
        self.assertEqual(places(stack)[:2], marked("stacks_library.cu", ("library_step", "launch")) +
                         marked("stacks_caller.cpp", ("work", "work")))
        self.assertNotIn("main", [f for f, _, _ in places(stack)])


class Python(unittest.TestCase):
    def test_frames(self):
        """Of a thread that holds the interpreter's lock, and of one that has let it go."""
        for how in ("free", "locked"):
            with self.subTest(how=how):
                script = os.path.join(SOURCES, "stacks_python.py")
                found = report(sys.executable, script, path("stacks.ptx"), "_Z5countPiib", how)
                side = found["races"][0]["accesses"][0]
                frames = marked("stacks_python.py", ("launch", "launch"), ("step", "step"), ("main", "main"), comment="#")
                self.assertEqual(places(side["stack"])[:3], frames)
                self.assertEqual(places(side["stack"])[3][0], "<module>")
                self.assertEqual(side["called"], "cuLaunchKernel")
                self.assertEqual(places(side["memory"]["stack"])[:1], marked("stacks_python.py", ("main", "memory"), comment="#"))


class Cost(unittest.TestCase):
    """A stack is unwound by its tables once for each way to it, not for each launch."""

    def count(self, mode, n):
        said = run(path("stacks_bare"), mode, str(n), options=("--verbose",))
        return [int(v) for v in re.search(r"(\d+) call stacks of the program's, (\d+) times unwound by tables", said).groups()]

    def test_one_place(self):
        few, many = self.count("one", 1000), self.count("one", 100000)
        self.assertEqual(few, many)
        self.assertLess(many[1], 12)

    def test_many_places(self):
        few, many = self.count("many", 1000), self.count("many", 100000)
        self.assertEqual(few, many)
        self.assertGreaterEqual(many[0], 64)
        self.assertLess(many[1], 64 + 12)

    def test_frames_of_all_sizes(self):
        """What cannot be remembered is unwound each time, and the stack stays the same."""
        stacks, unwound = self.count("deeper", 1000)
        self.assertLess(stacks, 12)
        self.assertGreater(unwound, 900)


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
