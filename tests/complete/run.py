#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--device cpu|gpu] [--jobs N] [--soak] BUILD MODE [PROGRAM...]: runs complete programs, all of them unless some are named.

Each must exit with 0 and print PASS (and what its // OUTPUT: lines say), and under an engine that checks, the verdict must be `clean`. A
program that fails is named, with all that it printed; the last line counts.
BUILD is the build folder, MODE an engine, one of complete.WAYS (an engine with options), or `plain`: without gpurace.
--soak takes those that are in the soak under this mode instead of the others. CMakeLists.txt explains the comments in the sources."""
import argparse
import concurrent.futures
import os
import pathlib
import sys

import complete

SOURCES = pathlib.Path(__file__).resolve().parent
LIMIT = 300  # seconds of one program


def is_soak(source, mode):
    """Whether the program is in the soak under this mode."""
    return bool({"soak", f"{mode}-soak"} & set(" ".join(complete.comments(source, "LABELS")).split()))


def is_tried(source, mode):
    """Whether the program can run under this mode: it is not WITHOUT the mode, nor without the engine behind gpu-code."""
    without = " ".join(complete.comments(source, "WITHOUT")).split()
    return mode not in without and not (mode == "gpu-code" and "collider" in without)


def program_of(build, source):
    """The built program: one of a batch (folder tested) where there is such a one, else the one that is built alone."""
    together = build / "complete-programs" / "tested" / source.stem
    return together if together.exists() else build / "complete-programs" / source.stem


def judge(args, source):
    """Runs one program; a text that says what is wrong, empty when nothing is."""
    done = complete.run(str(args.build / "gpurace"), args.mode, str(source), str(program_of(args.build, source)), args.device, LIMIT)
    problems = done.problems
    if complete.engine_of(args.mode)[0] not in ("none", complete.PLAIN) and done.report.get("verdict") != "clean":
        problems = problems + [f"verdict: {done.report.get('verdict')}"] + [f"because: {reason}" for reason in done.report.get("reasons", [])]
    return "\n".join(problems) + "\n" + done.text if problems else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--soak", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("mode")
    parser.add_argument("program", nargs="*")
    args = parser.parse_args()
    args.build = args.build.resolve()
    if args.program:
        sources = [SOURCES / f"{name}.cu" for name in args.program]
        if missing := [s.stem for s in sources if not s.exists()]:
            parser.error(f"no program {' '.join(missing)} in {SOURCES}")
    else:
        sources = [s for s in sorted(SOURCES.glob("*.cu")) if is_tried(s, args.mode) and is_soak(s, args.mode) == args.soak]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for source, wrong in zip(sources, pool.map(lambda s: judge(args, s), sources)):
            if wrong:
                failed.append(source.stem)
                print(f"=== {source.stem} under {args.mode}\n{wrong}", flush=True)
    print(f"{len(sources)} programs under {args.mode}, {len(failed)} failed{': ' if failed else ''}{' '.join(failed)}")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
