# SPDX-License-Identifier: Apache-2.0
"""What one run of `gpurace check` says, for the scripts beside this one."""
import json
import pathlib
import re
import subprocess
import tempfile
import time

LIMIT = 600  # seconds for a program
COUNTED = re.compile(r"of its pairs of accesses (\d+) proved, (\d+) shown, (\d+) possible, (\d+) unknown(?:, (\d+) assumed)?")


def words_of(path, kind):
    """What the program's own lines `// KIND: words` say."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return [w for line in re.findall(rf"^// {kind}: (.*)$", text, re.M) for w in line.split()]


def pairs_of(text):
    """[proved, shown, possible, unknown] of a remark of one kernel and launch, where what is assumed is unknown, too; None: it has none."""
    found = COUNTED.search(text)
    counts = found and [int(n or 0) for n in found.groups()]
    return counts and counts[:3] + [counts[3] + counts[4]]


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


def exact(gpurace, program, values, seed, limit):
    """What exact says of one run of the program, at most `limit` seconds of it, and its exit status."""
    out = program.with_name("run.json")
    out.unlink(missing_ok=True)
    done = subprocess.run([gpurace, "run", "--engine", "exact", "--device", "cpu", "--seed", str(seed), "--max-reports", "0", "--timeout", str(limit),
                           "--format", "json", "--output", out, "--", program, *map(str, values)], capture_output=True, text=True, check=False)
    if not out.exists():
        raise RuntimeError(f"no report of {program} {values}: {done.stdout}{done.stderr}")
    return json.loads(out.read_text()), done.returncode


def random_options(parser, seeds):
    """What the tests of random programs take."""
    parser.add_argument("gpurace")
    parser.add_argument("nvcc")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1, help="programs")
    parser.add_argument("--seeds", type=int, default=seeds, help="schedules of each")
    parser.add_argument("--damage", action="store_true", help="the verifier gets another program; fail if nothing is noticed")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the files of the last program there")


def each(options, one):
    """Calls one(number, folder) for the programs that the options name."""
    for number in range(options.first, options.first + options.count):
        with tempfile.TemporaryDirectory() as folder:
            one(number, pathlib.Path(options.keep or folder))
