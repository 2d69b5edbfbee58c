#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_host.py HOST_FACTS FOLDER: what host code says of launches, held against what is written here. A launch is named by the line
with its comment "LAUNCH name"; each list has words that its print has, without "line N"; "!" before an argument that it must not have."""
import re
import subprocess
import sys
from pathlib import Path

FIGURES = {
    "1": ["grid ((rows + 15) / 16, (cols + 15) / 16, 1)", "block (16, 16, 1)", "argument 1.32: rows", "argument 2.32: cols",
          "fact 1: rows == cols  -- assert(rows == cols)", "fact 5: 0 < rows",
          "argument 0.64: a#0 (cudaMalloc, (rows * cols) * 4 bytes)"],
    "2": ["grid (1, 1, 1)", "block (128, 1, 1)", "argument 2.32: n"],
    "3": ["grid (n / 16, height / 16, 1)", "argument 2.32: n", "fact 5: 0 < n"],
    "4": ["grid ((n - (rounds of offset * 16)) / 16, 1, 1)", "argument 1.32: n", "argument 2.32: rounds of offset * 16",
          "fact 4: (rounds of offset * 16) < n"],
    "5": ["argument 1.32: trunc(pitch /u 4)", "fact 5: 0 < pitch", "<= pitch", "fact 5: pitch <= 2147483647", "(cudaMallocPitch, rows * pitch bytes)"],
}
SHAPES = {
    "members": ["grid ((n + 127) / 128, 1, 1)", "block (128, 1, 1)", "argument 2.32: n", "argument 0.64: runner#5", "argument 1.64: runner#6",
                "in run"],
    "library": ["argument 0.64: a#", "may be other memory", "!(n < 1)", "gap: nothing calls", "n + 255) / 256"],
    "recursive": ["block (n, 1, 1)", "gap: not all calls", "!(n < 2)"],
    "plain": ["grid (n /u 32, 1, 1)", "argument 0.64: a#2 (cudaMalloc", "argument 1.64: b#3 (cudaMalloc", "argument 2.32: m",
              "(n %u 32) == 0", "!(n < 64)", "!((m <= 0) | (1001 <= m))", "0 < (n * 4)"],
    "halves": ["argument 0.64: a#2", "bytes) + (n /u 2) * 4", "argument 2.32: n /u 2"],
    "struct": ["block (n, m, 1)", "argument 0.64: img#", "argument 0+8.32: n", "argument 0+12.32: m", "argument 0+16.16: 3", "argument 1.32: 7"],
    "template": ["launch of _Z5scaleIiLi3EEvPT_jx", "grid (m, 1, 1)", "block (m, m, 1)", "argument 1.32: n", "argument 2.64: m"],
    "divided": ["block (d, 1, 1)", "argument 2.32: d", "(d <= n) & (0 <= d)"],
    "doubled": ["argument 2.32: s", "s <u n", "1 <= s"],
    "explicit": ["grid (m * 2, 1, 1)", "block (16, 2, 1)", "argument 0.64: a#2", "argument 1.64: b#3", "argument 2.32: m * 2"],
    "cooperative": ["cooperative", "grid (4, 1, 1)", "argument 2.32: m * 2"],
    "copied": ["argument 2.32: found", "!argument 2.32: 5"],
    "vector": ["argument 0.64: a#2", "(m == 3) | (500 < n)"],
    "swapped": ["argument 0.64: a#2 if the round's pointers == 0, or b#3 if the round's pointers == 1",
                "argument 1.64: a#2 if the round's pointers == 1, or b#3 if the round's pointers == 0", "argument 2.32: k", "k < m", "0 <= k"],
}


def run(tool, source, *words, classes="12345"):
    p = subprocess.run([tool, "--classes", classes, source, *words], stdout=subprocess.PIPE, text=True, check=True)
    return p.stdout


def by_name(text, source):
    """What is printed of each launch, by the name in its line."""
    lines = Path(source).read_text().splitlines()
    found = {}
    for part in re.split(r"^(?=launch of )", text, flags=re.M)[1:]:
        line = int(re.match(r"launch of \S+ at \S+:(\d+)", part).group(1))
        name = re.search(r"// LAUNCH (\S+)", lines[line - 1])
        assert name, f"a launch in line {line}, which has none:\n{part}"
        assert name.group(1) not in found, f"two launches in line {line}"
        found[name.group(1)] = re.sub(r", line \d+", "", part)
    return found


def check(text, source, expected):
    found = by_name(text, source)
    assert sorted(found) == sorted(expected), f"launches {sorted(found)}"
    for name, wanted in expected.items():
        for words in wanted:
            absent = words.startswith("!argument")
            if (words[1:] in found[name]) if absent else (words not in found[name]):
                sys.exit(f"{source}: launch {name}: {words!r} {'is there' if absent else 'is not there'}:\n{found[name]}")


def main():
    tool, folder = sys.argv[1:3]
    figures, shapes = f"{folder}/figures.cu", f"{folder}/shapes.cu"
    if len(sys.argv) > 3:  # soak
        text = run(tool, figures, "--", "-DNDEBUG", "-arch=sm_90a", "-o", "nothing", classes="2345")
        assert "remark: compiled with -DNDEBUG" in text and "-- assert(" not in text, text
        for c in "12345":
            text = run(tool, figures, classes="12345".replace(c, ""))
            assert f"fact {c}," not in text, text
            one = by_name(text, figures)
            assert ("grid (?, ?, ?)" in one["2"]) == (c == "2"), text
            assert ("argument 2.32: n\n" in one["3"] and "grid (n / 16," in one["3"]) == (c not in "2"), text
        both = subprocess.run([tool, figures, shapes], stdout=subprocess.PIPE, text=True, check=True).stdout
        assert both.count("launch of") == len(FIGURES) + len(SHAPES), both  # two programs: each has a main
        two = f"{folder}/two_launches.cu"
        text = subprocess.run([tool, two, f"{folder}/two_main.cu"], stdout=subprocess.PIPE, text=True, check=True).stdout
        check(text, two, {"two": ["grid (n * 2, 1, 1)", "argument 0.64: p#0 (cudaMalloc", "argument 1.32: n * 2", "3 < (n * 2)"]})
        check(run(tool, two), two, {"two": ["grid (n, 1, 1)", "argument 0.64: a#0 (a parameter", "gap: nothing calls"]})
        return
    check(run(tool, figures), figures, FIGURES)
    check(run(tool, shapes), shapes, SHAPES)


main()
