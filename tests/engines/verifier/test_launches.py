#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace check --launches FILE`: test_launches.py GPURACE PROGRAMS. Verdicts for recorded launches, and what is said of files that are wrong."""
import copy
import json
import pathlib
import subprocess
import tempfile
import unittest

from test_check import GPURACE, check

# to[i * by] = from[i] for i < n, and a kernel that touches nothing.
PTX = """.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[1024];
.visible .entry shift(.param .u64 to, .param .u64 from, .param .u32 n, .param .u32 by)
{
.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
ld.param.u64 %rd1, [to];
ld.param.u64 %rd2, [from];
ld.param.u32 %r5, [n];
ld.param.u32 %r6, [by];
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.s32 %r4, %r1, %r2, %r3;
setp.ge.s32 %p1, %r4, %r5;
@%p1 bra done;
mul.wide.s32 %rd3, %r4, 4;
add.s64 %rd4, %rd2, %rd3;
ld.global.u32 %r7, [%rd4];
mul.lo.s32 %r4, %r4, %r6;
mul.wide.s32 %rd5, %r4, 4;
add.s64 %rd6, %rd1, %rd5;
st.global.u32 [%rd6], %r7;
done:
ret;
}
.visible .entry named(.param .u64 to)
{
.reg .b32 %r<4>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [to];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
mov.u64 %rd3, table;
add.s64 %rd4, %rd3, %rd2;
ld.global.u32 %r2, [%rd4];
add.s64 %rd5, %rd1, %rd2;
st.global.u32 [%rd5+4], %r2;
ret;
}
.visible .entry idle() { ret; }
"""
HEAD = {"format": "gpurace launches", "version": 1}


def pointer(allocation, offset=0, extent=4096, **more):
    return {"bytes": 8, "allocation": allocation, "offset": offset, "extent": extent, **more}


def number(value, n=4):
    return {"bytes": n, "value": f"0x{value:0{2 * n}x}"}


def launch(kernel, args, grid=2, block=32):
    return {"kernel": kernel, "grid": [grid, 1, 1], "block": [block, 1, 1], "dynamic_shared": 0, "args": args, "count": 1}


SHIFT = launch("shift", [pointer(0), pointer(1), number(64), number(1)])
NAMED = launch("named", [pointer(0, 0, 1024)], 1, 64)
IDLE = launch("idle", [])


