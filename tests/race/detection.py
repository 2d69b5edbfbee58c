# SPDX-License-Identifier: Apache-2.0
"""How likely the collider finds a race: what was measured (docs/detection.tsv), and the page and the plot that are made of it."""
import math
import os
import re
from dataclasses import dataclass, field

import detection_plot
import findable
from corpus_docs import families_of, table, with_total
from truth import read

ENGINE = "collider"  # what is measured
DATA, PAGE, PLOT = "detection.tsv", "detection.md", "detection.svg"
SCHEDULES = ("default", "random", "pct", "directed")
# `directed`, and so many runs in sequence share what they saw: each such group has a file of --coverage of its own.
REMEMBERED, TOGETHER = "remembered", 5
AGAIN = "tests/race/gpurace-corpus --update-detection"
# Table 3 of the SuperCollider paper: the races that it did not find. Those of its rows that are none it was silent about.
PAPER_MISSES = ("cp.async.bulk (global->shared) GMEM RW", "cudaMemcpyAsync (DtoH) RW", "CPU-GPU UVM RW")
HEAD = """# How likely is a race found?

<!-- Written by `{again}`; a test compares it with the data and the labels. -->
"""


def options_of(schedule):
    return ["--schedule", "directed" if schedule == REMEMBERED else schedule] if schedule else []


def chance(hits, runs, k):
    """That at least one of k runs finds what `hits` of `runs` seeds found: the mean over all choices of k of these seeds."""
    k = min(k, runs)
    return 1 - math.comb(runs - hits, k) / math.comb(runs, k)


@dataclass
class Measured:
    """One schedule."""

    runs: int = 0  # seeds 1..runs, of every racy program
    twin_runs: int = 0
    reports: int = 0  # of labelled races
    two_sided: int = 0  # of these
    false: int = 0
    hits: dict = field(default_factory=dict)  # (program, race) -> seeds
    evidence: dict = field(default_factory=dict)  # (program, race) -> {words: reports}


    numbers = ("runs", "twin_runs", "reports", "two_sided", "false")

    @staticmethod
    def hits_of(result, race):
        return result.hits.get(race, [])

    @staticmethod
    def in_words(hits):
        return ranges(hits)

    @staticmethod
    def from_words(text):
        return numbers_of(text)

    def within(self, key, k):
        """How likely k runs find a race."""
        return chance(len(self.hits[key]), self.runs, k)


@dataclass
class Remembered(Measured):
    """Groups of `runs` runs that share what they saw. hits: (program, race) -> which run of each group was the first to find it; 0: none."""

    groups: int = 0

    numbers = ("groups", *Measured.numbers)

    @staticmethod
    def hits_of(result, race):
        return result.first.get(race, [])

    @staticmethod
    def in_words(hits):
        return "".join(map(str, hits)) or "-"

    @staticmethod
    def from_words(text):
        return [] if text == "-" else list(map(int, text))

    def within(self, key, k):
        return self.groups_within(key, k) / max(1, self.groups)

    def groups_within(self, key, k):
        return sum(0 < first <= k for first in self.hits[key])

    def sometimes_missed(self, keys):
        """The races that not every group found."""
        return [key for key in keys if self.groups_within(key, self.runs) < self.groups]


def share_of(m, keys, k):
    """The share of these races that k runs find."""
    return sum(m.within(key, k) for key in keys) / max(1, len(keys))


def kind_of(schedule):
    return Remembered if schedule == REMEMBERED else Measured


def measured(results, seeds, schedule):
    groups = max((len(first) for r in results for first in r.first.values()), default=0)
    m = Remembered(TOGETHER, groups=groups) if schedule == REMEMBERED else Measured(seeds)
    for r in results:
        m.twin_runs += r.twin_runs
        m.two_sided += r.two_sided
        m.false += len(r.false)
        for race in r.program.races:
            m.hits[r.program.key, race] = m.hits_of(r, race)
            m.evidence[r.program.key, race] = r.evidence.get(race, {})
            m.reports += sum(r.evidence.get(race, {}).values())
    return m


