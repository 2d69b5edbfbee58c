#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What other tools use of gpurace: test_integrations.py GPURACE ROOT [EXAMPLES] [TESTS of unittest]

The manual, the completion of shells, the lint of suppressions; with EXAMPLES (built programs) also the module of CMake, the fixture for pytest
and the GitHub Action, on the CPU device."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GPURACE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
del sys.argv[1:3]
EXAMPLES = None
if sys.argv[1:] and pathlib.Path(sys.argv[1]).is_dir():
    EXAMPLES = pathlib.Path(sys.argv.pop(1)).absolute()
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("GPURACE", "GITHUB", "RUNNER"))}


def call(*words, **how):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, **{"env": ENVIRONMENT, **how})


def commands():
    return re.findall(r"^  (\w+) ", call(GPURACE, "help").stdout, re.M)


def options(command):
    return set(re.findall(r"^  (--[\w-]+)", call(GPURACE, command, "--help").stdout, re.M))


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="test-integrations-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def ok(self, done, status=0):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout


class Manual(Case):
    def test_each_command_has_a_page(self):
        self.ok(call(GPURACE, "manual", "--all", str(self.folder)))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(["gpurace.1"] + [f"gpurace-{c}.1" for c in commands()]))
        overview = (self.folder / "gpurace.1").read_text()
        for command in commands():
            self.assertIn(f"\\fB{command}\\fR", overview)
            page = (self.folder / f"gpurace-{command}.1").read_text()
            self.assertEqual(self.ok(call(GPURACE, "manual", command)), page)
            for option in options(command):
                self.assertRegex(page, "(?m)" + re.escape(option.replace("-", "\\-")) + r"(?!\w|\\-)", f"{command} {option}")
        self.assertIn("\\fB\\-\\-read\\-delay\\fR", (self.folder / "gpurace-campaign.1").read_text(), "a campaign takes the options of its runs")

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_roff_has_no_complaints(self):
        self.ok(call(GPURACE, "manual", "--all", str(self.folder)))
        for page in sorted(self.folder.iterdir()):
            done = call("groff", "-man", "-ww", "-Tutf8", "-K", "utf8", "-z", str(page))
            self.assertEqual(done.stderr, "", page.name)

    def test_command_lines(self):
        self.ok(call(GPURACE, "manual", "--help"))
        for words in (["nothing"], ["run", "check"], ["--all"]):
            self.assertIn("usage: gpurace manual", call(GPURACE, "manual", *words).stderr)
            self.ok(call(GPURACE, "manual", *words), 2)
        self.assertIn("cannot", call(GPURACE, "manual", "--all", "/nowhere").stderr)


class Completion(Case):
    def complete(self, *words):
        """What bash offers for the last of the words."""
        script = self.folder / "gpurace.bash"
        script.write_text(self.ok(call(GPURACE, "completion", "bash")))
        ask = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpurace; printf "%s\\n" "${{COMPREPLY[@]}}"'
        return set(self.ok(call("bash", "-c", ask, "bash", *words)).split())

    def test_bash(self):
        self.assertEqual(self.complete("gpurace", ""), set(commands()) | {"--help", "--version"})
        self.assertEqual(self.complete("gpurace", "ca"), {"campaign"})
        self.assertEqual(self.complete("gpurace", "run", "--"), options("run") | {"--help"})
        self.assertTrue({"--seeds", "--read-delay", "--jobs"} <= self.complete("gpurace", "campaign", "--"))
        self.assertEqual(self.complete("gpurace", "run", "--device", ""), {"auto", "cpu", "gpu"})
        self.assertEqual(self.complete("gpurace", "run", "--seed", "7", "--schedule", "r"), {"rr", "random"})
        self.assertEqual(self.complete("gpurace", "run", "--same-value", ""), {"yes", "no"})
        for words in (["run", "--output", ""], ["run", "--", "./app", "--"], ["run", ""]):
            self.assertEqual(self.complete("gpurace", *words), set(), "file names are bash's own")

    def test_other_shells(self):
        for shell in ("zsh", "fish"):
            script = self.folder / shell
            script.write_text(self.ok(call(GPURACE, "completion", shell)))
            for command in commands():
                self.assertIn(command, script.read_text())
            for option in options("run"):
                self.assertIn(option if shell == "zsh" else f"-l {option[2:]} ", script.read_text())
            if shutil.which(shell):
                self.assertEqual(self.ok(call(shell, "-n", str(script))), "")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        ask = f"{GPURACE} completion fish | source; complete -C 'gpurace run --device '"
        self.assertEqual({line.split("\t")[0] for line in self.ok(call("fish", "-c", ask)).splitlines()}, {"auto", "cpu", "gpu"})

    def test_command_lines(self):
        self.ok(call(GPURACE, "completion", "--help"))
        for words in ([], ["tcsh"], ["bash", "zsh"]):
            self.ok(call(GPURACE, "completion", *words), 2)


