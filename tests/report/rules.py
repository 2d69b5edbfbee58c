#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rule that the HTML page offers beside a race hides that race and no other: rules.py GPURACE FOLDER [ENGINE...]

Runs each program in FOLDER under each engine, and again with the rule of each of its races and misuses. The program must have the same
races each time, which it has with the same seed."""
import json
import os
import re
import subprocess
import sys
import tempfile

gpurace, folder, *engines = sys.argv[1:]
MOST = 6  # races of one report that are hidden, one at a time
ENV = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}


def run(program, engine, where, *options):
    """The report, and its page's."""
    subprocess.run([gpurace, "run", "--device", "cpu", "--engine", engine, "--format", "json,html", "--output", where, "--timeout", "60",
                    "--max-reports", "0", *options, "--", program], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    with open(os.path.join(where, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    with open(os.path.join(where, "report.html"), encoding="utf-8") as file:
        page = json.loads(re.search(r'<script type="application/json" id="report">(.*?)</script>', file.read(), re.DOTALL)[1])
    return report, page


def ids(report):
    return sorted(r["id"] for r in report["races"] + report["misuses"])


failures = looked_at = programs = 0
found = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if os.access(os.path.join(at, name), os.X_OK))
for program in found:
    if not open(program, "rb").read(4) == b"\x7fELF":
        continue
    for engine in engines or ["exact"]:
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as top:
            try:
                report, page = run(program, engine, os.path.join(top, "first"))
            except FileNotFoundError:
                continue  # no program for this device
            races = page["races"] + page["misuses"]
            programs += len(races) > 1
            again, _ = run(program, engine, os.path.join(top, "again")) if races else (None, None)
            if not races or ids(again) != ids(report):
                continue  # timing of the host plays a part
            for k, race in enumerate(races[:MOST]):
                looked_at += 1
                rules = os.path.join(top, "rules")
                with open(rules, "w", encoding="utf-8") as file:
                    file.write("# a test\n" + race["rule"] + "\n")
                hides, _ = run(program, engine, os.path.join(top, f"hides{k}"), "--suppressions", rules)
                want = sorted(set(ids(report)) - {race["id"]})
                hidden = [r["id"] for r in hides.get("hidden", []) if not r["hidden_by"].get("why", "").endswith("(CUDA 13.0)")]
                if ids(hides) != want or len(hidden) != 1:
                    failures += 1
                    print(f"{program}, {engine}: '{race['rule']}' is to hide {race['id']} of {ids(report)}: {ids(hides)} are left, {hidden} hidden")
print(f"{looked_at} races hidden, {programs} reports of several, {failures} failures")
sys.exit(failures > 0 or looked_at < 3)