def save(path, schedules):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# Which seeds found which race of the corpus (tests/race). Made by {AGAIN}\n")
        for name, m in schedules.items():
            file.write(f"#! {name} " + " ".join(f"{n}={getattr(m, n)}" for n in m.numbers) + "\n")
        file.write(f"# schedule\tprogram\trace\tseeds; {REMEMBERED}: of each group, the first run that found it, 0 for none\treports by evidence\n")
        for name, m in schedules.items():
            for (program, race), seeds in m.hits.items():
                evidence = " | ".join(f"{word}: {n}" for word, n in sorted(m.evidence[program, race].items()))
                file.write("\t".join((name, program, str(race), m.in_words(seeds), evidence)) + "\n")


def load(path):
    schedules = {}
    for line in read(path).splitlines():
        if line.startswith("#! "):
            name, *numbers = line[3:].split()
            schedules[name] = kind_of(name)(**{k: int(v) for k, v in (n.split("=") for n in numbers)})
        elif not line.startswith("#"):
            name, program, race, seeds, evidence = line.split("\t")
            m = schedules[name]
            m.hits[program, int(race)] = m.from_words(seeds)
            m.evidence[program, int(race)] = {w: int(n) for w, n in (e.rsplit(": ", 1) for e in evidence.split(" | ") if e)}
    return schedules


def ranges(seeds):
    """1,2,3,5 as 1-3,5; - for none"""
    parts = []
    for seed in sorted(seeds):
        if parts and seed == parts[-1][1] + 1:
            parts[-1][1] = seed
        else:
            parts.append([seed, seed])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts) or "-"


def numbers_of(text):
    parts = [] if text == "-" else [tuple(map(int, p.split("-"))) for p in text.split(",")]
    return [n for p in parts for n in range(p[0], p[-1] + 1)]


