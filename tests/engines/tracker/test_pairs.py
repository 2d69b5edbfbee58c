#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the kernels of meetings/pairs.cu, or with --set others those of meetings/others.cu, and compares what is reported with expected.tsv or
others.tsv.

    test_pairs.py --reference GPURACE PROGRAM      the engine exact, column ptx
    test_pairs.py --rules ptx GPURACE PROGRAM      the engine tracker, between the columns tracker and ptx
    test_pairs.py --rules paper GPURACE PROGRAM    the engine tracker, column original; with --granule 1, where bytes matter, column paper
    test_pairs.py --table                          runs nothing: what table2.py says of the events of each row, columns paper and original

Columns of expected.tsv:

    kernel    its name in pairs.cu; barriers_255 is barriers<255>
    ptx       `clean`, or races with commas between. `AB read-write race`: of the lines with the comments A and B
    tracker   what the tracker must find of that under --rules ptx with every seed, `=`: all of it. It calls no pair a race that something
              may have ordered. So it may find less than exact, and must not find more
    paper     the same by table 2 of the iGUARD paper. `AB R4`: by rule R4
    original  the same by table 2 with words of 4 bytes and counters of 6 and 8 bits, as the paper has them; `=`: no difference
    decides   `R4`: table 2 without R4 would say clean, or, of a rule P, would say race. `R2>R3`: without R2 it would say R3 of the same lines.
              `P3+P4`: without one of the two nothing changes, without both it would say race
    how       options of `gpurace run`; `together`: the lanes of a warp must not be parted by chance
    reason    why
    events    what the kernel does to the words that are not a thread's own (table2.py)
    launch    the grid and the block; the program runs what the table has (make_cases.py)

others.tsv has kernels whose instructions the paper does not know: its columns are kernel, ptx, tracker, how, reason and launch.
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import table2

HERE = Path(__file__).resolve().parent
RULES = {"R1": "scoped-atomic race (R1)", "R2": "intra-warp race (R2)", "R3": "intra-block race (R3)", "R4": "inter-block race (R4)",
         "R5": "missing lock race (R5)"}
# The last look of a loop may be recorded before the atomic that ends the loop, and then nobody compares the two.
CHANCE = {"grid_barrier_printed": "CD R4"}
failures = 0


def fail(what, why):
    global failures
    failures += 1
    print(f"FAILED {what}: {why}")


