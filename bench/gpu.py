#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the collider costs on a GPU: gpu.py [BUILD] [--rounds 9] [--program-rounds 3] [--only REGEX] [--json FILE] [--update-docs FILE]

`make bench-gpu` builds what is needed and runs this. Two tables, each with all variants side by side, from one run: kernels of bench/kernels.cu (gpu_bench: kernel
times by events, geometric means), and the programs of tests/complete (gpu_programs.py: kernel times by CUPTI, geometric means of the rounds, which are runs with another seed each;
racecheck, where compute-sanitizer is on PATH).
Fast, balanced and sampled are the SuperCollider paper's (section 5.3.1). Where ptxas is there, all variants of the kernels are assembled first, side by side.
A process takes half a second to find the GPU, and its kernels some milliseconds: the rounds of a program are runs in one process, and --parallel N runs N programs
at a time, which seldom meet on the GPU. Then a few programs run again one at a time, for the times of whole programs and the memory.
--update-docs puts the tables between the two marks in FILE. Without a GPU it says so, and the exit status is 77.
"""
import argparse
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import alternate
import gpu_programs
from alternate import geomean, median

MARKS = "<!-- gpu: begin -->", "<!-- gpu: end -->"
PAPER = {"fast": "4.86, 3.57, 229", "balanced": "11.21, 11.94, 1066", "sampled": "1.98, 1.54, 41.3"}
DELAYS = {"default": (5000, 5000), "balanced": (5000, 1), "fast": (1, 1)}
LONGER = {"default", "balanced"}  # of these a seed says how long waits are
TITLE = {"default": "default: 5000, 5000", "balanced": "balanced: 5000, 1", "fast": "fast: 1, 1", "every": "default, `--windows all`",
         "every-fast": "fast, `--windows all`", "shut": "all windows shut", "sampled": "sampled: `--sample 1`, 5000, 1", "budget": "`--budget 2x`", "on-time": "default, `--late-work no`", "racecheck": "racecheck"}


def why_no_gpu():
    """"": there is one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no NVIDIA driver (libcuda.so.1)"
    count = ctypes.c_int(0)
    if (rc := driver.cuInit(0)) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return f"NVIDIA's driver does not start (CUDA error {rc})"
    return "" if count.value else "NVIDIA's driver finds no GPU"


def card():
    run = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=False) if shutil.which("nvidia-smi") else None
    return run.stdout.splitlines()[0].replace(", ", ", driver ") if run and run.returncode == 0 and run.stdout else "a GPU"


# ---- Kernels -------------------------------------------------------------------------------------------------------------


def command(args, words):
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"bench-gpu: {' '.join(map(str, words))}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def times_of(text):
    """{file: {kernel: ms}} of what gpu_bench prints."""
    found = {}
    for line in text.splitlines():
        name, *cells = line.split()
        if cells and all("=" in c for c in cells):
            found[name] = {k: float(v) for k, v in (c.split("=") for c in cells)}
    return found


def kernels(args, folder):
    """{column: {kernel: ms}}"""
    plain = pathlib.Path(args.build, "bench/kernels.ptx")
    gpurace, bench, ptxas = os.path.join(args.build, "gpurace"), os.path.join(args.build, "bench/gpu_bench"), shutil.which("ptxas")
    names = ["saxpy", "matmul", "reduce", "hist", "nbody", "touch4", "collatz", "table", "chase", "relax"]
    options = {"plain": None}
    for column, (read, write) in DELAYS.items():
        options[column] = ["--read-delay", str(read), "--write-delay", str(write)]
        if column != "balanced":
            options["every-fast" if column == "fast" else "every"] = [*options[column], "--windows", "all"]
    options["shut"] = ["--budget", "2x"]
    wanted = {"plain", *args.columns.split(",")} | ({"shut"} if "budget" in args.columns.split(",") else set())
    options = {column: words for column, words in options.items() if column in wanted}
    for column in LONGER & options.keys(): # a file for each of five seeds, because one of them waits longer
        words = options.pop(column)
        options |= {f"{column}.{seed}": [*words, "--seed", str(seed)] for seed in range(1, 6)}
    balanced = ["--read-delay", "5000", "--write-delay", "1"]
    for name in names if "sampled" in wanted else ():
        for seed in range(1, args.seeds + 1):
            options[f"sampled-{name}-{seed}"] = [*balanced, "--kernel", f"^{name}$", "--sample", "1", "--seed", str(seed)]

    def make(item):
        name, words = item
        path = folder / name
        if words is None:
            shutil.copy(plain, path)
        else:
            command(args, [gpurace, "ptx", "--engine", "collider", *words, plain, "-o", path])
        if ptxas and args.arch:
            command(args, [ptxas, f"-arch={args.arch}", path, "-o", f"{path}.cubin"])
            os.replace(f"{path}.cubin", path)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(make, options.items()))
    whole = [folder / n for n in options if not n.startswith("sampled-")]
    files = [f"{f}@1" if f.name == "shut" else str(f) for f in whole]
    files += [f"{folder / n}#{n.split('-')[1]}" for n in options if n.startswith("sampled-")]
    times = times_of(command(args, [bench, str(args.rounds), *files]))
    found = {}
    for column in dict.fromkeys(f.name.split(".")[0] for f in whole):
        some = [times[f.name] for f in whole if f.name.split(".")[0] == column]
        found[column] = {k: geomean(one[k] for one in some) for k in some[0]}
    if "sampled" in wanted:
        found["sampled"] = {k: geomean(times[f"sampled-{k}-{s}"][k] for s in range(1, args.seeds + 1)) for k in names}
    if "budget" not in wanted:
        return found
    report = folder / "report"
    text = command(args, [gpurace, "run", "--device", "gpu", "--engine", "collider", "--budget", "2x", "--output", report, "--", bench, str(max(args.rounds, 24)), plain])
    print(report.read_text(errors="replace"), flush=True)
    found["budget"] = times_of(text)[plain.name]
    return found


