#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cases.py GPURACE PROGRAM SOURCE: the cases of a program, as its source says them.

    // RACE name: class; words of the sentence     `name race` is found, and no other class; `name fixed` is clean
    // ONLY name: class; words of the sentence     the same of `name race`; there is no repaired one
    // CLEAN name                                  clean, without a remark
    // REMARK name: words                          clean, with a remark that says so; "line name" is the line with WHERE name
    // EITHER name: words                          each run finds a race, or is clean with a remark that says so
    // OPTIONS name: --word ...                    for those above
    // SEEDS n                                     of those below; 3 otherwise
"""
import json
import re
import subprocess
import sys

gpurace, program, source = sys.argv[1:4]
seeds = 3
failures = 0


def fail(what, why, output=""):
    global failures
    failures += 1
    print(f"FAILED {what}: {why}\n{output}")


def run(name, how, seed, options):
    args = [gpurace, "run", "--engine", "exact", "--format", "json", "--seed", str(seed), *options, "--", program, name, how]
    p = subprocess.run(args, capture_output=True, text=True, timeout=120, check=False)
    at = p.stderr.find("{\n")
    try:
        report = json.loads(p.stderr[at:]) if at >= 0 else {}
    except json.JSONDecodeError:
        report = {}
    return report, p.stdout + p.stderr


def check_race(what, report, output, text):
    race, _, words = (part.strip() for part in text.partition(";"))
    classes = {r["class"] for r in report.get("races", [])}
    if race not in classes:
        fail(what, f"no {race}", output)
    elif classes - {race}:
        fail(what, f"also {classes - {race}}", output)
    elif not any(words in r["missing_order"] + r["sentence"] for r in report["races"]):
        fail(what, f"nothing says '{words}'", output)


def check_clean(what, report, output, remark):
    remarks = [r["text"] if isinstance(r, dict) else r for r in report.get("coverage", {}).get("remarks", [])]
    if report.get("verdict") != "clean":
        fail(what, "not clean", output)
    elif remark and not any(remark in r for r in remarks):
        fail(what, f"no remark says '{remark}'", output)


with open(source, encoding="utf-8") as f:
    text = f.read()
    labels = re.findall(r"^// (RACE|ONLY|CLEAN|REMARK|EITHER|OPTIONS|SEEDS) (\w+):? ?(.*)$", text, re.M)
lines = {m: n for n, line in enumerate(text.split("\n"), 1) for m in re.findall(r"WHERE (\w+)", line)}

options = {name: text.split() for kind, name, text in labels if kind == "OPTIONS"}
for kind, name, text in labels:
    if kind == "SEEDS":
        seeds = int(name)
    for seed in range(1, seeds + 1) if kind not in ("OPTIONS", "SEEDS") else ():
        with_options = options.get(name, [])
        what = f"{name}, seed {seed}"
        report, output = run(name, "race", seed, with_options)
        if kind == "EITHER" and report.get("verdict") == "races":
            continue
        if kind in ("RACE", "ONLY"):
            check_race(what, report, output, text)
        else:
            words = re.sub(r"line (\w+)", lambda m: str(lines.get(m[1], m[0])), text)
            check_clean(what, report, output, words)
            if kind == "CLEAN" and any(
                    word in str(r) for r in report.get("coverage", {}).get("remarks", []) for word in ("race", "shuffle", "fence.sc")):
                fail(what, "a remark", output)
        if kind == "RACE":
            check_clean(what + " fixed", *run(name, "fixed", seed, with_options), "")
print(f"{len(labels)} labels, {failures} failures")
sys.exit(failures != 0)
