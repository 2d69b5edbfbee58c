#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace run` end to end on the CPU device, with programs that nvcc built: what is said of programs that cannot be
checked, of kernels that fault, and of programs that end badly. Usage: test_device.py GPURACE PROGRAMS SOURCE SCHEMA"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAMS, SOURCE, SCHEMA = sys.argv[1:5]


def line_of(label):
    with open(SOURCE, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if f"// {label}" in line)


def run(program, *args, options=(), env=None):
    """Exit status, report (None without one), standard output, standard error."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report.json")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
        environment.update(env or {})
        command = [GPURACE, "run", "--device", "cpu", "--format", "json", "--output", output, *options, "--",
                   os.path.join(PROGRAMS, program), *args]
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=100, check=False)
        report = None
        if os.path.exists(output):
            with open(output, encoding="utf-8") as file:
                report = json.load(file)
            try:
                import jsonschema

                with open(SCHEMA, encoding="utf-8") as file:
                    jsonschema.validate(report, json.load(file))
            except ImportError:
                pass
        return done.returncode, report, done.stdout, done.stderr


class Programs(unittest.TestCase):
    """What cannot be checked is refused or named, with what to do about it."""

    def test_static_runtime(self):
        status, report, _, err = run("ends_static", "quiet", "sync")
        self.assertEqual((status, report), (126, None))
        self.assertIn("ends_static has NVIDIA's static CUDA runtime in it", err)
        self.assertIn("relink with: nvcc -cudart shared", err)

    def test_static_runtime_of_a_carried_program(self):
        # As with a library that has one inside, like cuBLAS: the program sees a status only, so the report says what it means.
        status, report, out, _ = run("/usr/bin/env", os.path.join(PROGRAMS, "ends_static"), "quiet", "sync")
        self.assertEqual((status, report["verdict"]), (11, "inconclusive"), out)
        self.assertIn("ends_static uses its own CUDA runtime, which does not work over the CPU device: its calls fail",
                      report["reasons"])

    def test_unsupported_before_anything_else(self):
        status, report, out, _ = run("ends", "quiet", "unsupported")
        self.assertEqual((status, out.splitlines()[0], report["verdict"]), (0, "cudaErrorNotSupported", "inconclusive"))
        self.assertIn("cudaMallocArray is not supported on this device, and the program called it", report["reasons"])

    def test_why_no_cuda_was_used(self):
        def reasons(*command):
            report = run(*command)[1]
            self.assertEqual(report["reasons"][0], "the program did not use CUDA")
            return report["reasons"][1]

        self.assertIn("if CUDA was used after all, gpurace could not get into", reasons("/usr/bin/env", "-i", "/bin/true"))
        if os.getuid() == 0:
            with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
                os.chmod(folder, 0o755)
                shell = shutil.copy("/bin/sh", os.path.join(folder, "sh"))
                os.chown(shell, 65534, -1)
                os.chmod(shell, 0o4755)
                self.assertIn("sh is set-user-ID, so the loader ignores LD_PRELOAD", reasons(shell, "-c", "true"))

    def test_machine_code_only(self):
        status, report, _, err = run("ends_cubin", "quiet", "sync")
        self.assertIn("holds machine code for sm_90 only and no PTX", err)
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertIn("it holds no PTX for this device, only machine code for sm_90", "\n".join(report["reasons"]))
        self.assertEqual(status, 0)  # the program's own: it looks at no launch error

    def test_code_for_a_later_gpu(self):
        status, report, _, _ = run("ends_later", "racy", "sync")
        self.assertEqual((status, report["verdict"]), (0, "inconclusive")) # it looks at no launch error
        self.assertIn("it holds no PTX for this device, only machine code for sm_100, PTX for sm_100; --cpu-arch 100 makes the device take it",
                      "\n".join(report["reasons"]))
        for engine in "exact", "collider", "tracker", "privatizer":
            status, report, out, _ = run("ends_later", "racy", "sync", options=["--cpu-arch", "100", "--engine", engine])
            self.assertEqual((engine, status, out, report["verdict"]), (engine, 66, "cudaSuccess\n", "races"))
            self.assertIn(" --cpu-arch 100 ", report["reproduce"])

    def test_separate_compilation(self):
        status, report, out, _ = run("ends_rdc", "racy", "sync")
        self.assertEqual((status, out, report["verdict"]), (66, "cudaSuccess\n", "races"))

    def test_debug_build(self):
        status, report, _, _ = run("ends_debug", "counted", "sync")
        self.assertEqual((status, report["verdict"]), (66, "races"))
        self.assertEqual({a["line"] for race in report["races"] for a in race["accesses"]}, {line_of("READS"), None})
        done = subprocess.run([GPURACE, "run", "--", os.path.join(PROGRAMS, "ends_debug"), "counted", "sync"], capture_output=True, text=True, timeout=100, check=False)
        self.assertRegex(done.stderr, r"PTX line \d+ \(this function has no source lines; -lineinfo or -G gives them to your own\)\s+in \w*Atomic")

    def test_without_line_information(self):
        status, report, _, _ = run("ends_plain", "racy", "sync")
        self.assertEqual((status, report["verdict"]), (66, "races"))
        for race in report["races"]:
            self.assertIsNone(race["accesses"][0]["line"])
            self.assertGreater(race["accesses"][0]["ptx_line"], 0)


class Faults(unittest.TestCase):
    """A kernel that the device stops: CUDA's error for the program, the place for the user, and no clean verdict."""

    def check(self, kernel, error, kind, label=None, options=()):
        status, report, out, err = run("ends", kernel, "sync", options=["--engine", "collider", *options])
        self.assertEqual(out, f"{error}\n", err)
        self.assertEqual((status, report["verdict"], report["void"]), (67, "inconclusive", True), report)
        fault = report["coverage"]["faults"][0]
        self.assertIn(f"kernel {kernel}(int", fault)
        self.assertIn(kind, fault)
        if label:
            self.assertIn(f"{os.path.basename(SOURCE)}:{line_of(label)}:", fault)

    def test_out_of_bounds(self):
        self.check("out_of_bounds", "cudaErrorIllegalAddress", "illegal address", "OUT OF BOUNDS")

    def test_assertion(self):
        # CUDA's own words, printed by the program.
        for options in (["--engine", "none"], ["--engine", "collider"], ["--engine", "exact"], ["--engine", "collider+exact"],
                        ["--engine", "none", "--weak"], ["--engine", "none", "--jobs", "2"]):
            status, report, out, err = run("ends", "asserts", "sync", options=options)
            self.assertEqual((status, out, report["verdict"]), (67, "cudaErrorAssert\n", "inconclusive"), options)
            self.assertRegex(err, re.escape(f"{SOURCE}:{line_of('ASSERTS')}: void asserts(int *): block: [0,0,0], thread: [")
                             + r"\d+,0,0\] Assertion `p\[threadIdx.x\] != 0` failed.\n")

    def test_strict_no_leaves_the_program_its_status(self):
        self.assertEqual(run("ends", "misaligned", "sync", options=["--engine", "collider", "--strict", "no"])[0], 1)

    def test_misaligned(self):
        self.check("misaligned", "cudaErrorMisalignedAddress", "misaligned address", "MISALIGNED")

    def test_stack_overflow(self):
        self.check("stack_overflow", "cudaErrorLaunchFailure", "stack overflow")

    def test_watchdog(self):
        self.check("endless", "cudaErrorLaunchTimeout", "timeout", options=["--watchdog", "1"])

    def test_barrier_that_not_all_reach(self):
        self.check("barrier", "cudaErrorLaunchTimeout", "", options=["--watchdog", "1"])