def read_table(of):
    with open(HERE / ("expected.tsv" if of == "pairs" else f"{of}.tsv"), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_source(of):
    """The marks, {line: (kernel, letter)}, and the names of all kernels."""
    text = (HERE / "meetings" / f"{of}.cu").read_text(encoding="utf-8")
    marks, kernel = {}, None
    for number, line in enumerate(text.split("\n"), 1):
        begins = re.match(r"(?:template <int N> )?__global__ void (\w+)\(", line)
        kernel = begins[1] if begins else kernel
        mark = re.search(r"// ([A-Z])$", line)
        if mark and kernel:
            marks[number] = (kernel, mark[1])
    return marks, re.findall(r"^(?:template <int N> )?__global__ void (\w+)\(", text, re.M)


def name_of(kernel):
    """`void barriers<(int)255>(Memory *)`: the kernel's own name, and its name in the table."""
    own, number = re.search(r"(\w+)(?:<(?:\(int\))?(\d+)>)?\(", kernel).groups()
    return own, f"{own}_{number}" if number else own


def races_of(report, marks):
    """{kernel: what the table would say}."""
    found = {}
    # Instances of one template share their lines, and so their races.
    for race, kernel in [(race, kernel) for race in report["races"] for kernel in race.get("kernels", {}).get("names", [race["kernel"]])]:
        own, name = name_of(kernel)
        sides = []
        for access in race["accesses"]:
            there, letter = marks.get(access["line"], (None, None))
            sides.append(letter if there == own else f"<line {access['line']}>")
        if len(sides) == 1:
            sides.append("<no other side>")
        found.setdefault(name, set()).add("".join(sorted(sides)) + " " + race["class"])
    return found


def expected_of(text):
    races = set() if text == "clean" else set(text.split(", "))
    return {" ".join((pair, RULES.get(what, what))) for pair, what in (race.split(" ", 1) for race in races)}


def paper_of(row, granule):
    """What --rules paper is to say: its counters are as narrow as the paper's, its words only with --granule 4."""
    bytes_matter = "#" in row["events"]
    return row["paper"] if row["original"] == "=" or (bytes_matter and granule == "1") else row["original"]


def run(args, names, how, seed):
    engine = ["exact"] if args.reference else ["tracker", "--rules", args.rules, "--granule", args.granule]
    environment = dict(os.environ)
    options = [] if how in ("-", "together") else how.split()
    if how == "together":
        environment["GPURACE_CPU_DEVICE"] = "split=0"
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "report.json"
        command = [args.gpurace, "run", "--device", "cpu", "--engine", *engine, "--seed", str(seed), *options, "--format", "json", "--output",
                   str(output), "--", args.program, *names]
        p = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
        try:
            report = json.loads(output.read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError) as e:
            fail(" ".join(command), f"no report: {e}\n{p.stdout}{p.stderr}")
            return None
    if f"ran {len(names)} kernels" not in p.stdout:
        fail(" ".join(command), f"the program did not end well\n{p.stdout}{p.stderr}")
        return None
    return report


def check_group(args, rows, how, seed, marks):
    ptx = args.reference or args.rules == "ptx"
    names = [row["kernel"] for row in rows]
    report = run(args, names, how, seed)
    if not report:
        return
    coverage = report["coverage"]
    if report["misuses"] or coverage["faults"] or coverage["dropped_records"]:
        fail(f"seed {seed}", [report["misuses"], coverage["faults"], coverage["dropped_records"]])
    watched = {name_of(k["name"])[1] for k in coverage["kernels"] if k["checked"] and k["launches"] and not k["failed"]}
    found = races_of(report, marks)
    for row in rows:
        name = row["kernel"]
        wanted, got = expected_of(row["ptx"] if ptx else paper_of(row, args.granule)), found.pop(name, set())
        least = expected_of(row["tracker"]) if args.rules == "ptx" and row["tracker"] != "=" else wanted
        if args.rules == "paper":
            least = wanted - expected_of(CHANCE.get(name, "clean"))
        if name not in watched:
            fail(f"{name}, seed {seed}", "the kernel was not checked")
        elif not least <= got <= wanted:
            says = ", ".join(sorted(got)) or "clean"
            fail(f"{name}, seed {seed}", f"it is {says}, not {', '.join(sorted(least)) or 'clean'} ({row['reason']})")
    for name, races in found.items():
        fail(f"{name}, seed {seed}", f"was not run, but has {races}")


def check_table(rows):
    for row in rows:
        if row["tracker"] != "=" and not expected_of(row["tracker"]) < expected_of(row["ptx"]):
            fail(row["kernel"], f"{row['tracker']} is not less than {row['ptx']}")
        name, events, paper = row["kernel"], row["events"], row["paper"]
        original = paper if row["original"] == "=" else row["original"]
        if table2.judge(events) != paper:
            fail(name, f"by table 2 it is {table2.judge(events)}, not {paper}")
        if table2.judge(events, original=True) != original:
            fail(name, f"as the paper has it, it is {table2.judge(events, original=True)}, not {original}")
        decides = row["decides"]
        if decides == "-":
            continue
        if ">" in decides:
            rule, other = decides.split(">")
            if table2.judge(events, [rule]) != paper.replace(rule, other):
                fail(name, f"without {rule} it is {table2.judge(events, [rule])}")
            continue
        parts = decides.split("+")
        if (table2.judge(events, parts) == "clean") == (paper == "clean"):
            fail(name, f"without {decides} it is {table2.judge(events, parts)}: nothing changed")
        if len(parts) > 1 and any(table2.judge(events, [part]) != paper for part in parts):
            fail(name, f"one of {decides} decides alone")
    decided = {rule for row in rows for rule in re.split(r"[+>]", row["decides"])}
    if set(table2.RULES) - decided:
        fail("the table", f"no kernel for {sorted(set(table2.RULES) - decided)}")


def summary(rows):
    """How often the paper's rules and PTX's differ, as docs/tracker-differences.md has it."""
    def lines(row, column):
        text = row["paper"] if row[column] == "=" else row[column]
        return {race.split(" ")[0] for race in text.split(", ")} - {"clean"}

    alarms = [row for row in rows if lines(row, "paper") - lines(row, "ptx")]
    misses = [row for row in rows if lines(row, "ptx") - lines(row, "paper")]
    more = [row for row in rows if lines(row, "original") - lines(row, "ptx") and row not in alarms]
    return (f"{sum(row['ptx'] != 'clean' for row in rows)} race; the paper's rules: false alarms in {len(alarms)}, with narrow counters and "
            f"words in {len(more)} more; races missed in {len(misses)}")


def main():
    parser = argparse.ArgumentParser()
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--reference", action="store_true")
    mode.add_argument("--rules", choices=("ptx", "paper"))
    mode.add_argument("--table", action="store_true")
    parser.add_argument("--set", choices=("pairs", "others"), default="pairs")
    parser.add_argument("--granule", choices=("1", "4"), default="1")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("gpurace", nargs="?")
    parser.add_argument("program", nargs="?")
    args = parser.parse_args()
    rows = read_table(args.set)
    marks, names = read_source(args.set)
    of_rows = {row["kernel"] if row["kernel"] in names else re.sub(r"_\d+$", "", row["kernel"]) for row in rows}
    if set(names) != of_rows:
        fail("the table", f"kernels and rows differ: {set(names) ^ of_rows}")
    if args.table:
        check_table(rows)
    else:
        for how in sorted({row["how"] for row in rows}):
            for seed in range(1, args.seeds + 1):
                check_group(args, [row for row in rows if row["how"] == how], how, seed, marks)
    if args.table:
        print(summary(rows))
    print(f"{len(rows)} kernels, {failures} failures")
    return failures != 0


sys.exit(main())
