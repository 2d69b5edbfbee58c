#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program's PTX says of itself is not trusted: test_spoofed.py GPURACE LOAD_PTX

Marks of gpurace's own in comments, and names of the form of those in what it links, stand in a racy kernel. Each engine reports the race, or the verdict
says what was not checked. It is never clean. PTX that `gpurace ptx` has rewritten is not checked a second time.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPURACE, LOAD_PTX = sys.argv[1:3]
ENGINES = ("exact", "collider", "tracker", "privatizer", "collider+exact")
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel(store, before="", mark="", name="k", declares=""):
    """All threads store their number to one place."""
    return (f"{HEAD}{before}\n{mark}.visible .entry {name}(.param .u64 q)\n{{\n.reg .b64 %rd<3>; .reg .b32 %r<3>;{declares}\n"
            f"ld.param.u64 %rd1, [q];\nmov.u32 %r1, %tid.x;\n{store}\nret;\n}}\n")


STORE = "st.global.u32 [%rd1], %r1;"
CALL = "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd1; st.param.b32 [b], %r1; call NAME, (a, b); }"
DEFINE = (".func NAME(.param .b64 a, .param .b32 b)\n{ .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
          "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [b];\nst.global.u32 [%rd1], %r1; ret; }")
# Comments: every engine sees the race.
MARKS = {
    "a store": kernel(f"/*@gr*/ {STORE}"),
    "a store, of a site": kernel(f"/*@gr:1*/ {STORE}"),
    "a store, and all else": kernel(f"/*@gr*/ {STORE}").replace("\nmov", "\n/*@gr:1*/ mov").replace("\nld", "\n/*@gr*/ ld"),
    "a label": kernel(f"/*@gr*/ L: /*@gr*/ {STORE}"),
    "a scope": kernel(f"/*@gr*/ {{ /*@gr*/ {STORE} /*@gr*/ }}"),
    "a kernel": kernel(STORE, mark="/*@gr*/ "),
    "a function": kernel(CALL.replace("NAME", "f"), before="/*@gr*/ " + DEFINE.replace("NAME", "f")),
    "text that is kept as it is": kernel(f'.pragma "nounroll" /*@gr*/;\n{STORE}'),
    "what stands in front": kernel(f'.pragma "nounroll"; /*@gr*/\n/*@gr*/ {STORE}'),
    "inline assembly": kernel(f"// begin inline asm\n/*@gr*/ {STORE}\n// end inline asm"),
    "half an inline assembly": kernel(f"// end inline asm\n// begin inline asm\n/*@gr*/ {STORE}"),
    "the last line": kernel(f"/*@gr*/ {STORE}") + "// gpurace: rewritten for the engine collider\n",
}
# Names: an engine that links names of its own does not check the kernel, and says so.
NAMES = {
    "__gr_k": kernel(STORE, name="__gr_k"),
    "__gr_report": kernel(CALL.replace("NAME", "__gr_report"), before=DEFINE.replace("NAME", "__gr_report")),
    "__gr1_access": kernel(CALL.replace("NAME", "__gr1_access"), before=DEFINE.replace("NAME", "__gr1_access")),
    "__gr_kept": kernel(STORE, declares=" .local .b32 __gr_kept;"),
    "__gr1_here": kernel(STORE, before=".global .b32 __gr1_here;"),
}
NAMES.update({f"{name}, marked": text.replace(".func", "/*@gr*/ .func").replace("st.global", "/*@gr*/ st.global")
              for name, text in list(NAMES.items())})


class Spoofed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpurace-test-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "spoofed.ptx"

    def run_it(self, text, engine):
        self.path.write_text(text, encoding="utf-8")
        return subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", engine, "--strict", "--", LOAD_PTX, self.path], timeout=60,
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def test_marks(self):
        for what, text in MARKS.items():
            for engine in ENGINES if what == "a store" else ENGINES[:3]:
                done = self.run_it(text, engine)
                self.assertEqual(done.returncode, 66, f"{what}, {engine}: {done.stdout}{done.stderr}")

    def test_names(self):
        for what, text in NAMES.items():
            for engine in ENGINES if what == "__gr_report" else ENGINES[:2]:
                done = self.run_it(text, engine)
                if engine == "exact":
                    self.assertEqual(done.returncode, 66, f"{what}, {engine}: {done.stdout}{done.stderr}")
                    continue
                self.assertEqual(done.returncode, 67, f"{what}, {engine}: {done.stdout}{done.stderr}")
                self.assertIn(f"its name {what.split(',')[0]} begins as the names that gpurace gives", done.stderr)

    def test_a_control_block(self):
        text = kernel(STORE, before=".global .align 8 .b8 __gr_control[64];")
        for engine in ENGINES:
            done = self.run_it(text, engine)
            self.assertEqual(done.returncode, 67, f"{engine}: {done.stdout}{done.stderr}")
            self.assertIn("it defines __gr_control, as PTX does that `gpurace ptx` has rewritten", done.stderr)

    def test_rewritten_ahead_of_time(self):
        for by in ("collider", "tracker", "privatizer"):
            self.path.write_text(kernel(STORE), encoding="utf-8")
            made = subprocess.run([GPURACE, "ptx", "--engine", by, self.path], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn("control", made.stdout)
            for engine in ENGINES:
                done = self.run_it(made.stdout, engine)
                self.assertNotEqual(done.returncode, 0, f"{by}, {engine}: {done.stdout}{done.stderr}")
                self.assertIn("as PTX does that `gpurace ptx` has rewritten", done.stderr)
            self.path.write_text(made.stdout, encoding="utf-8")
            again = subprocess.run([GPURACE, "ptx", self.path], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(again.returncode, 1, again.stderr)
            self.assertIn("has rewritten", again.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
