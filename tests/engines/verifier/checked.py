# SPDX-License-Identifier: Apache-2.0
"""What one run of `gpurace check` says, for the scripts beside this one."""
import json
import pathlib
import re
import subprocess
import time

LIMIT = 600  # seconds for a program
COUNTED = re.compile(r"of its pairs of accesses (\d+) proved, (\d+) shown, (\d+) possible, (\d+) unknown")


def words_of(path, kind):
    """What the program's own lines `// KIND: words` say."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return [w for line in re.findall(rf"^// {kind}: (.*)$", text, re.M) for w in line.split()]


def pairs_of(text):
    """[proved, shown, possible, unknown] of a remark of one kernel and launch; None: it has none."""
    found = COUNTED.search(text)
    return found and [int(n) for n in found.groups()]


def sum_of(counts):
    return [sum(c[k] for c in counts) for k in range(4)]


def ask(gpurace, files, nvcc, options=()):
    """The report, what was typed before it on standard error, and the seconds. The report is None where there is none; the text says why."""
    words = [gpurace, "check", "--format", "json", *options, *map(str, files), "--", *nvcc]
    begin = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, f"no report after {LIMIT} s", LIMIT
    seconds = time.monotonic() - begin
    begin_of = re.search(r"^\{", done.stderr, re.M)  # nvcc may have said something before
    if not begin_of:
        return None, f"no report, exit status {done.returncode}: {done.stderr[-300:]}", seconds
    return json.loads(done.stderr[begin_of.start():]), done.stderr[:begin_of.start()], seconds