class Ends(unittest.TestCase):
    """However a program ends, its races are reported, and without races it is clean only if it ended well."""

    def check(self, end, status, reason, options=()):
        got, report, _, err = run("ends", "racy", end, options=options)
        self.assertEqual((got, report["verdict"]), (66, "races"), err)
        self.assertEqual({r["accesses"][0]["line"] for r in report["races"]}, {line_of("RACE")})
        got, report, _, err = run("ends", "quiet", end, options=options)
        self.assertEqual((got, report["verdict"]), (status, "inconclusive" if reason else "clean"), report["reasons"])
        self.assertIn(reason, "\n".join(report["reasons"]))

    def test_sync(self):
        self.check("sync", 0, "")

    def test_crash(self):
        self.check("crash", 128 + signal.SIGSEGV, "killed by signal 11")

    def test_abort(self):
        self.check("abort", 128 + signal.SIGABRT, "killed by signal 6")

    def test_kill(self):
        self.check("kill", 128 + signal.SIGKILL, "killed by signal 9")

    def test_exit_without_destructors(self):
        self.check("_exit", 4, "")

    def test_fork(self):
        self.check("fork", 0, "")

    def test_hang(self):
        self.check("hang", 124, "killed after 2 seconds (--timeout)", options=["--timeout", "2"])

    def test_end_inside_a_kernel(self):
        # A short kernel may have ended by then, or not: what was not seen is named, what was is reported.
        status, report, _, _ = run("ends", "endless", "return")
        self.assertEqual((status, report["verdict"]), (0, "inconclusive"), report["reasons"])
        self.assertIn("1 launch had not finished when the program ended", report["reasons"])

    def test_threads(self):
        for seed in range(3):
            status, report, _, err = run("ends", "quiet", "threads", options=["--seed", str(seed)])
            self.assertEqual((status, report["verdict"]), (0, "clean"), report["reasons"])
            self.assertEqual(report["coverage"]["launches"], {"checked": 201, "unchecked": 0})

    def test_children(self):
        status, report, _, _ = run("ends", "quiet", "children")
        self.assertEqual((status, report["verdict"]), (66, "races"))
        self.assertIn("1 process that used CUDA did not end in an orderly way", report["reasons"])
        self.assertEqual(report["coverage"]["launches"]["checked"], 3)


