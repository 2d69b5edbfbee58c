#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu.py [OPTIONS] PART…: tests of gpurace on NVIDIA GPUs. Each part runs something without gpurace and under its engines, and compares.

Needs what was built, in one folder (--gpurace): gpurace and lib, the programs of the targets `examples`, `corpus`, `complete-programs` and
`gpu-programs`, `cudart_programs`, tests/conformance/conformance, tests/cli/jit and jit_linked. `make test-gpu` builds them, runs each part as a test of CTest, and
writes docs/gpu.md's table (--page). On a machine that cannot build, the folder may be one that was carried there:

    tests/gpu/gpu.py --gpurace FOLDER --results RESULTS all
    tests/gpu/gpu.py --results RESULTS --page docs/gpu.md

Exit status: 0; 1, a part failed; 77, there is no GPU, or nothing that was named can run here: the reason is printed."""
import argparse
import concurrent.futures
import json
import os
import sys
import time
import traceback
from pathlib import Path

import machine
import page
import parts

SKIPPED = 77


def write_result(folder, name, result):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1), encoding="utf-8")


def run_part(name, setting):
    """Runs one part; its result as it is kept."""
    start = time.monotonic()
    try:
        outcome = parts.PARTS[name].function(setting)
    except Exception:  # whatever a part raises fails that part only
        outcome = parts.Outcome(problems=[traceback.format_exc()])
    result = {"rows": outcome.rows, "problems": outcome.problems, "skipped": outcome.skipped, "seconds": round(time.monotonic() - start, 1)}
    write_result(setting.results, name, result)
    return result


def show(name, result):
    state = "FAIL" if result["problems"] else "skip" if result["skipped"] else "ok  "
    print(f"{state} {name}, {result['seconds']} s" + (f": {result['skipped']}" if result["skipped"] else ""))
    for title, says in result["rows"]:
        print(f"     {title}: {says}")
    for problem in result["problems"][:20]:
        print("  " + problem[:3000].replace("\n", "\n  "))
    if len(result["problems"]) > 20:
        print(f"  and {len(result['problems']) - 20} more")
    sys.stdout.flush()


def call_in_words(parser, args):
    """What was asked for, as a command without its folders; "" for a call of one part: `make test-gpu` has one for each."""
    if len(args.parts) < 2 and "all" not in args.parts:
        return ""
    words = [f"{name} {getattr(args, name[2:].replace('-', '_'))}" for name in ("--at-once", "--jobs", "--every", "--runs", "--together", "--seconds")
             if getattr(args, name[2:].replace("-", "_")) != parser.get_default(name[2:].replace("-", "_"))]
    return " ".join(["tests/gpu/gpu.py", *words, *args.parts])


def parse_args(argv):
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0], epilog="parts: " + "; ".join(f"{n}: {part.what}" for n, part in parts.PARTS.items()))
    p.add_argument("parts", nargs="*", metavar="PART", help="or `all`: those that take minutes")
    p.add_argument("--gpurace", type=Path, default=machine.ROOT / "build", metavar="FOLDER", help="the build folder (default: %(default)s)")
    p.add_argument("--results", type=Path, metavar="FOLDER", help="what each part showed, as JSON (default: gpu-tests in the build folder)")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs at a time (default: %(default)s)")
    p.add_argument("--at-once", type=int, default=1, metavar="N", help="parts at a time (default: %(default)s)")
    p.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="of one run: what takes longer hangs (default: %(default)s)")
    p.add_argument("--every", type=int, default=1, metavar="N", help="of the complete programs and of the corpus take each Nth: for a look (default: %(default)s)")
    p.add_argument("--runs", type=int, default=100, metavar="N", help="of each program of the part soak (default: %(default)s)")
    p.add_argument("--together", type=int, default=1, metavar="N", help="so many of these runs in one process: a GPU starts some five processes a second (default: %(default)s)")
    p.add_argument("--seconds", type=int, default=0, metavar="N", help="the part soak begins no run later than that after the start (default: no limit)")
    p.add_argument("--page", type=Path, metavar="FILE", help="run nothing: write the table of that page from the results")
    p.add_argument("--find", action="store_true", help="run nothing: exit with 77 and say why if there is no GPU")
    args = p.parse_args(argv)
    args.results = args.results or args.gpurace / "gpu-tests"
    args.words = call_in_words(p, args)
    unknown = [name for name in args.parts if name not in parts.PARTS and name != "all"]
    if unknown:
        p.error(f"no such part: {', '.join(unknown)}; there are {', '.join(parts.PARTS)}")
    if not (args.parts or args.page or args.find):
        p.error("name a part, or all, or --page FILE, or --find")
    return args


def main(argv=None):
    args = parse_args(argv)
    if args.page:
        return page.update(args.page, args.results)
    found = machine.find()
    if found.lacking:
        print(f"skipped: {found.lacking}")
        return SKIPPED
    if args.find:
        print(found.in_words())
        return 0
    setting = parts.Setting(args, found)
    lacking = setting.lacking()
    if lacking:
        print(lacking)
        return 1
    write_result(args.results, page.MACHINE, setting.in_words())
    start = time.monotonic()
    names = [n for n in parts.PARTS if n in args.parts or ("all" in args.parts and not parts.PARTS[n].soak)]
    results = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, args.at_once)) as pool:
        for name, result in zip(names, pool.map(lambda n: run_part(n, setting), names)):
            show(name, result)
            results.append(result)
    write_result(args.results, page.MACHINE, {**setting.in_words(), "seconds": round(time.monotonic() - start)})
    if any(r["problems"] for r in results):
        return 1
    return SKIPPED if all(r["skipped"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
