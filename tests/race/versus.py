#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an engine beside exact over the corpus, both in one execution, and says which pairs of places each of the two reported.

A pair is two lines, the space and the class. What both report is *found*. What the engine alone reports is *false*. What exact alone
reports was missed, for one of these causes: *host*: no side is an access of a kernel, or one is the host's own; *design*: a row of REASONS says why; *history*: the engine
reported another pair at one of the two lines in the same run; *unexplained*: none of these. A pair counts once for each program: as found if one of the
seeds found it, else with the least explained of its causes. A program is findable if exact saw a pair there that has not the cause host or
design. Whatever is reported of a twin is false.

Exit status: 0, nothing was false and every run went well; 1, else (or less than --at-least was found); 2, an argument is wrong.
"""
import argparse
import concurrent.futures
import os
import re
import sys
from dataclasses import dataclass, field

import corpus
import engines
import findable
from judge import UNCHECKED
from truth import ROOT, Run, load_schema, of_host

FOUND, FALSE = "found", "false"
HOST, DESIGN, HISTORY, UNEXPLAINED = CAUSES = ("host", "design", "history", "unexplained")  # the last ones explain least
COLUMNS = ("program", "variant", "seed", "what", "reason", "class", "own class", "space", "side", "side")


def sides(race, test):
    return any(map(test, race["accesses"]))


# Why an engine that keeps what it knows beside memory does not see a pair: (words, whether it is such a pair).
REASONS = (
    ("an asynchronous operation is on one side", lambda race: sides(race, lambda a: a.get("asynchronous"))),
    (findable.DISCARDED, lambda race: sides(race, lambda a: a.get("discarded"))),
)


@dataclass(frozen=True)
class Pair:
    """Two places of a program, as people are told them."""

    race_class: str
    space: str
    sides: tuple  # of texts, sorted

    @property
    def text(self):
        return f"{self.race_class}, {self.space}: {' and '.join(self.sides)}"


@dataclass
class Seen:
    """What one run showed of a pair."""

    pair: Pair
    what: str  # FOUND, FALSE or one of CAUSES
    reason: str = ""
    own_class: str = ""


@dataclass
class Result:
    program: corpus.Program
    rows: list = field(default_factory=list)  # (variant, seed, Seen)
    false: dict = field(default_factory=dict)  # text -> command
    errors: list = field(default_factory=list)

    def pairs(self):
        """pair -> what became of it over all seeds of the racy program."""
        whats = {}
        for variant, _, seen in self.rows:
            if variant == "racy" and seen.what != FALSE:
                whats.setdefault(seen.pair, set()).add(seen.what)
        return {pair: FOUND if FOUND in all_of else max(all_of, key=CAUSES.index) for pair, all_of in whats.items()}

    @property
    def found(self):
        return FOUND in self.pairs().values()

    @property
    def findable(self):
        """Whether exact saw a pair for which neither HOST nor DESIGN is the cause."""
        return any(what not in (HOST, DESIGN) for what in self.pairs().values())


def place_of(access):
    """Where people are told that it stands."""
    if of_host(access):
        return access["kind"]
    return f"{os.path.basename(access['file'])}:{access['line']}" if access["line"] else f"PTX line {access.get('ptx_line')}"


def pair_of(race):
    return Pair(race["class"], race["space"], tuple(sorted(map(place_of, race["accesses"]))))


def followed(accesses):
    """Whether one side is an access of a kernel, and neither is one of the host's own."""
    kinds = [access["kind"] for access in accesses]
    return any(map(findable.in_kernel, kinds)) and all(findable.in_kernel(k) or findable.by_api(k) for k in kinds)


def cause_of(race, reported):
    """Why the engine did not report a pair of exact's: the cause, and the words of the row. reported: (space, place) of what it did report."""
    if not followed(race["accesses"]):
        return HOST, ""
    for words, fits in REASONS:
        if fits(race):
            return DESIGN, words
    if any((race["space"], place_of(access)) in reported for access in race["accesses"]):
        return HISTORY, ""
    return UNEXPLAINED, ""


