# SPDX-License-Identifier: Apache-2.0
"""The labels of the corpus. README.md here is the format."""
import fnmatch
import os
import re
from dataclasses import dataclass, field

from truth import frames, label_classes, of_host, read, words

FAMILIES = ("table3", "scopes", "graph", "hgrd", "ldetector", "subtle", "async", "host")
DEFAULT_SEEDS = 20
SPACES, ORDERS, SCOPES = ("global", "shared"), ("can-overlap", "missing-order"), ("cta", "cluster", "gpu", "sys")
HEADERS = ("RACE", "CLEAN", "SEEDS", "ARGS", "NVCC", "DEVICES", "FIXED", "ONLY-FIXED", "MISUSE")


class LabelError(ValueError):
    pass


@dataclass
class Race:
    """One RACE header with its SIDE lines."""

    id: int
    line: int
    classes: tuple = ()
    space: str = ""
    order: str = ""
    launches: tuple = ()  # () any, (n,) both sides, (n, m)
    scope: str = ""
    hosts: tuple = ()  # which of its sides are of_host()
    options: tuple = ()
    why: str = ""
    sides: set = field(default_factory=set)

    def matches(self, record, program):
        """Whether an engine that knows both sides reported this race with `record`."""
        # Two stores that race may happen to store the same, and any two accesses may happen to have two fence.sc between them.
        same = record["class"] == "same-value write" and "write-write race" in self.classes
        chance = record["class"] == "ordered by chance" and bool({"write-write race", "read-write race"} & set(self.classes))
        if record["class"] not in self.classes and not same and not chance or not self.sides_match(record, program):
            return False
        # Of weak accesses it is the scope of what should have ordered them: the report does not have it.
        return not self.scope or record["class"] != "insufficient scope" or self.scope in [a["scope"] for a in record["accesses"]]

    def sides_match(self, record, program):
        """Whether the two sides of `record` are this race's, whatever its class."""
        accesses = record["accesses"]
        if record["space"] != self.space or len(accesses) != 2:
            return False
        host = sorted(kind for kind in map(of_host, accesses) if kind)
        lines = sorted(program.line_of(a) for a in accesses if not of_host(a))
        if host != sorted(self.hosts) or not set(lines) <= self.sides:
            return False
        if len(lines) == 2 and len(self.sides) == 2 and set(lines) != self.sides:
            return False  # one of the lines with itself: another race
        # An engine that compares values says of the record, not of the access, in which launch it noticed.
        noticed = None if of_host(accesses[0]) else record.get("launch")
        launches = sorted(n for n in (accesses[0].get("launch") or noticed, accesses[1].get("launch")) if n)
        return not self.launches or not launches or set(launches) == set(self.launches)

    def has_side(self, record, program):
        """Whether the one side that `record` names is one of this race's."""
        return record["space"] == self.space and program.line_of(record["accesses"][0]) in self.sides


@dataclass
class Misuse:
    """One MISUSE header: synchronization that is wrong in itself. It has its id from the same numbers as the races."""

    id: int
    line: int
    classes: tuple
    sides: set = field(default_factory=set)
    options: tuple = ()

    def matches(self, record, program):
        return record["class"] in self.classes and (not self.sides or program.line_of(record) in self.sides)


