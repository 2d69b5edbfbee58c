#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace check` of device code in several files: test_link.py GPURACE PROGRAMS [nvcc]. Without the last word only PTX is checked."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAMS, HAS_NVCC = sys.argv[1], pathlib.Path(sys.argv[2]) / "linked", sys.argv[3:] == ["nvcc"]

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
PARAM = "(.param .b64 a, .param .b32 b)"
# The first block calls `callee` with p and the thread's number.
KERNEL = """.visible .entry {name}(.param .u64 {name}_p)
.reqntid 64, 1, 1
{{
.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ctaid.y;
mov.u32 %r3, %ctaid.z;
or.b32 %r1, %r1, %r2;
or.b32 %r1, %r1, %r3;
setp.ne.u32 %p1, %r1, 0;
@%p1 ret;
ld.param.u64 %rd1, [{name}_p];
mov.u32 %r1, %tid.x;
{{
.param .b64 param0; .param .b32 param1;
st.param.b64 [param0], %rd1;
st.param.b32 [param1], %r1;
call.uni {callee}, (param0, param1);
}}
ret;
}}
"""
# Stores at a[b >> shift] and, if `variable` is not empty, adds what is there to that variable's place of the thread.
FUNCTION = """{linking} .func {name}(.param .b64 {name}_a, .param .b32 {name}_b)
{{
.reg .b32 %r<5>; .reg .b64 %rd<5>;
ld.param.u64 %rd1, [{name}_a];
ld.param.u32 %r1, [{name}_b];
shr.u32 %r2, %r1, {shift};
mul.wide.u32 %rd2, %r2, 4;
{base}
add.s64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r1;
ret;
}}
"""


def function(name, linking=".visible", shift=0, variable=None):
    return FUNCTION.format(name=name, linking=linking, shift=shift, base=f"mov.u64 %rd1, {variable};" if variable else "")


def declared(name):
    return f".extern .func {name}(.param .b64 {name}_a, .param .b32 {name}_b);\n"


def check(*words, status=0):
    done = subprocess.run([GPURACE, "check", "--no-cache", "--format", "json", *map(str, words)], capture_output=True, text=True, timeout=300)
    if done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}:\n{done.stderr}")
    return json.loads(done.stderr[done.stderr.index("{"):])


def kernels(texts):
    return {name for text in texts for name in re.findall(r"kernel (\w+)", text)}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ptx(self, name, *parts):
        path = self.folder / f"{name}.ptx"
        path.write_text(HEAD + "".join(parts))
        return path


