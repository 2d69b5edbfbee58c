# SPDX-License-Identifier: Apache-2.0
"""What is tested on a GPU, in parts. Each part is a function of a Setting that returns an Outcome; PARTS names them."""
import concurrent.futures
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import machine
import page
from machine import ROOT

for folder in "race", "complete", "jit", "engines/collider":
    sys.path.insert(0, str(ROOT / "tests" / folder))
import complete
import gpu_rates
import ipc
import packages
import truth

ENGINES = ("collider", "tracker", "privatizer")
# What an engine may say of a program without races instead of `clean`; counted and shown, not a failure.
UNSURE = "inconclusive"


@dataclass
class Outcome:
    rows: list = field(default_factory=list)  # (what ran, what happened), for docs/gpu.md
    problems: list = field(default_factory=list)
    skipped: str = ""

    def row(self, title, says):
        self.rows.append((title, says))


class Setting:
    """What the parts run on and with."""

    def __init__(self, args, found):
        self.machine, self.results = found, args.results.resolve()
        self.jobs, self.runs, self.together, self.every = max(1, args.jobs), args.runs, max(1, args.together), max(1, args.every)
        self.deadline = time.monotonic() + args.seconds if args.seconds else float("inf")
        self.words = args.words
        # gpurace ends the program of a run that takes too long. Only what even that does not end is killed from here.
        os.environ["GPURACE_OPTIONS"] = f"{os.environ.get('GPURACE_OPTIONS', '')} timeout={args.timeout}".strip()
        self.timeout = args.timeout + 30
        self.built = machine.Built(args.gpurace.resolve())
        self.gpurace = self.built.gpurace
        self.toolkit = machine.Toolkit(self.built)
        cudart = self.toolkit.cudart()
        if cudart:  # behind what the caller has: programs of the tests are linked with the shared runtime
            os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, (os.environ.get("LD_LIBRARY_PATH"), cudart)))

    def lacking(self):
        if not os.access(self.gpurace, os.X_OK) or not self.version():
            return f"{self.gpurace} does not run: build it, or name its folder with --gpurace"
        return ""

    def version(self):
        return machine.output_of(self.gpurace, "--version").strip().removeprefix("gpurace ")

    def in_words(self):
        toolkit = f"CUDA {self.toolkit.release}" if self.toolkit.release else "no CUDA toolkit"
        return {"gpus": self.machine.in_words(), "toolkit": toolkit, "processors": os.cpu_count(), "version": self.version(), "date": page.today(),
                "call": self.words}

    def some(self):
        """Of what: to be told in a row."""
        return f", one in {self.every}" if self.every > 1 else ""

    def map(self, function, items):
        """function(item) of all items, as many at a time as there are jobs."""
        with concurrent.futures.ThreadPoolExecutor(max_workers=self.jobs) as pool:
            return list(pool.map(function, items))

    def call(self, *command, timeout=600, env=None):
        """Exit status and output; None for the status of what did not end."""
        try:
            done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=timeout, check=False, env=dict(os.environ, **(env or {})))
        except subprocess.TimeoutExpired as error:
            return None, f"no end after {timeout} s: {(error.output or b'')[-2000:]!r}"
        return done.returncode, done.stdout

    def schema(self):
        """Options of the judges: reports are held against their schema where Python can."""
        return [] if importlib.util.find_spec("jsonschema") else ["--schema", ""]

    def script(self, *words):
        return [sys.executable, str(ROOT / "tests" / words[0]), *words[1:]]

    def log(self, name, text):
        self.results.mkdir(parents=True, exist_ok=True)
        (self.results / (re.sub(r"[^\w.]+", "_", name) + ".txt")).write_text(text, encoding="utf-8")