class Launches(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ptx, self.file = pathlib.Path(folder.name, "k.ptx"), pathlib.Path(folder.name, "run.jsonl")
        self.ptx.write_text(PTX)

    def check(self, *launches, status=0):
        self.file.write_text("".join(json.dumps(x) + "\n" for x in (HEAD, *launches)))
        return check(self.ptx, "--launches", self.file, status=status)

    def changed(self, like, **values):
        """A copy with other values; arg0, arg1, … are its arguments."""
        out = copy.deepcopy(like)
        for key, value in values.items():
            if key.startswith("arg") and key != "args":
                out["args"][int(key[3:])] = value
            else:
                out[key] = value
        return out

    def test_clean_is_said_of_the_recorded_launches(self):
        report = self.check(SHIFT, NAMED, IDLE)
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))
        pairs = [r for r in report["coverage"]["remarks"] if " proved" in r]
        self.assertEqual(len(pairs), 3)
        for remark in pairs:
            self.assertRegex(remark, r"for the recorded launch at run\.jsonl:[234]: ")
        self.assertTrue(any("for the recorded launches only: 3 launches of 3 kernels" in r for r in report["coverage"]["remarks"]), report["coverage"]["remarks"])

    def test_what_a_launch_passes_decides(self):
        lanes = self.changed(SHIFT, grid=[1, 1, 1], block=[1, 1, 1])
        cases = {
            "one thread": (lanes, "clean"),
            "no stride": (self.changed(SHIFT, arg3=number(0)), "races"),
            "no stride and one thread": (self.changed(lanes, arg3=number(0)), "clean"),
            "few threads pass": (self.changed(SHIFT, arg2=number(1), arg3=number(0)), "clean"),
            "one allocation, apart": (self.changed(SHIFT, arg1=pointer(0, 256)), "clean"),
            "one allocation, shifted": (self.changed(SHIFT, arg1=pointer(0, 4)), "races"),
            "one place": (self.changed(SHIFT, arg1=pointer(0)), "clean"),
            "a variable of another name": (self.changed(NAMED, arg0=pointer(0, 0, 1024, variable="other")), "clean"),
        }
        for name, (recorded, verdict) in cases.items():
            with self.subTest(name):
                report = self.check(recorded, *(x for x in (SHIFT, NAMED, IDLE) if x["kernel"] != recorded["kernel"]),
                                    status=66 if verdict == "races" else 0)
                self.assertEqual((report["verdict"], report["reasons"]), (verdict, []))
                for race in report["races"]:
                    self.assertIn("for the recorded launch at run.jsonl:2", race["witness"])

    def test_what_is_not_known_is_no_proof(self):
        cases = {
            "memory that may be other memory too": (self.changed(SHIFT, arg1=pointer(1, apart=False)), "may be the same memory"),
            "memory that the run did not know": (self.changed(SHIFT, arg1=number(0x7f0000001000, 8)), "may be the same memory"),
            "no arguments": (self.changed(SHIFT, args=None), "may be the same memory"),
            "arguments of another kernel": (self.changed(SHIFT, args=SHIFT["args"][:3]), "another version of the kernel"),
            "a parameter of another size": (self.changed(SHIFT, arg3=number(1, 8)), "another version of the kernel"),
        }
        for name, (recorded, why) in cases.items():
            with self.subTest(name):
                report = self.check(recorded, NAMED, IDLE)
                self.assertEqual(report["verdict"], "inconclusive")
                self.assertTrue(any(why in r for r in report["reasons"]), report["reasons"])

    def test_a_pointer_to_a_variable_of_the_module(self):
        recorded = self.changed(NAMED, arg0=pointer(0, 0, 1024, variable="table"))
        race, = self.check(SHIFT, recorded, IDLE, status=66)["races"]
        self.assertEqual((race["kernel"], race["class"]), ("named", "read-write race"))
        self.assertIn("for the recorded launch at run.jsonl:3", race["witness"])

    def test_what_has_no_launch_is_named(self):
        report = self.check(SHIFT, launch("gone", []), {"left_out": 7})
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertEqual([k["name"] for k in report["coverage"]["kernels"]], ["shift"])
        for part in ("has launches: gone", "lacks 7 launches"):
            self.assertTrue(any(part in r for r in report["reasons"]), (part, report["reasons"]))
        self.assertTrue(any("not decided" in r and r.endswith("no launch of named, idle") for r in report["coverage"]["remarks"]))
        # What was not launched is not what was asked about, unless that is all.
        report = self.check(SHIFT)
        self.assertEqual((report["verdict"], [k["name"] for k in report["coverage"]["kernels"]]), ("clean", ["shift"]))
        report = self.check()
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertTrue(any(r.endswith("no launch of shift, named, idle") for r in report["reasons"]), report["reasons"])

    def test_many_launches_of_a_kernel_are_told_together(self):
        clean = [self.changed(SHIFT, arg2=number(n)) for n in range(30, 50)]
        racy = [self.changed(SHIFT, arg2=number(n), arg3=number(0)) for n in range(2, 5)]
        unknown = [self.changed(SHIFT, arg1=pointer(1, apart=False), arg2=number(n)) for n in range(10, 30)]
        report = self.check(*clean, *racy, *unknown, NAMED, IDLE, status=66)
        pairs, = [r for r in report["coverage"]["remarks"] if "kernel shift" in r and "pairs" in r]
        self.assertRegex(pairs, r"for its 43 recorded launches in \S*run\.jsonl: of its pairs of accesses \d+ proved, 3 shown, 20 possible, 0 unknown")
        self.assertEqual(len(report["races"]), 1)
        first, more = report["reasons"]
        self.assertIn("for the recorded launch at run.jsonl:25: ", first)
        self.assertIn("not said for each of them: 19 times", more)

    def test_wrong_files(self):
        def line(value, **more):
            return json.dumps({**value, **more}) + "\n"
        head = line(HEAD)
        cases = {
            "": "run.jsonl:1: the file is empty",
            "hello\n": "run.jsonl:1: this is no JSON",
            "[]\n": "run.jsonl:1: a line must be one JSON object",
            line(HEAD, format="other"): "run.jsonl:1: this is no file of `gpurace run --record-launches`",
            line(HEAD, version=2): "run.jsonl:1: version 2 of the format: this gpurace reads version 1",
            head + line(SHIFT)[:-20]: "run.jsonl:2: the line does not end",
            head + line(SHIFT) + "{]\n": "run.jsonl:3: this is no JSON",
            head + line(SHIFT, kernel=3): "run.jsonl:2: \"kernel\" must be",
            head + line(SHIFT, gird=[1, 1, 1]): "\"gird\"",
            head + line(SHIFT, grid=[1, 1]): "\"grid\" must be a list of three numbers",
            head + line(SHIFT, grid=[0, 1, 1]): "grid is 0: it must be from 1 to 2147483647",
            head + line(SHIFT, block=[2000, 1, 1]): "block is 2000",
            head + line(SHIFT, dynamic_shared=-1): "dynamic_shared is -1",
            head + line(SHIFT, count="1"): "count is no whole number",
            head + line({k: v for k, v in SHIFT.items() if k != "count"}): "\"count\" is missing",
            head + line(SHIFT, args={}): "\"args\" must be a list",
            head + line(SHIFT, args=[7]): "an argument must be an object",
            head + line(SHIFT, args=[{"bytes": 4, "value": "0x12"}]): "\"value\" of 4 bytes must be 0x and 8 hexadecimal digits",
            head + line(SHIFT, args=[{"bytes": 4, "value": "0x-0000012"}]): "no hexadecimal digit",
            head + line(SHIFT, args=[pointer(0, 5000)]): "offset is 5000: it must be from 0 to 4096",
            head + line(SHIFT, args=[pointer(0), pointer(0, 0, 64)]): "allocation 0 is described in two ways",
            head + line(SHIFT, args=[{"bytes": 12, "fields": [number(1, 8)]}]): "the fields of an argument of 12 bytes",
            head + line(SHIFT, args=[{"bytes": 40000, "fields": []}]): "bytes is 40000",
            head + '{"kernel": "x", "kernel": "y"}\n': "this is no JSON: duplicate object key",
            head + "[" * 100000 + "\n": "this is no JSON: maximum parsing depth",
            head + " " * 2000000 + "\n": "run.jsonl:2: the line has more than 1048576 bytes",
            head + "\0\n": "run.jsonl:2:",
        }
        for text, message in cases.items():
            with self.subTest(text[:120]):
                self.file.write_text(text)
                done = subprocess.run([GPURACE, "check", self.ptx, "--launches", self.file], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(message, done.stderr)
        done = subprocess.run([GPURACE, "check", self.ptx, "--launches", self.file.parent / "none"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none: No such file or directory", done.stderr)
        done = subprocess.run([GPURACE, "check", self.ptx, "--launches", "/dev/zero"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/zero:1: ", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=["test_launches.py"])