class Suppressions(Case):
    RULES = """# bug 12: a counter that may be off
race:update_progress
kernel:progress

race:no_reason
# all of it
file:*
race:ab

# bug 13
file:.cuh$
file:third_party/x.cuh
# bug 14
pair:a.cu:1 b.cu:2
pair:a.cu:1 b.cu:2
"""

    def lint(self, text, *reports, status=3):
        rules = self.folder / "rules.supp"
        rules.write_text(text)
        printed = self.ok(call(GPURACE, "suppressions", str(rules), *map(str, reports)), status)
        found = [re.fullmatch(re.escape(str(rules)) + r":(\d+): (\w+:.+): (no reason|too broad|old form|hides nothing more|unused): .+", line)
                 for line in printed.splitlines()]
        self.assertNotIn(None, found, printed)
        self.assertEqual([m[2] for m in found], [text.splitlines()[int(m[1]) - 1] for m in found])
        return [f"{m[1]} {m[3]}" for m in found]

    def test_rules_alone(self):
        self.assertEqual(self.lint(self.RULES), ["5 no reason", "7 too broad", "8 too broad", "11 too broad", "15 hides nothing more"])
        self.assertEqual(self.lint("# bug 1\nrace:scan_kernel\n", status=0), [])
        self.assertEqual(self.lint("# bug 1\nrace:scan*\nkernel:scan_kernel\nrace:^scan_kernel$\n"), ["4 hides nothing more"])
        self.assertEqual(self.lint("", status=0), [])

    def test_what_hides_others(self):
        for rule in ("module:*", "race:main", "race:*step*", "kernel:*a_kernel*", "file:scan", "race:*"):
            self.assertEqual(self.lint(f"# bug 1\n{rule}\n"), ["2 too broad"], rule)
        for rule in ("race:domain_step", "race:step_*", "file:scan.cu", "sides:read-write-race/global a.cu:1 b.cu:2"):
            self.assertEqual(self.lint(f"# bug 1\n{rule}\n", status=0), [], rule)

    def test_parts_of_names(self):
        """What matched the beginning or the end of a name until names were compared as a whole."""
        for rule, says in (("race:^scan", ["2 old form"]), ("kernel:scan$", ["2 old form"]), ("race:^scan$", []), ("race:scan*", []), ("file:^src/scan", [])):
            self.assertEqual(self.lint(f"# bug 1\n{rule}\n", status=3 if says else 0), says, rule)

    def test_sources(self):
        source = self.folder / "x.cu"
        source.write_text("a++; // gpurace: ok\n// gpurace: ok because\n/* gpurace: ok */\n")
        printed = self.ok(call(GPURACE, "suppressions", str(source)), 3)
        self.assertEqual([line.split(": ")[0] for line in printed.splitlines()], [f"{source}:1", f"{source}:3"])
        self.assertIn("no reason", printed)
        source.write_text("// gpurace: ok because\n")
        self.ok(call(GPURACE, "suppressions", str(source)))
        self.ok(call(GPURACE, "suppressions", str(self.folder / "none.cu")), 1)

    def test_command_lines(self):
        self.ok(call(GPURACE, "suppressions"), 2)
        self.ok(call(GPURACE, "suppressions", "--help"))
        self.ok(call(GPURACE, "suppressions", "/nowhere"), 2)
        self.assertIn("a rule begins with", (self.folder / "bad").write_text("what\n") and call(GPURACE, "suppressions", str(self.folder / "bad")).stderr)

    @unittest.skipUnless(EXAMPLES, "no programs were built")
    def test_unused(self):
        rules = self.folder / "rules.supp"
        text = "# bug 1\nfile:worklist_race.cu\n# bug 2\nrace:of_long_ago\n"
        rules.write_text(text)
        for seed in (1, 2):
            self.ok(call(GPURACE, "run", "--device", "cpu", "--seed", str(seed), "--suppressions", str(rules), "--format", "json", "--output",
                         str(self.folder / f"{seed}.json"), "--", str(EXAMPLES / "worklist_race")))
        reports = self.folder / "1.json", self.folder / "2.json"
        self.assertEqual(self.lint(text, *reports), ["4 unused"])
        printed = call(GPURACE, "suppressions", str(rules), *map(str, reports)).stdout
        self.assertEqual(printed, f"{rules}:4: race:of_long_ago: unused: it hid no race in 2 reports; names are compared as a whole (*NAME* is any "
                         "that has NAME in it)\n")
        self.ok(call(GPURACE, "suppressions", str(rules), str(rules)), 1)


