#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run-tests.py [--jobs N] [--times] [--part K/N] [--result FILE] BUILD [words for ctest...]

Runs tests by ctest, each under a wrapper that measures the processor time of all its processes, so that other work on the machine does not count.
--times           writes what was measured into tests/times/times.txt, which orders the tests and balances the parts of the soak
--part K/N        the K-th of N parts of about the same time, of the tests that the words for ctest select
--result FILE     writes a JSON file: the commit, the day, and of each test its state and times (tools/soak-table.py reads it)
--list            names the parts and runs nothing"""
import argparse
import datetime
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMES = ROOT / "tests" / "times" / "times.txt"
UNKNOWN = 60.0  # seconds of a test that is not in times.txt


def measured(name, folder, command):
    """Runs one test; leaves NAME.json in the folder. The exit status is the test's."""
    begin = time.monotonic()
    status = subprocess.call(command)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    row = {"name": name, "seconds": round(used.ru_utime + used.ru_stime, 2), "wall": round(time.monotonic() - begin, 2), "status": status}
    (folder / f"{name}.json").write_text(json.dumps(row), encoding="utf-8")
    if status < 0:  # as it died, so that ctest says so
        os.kill(os.getpid(), -status)
    return status


def read_times():
    """tests/times/times.txt: name -> seconds of a processor."""
    rows = {}
    if TIMES.exists():
        for line in TIMES.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                seconds, name = line.split()[:2]
                rows[name] = float(seconds.lstrip("~"))
    return rows


def write_times(rows):
    """Puts measured rows, name -> seconds, into tests/times/times.txt; longest first. Rows of other tests stay as they are."""
    kept, head = {}, []
    for line in TIMES.read_text(encoding="utf-8").splitlines() if TIMES.exists() else []:
        if line.startswith("#"):
            head.append(line)
        elif line:
            kept[line.split()[1]] = line.split()[0]
    kept.update({name: f"{seconds:.1f}" for name, seconds in rows.items()})
    lines = [f"{kept[name]:>9} {name}" for name in sorted(kept, key=lambda name: (-float(kept[name].lstrip("~")), name))]
    TIMES.write_text("\n".join(head + lines) + "\n", encoding="utf-8")


def properties(test):
    return {p["name"]: p["value"] for p in test["properties"]}


def parts_of(tests, count):
    """The tests in `count` lists of about the same time: the longest first, each to the part that has least."""
    known = read_times()
    parts = [[0.0, []] for _ in range(count)]
    for test in sorted(tests, key=lambda t: (-known.get(t["name"], UNKNOWN), t["name"])):
        least = min(parts, key=lambda part: part[0])
        least[0] += known.get(test["name"], UNKNOWN)
        least[1].append(test)
    return parts


# Tests as in the build folder, each with the wrapper before its command.
TEST_FILE = """function(add_test name)
  set(words)
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    string(APPEND words " [=====[${ARGV${i}}]=====]")
  endforeach()
  cmake_language(EVAL CODE "_add_test([=====[${name}]=====] [=====[%s]=====] [=====[%s]=====] --one [=====[${name}]=====] [=====[%s]=====] ${words})")
endfunction()
subdirs([=====[%s]=====])
"""


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()


def results(folder, state):
    """What each test came to, and its times."""
    rows = []
    for name in sorted(state):
        file = folder / f"{name}.json"
        row = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"name": name, "seconds": 0, "wall": 0}
        row.pop("status", None)
        rows.append(row | {"state": state[name]})
    return rows


def states(junit):
    """What ctest says of each test, in its JUnit file."""
    import xml.etree.ElementTree as tree
    found = {}
    for case in tree.parse(junit).getroot().iter("testcase") if junit.exists() else []:
        found[case.get("name")] = {"run": "passed", "fail": "failed", "notrun": "skipped"}.get(case.get("status"), case.get("status"))
    return found


def main():
    if sys.argv[1:2] == ["--one"]:
        return measured(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--part")
    parser.add_argument("--result", type=Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("build", type=Path)
    args, words = parser.parse_known_args()
    build = args.build.resolve()
    show = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
    chosen = json.loads(subprocess.run([*show, *words], capture_output=True, text=True, check=True).stdout)["tests"]
    if args.part or args.list:
        chosen = [t for t in chosen if "FIXTURES_SETUP" not in properties(t)]  # each part has those that it needs
        number, count = map(int, (args.part or "1/8").split("/"))
        parts = parts_of(chosen, count)
        if args.list:
            for index, (seconds, members) in enumerate(parts, 1):
                print(f"{index}/{count}: {seconds:.0f} s of a processor: {' '.join(t['name'] for t in members)}")
            return 0
        if not 1 <= number <= count:
            sys.exit("run-tests: --part K/N with K from 1 to N")
        chosen = parts[number - 1][1]
    folder = build / "measured"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    (folder / "CTestTestfile.cmake").write_text(TEST_FILE % (sys.executable, Path(__file__).resolve(), folder, build), encoding="utf-8")
    if args.part:
        words = ["-R", "^(" + "|".join(re.escape(t["name"]) for t in chosen) + ")$"]
    junit = folder / "junit.xml"
    junit.unlink(missing_ok=True)
    begin = time.monotonic()
    status = subprocess.call(["ctest", "--test-dir", str(folder), f"-j{args.jobs}", "--output-on-failure", "--output-junit", str(junit), *words])
    rows = results(folder, states(junit))
    if args.times:
        write_times({row["name"]: row["seconds"] for row in rows if row["state"] == "passed"})
    if args.result:
        args.result.write_text(json.dumps({"commit": git("rev-parse", "HEAD"), "changed": bool(git("status", "--porcelain", "-uno")),
                                           "day": datetime.date.today().isoformat(), "part": args.part or "", "wall": round(time.monotonic() - begin),
                                           "tests": rows}, indent=1) + "\n", encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
