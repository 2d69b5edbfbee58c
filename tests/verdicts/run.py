#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--soak] [--sanitized] --gpurace GPURACE --nvcc NVCC --folder BUILD [NAME ...]: builds and runs the programs of this folder,
and holds each report against the lines `// expect:` in the program's source (README.md)."""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NVCC_OPTIONS = ["-O1", "-g", "-lineinfo", "-cudart", "shared", "-nodlink", "-gencode", "arch=compute_90,code=compute_90",
                "-I", HERE]
NEEDS_17 = re.compile(r"^#include <(cub|thrust|cuda|cooperative_groups)[/.]", re.M)
VERDICTS = ("races", "clean", "inconclusive", "silent")
SOAK_SEEDS = range(1, 21)
Line = collections.namedtuple("Line", "source number engines defines options arguments verdict wants")
WITH_TEXT = {"class", "only", "not", "says", "lacks", "or"}
OF_TEXT = ("says", "lacks", "or")
WITH_NUMBER = {"seed", "exit"}
ALONE = {"half", "soak", "marked"}


def parse_line(source, number, text):
    """A line `// expect:` as a Line. Raises ValueError for one that is wrong."""
    left, arrow, right = text.partition("=>")
    words, wants = shlex.split(left), shlex.split(right)
    if not arrow or not words or not wants or wants[0] not in VERDICTS:
        raise ValueError("needs ENGINES ... => VERDICT")
    arguments = []
    if "--" in words:
        at = words.index("--")
        words, arguments = words[:at], words[at + 1:]
    parsed, rest = {}, iter(wants[1:])
    for word in rest:
        if word in ALONE:
            parsed[word] = True
        elif word in WITH_NUMBER:
            parsed[word] = int(next(rest, ""))
        elif word in WITH_TEXT:
            parsed.setdefault(word, []).append(next(rest))
        else:
            raise ValueError(f"unknown word {word}")
    defines = tuple(w for w in words[1:] if w.startswith("-D"))
    options = tuple(w for w in words[1:] if not w.startswith("-D"))
    return Line(source, number, words[0].split(","), defines, options, arguments, wants[0], parsed)