class Ptx(Folder):
    def test_a_function_of_another_file(self):
        a = self.ptx("a", declared("put"), KERNEL.format(name="k", callee="put"))
        right, racy = self.ptx("right", function("put")), self.ptx("racy", function("put", shift=1))
        report = check(a, right)
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))
        line = racy.read_text().splitlines().index("st.global.u32 [%rd3], %r1;") + 1
        for order in [a, racy], [racy, a]:
            race, = check(*order, status=66)["races"]
            self.assertEqual({(access["file"], access["line"], access["function"]) for access in race["accesses"]}, {(str(racy), line, "put")})
        report = check(a)
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertRegex(report["reasons"][0], "unknown: kernel k of .*: calls put, a device function of another file: give the file that defines it, too$")

    def test_definitions(self):
        """A strong one wins over a weak one, wherever it stands; of two strong ones none counts; what is not seen from outside is no definition."""
        a = self.ptx("a", declared("put"), declared("other"), KERNEL.format(name="k", callee="put"), KERNEL.format(name="l", callee="other"))
        other = function("other", variable="own").replace("st.global.u32", "ld.global.u32").replace("[%rd3], %r1", "%r1, [%rd3]")
        rest = ".global .align 4 .b8 own[4096];\n" + other
        weak, strong = function("put", ".weak"), function("put").replace("st.global.u32", "atom.global.add.u32 %r3,")
        for b, c in (weak, strong), (strong, weak):
            report = check(a, self.ptx("b", rest, b), self.ptx("c", c))
            self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))
        report = check(a, self.ptx("b", rest, strong), self.ptx("c", strong))
        self.assertRegex(report["reasons"][0], "^unknown: the device code does not link: multiple definition of put: .*b.ptx and .*c.ptx define it$")
        self.assertRegex(report["reasons"][1], "^unknown: kernel k .*: multiple definition of put: .*b.ptx and .*c.ptx define it$")
        self.assertEqual(kernels(report["reasons"]), {"k"})
        report = check(a, self.ptx("b", rest, strong.replace(".visible", "")))
        self.assertEqual(kernels(report["reasons"]), {"k"})
        self.assertIn("calls put,", report["reasons"][0])

    def test_variables(self):
        """Stores to table[thread] in one file and to table[thread ^ 1] in the other: the same memory only if the names are linked."""
        def both(here, there, shift):
            a = self.ptx("a", here, declared("put"), function("mine", "", variable="table"),
                         KERNEL.format(name="k", callee="mine").replace("}\nret;", """}
{
.param .b64 param0; .param .b32 param1;
st.param.b64 [param0], %rd1;
st.param.b32 [param1], %r1;
call.uni put, (param0, param1);
}
ret;"""))
            swapped = function("put", variable="table").replace("add.s64 %rd3", "xor.b64 %rd2, %rd2, 4;\nadd.s64 %rd3") if shift else function("put", variable="table")
            return [a, self.ptx("b", there, swapped)]
        table = " .global .align 4 .b8 table[4096];\n"
        for here, there in (".extern", ".visible"), (".weak", ".visible"), (".visible", ".extern"), (".common", ".common"), (".weak", ".weak"):
            report = check(*both(here + table, there + table, 0))
            self.assertEqual((report["verdict"], report["reasons"]), ("clean", []), (here, there))
            race, = check(*both(here + table, there + table, 1), status=66)["races"]
            self.assertEqual({pathlib.Path(a["file"] or "a.ptx").name for a in race["accesses"]}, {"a.ptx", "b.ptx"})
        report = check(*both(table, ".visible" + table, 1))
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))
        report = check(*both(".visible" + table, ".visible" + table, 1))
        self.assertIn("multiple definition of table", report["reasons"][0])

    def test_files_that_need_nothing_of_each_other(self):
        files = [self.ptx(name, KERNEL.format(name="k", callee="put"), ) for name in "ab"]
        for path in files:
            path.write_text(HEAD + function("put").replace("st.global.u32", "atom.global.add.u32 %r3,") + path.read_text()[len(HEAD):])
        report = check(*files)
        self.assertEqual((report["verdict"], report["reasons"], len(report["coverage"]["kernels"])), ("clean", [], 2))
        # A strong definition of another program is none.
        files[0].write_text(files[0].read_text().replace(".visible .func", ".weak .func"))
        files[1].write_text(HEAD + function("put", shift=1))
        self.assertEqual(check(*files)["verdict"], "clean")

    def test_recursion(self):
        call = function("{0}").replace("ret;", "{{{{\n.param .b64 param0; .param .b32 param1;\nst.param.b64 [param0], %rd1;\nst.param.b32 [param1], %r1;\ncall.uni {1}, (param0, param1);\n}}}}\nret;")
        a, b = (call.replace("{0}", x).replace("{1}", y).replace("{{{{", "{").replace("}}}}", "}") for x, y in ("xy", "yx"))
        report = check(self.ptx("a", declared("y"), a, KERNEL.format(name="k", callee="x")), self.ptx("b", declared("x"), b))
        self.assertRegex(report["reasons"][0], "kernel k of .*: recursion: not understood")

    def test_recorded_launches(self):
        a, b = self.ptx("a", declared("put"), KERNEL.format(name="k", callee="put")), self.ptx("b", function("put", shift=1))
        launches = self.folder / "launches.jsonl"

        def decide(threads, status):
            launches.write_text('{"format": "gpurace launches", "version": 1}\n' + json.dumps(
                {"kernel": "k", "grid": [1, 1, 1], "block": [threads, 1, 1], "dynamic_shared": 0, "count": 1,
                 "args": [{"bytes": 8, "allocation": 0, "offset": 0, "extent": 4096}]}) + "\n")
            return check(a, b, "--launches", launches, status=status)
        a.write_text(a.read_text().replace(".reqntid 64, 1, 1\n", ""))
        race, = decide(64, 66)["races"]
        self.assertIn("for the recorded launch at launches.jsonl:2", race["witness"])
        self.assertEqual({access["file"] for access in race["accesses"]}, {str(b)})
        self.assertEqual(decide(1, 0)["verdict"], "clean")


