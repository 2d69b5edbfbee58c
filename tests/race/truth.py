# SPDX-License-Identifier: Apache-2.0
"""What run_examples.py and gpurace-corpus share: the words of the engines, one run of gpurace, and what it reported.

Neither knows the other's labels: examples/README.md and README.md here explain them.
"""
import json
import os
import re
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RACES_EXIT = 66
HOST_KINDS = ("copy", "memset", "host")  # sides that have no source line: what the API did, or the host itself


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def words(path, macro):
    """The texts of the rows MACRO(id, number, "text", ...) of one of the project's tables."""
    return set(re.findall(rf'^{macro}\(\w+, \d+, "([^"]+)"', read(os.path.join(ROOT, path)), re.M))


def label_classes():
    """The words that the corpus labels races with, and engines that know both sides report."""
    return words("src/engines/exact/classes.def", "CLASS")


def load_schema(path):
    """A validator of reports, made once: that costs more than a run."""
    if not os.path.exists(path):
        return None
    import jsonschema

    schema = json.loads(read(path))
    return jsonschema.validators.validator_for(schema)(schema)


class Run:
    """One run of gpurace: what it exited with, printed and reported."""

    def __init__(self, gpurace, engine, program, seed, fmt="json", options=(), device="cpu", timeout=120, before=()):
        with tempfile.TemporaryDirectory(prefix="gpurace-race-") as folder:
            output = os.path.join(folder, "report")
            command = [*before, gpurace, "run", "--engine", engine, "--device", device, "--seed", str(seed), *options]
            command += ["--format", fmt, "--output", output, "--", *([program] if isinstance(program, str) else program)]
            self.command = " ".join(command)
            start = time.monotonic()
            try:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                      timeout=timeout, errors="replace", check=False)
                self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
            except subprocess.TimeoutExpired:
                self.status, self.stdout, self.stderr = None, "", f"no end after {timeout} s"
            self.seconds = time.monotonic() - start
            try:
                self.text = read(output).replace(folder, "")
            except OSError:
                self.text = ""

    def report(self, schema):
        if not self.text:
            raise ValueError(f"no report; exit status {self.status}: {self.stderr.strip()[-600:]}")
        report = json.loads(self.text)
        if schema is not None:
            schema.validate(report)
        return report

    def check(self, report, must_pass, tolerated=()):
        """What is wrong with the run besides its races. A verdict may be inconclusive for reasons with a tolerated word."""
        problems = []
        races = report["races"] + report.get("misuses", [])
        expected = RACES_EXIT if races else 0
        if self.status != expected:
            problems.append(f"exit status {self.status}, expected {expected}: {self.stderr.strip()[-300:]}")
        reasons = [r for r in report.get("reasons", ()) if not any(word in r for word in tolerated)]
        excused = report["verdict"] == "inconclusive" and report.get("reasons") and not reasons
        if report["verdict"] != ("races" if races else "clean") and not excused:
            because = json.dumps(report.get("reasons") or report["coverage"])[:400]
            problems.append(f"verdict {report['verdict']!r} with {len(races)} races: {because}")
        if must_pass and not re.search(r"\bPASS\b", self.stdout):
            problems.append(f"did not print PASS but {self.stdout.strip()[-200:]!r}")
        return problems


def of_host(access):
    """Which of HOST_KINDS an access is, if it is one."""
    return next((kind for kind in HOST_KINDS if access["kind"].startswith(kind)), None)


def frames(access):
    """(file, line) of an access, innermost first: where it stands, and where that was inlined."""
    return [(os.path.basename(f["file"] or "?"), f["line"]) for f in access.get("frames") or [access]]