def sort(report, finder):
    """What the races of one report show."""
    own = [race for race in report["races"] if race["engine"] == finder]
    reported = {(race["space"], place_of(access)) for race in own for access in race["accesses"]}
    seen = {}
    for race in own:
        witness = race.get("witness")
        if witness:
            seen[pair_of(witness)] = Seen(pair_of(witness), FOUND, own_class=race["class"])
        else:
            seen[pair_of(race)] = Seen(pair_of(race), FALSE, own_class=race["class"])
    for race in report["races"]:
        pair = pair_of(race)
        if race["engine"] != finder and pair not in seen:
            seen[pair] = Seen(pair, *cause_of(race, reported))
    return list(seen.values())


class Comparison:
    def __init__(self, args, finder):
        self.args, self.finder = args, finder
        self.schema = load_schema(args.schema)

    def one(self, result, seed, twin):
        args, program = self.args, result.program
        command = [os.path.join(args.programs, program.family, program.name)] + (["fixed"] if twin else []) + program.args
        devices = ["--cpu-devices", str(program.devices)] if program.devices > 1 else []
        run = Run(args.gpurace, f"{self.finder}+exact", command, seed, "json", [*devices, *args.options.split()], timeout=args.timeout)
        clean = twin or not program.racy
        try:
            report = run.report(self.schema)
            problems = run.check(report, clean, UNCHECKED)
            if not clean and any("timeout:" in reason for reason in report.get("reasons", ())):
                problems = []  # a race may make a program wait for ever
            for seen in sort(report, self.finder):
                result.rows.append(("twin" if clean else "racy", seed, seen))
                if seen.what == FALSE or clean:
                    result.false.setdefault(("twin: " if clean else "") + seen.pair.text, run.command)
        except Exception as error:  # whatever a broken report raises is a finding about that run
            problems = [f"{type(error).__name__}: {str(error)[:600]}"]
        result.errors += [f"seed {seed}: {p}\n      again: {run.command}" for p in problems]

    def compare(self, program):
        result = Result(program)
        if not os.access(os.path.join(self.args.programs, program.family, program.name), os.X_OK):
            result.errors.append(f"{program.key} is not built (target corpus)")
            return result
        for seed in self.args.seeds:
            if not program.only_fixed:
                self.one(result, seed, False)
        for seed in self.args.seeds if self.args.twin_seeds is None else self.args.twin_seeds:
            if program.has_twin:
                self.one(result, seed, True)
        return result


def count(results, key):
    """key(result, pair) -> what became of pairs -> how many."""
    table = {}
    for result in results:
        for pair, what in result.pairs().items():
            row = table.setdefault(key(result, pair), dict.fromkeys((FOUND, *CAUSES), 0))
            row[what] += 1
    return table


