#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace check` of whole projects, built in copies of projects/: test_projects.py GPURACE PROJECTS NVCC CMAKE [all]. With "all" also what takes longer."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROJECTS, NVCC, CMAKE, ALL = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:] == ["all"]

# A file of another ending that is CUDA by its command, and words that need their quotes and the folder of their entry.
ODD = """
#include "size.h"
static_assert(sizeof(TEXT) == 4, "the quotes of the command are read");
__global__ void fill(int *p) { p[threadIdx.x] = 1; }
__global__ void racy(int *p) { p[threadIdx.x / 2] = threadIdx.x; } // racy
int main() {
    int *p;
    cudaMalloc(&p, SIZE * sizeof *p);
    fill<<<1, SIZE>>>(p);
    racy<<<1, SIZE>>>(p);
    cudaFree(p);
}
"""


def labelled(folder, *words):
    """{(file, line)} of the lines that end in one of these labels."""
    return {(path.name, n) for path in folder.iterdir() if path.suffix in (".cu", ".cuh") for n, line in enumerate(path.read_text().splitlines(), 1)
            if line.endswith(tuple(f"// {word}" for word in words))}


def lines_of(report):
    return {(pathlib.Path(a["file"]).name, a["line"]) for race in report["races"] for a in race["accesses"]}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def copy(self, name):
        shutil.copytree(PROJECTS / name, self.folder / name)
        return self.folder / name

    def run_check(self, folder, *words):
        return subprocess.run([GPURACE, "check", "--no-cache", "--format", "json", "--output", "report", *map(str, words)], cwd=folder, capture_output=True,
                              text=True, timeout=300)

    def check(self, folder, *words, status):
        done = self.run_check(folder, *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads((folder / "report").read_text())

    def refuse(self, folder, *words, status=1):
        done = self.run_check(folder, *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    def assert_clean(self, report):
        self.assertEqual((report["verdict"], report["races"], report["reasons"]), ("clean", [], []))


class Builds(Case):
    def test_make(self):
        """Host code, kernels behind an archive that call device functions of another file: launches get the values of main.cpp. Then nothing is compiled, a part, and it fails."""
        folder = self.copy("make")
        make = f"make NVCC={NVCC}"
        report = self.check(folder, "--build", f"{make} -j2", status=66)
        self.assertEqual(lines_of(report), labelled(folder, "read", "write"))
        self.assertEqual(report["reasons"], [])
        self.assertIn("nothing was compiled", self.refuse(folder, "--build", make))
        if ALL:
            (folder / "main.o").unlink()
            report = self.check(folder, "--build", make, status=0)
            self.assertEqual(report["verdict"], "inconclusive")
            self.assertTrue(any("libsteps.a" in r and "did not compile" in r for r in report["reasons"]), report["reasons"])
        subprocess.run(["make", "-s", "clean"], cwd=folder, check=True)
        self.assert_clean(self.check(folder, "--build", f"{make} -j2 DEFINES=-DREPAIRED", status=0))
        self.assertIn("the build failed with status 2", self.refuse(folder, "--build", f"{make} nowhere"))

    def test_header(self):
        """A template library in headers; the words of a response file that is gone after the build."""
        folder = self.copy("header")
        report = self.check(folder, "--build", f"make NVCC={NVCC}", status=66)
        self.assertEqual(lines_of(report), labelled(folder, "read", "write"))
        self.assertFalse((folder / "words.rsp").exists())
        self.assert_clean(self.check(folder, "use.cu", "--", "-I.", "-DREPAIRED", status=0))

    def test_odd_builds(self):
        """No program, words of nvcc's environment, a probe that goes again, a file of a program that goes, and C++ that clang refuses."""
        lines = [line for line in ODD.replace("sizeof(TEXT)", "TEXT").splitlines(True) if "racy" not in line]
        (self.folder / "odd.cu").write_text("".join(lines))
        (self.folder / "size.h").write_text("#define SIZE 64\n")
        (self.folder / "gcc.cpp").write_text("register int r asm(\"r12\");\n")
        build = (f"export NVCC_APPEND_FLAGS=-DTEXT=4; echo 'int main() {{}}' > conftest.c && cc -o conftest conftest.c && rm conftest.c && {NVCC} -c odd.cu")
        report = self.check(self.folder, "--build", build, status=0)
        self.assertEqual(report["reasons"], [])
        self.assertIn("linked no program", json.dumps(report))
        if ALL:
            build += " && echo 'int n;' > gone.c && cc -c gone.c && rm gone.c && g++ -std=c++14 -c gcc.cpp && g++ -o odd odd.o gone.o gcc.o -L$(dirname $(dirname $(readlink -f " + NVCC + ")))/lib64 -lcudart"
            report = self.check(self.folder, "--build", build, status=0)
            for words in "gone.c, which is in", "gcc.cpp: clang does not compile":
                self.assertTrue(any(words in r for r in report["reasons"]), report["reasons"])

    def test_cmake(self):
        """Two programs of one library, each with a main; as a database and as a build."""
        folder = self.copy("cmake")
        configure = [CMAKE, "-B", "b", f"-DCMAKE_CUDA_COMPILER={NVCC}", "."]
        subprocess.run(configure, cwd=folder, check=True, capture_output=True)
        report = self.check(folder, "b/compile_commands.json", status=66)
        self.assertEqual(lines_of(report), labelled(folder, "read", "write"))
        if ALL:
            self.assert_clean(self.check(folder, "b/compile_commands.json", "--", "-DREPAIRED", status=0))
            report = self.check(folder, "--build", f"{CMAKE} --build b", status=66)
            self.assertEqual(lines_of(report), labelled(folder, "read", "write"))
            shutil.rmtree(folder / "b")
            words = f"{CMAKE} -B b -DREPAIRED=ON -DCMAKE_CUDA_COMPILER={NVCC} . && {CMAKE} --build b"
            self.assert_clean(self.check(folder, "--build", words, status=0))


class Databases(Case):
    def database(self, content):
        path = self.folder / "compile_commands.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def test_words(self):
        (self.folder / "sub").mkdir()
        (self.folder / "sub" / "size.h").write_text("#define SIZE 64\n")
        (self.folder / "odd.cpp").write_text(ODD)
        (self.folder / "sub" / "more.rsp").write_text("-I. '-DTEXT=\"a b\"'")
        entry = {"directory": "sub", "file": "../odd.cpp", "command": "nvcc -optf more.rsp -x cu -c ../odd.cpp -o odd.o"}
        report = self.check(self.folder, self.database([entry]), status=66)
        self.assertEqual({line for file, line in lines_of(report)}, {ODD.splitlines().index(line) + 1 for line in ODD.splitlines() if "// racy" in line})
        if ALL:
            words = ["clang++", "-xcuda", "--cuda-gpu-arch=sm_90", "-std=gnu++17", "-Wextra", "-I.", "-DTEXT=\"a b\"", "-c", "../odd.cpp"]
            del entry["command"]
            self.check(self.folder, self.database([entry | {"arguments": words}]), status=66)

    def test_damage(self):
        good = {"directory": ".", "file": "a.cu", "command": "nvcc -c a.cu"}
        for content, says in (("[{", "compile_commands.json:1: no compilation database"),
                              ("{}", "it must be a list of objects"),
                              ([], "no entry compiles a CUDA, C or C++ file"),
                              ([good, 1], "entry 2 is no object"),
                              ([{k: v for k, v in good.items() if k != "directory"}], "entry 1 lacks the text \"directory\""),
                              ([{k: v for k, v in good.items() if k != "file"}], "entry 1 lacks the text \"file\""),
                              ([{k: v for k, v in good.items() if k != "command"}], "has neither \"arguments\" nor a text \"command\""),
                              ([good | {"arguments": [1]}], "an argument that is no text"),
                              ([good | {"command": "nvcc 'a.cu"}], "a quote of a command has no end"),
                              ([good | {"command": ""}], "an empty command"),
                              ([good | {"command": "nvcc -optf gone.rsp a.cu"}], "gone.rsp"),
                              ([good | {"command": "touch a.cu"}], "no entry compiles")):
            self.assertIn(says, self.refuse(self.folder, self.database(content), status=2))
        self.assertIn("gone.json", self.refuse(self.folder, "gone.json", status=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