class Page:
    """The labels, what can be found of them, and what was."""

    def __init__(self, programs, pairs, schedules):
        self.programs = programs
        self.schedules = {name: m for name, m in schedules.items() if name != REMEMBERED}  # runs that are each alone
        self.remembered = schedules.get(REMEMBERED)
        self.races = {(p.key, r.id): (p, r) for p in programs for r in p.races.values()}
        self.able = {key: findable.of_race(r, pairs.get(key, ())) for key, (_, r) in self.races.items()}
        self.watch = [key for key in self.races if not self.able[key].by_watch]
        self.value = [key for key in self.races if not self.able[key].by_value]
        self.best = list(self.schedules)[-1]

    def share(self, schedule, keys, k):
        return share_of(self.schedules[schedule], keys, k)

    def curves(self):
        """Of each schedule the share of what can be found that 1, 2, ... runs find."""
        measured = {**self.schedules, **({f"{self.best}, one file": self.remembered} if self.remembered else {})}
        return {name: [share_of(m, self.watch, k) for k in range(1, m.runs + 1)] for name, m in measured.items()}

    def text(self):
        parts = (self.method, self.by_schedule, *([self.memory] if self.remembered else []), self.by_family, self.by_evidence,
                 self.not_findable, self.missed, self.table3)
        return HEAD.format(again=AGAIN) + "\n" + "\n".join(part() for part in parts)

    def method(self):
        m = self.schedules[self.best]
        return f"""The collider sees a race when it happens while it looks, so a run finds it with some probability. Here that is measured, on the
CPU device, for the {len(self.races)} labelled races of the corpus (docs/corpus.md): each racy program ran with the seeds 1 to {m.runs} under each schedule
(docs/collider.md). A race is found by a run that reports it on its lines: both when the report names both sides, else the one it names. *Within k runs* is the mean over all
choices of k of the {m.runs} seeds. The data: {DATA}; everything here is made of it by `{AGAIN}`, which measures anew, or
`--redraw`, which does not.

Not every race can be found this way. What can is derived from the labels and from what accesses are on the two sides (tests/race/sides.tsv, which
the runs of `exact` check): a *watchpoint* needs a weak access of a kernel on one side, and a schedule in which the other side comes in its course; *comparing
values*, all that a GPU can do, needs moreover that the other side writes, and another value.

![Share of the findable races found, by the number of runs and the schedule]({PLOT})
"""

    def by_schedule(self):
        rows = []
        for name, m in self.schedules.items():
            never = sum(not m.hits[key] for key in self.watch)
            rows.append([f"`{name}`", *(percent(self.share(name, self.watch, k)) for k in (1, 2, 5, 10)),
                         f"{len(self.watch) - never} of {len(self.watch)}", m.twin_runs, m.false])
        head = ["schedule", "1 run", "2 runs", "5 runs", "10 runs", f"all {m.runs}", "runs of twins", "false reports"]
        return "## By schedule\n\nOf the races that a watchpoint can find:\n\n" + table(head, rows)

    def memory(self):
        m, ks = self.remembered, range(1, self.remembered.runs + 1)
        rows = [[f"`{self.best}`, each run alone", *(percent(self.share(self.best, self.watch, k)) for k in ks)],
                ["`directed`, runs with one file", *(percent(share_of(m, self.watch, k)) for k in ks)]]
        text = f"""## With what earlier runs saw

With `--coverage FILE` a run notes which accesses of different threads touched the same bytes, and which of these pairs it saw overlap; the
schedule `directed` of a later run with the same FILE then aims at the pairs that have not met (docs/collider.md). Here each racy program ran in {m.groups}
groups of {m.runs} runs, one after the other, each with another seed, and each group with a new file. *Within k runs* is the mean over the groups. The twins and
the clean programs ran {m.twin_runs} times, all runs of one with the same file: {m.false or 'no'} false reports, those of the racy programs among them.

"""
        text += table(["of what a watchpoint can find", *(f"{k} run{'s' if k > 1 else ''}" for k in ks)], rows)
        rows = [[*self.of_race(key), percent(self.schedules[self.best].within(key, m.runs)), percent(m.within(key, m.runs)),
                 "".join(map(str, m.hits[key]))] for key in m.sometimes_missed(self.watch)]
        text += (f"\n{len(self.watch) - len(rows)} of the {len(self.watch)} races were found within {m.runs} runs by every group" +
                 (f". The others, with the share of {m.runs} runs that find them, and which run of each group was the first that did (0: none):\n\n" if rows else ".\n"))
        return text + (table(["program", "race", "what", "each run alone", "one file", "first found by"], rows) if rows else "")

    def of_race(self, key):
        program, race = self.races[key]
        lines = " and ".join([str(n) for n in sorted(race.sides)] + list(race.hosts))
        return program.key, race.id, f"{race.classes[0]}, line {lines}"

    def by_family(self):
        m, rows = self.schedules[self.best], []
        for family in families_of(self.programs):
            keys = [key for key, (p, _) in self.races.items() if p.family == family]
            can = [key for key in keys if key in set(self.watch)]
            rows.append([f"`{family}`", len(keys), sum(self.races[key][1].order == "can-overlap" for key in keys),
                         sum(key in set(self.value) for key in keys), len(can),
                         *(f"{sum(m.within(key, k) for key in can):.1f}" for k in (1, 5)),
                         sum(bool(m.hits[key]) for key in can)])
        total = with_total(rows)
        for i, k in ((5, 1), (6, 5)):
            total[-1][i] = f"{sum(float(row[i]) for row in rows):.1f}"
        head = ["family", "races", "can overlap", "findable by value", "by watchpoint", "found in 1 run", "5 runs", f"{m.runs} runs"]
        return f"## By family\n\nWith the schedule `{self.best}`; of 1 and 5 runs the expected number:\n\n" + table(head, total)

    def by_evidence(self):
        words = sorted({word for m in self.schedules.values() for e in m.evidence.values() for word in e})
        rows = []
        for name, m in self.schedules.items():
            sums = [sum(e.get(word, 0) for e in m.evidence.values()) for word in words]
            only = sum(bool(e) and not any("value changed" in word for word in e) for e in m.evidence.values())
            rows.append([f"`{name}`", m.reports, m.two_sided, *sums, only])
        head = ["schedule", "reports", "two-sided", *words, "races without a changed value"]
        return "## What do the reports rest on?\n\nReports of labelled races, by their evidence:\n\n" + table(head, rows)

    def not_findable(self):
        text = "## What cannot be found, and why?\n"
        for title, keys, reason in (("By a watchpoint", self.watch, lambda able: able.by_watch),
                                    ("By comparing values, besides", self.value, lambda able: "" if able.by_watch else able.by_value)):
            groups = {}
            for key in self.races:
                why, _, detail = reason(self.able[key]).partition(": ")
                if why:
                    groups.setdefault(why, {}).setdefault(detail, []).append(key)
            rows = [[why, sum(map(len, details.values())), "; ".join(
                (f"{detail}: " if detail else "") + self.names(keys) for detail, keys in sorted(details.items()))]
                    for why, details in sorted(groups.items(), key=lambda item: -sum(map(len, item[1].values())))]
            text += f"\n{title}:\n\n" + table(["reason", "races", "which"], rows)
        return text

    def names(self, keys):
        by_program = {}
        for program, race in keys:
            by_program.setdefault(program, []).append(race)
        return ", ".join(program + (f" ({', '.join(map(str, races))})" if len(self.races) and len(
            self.races[program, races[0]][0].races) > 1 else "") for program, races in by_program.items())

    def missed(self):
        m = self.schedules[self.best]
        rows = []
        for key in self.watch:
            if m.within(key, 5) < 0.99:
                rates = [percent(len(s.hits[key]) / s.runs) for s in self.schedules.values()]
                rows.append([*self.of_race(key), *rates])
        head = ["program", "race", "what", *(f"`{name}`" for name in self.schedules)]
        return (f"## Which can be missed?\n\nThe {len(rows)} races that a watchpoint can find and that 5 runs with the schedule `{self.best}` may miss (1 in 100 "
                f"or more), with the share of the seeds that found them under each schedule:\n\n" + table(head, rows))

    def table3(self):
        rows, right = [], 0
        for program in (p for p in self.programs if p.family == "table3"):
            row = re.search(r"^// (.*) \(SuperCollider, table 3\)", read(program.path), re.M).group(1)
            theirs = row not in PAPER_MISSES
            keys = [(program.key, race) for race in program.races]
            ours = all(any(m.hits[key] for m in self.schedules.values()) for key in keys)
            right += ours
            rates = [percent(max(len(m.hits[key]) / m.runs for key in keys)) if keys else "silent" for m in self.schedules.values()]
            rows.append([row.replace(", the second row of that name", " (second)"), f"`{program.name}`", "race" if keys else "none", *rates,
                         "right" if ours else "missed", "right" if theirs else "missed"])
        head = ["row", "program", "what is there", *(f"`{name}`" for name in self.schedules), "gpurace", "paper"]
        return (f"## Table 3 of the paper\n\nThe share of the seeds that found it, with each schedule; {right} of {len(rows)} rows are right, where the paper has "
                f"{sum(r[-1] == 'right' for r in rows)}. A row without a race is right when nothing is reported.\n\n" + table(head, rows))


