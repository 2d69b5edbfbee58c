# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of whole programs share: a run whose time and memory are measured, medians over runs that take turns, tables in docs.

A machine that slows down slows all variants that run in turn, so a benchmark gives the median of the rounds' ratios, not a ratio of medians.
"""
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

median, geomean = statistics.median, statistics.geometric_mean


class Failed(Exception):
    pass


def words_of(text, word):
    """What the lines `// WORD: ...` of a program's source say."""
    return re.findall(rf"^// {word}: (.*)", text, re.M)


def run(gpurace, program, text, options, longest=0):
    """A run of `program`, whose source is `text`, under `gpurace run --device cpu OPTIONS`.

    Milliseconds of processor time of the device's kernels, of all its work, and of the process tree; milliseconds that passed; KiB resident at most;
    the report, its verdict ("none" without a report), the lines that say PASS, the exit status, and for messages the command with all output.
    """
    with tempfile.TemporaryDirectory(prefix="gpurace-bench-") as tmp:
        report, out, err = (os.path.join(tmp, n) for n in ("report", "out", "err"))
        command = [gpurace, "run", "--device", "cpu", *options, "--format", "json", "--output", report, "--", str(program)]
        command += " ".join(words_of(text, "ARGS")).split()
        limited = ["timeout", str(longest), *command] if longest else command
        begun = time.perf_counter()
        with open(out, "w") as o, open(err, "w") as e:
            child = subprocess.Popen(limited, stdin=subprocess.DEVNULL, stdout=o, stderr=e,
                                     env=dict(os.environ, GPURACE_CPU_DEVICE=",".join(words_of(text, "DEVICE") + ["times=1"])))
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        wall = (time.perf_counter() - begun) * 1e3
        printed, errors = pathlib.Path(out).read_text(errors="replace"), pathlib.Path(err).read_text(errors="replace")
        try:
            parsed = json.loads(pathlib.Path(report).read_text())
        except (OSError, ValueError):
            parsed = {"verdict": "none"}
    said = f"{' '.join(command)}: status {child.returncode}, verdict {parsed['verdict']}\n{printed}{errors}"
    found = re.findall(r"CPU device computed for ([\d.]+) ms of processor time, and worked for ([\d.]+) ms", errors)
    if longest and child.returncode == 124:
        raise Failed(f"not over after {longest} s: {said}")
    if not found:
        raise Failed(said)
    return {"kernels": sum(float(k) for k, _ in found), "work": sum(float(w) for _, w in found), "all": (usage.ru_utime + usage.ru_stime) * 1e3,
            "wall": wall, "resident": usage.ru_maxrss, "report": parsed, "verdict": parsed["verdict"], "status": child.returncode,
            "printed": [l for l in printed.splitlines() if "PASS" in l], "said": said}


def ratios(rounds, what):
    """Of rounds (before, after): how many times as much the run after took."""
    return [max(after[what], 1e-3) / max(before[what], 1e-3) for before, after in rounds]


def processor():
    return next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())


def put_between(path, marks, lines):
    """Puts `lines` between the two marks in a file of docs."""
    path, (begin, end) = pathlib.Path(path), marks
    text = path.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        sys.exit(f"{path} has no {begin} and {end}")
    head, rest = text.split(begin, 1)
    path.write_text(head + begin + "\n" + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1], encoding="utf-8")
