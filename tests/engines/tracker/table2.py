# SPDX-License-Identifier: Apache-2.0
"""Table 2 of the iGUARD paper (SOSP 2021), to the letter, over a list of events.

An event is THREADS:OPERATION. THREADS is one thread or more, joined by +, that execute the instruction together; 1.32 is thread 32 of
block 1. Events follow one another in time.

    0.0:w.A       a store to x at the line marked A; r: a load; a, ab: an atomic operation of the device's or the block's scope
    0.0:cas@lock  of another word; cas, casb, xch, xchb: atomicCAS and atomicExch and their _block forms
    0.0:cas@lock% of the word lock0, lock1, ... of each thread
    0.0:w.A#1     of byte 1 of x
    0.0:f         a fence of the device's scope; fb: of the block's
    0.0:sw        __syncwarp() of the thread's warp
    0.0:bar       __syncthreads() of the thread's block
    launch        the next launch begins
    256*EVENT     the event 256 times

What the paper leaves open is decided so: DevShared and BlkShared take the current access into account (its section 6.2 sets them on the way
into the check), and nothing resets them within a launch. The Atomic bit says whether the last access that stored was atomic. The locks of
an access are sets, not Bloom filters. md's fence counts are compared with what md's own thread has counted by now, as in ScoRD.
"""
from collections import defaultdict
from dataclasses import dataclass, field

RULES = ("P1", "P2", "P3", "P4", "P5", "P6", "R1", "R2", "R3", "R4", "R5")


@dataclass
class Accessor:
    """Who accessed the word last, or wrote it last, and what that thread had counted then."""
    thread: tuple = (0, 0)
    dev: int = 0
    blk: int = 0
    bar: int = 0
    wbar: int = 0
    locks: frozenset = frozenset()
    mark: str = "?"

    @property
    def block(self):
        return self.thread[0]

    @property
    def warp(self):
        return self.thread[0], self.thread[1] // 32


@dataclass
class Word:
    valid: bool = False
    modified: bool = False
    atomic: bool = False
    narrow: bool = False
    dev_shared: bool = False
    blk_shared: bool = False
    last: Accessor = field(default_factory=Accessor)
    writer: Accessor = field(default_factory=Accessor)


class Machine:
    """`original`: words of 4 bytes and counters of 8 bits (barriers) and 6 bits (fences, warp barriers), as the paper has them."""

    def __init__(self, without=(), original=False):
        self.without, self.original = set(without), original
        self.dev, self.blk, self.bar, self.wbar = defaultdict(int), defaultdict(int), defaultdict(int), defaultdict(int)
        self.tables = defaultdict(dict)  # of a warp, or a thread: lock -> [active, block scope]
        self.per_thread = set()  # warps with locks of lanes
        self.races = set()
        self.words = defaultdict(Word)

    def run(self, trace):
        for event in trace.split():
            times, _, one = event.rpartition("*")
            for _ in range(int(times or 1)):
                self.step(one)
        return self.races

    def step(self, event):
        if event == "launch":
            self.words.clear()
            return
        who, _, what = event.partition(":")
        threads = [tuple(int(n) for n in t.split(".")) for t in who.split("+")]
        what, _, byte = what.partition("#")
        what, _, name = what.partition("@")
        op, _, mark = what.partition(".")
        if op in ("cas", "casb") and len(threads) > 1:
            self.per_thread.add(warp_of(threads[0]))
        for t in threads:
            at = f"{name or 'x'}#{byte}" if byte and not self.original else name or "x"
            if op == "bar":
                self.bar[t[0]] += 1
            elif op == "sw":
                self.wbar[warp_of(t)] += 1
            elif op in ("f", "fb"):
                (self.blk if op == "fb" else self.dev)[t] += 1
                for lock in self.table(t).values():
                    lock[0] |= op == "f" or lock[1]
            else:
                self.access(t, threads, op, at.replace("%", str(t[1])), mark)

    def table(self, thread):
        warp = warp_of(thread)
        return self.tables[thread if warp in self.per_thread else ("warp", warp)]

    def access(self, thread, together, op, at, mark):
        if op in ("cas", "casb"):
            self.table(thread)[at] = [False, op == "casb"]
        if op in ("xch", "xchb") and self.table(thread).get(at, [False, None])[1] == (op == "xchb"):
            del self.table(thread)[at]
        kind = {"r": "load", "w": "store"}.get(op, "atomic")
        me = Accessor(thread, self.dev[thread], self.blk[thread], self.bar[thread[0]], self.wbar[warp_of(thread)],
                      frozenset(lock for lock, (active, _) in self.table(thread).items() if active), mark)
        word = self.words[at]
        if word.valid and word.last.block != me.block:
            word.dev_shared = True
        elif word.valid and word.last.warp != me.warp:
            word.blk_shared = True
        md = word.writer if kind == "load" else word.last
        rule = self.judge(word, md, me, kind, together)
        if rule:
            self.races.add("".join(sorted(md.mark + me.mark)) + " " + rule)
        word.valid, word.last = True, me
        if kind != "load":
            word.modified, word.writer = True, me
            word.atomic, word.narrow = kind == "atomic", op in ("ab", "casb", "xchb")

    def same(self, a, b, bits):
        return a % (1 << bits) == b % (1 << bits) if self.original else a == b

    def judge(self, word, md, me, kind, together):
        alone = not word.dev_shared and not word.blk_shared
        no_dev = self.same(md.dev, self.dev[md.thread], 6)
        no_blk = self.same(md.blk, self.blk[md.thread], 6)
        safe = {
            "P1": not word.valid,
            "P2": not word.modified and kind == "load",
            "P3": alone and me.thread == md.thread,
            "P4": alone and me.warp == md.warp and (not self.same(md.wbar, self.wbar[me.warp], 6) or md.thread in together),
            "P5": not word.dev_shared and md.block == me.block and not self.same(md.bar, self.bar[me.block], 8),
            "P6": word.atomic and kind == "atomic" and (md.block == me.block or not word.narrow),
        }
        racy = {
            "R1": word.atomic and word.narrow and word.writer.block != me.block,
            "R2": md.warp == me.warp and no_dev and no_blk and alone and md.block == me.block,
            "R3": no_dev and no_blk and not word.dev_shared,
            "R4": md.block != me.block and no_dev,
            "R5": bool(md.locks or me.locks) and not md.locks & me.locks,
        }
        if any(holds for rule, holds in safe.items() if rule not in self.without):
            return None
        return next((rule for rule, holds in racy.items() if holds and rule not in self.without), None)


def warp_of(thread):
    return thread[0], thread[1] // 32


def judge(trace, without=(), original=False):
    """What table 2 says of the events: `clean`, or the races, as `AB R4, CD R1`."""
    return ", ".join(sorted(Machine(without, original).run(trace))) or "clean"
