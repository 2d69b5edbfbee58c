#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program and its user tell gpurace while the program runs: the header gpurace/gpurace.h, --toggle-signal, --report-signal and --stopped.
Usage: test_control.py GPURACE PROGRAM INCLUDE"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GPURACE, PROGRAM, INCLUDE = sys.argv[1:4]


def environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}


def command(*words, options=(), engine="exact", output="-"):
    return [GPURACE, "run", "--device", "cpu", "--engine", engine, "--format", "json", "--output", output, *options, "--", PROGRAM, *words]


def run(*words, **more):
    """What the program printed, and the report."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report.json")
        done = subprocess.run(command(*words, output=output, **more), env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=100, check=False)
        if not os.path.exists(output):
            raise AssertionError(done)
        with open(output, encoding="utf-8") as file:
            return done.stdout.split("\n"), json.load(file)


def launches(report):
    return {a["launch"] for r in report["races"] for a in r["accesses"]}


class Calls(unittest.TestCase):
    def test_without_gpurace(self):
        loader = os.path.join(os.path.dirname(GPURACE), "cpu-device")
        done = subprocess.run([PROGRAM, "stop", "start", "report", "race"], env={**environment(), "LD_LIBRARY_PATH": loader}, stdout=subprocess.PIPE,
                              text=True, timeout=60, check=True)
        self.assertEqual(done.stdout, "stop 0\nstart 0\nreport 0\n")

    def test_stop_and_start(self):
        for engine in ("exact", "privatizer"):
            out, report = run("race", "stop", "race", "race", "start", engine=engine)
            self.assertEqual(out[:2], ["stop 1", "start 1"])
            self.assertEqual(launches(report), {1}, engine)
            self.assertEqual(report["coverage"]["launches"], {"checked": 1, "unchecked": 2, "stopped": 2})
            out, report = run("stop", "race", "race", "start", "race", engine=engine)
            self.assertEqual(launches(report), {3}, engine)

    def test_all_while_stopped(self):
        _, report = run("stop", "race", "race")
        self.assertEqual((report["verdict"], report["reasons"]), ("inconclusive", ["every launch was left out: nothing was checked"]))

    def test_clean_says_what_it_covers(self):
        done = subprocess.run([GPURACE, "run", "--device", "cpu", "--", PROGRAM, "stop", "race", "start", "unseen"], env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertIn("verdict: clean (2 of 3 launches were checked)", done.stderr)
        self.assertIn("launches  2 checked, 1 not (1 while checking was stopped)", done.stderr)

    def test_engine_that_cannot(self):
        for engine, said in (("tracker", "checking was stopped, but the engine tracker checks all launches of a kernel"),
                             ("collider", "launches that were to be left out are checked all the same if their kernels are not compiled alone")):
            _, report = run("stop", "race", engine=engine)
            self.assertEqual(report["verdict"], "races")
            self.assertIn(said, "".join(report["coverage"]["remarks"]))

    def test_kernels_that_are_compiled_alone(self):
        _, report = run("race", "stop", "race", engine="collider", options=["--watchpoints", "no", "--compile", "launched"])
        self.assertEqual(report["coverage"]["launches"], {"checked": 1, "unchecked": 1, "stopped": 1})

    def test_report_so_far(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            path, other = os.path.join(folder, "r.json"), os.path.join(folder, "kept.json")
            child = subprocess.Popen(command("race", "report", "there", path, "line", "stop", "race", output=path), env=environment(), text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual([child.stdout.readline() for _ in range(2)], ["report 1\n", "there 1\n"])
            os.rename(path, other)
            child.stdin.write("x")
            child.stdin.close()
            child.stdout.read()
            self.assertEqual(child.wait(60), 66)
            with open(other, encoding="utf-8") as file:
                sofar = json.load(file)
            with open(path, encoding="utf-8") as file:
                whole = json.load(file)
            self.assertEqual(sofar["verdict"], "races")
            self.assertEqual(sofar["reasons"], ["the program is still running: this is what was found so far"])
            self.assertEqual(sofar["coverage"]["launches"], {"checked": 1, "unchecked": 0})
            self.assertEqual(whole["coverage"]["launches"], {"checked": 1, "unchecked": 1, "stopped": 1})
            self.assertEqual(whole["reasons"], [])
            self.assertEqual([r["id"] for r in sofar["races"]], [r["id"] for r in whole["races"]])
            child.stdout.close()
            child.stderr.close()

    def test_declared_order(self):
        unseen, declared = (run("stop", "race", "start", word)[1] for word in ("unseen", "declared"))
        self.assertEqual((unseen["verdict"], declared["verdict"]), ("clean", "clean"))
        remarks = ["\n".join(r["coverage"]["remarks"]) for r in (unseen, declared)]
        self.assertIn("gpurace saw nothing that orders the two threads", remarks[0])
        self.assertNotIn("gpurace saw nothing that orders the two threads", remarks[1])
        self.assertNotIn("declared", remarks[0])
        self.assertIn("order that the program declared: 2 (gpurace_acquire)", remarks[1])


class Signals(unittest.TestCase):
    def play(self, words, options, sig):
        """Sends the signal to gpurace when the program waits for a line."""
        child = subprocess.Popen(command(*words, options=options), env=environment(), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        said = ""
        self.assertEqual(child.stdout.readline(), "there 1\n")
        child.send_signal(sig)
        line = child.stderr.readline()
        while line and "checking" not in line and "the program is still running" not in line:
            line = child.stderr.readline()
        said += line
        child.stdin.write("x")
        child.stdin.close()
        out = child.stdout.read()
        said += child.stderr.read()
        status = child.wait(60)
        child.stdout.close()
        child.stderr.close()
        return status, out, said

    def report_of(self, out):
        return json.loads(out[out.rindex("\n{") + 1:])

    def test_toggle(self):
        status, out, said = self.play(["race", "there", ".", "line", "race"], ["--toggle-signal", "USR2"], signal.SIGUSR2)
        self.assertIn("gpurace: checking is stopped", said)
        self.assertEqual(status, 66)
        self.assertEqual(self.report_of(out)["coverage"]["launches"], {"checked": 1, "unchecked": 1, "stopped": 1})

    def test_begins_stopped(self):
        status, out, said = self.play(["race", "there", ".", "line", "race"], ["--toggle-signal", "USR1", "--stopped"], signal.SIGUSR1)
        self.assertIn("gpurace: checking is started", said)
        self.assertEqual(status, 66)
        self.assertEqual(launches(self.report_of(out)), {2})

    def test_other_signals_are_the_programs(self):
        child = subprocess.Popen(command("there", ".", "line", options=["--toggle-signal", "USR1"]), env=environment(), text=True, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdout.readline()
        child.send_signal(signal.SIGUSR2)
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, 128 + signal.SIGUSR2)

    def test_report(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            path = os.path.join(folder, "r.json")
            child = subprocess.Popen(command("race", "stop", "line", options=["--report-signal", "USR1"], output=path), env=environment(), text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(child.stdout.readline(), "stop 1\n")
            child.send_signal(signal.SIGUSR1)
            until = time.monotonic() + 30
            while not os.path.exists(path) and time.monotonic() < until:
                time.sleep(0.05)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["reasons"], ["the program is still running: this is what was found so far"])
            child.communicate("x", timeout=60)
            self.assertEqual(child.returncode, 66)

    def test_refused(self):
        for option in ("--stopped", "--toggle-signal=USR1"):
            done = subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", "collider", option, "--", PROGRAM, "race"], env=environment(),
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("checks all launches of a kernel", done.stderr)


class Header(unittest.TestCase):
    """The header alone, in C and in C++, with every warning."""

    def test_compiles(self):
        text = "#include <gpurace/gpurace.h>\nint main(void) { return gpurace_start() + gpurace_stop() + gpurace_report_now() + " \
               "gpurace_release(0) + gpurace_acquire(0); }\n"
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            for name, words in (("a.c", ["cc", "-std=c99"]), ("a.c", ["cc", "-std=c17", "-fno-pie", "-no-pie"]), ("a.cpp", ["c++", "-std=c++11"])):
                source, program = os.path.join(folder, name), os.path.join(folder, "a")
                with open(source, "w", encoding="utf-8") as file:
                    file.write(text)
                subprocess.run([*words, "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-I", INCLUDE, "-o", program, source, "-ldl"], check=True)
                self.assertEqual(subprocess.run([program], check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
