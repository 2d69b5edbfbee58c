#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-tidy.py BUILD [FILE...]: clang-tidy's checks for faults (.clang-tidy) over all C files that the build compiles, or over some.
Versions of clang-tidy find different things: 14 decides, and without it the check is skipped (77)."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANY = 25  # files to a process: starting one takes as long as a small file


def unexplained():
    """Checks that .clang-tidy switches off without a comment that begins with their name."""
    text = (ROOT / ".clang-tidy").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"-((?:bugprone|cert)-[\w-]+)", re.sub("#.*", "", text))) - set(re.findall(r"^# +((?:bugprone|cert)-[\w-]+)  +\S", text, re.M)))


def command_of(entry):
    """What the preprocessor has to know. Options of gcc's are none of clang's, and clang's own warnings are not asked for."""
    words, kept = iter(shlex.split(entry["command"])), ["clang", "-w"]
    for word in words:
        if word in ("-include", "-isystem"):
            kept += [word, next(words)]
        elif re.match("-[DI]|-std=", word):
            kept.append(word)
    return kept + [entry["file"]]


def commands(build):
    """Each C file of ours once, though several libraries are made of some."""
    rows = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = Path(entry["file"])
        if file.is_relative_to(ROOT) and not file.is_relative_to(build):
            rows.setdefault(entry["file"], {"directory": entry["directory"], "file": entry["file"], "arguments": command_of(entry)})
    return rows


def main():
    build, wanted = Path(sys.argv[1]).resolve(), {str(Path(f).resolve()) for f in sys.argv[2:]}
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tool or "version 14." not in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout:
        print("skipped: clang-tidy 14 is not here")
        return 77
    rows = commands(build)
    files = sorted(f for f in rows if not wanted or f in wanted)
    (build / "tidy").mkdir(exist_ok=True)
    (build / "tidy" / "compile_commands.json").write_text(json.dumps(list(rows.values())), encoding="utf-8")

    def look(some):
        return subprocess.run([tool, "--quiet", "-p", build / "tidy", *some], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(look, [files[k:k + MANY] for k in range(0, len(files), MANY)]))
    wrong = [f".clang-tidy: {name} is off without a reason" for name in unexplained()]
    wrong += [run.stdout + run.stderr for run in done if run.returncode]
    print("\n".join(wrong + [f"{len(files)} files looked at"]))
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
