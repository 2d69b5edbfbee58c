#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A process of the program that gpurace has trouble to get into is watched, or the verdict names it: test_hidden.py GPURACE PROGRAM

subjects/hidden.cu has the ways. A run is never clean here: what hides launches a racy kernel.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM = sys.argv[1:3]
ENGINES = ("exact", "collider", "tracker", "privatizer", "collider+exact")
NOBODY = 65534
root = unittest.skipUnless(os.getuid() == 0, "needs root")


class Hidden(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpurace-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, *words, engine="exact", options=()):
        output = self.path("report.json")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
        done = subprocess.run([GPURACE, "run", "--engine", engine, "--device", "cpu", "--format", "json", "--output", output, *options, "--",
                               *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
        with open(output, encoding="utf-8") as file:
            return json.load(file), done.stderr

    def expect_races(self, *words, engine="exact", options=()):
        report, err = self.run_it(*words, engine=engine, options=options)
        self.assertEqual(report["verdict"], "races", f"{words} {engine}: {report['reasons']} {err}")

    def expect_named(self, *words, program, why, options=()):
        report, err = self.run_it(*words, options=options)
        self.assertEqual(report["verdict"], "inconclusive", f"{words}: {err}")
        named = [r for r in report["reasons"] if f"({program})" in r and why in r]
        self.assertEqual(len(named), 1, f"{words}: {report['reasons']}")
        self.assertRegex(named[0], r"^process \d+ \(")

    def test_in_the_child_itself(self):
        for engine in ENGINES:
            self.expect_races(PROGRAM, "clearenv", engine=engine)
        self.expect_races(PROGRAM, "closed")

    @root
    def test_a_child_that_gave_up_its_rights(self):
        for engine in ENGINES:
            self.expect_races(PROGRAM, "setuid", engine=engine)
        self.expect_races(PROGRAM, "chroot", self.folder)
        self.expect_named(PROGRAM, "setuid_closed", program=PROGRAM, why="could not be written")

    def test_what_outlives_its_parent(self):
        for engine in ENGINES:
            self.expect_races(PROGRAM, "late", engine=engine)
        self.expect_races(PROGRAM, "daemon")
        self.expect_races(PROGRAM, "detached")

    def test_what_never_ends(self):
        for wait in ("0", "1"):
            report, err = self.run_it(PROGRAM, "forever", options=("--wait", wait))
            self.assertEqual(report["verdict"], "inconclusive", err)
            named = [r for r in report["reasons"] if f"({PROGRAM}) still ran {wait} s after the program had ended" in r]
            self.assertEqual(len(named), 1, report["reasons"])
            os.kill(int(named[0].split()[1]), signal.SIGKILL)

    def test_what_has_nothing_to_do_with_cuda(self):
        report, _ = self.run_it("/bin/sh", "-c", f"sleep 60 >/dev/null 2>&1 & echo $! > {self.path('pid')}; exec {PROGRAM} clean", options=("--wait", "0"))
        with open(self.path("pid"), encoding="utf-8") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))
        self.assertRegex(" ".join(report["coverage"]["remarks"]), r"process \d+ \(.*\) still ran when the report was made; it shows no sign of CUDA")

    def test_children_from_before_the_run_are_not_waited_for(self):
        script = f"sleep 60 >/dev/null 2>&1 & echo $! > {self.path('pid')}; exec {GPURACE} run --device cpu --output {self.path('text')} -- {PROGRAM} clean"
        done = subprocess.run(["/bin/sh", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=50, check=False)
        with open(self.path("pid"), encoding="utf-8") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("text"), encoding="utf-8") as file:
            self.assertNotIn("sleep", file.read())

    def test_a_program_that_is_started_without_an_environment(self):
        for way in ("execle", "fexecve", "execveat", "spawn", "env", "cleared_execlp", "cleared_execv", "cleared_system", "cleared_popen",
                    "other_preload", "closed_exec"):
            self.expect_races(PROGRAM, way)
        self.expect_races("/usr/bin/env", "-i", PROGRAM, "racy")
        self.expect_races("/bin/sh", "-c", f"{PROGRAM} clean; env -i {PROGRAM} racy")

    def test_a_program_that_is_left_out_by_hand(self):
        self.expect_named(PROGRAM, "left_out", program=PROGRAM, why="GPURACE_RESULTS")

    @root
    def test_a_program_that_is_started_with_other_rights(self):
        for way, at in (("setuid_exec", None), ("after_cuda", None)):
            report, err = self.run_it(PROGRAM, way)
            if report["verdict"] != "races":  # where nobody may read the library
                self.assertIn("it cannot read gpurace's library", " ".join(report["reasons"]), f"{way}: {err}")
            self.assertNotEqual(report["verdict"], "clean", way)
        report, err = self.run_it(PROGRAM, "setuid_closed_exec")
        self.assertEqual(report["verdict"], "inconclusive", err)
        self.assertRegex(" ".join(report["reasons"]), r"process \d+ \(.*hidden\) was not watched, and may have used CUDA: it can")
        self.expect_named(PROGRAM, "effective", program=PROGRAM, why="the loader ignores LD_PRELOAD")

    @root
    def test_set_user_id(self):
        copy = shutil.copy(PROGRAM, self.path("program"))
        os.chown(copy, NOBODY, -1)
        os.chmod(copy, 0o4755)
        self.expect_named(PROGRAM, "file", copy, program=copy, why="set-user-ID")
        shell = shutil.copy("/bin/sh", self.path("sh"))  # it may start anything, without LD_PRELOAD
        os.chown(shell, NOBODY, -1)
        os.chmod(shell, 0o4755)
        self.expect_named("/bin/sh", "-c", f"{PROGRAM} clean; {shell} -c true", program=shell, why="set-user-ID")
        quiet = shutil.copy("/bin/true", self.path("true"))
        os.chown(quiet, NOBODY, -1)
        os.chmod(quiet, 0o4755)
        report, _ = self.run_it("/bin/sh", "-c", f"{PROGRAM} clean; {quiet}")
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))

    @root
    def test_a_root_folder_without_the_library(self):
        shutil.copy(PROGRAM, self.path("hidden"))
        self.expect_named(PROGRAM, "chroot_exec", self.folder, program="/hidden", why="it cannot read gpurace's library")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
