# SPDX-License-Identifier: Apache-2.0
"""Which labelled races an engine can find, and why not the others.

Derived from what the engine can do (`gpurace engines`), from the labels, and from sides.tsv: the accesses that a causality engine saw on both sides
of each race (`gpurace-corpus --update-sides`; the runs of exact compare). Nothing here knows what an engine found.
"""
import os
from dataclasses import dataclass
from typing import Callable

SIDES = "sides.tsv"
GPU = "gpu.tsv"
# Sides in whose course an engine that waits looks: PTX promises that nobody else touches the bytes meanwhile.
WINDOWS = ("weak load", "weak store", "asynchronous load", "asynchronous store")
WRITES = ("store", "atomic", "memset", "host write")

APART = "no schedule makes the accesses overlap (*missing-order*)"
NO_WINDOW = "neither side is a weak access of a kernel: {}"
DISCARDED = "the thread does not use what it loads"
SAME = "both store the same value"
UNSEEN = "the side that reads is no weak access of a kernel: {}"
UNHEEDED = "the engine does not heed {}"
TWO_LAUNCHES = "the accesses are of two launches"
CLOSED = {
    "in step": "it shows only if lanes of one warp come apart where no branch parts them",
    "no change": "the other access leaves the value as it is, whatever it was",
    "behind the issue": "the other access comes behind the issue of a copy that reads there",
}
NO_KERNEL = "a side is no access of a kernel: {}"
HOST = "the engine does not follow what the host does"
UNKNOWN = "sides.tsv does not have its accesses; run --update-sides"


@dataclass
class Findable:
    """Why an engine cannot find a race; empty: it can."""

    by_watch: str = ""
    by_value: str = ""


def load(folder):
    """(program, race) -> {(class, side, side)}"""
    pairs = {}
    with open(os.path.join(folder, SIDES), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                program, race, *pair = line.rstrip("\n").split("\t")
                pairs.setdefault((program, int(race)), set()).add(tuple(pair))
    return pairs


def load_closed(folder):
    """(program, race) -> which of CLOSED. Of an example: the race is 0, which stands for all of its races."""
    closed = {}
    with open(os.path.join(folder, GPU), encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                program, race, why = line.rstrip("\n").split("\t")
                closed[program, int(race or 0)] = CLOSED[why]
    return closed


def save(folder, pairs):
    with open(os.path.join(folder, SIDES), "w", encoding="utf-8") as file:
        file.write("# What accesses raced, as exact saw them. Written by gpurace-corpus --update-sides.\n")
        file.write("# program\trace\tclass\tside\tside\n")
        for (program, race), rows in sorted(pairs.items()):
            for row in sorted(rows):
                file.write("\t".join((program, str(race), *row)) + "\n")


def writes(race_class, side, other):
    """Whether a side writes. Of a copy the report does not say it: what the other side and the class leave."""
    if side == "copy":
        return race_class != "read-write race" or not writes(race_class, other, side)
    return side.endswith(WRITES)


def of_pair(race_class, sides):
    """Why watching finds no race between two accesses, and why comparing values does not."""
    used = [s for s in sides if not s.endswith("discarded")]
    if not any(s in WINDOWS for s in used):
        return (NO_WINDOW.format(" and ".join(sides)),) * 2
    if len(used) < 2:
        return DISCARDED, DISCARDED
    if race_class == "same-value write":
        return "", SAME
    if any(own in WINDOWS and writes(race_class, other, own) for own, other in (sides, sides[::-1])):
        return "", ""
    return "", UNSEEN.format(next(s for s in sides if s not in WINDOWS))


def of_race(race, pairs):
    """A race that shows in several ways can be found if one of them can."""
    if race.order == "missing-order":
        return Findable(APART, APART)
    reasons = [of_pair(race_class, sides) for race_class, *sides in sorted(pairs)] or [(UNKNOWN, UNKNOWN)]
    best = lambda column: next((r[column] for r in reasons if not r[column]), reasons[0][column])
    return Findable(best(0), best(1))


def on_gpu(key, race, pairs, closed, poisons=False):
    """Why comparing values on a GPU does not find a race, where lanes run in step and nothing but time parts warps; empty: it can. Poisoned stores
    make a change of a store of the same value."""
    reason = of_race(race, pairs).by_value
    return closed.get(key, "") if not reason or (poisons and reason == SAME) else reason


def by_api(side):
    return side in ("copy", "memset", "free")


def in_kernel(side):
    return not by_api(side) and not side.startswith("host ")


def beside_memory(race, pairs, api=by_api):
    """Why an engine that records accesses beside memory, and hears of the work of streams, cannot find a race: a kernel must be on one side."""
    def of_sides(sides):
        if not any(map(in_kernel, sides)) or not all(in_kernel(s) or api(s) for s in sides):
            return NO_KERNEL.format(" and ".join(sides))
        return DISCARDED if any(s.endswith("discarded") for s in sides) else ""
    reasons = [of_sides(sides) for _, *sides in sorted(pairs)] or [UNKNOWN]
    return min(reasons, key=bool)


def of_one_launch(race, pairs):
    """The same where it hears of no streams."""
    return TWO_LAUNCHES if len(set(race.launches)) == 2 else beside_memory(race, pairs, api=lambda side: False)


def within_a_launch(race, pairs):
    """The same of an engine that runs one launch at a time on private copies: both sides are weak accesses, or atomic ones, of one launch."""
    def of_sides(sides):
        if not all(in_kernel(s) for s in sides):
            return NO_KERNEL.format(" and ".join(sides))
        if any(s.startswith(("asynchronous", "volatile")) for s in sides):
            return NO_WINDOW.format(" and ".join(sides))
        if not any(s in ("weak load", "weak store") for s in sides):
            return NO_WINDOW.format(" and ".join(sides))
        return DISCARDED if any(s.endswith("discarded") for s in sides) else ""
    if len(set(race.launches)) == 2:
        return TWO_LAUNCHES
    return min([of_sides(sides) for _, *sides in sorted(pairs)] or [UNKNOWN], key=bool)


@dataclass(frozen=True)
class Rule:
    """What engines with a capability (src/options/caps.def) find on these devices."""

    can: str
    devices: tuple
    finds: str
    why_not: Callable  # of a race, and the pairs of accesses that showed it


# The first row that fits an engine holds for it. A row for a new capability makes a column of docs/corpus.md.
RULES = (
    Rule("causality", ("cpu", "gpu"), "every race, those with the host only if it follows what the host does", lambda race, pairs: ""),
    Rule("windows", ("cpu",), "races that can overlap and have a weak access of a kernel on one side", lambda race, pairs: of_race(race, pairs).by_watch),
    Rule("windows", ("gpu",), "the same, if the other side changes the value", lambda race, pairs: of_race(race, pairs).by_value),
    Rule("counters", ("cpu",), "races of two accesses of kernels, weak or strong, and of one with a copy, memset or free", beside_memory),
    Rule("counters", ("gpu",), "races of two accesses of one launch, weak or strong", of_one_launch),
)


def rule_of(engine, device):
    """None: nobody has said what such an engine finds."""
    return next((rule for rule in RULES if rule.can in engine.can and device in rule.devices and device in engine.can), None)


def why_not(engine, device, race, pairs):
    """Why an engine (engines.py) cannot find a race on a device; empty: it can."""
    if not engine.heeds(race.options):
        return UNHEEDED.format(" ".join(race.options))
    if "causality" in engine.can and "host" in race.hosts and ("host" not in engine.can or device == "gpu"):
        return HOST
    return rule_of(engine, device).why_not(race, pairs)
