#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu.py where there is no GPU: it skips and says why; and the page that it writes."""
import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import gpu
import ipc
import machine
import page
import parts

import complete  # parts names the folder that this is in


def call(*words):
    """Exit status and output of gpu.py."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        status = gpu.main([str(word) for word in words])
    return status, text.getvalue()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpurace-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def with_smi(self, text):
        """A folder with an nvidia-smi that prints this, and a device file."""
        (self.folder / "nvidia-smi").write_text(f"#!/bin/sh\ncat <<'E'\n{text}\nE\n")
        (self.folder / "nvidia-smi").chmod(0o755)
        (self.folder / "device").touch()
        return mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"})


class Find(Case):
    def test_no_device_file(self):
        found = machine.find(str(self.folder / "device"))
        self.assertIn("no NVIDIA GPU: ", found.lacking)
        with mock.patch("machine.find", lambda: found):
            for words in ["--find"], ["all"], ["examples"]:
                self.assertEqual(call(*words), (77, f"skipped: {found.lacking}\n"))

    def test_no_gpu_named(self):
        with self.with_smi("No devices were found"):
            self.assertEqual(machine.find(str(self.folder / "device")).lacking, "nvidia-smi names no GPU")

    def test_gpus(self):
        row = "NVIDIA H100 80GB HBM3, 9.0, 580.159.04"
        with self.with_smi(f"{row}\n{row}"), mock.patch.dict(os.environ):
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            self.assertEqual(machine.find(str(self.folder / "device")).in_words(), "2 x NVIDIA H100 80GB HBM3 (sm_90), driver 580.159.04")
            os.environ["CUDA_VISIBLE_DEVICES"] = "1"
            self.assertEqual(machine.find(str(self.folder / "device")).gpus, ["NVIDIA H100 80GB HBM3 (sm_90)"])
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
            self.assertEqual(machine.find(str(self.folder / "device")).lacking, "CUDA_VISIBLE_DEVICES hides all GPUs")

    def test_a_program_sees_as_many_devices_as_it_wants(self):
        source, program = self.folder / "some.cu", self.folder / "some"
        source.write_text("// DEVICE: devices=3\n// OUTPUT: GPUs 5,2,7\n")
        program.write_text("#!/bin/sh\necho PASS\necho GPUs $CUDA_VISIBLE_DEVICES\n")
        program.chmod(0o755)
        with mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES="5,2,7,1"):
            self.assertEqual(complete.run("gpurace", complete.PLAIN, str(source), str(program), "gpu").problems, [])
        with mock.patch.dict(os.environ):
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            self.assertIn("GPUs 0,1,2", complete.run("gpurace", complete.PLAIN, str(source), str(program), "gpu").text)

    def test_nothing_built(self):
        with mock.patch("machine.find", lambda: machine.Machine(["GPU (sm_90)"], "1.0")):
            status, text = call("--gpurace", self.folder, "examples")
        self.assertEqual(status, 1)
        self.assertIn(f"{self.folder.resolve()}/gpurace does not run: build it", text)

    def test_mistakes(self):
        for words in ["nothing-such"], []:
            with self.assertRaises(SystemExit) as raised, contextlib.redirect_stderr(io.StringIO()):
                gpu.main(words)
            self.assertEqual(raised.exception.code, 2)


class Page(Case):
    MACHINE = {"gpus": "GPU", "toolkit": "CUDA 13.0", "processors": 16, "version": "0.1", "date": "2026-01-02"}

    def write(self, **results):
        for name, result in results.items():
            (self.folder / f"{name}.json").write_text(json.dumps(result))

    def update(self, text):
        file = self.folder / "page.md"
        file.write_text(text)
        status, said = call("--results", self.folder, "--page", file)
        return status, said, file.read_text()

    def test_table(self):
        self.write(machine=self.MACHINE, examples={"rows": [["a | b", "3 of 3"]], "problems": [], "skipped": ""}, devices={"rows": [], "problems": [], "skipped": "one GPU"},
                   corpus={"rows": [], "problems": ["wrong\nthere", "and here"], "skipped": ""})
        status, _, text = self.update(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
        self.assertEqual((status, text), (0, f"""before
{page.BEGIN}
GPU, CUDA 13.0, 16 processors; gpurace 0.1; 2026-01-02:

