#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check-layers.py against small folders: what it refuses, by the line that it says."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent.parent / "tools/check-layers.py"
TABLE = "<!-- layers: begin -->\n| folder | may use |\n|---|---|\n{}<!-- layers: end -->\n"
# low/ has a function and an inline function; high/ calls both.
TREE = {
    "low/a.h": "int gr_a(int x);\nstatic inline int gr_a_twice(int x) {\n    return 2 * gr_a(x);\n}\n",
    "low/a.c": '#include "low/a.h"\nint gr_a(int x) {\n    return x; // gr_b(x)\n}\n',
    "high/b.h": "int gr_b(int x);\n",
    "high/b.c": '#include "high/b.h"\n#include "low/a.h"\nint gr_b(int x) {\n    return gr_a_twice(x) + (int)sizeof "gr_c(x)";\n}\n',
    "high/c.h": "int gr_c(int x);\n",
    "high/c.c": '#include "high/c.h"\n#include "high/b.h"\nint gr_c(int x) {\n    return gr_b(x);\n}\n',
}
ROWS = {"low": "", "high": "low"}
# What makes high/b.c call upwards, each in another way: files to add or to change.
B = '#include "high/b.h"\n#include "high/c.h"\n#include "low/a.h"\n'
BODY = "int gr_b(int x) {\n    return gr_a(x);\n}\n"
UPWARD = {
    "a call": {"high/b.c": B + "int gr_b(int x) {\n    return gr_a(gr_c(x));\n}\n"},
    "a name in a table": {"high/b.c": B + BODY + "static int (*const all[])(int) = {gr_c};\n"},
    "a call that a macro makes": {"high/b.h": "int gr_b(int x);\n#define CALL(x) gr_##x(1)\n", "high/b.c": B + "int gr_b(int x) {\n    return gr_a(x) + CALL(c);\n}\n"},
    "a row of an X-macro table": {"high/b.def": "ROW(c)\n", "high/b.c": B + BODY + '#define ROW(x) gr_##x,\nint (*const all[])(int) = {\n#include "high/b.def"\n};\n'},
    "an inline function of a header": {"high/c.h": "int gr_c(int x);\n", "high/up.h": '#include "high/c.h"\nstatic inline int gr_up(int x) {\n    return gr_c(x);\n}\n',
                                       "high/b.c": B + '#include "high/up.h"\nint gr_b(int x) {\n    return gr_a(gr_up(x));\n}\n'},
    "a table of another file": {"high/c.h": "int gr_c(int x);\nextern int (*const gr_all[])(int);\n",
                                "high/c.c": TREE["high/c.c"] + "int (*const gr_all[])(int) = {gr_c};\n", "high/b.c": B + "int gr_b(int x) {\n    return gr_all[0](gr_a(x));\n}\n"},
    "a name that stands for another": {"high/b.c": B + 'int other(int x) __asm__("gr_c");\nint gr_b(int x) {\n    return gr_a(other(x));\n}\n'},
    "a call that an #ifdef hides": {"high/b.c": B + "int gr_b(int x) {\n#ifdef __aarch64__\n    x = gr_c(x);\n#endif\n    return gr_a(x);\n}\n"},
}


def run(files, rows=None, exceptions=""):
    """(exit status, what was said)"""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        texts = {"src/" + name: text for name, text in {**TREE, **files}.items()}
        texts["docs/design.md"] = TABLE.format("".join(f"| {a} | {b} |\n" for a, b in (rows or ROWS).items()))
        texts["tools/layers-exceptions.txt"] = exceptions
        for name, text in texts.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr


class Layers(unittest.TestCase):
    def refused(self, said, *args, **more):
        status, text = run(*args, **more)
        self.assertEqual(status, 1, text)
        self.assertIn(said, text)

    def accepted(self, *args, **more):
        self.assertEqual(run(*args, **more), (0, ""))

    def test_all_calls_go_down(self):
        self.accepted({})

    def test_a_call_upwards_in_a_folder(self):
        for way, files in UPWARD.items():
            with self.subTest(way):
                self.refused("high: these files call each other in a circle: src/high/b.c src/high/c.c", files)

    def test_the_fewest_calls_are_named(self):
        more = "int gr_c(int x) {\n    return gr_b(x) + gr_b_too(x);\n}\n"
        files = {"high/b.h": "int gr_b(int x), gr_b_too(int x);\n", "high/c.c": '#include "high/b.h"\n' + more,
                 "high/b.c": B + "int gr_b(int x) {\n    return gr_a(gr_c(x));\n}\nint gr_b_too(int x) {\n    return x;\n}\n"}
        status, text = run(files)
        self.assertEqual(status, 1)
        self.assertEqual(text.splitlines()[1:], ["    src/high/b.c:5: gr_c is in src/high/c.c"])

    def test_an_include_guard_of_another_file(self):
        guarded = "#ifndef GR_{0}_H\n#define GR_{0}_H\nint gr_b(int x);\n#endif\n"
        self.accepted({"high/b.h": guarded.format("HIGH_B")})
        self.refused("src/high/b.h: the include guard is GR_LOW_B_H, not GR_HIGH_B_H", {"high/b.h": guarded.format("LOW_B")})

    def test_a_member_and_a_type_are_no_calls(self):
        self.accepted({"high/b.c": B + "struct gr_c {\n    int gr_c;\n};\nint gr_b(int x) {\n    struct gr_c c = {.gr_c = x};\n    return gr_a(c.gr_c);\n}\n"})

    def test_a_call_upwards_between_folders(self):
        # No #include tells: the function is declared in place.
        self.refused("src/low/a.c:3: gr_b is in src/high/b.c: low may not call high",
                     {"low/a.c": "int gr_b(int x);\nint gr_a(int x) {\n    return x ? x : gr_b(x);\n}\n"})

    def test_an_inline_function_counts_for_its_folder(self):
        self.refused("src/low/a.h:3: gr_b is in src/high/b.c: low may not call high",
                     {"low/a.h": "int gr_a(int x), gr_b(int x);\nstatic inline int gr_a_twice(int x) {\n    return gr_b(gr_a(x));\n}\n"})

    def test_an_include_upwards(self):
        self.refused('src/low/a.c:1: #include "high/b.h": low may not include high', {"low/a.c": '#include "high/b.h"\nint gr_a(int x) {\n    return x;\n}\n'})

    def test_a_parents_header_serves_those_outside(self):
        parts = {"part/part.h": "int gr_part(int x);\n", "part/in/in.c": '#include "part/part.h"\nint gr_part(int x) {\n    return x;\n}\n',
                 "high/c.c": '#include "part/part.h"\n#include "high/b.h"\nint gr_c(int x) {\n    return gr_b(gr_part(x));\n}\n'}
        rows = {"low": "", "part": "", "part/in": "part", "part/too": "part", "high": "low, part"}
        self.accepted({**parts, "part/too/too.c": '#include "part/part.h"\n'}, rows)
        self.refused("part/too may not call part/in", {**parts, "part/too/too.c": '#include "part/part.h"\nint gr_too(void) {\n    return gr_part(1);\n}\n'}, rows)

    def test_an_entry_that_nothing_uses(self):
        self.refused("low may use high, but nothing does", {}, {"low": "high", "high": "low"})

    def test_exceptions_may_only_shrink(self):
        upward = UPWARD["a call"]
        self.accepted(upward, exceptions="# why\nhigh/b.c high/c.c gr_c\n")
        self.refused("no exception is needed any more: take it out: high/b.c high/c.c gr_c", {}, exceptions="high/b.c high/c.c gr_c\n")
        # The call is there, but the circle is open.
        self.refused("take it out: high/b.c high/c.c gr_c", {**upward, "high/c.c": '#include "high/c.h"\nint gr_c(int x) {\n    return x;\n}\n'},
                     exceptions="high/b.c high/c.c gr_c\n")
        low = {"low/a.c": "int gr_b(int x);\nint gr_a(int x) {\n    return x ? x : gr_b(x);\n}\n"}
        self.accepted(low, exceptions="low/a.c high/b.c gr_b\n")
        self.refused("take it out: low/a.c high/b.c gr_b", {}, exceptions="low/a.c high/b.c gr_b\n")

    def test_a_file_that_is_too_long(self):
        long = {"high/c.h": TREE["high/c.h"] + "\n" * 800}
        self.refused("src/high/c.h: 801 lines, more than 800", long)
        self.accepted(long, exceptions="high/c.h\n")
        self.accepted({"high/c.h": TREE["high/c.h"] + "\n" * 799})
        self.refused("take it out: high/c.h", {}, exceptions="high/c.h\n")


if __name__ == "__main__":
    unittest.main()