def percent(share):
    return f"{100 * share:.4g} %" if share >= 0.9995 or share < 0.9 else f"{100 * share:.1f} %"


def write(docs, programs, pairs):
    """The page and the plot, from the data."""
    for name, text in made(docs, programs, pairs).items():
        with open(os.path.join(docs, name), "w", encoding="utf-8") as file:
            file.write(text)


def made(docs, programs, pairs):
    page = Page(programs, pairs, load(os.path.join(docs, DATA)))
    return {PAGE: page.text(), PLOT: detection_plot.svg(page.curves(), len(page.watch))}


def incomplete(docs, programs):
    """What the data lack, or nothing."""
    labelled = {(p.key, r) for p in programs for r in p.races}
    names = [name for name, m in load(os.path.join(docs, DATA)).items() if set(m.hits) != labelled]
    return f"{DATA} does not have the races that are labelled ({', '.join(names)}); run {AGAIN}" if names else ""


def outdated(docs, programs, pairs):
    """What is wrong with the page or the plot, or nothing."""
    try:
        lacking = incomplete(docs, programs)
        if lacking:
            return lacking
        wrong = [name for name, text in made(docs, programs, pairs).items() if read(os.path.join(docs, name)) != text]
    except OSError as error:
        return f"{error}; run {AGAIN}"
    return f"{wrong[0]} is not made of {DATA}; run tests/race/gpurace-corpus --redraw" if wrong else ""