| what runs | what happened |
|---|---|
| a \\| b | 3 of 3 |
| corpus | **2 failures**; the first: wrong there |
| devices | not run: one GPU |
{page.END}
after
"""))

    def test_call(self):
        words = gpu.parse_args(["--jobs", "3", "--results", "x", "all", "soak"]).words
        self.assertEqual(words, "tests/gpu/gpu.py --jobs 3 all soak")
        self.assertEqual(gpu.parse_args(["--jobs", "3", "soak"]).words, "")
        self.write(machine=dict(self.MACHINE, call=words, seconds=9))
        self.assertIn("; 2026-01-02; in one call of 9 s, `tests/gpu/gpu.py --jobs 3 all soak`:\n", self.update(f"{page.BEGIN}\n{page.END}\n")[2])

    def test_page_is_left_alone(self):
        old = f"{page.BEGIN}\nold\n{page.END}\n"
        self.assertEqual(self.update(old)[::2], (1, old), "no results")
        self.write(machine=self.MACHINE)
        for text in "no marks\n", page.END + page.BEGIN, old + old, page.BEGIN:
            status, said, left = self.update(text)
            self.assertEqual((status, left), (1, text))
            self.assertIn("left as it is", said)

    def test_the_page_of_the_tree(self):
        text = (machine.ROOT / "docs/gpu.md").read_text(encoding="utf-8")
        self.assertEqual(page.replaced(page.replaced(text, "x"), "y"), page.replaced(text, "y"))


class Processes(unittest.TestCase):
    """What is wrong with a run of two processes is seen."""

    PASS = ["owner: PASS\n", "opener: PASS\n"]

    def judged(self, texts, engine, mode, statuses=(0, 0), races=(), verdict="clean", reasons=()):
        reports = [{"verdict": verdict, "races": [{"class": "lost update", "accesses": [{"line": line}]} for line in races], "reasons": list(reasons)}] if engine else []
        result = ipc.Result(texts=list(texts), statuses=list(statuses), reports=reports)
        if engine == "privatizer":
            ipc.judge_refusal(result)
        else:
            ipc.judge(result, engine, mode)
        return " ".join(result.problems)

    def test_right(self):
        side = min(ipc.lines_of_race())
        for engine, mode, races in (None, "fixed", ()), ("collider", "fixed", ()), ("collider", "racy", (side,)):
            self.assertEqual(self.judged(self.PASS, engine, mode, races=races), "")

    def test_wrong(self):
        side = min(ipc.lines_of_race())
        self.assertIn("does not print PASS twice", self.judged(["owner: FAIL\n", "opener: PASS\n"], None, "fixed"))
        self.assertIn("exit status 3", self.judged(self.PASS, None, "racy", statuses=(3, 0)))
        self.assertIn("exit status None", self.judged(self.PASS, "tracker", "racy", statuses=(None, 0)))
        self.assertIn("reported: lost update", self.judged(self.PASS, "collider", "fixed", races=(side,)))
        self.assertIn("reported at line 1", self.judged(self.PASS, "collider", "racy", races=(1,)))
        self.assertIn("verdict none", self.judged(self.PASS, "collider", "fixed", verdict="none"))

    def test_refusal(self):
        refused, because = ["cudaIpcGetMemHandle(&handle, data): cudaErrorNotSupported\n", "gone\n"], ["cuIpcGetMemHandle: this engine places it"]
        self.assertEqual(self.judged(refused, "privatizer", "racy", statuses=(3, 4), reasons=because), "")
        self.assertIn("not refused", self.judged(self.PASS, "privatizer", "racy", reasons=because))
        self.assertIn("not refused", self.judged(refused, "privatizer", "racy", statuses=(3, 4)))


class Parts(unittest.TestCase):
    def test_each_is_a_test(self):
        cmake = (machine.ROOT / "tests/gpu/CMakeLists.txt").read_text(encoding="utf-8")
        for name in parts.PARTS:
            self.assertIn(f'"{name} ', cmake)

    def corpus(self, programs):
        """What the part makes of a gpurace-corpus that prints this."""
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder, mock.patch("machine.Toolkit") as toolkit, mock.patch.dict(os.environ):
            toolkit.return_value.cudart.return_value = None
            setting = parts.Setting(gpu.parse_args(["--gpurace", folder, "corpus"]), machine.Machine(["GPU (sm_90)"], "1.0"))
            setting.call = lambda *command, **_: (0, "left out: x\n" + json.dumps({"programs": programs}, indent=1))
            outcome = parts.Outcome()
            parts.judged_corpus(setting, outcome, "title", "collider")
        return outcome

    def test_corpus(self):
        right = {"program": "a/right", "races": 1, "found": [1], "false": [], "errors": [], "twin_runs": 1}
        unsure = dict(right, program="a/unsure", errors=["seed 1: verdict 'inconclusive' with 0 races: []"])
        self.assertEqual(self.corpus([right]).problems, [])
        outcome = self.corpus([right, unsure])
        self.assertEqual(outcome.problems, [])
        self.assertIn("1 of them inconclusive (a/unsure)", outcome.rows[0][1])
        for wrong in dict(right, false=["lost update at 3"]), dict(right, errors=["seed 1: exit status 5"]), dict(unsure, errors=unsure["errors"] + ["seed 2: exit status 5"]):
            self.assertNotEqual(self.corpus([wrong]).problems, [])

    def test_twins(self):
        right = {"program": "a/x", "runs": parts.TWIN_RUNS, "false": [], "statuses": [0] * parts.TWIN_RUNS}
        judged = lambda rows, wanted=("a/x",): (o := parts.Outcome(), parts.judge_twins(o, wanted, rows, "title"))[0]
        self.assertEqual((judged([right]).problems, judged([right]).rows), ([], [("title", f"{parts.TWIN_RUNS} runs of 1 programs, {parts.TWIN_RUNS} in a process: all pass, nothing reported")]))
        parted = [dict(right, runs=1, statuses=[0]), dict(right, runs=parts.TWIN_RUNS - 1, statuses=[0])]
        self.assertEqual(judged(parted).problems, [])
        for wrong in [dict(right, false=["lost update at 3"])], [dict(right, statuses=[0, 1])], [dict(right, ended="status 1")], [dict(right, error="x")], parted[:1], []:
            outcome = judged(wrong)
            self.assertEqual(len(outcome.problems), 1, outcome.problems)
            self.assertIn("1 programs fail (a/x)", outcome.rows[0][1])

    def test_alone_or_together(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            built = machine.Built(Path(folder))
            alone, together = Path(folder, "complete-programs/x"), Path(folder, "complete-programs/tested/x")
            self.assertEqual(built.complete_program("x"), str(alone))
            together.parent.mkdir(parents=True)
            together.touch()
            self.assertEqual(built.complete_program("x"), str(together))
            alone.touch()
            self.assertEqual(built.complete_program("x"), str(alone))

    def soaked(self, seconds, *words, passes=1):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder, mock.patch("machine.Toolkit") as toolkit, mock.patch.dict(os.environ), mock.patch("truth.Run") as run:
            toolkit.return_value.cudart.return_value = None
            run.return_value.stdout = "PASS\n" * passes
            run.return_value.report.return_value = {"races": []}
            run.return_value.check.side_effect = lambda report, must_pass: [] if must_pass else ["no race"]
            setting = parts.Setting(gpu.parse_args(["--gpurace", folder, "--runs", "20", "--seconds", "1", *words, "soak"]), machine.Machine(["GPU (sm_90)"], "1.0"))
            setting.deadline += seconds
            return parts.soak(setting)

    def test_soak(self):
        outcome = self.soaked(1000)
        racy = sum(p.endswith("_race") for p in parts.SOAKED)
        self.assertEqual([row[1].rpartition(";")[0] for row in outcome.rows], [f"200 runs; {20 * racy} crash, hang or false report", f"20 runs; {2 * racy} crash, hang or false report"])
        self.assertEqual(len(outcome.problems), 22 * racy)
        outcome = self.soaked(-1000)
        self.assertTrue(outcome.rows[0][1].startswith("0 runs, of 200: time was up (--seconds)"), outcome.rows)
        self.assertEqual(len(outcome.problems), 2)

    def test_soak_together(self):
        racy = sum(p.endswith("_race") for p in parts.SOAKED)
        outcome = self.soaked(1000, "--together", "5", passes=5)
        self.assertEqual([row[1].rpartition(";")[0] for row in outcome.rows],
                         [f"200 runs in 40 processes; {4 * racy} crash, hang or false report", f"50 runs in 10 processes; {racy} crash, hang or false report"])
        outcome = self.soaked(1000, "--together", "5", passes=4)
        self.assertEqual(sum("4 of 5 runs print PASS" in p for p in outcome.problems), 5 * (len(parts.SOAKED) - racy))

    def test_programs_that_soak_are_there(self):
        for program in parts.SOAKED:
            name = program.rsplit("/", maxsplit=1)[1] + ".cu"
            folder = "examples" if program.startswith("examples") else "tests/complete"
            self.assertTrue((machine.ROOT / folder / name).exists(), program)


if __name__ == "__main__":
    unittest.main()