def read_lines(source):
    """The expectations of one source."""
    lines = []
    with open(source, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if text.startswith("// expect:"):
                try:
                    lines.append(parse_line(source, number, text[len("// expect:"):]))
                except (ValueError, StopIteration) as error:
                    sys.exit(f"{source}:{number}: {error or 'a word is missing'}")
    if not lines:
        sys.exit(f"{source}: no line `// expect:`")
    return lines


def program_of(args, line):
    """Where the program of a line is built."""
    name = os.path.relpath(line.source, HERE).replace(os.sep, ".")[:-len(".cu")]
    return os.path.join(args.folder, name + "".join(re.sub(r"\W", "_", d) for d in line.defines))


def build(args, source, defines, program):
    """Builds a program if it is older than its source or a header of this folder. Returns the compiler's complaint, or None."""
    newest = max(os.path.getmtime(f) for f in [source, *(os.path.join(HERE, h) for h in os.listdir(HERE) if h.endswith(".h"))])
    if os.path.exists(program) and os.path.getmtime(program) > newest:
        return None
    with open(source, encoding="utf-8") as file:  # nvcc reads its headers a third faster as C++14
        standard = "-std=c++17" if NEEDS_17.search(file.read()) else "-std=c++14"
    done = subprocess.run([args.nvcc, standard, *NVCC_OPTIONS, *defines, "-o", program, source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return f"{source}: nvcc ended with {done.returncode}\n{done.stdout}" if done.returncode else None


def sanitizer_environment(gpurace_command):
    """The environment in which a gpurace that was built with AddressSanitizer, and with its runtime as a shared library, runs programs that
    know nothing of it. libgpurace.so comes before the runtime; what it keeps to the end is no leak."""
    listed = subprocess.run(["ldd", gpurace_command], stdout=subprocess.PIPE, text=True, check=True).stdout
    runtime = re.search(r"=> (/\S*asan\S*)", listed)
    if not runtime:
        sys.exit(f"{gpurace_command} is not linked with AddressSanitizer's shared library:\n{listed}")
    return {**os.environ, "LD_PRELOAD": runtime[1], "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0:exitcode=99"}


def gpurace(args, line, engine, seed, more):
    """Runs a program under an engine. Returns the finished process, its output as text."""
    command = [args.gpurace, "run", "--device", "cpu", "--engine", engine, "--seed", str(seed), "--verbose", *more, *line.options, "--", program_of(args, line), *line.arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, errors="replace", check=False, timeout=300,
                          env=args.environment)


def sanitizer_findings(done):
    """What sanitizers said."""
    return [done.stderr[-4000:]] if re.search(r"ERROR: \w+Sanitizer|: runtime error: ", done.stderr) else []


def marked_lines(source):
    """The numbers of the lines that are marked as a side of a race."""
    with open(source, encoding="utf-8") as file:
        return {number for number, text in enumerate(file, 1) if "//@R" in text}


def problems_of(line, report, status, text):
    """What is wrong with one report."""
    wants, problems = line.wants, []
    if report["verdict"] == "clean" and any(s in text for s in wants.get("or", [])):
        return []
    found = report["races"] + report.get("misuses", [])
    classes = {f["class"] for f in found}
    if line.verdict != ("silent" if not found and line.verdict == "silent" else report["verdict"]):
        problems.append(f"verdict {report['verdict']}: {', '.join(sorted(classes)) or '; '.join(report.get('reasons', []))}")
    problems += [f"no {c!r} among {sorted(classes)}" for c in wants.get("class", []) if c not in classes]
    problems += [f"{c!r} is reported" for c in wants.get("not", []) if c in classes]
    if "only" in wants and classes - set(wants["only"]):
        problems.append(f"{sorted(classes - set(wants['only']))} are reported, too")
    problems += [f"the report does not say {s!r}" for s in wants.get("says", []) if s not in text]
    problems += [f"the report says {s!r}" for s in wants.get("lacks", []) if s in text]
    if "exit" in wants and status != wants["exit"]:
        problems.append(f"exit status {status}")
    if "marked" in wants:
        marks = marked_lines(line.source)
        for race in report["races"]:
            lines = {f["line"] for a in race["accesses"] for f in a["frames"]}
            if race["accesses"] and not lines & marks:
                problems.append(f"{race['class']} at {sorted(lines)}, where no mark is")
    return problems


def check_run(args, line, engine, seed):
    """What is wrong with one run, as a list of texts."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "report.json")
        try:
            done = gpurace(args, line, engine, seed, ["--format", "json", "--output", output])
            if said := sanitizer_findings(done):
                return said
            with open(output, encoding="utf-8") as file:
                report = json.load(file)
            text = " ".join(gpurace(args, line, engine, seed, []).stderr.split()) if any(w in line.wants for w in OF_TEXT) else ""
        except subprocess.TimeoutExpired:
            return ["it has not ended within 300 seconds"]
        except (OSError, ValueError) as error:
            return [f"no report ({error}): exit status {done.returncode}\n{done.stderr[-2000:]}"]
    return problems_of(line, report, done.returncode, text)


def check_line(args, line, engine):
    """Runs a line under one engine with all seeds that are due. Returns what went wrong, and how many runs there were."""
    if not args.soak:
        seeds = [line.wants.get("seed", 1)]
    else:
        seeds = list(SOAK_SEEDS)
    wrong = [(seed, p) for seed in seeds if (p := check_run(args, line, engine, seed))]
    allowed = len(seeds) // 2 if "half" in line.wants and args.soak else 0
    if len(wrong) <= allowed:
        return [], len(seeds)
    where = f"{os.path.relpath(line.source, HERE)}:{line.number}: {engine}"
    return [f"{where}: {len(wrong)} of {len(seeds)} seeds; seed {wrong[0][0]}: " + "\n    ".join(wrong[0][1])], len(seeds)


def is_due(args, line):
    """Whether a line is run this time."""
    return args.soak or not ("soak" in line.wants or ("half" in line.wants and "seed" not in line.wants))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpurace", required=True)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--folder", required=True, help="where the programs are built")
    parser.add_argument("--soak", action="store_true", help="20 seeds, and the lines marked `soak`")
    parser.add_argument("--sanitized", action="store_true", help="GPURACE is one that was built with AddressSanitizer")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*", help="programs, such as once_wrong/NAME; all without")
    args = parser.parse_args()
    args.environment = sanitizer_environment(args.gpurace) if args.sanitized else None
    os.makedirs(args.folder, exist_ok=True)
    sources = sorted(os.path.join(HERE, d, f) for d in ("once_wrong", "field") for f in os.listdir(os.path.join(HERE, d)) if f.endswith(".cu"))
    if args.names:
        sources = [s for s in sources if os.path.relpath(s, HERE)[:-len(".cu")] in args.names]
        if len(sources) != len(args.names):
            sys.exit(f"found {sources} of {args.names}")
    lines = [line for source in sources for line in read_lines(source) if is_due(args, line)]
    programs = {program_of(args, line): (line.source, line.defines) for line in lines}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        complaints = [c for c in pool.map(lambda item: build(args, *item[1], item[0]), programs.items()) if c]
        if complaints:
            sys.exit("\n".join(complaints))
        results = list(pool.map(lambda pair: check_line(args, *pair), [(line, engine) for line in lines for engine in line.engines]))
    failed = [text for problems, _ in results for text in problems]
    print("\n".join(failed + [f"{len(programs)} programs, {len(results)} lines and engines, {sum(n for _, n in results)} runs: {len(failed)} wrong"]))
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
