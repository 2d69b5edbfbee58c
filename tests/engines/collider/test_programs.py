#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small programs in PTX under the collider on the CPU device. test_programs.py GPURACE LOAD_PTX

Each has a race that one setting, or one piece of knowledge about the code, decides on, or is free of races for a reason that the collider has to see.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPURACE, LOAD_PTX = sys.argv[1:3]
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def report_of(text, seed, *options, grid=1, block=64):
    """The JSON report of a run."""
    with tempfile.TemporaryDirectory() as folder:
        path, report = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "r.json")
        path.write_text(HEAD + text)
        done = subprocess.run([GPURACE, "run", "--engine", "collider", "--device", "cpu", "--seed", str(seed), "--format", "json", "--output", report,
                               *options, "--", LOAD_PTX, path, str(grid), str(block)], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode in (0, 66), done.stdout + done.stderr
        return json.loads(report.read_text())


def races(*args, **keys):
    """The races of a run, as its JSON report has them."""
    return report_of(*args, **keys)["races"]


# One store that runs 2048 times. Only the last time do the two warps store to the same places.
LATE = """.visible .entry k(.param .u64 p) {
.reg .b64 %a, %b, %c; .reg .b32 %r<8>; .reg .pred %p<3>;
ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; mov.u32 %r3, 0;
mul.wide.u32 %b, %r1, 4; add.s64 %b, %a, %b; mul.wide.u32 %c, %r2, 4; add.s64 %c, %a, %c;
L: add.u32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 2048; selp.b64 %b, %c, %b, %p1;
bar.sync 0;
st.global.u32 [%b], %r1;
@!%p1 bra L;
ret; }
"""


class Windows(unittest.TestCase):
    def test_all_of_them(self):
        """By then one window in 32 opens; with --windows all each does."""
        seeds = range(1, 6)
        found = {which: sum(bool(races(LATE, seed, "--windows", which)) for seed in seeds) for which in ("sampled", "all")}
        self.assertEqual(found["all"], len(seeds))
        self.assertLessEqual(found["sampled"], 2)


# A block stores a number without order, the others wait until it is not 0 and trap if it is another one.
PUBLISHED = """.visible .entry k(.param .u64 p) {
.reg .b64 %a, %v; .reg .b32 %r1; .reg .pred %p1;
ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT;
st.global.u64 [%a], 42; ret;
WAIT: ld.volatile.global.u64 %v, [%a]; setp.eq.u64 %p1, %v, 0; @%p1 bra WAIT;
setp.ne.u64 %p1, %v, 42; @%p1 trap; ret; }
"""


class Poison(unittest.TestCase):
    def test_what_is_polled_gets_no_garbage(self):
        for seed in range(1, 4):
            races(PUBLISHED, seed, "--watchpoints", "no", "--windows", "inserted", "--poison", "yes", grid=8, block=1)


# The halves of a warp come to its barrier at two places, the second one behind the end of the first one's branch.
APART = """.visible .entry k(.param .u64 p) {
.reg .b64 %a, %b; .reg .b32 %r<5>; .reg .pred %p1;
ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; mov.u32 %r1, %tid.x; mul.wide.u32 %b, %r1, 4; add.s64 %b, %a, %b;
activemask.b32 %r2; st.global.u32 [%b], %r2; and.b32 %r3, %r1, 16; setp.ne.u32 %p1, %r3, 0;
@%p1 bra SECOND; ld.global.u32 %r4, [%b]; st.global.u32 [%b], %r1; bar.warp.sync 0xffffffff;
SECOND: @!%p1 bra OUT; st.global.u32 [%b], %r3; bar.warp.sync 0xffffffff;
OUT: ret; }
"""


class Together(unittest.TestCase):
    def test_a_barrier_of_the_warp_at_two_places(self):
        for seed in range(1, 4):
            report = report_of(APART, seed, "--watchpoints", "no", "--windows", "inserted", "--poison", "yes")
            self.assertEqual(report["verdict"], "clean", report)

    def test_lanes_that_go_on_together(self):
        """In pass/together.ptx, whose kernel asks which lanes are together, they wait for each other behind branches. None waits for ever."""
        text = (pathlib.Path(__file__).parent / "pass/together.ptx").read_text()
        for seed in range(1, 6):
            report = report_of(text[text.index(".func"):], seed, "--watchpoints", "no", "--windows", "inserted", "--poison", "yes", grid=2, block=96)
            self.assertIn(report["verdict"], ("clean", "races"), report)


def of_many(accesses, race=""):
    """A kernel of so many accesses, of all sizes and spaces, that traps if a load yields something else than was stored; and a race."""
    kinds = [("st.global.u8 [%b], %r1;", "ld.global.u8 %r2, [%b]; and.b32 %r3, %r1, 255;"), ("st.global.u16 [%b+2], %r1;", "ld.global.u16 %r2, [%b+2]; and.b32 %r3, %r1, 65535;"),
             ("st.global.u32 [%b+4], %r1;", "ld.global.u32 %r2, [%b+4]; mov.u32 %r3, %r1;"), ("st.global.u64 [%b+8], %d;", "ld.global.u64 %e, [%b+8]; cvt.u32.u64 %r2, %e; mov.u32 %r3, %r1;"),
             ("st.global.v2.u32 [%b+16], {%r5, %r1};", "ld.global.v2.u32 {%r6, %r2}, [%b+16]; mov.u32 %r3, %r1;"),
             ("st.global.v4.u32 [%b+32], {%r5, %r5, %r1, %r5};", "ld.global.v4.u32 {%r6, %r6, %r2, %r6}, [%b+32]; mov.u32 %r3, %r1;"),
             ("st.global.v2.u64 [%b+48], {%d, %d};", "ld.global.v2.u64 {%d, %e}, [%b+48]; cvt.u32.u64 %r2, %e; mov.u32 %r3, %r1;"),
             ("st.u32 [%b+4], %r1;", "ld.u32 %r2, [%b+4]; mov.u32 %r3, %r1;"), ("st.shared.u32 [%r4], %r1;", "ld.shared.u32 %r2, [%r4]; mov.u32 %r3, %r1;"),
             ("st.global.v4.u8 [%b], {%r1, %r5, %r5, %r5};", "@%p2 st.global.u32 [%b+24], %r1;")]
    body = [f"add.u32 %r1, %r1, {k + 1}; cvt.u64.u32 %d, %r1; {store} {load} setp.ne.u32 %p1, %r2, %r3; @%p1 trap;"
            for k, (store, load) in enumerate((kinds * accesses)[: accesses // 2])]
    return f""".shared .align 16 .b32 s[64];
.visible .entry k(.param .u64 p) {{
.reg .b64 %a, %b, %c, %d, %e; .reg .b32 %r<8>; .reg .pred %p<3>;
ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; mov.u32 %r1, %tid.x; mov.u32 %r5, 7; mul.wide.u32 %b, %r1, 64; add.s64 %b, %b, %a; mov.u32 %r4, s; mad.lo.u32 %r4, %r1, 4, %r4;
setp.lt.u32 %p2, %r1, 40; and.b32 %r2, %r1, 31; mul.wide.u32 %c, %r2, 4; add.s64 %c, %a, %c; mov.u32 %r2, 0; mov.u32 %r3, 0;
{race}
{chr(10).join(body)}
ret; }}
"""


class Many(unittest.TestCase):
    """In a function of very many accesses windows are calls (collider_brief.h)."""
    gpu = ("--watchpoints", "no", "--windows", "inserted", "--poison", "yes")

    @staticmethod
    def rewritten(text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "k.ptx")
            path.write_text(HEAD + text)
            return subprocess.run([GPURACE, "ptx", path], capture_output=True, text=True, check=True)

    def test_less_code(self):
        few, many = self.rewritten(of_many(100)), self.rewritten(of_many(300))
        self.assertIn("100 checked", few.stderr)
        self.assertIn("300 checked", many.stderr)
        own = [run.stdout[run.stdout.index(".entry k("):] for run in (few, many)]
        for what, has in ("__gr_brief", (False, True)), ("st.local", (True, False)):
            self.assertEqual(tuple(what in text for text in own), has, what)
        self.assertLess(len(own[1]) / 3, len(own[0]) / 2)

    def test_every_size_and_space(self):
        """Nothing is reported where nothing races, and each load yields what was stored before it."""
        for seed in range(1, 6):
            self.assertEqual(report_of(of_many(300), seed, *self.gpu)["verdict"], "clean")

    def test_races(self):
        for race in ("st.global.u32 [%c+32768], %r1;", "@%p2 st.global.u32 [%c+32768], %r1; ld.global.u32 %r2, [%c+32768];", "st.global.v2.u64 [%a+32768], {%b, %d};",
                     "st.shared.u16 [s], %r1;"):
            found = [r for seed in range(1, 6) for r in races(of_many(300, "mov.u64 %d, 1; " + race), seed, *self.gpu)]
            self.assertTrue(found, race)


# Thread 0 issues a copy of shared memory, waits as the case says, and then, behind a barrier, all threads store there.
SOURCE = """.shared .align 128 .b32 s[64];
.func waits() {{ cp.async.bulk.wait_group 0; ret; }}
.visible .entry k(.param .u64 p) {{
.reg .b64 %a; .reg .b32 %r<4>; .reg .pred %p1;
ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2;
st.shared.u32 [%r3], %r1; fence.proxy.async; bar.sync 0; setp.ne.u32 %p1, %r1, 0;
@%p1 bra AFTER;
cp.async.bulk.global.shared::cta.bulk_group [%a], [s], 256; cp.async.bulk.commit_group; {}
AFTER: bar.sync 0; add.u32 %r1, %r1, 100; st.shared.u32 [%r3], %r1;
@!%p1 cp.async.bulk.wait_group 0;
ret; }}
"""


class Sources(unittest.TestCase):
    def races(self, waits):
        """Of five seeds, those with a race of the copy's source."""
        found = [races(SOURCE.format(waits), seed, "--watchpoints", "no", "--schedule", "default") for seed in range(1, 6)]
        self.assertTrue(all(race["class"] == "clobbered read" for run in found for race in run))
        return sum(map(bool, found))

    def test_a_source_that_is_written_behind_a_barrier(self):
        for waits in ("", "cp.async.bulk.wait_group.read 1;", "call waits, (); cp.async.bulk.global.shared::cta.bulk_group [%a], [s], 256; cp.async.bulk.commit_group;"):
            self.assertEqual(self.races(waits), 5, waits)

    def test_a_source_that_was_read(self):
        for waits in ("cp.async.bulk.wait_group.read 0;", "call waits, ();", "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1;"):
            self.assertEqual(self.races(waits), 0, waits)


# Warp 1 stores to a word of shared memory that warp 0 loads at the same time. `use` is what warp 0 does with %v, loaded from [%s]: it may put
# something into %acc. In the loop %r3 counts from 0 to 3.
HOISTED = """.visible .entry k(.param .u64 p) {
.reg .b64 %%a, %%b; .reg .b32 %%r<12>, %%v, %%w, %%acc, %%s; .reg .pred %%p<8>; .shared .align 4 .b32 word;
ld.param.u64 %%a, [p]; cvta.to.global.u64 %%a, %%a; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%b, %%r1, 4; add.s64 %%b, %%a, %%b;
mov.u32 %%s, word; mov.u32 %%acc, 9; mov.u32 %%r3, 0; setp.ne.u32 %%p1, %%r1, 0; @%%p1 bra BEGIN; st.shared.u32 [%%s], %%r1;
BEGIN: bar.sync 0; setp.gt.u32 %%p1, %%r1, 31; @%%p1 bra STORE;
%s
st.global.u32 [%%b], %%acc; ret;
STORE: setp.ne.u32 %%p1, %%r1, 32; @%%p1 bra END; st.shared.u32 [%%s], 77;
END: ret; }
"""
# KEEP stands for a comparison of %r1, the thread, and %r3 that holds for lane 3 in one turn, or for nobody.
USES = {
    "behind a branch, in a loop": """ld.shared.u32 %v, [%s];
LOOP: KEEP %p2; @!%p2 bra SKIP; add.u32 %acc, %acc, %v; SKIP: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4; @%p3 bra LOOP;""",
    "behind a branch, with arithmetic": """ld.shared.u32 %v, [%s]; mad.lo.u32 %w, %v, 3, 7; KEEP %p2; @!%p2 bra SKIP; add.u32 %acc, %acc, %w; SKIP:""",
    "under a guard, in a loop": """ld.shared.u32 %v, [%s];
LOOP: KEEP %p2; @%p2 add.u32 %acc, %acc, %v; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4; @%p3 bra LOOP;""",
    "chosen in a loop": """ld.shared.u32 %v, [%s];
LOOP: KEEP %p2; selp.b32 %acc, %v, %acc, %p2; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4; @%p3 bra LOOP;""",
    "chosen behind a branch": """ld.shared.u32 %v, [%s]; setp.eq.u32 %p3, %r1, 5; @%p3 bra NEXT; add.u32 %acc, %acc, 1;
NEXT: KEEP %p2; selp.b32 %acc, %v, %acc, %p2;""",
    "merged with another value": """setp.eq.u32 %p3, %r1, 5; @%p3 bra OTHER; ld.shared.u32 %v, [%s]; bra NEXT; OTHER: mov.u32 %v, 8;
NEXT: KEEP %p2; selp.b32 %acc, %v, %acc, %p2;""",
    "the result of a comparison": """ld.shared.u32 %v, [%s]; setp.gt.u32 %p4, %v, 5; setp.eq.u32 %p3, %r1, 5; @%p3 bra NEXT; add.u32 %acc, %acc, 1;
NEXT: KEEP %p2; and.pred %p5, %p4, %p2; selp.b32 %acc, 4, %acc, %p5;""",
    "chosen by a comparison with itself, at once": """ld.shared.u32 %v, [%s]; KEEP %p2; setp.ne.u32 %p4, %v, 12345; and.pred %p5, %p4, %p2;
bar.warp.sync -1; selp.b32 %acc, %v, %acc, %p5;""",
    "handed to inline assembly": """ld.shared.u32 %v, [%s]; KEEP %p2; @!%p2 bra SKIP; { .reg .b32 t; add.u32 t, %v, 1; add.u32 %acc, %acc, t; } SKIP:""",
    # The value of the first turn is thrown away; in the second one the register has another. Nobody but a thread that chooses in turn 0 uses it.
    "overwritten before it is chosen": """LOOP: setp.ne.u32 %p3, %r3, 0; @%p3 bra OTHER; ld.shared.u32 %v, [%s]; bra NEXT; OTHER: mov.u32 %v, %r1;
NEXT: KEEP %p2; setp.eq.u32 %p4, %r3, 1; or.pred %p2, %p2, %p4; selp.b32 %acc, %v, %acc, %p2;
add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4; @%p3 bra LOOP;""",
}


class Hoisted(unittest.TestCase):
    """A load whose value its thread may throw away is an access of the threads that use the value, and of no others."""

    def found(self, use, keep, windows="sampled", seeds=12):
        text = HOISTED % use.replace("KEEP %p2", "mad.lo.u32 %%r4, %%r3, 100, %%r1; setp.eq.u32 %%p2, %%r4, %d" % keep)
        return any(races(text, seed, "--watchpoints", "no", "--windows", windows) for seed in range(1, seeds + 1))

    def test_used(self):
        for name, use in USES.items():
            for windows in ("sampled", "inserted"):  # the second is the code of a GPU
                with self.subTest(name, windows=windows):
                    self.assertTrue(self.found(use, 3, windows))

    def test_read_before_a_fence(self):
        """The source has it: the compiler moves no load up over the fence. A sequence lock reads so, and throws away."""
        self.assertTrue(self.found("ld.shared.u32 %v, [%s]; fence.acq_rel.gpu; KEEP %p2; @!%p2 bra SKIP; add.u32 %acc, %acc, %v; SKIP:", 999))

    def test_not_used(self):
        for name, use in USES.items():
            for windows in ("sampled", "inserted"):
                with self.subTest(name, windows=windows):
                    self.assertFalse(self.found(use, 999, windows, 3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
