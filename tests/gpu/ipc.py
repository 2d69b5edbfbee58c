# SPDX-License-Identifier: Apache-2.0
"""Runs the two processes of shared_memory.cu, and says what each engine makes of them."""
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

import engines  # of tests/race
from machine import ROOT

PLACES = "arena"  # src/options/caps.def
MODES = {"racy": "at once", "fixed": "one after the other"}
APART, TOGETHER = "one gpurace run each", "one gpurace run of both"
SOURCE = ROOT / "tests/gpu/shared_memory.cu"
KERNEL = "own_stores"


@dataclass
class Result:
    says: str = ""
    problems: list = field(default_factory=list)
    reports: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    statuses: list = field(default_factory=list)


def lines_of_race():
    return {n for n, line in enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("// SIDE")}


def finish(process, timeout):
    try:
        text, _ = process.communicate(timeout=timeout)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            return None, process.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return None, "no end, not even by SIGTERM"


def run(setting, engine, how, mode, device="gpu"):
    """Both processes once: each under a gpurace run of its own, or both under one, or (engine None) without."""
    result = Result()
    program = setting.built.program("gpu-programs/devices/shared_memory")
    with tempfile.TemporaryDirectory(prefix="gpurace-gpu-") as folder:
        pipes = [os.path.join(folder, name) for name in ("down", "up")]
        for pipe in pipes:
            os.mkfifo(pipe)
        roles = [[program, role, *pipes, mode] for role in ("own", "open")]
        if how == TOGETHER and engine:
            roles = [["/bin/sh", "-c", f'"$0" open {pipes[0]} {pipes[1]} {mode} & "$0" own {pipes[0]} {pipes[1]} {mode}; s=$?; wait $! && exit $s', program]]
        outputs = [os.path.join(folder, f"{n}.json") for n in range(len(roles))]
        started = []
        for words, output in zip(roles, outputs):
            before = [setting.gpurace, "run", "--device", device, "--engine", engine, "--format", "json", "--output", output, "--"] if engine else []
            started.append(subprocess.Popen(before + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"))
        for process in started:
            status, text = finish(process, setting.timeout)
            result.texts.append(text)
            result.statuses.append(status)
        for output in outputs if engine else ():
            try:
                with open(output, encoding="utf-8") as file:
                    result.reports.append(json.load(file))
            except (OSError, ValueError) as error:
                result.problems.append(f"no report: {error}")
    if engine and PLACES in engines.load(setting.gpurace)[engine].can:
        judge_refusal(result)
    else:
        judge(result, engine, mode)
    return result


def judge_refusal(result):
    """An engine that places the program's memory cannot share it. The program gets CUDA's error for that, and the verdict says so."""
    reasons = [reason for report in result.reports for reason in report["reasons"]]
    if "cudaIpcGetMemHandle(&handle, data): cudaErrorNotSupported" not in "".join(result.texts) or not any(r.startswith("cuIpcGetMemHandle: ") for r in reasons):
        result.problems.append(f"not refused: {result.statuses}, {reasons}: {''.join(result.texts)[-800:]}")
    result.problems += [f"reported: {race['class']}" for report in result.reports for race in report["races"]]
    result.says = "refused: cudaErrorNotSupported, and the verdict names cuIpcGetMemHandle"


def judge(result, engine, mode):
    text = "".join(result.texts)
    result.problems += [f"exit status {status}: {said[-800:]}" for status, said in zip(result.statuses, result.texts) if status not in (0, 66)]
    races = [race for report in result.reports for race in report["races"]]
    met = "their stores met" if "saw the" in text else "their stores did not meet"
    if len(re.findall(r"PASS$", text, re.M)) != 2 and mode == "fixed":
        result.problems.append(f"does not print PASS twice: {text[-800:]}")
    if engine and mode == "fixed":
        result.problems += [f"reported: {race['class']}" for race in races]
        result.problems += [f"verdict {r['verdict']}: {r['reasons']}" for r in result.reports if r["verdict"] not in ("clean", "inconclusive")]
    lines = lines_of_race()
    result.problems += [f"reported at line {a['line']}: {race['class']}" for race in races for a in race["accesses"] if a["line"] not in lines]
    verdicts = " and ".join(sorted({r["verdict"] for r in result.reports}))
    reasons = sorted({reason for r in result.reports for reason in r.get("reasons", ())})
    if not engine:
        result.says = "both PASS" if mode == "fixed" else met
    else:
        result.says = verdicts + (f" ({'; '.join(reasons)[:300]})" if reasons else "") + ("" if mode == "fixed" else f", {met}")
