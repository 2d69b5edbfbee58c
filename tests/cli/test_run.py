#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace run` end to end above a driver that runs nothing (stub_driver.c): the ways to a driver, the ends of programs,
what is said about programs that cannot be run, and exit statuses. Usage: test_run.py GPURACE PROGRAM STUB_DIR SCHEMA MAKE_FATBIN"""
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

GPURACE, PROGRAM, STUB_DIR, SCHEMA, MAKE_FATBIN = sys.argv[1:6]


class Run:
    def __init__(self, test, *args, options=(), env=None, program=PROGRAM, stub=True, timeout=60, json_report=True):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            self.log_file, output = os.path.join(folder, "log"), os.path.join(folder, "report.json")
            environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
            environment["TMPDIR"] = folder
            if stub:
                environment.update(LD_LIBRARY_PATH=STUB_DIR, STUB_LOG=self.log_file)
            environment.update(env or {})
            command = [GPURACE, "run"]
            if json_report:
                command += ["--format", "json", "--output", output]
            command += list(options)
            if program:
                command += ["--", program, *args]
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=timeout, check=False)
            self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
            self.report = self.log = None
            if os.path.exists(output):
                with open(output, encoding="utf-8") as file:
                    self.report = json.load(file)
                self.validate()
            if os.path.exists(self.log_file):
                with open(self.log_file, encoding="utf-8") as file:
                    self.log = file.read()
            test.assertEqual([f for f in os.listdir(folder) if f.startswith("gpurace-")], [], "a file was left behind")

    def validate(self):
        try:
            import jsonschema
        except ImportError:
            return
        with open(SCHEMA, encoding="utf-8") as file:
            jsonschema.validate(self.report, json.load(file))

    @property
    def verdict(self):
        return self.report["verdict"] if self.report else f"no report: {self.status}: {self.stderr}"

    def reasons(self):
        return "\n".join(self.report["reasons"])


class WhichGpu(unittest.TestCase):
    """The GPU is known before the program runs, without a start of CUDA where NVML tells it."""

    def capability(self, nvml, visible, driver_asked):
        """What the program is told, "" where there is no GPU; stub_driver.c has 90."""
        env = {**({"STUB_NVML": nvml} if nvml is not None else {}), **({"CUDA_VISIBLE_DEVICES": visible} if visible is not None else {})}
        run = Run(self, "-c", "echo capability=$GPURACE_DEVICE_CC", program="sh", options=["--device", "gpu"], env=env)
        self.assertEqual("init" in (run.log or ""), driver_asked)
        self.assertIn(run.status, (0, 1), run.stderr)
        self.assertEqual("finds no GPU" in run.stderr, run.status == 1)
        return run.stdout.strip().removeprefix("capability=")

    def test_nvml_tells(self):
        for nvml, visible, capability in (("80", None, "80"), ("80 80", None, "80"), ("80 80", "1", "80"), ("80 80", " 1 ,0", "80"), ("80", "0,7", "80"),
                                          ("80", "", ""), ("80", "1", ""), ("80", "-1,0", "")):
            with self.subTest(nvml=nvml, visible=visible):
                self.assertEqual(self.capability(nvml, visible, False), capability)

    def test_the_driver_is_asked(self):
        for nvml, visible in (None, None), ("80 90", None), ("80 80m", None), ("80 80", "GPU-1"), ("80", "0x"), ("80 80", "0,0"), ("80 80", "0,MIG-1"):
            with self.subTest(nvml=nvml, visible=visible):
                self.assertEqual(self.capability(nvml, visible, True), "90")


class Routes(unittest.TestCase):
    """However a program finds the driver, its modules are rewritten and its races found."""

    def check(self, route, entry):
        run = Run(self, route, "race_it", "sync")
        self.assertEqual((run.verdict, run.status), ("races", 66), run.stderr)
        self.assertIn("module rewritten control __gr1_control", run.log)
        self.assertIn(f"{entry} race_it\n", run.log)
        race = run.report["races"][0]
        self.assertEqual((race["class"], race["kernel"], race["launch"], race["count"]), ("lost update", "race_it", 1, 1))
        self.assertEqual((race["expected"], race["seen"]), ("0x00000001", "0x00000002"))
        self.assertEqual(run.report["coverage"]["launches"], {"checked": 1, "unchecked": 0})
        self.assertEqual(run.report["device"], "gpu")

    def test_linked(self):
        self.check("link", "cuLaunchKernel")

    def test_dlsym(self):
        self.check("dlsym", "cuLaunchKernel")

    def test_get_proc_address(self):
        self.check("proc", "cuLaunchKernel")

    def test_per_thread_twin_goes_to_the_twin(self):
        self.check("ptsz", "cuLaunchKernel_ptsz")

    def test_container_with_a_driver_of_13(self):
        """Choosing PTX from a container asks which device is current: by the prototype that the injection was written for."""
        ptx = (".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry quiet()\n{\nret;\n}\n")
        with tempfile.TemporaryDirectory(prefix="test-run-") as folder:
            text, container = os.path.join(folder, "in.ptx"), os.path.join(folder, "in.fatbin")
            with open(text, "w", encoding="utf-8") as file:
                file.write(ptx)
            subprocess.run([MAKE_FATBIN, text, container, "80", ""], check=True)
            run = Run(self, "link", "quiet", "sync", container)
        self.assertEqual((run.status, run.stdout), (0, "launched: 0\n"), run.stderr)

    def test_large_modules_are_compiled_by_several_threads(self):
        """A container tells that to the compiler, with what the program tells it; an older driver gets the text."""
        large = ("\n.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry race_it(.param .u64 p)\n{\n.reg .b64 %a;\nld.param.u64 %a, [p];\n" +
                 "st.global.u32 [%a], 1;\n" * 400 + "ret;\n}\n")
        small = large.replace("st.global.u32 [%a], 1;\n", "", 390)
        with tempfile.TemporaryDirectory(prefix="test-run-") as folder:
            text, container = os.path.join(folder, "in.ptx"), os.path.join(folder, "in.fatbin")
            for ptx, version, options in ((large, "13000", "options -maxrregcount=32 --split-compile 0 \nload .version"),  # refused: then the text
                                          (large, "13000", "options -maxrregcount=32 --split-compile 0 \n"), (large, "12080", ""), (small, "13000", "")):
                with open(text, "w", encoding="utf-8") as file:
                    file.write(ptx)
                subprocess.run([MAKE_FATBIN, text, container, "80", "-maxrregcount=32"], check=True)
                run = Run(self, "link", "race_it", "sync", container, env={"STUB_VERSION": version, **({"STUB_NO_CONTAINER": "1"} if "load" in options else {})})
                self.assertEqual(run.verdict, "races", run.stderr)
                self.assertIn("module rewritten", run.log)
                self.assertEqual("options" in run.log, bool(options), run.log)
                self.assertIn(options, run.log)

    def test_clean_program_keeps_its_status(self):
        run = Run(self, "link", "quiet", "three")
        self.assertEqual((run.verdict, run.status), ("clean", 3), run.stderr)
        self.assertEqual(run.stdout, "launched: 0\n")

    def test_without_gpurace_the_program_is_the_same(self):
        done = subprocess.run([PROGRAM, "link", "quiet", "three"], env={"LD_LIBRARY_PATH": STUB_DIR}, check=False,
                              stdout=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stdout), (3, "launched: 0\n"))

    def test_records_that_cannot_be_registered_are_staged(self):
        run = Run(self, "link", "race_it", "sync", env={"STUB_NO_REGISTER": "1"})
        self.assertEqual(run.verdict, "races")
        self.assertIn("does not register the results file", "\n".join(run.report["coverage"]["remarks"]))

    def test_memory_of_two_processes_is_named(self):
        """Nobody hears of the other process. The collider notices what that process changes; the tracker does not."""
        run = Run(self, "link", "quiet", "share")
        self.assertEqual((run.verdict, run.status), ("clean", 0), run.stderr)
        self.assertIn("memory is shared with another process (cuIpcGetMemHandle): of what", "\n".join(run.report["coverage"]["remarks"]))
        run = Run(self, "link", "quiet", "share", options=["--engine", "tracker"])
        self.assertEqual(run.status, 0, run.stderr)
        self.assertIn("memory is shared with another process (cuIpcGetMemHandle), and what that process does with it is not seen", run.reasons())

    def test_engine_none_is_never_clean(self):
        run = Run(self, "link", "quiet", "sync", options=["--engine", "none"])
        self.assertEqual((run.verdict, run.status), ("inconclusive", 0))
        self.assertIn("module original", run.log)

    def test_many_launches(self):
        run = Run(self, "link", "quiet", "again")
        launches = {k["name"]: k["launches"] for k in run.report["coverage"]["kernels"]}
        self.assertEqual(launches, {"quiet": 70000, "bad": 0, "race_it": 0})

    def test_budget(self):
        """Launches take 21 times as long with all windows as with none."""
        run = Run(self, "link", "quiet", "again", options=["--budget", "2x"])
        said = [r for r in run.report["coverage"]["remarks"] if r.startswith("--budget")]
        found = re.fullmatch(r"--budget: (\d+) launches were measured; together they took ([\d.]+) times their own time, with ([\d.]+) % of their windows", said[0])
        self.assertTrue(found, said)
        launches, times, share = map(float, found.groups())
        self.assertGreater(launches, 69000)
        self.assertTrue(1.5 < times < 2 and 2 < share < 6, said)
        self.assertIn("--budget 2x", run.report["reproduce"])

    def test_failed_launch(self):
        run = Run(self, "link", "bad", "sync")
        self.assertEqual(run.verdict, "inconclusive")
        self.assertIn("a launch of bad failed with CUDA error 1", run.reasons())

    def test_kernel_filter(self):
        run = Run(self, "link", "quiet", "sync", options=["--kernel", "^race"])
        self.assertEqual(run.verdict, "inconclusive")
        self.assertIn("exclude every kernel that was launched", run.reasons())
        self.assertEqual(run.report["coverage"]["launches"], {"checked": 0, "unchecked": 1})
        self.assertIn("--kernel '^race'", run.report["reproduce"])


class Linking(unittest.TestCase):
    """Modules that the tracker rewrote are linked; where that fails, they are loaded as PTX."""

    def load(self, route="link", ptx=(), options=(), **env):
        run = Run(self, route, "quiet", "sync", *ptx, options=["--engine", "tracker", "--verbose", *options], env=env)
        self.assertEqual((run.status, run.stdout), (0, "launched: 0\n"), run.stderr)
        return run, [line for line in run.log.splitlines() if line.startswith(("link", "input", "unlinked", "context", "load ", "module "))]

    def test_linked(self):
        run, log = self.load()
        self.assertEqual(log, ["link registers 64", "input 1 options 0 registers 0", "unlinked", "load // linked",
                               "module rewritten control __gr1_control"])
        self.assertRegex(run.stderr, r"module module 1: linked in \d+\.\d\d s, with at most 64 registers for each thread")

    def test_refused_input(self):
        run, log = self.load(STUB_LINK="input")
        self.assertEqual(log[2:], ["unlinked", "load .version 8.0", "module rewritten control __gr1_control"])
        self.assertIn("module module 1 is not linked, but loaded as PTX: no inputs today", run.stderr)

    def test_refused_output(self):
        run, log = self.load(STUB_LINK="output")
        self.assertEqual(log[3:], ["load // linked", "load .version 8.0", "module rewritten control __gr1_control"])
        self.assertIn("module module 1 is loaded as PTX: the driver refused what it had linked (CUDA error 209)", run.stderr)

    def test_one_kernel(self):
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry quiet()\n{\nret;\n}\n")
            file.flush()
            _, log = self.load(ptx=[file.name])
        self.assertEqual(log, ["load .version 8.0", "module rewritten control __gr1_control"])

    def test_several_units_only(self):
        _, log = self.load(options=["--link", "units"])
        self.assertEqual(log, ["load .version 8.0", "module rewritten control __gr1_control"])

    def test_without_a_context(self):
        _, log = self.load(STUB_NO_CONTEXT="1")
        self.assertEqual(log[:7], ["context retain 0", "context push", "link registers 64", "input 1 options 0 registers 0", "unlinked",
                                   "context pop", "context release 0"])

    def test_devices_that_differ(self):
        _, log = self.load(STUB_UNLIKE_DEVICES="1")
        self.assertEqual(log, ["load .version 8.0", "module rewritten control __gr1_control"])

    def test_the_program_links(self):
        _, log = self.load("linker")
        self.assertEqual(log, ["link registers 0", "input 1 options 3 registers 64", "load // linked",
                               "module rewritten control __gr1_control"])

    def test_the_program_has_a_limit(self):
        _, log = self.load("limited")
        self.assertEqual(log[1], "input 1 options 3 registers 40")

    def test_collider_is_not_linked(self):
        run = Run(self, "link", "quiet", "sync")
        self.assertNotIn("link", run.log)


class Modules(unittest.TestCase):
    """What cannot be rewritten is loaded as it is, and named."""

    def load(self, ptx, kernel="quiet"):
        with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
            file.write(ptx if isinstance(ptx, bytes) else ptx.encode())
            file.flush()
            return Run(self, "link", kernel, "sync", file.name)

    def test_malformed_ptx_has_line_and_column(self):
        run = self.load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry quiet()\n{\nld.global [;\n}\n")
        self.assertEqual(run.verdict, "inconclusive")
        self.assertRegex(run.reasons(), r"kernel quiet was not checked: .*:6:\d+: ")
        self.assertIn("module original", run.log)

    def test_refused_by_the_driver(self):
        run = self.load("// REFUSE_REWRITTEN\n.version 8.0\n.target sm_80\n.address_size 64\n.global .u32 REFUSE_REWRITTEN;\n"
                        ".visible .entry quiet()\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nmov.u64 %rd1, REFUSE_REWRITTEN;\n"
                        "ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\nret;\n}\n")
        self.assertEqual(run.verdict, "inconclusive")
        self.assertIn("the driver refused its rewritten PTX (CUDA error 218)", run.reasons())

    def test_machine_code(self):
        run = self.load(b"\x7fELF" + bytes(14) + b"\xbe\0" + bytes(44))  # e_machine: EM_CUDA
        self.assertEqual(run.verdict, "inconclusive")
        self.assertIn("kernel quiet was not checked: it holds no PTX, only machine code (a cubin): see docs/just-in-time.md", run.reasons())
        self.assertIn("module original", run.log)
        self.assertEqual(run.report["coverage"]["modules"], {"checked": 0, "unchecked": 1})

    def kept(self, *texts):
        """A cubin as gpurace-ptxas and nvlink leave it, which keeps these texts."""
        with tempfile.TemporaryDirectory() as folder:
            containers = b""
            for text in texts:
                text_file, container = os.path.join(folder, "text"), os.path.join(folder, "container")
                with open(text_file, "w", encoding="utf-8") as file:
                    file.write(text)
                subprocess.run([MAKE_FATBIN, text_file, container, "80", ""], check=True)
                with open(container, "rb") as file:
                    containers += file.read()
        names = b"\0.shstrtab\0.gpurace.ptx\0".ljust(32, b"\0")
        sections = [(0, 0, 0, 0), (1, 3, 64, len(names)), (11, 1, 64 + len(names), len(containers))]
        header = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, 190, 1, 0, 0, 64 + len(names) + len(containers), 0, 64, 0, 0, 64,
                             len(sections), 1)
        return header + names + containers + b"".join(struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, size, 0, 0, 8, 0)
                                                      for name, kind, at, size in sections)

    def test_machine_code_that_keeps_its_ptx(self):
        ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry %s()\n{\nret;\n}\n"
        run = self.load(self.kept(ptx % "quiet"))
        self.assertEqual((run.verdict, run.report["coverage"]["modules"]), ("clean", {"checked": 1, "unchecked": 0}), run.stderr)
        self.assertIn("module rewritten", run.log)
        # Several units: the driver links them, rewritten. (What this driver links has one control variable.)
        run = self.load(self.kept(ptx % "quiet", ptx % "other"))
        self.assertEqual(run.report["coverage"]["modules"], {"checked": 2, "unchecked": 0}, run.stderr)
        lines = [line for line in run.log.splitlines() if line.startswith(("link", "input", "load "))]
        self.assertEqual(lines, ["link registers 0", "input 1 options 0 registers 0", "input 1 options 0 registers 0", "load // linked"])

    def test_no_ptx_at_all(self):
        run = self.load("this is no code")
        self.assertEqual(run.verdict, "inconclusive")


class Ends(unittest.TestCase):
    """However a program ends, its races are reported, and without races it is clean only if it ended well."""

    def check(self, how, status, reason, options=()):
        run = Run(self, "link", "race_it", how, options=options)
        self.assertEqual((run.verdict, run.status), ("races", 66), run.stderr)
        run = Run(self, "link", "quiet", how, options=options)
        self.assertEqual(run.verdict, "inconclusive", run.stderr)
        self.assertIn(reason, run.reasons())
        self.assertEqual(run.status, status)

    def test_crash(self):
        self.check("crash", 128 + signal.SIGSEGV, "the program was killed by signal 11")

    def test_end_without_waiting(self):
        self.check("return", 0, "1 launch had not finished when the program ended")

    def test_end_after_a_copy_of_rows(self):
        """A copy to the host is waited for, one on the device is not."""
        self.assertEqual(Run(self, "link", "quiet", "rows-host").verdict, "clean")
        self.check("rows-device", 0, "1 launch had not finished when the program ended")

    def test_exit_without_destructors(self):
        self.check("_exit", 0, "1 launch had not finished when the program ended")

    def test_exit_without_destructors_after_waiting(self):
        self.assertEqual(Run(self, "link", "quiet", "_exit-after").verdict, "clean")

    def test_hang_with_timeout(self):
        self.check("hang", 124, "the program was killed after 1 seconds (--timeout)", options=["--timeout", "1"])

    def test_fork(self):
        run = Run(self, "link", "quiet", "fork")
        self.assertEqual(run.verdict, "clean", run.stderr)

    def test_killed_from_outside(self):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "report.json")
            child = subprocess.Popen([GPURACE, "run", "--format", "json", "--output", output, "--", PROGRAM, "link",
                                      "race_it", "hang"], env=dict(os.environ, LD_LIBRARY_PATH=STUB_DIR), text=True,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(child.stdout.readline(), "launched: 0\n")
            time.sleep(0.2)
            child.send_signal(signal.SIGTERM)
            child.communicate(timeout=20)
            with open(output, encoding="utf-8") as file:
                report = json.load(file)
            self.assertEqual((report["verdict"], child.returncode), ("races", 66))
            self.assertIn("killed by signal 15", report["reasons"][0])


class Statuses(unittest.TestCase):
    def test_error_exitcode(self):
        self.assertEqual(Run(self, "link", "race_it", "sync", options=["--error-exitcode", "9"]).status, 9)

    def test_strict(self):
        self.assertEqual(Run(self, "link", "quiet", "return", options=["--strict"]).status, 67)
        self.assertEqual(Run(self, "link", "quiet", "sync", options=["--strict"]).status, 0)
        for words, status in ((["--strict", "yes"], 67), (["--strict=yes"], 67), (["--strict", "no"], 0), (["--strict", "auto"], 0), ([], 0)):
            self.assertEqual(Run(self, "link", "quiet", "return", options=words).status, status, words)
        self.assertEqual(Run(self, "link", "quiet", "return", options=["--strict", "no"], env={"GPURACE_OPTIONS": "strict"}).status, 0)

    def test_what_left_nothing_to_check_does_not_pass(self):
        for words in (["--kernel", "nosuch"], ["--not-kernel", "."], ["--file", "nosuch"]):
            run = Run(self, "link", "quiet", "sync", options=words)
            self.assertEqual((run.status, run.verdict, run.report["void"]), (67, "inconclusive", True))
            self.assertIn("nothing was checked", run.reasons())
            self.assertEqual(Run(self, "link", "quiet", "sync", options=[*words, "--strict", "no"]).status, 0)
            self.assertEqual(Run(self, "link", "quiet", "sync", options=[*words, "--strict"]).status, 67)

    def test_a_fault_does_not_pass(self):
        """Of a GPU the driver's error is all that there is."""
        for error, what in ((700, "illegal address"), (719, "unspecified launch failure"), (710, "assertion failed")):
            run = Run(self, "link", "quiet", "sync", env={"STUB_SYNC_ERROR": str(error)})
            self.assertEqual((run.verdict, run.report["void"], run.status), ("inconclusive", True, 67))
            self.assertIn(f"a kernel was stopped by the device: {what} (CUDA error {error}", run.reasons())
            self.assertEqual(len(run.report["coverage"]["faults"]), 1)
        run = Run(self, "link", "race_it", "sync", env={"STUB_SYNC_ERROR": "700"})
        self.assertEqual((run.verdict, run.status), ("races", 66))
        with tempfile.TemporaryDirectory() as folder:  # races that are known do not hide it
            known = os.path.join(folder, "known.json")
            with open(known, "w", encoding="utf-8") as file:
                json.dump(run.report, file)
            for error, status in (("700", 67), ("0", 0)):
                self.assertEqual(Run(self, "link", "race_it", "sync", options=["--baseline", known], env={"STUB_SYNC_ERROR": error}).status, status)
        run = Run(self, "link", "quiet", "sync", env={"STUB_SYNC_ERROR": "1"})
        self.assertNotIn("void", run.report)
        self.assertEqual(run.report["coverage"]["faults"], [])

    def test_options_from_the_environment(self):
        run = Run(self, "link", "quiet", "return", env={"GPURACE_OPTIONS": "strict seed=7"})
        self.assertEqual((run.status, run.report["seed"]), (67, 7))
        run = Run(self, "link", "quiet", "return", env={"GPURACE_OPTIONS": "seed=7"}, options=["--seed", "8"])
        self.assertEqual((run.status, run.report["seed"]), (0, 8))
        self.assertIn("--seed 8 -- ", run.report["reproduce"])

    def test_options_without_effect_are_named(self):
        run = Run(self, "link", "quiet", "sync", env={"GPURACE_OPTIONS": "jobs=4 seed=2"}, options=["--weak"])
        self.assertEqual([r for r in run.report["coverage"]["remarks"] if "no effect" in r],
                         ["--weak had no effect: the program ran on a GPU", "--jobs 4 had no effect: the program ran on a GPU"])

    def test_text_report(self):
        run = Run(self, "link", "race_it", "sync", json_report=False)
        self.assertIn("data race: lost update in kernel race_it", run.stderr)
        self.assertIn("gpurace: verdict: races (1)", run.stderr)
        self.assertIn(f"gpurace run --engine collider --device gpu --seed 1 -- {PROGRAM} link race_it sync", run.stderr)

    def test_same_report_every_time(self):
        runs = {Run(self, "link", "race_it", "sync", json_report=False).stderr for _ in range(3)}
        self.assertEqual(len(runs), 1)


