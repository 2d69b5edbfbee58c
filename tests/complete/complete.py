# SPDX-License-Identifier: Apache-2.0
"""One run of a complete program, and what is wrong with it. CMakeLists.txt explains the comments in the sources."""
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field


# An engine with options of its own. gpu-code: what the collider inserts for a GPU, by values alone; the seed is one with which warps of a block once disagreed.
WAYS = {
    "jobs": ("none", ["--jobs", "3"]),
    "weak": ("none", ["--weak"]),
    "gpu-code": ("collider", ["--windows", "inserted", "--poison", "yes", "--watchpoints", "no", "--schedule", "default", "--seed", "3"]),
}
PLAIN = "plain"


@dataclass
class Done:
    """One run: what it printed, its report, and what is wrong."""

    text: str = ""
    report: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)


def comments(source, word):
    with open(source, encoding="utf-8") as file:
        return re.findall(rf"^// {word}: (.*)", file.read(), re.M)


def race_of(record):
    access = record["accesses"][0]
    return f"{record['class']} at {access['file']}:{access['line']}"


def engine_of(way):
    """The engine and the options of one of WAYS, or of an engine by its name."""
    return WAYS.get(way, (way, []))


def devices_of(source):
    """How many devices the program wants."""
    found = re.search(r"devices=(\d+)", " ".join(comments(source, "DEVICE")))
    return int(found.group(1)) if found else 1


def first_devices(count):
    """CUDA_VISIBLE_DEVICES for a program that wants `count` devices and no more, out of those that are visible here."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return ",".join((visible.split(",") if visible else [str(i) for i in range(count)])[:count])


def run(gpurace, engine, source, program, device="cpu", timeout=None):
    """Runs the program once. Whether a verdict other than `clean` is a problem is up to the caller."""
    name, options = engine_of(engine)
    environment = dict(os.environ, GPURACE_CPU_DEVICE=",".join(comments(source, "DEVICE")))
    if device == "gpu" and devices_of(source) > 1:
        environment["CUDA_VISIBLE_DEVICES"] = first_devices(devices_of(source))
    with tempfile.TemporaryDirectory(prefix="gpurace-program-") as folder:
        output = os.path.join(folder, "report")
        command = [gpurace, "run", *options, "--engine", name, "--device", device]
        command += ["--format", "json", "--output", output, "--"]
        command = (command if engine != PLAIN else []) + [program, *" ".join(comments(source, "ARGS")).split()]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  errors="replace", env=environment, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return Done(problems=[f"no end after {timeout} s"])
        result = Done(done.stdout)
        try:
            with open(output, encoding="utf-8") as file:
                result.report = json.load(file)
        except (OSError, ValueError) as error:
            result.report = {"verdict": "none", "reasons": [str(error)]} if engine != PLAIN else {}
    if done.returncode != 0:
        result.problems.append(f"exit status {done.returncode}")
    lines = done.stdout.splitlines()
    result.problems += [f"no line: {wanted}" for wanted in ["PASS"] + comments(source, "OUTPUT") if wanted not in lines]
    result.problems += [race_of(race) for race in result.report.get("races", [])]
    if result.problems:
        result.text += f"--- {' '.join(command)}\n{done.stdout}--- stderr\n{done.stderr}"
    return result


