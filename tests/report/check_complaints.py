#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_complaints.py SOURCE: docs/complaints.md has its 25 rows, and each names tests that are there, or says that there is none yet."""
import os
import re
import sys

SOURCE = sys.argv[1]
problems = []
with open(os.path.join(SOURCE, "docs", "complaints.md"), encoding="utf-8") as file:
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in file if re.match(r"^\| \d", line)]
if [row[0].strip() for row in rows] != [str(n) for n in range(1, 26)]:
    problems.append("the rows are not numbered from 1 to 25")
for number, _, answer, tests in rows:
    named = re.findall(r"`([^`]+)`", tests)
    if not named and "not yet" not in answer.lower():
        problems.append(f"{number.strip()}: neither a test nor 'not yet'")
    for test in named:
        path, *words = test.split(" ", 1)
        if not os.path.exists(os.path.join(SOURCE, path)):
            problems.append(f"{number.strip()}: there is no {path}")
            continue
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            text = file.read()
        # Names of tests each by itself; in a golden file, words as they stand.
        for word in words[0].split() if words and path.endswith((".py", ".c")) else words:
            if word not in text:
                problems.append(f"{number.strip()}: there is no '{word}' in {path}")
print("\n".join(problems) or "25 complaints, each with its test or none yet")
sys.exit(bool(problems))
