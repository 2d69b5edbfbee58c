# SPDX-License-Identifier: Apache-2.0
"""Runs programs of the corpus under an engine, and judges its reports by the labels."""
import os
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, field

from corpus import DEFAULT_SEEDS, Program
from truth import Run, frames, label_classes, of_host

# What an engine that rewrites may leave unchecked, and says so: a clean run is inconclusive then.
UNCHECKED = ("not understood and not checked", "was not checked (", "were not checked (", "was not checked: ", "was not checked between ", "two runs on the same private copies")


def describe(record, program):
    if "accesses" not in record:
        return f"{record['class']} at line {program.line_of(record)}"
    unconfirmed = "NOT CONFIRMED: " if "witness" in record and not record["witness"] else ""
    own = [program.line_of(a) for a in record["accesses"]]
    sides = [of_host(a) or (f"{program.file}:{line}" if line else "{}:{}".format(*frames(a)[0]))
             for a, line in zip(record["accesses"], own)]
    return f"{unconfirmed}{record['class']}, {record['space']}: {' and '.join(sides)}"


@dataclass
class Result:
    """What one engine made of one program."""

    program: Program
    expected: set  # ids of the races that are looked for
    can: set  # those of them that the engine can find
    racy_runs: int = 0
    twin_runs: int = 0
    confirmed: int = 0  # reports of one engine that another one of the same run confirmed
    two_sided: int = 0  # reports that name both sides
    hangs: int = 0  # racy runs that the device stopped: a race may make a program wait for ever
    seconds: float = 0.0
    hits: dict = field(default_factory=dict)  # race id -> seeds that reported it
    evidence: dict = field(default_factory=dict)  # race id -> what its reports rest on -> how many
    pairs: dict = field(default_factory=dict)  # race id -> {(class, side, side)}
    first: dict = field(default_factory=dict)  # race id -> of each group of runs, which one found it first, from 1; 0: none
    false: dict = field(default_factory=dict)  # description -> [command]: reports that no label allows
    errors: list = field(default_factory=list)

    @property
    def found(self):
        return self.expected & set(self.hits)

    @property
    def missed(self):
        return self.can - set(self.hits) if self.racy_runs else set()

    def rate(self):
        """Mean over its races of the part of the seeds that reported it."""
        if not self.expected or not self.racy_runs:
            return None
        return sum(len(self.hits.get(r, ())) for r in self.expected) / len(self.expected) / self.racy_runs

    def add(self, record, race, seed):
        seeds = self.hits.setdefault(race, [])
        if seed not in seeds:  # with other options, perhaps
            seeds.append(seed)
        if "accesses" in record:
            counts = self.evidence.setdefault(race, {})
            counts[record["evidence"]] = counts.get(record["evidence"], 0) + 1
            if len(record["accesses"]) == 2:
                self.pairs.setdefault(race, set()).add((record["class"], *sorted(map(side_of, record["accesses"]))))


def side_of(access):
    """What an access is to a watcher, in words: how strong, how it was done, and what."""
    kind = access["kind"]
    if of_host(access):
        return kind
    if access.get("asynchronous"):
        return f"asynchronous {kind}"
    strength = "volatile" if access.get("volatile") else access.get("scope") or "weak"
    return f"{strength} {kind}" + (" discarded" if access.get("discarded") else "")


