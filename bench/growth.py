#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How code, time and memory grow.

What the collider's code costs before it runs: growth.py GPURACE [--arch sm_90] [--json FILE] [--option=OPTION]... SET=PATH...

Every PTX module of the programs, libraries, .ptx files or folders PATH is assembled as it is and as rewritten, with ptxas -v. A table for
each SET: registers, spills and bytes of machine code of its kernels before and after, and the instructions inserted for each checked access, in PTX.
Identical modules count once. A second table: time and memory that `gpurace ptx` takes for modules of more and more small kernels
(--kernels). --option adds an option of `gpurace ptx`, as in --option=--read-delay=1.

How time and memory grow with a run: growth.py GPURACE --runs FOLDER [--engine NAME] [--option=OPTION]... [--program NAME]... [--rounds N] [--limit SECONDS]

Each program of bench/programs that says `// GROWS: ARGS | ARGS | ...` (each with about twice as much to do: launches, rounds of copies in several streams, modules,
accesses) runs with each of these under `exact`, or the engine of --engine; a program may have several such lines. Lines `// GROWS ENGINE: ...` are for an engine that needs longer. FOLDER holds the programs. The table has the processor time of the device's work, that of the whole run less that of a
run with one launch, and the largest resident set, the least of N rounds, and how many times as much as for the arguments before. The exponent is the logarithm of how many times as long the whole run took, by that of how much
more there was to do (by the numbers among the arguments): 1 is linear, and twice the work in 2.4 times the time is 1.26. After a run that takes longer than the limit the line ends. (Of memory, what is less than this script's own 20 MiB does not show.)
"""
import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile

REGISTERS, RESIDENT = 65536, 64  # of a multiprocessor; warps (CUDA Programming Guide, compute capabilities 7.0 to 9.0)


def modules_of(gpurace, path, folder):
    """The PTX files at `path`."""
    path = pathlib.Path(path)
    if path.suffix == ".ptx":
        return [path]
    if path.is_dir():
        return [m for p in sorted(path.rglob("*")) if p.is_file() and not p.is_symlink() and (p.suffix == ".ptx" or os.access(p, os.X_OK))
                for m in modules_of(gpurace, p, folder)]
    out = pathlib.Path(tempfile.mkdtemp(dir=folder))
    run = subprocess.run([gpurace, "fatbin", "--extract-ptx", out, path], capture_output=True, text=True)
    return sorted(out.glob("*.ptx")) if run.returncode == 0 else []


def text_bytes(cubin):
    """Sizes of the code sections, by kernel or function."""
    data = pathlib.Path(cubin).read_bytes()
    at, size, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, at + k * size) for k in range(count)]
    strings = headers[names][4]
    found = {}
    for name, _, _, _, _, length in headers:
        text = data[strings + name : data.index(b"\0", strings + name)].decode()
        if text.startswith(".text."):
            found[text[len(".text.") :]] = length
    return found


def assemble(ptxas, arch, ptx, cubin, relocatable):
    """{kernel: (registers, spilled bytes, bytes of code)}, or what ptxas says."""
    command = [ptxas, "-v", f"-arch={arch}", ptx, "-o", cubin] + (["-c"] if relocatable else [])
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr
    kernels, name, spilled = {}, None, 0
    for line in run.stderr.splitlines():
        if found := re.search(r"Compiling entry function '(\S+)'", line):
            name, spilled = found.group(1), 0
        elif found := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spilled += int(found.group(1)) + int(found.group(2))
        elif (found := re.search(r"Used (\d+) registers", line)) and name:
            kernels[name] = [int(found.group(1)), spilled]
            name = None
    sizes = text_bytes(cubin)
    return {k: (*v, sizes.get(k, 0)) for k, v in kernels.items()}, sum(sizes.values())


def inserted(text):
    """Instructions inserted: beside accesses, out of line (behind the last statement of the program's), and at the start of functions."""
    beside = away = start = 0
    site, plain = re.compile(r"\t/\*@gr:\d+\*/ (.*)"), re.compile(r"\t/\*@gr\*/ (.*)")
    for body in re.findall(r"^\{\n(.*?)^\}", text, re.M | re.S):
        lines = body.split("\n")
        last = max((k for k, l in enumerate(lines) if l.strip() and "/*@gr" not in l), default=0)
        for k, line in enumerate(lines):
            for at in (found := site.match(line)) and [found.group(1)] or []:
                if at[0] in "{}." or at.startswith("$"):
                    continue
                beside, away = beside + (k < last), away + (k > last)
            if (found := plain.match(line)) and found.group(1)[0] not in "{}.$":
                start += 1
    return beside, away, start


def measure(gpurace, ptxas, arch, options, path, folder):
    """One module: {"kernels": {name: (before, after)}, ...}, or why not."""
    out = tempfile.mkdtemp(dir=folder)
    rewritten = f"{out}/rewritten.ptx"
    run = subprocess.run([gpurace, "ptx", "--engine", "collider", *options, path, "-o", rewritten], capture_output=True, text=True)
    if run.returncode != 0:
        return f"{path.name}: {run.stderr.strip()}"
    checked = re.search(r"(\d+) checked", run.stderr)
    for relocatable in (False, True):
        before, size = assemble(ptxas, arch, path, f"{out}/before", relocatable)
        after, grown = assemble(ptxas, arch, rewritten, f"{out}/after", relocatable)
        if before is not None and after is not None:
            break
    else:
        return f"{path.name}: {str(size if before is None else grown).strip()[:300]}"
    beside, away, start = inserted(pathlib.Path(rewritten).read_text())
    return {"sites": int(checked.group(1)) if checked else 0, "beside": beside, "away": away, "start": start, "bytes": (size, grown),
            "kernels": {k: (before[k], after[k]) for k in before if k in after}}


def warps(registers):
    return min(RESIDENT, REGISTERS // (max(registers + 7 & ~7, 8) * 32))


def summary(name, modules):
    kernels = [(k, *v) for m in modules for k, v in m["kernels"].items()]
    sites = sum(m["sites"] for m in modules)
    if not kernels:
        return None
    grown = [b[2] / a[2] for _, a, b in kernels if a[2]]
    more = [b[0] - a[0] for _, a, b in kernels]
    return {"set": name, "modules": len(modules), "kernels": len(kernels), "sites": sites,
            "registers_before": statistics.mean(a[0] for _, a, _ in kernels), "registers_after": statistics.mean(b[0] for _, _, b in kernels),
            "registers_geomean": math.exp(statistics.mean(math.log(b[0] / a[0]) for _, a, b in kernels)),
            "registers_worst": max(more), "registers_worst_of": kernels[more.index(max(more))][0],
            "fewer_warps": sum(warps(b[0]) < warps(a[0]) for _, a, b in kernels),
            "warps_before": statistics.mean(warps(a[0]) for _, a, _ in kernels), "warps_after": statistics.mean(warps(b[0]) for _, _, b in kernels),
            "spilled_before": sum(a[1] > 0 for _, a, _ in kernels), "spilled_after": sum(b[1] > 0 for _, _, b in kernels),
            "spilled_kernels": sorted(k for k, a, b in kernels if b[1] > a[1]),
            "bytes_before": sum(m["bytes"][0] for m in modules), "bytes_after": sum(m["bytes"][1] for m in modules),
            "bytes_geomean": statistics.geometric_mean(grown), "bytes_worst": max(grown),
            "bytes_worst_of": max((b[2] / a[2], k) for k, a, b in kernels if a[2])[1],
            "inserted_per_site": sum(m["beside"] for m in modules) / max(sites, 1), "out_of_line_per_site": sum(m["away"] for m in modules) / max(sites, 1)}


def run_once(gpurace, engine, options, program, words, limit):
    """Milliseconds of the device's work, of the whole run, KiB resident; None: it took too long."""
    with tempfile.TemporaryDirectory(prefix="gpurace-bench-") as folder:
        errors = os.path.join(folder, "errors")
        command = [gpurace, "run", "--device", "cpu", "--engine", engine, *options, "--error-exitcode", "0", "--output", os.path.join(folder, "report"), "--", str(program), *words]
        with open(errors, "w") as e:
            child = subprocess.Popen(["timeout", str(limit), *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=e, env=dict(os.environ, GPURACE_CPU_DEVICE="times=1"))
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        text = pathlib.Path(errors).read_text(errors="replace")
    if child.returncode == 124:
        return None
    found = re.findall(r"and worked for ([\d.]+) ms", text)
    if child.returncode != 0 or not found:
        sys.exit(f"growth: {' '.join(command)}: status {child.returncode}\n{text}")
    return sum(map(float, found)), (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss


def work_of(words):
    """How much there is to do, by the arguments that are numbers."""
    return math.prod(int(w) for w in words.split() if w.isdigit())


def exponent(row, before):
    """Of the whole run's time; "" where the work is the same, or a time is too short to tell."""
    more = work_of(row["args"]) / work_of(before["args"])
    if more == 1 or min(row["run_ms"], before["run_ms"]) < 20:
        return ""
    return f"{math.log(row['run_ms'] / before['run_ms']) / math.log(more):.2f}"


def rows_of(args, engine, source, line):
    """The rows of one line of a program."""
    gpurace, options, folder, rounds, limit, start = args
    rows = []
    for words in (s.strip() for s in line.split("|")):
        of = [run_once(gpurace, engine, options, pathlib.Path(folder, source.stem), words.split(), limit) for _ in range(rounds)]
        if None in of:
            print(f"| {source.stem} | {words} | more than {limit} s |", flush=True)
            break
        r = {"program": source.stem, "line": line, "args": words, **{k: min(o[n] for o in of) for n, k in enumerate(("ms", "run_ms", "kib"))}}
        r["run_ms"] = max(r["run_ms"] - start, 0)
        before = rows[-1] if rows else None
        more = [f"{r[k] / max(before[k], 1e-3):.2f}" if before else "" for k in ("ms", "run_ms", "kib")]
        r["exponent"] = exponent(r, before) if before else ""
        print(f"| {r['program']} | {words} | {r['ms']:.1f} | {more[0]} | {r['run_ms']:.0f} | {more[1]} | {r['exponent']} | {r['kib'] / 1024:.1f} | {more[2]} |", flush=True)
        rows.append(r)
    return rows


def runs(gpurace, engine, options, folder, chosen, rounds, limit, file):
    """The table of programs that grow; all their numbers, to `file` too."""
    rows = []
    first = [run_once(gpurace, engine, options, pathlib.Path(folder, "many_launches"), ["1"], limit) for _ in range(max(rounds, 3))]
    start = min(o[1] for o in first if o) if any(first) else 0
    print(f"| program | arguments | {engine}, ms | times as much | whole run, ms | times as much | exponent | resident, MiB | times as much |\n" + "|---" * 9 + "|")
    for source in sorted((pathlib.Path(__file__).resolve().parent / "programs").glob("*.cu")):
        text = source.read_text(encoding="utf-8")
        steps = re.findall(rf"^// GROWS {engine}: (.*)", text, re.M) or re.findall(r"^// GROWS: (.*)", text, re.M)
        for line in steps if source.stem in (chosen or [source.stem]) else []:
            rows += rows_of((gpurace, options, folder, rounds, limit, start), engine, source, line)
    if file:
        pathlib.Path(file).write_text(json.dumps({"rows": rows}, indent=1))
    return 0 if rows else 1


KERNEL = """.visible .entry k{0}(.param .u64 p{0})
{{
.reg .b32 %r<3>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [p{0}]; cvta.to.global.u64 %rd2, %rd1; ld.global.u32 %r1, [%rd2]; add.s32 %r2, %r1, 1; st.global.u32 [%rd2+4], %r2; ret;
}}
"""


def many_kernels(gpurace, count, folder):
    """What `gpurace ptx` takes for a module of `count` kernels that load and store once each."""
    source = pathlib.Path(folder) / "many.ptx"
    with source.open("w") as file:
        file.write(".version 8.4\n.target sm_90\n.address_size 64\n")
        file.writelines(KERNEL.format(k) for k in range(count))
    pid = os.posix_spawn(gpurace, [gpurace, "ptx", str(source), "-o", f"{folder}/many.out"], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"gpurace ptx fails on {count} kernels")
    return {"kernels": count, "seconds": used.ru_utime + used.ru_stime, "mib": used.ru_maxrss / 1024}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpurace")
    parser.add_argument("sets", nargs="*", metavar="SET=PATH")
    parser.add_argument("--runs", default="", metavar="FOLDER")
    parser.add_argument("--engine", default="exact", help="with --runs (default: %(default)s)")
    parser.add_argument("--program", action="append", default=[], help="with --runs: only this one (may be there several times)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=120, help="with --runs: seconds that a run may take (default: %(default)s)")
    parser.add_argument("--kernels", default="1000,10000,100000")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--json", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--option", action="append", default=[])
    o = parser.parse_args()
    options = [word for option in o.option for word in option.split("=", 1)]
    if o.runs:
        return runs(o.gpurace, o.engine, options, o.runs, o.program, o.rounds, o.limit, o.json)
    rows, failed, seen = [], [], set()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        sets = {}
        for word in o.sets:
            name, path = word.split("=", 1)
            for module in modules_of(o.gpurace, path, folder):
                digest = hashlib.sha256(module.read_bytes()).digest()
                if digest not in seen:
                    seen.add(digest)
                    sets.setdefault(name, []).append(module)
        everything = []
        for name, paths in sets.items():
            done = list(pool.map(lambda p: measure(o.gpurace, o.ptxas, o.arch, options, p, folder), paths))
            failed += [m for m in done if isinstance(m, str)]
            good = [m for m in done if not isinstance(m, str)]
            everything += good
            rows.append(summary(name, good))
        rows.append(summary("all", everything))
        many = [many_kernels(o.gpurace, int(n), folder) for n in o.kernels.split(",") if n]
    print("| kernels in a module | `gpurace ptx`, CPU seconds | MiB |\n|---|---|---|")
    for row in many:
        print(f"| {row['kernels']} | {row['seconds']:.2f} | {row['mib']:.0f} |")
    rows = [r for r in rows if r]
    if not rows:
        return 0
    print("\n| programs | modules | kernels | accesses checked | registers | geomean, worst | warps that fit | kernels that spill | machine code, KiB | geomean, worst | PTX per access | out of line |")
    print("|---" * 12 + "|")
    for r in rows:
        print(f"| {r['set']} | {r['modules']} | {r['kernels']} | {r['sites']} | {r['registers_before']:.1f} → {r['registers_after']:.1f} | "
              f"{r['registers_geomean']:.2f}, +{r['registers_worst']} | {r['warps_before']:.1f} → {r['warps_after']:.1f} | {r['spilled_before']} → {r['spilled_after']} | "
              f"{r['bytes_before'] / 1024:.0f} → {r['bytes_after'] / 1024:.0f} | {r['bytes_geomean']:.2f}, {r['bytes_worst']:.1f} | "
              f"{r['inserted_per_site']:.1f} | {r['out_of_line_per_site']:.1f} |")
    print(f"\nmost registers: +{rows[-1]['registers_worst']}, {rows[-1]['registers_worst_of']}; "
          f"most code: {rows[-1]['bytes_worst']:.1f} times, {rows[-1]['bytes_worst_of']}")
    print(f"spill more than before: {', '.join(rows[-1]['spilled_kernels']) or 'none'}")
    for text in failed:
        print(f"not measured: {text}", file=sys.stderr)
    if o.json:
        pathlib.Path(o.json).write_text(json.dumps({"arch": o.arch, "options": options, "rows": rows, "many": many, "failed": failed}, indent=1))
    return 0 if len(rows) > 1 else 1


if __name__ == "__main__":
    sys.exit(main())
