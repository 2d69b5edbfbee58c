#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the report of a run says, of small programs: run.py GPURACE FOLDER SOURCE [TEST ...]"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from gpurace_reports import FOLDER, GPURACE, check_schema, read_terminal  # noqa: E402

SOURCES = os.path.join(HERE, "reported")


def run(program, *args, options=(), text=False):
    """The report of a run, parsed, or its text: in full, or (None) as a user sees it first."""
    form = {True: ["--verbose", "--full-names"], None: [], False: ["--format", "json"]}[text]
    done = subprocess.run([GPURACE, "run", "--device", "cpu", *form, *options, "--", os.path.join(FOLDER, program), *args],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    if text is not False:
        return done.stderr
    try:
        report = json.loads(done.stderr)
    except ValueError as error:
        raise AssertionError(done.stderr) from error
    check_schema(report)
    return report


def line_of(program, mark):
    """The line of the program's source that ends with the comment `mark`."""
    with open(os.path.join(SOURCES, program + ".cu"), encoding="utf-8") as file:
        lines = [n for n, line in enumerate(file, 1) if line.rstrip().endswith("// " + mark)]
    assert len(lines) == 1, (program, mark, lines)
    return lines[0]


class Sides(unittest.TestCase):
    """The two sides of a race are of one occurrence, and overlap."""

    def check(self, report, count=None):
        self.assertEqual(report["verdict"], "races")
        for race in report["races"]:
            a, b = race["accesses"]
            if a["address"] is None or b["address"] is None:
                continue
            at = [int(s["address"], 16) for s in (a, b)]
            self.assertTrue(at[0] < at[1] + b["size"] and at[1] < at[0] + a["size"], race)
            overlap, end = int(race["overlap"]["address"], 16), min(at[0] + a["size"], at[1] + b["size"])
            self.assertEqual((overlap, race["overlap"]["bytes"]), (max(at), end - max(at)), race)
        if count:
            self.assertEqual(len(report["races"]), count)

    def test_parts_of_a_word(self):
        for kind, size in (("0", 2), ("1", 1), ("2", 2), ("3", 1)):
            for at in (1, 3):
                report = run("short_addresses", kind, str(at), options=["--engine", "exact"])
                self.check(report, 1)
                for side in report["races"][0]["accesses"]:
                    self.assertEqual((int(side["address"], 16) % 256, side["size"]), (at * size, size))

    def test_collider(self):
        """The pair that met is shown as such, and the thread that lost its value apart from it."""
        report = run("two_occurrences", options=["--engine", "collider"])
        apart = [r for r in report["races"] if "noticed" in r]
        self.assertTrue(apart, "this seed mixes no two occurrences: take another one")
        for race in apart:
            self.assertNotEqual(race["noticed"]["thread"], race["accesses"][0]["thread"])
            a, b = race["accesses"]
            self.assertEqual((a["address"], a["thread"][0] // 32), (b["address"], b["thread"][0] // 32))
            for side in (a, b):
                self.assertIn(f"thread ({side['thread'][0]},0,0)", race["sentence"])
        text = run("two_occurrences", options=["--engine", "collider"], text=True)
        match = re.search(r"store of 4 bytes, (thread \(\d+,0,0\)), block \(0,0,0\), shared address, offset (0x[0-9a-f]+).*?"
                          r"store of 4 bytes, (thread \(\d+,0,0\)), block \(0,0,0\), shared address, offset (0x[0-9a-f]+).*?"
                          r"both touched 4 bytes at offset (0x[0-9a-f]+)\n    missing: ([^\n]*)\n"
                          r"    a value changed in another occurrence: store of 4 bytes", text, re.DOTALL)
        self.assertTrue(match, text)
        self.assertEqual(len({match[2], match[4], match[5]}), 1, text)
        self.assertIn(match[1], match[6])
        self.assertIn(match[3], match[6])


class Causes(unittest.TestCase):
    """One mistake is one cause, whatever a seed shows of it, and the edit is that for all of its races."""

    def check(self, what, expect, engine="exact", seeds=range(1, 7)):
        found = set()
        for seed in seeds:
            report = run("mistakes", what, options=["--engine", engine, "--seed", str(seed)])
            named = sorted(i for cause in report["causes"] for i in cause["races"])
            self.assertEqual(named, sorted(race["id"] for race in report["races"]))
            found.add(tuple(sorted((c["id"], c["what"], c.get("missing_order", ""), c.get("repair", {}).get("what")) for c in report["causes"])))
        self.assertEqual(len(found), 1, found)
        causes = found.pop()
        self.assertEqual([cause[1:] for cause in causes], expect)

    BARRIER = ("read-write race", "no __syncthreads() or other barrier of both warps between", "insert __syncthreads()")

    def test_barrier(self):
        self.check("smooth", [self.BARRIER])

    def test_barrier_of_a_loop(self):
        self.check("product", [self.BARRIER])

    def test_tracker(self):
        self.check("smooth", [self.BARRIER], engine="tracker")
        self.check("product", [self.BARRIER], engine="tracker")

    def test_update(self):
        report = run("mistakes", "count", options=["--engine", "exact"])
        self.assertEqual([(cause["what"], cause["update"]) for cause in report["causes"]], [("update without an atomic", "bins[of[i] % BINS]")])
        self.assertGreater(len(report["races"]), 1)

    def test_two_mistakes(self):
        self.check("twice", [self.BARRIER] * 2)

    def test_words(self):
        """JSON has what the text says of a cause: its meaning, what to do, and why."""
        for what in ("smooth", "count"):
            text, report = (run("mistakes", what, options=["--engine", "exact"], text=form) for form in (None, False))
            cause, = report["causes"]
            for words in ("    {meaning}\n", "    Fix: {fix}", "    Why: {why}\n"):
                self.assertIn(words.format(**cause), text)

    def test_text(self):
        text = run("mistakes", "smooth", options=["--engine", "exact"], text=None)
        cause = text.split("=" * 80)[1].strip().splitlines()
        self.assertLessEqual(len(cause), 14, text)
        self.assertRegex(cause[0], r"mistakes.cu:\d+:\d+: data race: read-write race on row in kernel smooth$")
        self.assertIn("    Fix: insert __syncthreads() in ", text)
        self.assertIn("        + |     __syncthreads();", cause)
        self.assertIn("two warps of one block", text)


class Groups(unittest.TestCase):
    """One mistake, one report."""

    def lines(self, race):
        return [a["line"] for a in race["accesses"]]

    def test_instances_of_a_template(self):
        report = run("one_cause", "instances", options=["--engine", "exact"])
        self.assertEqual(len(report["races"]), 1, [r["class"] for r in report["races"]])
        race = report["races"][0]
        self.assertEqual(set(self.lines(race)), {line_of("one_cause", "stores"), line_of("one_cause", "loads")})
        self.assertEqual(race["kernels"]["number"], 6)
        self.assertEqual({name.split("<")[1].split(">")[0] for name in race["kernels"]["names"]},
                         {"int", "unsigned int", "float", "double", "short", "long long"})
        self.assertGreaterEqual(race["instructions"], 6)
        # In each instance every thread has two loads that another warp's store races with; whichever came second is counted.
        self.assertLessEqual(race["count"], 6 * 64 * 4)
        text = run("one_cause", "instances", options=["--engine", "exact"], text=True)
        self.assertRegex(text, r"one_cause.cu:\d+:\d+: data race: read-write race in 6 kernels\n")
        self.assertRegex(text, r"    in 6 kernels:\n(        void instances<[a-z ]+>\(.*\)\n){4}        and 2 more\n")

    def test_names_are_told_apart(self):
        text = run("one_cause", "long names", options=["--engine", "exact"], text=True)
        shown = re.search(r"    in 3 kernels:\n((?:        .*\n){3})", text)
        self.assertTrue(shown, text)
        self.assertEqual(len(set(shown[1].splitlines())), 3, text)
        kernels = re.findall(r"^            (.*): 1, grid", text, re.MULTILINE)
        self.assertEqual((len(kernels), len(set(kernels))), (3, 3), text)

    def test_accesses_are_counted_once(self):
        report = run("one_cause", "same place", options=["--engine", "exact"])
        counts = {self.lines(r)[0]: r["count"] for r in report["races"]}
        self.assertEqual(counts, {line_of("one_cause", "same place"): 31, line_of("one_cause", "other"): 31})

    def test_whoever_noticed(self):
        for seed in range(1, 6):
            report = run("one_cause", "both notice", options=["--engine", "collider", "--seed", str(seed)])
            pairs = [tuple(sorted(self.lines(r))) for r in report["races"]]
            self.assertEqual(len(set(pairs)), len(pairs), report["races"])
            self.assertEqual(pairs, [(line_of("one_cause", "one"), line_of("one_cause", "another"))])


class Headlines(unittest.TestCase):
    """A race inside a toolkit's header is told at the user's line."""

    def test_storage_that_is_used_again(self):
        for what in ("scan", "reduction"):
            report = run("temp_storage", what[0], options=["--engine", "exact"])
            first, second = (line_of("temp_storage", f"{n} {what}") for n in ("first", "second"))
            self.assertEqual(report["verdict"], "races", what)
            for race in report["races"]:
                # Of two calls of one function PTX does not always say which one an instruction is of.
                self.assertLessEqual({a["line"] for a in race["accesses"]}, {first, second}, race)
                self.assertTrue(all("/cub/" in a["frames"][0]["file"] for a in race["accesses"]), race)
            classes = [r["class"] for r in report["races"]]
            self.assertEqual(len(classes), len(set(classes)))
            text = run("temp_storage", what[0], options=["--engine", "exact"], text=True)
            self.assertRegex(text, rf"temp_storage.cu:({first}|{second}):\d+: data race: ")
            self.assertRegex(text, r"\n    which runs cub/[a-z_/]+\.cuh:\d+:\d+ in ")
            self.assertRegex(text, rf"missing: .* at [^ ]*temp_storage.cu:({first}|{second}) \(cub/[a-z_/]+\.cuh:\d+\);")
            self.assertEqual(run("temp_storage", what[0], "waits")["verdict"], "clean")


    def test_files_are_those_that_reports_name(self):
        """--file, --not-file and file: of suppressions go by the headline; race: by any place."""
        for engine in ("exact", "collider"):
            options = ["--engine", engine, "--read-delay", "2000"] if engine == "collider" else ["--engine", engine]
            for chosen, found in ((["--file", "temp_storage"], True), (["--not-file", "/cub/"], True), (["--file", "/cub/"], False),
                                  (["--not-file", r"temp_storage\.cu$"], False)):
                report = run("temp_storage", "s", options=[*options, *chosen])
                self.assertEqual(bool(report["races"]), found, (engine, chosen, report["reasons"]))
        with tempfile.TemporaryDirectory() as folder:
            rules = os.path.join(folder, "rules")
            for rule, hides in (("file:temp_storage.cu", True), ("file:/cub/", False), ("race:*/cub/*", True)):
                with open(rules, "w", encoding="utf-8") as file:
                    file.write(rule + "\n")
                report = run("temp_storage", "s", options=["--engine", "exact", "--suppressions", rules])
                self.assertEqual(not report["races"], hides, rule)


class Comments(unittest.TestCase):
    """`// gpurace: ok REASON` in the source."""

    LINES = {7: "benign counter", 18: "any thread's number will do", 20: "the same"}

    def test_hidden_with_their_reasons(self):
        for engine in ("exact", "collider"):
            report = run("commented", options=["--engine", engine, "--same-value", "yes"])
            self.assertEqual({r["line"]: r["why"] for r in report["suppressions"]}, self.LINES, engine)
            self.assertTrue(all(r["in_source"] and r["races"] for r in report["suppressions"]))
            shown = {a["line"] for r in report["races"] for a in r["accesses"]}
            self.assertTrue(shown and shown <= {21, 22, 23}, shown)
            self.assertEqual({r["hidden_by"]["line"] for r in report["hidden"]}, set(self.LINES))
            self.assertIn("commented.cu:21: a comment `gpurace: ok` without a reason hides nothing", "\n".join(report["coverage"]["remarks"]))
        text = run("commented", options=["--engine", "exact"], text=True)
        self.assertRegex(text, r'  hidden    \d+ races? that occurred \d+ times?, by a comment in the source: \S*commented.cu:7 "benign counter"')

    def test_read_again(self):
        """The JSON report as text, merged with itself."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(run("commented", options=["--engine", "exact"]), file)
            done = subprocess.run([GPURACE, "report", path, path], capture_output=True, text=True, check=True)
            self.assertIn('commented.cu:7 "benign counter"', done.stdout)


class Bundled(unittest.TestCase):
    """Races in NVIDIA's headers that no user can mend are hidden and counted; the rules are of toolkit 13.0."""

    def check(self, what, why, rules=1):
        plain = run("bundled", what, options=["--engine", "exact", "--bundled-suppressions", "no"])
        self.assertEqual((plain["verdict"], "suppressions" in plain), ("races", False), plain)
        for race in plain["races"]:
            self.assertTrue(all("/include/" in a["frames"][0]["file"] for a in race["accesses"]), race)
        report = run("bundled", what, options=["--engine", "exact"])
        self.assertEqual((report["verdict"], report["races"]), ("clean", []), report["races"])
        hidden = report["suppressions"]
        self.assertEqual(len(hidden), rules, hidden)
        for rule in hidden:
            self.assertTrue(rule["bundled"] and why in rule["why"] and rule["races"] and rule["count"], rule)
        text = run("bundled", what, options=["--engine", "exact"], text=True)
        self.assertRegex(text, r"  hidden    \d+ races? that occurred \d+ times?, by a rule that comes with gpurace: " + re.escape(why))
        self.assertIn("--bundled-suppressions no shows them", text)

    def test_select_in_place(self):
        self.check("select", "CUB's DeviceSelect in place")
        self.check("remove", "Thrust's remove_if")

    def test_select_of_bytes_in_place(self):
        """Where CUB loads a tile directly, its tile state is released and acquired: no race, so nothing to hide."""
        report = run("bundled", "select bytes", options=["--engine", "exact", "--bundled-suppressions", "no"])
        self.assertEqual((report["verdict"], report["races"]), ("clean", []))

    def test_unique_in_place(self):
        self.check("unique", "Thrust's unique:", 2)
        self.check("unique by key", "Thrust's unique_by_key:", 2)

    def test_runs(self):
        self.check("runs", "CUB's NonTrivialRuns")

    def test_tiles_of_several_warps(self):
        self.check("tile", "cooperative groups' reduce", 4)

        self.assertEqual(run("bundled", "tile", options=["--engine", "collider"])["verdict"], "clean")

    def test_tail_of_a_copy(self):
        plain = run("bundled", "tail", options=["--engine", "exact", "--bundled-suppressions", "no"])
        self.assertEqual([r["class"] for r in plain["races"]], ["same-value write"])
        self.check("tail", "cooperative groups' memcpy_async")
        self.assertEqual(run("bundled", "tail", options=["--engine", "collider"])["verdict"], "clean")

    def test_atomics_of_two_bytes(self):
        self.check("device", "libcu++'s atomics of 1 and 2 bytes")
        self.check("system", "libcu++'s atomics of 1 and 2 bytes")

    def test_mistakes_of_the_user_stay(self):
        """A scope that is too narrow, and a plain store to the word of an atomic."""
        self.assertEqual(run("bundled", "block", options=["--engine", "exact"])["verdict"], "races")
        report = run("bundled", "plain", options=["--engine", "exact"])
        lines = {a["line"] for r in report["races"] for a in r["accesses"]}
        self.assertIn(line_of("bundled", "plain"), lines)

    def test_storage_that_is_used_again_stays(self):
        self.assertEqual(run("temp_storage", "s")["verdict"], "races")


class Memory(unittest.TestCase):
    """What an address is part of."""

    def setUp(self):
        if not shutil.which("addr2line"):
            self.skipTest("there is no addr2line")

    def check(self, engine):
        report = run("allocated", options=["--engine", engine])
        races = {race["kernel"].split("(")[0]: race for race in report["races"]}
        self.assertEqual(set(races), {"first", "second", "third"}, report["races"])
        for kernel, size, byte in (("first", 256, 20), ("second", 400, 28)):
            for side in races[kernel]["accesses"]:
                memory = side["memory"]
                self.assertEqual((memory["kind"], memory["size"], os.path.basename(memory["file"]), memory["line"], memory["function"]),
                                 ("device", size, "allocated.cu", line_of("allocated", kernel), "main"))
                self.assertIn(memory["offset"], (byte, byte + 4))
        self.assertEqual({side.get("argument") for side in races["first"]["accesses"]}, {1})
        self.assertEqual({side.get("argument") for side in races["second"]["accesses"]}, {None})  # p or q
        self.assertEqual({side.get("variable") for side in races["third"]["accesses"]}, {"total"})

    def test_members(self):
        """Of what is defined in its class addr2line may name nvcc's own file (src/report/lines/line_files.h)."""
        report = run("members", options=["--engine", "exact"])
        hosts = [side for race in report["races"] for side in race["accesses"] if side["kind"] == "host write"]
        self.assertTrue(hosts, report["races"])
        for side in hosts:
            self.assertEqual((side["file"], side["line"]), (os.path.join(SOURCES, "members.cu"), line_of("members", "written")))
        blocks = [side["memory"] for race in report["races"] for side in race["accesses"] if race["kernel"] and side.get("memory")]
        self.assertTrue(blocks, report["races"])
        for memory in blocks:
            self.assertEqual((memory["file"], memory["line"]), (os.path.join(SOURCES, "members.cu"), line_of("members", "allocated")))
        self.assertNotIn("tmpxft", json.dumps(report))

    def test_exact(self):
        self.check("exact")

    def test_tracker(self):
        """An engine that has the program's memory in one place."""
        self.check("tracker")

    def test_text(self):
        text = run("allocated", options=["--engine", "exact"], text=True)
        self.assertRegex(text, r"global address 0x[0-9a-f]+, through argument 1, byte 20 of 256 allocated at \S*allocated.cu:"
                         rf"{line_of('allocated', 'first')}, launch 1\n")
        self.assertRegex(text, r"global address 0x[0-9a-f]+, in total, launch 3\n")


class Sources(unittest.TestCase):
    def test_lines_that_end_in_two_characters(self):
        text = run("crlf", options=["--engine", "exact"], text=True)
        self.assertIn("  >     5 |  p[0] = threadIdx.x; // store\n", text)
        self.assertNotIn("?", text)


    def test_no_line(self):
        ptx = os.path.join(SOURCES, "no_line.ptx")
        report = run("launch_ptx", ptx)
        near = [a["near"] for r in report["races"] for a in r["accesses"] if "near" in a]
        self.assertTrue(near and all((n["file"], n["line"]) == ("/nonexistent/no_line.cu", 230) for n in near), report["races"])
        text = run("launch_ptx", ptx, text=True)
        self.assertIn("/nonexistent/no_line.cu: near line 230 (PTX line 12, to which the compiler gave no line)", text)
        self.assertRegex(text, "missing: .* wrote near /nonexistent/no_line.cu:230; ")
        self.assertRegex(text, "missing: .* read at /nonexistent/no_line.cu:240; ")


class Many(unittest.TestCase):
    """Reports are bounded, and what it takes to make them grows with the races."""

    def make(self, folder, n):
        source, ptx = os.path.join(folder, "many.cu"), os.path.join(folder, "many.ptx")
        with open(source, "w", encoding="utf-8") as file:
            file.write("".join(f"line {k} of the source, which is some characters long\n" for k in range(1, 2 * n + 1)))
        with open(ptx, "w", encoding="utf-8") as file:
            subprocess.run([sys.executable, os.path.join(SOURCES, "many_races.py"), str(n), source], stdout=file, check=True)
        return ptx

    def test_some_are_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            ptx = self.make(folder, 12)
            report = run("launch_ptx", ptx, options=["--max-reports", "100"])
            self.assertEqual((len(report["races"]), report["races_not_listed"]), (100, 44))
            text = run("launch_ptx", ptx, options=["--max-reports", "100"], text=True)
            self.assertEqual(text.count("data race:"), 100)
            self.assertIn("\n44 more races are not listed (--max-reports 0 lists all)\n", text)
            self.assertIn("verdict: races (144)", text)
            report = run("launch_ptx", ptx, options=["--max-reports", "0"])
            self.assertEqual((len(report["races"]), "races_not_listed" in report), (144, False))

    def test_a_report_is_bounded(self):
        """Ten thousand races, of which all may be listed: not ten thousand times the source file, nor ten megabytes."""
        with tempfile.TemporaryDirectory() as folder:
            ptx = self.make(folder, 100)
            for form in ("text", "json"):
                path = os.path.join(folder, "report")
                subprocess.run([GPURACE, "run", "--device", "cpu", "--max-reports", "1000000", "--format", form, "--output", path, "--",
                                os.path.join(FOLDER, "launch_ptx"), ptx], stderr=subprocess.PIPE, check=False, timeout=120)
                self.assertLess(os.path.getsize(path), 10_000_000)
                if form == "json":  # as text, these are a few causes
                    self.assertGreater(os.path.getsize(path), 4_000_000)
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
            self.assertGreater(report["races_not_listed"], 0)
            self.assertEqual(sorted(i for cause in report["causes"] for i in cause["races"]), sorted(race["id"] for race in report["races"]))


class Progress(unittest.TestCase):
    """A line on the terminal while the program runs; nothing of it where nobody watches."""

    def on_terminal(self, after, *options):
        import pty  # not everywhere
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.ptx")
            with open(path, "w", encoding="utf-8") as file:
                subprocess.run([sys.executable, os.path.join(SOURCES, "many_races.py"), "2", "x.cu"], stdout=file, check=True)
            ours, theirs = pty.openpty()
            env = dict(os.environ, GPURACE_PROGRESS_AFTER=after, TERM="xterm")
            done = subprocess.Popen([GPURACE, "run", "--device", "cpu", *options, "--", os.path.join(FOLDER, "launch_ptx"), path, "2", "700"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs, env=env)
            os.close(theirs)
            said = read_terminal(ours)
            return done.wait(), said.decode()

    def test_line(self):
        status, said = self.on_terminal("100")
        self.assertEqual(status, 66)
        before, report = said.split("=" * 80, 1)
        lines = before.split("\r\x1b[K")
        self.assertGreaterEqual(len(lines), 3, said)
        for line in lines[1:-1]:
            self.assertRegex(line, r"^gpurace: \d s, [0-2] launch(es)?, [04] races so far$")
        self.assertEqual((lines[0], lines[-1]), ("", ""))  # erased
        self.assertNotIn("so far", report)
        self.assertIn("2 launches, 4 races so far", before)

    def test_short_runs_show_none(self):
        self.assertNotIn("so far", self.on_terminal("60000")[1])

    def test_no_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.ptx")
            with open(path, "w", encoding="utf-8") as file:
                subprocess.run([sys.executable, os.path.join(SOURCES, "many_races.py"), "2", "x.cu"], stdout=file, check=True)
            done = subprocess.run([GPURACE, "run", "--device", "cpu", "--", os.path.join(FOLDER, "launch_ptx"), path, "1", "500"],
                                  stderr=subprocess.PIPE, text=True, check=False, env=dict(os.environ, GPURACE_PROGRESS_AFTER="0"))
            self.assertNotIn("so far", done.stderr)
            self.assertNotIn("\x1b", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
