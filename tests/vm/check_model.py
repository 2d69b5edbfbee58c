#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every numbered sentence of docs/execution-model.md has a test in tests/vm that names it, and no test names another."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
numbers = re.findall(r"^- \[(EM-\d+)\]", (root / "docs/execution-model.md").read_text(), re.M)
tests = "".join(p.read_text() for p in sorted((root / "tests").rglob("*")) if p.suffix in (".c", ".cu", ".py") and p.name != "check_model.py")
named = set(re.findall(r"\bEM-\d+\b", tests))
errors = [f"{n} has no test" for n in numbers if n not in named]
errors += [f"a test names {n}, which does not exist" for n in sorted(named - set(numbers))]
errors += [f"{n} is there twice" for n in sorted({n for n in numbers if numbers.count(n) > 1})]
if len(numbers) < 10:
    errors.append("hardly any numbered sentence was found")
print("\n".join(errors) or f"{len(numbers)} sentences, all tested")
sys.exit(bool(errors))
