#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace campaign` end to end, on the CPU device: test_campaign.py GPURACE EXAMPLES [--runs N] [TESTS of unittest]

What a campaign finds must not depend on how it was done: with how many runs at a time, killed and called again, or in shares."""
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

GPURACE, EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
del sys.argv[1:3]
RUNS = 20
if sys.argv[1:2] == ["--runs"]:
    RUNS = int(sys.argv[2])
    del sys.argv[1:3]

RACY, CLEAN = str(EXAMPLES / "worklist_race"), str(EXAMPLES / "worklist_fixed")
PATIENCE = 600
TAKES_200_MB = "x = bytearray(200 << 20); import time; time.sleep(1000)"


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="test-campaign-")
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE")} | {"OF_TEST": self.scratch.name}
        self.addCleanup(self.wait_for_all)

    def words(self, state, *options, program=(RACY,)):
        return [GPURACE, "campaign", "--device", "cpu", "--state", str(self.folder / state), *options, "--", *program]

    def campaign(self, state, *options, program=(RACY,), status=None):
        done = subprocess.run(self.words(state, *options, program=program), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, env=self.environment, cwd=self.folder)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def processes(self, of=b""):
        """The processes of this test that have this command line; of any command line if none is given."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if f"OF_TEST={self.scratch.name}\0".encode() in path.joinpath("environ").read_bytes() and \
                        of in (b"", path.joinpath("cmdline").read_bytes()):
                    found.append(path)
            except OSError:
                pass
        return found

    def wait_for_all(self):
        """A run of a campaign that was killed still writes its report. The test's own time limit ends this if a process stays."""
        while self.processes():
            time.sleep(0.01)

    def rows(self, state, query, name="campaign.sqlite"):
        with sqlite3.connect(f"file:{self.folder / state / name}?mode=ro", uri=True) as db:
            return db.execute(query).fetchall()

    def result(self, state):
        """All that must be the same: what became of each run, the races of each, the reports, and the drawing."""
        key = "run.seed, run.input, run.engine, run.schedule"
        return {"runs": self.rows(state, f"SELECT {key}, verdict, status, report FROM run ORDER BY {key}"),
                "seen": self.rows(state, f"SELECT {key}, race, count FROM seen JOIN run ON run.id = seen.run ORDER BY {key}, race"),
                "races": self.rows(state, "SELECT * FROM race ORDER BY id"),
                "reasons": self.rows(state, f"SELECT {key}, nth, text FROM reason JOIN run ON run.id = reason.run ORDER BY {key}, nth"),
                "growth": (self.folder / state / "growth.svg").read_text()}

    @staticmethod
    def summary(done):
        """The report without what names the folder, and without what was said on the way."""
        text = done.stderr[done.stderr.index("gpurace: campaign: verdict"):]
        return "".join(line for line in text.splitlines(True) if not line.startswith("  results"))