def kernel_table(found):
    columns = [c for c in ("every", "default", "balanced", "every-fast", "fast", "shut", "sampled", "budget") if c in found]
    plain = found["plain"]
    yield "| kernel | plain, ms | " + " | ".join(TITLE[c] for c in columns) + " |"
    yield "|---" * (2 + len(columns)) + "|"
    slow = {c: {k: found[c][k] / plain[k] for k in plain} for c in columns}
    for k, ms in plain.items():
        yield f"| {k} | {ms:.3f} | " + " | ".join(f"{slow[c][k]:.2f}" for c in columns) + " |"
    for title, of in (("geometric mean", geomean), ("median", median), ("worst", max)):
        yield f"| {title} | | " + " | ".join(f"{of(slow[c].values()):.2f}" for c in columns) + " |"


# ---- Programs ------------------------------------------------------------------------------------------------------------


def program_table(rows, columns, alone):
    """`alone`: rows of programs that ran one at a time."""
    yield "| | programs | kernels: geometric mean | median | worst | slowest run | whole program: geometric mean | worst | the paper's geometric mean, median, worst |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for c in columns:
        kernel, wall = gpu_programs.ratios(rows, c, 1), gpu_programs.ratios(alone, c, 2)
        if c == "none" or not (kernel or wall):
            continue
        cells, whole = ["", "", "", ""], ["", ""]
        if wall:
            worst = max(wall, key=wall.get)
            whole = [f"{geomean(wall.values()):.2f}", f"{wall[worst]:.1f} ({worst})"]
        if kernel and c != "racecheck":
            k = max(kernel, key=kernel.get)
            slowest = gpu_programs.ratios(rows, c, 2)
            s = max(slowest, key=slowest.get)
            cells = [f"{geomean(kernel.values()):.2f}", f"{median(kernel.values()):.2f}", f"{kernel[k]:.1f} ({k})", f"{slowest[s]:.1f} ({s})"]
        yield f"| {TITLE.get(c, c)} | {len(kernel or wall)} | {' | '.join(cells)} | {' | '.join(whole)} | {PAPER.get(c, '')} |"
    yield ""
    whole = {n: r for n, r in alone.items() if isinstance(r.get("none"), list) and isinstance(r.get("default"), list)}
    for place, scale, what in ((4, 1, "Device memory in use"), (3, 1024, "The host's largest resident set")):
        more = {n: (r["default"][place] - r["none"][place]) / scale for n, r in whole.items()}
        if more:
            most = max(more, key=more.get)
            yield f"{what}: {statistics.mean(more.values()):.1f} MiB more on average of {len(more)} programs, at most {more[most]:.1f} MiB ({most})."
    if whole:
        yield "(The paper, of seven large programs: 109 and 282 MiB, section 5.3.4.)"
    broken = sorted({f"{n} under {c}: {v}" for n, r in rows.items() for c, v in r.items() if isinstance(v, str)})
    if broken:
        yield ""
        yield f"Left out: {'; '.join(b[:120] for b in broken[:12])}{'; …' if len(broken) > 12 else ''}."
    yield ""
    shown = [c for c in columns if c not in ("none", "racecheck") and any(c in r for r in rows.values())]
    yield "| program | kernels | plain, ms | " + " | ".join(TITLE.get(c, c) for c in shown) + " |"
    yield "|---" * (3 + len(shown)) + "|"
    for n, r in sorted(rows.items()):
        if not isinstance(r["none"], str):
            yield f"| {n} | {r['none'][0]:.0f} | {r['none'][1] / 1e6:.3f} | " + " | ".join(
                f"{gpu_programs.ratios({n: r}, c, 1).get(n, 0):.2f}" if not isinstance(r[c], str) else "" for c in shown) + " |"


