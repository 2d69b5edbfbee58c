#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak-table.py BUILD [RESULT...]: brings docs/notes/soak.md up to date.

The page has a row for each test of the soak that BUILD knows: when it last ran, on which commit, and what came of it. RESULT is what `make soak PART=K/N`
leaves (build/soak-K-of-N.json). A row that no result names stays as it was; a test that never ran has an empty row."""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "notes" / "soak.md"
HEAD = """# What of the soak ran when

Written by `tools/soak-table.py build build/soak-*.json` from what `make soak PART=K/N` left (tests/README.md). Seconds are those of a processor. A `+` behind
the commit: the tree had changes that were not committed. An empty row: this test has not run since this table began.

| test | day | commit | came to | seconds |
|---|---|---|---|---|
"""


def soak_tests(build):
    """The names of the tests with the label soak."""
    show = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-L", "^soak$", "-FA", "."], capture_output=True, text=True, check=True).stdout
    return sorted(test["name"] for test in json.loads(show)["tests"])


def read_rows():
    """test -> the cells behind it, of the page as it is."""
    found = re.findall(r"^\| `([^`]+)` \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.M) if PAGE.exists() else []
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in found}


def main():
    rows = read_rows()
    for path in sys.argv[2:]:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
        commit = result["commit"][:8] + ("+" if result["changed"] else "")
        for test in result["tests"]:
            if test["state"] != "not run":
                rows[test["name"]] = [result["day"], commit, test["state"], f"{test['seconds']:.0f}"]
    lines = [f"| `{name}` | {' | '.join(rows.get(name, [''] * 4))} |" for name in soak_tests(sys.argv[1])]
    PAGE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


main()
