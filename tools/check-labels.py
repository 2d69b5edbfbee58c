#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-labels.py CTEST BUILD: fails when a test lacks the label of its folder below tests/, or has another one than that and those
of KINDS; or when tests/README.md does not name a label."""

import json
import re
import subprocess
import sys
from pathlib import Path

KINDS = {"unit", "slow", "soak"}
tests = Path(__file__).resolve().parent.parent / "tests"


def folder_of(test, graph):
    """The folder, below tests/, of the CMakeLists.txt that adds the test; `tree` for tests/CMakeLists.txt itself."""
    node = graph["nodes"][test["backtrace"]]
    while "parent" in node:
        node = graph["nodes"][node["parent"]]
    folder = str(Path(graph["files"][node["file"]]).resolve().parent.relative_to(tests))
    return "tree" if folder == "." else folder


def main():
    ctest, build = sys.argv[1:3]
    shown = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    listed = json.loads(shown)
    problems, seen = [], set()
    for test in listed["tests"]:
        labels = [label for p in test["properties"] if p["name"] == "LABELS" for label in p["value"]]
        folder = folder_of(test, listed["backtraceGraph"])
        if folder not in labels or set(labels) - KINDS - {folder}:
            problems.append(f"{test['name']}: labels {labels}, of the folder {folder}")
        seen.update(labels)
    page = (tests / "README.md").read_text(encoding="utf-8")
    problems += [f"tests/README.md: no row for the label {label}" for label in sorted(seen) if not re.search(rf"^\| `{label}`", page, re.M)]
    print("\n".join(problems) or f"{len(listed['tests'])} tests, {len(seen)} labels")
    return bool(problems)


sys.exit(main())