def joined(names, most=6):
    names = sorted(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def examples(setting):
    """The example pairs: the repaired ones silent; of the racy ones nothing reported but what is labelled."""
    outcome = Outcome()
    for engine, seeds in ("collider", 1), ("tracker", 1):
        with tempfile.TemporaryDirectory(prefix="gpurace-gpu-") as folder:
            file = os.path.join(folder, "results.json")
            status, text = setting.call(*setting.script("race/run_examples.py", "--gpurace", setting.gpurace, "--programs", setting.built.program("examples"), "--device", "gpu",
                                                        "--engine", engine, "--racy-seeds", seeds, "--clean-seeds", seeds, "--missed-ok", "--jobs", setting.jobs,
                                                        "--timeout", setting.timeout, "--json", file, *setting.schema()))
            setting.log(f"examples.{engine}", text)
            if not os.path.exists(file):
                outcome.problems.append(f"{engine}: exit status {status}: {text[-1500:]}")
                continue
            results = json.loads(Path(file).read_text(encoding="utf-8"))
        clean = [r for r in results if not r["labels"]]
        racy = [r for r in results if r["labels"]]
        outcome.problems += [f"{engine}, {r['program']}: {p}" for r in results for p in r["problems"]]
        found = sum(bool(r["found"]) for r in racy)
        whole = sum(r["found"] == r["labels"] for r in racy)
        silent = sum(not r["problems"] for r in clean)
        outcome.row(f"the example pairs, {engine}, {seeds} seed{'s' if seeds > 1 else ''}", f"{silent} of {len(clean)} repaired programs silent; "
                    f"{found} of {len(racy)} racy ones reported, {whole} of them on every labelled line")
    return outcome


def judged_corpus(setting, outcome, title, engine, *words, seeds=1, twin_seeds=1):
    """gpurace-corpus with these words; adds a row and what was wrong."""
    status, text = setting.call(*setting.script("race/gpurace-corpus", "--gpurace", setting.gpurace, "--device", "gpu", "--gpus", len(setting.machine.gpus), "--engine", engine,
                                                "--seeds", seeds, "--twin-seeds", twin_seeds, "--missed-ok", "--json", "-j", setting.jobs,
                                                "--timeout", setting.timeout, *setting.schema(), *words), timeout=1800)
    setting.log(f"{title}.{engine}", text)
    start = text.find("\n{") + 1 if not text.startswith("{") else 0
    try:
        programs = json.JSONDecoder().raw_decode(text[start:])[0]["programs"]
    except (ValueError, KeyError):
        outcome.problems.append(f"{engine}: exit status {status}: {text[-1500:]}")
        return
    unsure = [p for p in programs if not p["false"] and p["errors"] and all(f"verdict '{UNSURE}'" in e for e in p["errors"])]
    wrong = [p for p in programs if p["false"] or p["errors"] and p not in unsure]
    outcome.problems += [f"{engine}, {p['program']}: {what}" for p in wrong for what in p["false"] + p["errors"]]
    racy = [p for p in programs if p["races"]]
    says = f"{len(programs) - len(wrong)} of {len(programs)} as labelled: {sum(p['twin_runs'] for p in programs)} runs without races, nothing reported of them"
    if any(p["twin_runs"] for p in wrong):
        says = f"{len(programs) - len(wrong)} of {len(programs)} as labelled"
    if unsure:
        says += f"; {len(unsure)} of them inconclusive ({joined(p['program'] for p in unsure)})"
    if seeds:
        says += f"; {sum(bool(p['found']) for p in racy)} of {len(racy)} racy ones reported"
    outcome.row(f"{title}, {engine}", says)


def repeat_library(setting, folder):
    """Built in that folder: it runs a program's main several times in one process."""
    library = os.path.join(folder, "librepeat.so")
    status, text = setting.call(shutil.which("gcc") or "cc", "-O2", "-shared", "-fPIC", "-o", library, ROOT / "tests/engines/collider/repeat.c", "-ldl")
    if status:
        raise RuntimeError(f"repeat.c cannot be built: {text}")
    return library


TWIN_RUNS = 3


def corpus(setting):
    """Twins of the corpus and the examples, some runs of each in one process: they pass, and nothing is reported."""
    outcome = Outcome()
    wanted = [p.key for p in gpu_rates.programs()][:: setting.every]
    only = [word for key in wanted for word in ("--only", key)] if setting.every > 1 else []
    with tempfile.TemporaryDirectory(prefix="gpurace-gpu-") as folder:
        raw = os.path.join(folder, "rows")
        status, text = setting.call(*setting.script("engines/collider/gpu_rates.py", "run", setting.gpurace, setting.built.program("corpus"), setting.built.program("examples"), raw,
                                                    "--racy", 0, "--twins", TWIN_RUNS, "--sets", "default=", "--repeat", repeat_library(setting, folder), "--jobs", setting.jobs,
                                                    "--timeout", 2 * setting.timeout, *only), timeout=1800)
        rows = [json.loads(line) for line in Path(raw).read_text(encoding="utf-8").splitlines()] if os.path.exists(raw) else []
    setting.log("corpus", text + "".join(json.dumps(row) + "\n" for row in rows))
    if status != 0:
        outcome.problems.append(f"exit status {status}: {text[-1500:]}")
    judge_twins(outcome, wanted, rows, f"twins of tests/race and of the examples{setting.some()}, collider")
    return outcome


def judge_twins(outcome, wanted, rows, title):
    """Each of these programs ran so often, passed, and nothing was reported. `rows` are those of gpu_rates.py."""
    runs = dict.fromkeys(wanted, 0)
    for row in rows:
        runs[row["program"]] = runs.get(row["program"], 0) + row["runs"]
        wrong = [f"reported: {what}" for what in row["false"]] + [f"{word}: {row[word]}" for word in ("ended", "error") if word in row]
        wrong += [f"exit status {status}" for status in sorted(set(row.get("statuses", ()))) if status]
        outcome.problems += [f"{row['program']}: {what}" for what in wrong]
    outcome.problems += [f"{key}: {count} of {TWIN_RUNS} runs" for key, count in runs.items() if count < TWIN_RUNS]
    bad = {problem.partition(": ")[0] for problem in outcome.problems} & set(runs)
    outcome.row(title, f"{sum(runs.values())} runs of {len(runs)} programs, {TWIN_RUNS} in a process: " + (f"{len(bad)} programs fail ({joined(bad)})" if bad else "all pass, nothing reported"))


def corpus_whole(setting):
    """Twins and racy programs of the corpus, collider and tracker: nothing reported but what is labelled."""
    outcome = Outcome()
    for engine in "collider", "tracker":
        judged_corpus(setting, outcome, "tests/race", engine, "--programs", setting.built.program("corpus"), seeds=2, twin_seeds=2)
    return outcome


def same_as_without(setting, engine, source, program):
    return complete.run(setting.gpurace, engine, str(source), program, "gpu", setting.timeout)


def judge_programs(setting, outcome, title, sources, built, engines=("none", *ENGINES)):
    """Complete programs without gpurace, and, where they print PASS then, under these engines: PASS again, and nothing reported."""
    plain = dict(zip(sources, setting.map(lambda s: same_as_without(setting, complete.PLAIN, s, built(s)), sources)))
    works = [s for s in sources if not plain[s].problems]
    broken = [f"{s.stem} ({plain[s].problems[0]})" for s in sources if plain[s].problems]
    if 2 * len(works) < len(sources):
        outcome.problems.append(f"without gpurace most do not print PASS: {joined(broken)}: {plain[sources[0]].text[-600:]}")
    outcome.row(f"{title}, without gpurace", f"{len(works)} of {len(sources)} print PASS" + (f"; not run further: {joined(broken)}" if broken else ""))
    for engine in engines:
        tried = [s for s in works if engine not in " ".join(complete.comments(s, "WITHOUT")).split()]
        done = dict(zip(tried, setting.map(lambda s, e=engine: same_as_without(setting, e, s, built(s)), tried)))
        verdicts = {s: d.report.get("verdict", "none") for s, d in done.items()}
        for source, result in done.items():
            outcome.problems += [f"{engine}, {source.stem}: {p}: {result.text[-600:]}" for p in result.problems]
            if engine != "none" and verdicts[source] not in ("clean", UNSURE, "races"):
                outcome.problems.append(f"{engine}, {source.stem}: verdict {verdicts[source]}: {result.report.get('reasons')}")
        right = [s for s in tried if not done[s].problems]
        unsure = [s for s in right if engine != "none" and verdicts[s] == UNSURE]
        says = f"{len(right)} of {len(tried)} print PASS, nothing reported"
        if unsure:
            says += f"; {len(unsure)} inconclusive ({joined(s.stem for s in unsure)})"
        setting.log(f"{title}.{engine}", "\n".join(f"{s.stem}: {done[s].report.get('reasons')}" for s in unsure) + "\n")
        outcome.row(f"{title}, {engine}", says)


def judge_all_programs(setting, *engines):
    outcome = Outcome()
    built = lambda s: setting.built.complete_program(s.stem)
    sources = [s for s in sorted((ROOT / "tests/complete").glob("*.cu")) if complete.devices_of(s) == 1][:: setting.every]
    if not any(os.access(built(s), os.X_OK) for s in sources):
        return Outcome(problems=[f"no program {built(sources[0])} (target complete-programs)"])
    judge_programs(setting, outcome, f"tests/complete{setting.some()}", sources, built, engines)
    return outcome


def programs(setting):
    """The complete programs of tests/complete: they behave as without gpurace, and are clean."""
    return judge_all_programs(setting, "none", "collider", "tracker")


def programs_privatized(setting):
    """The same under the privatizer, which takes many times as long."""
    return judge_all_programs(setting, "privatizer")


def several(setting):
    """Many processes at once on one GPU."""
    outcome = Outcome()
    count = min(16, 2 * setting.jobs)
    program = setting.built.program("examples", "reduction_fixed")
    for engine in ENGINES:
        runs = []
        with concurrent.futures.ThreadPoolExecutor(max_workers=count) as pool:
            runs = list(pool.map(lambda seed, e=engine: truth.Run(setting.gpurace, e, program, seed, device="gpu", timeout=2 * setting.timeout), range(1, count + 1)))
        for seed, run in enumerate(runs, 1):
            try:
                problems = run.check(run.report(None), True)
            except (ValueError, KeyError) as error:
                problems = [str(error)]
            outcome.problems += [f"{engine}, seed {seed}: {p}" for p in problems]
    outcome.row(f"{count} runs of one program at once on one GPU, under each of {', '.join(ENGINES)}", "all clean" if not outcome.problems else f"{len(outcome.problems)} not clean")
    return outcome


def conformance(setting):
    """Each instruction over edge cases: what the golden file has."""
    program, golden = setting.built.program("tests/conformance/conformance"), ROOT / "tests/conformance/sm_90.golden"
    if "sm_90" not in setting.machine.gpus[0]:
        return Outcome(skipped="the golden answers are of sm_90")
    if not os.access(program, os.X_OK):
        return Outcome(problems=[f"{program} is not built (target conformance)"])
    outcome, counts = Outcome(), {"same": 0, "different": 0, "did not run": 0}
    shares = setting.jobs
    for status, text in setting.map(lambda k: setting.call(program, "--golden", golden, "--golden-only", "--share", f"{k}/{shares}", timeout=1200), range(shares)):
        for words in counts:
            found = re.search(rf"(\d+) {words}", text)
            counts[words] += int(found.group(1)) if found else 0
        if status != 0:
            outcome.problems.append(f"exit status {status}: {text[-1500:]}")
    wanted = sum(line[:2] in ("E ", "A ") for line in golden.read_text(encoding="utf-8").splitlines())
    if counts["same"] < wanted:
        outcome.problems.append(f"{counts['same']} answers are those of the golden file, which has {wanted}")
    outcome.row("tests/conformance: instructions over edge cases, against sm_90.golden", f"{counts['same']} rows the same" + "".join(
        f", {counts[w]} {w}" for w in list(counts)[1:] if counts[w]))
    return outcome


def waits(setting):
    """Which calls of CUDA wait for what: the table that the CPU device's test has."""
    source = ROOT / "tests/driver/cudart/builds/waits.cu"
    program = setting.built.program("cudart-programs/waits")
    if not os.access(program, os.X_OK):
        return Outcome(problems=[f"{program} is not built (target cudart_programs)"])
    outcome, wanted = Outcome(), source.with_suffix(".expected").read_text(encoding="utf-8").splitlines()
    status, text = setting.call(program, timeout=200)
    rows = text.splitlines()
    if status != 0:
        outcome.problems.append(f"exit status {status}: {text[-1500:]}")
    outcome.problems += [f"waits.expected has:\n{want}\nthis GPU has:\n{row}" for want, row in zip(wanted, rows) if want != row]
    if len(rows) != len(wanted):
        outcome.problems.append(f"{len(rows)} rows of {len(wanted)}")
    setting.log("waits", text)
    same = sum(want == row for want, row in zip(wanted[1:], rows[1:]))
    outcome.row("tests/driver/cudart/builds/waits.cu: which calls wait for what", f"{same} of {len(wanted) - 1} rows as on the CPU device")
    return outcome


def python_for(setting, program):
    """A Python that has the packages of a program of tests/jit: that of the build folder, or the user's."""
    for python in (setting.built.program("python/bin/python"), shutil.which("python3")):
        if python and os.access(python, os.X_OK) and setting.call(python, "-c", packages.FIND, *packages.PACKAGES[program])[0] == 0:
            return python, packages.PACKAGES[program]
    return None, packages.PACKAGES[program]


def just_in_time(setting):
    """Compilers that run in the program: Python packages of tests/jit, and the C programs of tests/cli."""
    outcome, env = Outcome(), {"CUDA_HOME": setting.toolkit.home} if setting.toolkit.home else {}
    def judge(name):
        python, wanted = python_for(setting, name)
        if not python:
            return name, 77, f"no Python has {', '.join(wanted)}"
        return name, *setting.call(*setting.script("jit/run.py", "--device", "gpu", setting.gpurace, python, ROOT / f"tests/jit/{name}.py"), env=env)

    results = setting.map(judge, packages.PACKAGES)
    for name, status, text in results:
        setting.log(f"jit.{name}", text)
        if status not in (0, 77):
            outcome.problems.append(f"{name}: exit status {status}: {text[-2500:]}")
    right, absent = [r[0] for r in results if r[1] == 0], [f"{r[0]} ({r[2].strip().splitlines()[-1]})" for r in results if r[1] == 77]
    outcome.row("tests/jit, tracker: programs whose kernels Python packages compile", f"{len(right)} as they should be ({joined(right, 9)})" + (f"; not run: {joined(absent, 9)}" if absent else ""))
    c_programs(setting, outcome, env)
    return outcome


def c_programs(setting, outcome, env):
    tools, title = setting.toolkit, "tests/cli/subjects/jit.c, tracker: NVRTC, nvJitLink and the driver's linker, in eight ways"
    if not (tools.nvrtc and tools.nvjitlink):
        outcome.row(title, "not run: no NVRTC or no nvJitLink of CUDA 13")
        return
    path = os.path.dirname(tools.nvjitlink) + ":" + os.environ.get("LD_LIBRARY_PATH", "")
    status, text = setting.call(*setting.script("cli/test_jit.py", setting.gpurace, setting.built.program("tests/cli/jit"), setting.built.program("tests/cli/jit_linked"),
                                                tools.nvrtc, tools.nvjitlink), env={**env, "DEVICE": "gpu", "LD_LIBRARY_PATH": path})
    setting.log("jit.c_programs", text)
    outcome.row(title, "each race at its lines, twins clean" if status == 0 else "not as it should be")
    if status:
        outcome.problems.append(f"test_jit.py: exit status {status}: {text[-2500:]}")


def ahead_of_time(setting):
    """Programs built by `gpurace nvcc`: alone they stop at a race; under gpurace run they are checked as others are; cuda-gdb stops there."""
    tools = setting.toolkit
    if not tools.nvcc:
        return Outcome(skipped="no nvcc")
    outcome = Outcome()
    script = ROOT / "tests/cli/test_ahead_of_time.py"
    groups = ["Ptxas"] + [f"Nvcc.{name}" for name in re.findall(r"def (test_\w+)", script.read_text(encoding="utf-8").partition("class Nvcc")[2])]
    done = setting.map(lambda group: setting.call(*setting.script("cli/test_ahead_of_time.py", setting.gpurace, tools.nvcc, setting.built.program("cpu-device"), group),
                                                  env={"DEVICE": "gpu"}), groups)
    setting.log("ahead_of_time", "\n".join(text for _, text in done))
    outcome.problems += [f"test_ahead_of_time.py {group}: exit status {status}: {text[-2500:]}" for group, (status, text) in zip(groups, done) if status]
    count = sum(int(n) for _, text in done for n in re.findall(r"Ran (\d+) test", text))
    outcome.row("tests/cli/test_ahead_of_time.py: gpurace nvcc and gpurace-ptxas", f"{count} tests, " + (f"{len(outcome.problems)} of {len(groups)} groups fail" if outcome.problems else "all pass"))
    debugger = shutil.which("cuda-gdb")
    if not debugger:
        outcome.row("cuda-gdb on a program of gpurace nvcc", "not run: no cuda-gdb")
        return outcome
    with tempfile.TemporaryDirectory(prefix="gpurace-gpu-") as folder:
        program = os.path.join(folder, "program")
        built = setting.call(setting.gpurace, "nvcc", "-O2", "-arch=native", "-lineinfo", "-o", program, ROOT / "examples/table_init_race.cu",
                             env={"GPURACE_OPTIONS": "poison-writes=yes", "GPURACE_NVCC": tools.nvcc})
        texts = [setting.call(debugger, "-batch", "-ex", "run", program, timeout=120)[1] for _ in range(3)] if built[0] == 0 else [built[1]]
    stops = [re.search(r"SIGTRAP[\s\S]*", text) for text in texts]
    setting.log("ahead_of_time.cuda_gdb", "\n".join(texts))
    if not any(stops):
        outcome.problems.append(f"cuda-gdb: {texts[-1][-2500:]}")
    outcome.row("cuda-gdb on a program of gpurace nvcc", f"stops at a race in {sum(map(bool, stops))} of {len(texts)} runs")
    return outcome


def devices(setting):
    """Two GPUs: memory of the other one, managed memory, copies between them."""
    count = len(setting.machine.gpus)
    if count < 2:
        return Outcome(skipped="one GPU")
    outcome = Outcome()
    for engine in "collider", "tracker":
        judged_corpus(setting, outcome, "tests/gpu/devices", engine, "--sources", ROOT / "tests/gpu", "--programs", setting.built.program("gpu-programs"), "devices")
        judged_corpus(setting, outcome, "tests/race, of several devices", engine, "--programs", setting.built.program("corpus"), "host/devices_*")
    judge_programs(setting, outcome, "tests/complete, of several devices", [s for s in sorted((ROOT / "tests/complete").glob("*.cu")) if 2 <= complete.devices_of(s) <= count],
                   lambda s: setting.built.complete_program(s.stem))
    return outcome


def processes(setting):
    """Two processes with one piece of device memory (cudaIpcGetMemHandle), each under gpurace."""
    outcome, cases = Outcome(), [(None, ipc.APART, mode) for mode in ipc.MODES]
    cases += [(engine, how, mode) for engine in ("none", *ENGINES) for how in (ipc.APART, ipc.TOGETHER) for mode in ipc.MODES]
    said = {}
    for (engine, how, mode), result in zip(cases, setting.map(lambda case: ipc.run(setting, *case), cases)):
        name = engine or "without gpurace"
        outcome.problems += [f"{name}, {how}, {mode}: {p}" for p in result.problems]
        setting.log(f"processes.{name}.{how}.{mode}", "".join(result.texts) + json.dumps(result.reports, indent=1))
        said.setdefault(name, {}).setdefault(ipc.MODES[mode], set()).add(result.says)
    for name, modes in said.items():
        outcome.row(f"tests/gpu/shared_memory.cu: memory of two processes, {name}", "; ".join(f"{mode}: {', or '.join(sorted(says))}" for mode, says in modes.items()))
    return outcome


# Each may run several times in one process.
SOAKED = ("examples/histogram_race", "examples/reduction_race", "examples/racy_add_race", "examples/streams_race", "examples/grid_phase_fixed",
          "examples/scan_fixed", "examples/mailbox_fixed", "complete-programs/radix_sort", "complete-programs/graph_launches",
          "complete-programs/persistent_queue")


def soaked_runs(setting, library, engine, program, seed, times):
    """So many runs in one process; whether there were races, and what was wrong. None where time was up before."""
    if time.monotonic() > setting.deadline:
        return None
    folder, name = program.split("/")
    path = setting.built.complete_program(name) if folder == "complete-programs" else setting.built.program(program)
    before, command = gpu_rates.repeating(library, os.path.realpath(path), f"{times} {name}", os.devnull) if times > 1 else ((), path)
    run = truth.Run(setting.gpurace, engine, command, seed, device="gpu", timeout=setting.timeout, before=before)
    must_pass = not program.endswith("_race")
    try:
        report = run.report(None)
        problems = run.check(report, must_pass)
    except (ValueError, KeyError) as error:
        return False, [str(error)]
    passed = len(re.findall(r"\bPASS\b", run.stdout))
    if must_pass and passed < times:
        problems.append(f"{passed} of {times} runs print PASS")
    if must_pass and report["races"]:
        problems.append(f"reported: {complete.race_of(report['races'][0])}")
    return bool(report["races"]), problems


def soak(setting):
    """Ten programs many times, under the tracker a tenth of that: no crash, no hang, no report of a program without races."""
    outcome, times = Outcome(), setting.together
    with tempfile.TemporaryDirectory(prefix="gpurace-gpu-") as folder:
        library = repeat_library(setting, folder) if times > 1 else None
        for engine, count in ("collider", setting.runs), ("tracker", max(times, setting.runs // 10)):
            soak_under(setting, outcome, library, engine, count)
    return outcome


def soak_under(setting, outcome, library, engine, count):
    times = setting.together
    todo = [(program, seed) for seed in range(1, max(1, count // times) + 1) for program in SOAKED]
    runs = setting.map(lambda job: soaked_runs(setting, library, engine, *job, times), todo)
    done = {job: run for job, run in zip(todo, runs) if run}
    raced = {}
    for (program, seed), (race, problems) in done.items():
        raced[program] = raced.get(program, 0) + race
        outcome.problems += [f"{engine}, {program}, seed {seed}: {p}" for p in problems]
    bad = sum(bool(problems) for _, problems in done.values())
    ran = f"{len(done) * times} runs" + (f" in {len(done)} processes" if times > 1 else "")
    if len(done) < len(todo):
        ran += f", of {len(todo) * times}: time was up (--seconds)"
    outcome.row(f"{len(SOAKED)} programs, {count} run{'s' if count > 1 else ''} each, {engine}", f"{ran}; {bad or 'no'} crash, hang or false report; {'processes' if times > 1 else 'runs'} with races: "
                + (joined((f"{p.split('/')[-1]} {n}" for p, n in raced.items() if n), 10) or "none"))
    if not done:
        outcome.problems.append(f"{engine}: time was up before the first run (--seconds)")


@dataclass(frozen=True)
class Part:
    function: Callable
    what: str
    soak: bool = False


LONG = (corpus_whole, programs_privatized, soak)
PARTS = {f.__name__: Part(f, f.__doc__, f in LONG) for f in
         (examples, programs, corpus, several, conformance, waits, ahead_of_time, just_in_time, devices, processes, corpus_whole, programs_privatized, soak)}