class Runs(Case):
    def test_races(self):
        done = self.campaign("a", "--seeds", "3..5,9", "--engines", "exact,collider", "--jobs", "2", status=66)
        self.assertEqual(self.rows("a", "SELECT DISTINCT seed FROM run ORDER BY 1"), [(3,), (4,), (5,), (9,)])
        self.assertEqual(self.rows("a", "SELECT engine, count(*) FROM run GROUP BY 1 ORDER BY 1"), [("collider", 4), ("exact", 4)])
        races = self.rows("a", "SELECT id, title FROM race")
        self.assertIn(f"gpurace: campaign: verdict: races ({len(races)})", done.stderr)
        for number, title in races:
            self.assertIn(number, done.stderr)
            self.assertIn("worklist_race.cu:", title)
        self.assertIn("8 of 8: 8 with races, 0 clean, 0 inconclusive, 0 failed", done.stderr)
        reports = [json.loads(text) for text, in self.rows("a", "SELECT report FROM run")]
        self.assertEqual(sorted(r["seed"] for r in reports), [3, 3, 4, 4, 5, 5, 9, 9])
        self.assertEqual(os.listdir(self.folder / "a" / "runs"), [])
        # Each run is what its own command finds.
        report = next(r for r in reports if (r["seed"], r["engine"]) == (4, "collider"))
        self.assertTrue(report["reproduce"].startswith("gpurace run --engine collider --device cpu --seed 4 "), report["reproduce"])
        subprocess.run(report["reproduce"].replace("gpurace run", f"{GPURACE} run --format json --output again.json", 1), shell=True,
                       cwd=self.folder, env=self.environment, capture_output=True, timeout=PATIENCE)
        self.assertEqual(json.loads((self.folder / "again.json").read_text())["races"], report["races"])

    def test_formats_and_baseline(self):
        """What the report of one run can be, that of a campaign can be."""
        options = ("--seeds", "1..3", "--engines", "exact,collider")
        self.campaign("a", *options, "--format", "text,json,sarif,html", "--output", "out", status=66)
        self.assertTrue((self.folder / "a/growth.svg").read_text() in (self.folder / "out/report.html").read_text(), "the page has the drawing")
        report = json.loads((self.folder / "out/report.json").read_text())
        self.assertEqual(sorted(race["id"] for race in report["races"]), [i for i, in self.rows("a", "SELECT id FROM race ORDER BY id")])
        self.assertEqual(len(report["runs"]), 6)
        self.assertEqual(sorted(os.listdir(self.folder / "out")), ["report.html", "report.json", "report.sarif", "report.txt"])
        self.campaign("a", *options, "--baseline", "out/report.json", status=0)
        self.assertIn("--output: cannot write nowhere/x", self.campaign("b", *options, "--output", "nowhere/x", status=2).stderr)
        self.assertIn("several formats need --output", self.campaign("b", *options, "--format", "text,json", status=2).stderr)
        self.assertIn("nowhere", self.campaign("b", *options, "--baseline", "nowhere", status=2).stderr)

    def test_many_reports_are_one(self):
        """A campaign merges its reports by hundreds; what comes out is what `gpurace report` makes of all of them."""
        self.campaign("a", "--seeds", "1..103", "--engine", "collider", "--format", "json", "--output", "merged.json", status=66)
        files = []
        for seed, text in self.rows("a", "SELECT seed, report FROM run"):
            files.append(f"{seed}.json")
            (self.folder / files[-1]).write_text(text)
        self.assertEqual(len(files), 103)
        done = subprocess.run([GPURACE, "report", "--format", "json", *files], capture_output=True, text=True, cwd=self.folder)
        self.assertTrue(done.stdout == (self.folder / "merged.json").read_text(), "not the same report")

    def test_clean_and_called_again(self):
        first = self.campaign("a", "--seeds", "1..3", program=(CLEAN,), status=0)
        self.assertIn("verdict: clean", first.stderr)
        before = self.result("a")
        ids = self.rows("a", "SELECT id, seconds FROM run ORDER BY id")
        again = self.campaign("a", "--seeds", "1..3", program=(CLEAN,), status=0)
        self.assertEqual(before, self.result("a"))
        self.assertEqual(ids, self.rows("a", "SELECT id, seconds FROM run ORDER BY id"), "nothing is done twice")
        self.assertEqual(self.summary(first), self.summary(again))
        more = self.campaign("a", "--seeds", "1..5", program=(CLEAN,), status=0)
        self.assertIn("5 of 5", more.stderr)
        self.assertEqual(ids, self.rows("a", "SELECT id, seconds FROM run ORDER BY id")[:3], "more seeds only add runs")

    def test_inputs(self):
        (self.folder / "in.txt").write_text("# sizes\n100\n\n'200' \n")
        self.campaign("a", "--seeds", "1..2", "--inputs", "in.txt", program=(RACY, "first"), status=66)
        again = [json.loads(text)["reproduce"] for text, in self.rows("a", "SELECT report FROM run ORDER BY seed, input DESC")]
        self.assertEqual([text.split(" -- ")[1] for text in again], [f"{RACY} first 100", f"{RACY} first 200"] * 2)

    def test_stop_after(self):
        done = self.campaign("a", "--seeds", "1..1000", "--stop-after", "4", "--jobs", "1", status=66)
        count, = self.rows("a", "SELECT count(*) FROM run")[0]
        self.assertLess(count, 1000)
        last, = self.rows("a", "SELECT max(first) FROM (SELECT min(seed) AS first FROM seen JOIN run ON run.id = seen.run GROUP BY race)")[0]
        self.assertEqual(count, last + 4)
        self.assertIn(f"no run after number {last} saw a new race (--stop-after 4)", done.stderr)

    def test_progress_on_a_terminal(self):
        ours, theirs = os.openpty()
        with open(ours, "rb", buffering=0) as terminal:
            with subprocess.Popen(self.words("a", "--seeds", "1..3", program=(CLEAN,)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=theirs, env=self.environment | {"TERM": "xterm"}) as process:
                os.close(theirs)
                said = b""
                with contextlib.suppress(OSError):  # what a terminal says when nobody is there any more
                    while part := terminal.read(4096):
                        said += part
            self.assertEqual(process.returncode, 0)
        for number in range(4):
            self.assertIn(b"gpurace: %d of 3 runs, " % number, said)
        self.assertIn(b" races\r\x1b[K====", said, "the line is gone before the report")

    def test_jobs_are_nothing(self):
        results = []
        for jobs in ("1", "3"):
            self.campaign(jobs, "--seeds", "1..6", "--engines", "exact,collider", "--jobs", jobs, status=66)
            results.append(self.result(jobs))
        self.assertEqual(*results)

    def test_shared_coverage(self):
        """Only engines that can watch some accesses and leave others alone get the file."""
        self.campaign("a", "--seeds", "1..3", "--engines", "exact,collider", "--coverage", str(self.folder / "seen"), status=66)
        shown = subprocess.run([GPURACE, "coverage", str(self.folder / "seen")], capture_output=True, text=True)
        self.assertIn("in 3 runs", shown.stdout.splitlines()[0])


class Odd(Case):
    def test_memory(self):
        done = self.campaign("a", "--seeds", "1..2", "--memory", "100", "--strict", program=("env", "python3", "-c", TAKES_200_MB), status=67)
        self.assertIn("2 runs: the run was killed over 100 MB of memory (--memory) (seed 1; seed 2)", done.stderr)
        self.assertIn("0 clean, 2 inconclusive, 0 failed", done.stderr)

    def test_timeout(self):
        done = self.campaign("a", "--seeds", "7", "--timeout", "1", program=("env", "sleep", "1000"), status=124)
        self.assertIn("1 run: the program was killed after 1 seconds (--timeout) (seed 7)", done.stderr)

    def test_crash(self):
        done = self.campaign("a", "--seeds", "1..2", program=("env", "sh", "-c", "echo lost; kill -SEGV $$"), status=139)
        self.assertIn("2 runs: the program was killed by signal 11 (Segmentation fault) (seed 1; seed 2)", done.stderr)
        self.assertIn("lost\n", (self.folder / "a/runs/seed1-auto-auto.log").read_text())

    def test_first_run_cannot_be_done(self):
        done = self.campaign("a", "--seeds", "1..1000", program=("/bin/ls",), status=2)
        self.assertIn("the first run could not be done; it said:\ngpurace: ", done.stderr)
        self.assertIn("not a CUDA program", done.stderr)
        self.assertEqual(self.rows("a", "SELECT count(*) FROM run"), [(0,)])

    def test_command_lines(self):
        for options, words in ((("--seeds", "5..1"), "5..1 is empty"), (("--engines", "exact,nope"), "there is no engine 'nope'"),
                               (("--engines", "verifier"), "verifier"), (("--schedules", "fast"), "schedule takes one of"),
                               (("--inputs", "nowhere"), "nowhere"), (("--share", "5/4"), "--share takes I/N"),
                               (("--record-launches", "x"), "--record-launches"), (("--seed", "7"), "a campaign takes --seeds 7"), (("--jobs", "x"), "jobs takes a number"),
                               (("--share", "1/2", "--stop-after", "3"), "--stop-after"), (("--nope",), "unknown option '--nope'")):
            done = self.campaign("a", *options, status=2)
            self.assertIn(words, done.stderr)
        done = self.campaign("a", program=("./nowhere",), status=2)
        self.assertIn("nowhere", done.stderr)
        self.assertFalse((self.folder / "a").exists())
        self.assertIn("--stop-after", subprocess.run([GPURACE, "campaign", "--help"], capture_output=True, text=True).stdout)

    def test_another_campaign(self):
        self.campaign("a", "--seeds", "1", status=66)
        for options, program, words in (((), (CLEAN,), "another program"), ((), (RACY, "word"), "another program"),
                                        (("--weak",), (RACY,), "another options")):
            done = self.campaign("a", "--seeds", "1", *options, program=program, status=2)
            self.assertIn(words.replace("another options", "another options"), done.stderr)
        copy = self.folder / "worklist_race"
        copy.write_bytes(pathlib.Path(RACY).read_bytes())
        copy.chmod(0o755)
        self.campaign("b", "--seeds", "1", program=(str(copy),), status=66)
        self.campaign("b", "--seeds", "2", "--share", "1/1", program=(str(copy),), status=66)
        with copy.open("ab") as file:
            file.write(b"built anew")
        self.assertIn("it was built anew", self.campaign("b", "--seeds", "1", program=(str(copy),), status=2).stderr)
        self.assertIn("it was built anew", self.campaign("b", "--seeds", "2", "--share", "1/1", program=(str(copy),), status=2).stderr)
        self.campaign("b", "--seeds", "3", "--fresh", program=(str(copy),), status=66)
        self.assertEqual(self.rows("b", "SELECT seed FROM run"), [(3,)])
        self.assertEqual(list((self.folder / "b/shares").glob("*.sqlite")), [])

    def test_two_at_once(self):
        with subprocess.Popen(self.words("a", "--seeds", "1", program=("env", "sleep", "1000")), stderr=subprocess.PIPE, text=True,
                              env=self.environment) as first:
            while not (self.folder / "a/runs/seed1-auto-auto.log").exists():
                time.sleep(0.01)
            done = self.campaign("a", "--seeds", "1", program=("env", "sleep", "1000"), status=1)
            self.assertIn("another gpurace campaign is at work", done.stderr)
            first.send_signal(signal.SIGINT)
            said = first.communicate(timeout=PATIENCE)[1]
        self.assertEqual(first.returncode, 130)
        self.assertIn("ended by signal 2 (Interrupt); the same command goes on", said)
        self.assertEqual(self.rows("a", "SELECT count(*) FROM run"), [(0,)])


class Killed(Case):
    def runs(self, state):
        try:
            return self.rows(state, "SELECT count(*) FROM run")[0][0]
        except sqlite3.OperationalError:
            return 0

    def test_killed_and_called_again(self):
        options = ("--seeds", f"1..{RUNS // 2}", "--engines", "exact,collider", "--jobs", "2")
        whole = self.campaign("whole", *options, status=66)
        for kill_at in (RUNS // 3, 2 * RUNS // 3):
            with subprocess.Popen(self.words("killed", *options), stderr=subprocess.DEVNULL, env=self.environment, cwd=self.folder) as process:
                while self.runs("killed") < kill_at and process.poll() is None:
                    time.sleep(0.002)
                process.kill()
            self.assertEqual(process.returncode, -signal.SIGKILL, "it was to be killed before it ended")
            self.assertLess(self.runs("killed"), RUNS)
        last = self.campaign("killed", *options, status=66)
        self.assertEqual(self.result("whole"), self.result("killed"))
        self.assertEqual(len(self.result("whole")["runs"]), RUNS)
        self.assertEqual(self.summary(whole), self.summary(last))

    def test_no_child_outlives_it(self):
        with subprocess.Popen(self.words("a", "--seeds", "1..2", "--jobs", "2", program=("env", "sleep", "4321")), env=self.environment) as process:
            while len(self.processes(b"sleep\x004321\x00")) < 2:
                time.sleep(0.01)
            process.kill()
        self.wait_for_all()


class Shares(Case):
    def test_shares_are_the_whole(self):
        options = ("--seeds", "1..6", "--engines", "exact,collider")
        whole = self.campaign("whole", *options, status=66)
        for share in ("2/3", "1/3"):
            done = self.campaign("shared", *options, "--share", share, status=66)
            self.assertIn("4 of 12", done.stderr)
        done = self.campaign("shared", *options, "--merge", "--strict", status=66)
        self.assertIn("8 runs of 2 shares were added", done.stderr)
        self.assertIn("4 runs were not done", done.stderr)
        self.campaign("shared", *options, "--share", "3/3", status=66)
        for _ in range(2):
            merged = self.campaign("shared", *options, "--merge", status=66)
            self.assertEqual(self.summary(whole), self.summary(merged))
            self.assertEqual(self.result("whole"), self.result("shared"))
        self.assertNotIn(" added", merged.stderr)

    def test_a_lost_share_is_done_by_the_campaign(self):
        options = ("--seeds", "1..4")
        whole = self.campaign("whole", *options, status=66)
        self.campaign("shared", *options, "--share", "1/2", status=66)
        self.assertEqual(self.campaign("shared", *options, "--merge", program=(CLEAN,)).returncode, 2)
        done = self.campaign("shared", *options, status=66)
        self.assertEqual(self.summary(whole), self.summary(done))
        self.assertEqual(self.result("whole"), self.result("shared"))

    def test_merging_nothing(self):
        done = self.campaign("a", "--seeds", "1..4", "--merge", "--strict", status=67)
        self.assertIn("4 runs were not done", done.stderr)

    def test_no_report_is_inconclusive(self):
        """Not green: nothing was checked."""
        for strict, status in (((), 67), (("--strict", "no"), 0)):
            done = self.campaign("a", "--seeds", "1..4", "--merge", "--format", "json", "--output", "out.json", *strict, status=status)
            self.assertIn("campaign: verdict: inconclusive", done.stderr)
            report = json.loads((self.folder / "out.json").read_text())
            self.assertEqual((report["verdict"], report["void"]), ("inconclusive", True))
            self.assertIn("no run of the campaign left a report: nothing was checked", report["reasons"])
        self.campaign("a", "--seeds", "1..4", program=(CLEAN,), status=2)  # the folder is of another program
        self.campaign("b", "--seeds", "1..2", program=(CLEAN,), status=0)
        with contextlib.closing(sqlite3.connect(self.folder / "b/campaign.sqlite")) as db:
            db.execute("UPDATE run SET report = NULL")
            db.commit()
        done = self.campaign("b", "--seeds", "1..2", "--merge", program=(CLEAN,), status=67)
        self.assertIn("campaign: verdict: inconclusive", done.stderr)

    def test_what_left_nothing_to_check_does_not_pass(self):
        options = ("--seeds", "1..2", "--kernel", "nosuch")
        for strict, status in (((), 67), (("--strict", "no"), 0), (("--strict",), 67), ((), 67)):  # the runs are those of the first time
            self.campaign("a", *options, *strict, program=(CLEAN,), status=status)
        self.assertEqual(self.rows("a", "SELECT status, void, verdict FROM run"), [(0, 1, "inconclusive")] * 2)

    def test_a_broken_share(self):
        self.campaign("a", "--seeds", "1..2", "--share", "1/2", status=66)
        (self.folder / "a/shares/2-of-2.sqlite").write_bytes(b"SQLite format 3\0 and then nothing that is any good" * 50)
        done = self.campaign("a", "--seeds", "1..2", "--merge", status=66)
        self.assertIn("2-of-2.sqlite was left out, for now", done.stderr)
        self.assertIn("1 run of 1 share was added", done.stderr)


unittest.main()
