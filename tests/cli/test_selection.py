#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `gpurace run` checks of a program: --kernel, --not-kernel, --file, --not-file and --only-launches under the engines of the CPU device.
Usage: test_selection.py GPURACE PROGRAM SOURCES SCHEMA IN_ORDER [TEST ...]"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SOURCES, SCHEMA, IN_ORDER = sys.argv[1:6]
ENGINES = ("exact", "collider", "collider+exact", "tracker", "tracker+exact")


def line_of(label, file="main.cu"):
    with open(os.path.join(SOURCES, file), encoding="utf-8") as source:
        return next(n for n, line in enumerate(source, 1) if line.rstrip().endswith("// " + label))


RACE, RACE_IN_FUNCTION = ("main.cu", line_of("RACE")), ("main.cu", line_of("RACE IN FUNCTION"))
RACE_IN_HEADER, READ_IN_HEADER = (("header.h", line_of(label, "header.h")) for label in ("RACE IN HEADER", "READ IN HEADER"))


def call(*words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
    return subprocess.run([GPURACE, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=100, check=False)


def run(engine, options, *kernels):
    """The report."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report.json")
        done = call("run", "--device", "cpu", "--engine", engine, "--format", "json", "--output", output, *options, "--",
                    PROGRAM, *kernels)
        if not os.path.exists(output):
            raise AssertionError(f"{done.returncode}: {done.stderr}")
        with open(output, encoding="utf-8") as file:
            report = json.load(file)
        try:
            import jsonschema

            with open(SCHEMA, encoding="utf-8") as file:
                jsonschema.validate(report, json.load(file))
        except ImportError:
            pass
        return report


def places(report):
    """Where the accesses that noticed are."""
    return {(os.path.basename(r["accesses"][0]["file"]), r["accesses"][0]["line"]) for r in report["races"]}


class Kernels(unittest.TestCase):
    def test_by_name_of_source_and_of_linker(self):
        for engine in ENGINES:
            for name in (r"app::adds<int>\(", "^_ZN3app4adds"):
                report = run(engine, ["--kernel", name], "adds", "in_header", "many")
                self.assertEqual(places(report), {RACE}, (engine, name))
                self.assertEqual(report["coverage"]["launches"], {"checked": 1, "unchecked": 2})
                self.assertGreater(report["coverage"]["accesses"]["filtered"], 0)

    def test_left_out(self):
        for engine in ENGINES:
            report = run(engine, ["--not-kernel", "app::|^_Z9in_header"], "adds", "in_header", "many")
            self.assertEqual((report["verdict"], report["reasons"]), ("clean", []), engine)
            self.assertEqual({k["why_not"] for k in report["coverage"]["kernels"]}, {None, "excluded by --not-kernel"})
            self.assertIn("--not-kernel", report["reproduce"])

    def test_both(self):
        report = run("exact", ["--kernel", "a", "--not-kernel", "app"], "adds", "caller_a")
        self.assertEqual(places(report), {RACE_IN_FUNCTION})

    def test_nothing_left(self):
        report = run("exact", ["--kernel", "nothing is called so"], "adds")
        self.assertEqual((report["verdict"], report["reasons"]),
                         ("inconclusive", ["the options exclude every kernel that was launched: nothing was checked"]))

    def test_function_of_a_wanted_kernel_and_of_another(self):
        for engine in ENGINES:
            self.assertEqual(places(run(engine, ["--kernel", "caller_a"], "caller_a")), {RACE_IN_FUNCTION}, engine)
        # What is rewritten is so for whoever calls it; exact looks at launches.
        for engine, found in (("collider", {RACE_IN_FUNCTION}), ("exact", set())):
            report = run(engine, ["--kernel", "caller_a"], "caller_b")
            self.assertEqual(places(report), found, engine)
        for engine in ("collider+exact", "tracker", "tracker+exact"):
            report = run(engine, ["--kernel", "caller_a"], "caller_b")
            self.assertEqual(places(report), {RACE_IN_FUNCTION}, engine)
            self.assertNotIn("not confirmed", "".join(report["reasons"]), engine)

    def test_barrier_of_another_kernel_counts(self):
        for engine in ("tracker", "tracker+exact"):
            for seed in "123":
                report = run(engine, ["--kernel", "puts_once", "--seed", seed], "puts_once", "puts_twice")
                self.assertEqual((report["verdict"], report["reasons"]), ("clean", []), (engine, seed))


class Launches(unittest.TestCase):
    """--only-launches: the launches by their numbers."""

    def run_in_order(self, numbers, engine="exact", text=False):
        done = call("run", "--device", "cpu", "--engine", engine, "--only-launches", numbers, *([] if text else ["--format", "json"]), "--", IN_ORDER)
        return done.stderr if text else json.loads(done.stderr)

    def test_what_others_order_is_ordered(self):
        report = self.run_in_order("1,3")
        self.assertEqual((report["verdict"], report["races"]), ("clean", []))
        self.assertEqual(report["coverage"]["launches"], {"checked": 2, "unchecked": 4, "left_out": 4})
        self.assertIn("clean (2 of 6 launches were checked)", self.run_in_order("1,3", text=True))
        self.assertIn("launches  2 checked, 4 not (4 left out by options)", self.run_in_order("1,3", text=True))

    def test_races_of_the_chosen(self):
        for numbers, raced in (("4..6", True), ("4,6", True), ("5..", True), ("4..5", False), ("..5", False), ("6", False), ("1,2,3,4", False)):
            report = self.run_in_order(numbers)
            self.assertEqual(report["verdict"], "races" if raced else "clean", numbers)
            for race in report["races"]:
                self.assertEqual(6 in {a["launch"] for a in race["accesses"]}, True)

    def test_inside_a_launch(self):
        for engine in ("exact", "privatizer"):
            report = run(engine, ["--only-launches", "2"], "adds", "adds", "adds")
            self.assertEqual(places(report), {RACE}, engine)
            self.assertEqual({a["launch"] for r in report["races"] for a in r["accesses"]} - {None}, {2}, engine)
            self.assertEqual(report["coverage"]["launches"], {"checked": 1, "unchecked": 2, "left_out": 2}, engine)
            self.assertIn("--only-launches 2", report["reproduce"])
            report = run(engine, ["--only-launches", "2"], "adds", "many", "adds")
            self.assertEqual((report["verdict"], report["races"]), ("clean", []), engine)

    def test_kernels_that_are_compiled_alone(self):
        """The collider: the program's own kernel is launched in place of the one with checks."""
        report = self.run_alone("4..6")
        self.assertEqual(report["coverage"]["launches"], {"checked": 3, "unchecked": 3, "left_out": 3})
        self.assertEqual(report["coverage"]["remarks"], [])
        done = call("run", "--device", "cpu", "--engine", "collider", "--watchpoints", "no", "--only-launches", "2", "--format", "json", "--", PROGRAM,
                    "adds", "adds", "adds")
        report = json.loads(done.stderr)
        if report["coverage"]["launches"]["checked"] == 1: # else the program's kernels share variables
            self.assertEqual({r["launch"] for r in report["races"]}, {2})
        else:
            self.assertIn("are checked all the same", "".join(report["coverage"]["remarks"]))

    def run_alone(self, numbers):
        done = call("run", "--device", "cpu", "--engine", "collider", "--watchpoints", "no", "--only-launches", numbers, "--format", "json", "--", IN_ORDER)
        return json.loads(done.stderr)

    def test_nothing_left(self):
        report = run("exact", ["--only-launches", "7..9"], "adds")
        self.assertEqual((report["verdict"], report["reasons"]),
                         ("inconclusive", ["every launch was left out: nothing was checked"]))

    def test_read_again(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            path = os.path.join(folder, "r.json")
            text = call("run", "--device", "cpu", "--only-launches", "1,3", "--format", "json", "--output", path, "--", IN_ORDER).stderr
            self.assertIn("clean (2 of 6 launches were checked)", text)
            text = call("report", path).stdout
            self.assertIn("clean (2 of 6 launches were checked)", text)
            self.assertIn("2 checked, 4 not (4 left out by options)", text)
            self.assertIn("clean (2 of 6 launches were checked)", call("report", path, path).stdout)

    def test_refused(self):
        for word in ("x", "0", "3..2", "1,,2", "1;2", "", ".."):
            done = call("run", "--device", "cpu", f"--only-launches={word}" if word else "--only-launches", "--", PROGRAM, "adds")
            self.assertEqual(done.returncode, 2 if word else done.returncode, word)
            if word:
                self.assertIn("--only-launches takes numbers and ranges, such as 40..60 or 3,7,20..", done.stderr)
        for engine in ("collider", "tracker", "collider+exact"):
            done = call("run", "--device", "cpu", "--engine", engine, "--only-launches", "2", "--", PROGRAM, "adds")
            self.assertEqual(done.returncode, 2, engine)
            self.assertIn("checks all launches of a kernel", done.stderr)
            self.assertIn("exact, privatizer", done.stderr)


class Files(unittest.TestCase):
    ALL = ("adds", "in_header", "two_files", "caller_a")

    def test_in(self):
        for engine in ENGINES:
            report = run(engine, ["--file", r"selection/header\.h$"], *self.ALL)
            # The collider's access in the header sees what another in the source file does; for exact both are sides.
            other = {READ_IN_HEADER} if "collider" in engine else set()
            self.assertEqual(places(report), {RACE_IN_HEADER} | other, engine)
            self.assertNotIn("not confirmed", "".join(report["reasons"]))

    def test_out(self):
        for engine in ENGINES:
            report = run(engine, ["--not-file", r"header\.h$"], *self.ALL)
            self.assertEqual(places(report) - {("main.cu", line_of("WRITE"))}, {RACE, RACE_IN_FUNCTION}, engine)
            self.assertNotIn("not confirmed", "".join(report["reasons"]))

    def test_no_race_between_files(self):
        self.assertEqual(places(run("exact", [], "two_files")), {READ_IN_HEADER})
        for file in ("main.cu", "header.h"):
            self.assertEqual(places(run("exact", ["--file", file], "two_files")), set(), file)

    def test_synchronization_still_counts(self):
        for engine in ("exact", "tracker"):
            for options in ([], ["--not-file", "header.h|cuda"], ["--file", "main.cu"]):
                for seed in "123":
                    report = run(engine, [*options, "--seed", seed], "ordered", "seen")
                    self.assertEqual((report["verdict"], report["reasons"]), ("clean", []), (engine, options, seed))

    def test_nothing_left(self):
        for engine in ENGINES:
            report = run(engine, ["--file", "no such file"], "adds")
            self.assertEqual((report["verdict"], report["reasons"]),
                             ("inconclusive", ["the options exclude every access: nothing was checked"]), engine)


class Parts(unittest.TestCase):
    """A part of the program without PTX: on the CPU device it cannot run, and is named; the others are checked as ever."""

    def test_not_used(self):
        report = run("exact", [], "many")
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))

    def test_used(self):
        for engine in ENGINES:
            report = run(engine, [], "many", "part", "adds")
            self.assertEqual(places(report), {RACE})
            self.assertIn("it holds no PTX for this device, only machine code for sm_90", "\n".join(report["reasons"]))


class Ptx(unittest.TestCase):
    def counts(self, *options):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            done = call("fatbin", "--extract-ptx", folder, PROGRAM)
            self.assertEqual(done.returncode, 0, done.stderr)
            files = [f for f in os.listdir(folder) if f.endswith(".ptx")]
            self.assertEqual(len(files), 1, files)
            done = call("ptx", *options, os.path.join(folder, files[0]), "-o", os.path.join(folder, "out"))
            self.assertEqual(done.returncode, 0, done.stderr)
            checked = re.search(r"; (\d+) checked", done.stderr)
            with open(os.path.join(folder, "out"), encoding="utf-8") as file:
                return int(checked[1]) if checked else 0, file.read().count("nanosleep")

    def test_same_filters(self):
        everything, sleeps = self.counts()
        self.assertGreater(sleeps, 0)
        wanted = self.counts("--kernel", "app::adds")[0]
        self.assertEqual(wanted + self.counts("--not-kernel", "app::adds")[0], everything)
        wanted = self.counts("--file", "header.h")[0]
        self.assertEqual(wanted + self.counts("--not-file", "header.h")[0], everything)
        self.assertTrue(0 < wanted < everything)
        self.assertEqual(self.counts("--file", "no such file"), (0, 0))


class Sample(unittest.TestCase):
    def test_verdict_says_how_much(self):
        for engine in ("auto", "tracker"):
            self.check_verdicts(engine, "tracker" if engine == "tracker" else "collider")

    def check_verdicts(self, engine, name):
        clean = nothing = 0
        for seed in range(1, 13):
            report = run(engine, ["--sample", "3", "--seed", str(seed)], "many")
            sample, accesses = report["coverage"]["sample"], report["coverage"]["accesses"]
            self.assertEqual((report["engine"], sample["spec"], sample["chosen"], accesses["checked"]), (name, "3", 3, 3))
            self.assertEqual(sample["qualifying"], 3 + accesses["sampled_out"])
            self.assertLessEqual(sample["watched"], 3)
            self.assertEqual(report["verdict"], "clean" if sample["watched"] else "inconclusive")
            self.assertEqual("nothing was watched" in "".join(report["reasons"]), not sample["watched"])
            clean, nothing = clean + (sample["watched"] > 0), nothing + (sample["watched"] == 0)
        self.assertTrue(clean and nothing)
        report = run(engine, ["--kernel", "many", "--sample", "2"], "many")
        self.assertEqual((report["verdict"], report["coverage"]["sample"]["watched"]), ("clean", 2))
        done = call("run", "--device", "cpu", "--engine", engine, "--kernel", "many", "--sample", "2", "--", PROGRAM, "many")
        self.assertIn("verdict: clean (2 of 8 accesses were watched)", done.stderr)

    def test_only_what_was_chosen_reports(self):
        everything = len(run("collider", [], "adds")["races"])
        found = [run("collider", ["--kernel", "adds", "--sample", "1", "--seed", str(seed)], "adds") for seed in range(1, 7)]
        self.assertTrue(all(len(r["races"]) <= 1 or {x["instructions"] for x in r["races"]} == {1} for r in found))
        self.assertGreater(sum(len(r["races"]) for r in found), 0)
        self.assertGreater(everything, 1)

    def test_tracker_needs_both_sides(self):
        """Two accesses race with each other and the store with itself; the instructions of a report are all among those chosen."""
        everything = run("tracker", ["--kernel", "adds"], "adds")["races"]
        qualifying = run("tracker", ["--kernel", "adds", "--sample", "1"], "adds")["coverage"]["sample"]["qualifying"]
        found = set()
        for seed in range(1, 9):
            report = run("tracker+exact", ["--kernel", "adds", "--sample", "1", "--seed", str(seed)], "adds")
            own = [race for race in report["races"] if race["engine"] == "tracker"]
            found |= {race["class"] for race in own}
            self.assertTrue(all({a["kind"] for a in race["accesses"]} == {"store"} for race in own))  # one instruction and itself
            self.assertNotIn("not confirmed", "".join(report["reasons"]))
        self.assertEqual(found, {"write-write race"})
        self.assertEqual({race["class"] for race in everything}, {"read-write race", "write-write race"})
        whole = run("tracker", ["--kernel", "adds", "--sample", str(qualifying)], "adds")
        self.assertEqual(whole["races"], everything)

    def test_tracker_sampled_is_silent_where_all_is_ordered(self):
        for rules in (["--rules", "ptx"], ["--rules", "paper"]):
            for seed in range(1, 9):
                report = run("tracker", [*rules, "--sample", "50%", "--seed", str(seed)], "puts_twice", "many", *(["ordered", "seen"] if "ptx" in rules else []))
                self.assertEqual(report["races"], [], (rules, seed))

    def test_as_ptx_does(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            call("fatbin", "--extract-ptx", folder, PROGRAM)
            file = os.path.join(folder, os.listdir(folder)[0])
            for options in (["--sample", "7%"], ["--sample", "5", "--seed", "9"], ["--sample", "5", "--file", "header.h"]):
                chosen = [set(re.findall(r"/[*]@gr:(\d+)[*]/", call("ptx", *options, file).stdout)) for _ in range(2)]
                self.assertEqual(chosen[0], chosen[1])
                report = run("collider", options, "many")
                self.assertEqual(report["coverage"]["sample"]["chosen"], len(chosen[0]))

    def test_another_engine(self):
        done = call("run", "--device", "cpu", "--engine", "exact", "--sample", "3", "--", PROGRAM, "many")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the engine exact watches all accesses", done.stderr)

    def test_mistakes(self):
        for spec in ("0", "1.5", "many", "5%%", "-3", "a:0"):
            for command in (["run", "--sample", spec, "--", PROGRAM], ["ptx", "--sample", spec, "x.ptx"]):
                done = call(*command)
                self.assertEqual(done.returncode, 2, (command, done.stderr))
                self.assertIn("sample takes a number of accesses", done.stderr)


class Coverage(unittest.TestCase):
    """What was watched over many runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpurace-test-")
        self.addCleanup(folder.cleanup)
        self.folder, self.file = folder.name, os.path.join(folder.name, "coverage of nights")

    def text(self):
        with open(self.file, encoding="utf-8") as file:
            return file.read()

    def listing(self, *options):
        done = call("coverage", *options, self.file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_all_are_watched_in_as_few_runs_as_can_be(self):
        chosen, reports = [], []
        for night in range(3):  # 8 accesses, 3 of them each time
            report = run("auto", ["--kernel", "many", "--sample", "3", "--seed", str(100 + night), "--coverage", self.file], "many")
            self.assertEqual((report["engine"], report["verdict"]), ("collider", "clean"))
            reports.append(report["coverage"]["so_far"])
            chosen.append(re.search("--sample ([0-9a-f:,]+)", report["reproduce"])[1].split(","))
        self.assertEqual(reports, [{"file": self.file, "runs": n, "accesses": 8, "watched": w, "conflicts": 0, "met": 0, "aimed_at": 0}
                                   for n, w in ((1, 3), (2, 6), (3, 8))])
        self.assertEqual(len(set(chosen[0]) & set(chosen[1])), 0)
        self.assertEqual(len(set(sum(chosen, []))), 8)
        done = json.loads(self.listing("--format", "json"))
        self.assertEqual([(f["name"], f["launched"], len(f["accesses"])) for f in done["functions"]], [("many(int*)", 3, 8)])
        self.assertEqual(sorted(a["watched"] for a in done["functions"][0]["accesses"]), [1] * 7 + [2])
        self.assertTrue(self.listing().startswith(f"{self.file}: 8 of 8 accesses watched, in 3 runs\nwatched:\n"))

    def test_the_last_line_repeats_the_choice(self):
        options = ["--sample", "4", "--kernel", "adds|many", "--coverage", self.file]
        for seed in range(1, 4):
            first = run("collider", [*options, "--seed", str(seed)], "adds")
            words = first["reproduce"].split()
            same = sum((words[words.index(o):][:2] for o in ("--sample", "--aim") if o in words), [])
            self.assertEqual("--aim" in words, seed > 1)  # the first run knew of no conflict
            again = run("collider", ["--seed", str(seed), "--kernel", "adds|many", *same], "adds")
            self.assertEqual(again["races"], first["races"])
            self.assertEqual(again["coverage"]["accesses"], first["coverage"]["accesses"])
            self.assertNotIn("--coverage", first["reproduce"])

    def test_conflicts_are_listed(self):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("""gpurace coverage 1
runs 9
function 1 kernel 9 9 k(int*)
1 9 9 store 4 10:5 /a.cu
2 9 9 load 4 20:5 /a.cu
3 9 9 load 4 20:5 /a.cu
4 9 9 load 1 30:5 /a.cu
other 5 atomic 4 40:5 /a.cu
function 2 kernel 2 2 old(int*)
1 2 2 store 4 50:5 /a.cu
function 3 kernel 9 9 old(int*)
1 9 9 store 4 51:5 /a.cu
conflict 1:1 1:1 ordered open wf:0:1.0.0 wf:0:1.1.0
conflict 1:1 1:2 ordered open wf:1:1.0.0 w-:0:1.1.0
conflict 1:1 1:3 likely open wf:0:1.0.0 w-:4:1.1.0
conflict 1:1 1:5 ordered open wf:0:1.0.0 --:0:1.1.0
conflict 1:2 1:4 likely open wf:0:1.0.0 w-:0:1.1.0
conflict 1:3 1:4 likely met wf:0:1.0.0 w-:0:1.1.0
conflict 1:1 2:1 likely open wf:0:1.0.0 w-:0:1.1.0
conflict 1:5 3:1 ordered open -f:0:1.0.0 --:0:1.1.0
conflict 1:1 4:7 likely open wf:0:1.0.0 w-:0:1.1.0
end 6 9
""")
        listing = self.listing()
        store = "/a.cu:10:5: store of 4 bytes in k(int*)"
        self.assertEqual(listing[listing.index("touched"):], f"""touched the same bytes, never seen to overlap:
  {store}  [0000000000000001:1]
    and the same access by another thread
    atomics or fences of both were between
  {store}  [0000000000000001:1]
    and /a.cu:20:5: load of 4 bytes in k(int*), aimed at in 4 runs  [0000000000000001:3]
    likely: no atomics or fences of both were between; 2 pairs of instructions
  {store}  [0000000000000001:1]
    and /a.cu:40:5: atomic of 4 bytes in k(int*)  [0000000000000001:5]
    atomics or fences of both were between
  {store}  [0000000000000001:1]
    and access 7 of a function that no run has checked  [0000000000000004:7]
    likely: no atomics or fences of both were between
  /a.cu:40:5: atomic of 4 bytes in k(int*)  [0000000000000001:5]
    and /a.cu:51:5: store of 4 bytes in old(int*)  [0000000000000003:1]
    atomics or fences of both were between; none of them can be made to wait
touched the same bytes and overlapped: 1 pair (and 1 more of the same lines did not)
(and 1 pair of functions whose code has changed since)
""")
        self.assertTrue(listing.startswith(f"{self.file}: 5 of 5 accesses watched, in 9 runs\n"))
        conflicts = json.loads(self.listing("--format", "json"))["conflicts"]
        self.assertEqual([(c["met"], c["likely"], c["outdated"]) for c in conflicts],
                         [(n == 5, n not in (0, 1, 3, 7), n == 6) for n in range(9)])
        self.assertEqual(conflicts[2]["sides"][1],
                         {"function": "0000000000000001", "name": "k(int*)", "number": 3, "waits": True, "first": False, "aimed": 4,
                          "kind": "load", "size": 4, "file": "/a.cu", "line": 20, "column": 5})
        self.assertEqual(conflicts[8]["sides"][1], {"function": "0000000000000004", "name": None, "number": 7, "waits": True,
                                                    "first": False, "aimed": 0})

    def test_conflicts_of_runs(self):
        for seed in range(1, 4):
            report = run("collider", ["--kernel", "ordered|adds|mixed", "--seed", str(seed), "--coverage", self.file],
                         "ordered", "adds", "mixed")
        so_far, listing = report["coverage"]["so_far"], self.listing()
        conflicts = json.loads(self.listing("--format", "json"))["conflicts"]
        self.assertEqual((len(conflicts), sum(c["met"] for c in conflicts)), (so_far["conflicts"], so_far["met"]))
        self.assertIn(f"\ntouched the same bytes and overlapped: {so_far['met']} pair", listing)
        # Who comes second reads what the first one wrote, after both made atomic operations: in no run they overlap.
        self.assertRegex(listing, rf"main.cu:{line_of('GIVEN')}:\d+: store of 4 bytes in ordered\(int\*\), aimed at in [12] runs?  .*\n"
                                  rf"    and .*main.cu:{line_of('TAKEN')}:\d+: load of 4 bytes in ordered\(int\*\).*\n    atomics or fences of both")
        # Atomic operations are where the program has them, not in CUDA's headers, and are no accesses that could be watched.
        sides = [{(s["kind"], os.path.basename(s["file"]), s["line"]) for s in c["sides"]} for c in conflicts]
        self.assertIn({("store", "main.cu", line_of("PLAIN")), ("atomic", "main.cu", line_of("ATOMIC"))}, sides)
        self.assertNotIn(f"main.cu:{line_of('ATOMIC')}:", listing[:listing.index("\ntouched")])

    def test_kernels_that_are_not_launched(self):
        for night in range(12):
            report = run("collider", ["--kernel", "many|in_header", "--sample", "2", "--seed", str(night), "--coverage", self.file], "many")
            chosen = sum(a["chosen"] for f in json.loads(self.listing("--format", "json"))["functions"] if not f["launched"]
                         for a in f["accesses"])
            self.assertLessEqual(chosen, 2)  # by the first night, which could not know
            if night >= 4:  # two of the ten are in the other kernel
                self.assertEqual(report["coverage"]["so_far"]["watched"], 8)
                self.assertEqual(report["coverage"]["sample"]["watched"], 2)
        listing = self.listing()
        self.assertIn("8 of 10 accesses watched", listing)
        self.assertLess(listing.index("never watched:"), listing.index("\nwatched:"))
        self.assertRegex(listing, r"header.h:8:9: store of 4 bytes in in_header\(int\*\), (never launched|chosen in 1 run that did not)")
        # As soon as it is launched, its turn comes.
        run("collider", ["--kernel", "many|in_header", "--sample", "1", "--coverage", self.file], "in_header")
        for _ in range(2):
            report = run("collider", ["--kernel", "many|in_header", "--sample", "1", "--coverage", self.file], "in_header")
        self.assertEqual(report["coverage"]["so_far"]["watched"], 10)

    def test_function_counts_with_its_callers(self):
        for kernel, watched in (("many", 0), ("caller_b", 2)):
            run("collider", ["--file", "main.cu", "--kernel", "caller|many", "--coverage", self.file], kernel)
            done = json.loads(self.listing("--format", "json"))
            step = next(f for f in done["functions"] if f["name"] == "step(int*)")
            self.assertFalse(step["kernel"])
            self.assertEqual(sum(a["watched"] for a in step["accesses"]), watched)

    def test_two_at_once(self):
        words = [GPURACE, "run", "--device", "cpu", "--engine", "collider", "--kernel", "many", "--coverage", self.file, "--", PROGRAM, "many"]
        children = [subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                    for _ in range(4)]
        for child in children:
            self.assertIn("verdict: clean", child.communicate(timeout=100)[1])
        self.assertIn("8 of 8 accesses watched, in 4 runs", self.listing())
        self.assertEqual(os.listdir(self.folder), [os.path.basename(self.file)])

    def test_damaged_file_is_told_and_left_alone(self):
        run("collider", ["--kernel", "many", "--coverage", self.file], "many")
        whole = self.text()
        for text, where in ((whole[:-20], rf"{self.file}:\d+: "), (whole.replace("runs 1", "runs x"), f"{self.file}:2: no number of runs"),
                            ("int main() {}", f"{self.file}:1: ")):
            with open(self.file, "w", encoding="utf-8") as file:
                file.write(text)
            for command in (["run", "--device", "cpu", "--coverage", self.file, "--", PROGRAM, "many"], ["coverage", self.file]):
                done = call(*command)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, where)
            self.assertEqual(self.text(), text)

    def test_damaged_meanwhile(self):
        with open(self.file, "w", encoding="utf-8"):
            pass
        report = run("collider", ["--kernel", "many", "--coverage", self.file], "many")  # an empty file is none yet
        self.assertEqual(report["verdict"], "clean")
        output = os.path.join(self.folder, "report")
        done = call("run", "--device", "cpu", "--format", "json", "--output", output, "--coverage", self.file, "--", "/bin/sh", "-c",
                    f"{PROGRAM} many; echo no more > '{self.file}'")
        with open(output, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["verdict"], "inconclusive", done.stderr)
        self.assertIn(f"this run is not in the coverage file: {self.file}:1: ", "".join(report["reasons"]))
        self.assertEqual(self.text(), "no more\n")

    def test_mistakes(self):
        for command, status, text in ((["coverage"], 2, "one coverage file"), (["coverage", self.file], 2, "there is no file"),
                                      (["coverage", "--format", "xml", self.file], 2, "format takes one of"),
                                      (["run", "--coverage", "/no/such/folder/file", "--", PROGRAM], 2, "cannot be created"),
                                      (["run", "--coverage", self.folder, "--", PROGRAM], 2, "no ordinary file"),
                                      (["run", "--device", "cpu", "--engine", "exact", "--coverage", self.file, "--", PROGRAM], 2,
                                       "--coverage is for the engines collider, tracker")):
            done = call(*command)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(text, done.stderr)


class Aims(unittest.TestCase):
    """Runs with one file of --coverage bring together what earlier ones saw touch the same bytes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpurace-test-")
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "coverage")

    def conflicts(self):
        with open(self.file, encoding="utf-8") as file:
            return [line.split() for line in file if line.startswith("conflict ")]

    def aimed(self):
        return sum(int(side.split(":")[1]) for line in self.conflicts() for side in line[5:])

    def five(self, seed):
        """The first report with a race of five runs with one file."""
        if os.path.exists(self.file):
            os.unlink(self.file)
        for run_of_five in range(5):
            report = run("collider", ["--kernel", "rare", "--seed", str(seed + run_of_five), "--coverage", self.file], "rare")
            self.assertEqual(bool(report["coverage"]["so_far"]["aimed_at"]), run_of_five > 0)
            self.assertEqual("--aim" in report["reproduce"], run_of_five > 0)
            if report["races"]:
                return report
        return None

    def test_five_runs_find_what_one_seldom_finds(self):
        alone = [run("collider", ["--kernel", "rare", "--seed", str(seed)], "rare")["races"] for seed in range(1, 31)]
        self.assertLess(sum(map(bool, alone)), 6)
        found = [report for report in map(self.five, range(1, 31, 5)) if report]
        self.assertGreater(len(found), 1)
        for report in found[:2]:
            self.assertEqual(places(report), {("main.cu", line_of("RARE"))})
            # What the last line says needs no file.
            words = report["reproduce"].split()
            again = run("collider", ["--kernel", "rare", "--seed", str(report["seed"]), "--aim", words[words.index("--aim") + 1]], "rare")
            self.assertEqual(again["races"], report["races"])
            self.assertNotIn("so_far", again["coverage"])

    def test_samples_prefer_what_is_aimed_at(self):
        for seed in range(1, 9):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.file)
            run("collider", ["--kernel", "rare", "--coverage", self.file], "rare")
            report = run("collider", ["--kernel", "rare", "--seed", str(seed), "--sample", "1", "--coverage", self.file], "rare")
            words = report["reproduce"].split()
            aimed = [w.partition("@")[0] for w in words[words.index("--aim") + 1].split(",") if "@" in w]
            self.assertEqual(len(aimed), 1)
            if seed % 2:
                self.assertEqual(words[words.index("--sample") + 1], aimed[0])

    def test_what_met_is_no_more_aimed_at(self):
        for seed in range(1, 31, 5):
            if self.five(seed):
                break
        self.assertEqual([line[4] for line in self.conflicts()], ["met"])
        report = run("collider", ["--kernel", "rare", "--coverage", self.file], "rare")
        self.assertIn("--aim new ", report["reproduce"])
        so_far = report["coverage"]["so_far"]
        self.assertEqual((so_far["conflicts"], so_far["met"], so_far["aimed_at"]), (1, 1, 0))

    def test_where_nobody_can_aim_nothing_is_noted(self):
        for options in (["--schedule", "default"], ["--schedule", "rr"], ["--watchpoints", "no"]):
            report = run("collider", [*options, "--kernel", "rare", "--coverage", self.file], "rare")
            self.assertEqual((report["coverage"]["so_far"]["conflicts"], self.conflicts()), (0, []), options)
        run("collider", ["--kernel", "rare", "--coverage", self.file], "rare")
        self.assertEqual(len(self.conflicts()), 1)
        report = run("collider", ["--kernel", "rare", "--coverage", self.file], "rare")
        before, words = self.aimed(), report["reproduce"].split()
        self.assertEqual(before, 1)
        # It is not counted where it had no effect, and its choice is not made.
        words = words[words.index("--aim"):][:2]
        report = run("collider", [*words, "--schedule", "rr", "--kernel", "rare", "--coverage", self.file], "rare")
        self.assertEqual((report["coverage"]["so_far"]["aimed_at"], self.aimed()), (0, before))
        report = run("collider", ["--schedule", "rr", "--kernel", "rare", "--coverage", self.file], "rare")
        self.assertNotIn("--aim", report["reproduce"])

    def test_no_effect_is_told(self):
        for engine, options, why in (("exact", [], "the engine does not wait at accesses"), ("none", [], "the engine does not wait at accesses"),
                                     ("collider", ["--schedule", "rr"], "the schedule is not directed"),
                                     ("collider", ["--watchpoints", "no"], "there are no watchpoints")):
            remarks = run(engine, ["--aim", "1:1@1.0.0", *options], "many")["coverage"]["remarks"]
            self.assertIn(f"--aim 1:1@1.0.0 had no effect: {why}", remarks)
        for engine in ("collider", "collider+exact"):
            report = run(engine, ["--aim", "1:1@1.0.0"], "many")
            self.assertFalse([r for r in report["coverage"]["remarks"] if "--aim" in r])
            self.assertIn("--aim 1:1@1.0.0 ", report["reproduce"])

    def test_text(self):
        for aim, text in (("1:1@1.0.0,2:2@1.0.0", "  conflicts this run aimed at 2 accesses\n"), ("1:1,2:0", None), ("new", None)):
            done = call("run", "--device", "cpu", "--engine", "collider", "--aim", aim, "--", PROGRAM, "many")
            self.assertEqual("  conflicts" in done.stderr, text is not None, done.stderr)
            self.assertIn(text or "verdict: clean", done.stderr)

    def test_mistakes_cost_no_run(self):
        for aim in ("nonsense", "1:1,", "1:1@1.2", "0x1:1", "1:99999999999", "new,new"):
            for words in (["--device", "cpu"], ["--device", "cpu", "--engine", "exact"], []):
                done = call("run", *words, "--aim", aim, "--", PROGRAM, "many")
                self.assertEqual((done.returncode, done.stdout), (2, ""), aim)
                self.assertIn("--aim takes accesses as FUNCTION:NTH", done.stderr)


class Mistakes(unittest.TestCase):
    def test_no_regular_expression(self):
        for option in ("--kernel", "--not-kernel", "--file", "--not-file"):
            for command in (["run", option, "(", "--", PROGRAM], ["ptx", option, "(", "x.ptx"]):
                done = call(*command)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"{option[2:]}: '(' is no regular expression", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
