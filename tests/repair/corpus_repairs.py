#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""corpus_repairs.py --gpurace PATH --nvcc PATH [--seeds K] [--at-least PERCENT] [-j N] [FAMILY[/NAME]...]

How many of the corpus' racy programs `gpurace repair` repairs: of those whose twin differs by an edit that gpurace knows, for how many it proposes one,
how many compile, and how many are confirmed (each race has an edit that removes it). An edit that was confirmed is made again in a copy, with all
others of the program, and run with 10 other seeds: a race that is back then was wrongly called removed, and the status is 1."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "race"
# What the twin has more, by the kinds of edits that are proposed: the first that fits a line counts.
KINDS = [("__syncthreads", r"__syncthreads\(\)"), ("__syncwarp", r"__syncwarp\(\)"),
         ("scope", r"FIXED \? cuda::thread_scope_device|_block\("),
         ("fence", r"__threadfence(_block)?\(\)|\bFENCE\(\)|fence\.acq_rel"),
         ("copy", r"CP_WAIT\(|cp\.async\.wait|cg::wait|BULK_WAIT|__pipeline_wait"),
         ("stream", r"cudaDeviceSynchronize|cudaStreamSynchronize|cudaEventSynchronize|cudaStreamWaitEvent|\.order\(")]


def kind_of(text):
    """Of a program, or None: the twin differs by something else, too."""
    kinds = set()
    for line in text.splitlines():
        if re.search(r"//.*\bFIX\b", line) and not line.startswith("//"):
            kinds.add(next((name for name, pattern in KINDS if re.search(pattern, line.split("//")[0])), None))
    return kinds.pop() if len(kinds) == 1 and None not in kinds else None


def header(text, word):
    found = re.search(rf"^// {word}: (.*)$", text, re.M)
    return found.group(1).split(" -- ")[0].split() if found else []


class Program:
    def __init__(self, options, path):
        self.options, self.path = options, path
        self.name = str(path.relative_to(CORPUS).with_suffix(""))
        text = path.read_text()
        self.kind = kind_of(text)
        self.racy = re.search(r"^// RACE ", text, re.M) and not re.search(r"^// (ONLY-FIXED|DEVICES|MISUSE)", text, re.M) and not header(text, "ARGS")
        self.compile = [options.nvcc, "-nodlink", "-g", "-lineinfo", "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90",
                        *header(text, "NVCC"), "-o", "app", self.name + ".cu"]

    def copy(self, folder):
        """What the build needs: the family and the headers, check.h within them: it is beside the folder."""
        check = (CORPUS.parent / "check.h").read_text()
        for header_file in CORPUS.glob("*.h"):
            (folder / header_file.name).write_text(header_file.read_text().replace('#include "../check.h"\n', check))
        family = folder / self.path.parent.name
        family.mkdir()
        for one in [self.path, *self.path.parent.glob("*.h"), *CORPUS.glob("async/*.h")]:
            (folder / one.parent.name).mkdir(exist_ok=True)
            shutil.copy(one, folder / one.parent.name)

    def repair(self):
        with tempfile.TemporaryDirectory(prefix="corpus-repairs-") as top:
            folder = pathlib.Path(top) / "work"
            folder.mkdir()
            self.copy(folder)
            done = subprocess.run([self.options.gpurace, "repair", "--runs", str(self.options.seeds), "--format", "json", "--build", " ".join(self.compile), "--", "./app"],
                                  cwd=folder, capture_output=True, text=True, timeout=900)
            if done.returncode not in (0, 66):
                return {"error": done.stderr.strip().splitlines()[-1:], "races": []}
            found = json.loads(done.stdout)
            found["back"] = self.again(folder, found)
            return found

    def again(self, folder, found):
        """The confirmed edits, each alone, with other seeds: what came back."""
        back = []
        for race in found["races"]:
            edit = next((e for e in race["edits"] if e["result"] == "removes"), None)
            if not edit:
                continue
            shutil.copy(self.path, folder / self.path.parent.name)
            diff = f"--- {edit['file']}\n+++ {edit['file']}\n{edit['hunks']}"
            subprocess.run(["patch", "-p0", "-s"], input=diff, text=True, cwd=folder, check=True)
            subprocess.run(self.compile, cwd=folder, check=True, capture_output=True)
            for seed in range(101, 111):
                done = subprocess.run([self.options.gpurace, "run", "--engine", "exact", "--format", "json", "--seed", str(seed), "--output", "again.json", "--", "./app"],
                                      cwd=folder, capture_output=True, text=True, timeout=300)
                report = json.loads((folder / "again.json").read_text())
                if race["id"] in [r["id"] for r in report["races"]] or report["verdict"] == "inconclusive":
                    back.append(race["id"])
                    break
                if report["verdict"] == "clean" and "PASS" not in done.stdout:
                    back.append(race["id"] + " (wrong result)")
                    break
        return back


def judge(program):
    found = program.repair()
    races = found["races"]
    edits = [edit for race in races for edit in race["edits"]]
    return {"program": program, "races": len(races), "error": found.get("error"), "back": found.get("back", []),
            "proposed": bool(races) and all(race["edits"] for race in races),
            "compiles": bool(races) and all(any("compile" not in e.get("why", "") for e in race["edits"]) for race in races),
            "confirmed": bool(races) and all(race["repaired"] for race in races), "edits": edits, "some": any(race["repaired"] for race in races)}


def tell(results):
    print("| the twin has more | programs | proposed | compiles | confirmed |\n|---|---|---|---|---|")
    for kind in [name for name, _ in KINDS] + ["all"]:
        some = [r for r in results if kind in (r["program"].kind, "all")]
        if some:
            print(f"| {kind} | {len(some)} | " + " | ".join(str(sum(r[what] for r in some)) for what in ("proposed", "compiles", "confirmed")) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpurace", required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--at-least", type=float, default=0, help="percent of the programs that have to be confirmed")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    options.gpurace = str(pathlib.Path(options.gpurace).resolve())
    programs = [Program(options, path) for path in sorted(CORPUS.glob("*/*.cu"))]
    programs = [p for p in programs if p.kind and p.racy and (not options.programs or p.name in options.programs or p.path.parent.name in options.programs)]
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for r in pool.map(judge, programs):
            results.append(r)
            word = "CONFIRMED" if r["confirmed"] else "some" if r["some"] else "proposed" if r["edits"] else "nothing"
            print(f"{r['program'].name}: {r['program'].kind}: {word}" + (f", BACK: {r['back']}" if r["back"] else "") + (f", {r['error']}" if r["error"] else ""), flush=True)
            if options.verbose:
                for edit in r["edits"]:
                    print(f"    {edit['what']} {edit['hunks'].splitlines()[0]}: {edit['result']} {edit.get('why', '')}")
    tell(results)
    share = 100 * sum(r["confirmed"] for r in results) / max(1, len(results))
    wrong = [r["program"].name for r in results if r["back"]]
    print(f"{share:.0f} % confirmed; wrongly: {', '.join(wrong) or 'none'}")
    return 1 if wrong or share < options.at_least or not results else 0


if __name__ == "__main__":
    sys.exit(main())
