#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--device cpu|gpu] GPURACE ENGINE SOURCE PROGRAM: runs one complete program. It must exit with 0 and print PASS
(and what its // OUTPUT: lines say), and under an engine that checks, the verdict must be `clean`.
CMakeLists.txt explains the comments in the sources. ENGINE may also be one of WAYS: an engine with options; or PLAIN: without gpurace."""
import argparse
import sys

import complete


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("gpurace")
    parser.add_argument("engine")
    parser.add_argument("source")
    parser.add_argument("program")
    args = parser.parse_args()
    done = complete.run(args.gpurace, args.engine, args.source, args.program, args.device)
    problems = done.problems
    if complete.engine_of(args.engine)[0] not in ("none", complete.PLAIN) and done.report["verdict"] != "clean":
        problems += [f"verdict: {done.report['verdict']}"] + [f"because: {reason}" for reason in done.report.get("reasons", [])]
    if problems:
        print("\n".join(problems) + "\n" + done.text)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
