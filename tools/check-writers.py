#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-writers.py: what gpurace writes to and removes goes through src/base/own.h. Fails on a call in src/ that makes, changes or removes a file and
is not in the table, and on a row of the table that no call needs any more."""
import pathlib
import re
import sys

SRC = pathlib.Path(__file__).resolve().parent.parent / "src"
CALL = re.compile(r"\b(creat|rename(?:at2?)?|unlink(?:at)?|rmdir|remove|truncate|nftw|ftw|mkstemps?|mkostemp|mkdtemp|symlink(?:at)?|link|mkfifo|gr_out_open|gr_file_write)\s*\(")
OPENS = re.compile(r'\b(?:fopen|freopen)\s*\([^;]*"[wa+]|\bopen(?:at)?\s*\([^;]*(?:O_CREAT|O_TRUNC|O_WRONLY)')
# file: how many such calls, and why they need not ask
TABLE = {
    "base/own.c": (12, "asks"),
    "base/outfile.c": (8, "what own.h has asked for"),
    "base/outfile.h": (2, "declarations"),
    "campaign/folder.c": (1, "a lock: nothing is written to it"),
    "campaign/pool.c": (1, "campaign/work.c has asked"),
    "cli/run/apply.c": (1, "the user's source, by --apply in-place, if it is in the folder and as it was"),
    "cli/run/child.c": (1, "the log in a folder of gr_own_folder"),
    "cli/cmd_nvcc.c": (1, "links in a folder of gr_own_folder"),
    "cli/run/copy.c": (2, "links in a folder of gr_own_folder"),
    "coverage/coverage.c": (1, "made if it is not there; what is there is read first"),
    "driver/cuda/graph.c": (1, "the program's own call: cuGraphDebugDotPrint"),
    "engines/verifier/build/watch.c": (1, "the log in a folder of gr_own_folder"),
    "findings/results.c": (1, "the results file of the run"),
}


def calls_of(path):
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    lines = [line.strip() for line in text.splitlines() if CALL.search(line) or OPENS.search(line)]
    return [line for line in lines if 'open("/dev/null"' not in line and "cu." not in line]


def main():
    wrong = []
    for path in sorted(p for p in SRC.rglob("*") if p.suffix in (".c", ".h")):
        name, calls = str(path.relative_to(SRC)), calls_of(path)
        if len(calls) != TABLE.get(name, (0, ""))[0]:
            wrong.append(f"src/{name}: {len(calls)} calls that make, change or remove files, {TABLE.get(name, (0, ''))[0]} in the table: use base/own.h")
            wrong += ["    " + line for line in calls]
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