class Program:
    """The labels of one source file."""

    def __init__(self, path, classes):
        self.path, self.file = path, os.path.basename(path)
        self.family, self.name = os.path.basename(os.path.dirname(path)), self.file[: -len(".cu")]
        self.races, self.misuses = {}, {}
        self.clean = self.only_fixed = None
        self.seeds, self.args, self.devices, self.has_twin = DEFAULT_SEEDS, [], 1, False
        text = read(path)
        self.line_count = text.count("\n") + 1
        for number, line in enumerate(text.splitlines(), 1):
            header = re.match(r"// ([A-Z][A-Z-]+[A-Z])\b( \d+)?(: | -- )(.*)$", line)
            if header:
                self.header(number, classes, *header.groups())
            self.labels(number, line, bool(header))
        self.check()

    @property
    def racy(self):
        return bool(self.races or self.misuses)

    @property
    def ids(self):
        """What has a number: races and misuses."""
        return {**self.races, **self.misuses}

    @property
    def key(self):
        return f"{self.family}/{self.name}"

    def fail(self, line, what):
        raise LabelError(f"{self.path}:{line}: {what}")

    def header(self, line, classes, word, number, colon, rest):
        if word not in HEADERS:
            self.fail(line, f"no such header: {word} (there are {', '.join(HEADERS)})")
        if (colon == " -- ") != (word in ("CLEAN", "ONLY-FIXED")):
            self.fail(line, f"{word} is followed by {'--' if colon == ': ' else 'a colon'}")
        if word == "RACE":
            self.race(line, classes, number, rest)
        elif word == "CLEAN":
            self.clean = rest
        elif word == "ONLY-FIXED":
            self.only_fixed = rest
        elif word in ("SEEDS", "DEVICES"):
            count = re.match(r"(\d+)( -- .+)?$", rest)
            if not count or int(count.group(1)) < 1 or (word == "SEEDS" and not count.group(2)):
                self.fail(line, "SEEDS: n -- why" if word == "SEEDS" else "DEVICES: n")
            setattr(self, word.lower(), int(count.group(1)))
        elif word == "ARGS":
            self.args = rest.split()
        elif word == "MISUSE":
            self.misuses[self.number(line, word, number)] = Misuse(int(number), line, self.classes(line, classes, rest))

    def number(self, line, word, number):
        if not number or not 1 <= int(number) <= 9:
            self.fail(line, f"{'a race' if word == 'RACE' else 'a misuse'} has a number from 1 to 9: {word} 1: ...")
        if int(number) in self.ids:
            self.fail(line, f"{word} {number.strip()} is there twice")
        return int(number)

    def classes(self, line, known, text):
        names = tuple(name.strip() for name in text.partition(" -- ")[0].split("|"))
        for name in names:
            if name not in known:
                self.fail(line, f"no such class: {name!r}")
        return names

    def race(self, line, classes, number, rest):
        fields, dashes, why = rest.partition(" -- ")
        if not dashes or not why.strip():
            self.fail(line, "RACE without ' -- ' and the reason why it is one")
        fields = [f.strip() for f in fields.split(",")]
        if len(fields) < 3:
            self.fail(line, "RACE n: CLASS, global|shared, can-overlap|missing-order, ... -- why")
        number = self.number(line, "RACE", number)
        race = Race(number, line, self.classes(line, classes, fields[0]), fields[1], fields[2], why=why)
        if race.space not in SPACES:
            self.fail(line, f"the space is one of {', '.join(SPACES)}, not {race.space!r}")
        if race.order not in ORDERS:
            self.fail(line, f"the order is one of {', '.join(ORDERS)}, not {race.order!r}")
        for text in fields[3:]:
            self.detail(line, race, text)
        self.races[race.id] = race

    def detail(self, line, race, text):
        kind, _, value = text.partition(" ")
        numbers = re.match(r"launch (\d+)$|launches (\d+) and (\d+)$", text)
        if numbers:
            race.launches = tuple(int(n) for n in numbers.groups() if n)
        elif kind == "scope" and value in SCOPES:
            race.scope = value
        elif kind == "with" and value and all(of_host({"kind": v}) == v for v in value.split(" and ")):
            race.hosts = tuple(value.split(" and "))
        elif kind == "options" and value.startswith("--"):
            race.options = tuple(value.split())
        else:
            self.fail(line, f"not understood: {text!r}")

    def labels(self, number, line, is_header):
        code, _, comment = line.partition("//")
        side = re.search(r"\bSIDE\b((?: \d+)*)", comment)
        if not is_header and side and code.strip():
            if not side.group(1):
                self.fail(number, "SIDE without the number of its race")
            for race in map(int, side.group(1).split()):
                if race not in self.ids:
                    self.fail(number, f"SIDE {race}, but no RACE {race} above")
                self.ids[race].sides.add(number)
            if re.search(r"\bNEVER\b", comment):
                self.fail(number, "SIDE and NEVER")
        if re.search(r"\bFIX\b", comment) or (code.strip() and re.search(r"\b(fixed|FIXED)\b", code)):
            self.has_twin = True

    def check(self):
        for race in self.races.values():
            if not race.sides and len(race.hosts) < 2:
                self.fail(race.line, f"RACE {race.id} has no line with SIDE {race.id}")
            if len(race.sides) > 1 and len(race.hosts) == 2 or len(race.hosts) > 2:
                self.fail(race.line, f"RACE {race.id} has more than two sides")
        clean = self.clean is not None or self.only_fixed is not None
        if self.racy == clean:
            self.fail(1, "a program has RACE (or MISUSE) headers, or is CLEAN or ONLY-FIXED")
        if not clean and not self.has_twin:
            self.fail(1, "a racy program has a repaired twin (FIX)")

    def line_of(self, access):
        """The line of this file where an access stands, or was inlined from a header; 0: neither."""
        return next((line or 0 for file, line in frames(access) if file == self.file), 0)


def load(folder, patterns=()):
    """All programs of the corpus whose FAMILY or FAMILY/NAME matches one of the patterns."""
    classes = label_classes() | words("src/vm/misuse.def", "MISUSE")
    programs = []
    for family in sorted(os.listdir(folder), key=lambda f: (FAMILIES.index(f) if f in FAMILIES else len(FAMILIES), f)):
        path = os.path.join(folder, family)
        if os.path.isdir(path):
            programs += [Program(os.path.join(path, f), classes) for f in sorted(os.listdir(path)) if f.endswith(".cu")]
    for pattern in patterns:
        if not any(chosen(p, [pattern]) for p in programs):
            raise LabelError(f"no program matches {pattern!r}")
    return [p for p in programs if not patterns or chosen(p, patterns)]


def chosen(program, patterns):
    return any(fnmatch.fnmatch(text, p) for p in patterns for text in (program.family, program.key, program.name))
