#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""corpus.py GPURACE [-j N] [--run FOLDER] [PATTERN...]: what `gpurace check` says of the corpus (tests/race), a line each: how many pairs of accesses it proved
apart, showed to race, left possible or unknown. Fails if a racy program is proved free, or if a race is shown that the labels do not have.

PATTERN: FAMILY, FAMILY/NAME or NAME; without one the family hgrd. Races with copies, with the host and between launches are not the verifier's:
the family host is of no use here. With --run each program, which FOLDER/FAMILY/NAME is, runs first, also as its repaired twin, and what is decided is its
recorded launches (--record-launches)."""
import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

RACE = pathlib.Path(__file__).resolve().parents[2] / "race"
sys.path.insert(0, str(RACE))
import checked  # noqa: E402
import corpus  # noqa: E402

def sides_known(program, race):
    """Whether the labels have a race of these two lines."""
    lines = {program.line_of(a) for a in race["accesses"]}
    return any(lines <= set(r.sides) for r in program.races.values())


def is_in_a_launch(race):
    """Races between launches are not looked at, nor are loads that only the optimizing compiler moves out of their guard."""
    return len(race.launches) < 2 and not race.hosts and "speculated load" not in race.classes


def check(gpurace, program, *options, file=None):
    report, text, seconds = checked.ask(gpurace, [file or program.path], checked.words_of(program.path, "NVCC"), options)
    if not report:
        return {"failed": text}
    counts = checked.sum_of([n for n in map(checked.pairs_of, report["coverage"]["remarks"]) if n])
    false = [r for r in report["races"] if not sides_known(program, r)]
    failed = ""
    if any(is_in_a_launch(r) for r in program.races.values()) and report["verdict"] == "clean":
        failed = "a racy program was proved free"
    if false:
        places = sorted({tuple(program.line_of(a) for a in r["accesses"]) for r in false})
        failed = f"races were shown that the labels do not have: lines {places}"
    return {"failed": failed, "verdict": report["verdict"], "counts": counts, "races": len(report["races"]),
            "reasons": [str(r) for r in report["reasons"]], "report": report, "seconds": seconds}


def checks_of(args, program):
    """[name, is it the repaired twin, what is said] of a program, and with --run of its twin."""
    if not args.run:
        return [(program.key, False, check(args.gpurace, program))]
    return [(program.key + (", fixed" if fixed else ""), fixed, check_run(args, program, fixed)) for fixed in ((False, True) if program.races else (False,))]


def check_run(args, program, fixed):
    with tempfile.TemporaryDirectory(prefix="gpurace-launches-") as folder:
        launches = pathlib.Path(folder, "run.jsonl")
        words = [args.gpurace, "run", "--device", "cpu", "--engine", "none", "--record-launches", launches, "--", pathlib.Path(args.run, program.key),
                 *(["fixed"] if fixed else []), *program.args]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=checked.LIMIT, check=False)
        if not launches.exists():
            return {"failed": f"no launches were recorded: {done.stderr[-300:]}"}
        # The corpus is built in batches, in which each program is a namespace.
        file = pathlib.Path(folder, program.name + ".cu")
        file.write_text(f'#include "{RACE}/corpus.h"\nnamespace {program.name}_cu {{\n#include "{program.path}"\n}}\n')
        r = check(args.gpurace, program, "--launches", str(launches), file=file)
    if fixed and "verdict" in r:
        r["failed"] = "a race was shown in the repaired twin" if r["races"] else ""
    return r


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gpurace")
    parser.add_argument("patterns", nargs="*", default=["hgrd"])
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--reasons", action="store_true", help="print why a program is not decided")
    parser.add_argument("--run", metavar="FOLDER", help="decide for the recorded launches of each program in this folder")
    args = parser.parse_intermixed_args()
    programs = corpus.load(RACE, args.patterns)
    print("| program | labelled | verdict | proved | shown | possible | unknown | seconds |\n|---|---|---|---|---|---|---|---|")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for program, (name, fixed, r) in ((p, one) for p, all_ in zip(programs, pool.map(lambda p: checks_of(args, p), programs)) for one in all_):
            label = "clean" if fixed else "racy" if program.races else "misuse" if program.misuses else "clean"
            if "verdict" in r:
                print(f"| {name} | {label} | {r['verdict']} | " + " | ".join(map(str, r["counts"])) + f" | {r['seconds']:.1f} |", flush=True)
                if args.reasons:
                    print("\n".join("    " + t for t in r["reasons"]))
            if r["failed"]:
                bad += 1
                print(f"{name}: FAILED: {r['failed']}", flush=True)
    print(f"{len(programs)} programs, {bad} failed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