class CommandLines(unittest.TestCase):
    """Each message about a command line or a program that makes no sense."""

    def refuse(self, status, message, *args, **kwargs):
        run = Run(self, *args, **kwargs)
        self.assertEqual(run.status, status, run.stderr)
        self.assertIn(message, run.stderr)

    def test_options(self):
        self.refuse(2, "unknown option '--fast'", program=None, options=["--fast"])
        self.refuse(2, "no program was given", program=None)
        self.refuse(2, "there is no engine 'fast'; `gpurace run --help` lists them", options=["--engine", "fast"])
        self.refuse(2, "GPURACE_OPTIONS: unknown option 'sed'", env={"GPURACE_OPTIONS": "sed=1"})

    def test_not_there(self):
        self.refuse(127, "./nowhere: No such file or directory", program="./nowhere")
        self.refuse(127, "nowhere: not found on PATH; a program in this folder is ./nowhere", program="nowhere")

    def test_not_executable(self):
        self.refuse(126, "Permission denied", program=SCHEMA)
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write("just text\n")
        os.chmod(file.name, 0o755)
        self.refuse(126, "is not an executable: neither an ELF program nor a script", program=file.name)
        os.unlink(file.name)

    def test_not_a_cuda_program(self):
        self.refuse(126, "/bin/true is not a CUDA program: it holds no device code and needs no CUDA library",
                    program="/bin/true")

    def test_carriers_run_and_are_not_clean(self):
        run = Run(self, "-c", "exit 5", program="sh")
        self.assertEqual((run.verdict, run.status), ("inconclusive", 5))
        self.assertTrue(run.reasons().startswith("the program did not use CUDA"), run.reasons())
        self.assertIn("could not get into the process", run.reasons())

    def test_carried_program(self):
        run = Run(self, "-c", f"{PROGRAM} link race_it sync; true", program="sh")
        self.assertEqual((run.verdict, run.status), ("races", 66))

    def test_gpu_that_is_not_there(self):
        self.refuse(1, "--device gpu: NVIDIA's driver (libcuda.so.1) finds no GPU", stub=False,
                    options=["--device", "gpu"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
