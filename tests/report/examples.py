#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user reads first of each racy example: golden/examples.txt has the causes of all of them under exact, seed 1.

Usage: examples.py GPURACE EXAMPLES SOURCE. UPDATE_GOLDEN=1 in the environment writes the file."""
import glob
import os
import re
import subprocess
import sys

GPURACE, EXAMPLES, SOURCE = sys.argv[1:4]
GOLDEN = os.path.join(SOURCE, "tests", "report", "golden", "examples.txt")
MOST = 13  # lines of a cause, and one that is left out


def causes(program):
    done = subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", "exact", "--seed", "1", "--", program], cwd=SOURCE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, timeout=100)
    parts = re.split("^=+\n", done.stderr, flags=re.M)
    assert done.returncode == 66 and parts[-1].startswith("gpurace: verdict: races"), (program, done.returncode, done.stderr)
    # Who calls an example's main depends on how the examples are built.
    return [re.sub("^    (launched|called) from .*\n", "", part, flags=re.M) for part in parts[1:-1]]


def in_readme():
    """README.md shows what gpurace says of one of them."""
    program = os.path.relpath(os.path.join(EXAMPLES, "reduction_race"), SOURCE)
    done = subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", "exact", "--seed", "1", "--", program], cwd=SOURCE,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False, timeout=100)
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    sample = "".join(f"    {line}\n" for line in done.stderr.splitlines())
    if sample not in readme:
        print(f"README.md shows another report than\n{sample}")
    return sample in readme


def main():
    text, long = "", []
    for program in sorted(glob.glob(os.path.join(EXAMPLES, "*_race"))):
        found = causes(program)
        long += [f"{os.path.basename(program)}: {len(c.splitlines())} lines\n{c}" for c in found if len(c.splitlines()) > MOST]
        text += f"# {os.path.basename(program)}\n" + "\n".join(found) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        with open(GOLDEN, "w", encoding="utf-8") as file:
            file.write(text)
    with open(GOLDEN, encoding="utf-8") as file:
        golden = file.read()
    print("\n".join(long), end="")
    for one, other in zip(text.split("\n# "), golden.split("\n# ")):
        if one != other:
            print(f"--- golden\n{other}\n--- now\n{one}")
    return text != golden or bool(long) or text.count("# ") < 20 or not in_readme()


if __name__ == "__main__":
    sys.exit(main())