def show_table(head, rows):
    widths = [max(len(str(row[k])) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(str(cell).ljust(w) if k == 0 else str(cell).rjust(w) for k, (cell, w) in enumerate(zip(row, widths))))


def show_families(results):
    families = list(dict.fromkeys(r.program.family for r in results))
    pairs = count(results, lambda result, pair: result.program.family)
    rows = []
    for family in [*families, None]:
        here = [r for r in results if family in (None, r.program.family)]
        whats = [sum(row[what] for name, row in pairs.items() if family in (None, name)) for what in (FOUND, *CAUSES)]
        rows.append([family or "all", f"{sum(r.found for r in here)}/{sum(r.findable for r in here)}", sum(len(r.false) for r in here), *whats])
    show_table(["family", "programs", FALSE, *(f"pairs {w}" if w == FOUND else w for w in (FOUND, *CAUSES))], rows)


def show_classes(results):
    rows = count(results, lambda result, pair: pair.race_class)
    show_table(["class", FOUND, *CAUSES], [[name, *row.values()] for name, row in sorted(rows.items())])


def show_reasons(results):
    reasons = {}
    for result in results:
        missed = {pair for pair, what in result.pairs().items() if what == DESIGN}
        for pair, reason in {(s.pair, s.reason) for variant, _, s in result.rows if variant == "racy" and s.what == DESIGN and s.pair in missed}:
            reasons[reason] = reasons.get(reason, 0) + 1
    for reason, number in sorted(reasons.items()):
        print(f"design: {reason}: {number}")


def show(results, verbose):
    for result in results:
        key, pairs = result.program.key, result.pairs()
        for text, command in result.false.items():
            print(f"false: {key}: {text}\n      again: {command}")
        for text in result.errors[:4]:
            print(f"{key}: {text}")
        for pair, what in sorted(pairs.items(), key=lambda item: item[0].text):
            if what == UNEXPLAINED or verbose:
                print(f"{what}: {key}: {pair.text}")
        if result.findable and not result.found:
            print(f"not found: {key}")
    show_families(results)
    show_classes(results)
    show_reasons(results)
    whats = [seen.what for result in results for variant, _, seen in result.rows if variant == "racy" and seen.what != FALSE]
    print(f"{whats.count(FOUND)} of the {len(whats)} pairs of all runs were found in the run that exact saw them in")


def write_table(path, results):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\t".join(COLUMNS) + "\n")
        for result in results:
            for variant, seed, seen in result.rows:
                pair = seen.pair
                file.write("\t".join([result.program.key, variant, str(seed), seen.what, seen.reason, pair.race_class, seen.own_class, pair.space,
                                      *pair.sides]) + "\n")


def share_found(results):
    """Of the pairs that an engine of this kind can see, in percent."""
    whats = [what for result in results for what in result.pairs().values() if what not in (HOST, DESIGN)]
    return 100 * whats.count(FOUND) / len(whats) if whats else 0


def seed_range(text):
    numbers = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", text)
    if not numbers:
        raise argparse.ArgumentTypeError("FROM..TO, or a number N for 1..N; 0 for none")
    first, last = (1, int(text)) if numbers.group(2) is None else map(int, numbers.groups())
    return range(first, last + 1)


def parse_args(argv):
    summary, _, rest = __doc__.partition("\n\n")
    p = argparse.ArgumentParser(description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("patterns", nargs="*", metavar="PROGRAM", help="a family, NAME or FAMILY/NAME, with * and ?; default: all")
    p.add_argument("--engine", default="tracker", metavar="NAME", help="what is compared with exact (default: %(default)s)")
    p.add_argument("--options", default="", metavar="WORDS", help="further options of gpurace run, as one argument")
    p.add_argument("--family", action="append", default=[], metavar="NAME", help="only this family; may be there several times")
    p.add_argument("--seeds", type=seed_range, default=range(1, 6), metavar="A..B", help="default: 1..5")
    p.add_argument("--twin-seeds", type=seed_range, metavar="A..B", help="default: as --seeds")
    p.add_argument("--table", metavar="FILE", help="write a row for each pair, program and seed, tab-separated")
    p.add_argument("--false-ok", action="store_true", help="what only the engine reports is no failure")
    p.add_argument("--at-least", type=float, metavar="PERCENT", help="fail if less is found of the pairs without the causes host and design")
    p.add_argument("-j", "--jobs", type=int, default=2, help="runs at the same time (default: 2)")
    p.add_argument("--verbose", action="store_true", help="a line for each pair")
    p.add_argument("--reasons", action="store_true", help="run nothing: print what an engine is excused for by design")
    p.add_argument("--gpurace", default=os.path.join(ROOT, "build/gpurace"))
    p.add_argument("--programs", default=os.path.join(ROOT, "build/corpus"), help="folder of the built programs")
    p.add_argument("--sources", default=os.path.join(ROOT, "tests/race"), help="folder of the families")
    p.add_argument("--schema", default=os.path.join(ROOT, "docs/report.schema.json"))
    p.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="of one run")
    return p.parse_args(argv)


def main(argv=None):
    args = parse_args(argv)
    if args.reasons:
        print("\n".join(words for words, _ in REASONS))
        return 0
    try:
        finder = engines.choose(args.gpurace, f"{args.engine}+exact", "cpu").finder
        programs = corpus.load(args.sources, [*args.family, *args.patterns])
    except ValueError as error:
        print(f"versus: {error}", file=sys.stderr)
        return 2
    comparison = Comparison(args, finder.name)
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, args.jobs)) as pool:
        results = list(pool.map(comparison.compare, programs))
    show(results, args.verbose)
    if args.table:
        write_table(args.table, results)
    failed = any(r.errors or (r.false and not args.false_ok) for r in results)
    if args.at_least is not None:
        share = share_found(results)
        failed |= share < args.at_least
        print(f"{share:.1f} % of the pairs without the causes host and design were found, at least {args.at_least:g} % should be")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