@unittest.skipUnless(HAS_NVCC, "there is no nvcc")
class Sources(Folder):
    def test_two_files(self):
        report = check(PROGRAMS / "kernels.cu", PROGRAMS / "functions.cu", "--", "-rdc=true", status=66)
        text = (PROGRAMS / "kernels.cu").read_text()
        names = re.findall(r"__global__ void (\w+)", text)
        self.assertEqual({k["name"].split("(")[0] for k in report["coverage"]["kernels"]}, {k for k in names if k[0] in "cr"})
        self.assertEqual(kernels(report["reasons"]), {k for k in names if k[0] == "u"})
        self.assertTrue(all("recursion: not understood" in reason for reason in report["reasons"]), report["reasons"])
        shown = {race["kernel"].split("(")[0]: {(pathlib.Path(a["file"]).name, a["line"]) for a in race["accesses"]} for race in report["races"]}
        labelled = {}
        for path in PROGRAMS.glob("*.cu"):
            for n, line in enumerate(path.read_text().splitlines(), 1):
                if " // " in line:
                    labelled.setdefault("r_" + line.split(" // ")[1], set()).add((path.name, n))
        self.assertEqual(shown, labelled)
        self.assertEqual(set(shown), {k for k in names if k[0] == "r"})

    def test_one_of_them(self):
        report = check(PROGRAMS / "kernels.cu", "--", "-rdc=true")
        self.assertEqual({k["name"].split("(")[0] for k in report["coverage"]["kernels"]}, {"c_place"})
        self.assertTrue(all("give the file that defines it, too" in reason for reason in report["reasons"]), report["reasons"])

    def test_programs_that_link_other_functions(self):
        """Of two programs with one library each gets its own function; what both link alike is judged once."""
        (self.folder / "lib.cu").write_text("""
__device__ void put(int *p, int i);
__global__ void k(int *p) { put(p, threadIdx.x); }
void go() { int *p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); }
""")
        entries = []
        for name, index in ("one", "i"), ("two", "i / 2"):
            (self.folder / f"{name}.cu").write_text(f"""
void go();
__global__ void {name}(int *p) {{ p[threadIdx.x] = 1; }}
__device__ void put(int *p, int i) {{ p[{index}] = i; }}
int main() {{ int *p; cudaMalloc(&p, 256); {name}<<<1, 64>>>(p); go(); }}
""")
        for name in "lib", "one", "two":
            entries.append({"directory": str(self.folder), "file": f"{name}.cu", "command": f"nvcc -dc {name}.cu -o {name}.o"})
        database = self.folder / "compile_commands.json"
        database.write_text(json.dumps(entries))
        report = check(database, status=66)
        race, = report["races"]
        self.assertEqual(({pathlib.Path(a["file"]).name for a in race["accesses"]}, race["kernel"]), ({"two.cu"}, "k(int*)"))
        self.assertTrue(race["witness"].endswith("launched at lib.cu:4, linked with two.cu"), race["witness"])
        self.assertEqual(report["reasons"] + report["coverage"].get("besides", []), [])
        said = sorted(re.search(r"kernel (\w+).*: of its pairs of accesses (\d) proved, (\d) shown", r).groups() for r in report["coverage"]["remarks"] if "pairs" in r)
        self.assertEqual(said, [("k", "0", "1"), ("k", "1", "0"), ("one", "1", "0"), ("two", "1", "0")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
