#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each case of meetings/launches.cu by itself, under tracker+exact: exact must report what the comment of the case says, and the tracker the same.

    test_launches.py GPURACE PROGRAM [--seeds 1,2]

A comment says `clean`, or races with commas between: `AB read-write race`, `A copy read-write race`. `; not by the tracker`: it is too careful there.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "meetings" / "launches.cu"
API = ("copy", "memset", "free", "allocation")


def read_source():
    """{line: letter}, {case: (races, whether the tracker finds them)}"""
    marks, cases = {}, {}
    for number, line in enumerate(SOURCE.read_text(encoding="utf-8").split("\n"), 1):
        if mark := re.search(r"; // ([A-Z])$", line):
            marks[number] = mark[1]
        if case := re.match(r'    \{"(\w+)", \[\].*// (.*)$', line):
            races, _, but = case[2].partition("; ")
            cases[case[1]] = (set() if races == "clean" else set(races.split(", ")), not but)
    return marks, cases


def text_of(race, marks):
    lines = sorted(marks.get(a["line"], f"<line {a['line']}>") for a in race["accesses"] if a["kind"] not in API)
    by_api = sorted(a["kind"] for a in race["accesses"] if a["kind"] in API)
    return " ".join(["".join(lines), *by_api, race["class"]])


def run(args, name, seed):
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "report.json"
        command = [args.gpurace, "run", "--device", "cpu", "--engine", "tracker+exact", "--seed", seed, "--format", "json", "--output", str(output),
                   "--", args.program, name]
        p = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if p.stdout.strip() != "ran 1 cases":
            raise SystemExit(f"{' '.join(command)}: {p.stdout}{p.stderr}")
        return json.loads(output.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpurace")
    parser.add_argument("program")
    parser.add_argument("--seeds", default="1")
    args = parser.parse_args()
    marks, cases = read_source()
    failed = 0
    for name, (races, found) in cases.items():
        for seed in args.seeds.split(","):
            report = run(args, name, seed)
            by_tracker = {text_of(r, marks) for r in report["races"] if r["engine"] == "tracker"}
            by_exact = {text_of(r["witness"] if r.get("witness") else r, marks) for r in report["races"] if r["engine"] == "exact" or r.get("witness")}
            reasons = report.get("reasons") or []
            if by_exact != races or by_tracker != (races if found else set()) or reasons:
                failed += 1
                print(f"FAILED {name}, seed {seed}: {sorted(races)}, but exact says {sorted(by_exact)} and tracker {sorted(by_tracker)} {reasons}")
    print(f"{len(cases)} cases, {failed} failed")
    return failed > 0 or len(cases) < 30


if __name__ == "__main__":
    sys.exit(main())