@unittest.skipUnless(EXAMPLES, "no programs were built")
class Tests(Case):
    def test_cmake(self):
        """A project of its own, in which racy programs fail and repaired ones pass."""
        cmake, ctest = shutil.which("cmake"), shutil.which("ctest")
        (self.folder / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES NONE)
find_package(gpurace REQUIRED)
enable_testing()
foreach(which race fixed)
  gpurace_add_test(NAME one.${{which}} COMMAND {EXAMPLES}/worklist_${{which}} word OPTIONS --device cpu --seed 3 LABELS slow)
  gpurace_add_test(NAME many.${{which}} COMMAND {EXAMPLES}/worklist_${{which}} SEEDS 1..3 OPTIONS --device cpu --engines exact,collider)
endforeach()
gpurace_add_test(NAME unchecked COMMAND env true OPTIONS --device cpu)
gpurace_add_test(NAME unchecked.auto COMMAND env true STRICT auto OPTIONS --device cpu)
gpurace_add_test(NAME unchecked.no COMMAND {EXAMPLES}/worklist_fixed STRICT no OPTIONS --device cpu --kernel nosuch)
add_executable(app IMPORTED)
set_target_properties(app PROPERTIES IMPORTED_LOCATION {EXAMPLES}/worklist_race CROSSCOMPILING_EMULATOR "${{GPURACE_LAUNCHER}}")
add_test(NAME launched COMMAND app)
set_tests_properties(launched PROPERTIES ENVIRONMENT GPURACE_OPTIONS=device=cpu)
""")
        build = self.folder / "build"
        self.ok(call(cmake, "-S", str(self.folder), "-B", str(build), f"-Dgpurace_DIR={ROOT}/integrations", f"-DGPURACE_EXECUTABLE={GPURACE}"))
        for _ in range(2):  # a second time, with the folders of the first
            done = call(ctest, "--test-dir", str(build), "--output-on-failure")
            passed = set(re.findall(r"Test +#\d+: (\S+) \.+ +Passed", done.stdout))
            failed = set(re.findall(r"Test +#\d+: (\S+) \.+\*\*\*Failed", done.stdout))
            self.assertEqual(passed, {"one.fixed", "many.fixed", "unchecked.auto", "unchecked.no"}, done.stdout)
            self.assertEqual(failed - {"launched"}, {"one.race", "many.race", "unchecked"}, done.stdout)
            self.assertIn("launched", failed, "the launcher is before the program")
        report = json.loads((build / "gpurace/many.race/report.json").read_text())
        self.assertEqual(len(report["runs"]), 6)
        labels = call(ctest, "--test-dir", str(build), "-N", "-L", "^gpurace$").stdout
        self.assertIn("Total Tests: 7", labels)
        (self.folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES NONE)\n"
                                                    "find_package(gpurace REQUIRED)\ngpurace_add_test(NAME x)\n")
        self.assertIn("NAME and COMMAND are needed", call(cmake, "-S", str(self.folder), "-B", str(build)).stderr)

    def test_pytest(self):
        """The fixture of docs/integrations.md, as it stands there."""
        if call(sys.executable, "-m", "pytest", "--version").returncode:
            self.skipTest("pytest is not installed")
        fixture = re.search(r"```python\n(.*?)```", (ROOT / "docs/integrations.md").read_text(), re.S)[1]
        (self.folder / "conftest.py").write_text(fixture)
        (self.folder / "test_it.py").write_text(f"""