def together(found, rows, columns):
    """Kernels and programs, each as one."""
    yield "| | kernels and programs | geometric mean | worst |"
    yield "|---|---|---|---|"
    for c in columns:
        slow = {f"{k}, kernel": ms / found["plain"][k] for k, ms in found[c].items()} if c in found and c != "plain" else {}  # programs may have a kernel's name
        slow |= gpu_programs.ratios(rows, c, 1) if c not in ("none", "racecheck") else {}
        if c in found and len(slow) > len(found[c]):
            worst = max(slow, key=slow.get)
            yield f"| {TITLE[c]} | {len(slow)} | {geomean(slow.values()):.2f} | {slow[worst]:.1f} ({worst}) |"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", nargs="?", default="build")
    p.add_argument("--find", action="store_true", help="only say whether there is a GPU")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--program-rounds", type=int, default=5)
    p.add_argument("--seeds", type=int, default=13, help="of the column sampled, as in the paper")
    p.add_argument("--parts", default="kernels,programs", help="kernels, programs or both")
    p.add_argument("--only", default="", help="programs whose name this regular expression matches")
    p.add_argument("--columns", default="none,every,default,on-time,balanced,every-fast,fast,sampled,budget,racecheck")
    p.add_argument("--arch", default="sm_90", help="of the GPU, for ptxas; empty: the driver compiles")
    p.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    p.add_argument("--parallel", type=int, default=1, metavar="N")
    p.add_argument("--limit", type=float, default=0, metavar="SECONDS", help="with --parallel: begin no program later than that; 0: whenever")
    p.add_argument("--alone", type=int, default=16, metavar="N", help="with --parallel: so many programs run again")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--json", default="")
    p.add_argument("--update-docs", default="")
    args = p.parse_args()
    if reason := why_no_gpu():
        print(f"bench-gpu: skipped: {reason}")
        return 77
    if args.find:
        return 0
    lines, found = [f"{card()}."], {}
    if "kernels" in args.parts:
        with tempfile.TemporaryDirectory(prefix="gpurace-bench-") as folder:
            found = kernels(args, pathlib.Path(folder))
        lines += ["", f"Kernels of bench/kernels.cu: geometric means of {args.rounds} rounds, each as in a kernel's first launch, and of five seeds (sampled: {args.seeds}); how many times as long as without checks.", "", *kernel_table(found)]
        print("\n".join(lines), flush=True)
    folder, times = pathlib.Path(args.build, "complete-programs"), pathlib.Path(args.build, "bench/libkernel_times.so")
    programs = [str(f) for f in sorted(folder.glob("*")) if os.access(f, os.X_OK) and f.is_file() and f.name != "tested" and re.search(args.only, f.name)]
    rows = {}
    if "programs" not in args.parts:
        pass
    elif not times.exists():
        lines += ["", f"Programs were not measured: CUPTI is not installed, so there is no {times.name}."]
    elif programs:
        columns, repeat = args.columns.split(","), os.path.join(args.build, "bench/librepeat.so")
        if not os.path.exists(repeat):
            sys.exit(f"bench-gpu: {repeat} is missing: build the target repeat")
        own = argparse.Namespace(gpurace=os.path.join(args.build, "gpurace"), kernel_times=str(times), rounds=args.program_rounds, timeout=args.timeout, jobs=args.jobs, output="", repeat=repeat, seeds=args.seeds,
                                 parallel=args.parallel, until=time.time() + args.limit if args.limit else None)
        bench = gpu_programs.Bench(own)
        if "racecheck" in columns and not bench.sanitizer:
            columns.remove("racecheck")
        rows = gpu_programs.measure_all(bench, programs, [c for c in columns if c != "racecheck"])
        own.rounds, own.parallel, own.repeat, own.until = 1, 1, "", None
        done = [q for q in programs if os.path.basename(q) in rows]
        alone = gpu_programs.measure_all(bench, done[:: max(1, len(done) // args.alone)][: args.alone], [c for c in columns if c in ("none", "default", "racecheck")]) if args.alone else {}
        lines += ["", f"Programs of tests/complete: geometric means of {args.program_rounds} runs in one process, each with another seed and behind one that does not count, {args.parallel} programs at a time; how many "
                  "times as long as without an engine (median). The slowest run is the slowest of all runs of all programs."
                  f"{'' if bench.sanitizer else ' compute-sanitizer is not installed there, so racecheck is missing.'}", "", *program_table(rows, columns, alone)]
        if found:
            lines += ["", "Both together:", "", *together(found, rows, columns)]
    print("\n".join(lines), flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"kernels": found, "programs": rows}, indent=1))
    if args.update_docs:
        alternate.put_between(args.update_docs, MARKS, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