class Memory:
    """What runs share: a file of --coverage that is theirs alone."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gpurace-memory-")
        self.options = ["--coverage", os.path.join(self.folder.name, "coverage")]
        self.seeds = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def again(self, command, seed):
        """How to run a run again: what went before it counts."""
        before = f" (after the seeds {', '.join(map(str, self.seeds))}, with the same file)" if self.seeds else ""
        self.seeds.append(seed)
        return command + before


class Judge:
    """Runs programs under one engine (engines.Chosen), which can find the (program, race) of `can`, or all. With `together`, so many runs in
    sequence share what they saw, and what twins see is shared by all runs of that twin; else each run is alone."""

    def __init__(self, gpurace, folder, engine, options=(), schema=None, seeds=None, twin_seeds=None, all_seeds=False,
                 timeout=120, together=0, can=None, device="cpu"):
        self.gpurace, self.folder, self.engine, self.options, self.schema = gpurace, folder, engine, options, schema
        self.seeds, self.twin_seeds, self.all_seeds, self.timeout = seeds, twin_seeds, all_seeds, timeout
        self.together, self.can, self.device = together, can, device
        self.finder, self.causal = engine.finder, "causality" in engine.finder.can
        self.label_classes = label_classes()

    def match(self, program, record, options):
        """The ids of the races that a record reports. One that another engine of the same run does not confirm reports none."""
        if "accesses" not in record:
            return {m.id for m in program.misuses.values() if m.matches(record, program)}
        if "witness" in record and not record["witness"]:
            return set()
        # A load whose value is thrown away later on: the PTX does race, and an engine that only sees accesses meet cannot always tell.
        spared = lambda r: not self.causal and "speculated load" in r.classes
        races = [r for r in program.races.values() if r.options in ((), options) or spared(r)]
        if record["class"] in self.label_classes:
            return {r.id for r in races if r.matches(record, program)}
        # A class in other words than the labels' says what was seen (bytes changed), not which kind of race that is.
        if len(record["accesses"]) == 2:
            return {r.id for r in races if r.sides_match(record, program)}
        return {r.id for r in races if r.has_side(record, program)}

    def memory(self):
        return Memory() if self.together else nullcontext()

    def one(self, result, seed, twin, options, memory=None):
        """One run; adds what it showed to the result. The races that it found."""
        program, found = result.program, set()
        binary = os.path.join(self.folder, program.family, program.name)
        command = [binary] + (["fixed"] if twin else []) + program.args
        devices = ["--cpu-devices", str(program.devices)] if program.devices > 1 and self.device == "cpu" else []
        run = Run(self.gpurace, self.engine.name, command, seed, "json", [*devices, *self.options, *options, *(memory.options if memory else ())],
                  device=self.device, timeout=self.timeout)
        again = memory.again(run.command, seed) if memory else run.command
        result.seconds += run.seconds
        try:
            report = run.report(self.schema)
            problems = run.check(report, twin or not program.racy, UNCHECKED if "rewrites" in self.finder.can else ())
            if program.misuses and not twin and not report.get("misuses"):
                problems = []  # what a kernel ends with whose misuse this engine does not name: that was missed, if expected
            if problems and program.racy and not twin and any("timeout:" in reason for reason in report.get("reasons", ())):
                problems = []
                result.hangs += 1
            for record in report["races"] + report.get("misuses", []):
                ids = set() if twin else self.match(program, record, options)
                if not ids:
                    result.false.setdefault(("twin: " if twin else "") + describe(record, program), []).append(again)
                if record["engine"] != self.finder.name:
                    continue  # what only the confirming engine saw is not found by the other
                result.confirmed += bool(record.get("witness"))
                result.two_sided += len(record.get("accesses", ())) == 2
                for race in ids:
                    result.add(record, race, seed)
                found |= ids
        except Exception as error:  # whatever a broken report raises is a finding about that run
            problems = [f"{type(error).__name__}: {str(error)[:600]}"]
        result.errors += [f"seed {seed}: {p}\n      again: {again}" for p in problems]
        return found

    def wrong(self, result):
        return len(result.errors) + len(result.false) > 8  # it will not get better

    def group(self, result, seeds, options, races):
        """Runs until these races were found, or, of runs that share what they saw, those that can be. Notes which run was the first to find each."""
        wanted = races & result.can if self.together else races
        first = {}
        with self.memory() as memory:
            for i, seed in enumerate(seeds, 1):
                result.racy_runs += not options
                for race in self.one(result, seed, False, options, memory):
                    first.setdefault(race, i)
                if self.wrong(result) or (wanted <= set(first) and not self.all_seeds):
                    break
        for race in races:
            result.first.setdefault(race, []).append(first.get(race, 0))

    def twins(self, result, seeds, options):
        program = result.program
        with self.memory() as racy, self.memory() as fixed:
            for seed in seeds:
                if self.wrong(result):
                    break
                for twin in (False, True):
                    if twin and not program.has_twin or not twin and (not program.clean or program.only_fixed):
                        continue
                    result.twin_runs += 1
                    self.one(result, seed, twin, options, fixed if twin else racy)

    def check(self, program):
        # The device names misuses to every engine that listens, but only one that follows what orders accesses has to report each.
        known = {i: r for i, r in (program.ids if self.causal else program.races).items() if self.finder.heeds(r.options)}
        groups = {()} | {r.options for r in known.values()}
        result = Result(program, set(known), {i for i in known if i in program.misuses or self.can is None or (program.key, i) in self.can})
        binary = os.path.join(self.folder, program.family, program.name)
        if not os.access(binary, os.X_OK):
            result.errors.append(f"{binary} is not built (target corpus)")
            return result
        seeds = self.seeds if self.seeds is not None else range(1, program.seeds + 1)
        twin_seeds = self.twin_seeds if self.twin_seeds is not None else range(1, DEFAULT_SEEDS + 1)
        k = self.together or max(1, len(seeds))
        for options in sorted(groups):
            here = {r for r in result.expected if program.ids[r].options == options}
            if program.racy:
                for i in range(0, len(seeds), k):
                    if not self.wrong(result):
                        self.group(result, seeds[i:i + k], options, here)
            self.twins(result, twin_seeds, options)
        return result