def test_clean(gpurace):
    assert gpurace("{EXAMPLES}/worklist_fixed", options=["--device", "cpu"]).returncode == 0


def test_racy(gpurace):
    gpurace("{EXAMPLES}/worklist_race", options=["--device", "cpu", "--seed", "7"])


def test_unchecked(gpurace):
    gpurace("env", "true", options=["--device", "cpu"])


def test_unchecked_may_be(gpurace):
    assert gpurace("{EXAMPLES}/worklist_fixed", options=["--device", "cpu", "--kernel", "nosuch"], strict=False).returncode == 0


def test_none(gpurace):
    gpurace("./nowhere", options=["--device", "cpu"])
""")
        path = f"{os.path.dirname(GPURACE)}:{os.environ['PATH']}"
        done = call(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(self.folder), env=ENVIRONMENT | {"PATH": path})
        self.assertIn("3 failed, 2 passed", done.stdout)
        for words in ("gpurace: races\n", "worklist_race.cu:", "again: gpurace run --engine exact --device cpu --seed 7", "gpurace: inconclusive",
                      "the program did not use CUDA", "gpurace could not run ./nowhere"):
            self.assertIn(words, done.stdout)

    def action(self, program, **inputs):
        environment = ENVIRONMENT | {"GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(self.folder / "output"), "RUNNER_TEMP": str(self.folder),
                                     "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "GPURACE_COMMAND": GPURACE, "GPURACE_PROGRAM": program}
        done = call(str(ROOT / "integrations/action.sh"), env=environment | inputs, cwd=self.folder)
        return done, dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())

    def test_action(self):
        done, outputs = self.action(f"{EXAMPLES}/worklist_race 'two words'", GPURACE_WORDS="--device cpu")
        self.ok(done, 66)
        self.assertIn("::error ", done.stdout)
        self.assertEqual(outputs["status"], "66")
        sarif = json.loads(pathlib.Path(outputs["sarif"]).read_text())
        self.assertTrue(sarif["runs"][0]["results"])
        report = json.loads((pathlib.Path(outputs["folder"]) / "report.json").read_text())
        self.assertTrue(report["reproduce"].endswith("worklist_race 'two words'"), report["reproduce"])
        self.assertIn("verdict: races", (self.folder / "summary").read_text())
        done, outputs = self.action(f"{EXAMPLES}/worklist_fixed", GPURACE_WORDS="--device cpu", GPURACE_SEEDS="1..3")
        self.ok(done)
        self.assertEqual(outputs["status"], "0")
        self.assertEqual(len(json.loads((pathlib.Path(outputs["folder"]) / "report.json").read_text())["runs"]), 3)

    def test_action_is_strict(self):
        for strict, status in (({}, 67), ({"GPURACE_STRICT": "auto"}, 0)):
            self.ok(self.action("env true", GPURACE_WORDS="--device cpu", **strict)[0], status)

    def test_action_file(self):
        """Each input gets to the script, and each output comes from it."""
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        step = action["runs"]["steps"][-1]
        self.assertEqual({f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}, set(step["env"].values()))
        script = (ROOT / "integrations/action.sh").read_text()
        for name in step["env"]:
            self.assertIn(name, script)
        for name, output in action["outputs"].items():
            self.assertEqual(output["value"], f"${{{{ steps.{step['id']}.outputs.{name} }}}}")
            self.assertIn(f"{name}=%s", script)
        self.assertEqual(action["runs"]["using"], "composite")
        self.assertTrue(all(s["shell"] == "bash" for s in action["runs"]["steps"]), "which composite steps must say")


unittest.main()