class Reports(unittest.TestCase):
    def test_same_seed_same_report(self):
        reports = [run("ends", "racy", "sync", options=["--seed", "5"])[1] for _ in range(3)]
        self.assertEqual(reports[0], reports[1])
        self.assertEqual(reports[0], reports[2])

    def test_reproduce_repeats(self):
        _, report, _, _ = run("ends", "racy", "sync", options=["--engine", "collider", "--seed", "6", "--read-delay", "100"])
        self.assertTrue(report["reproduce"].startswith("gpurace run --engine collider --device cpu --seed 6 --read-delay 100 -- "))
        _, again, _, _ = run("ends", "racy", "sync", env={"GPURACE_OPTIONS": "engine=collider seed=6 read-delay=100"})
        self.assertEqual(report, again)

    def test_causality_is_the_default(self):
        _, report, _, _ = run("ends", "racy", "sync")
        self.assertEqual(report["engine"], "exact")
        self.assertTrue(report["reproduce"].startswith("gpurace run --engine exact --device cpu --seed 1 -- "))
        for race in report["races"]:
            for access in race["accesses"]:
                self.assertIn(f"{os.path.basename(access['file'])}:{access['line']}", race["sentence"])
            self.assertTrue(race["sentence"].endswith("; " + race["missing_order"]))
        _, again, _, _ = run("ends", "racy", "sync", options=["--engine", "auto"])
        self.assertEqual(report, again)

    def test_stop_at_the_first_race(self):
        status, report, out, _ = run("ends", "racy", "sync", options=["--engine", "collider", "--stop"])
        self.assertEqual((status, report["verdict"]), (66, "races"))
        self.assertNotEqual(out, "cudaSuccess\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
