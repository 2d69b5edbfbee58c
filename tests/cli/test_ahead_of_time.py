#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurace-ptxas and `gpurace nvcc`: what they take, what they say of mistakes, and programs that they build, on the CPU device.
Usage: test_ahead_of_time.py GPURACE NVCC CPU_DEVICE. With DEVICE=gpu in the environment on a GPU: up to five seeds, with --poison-writes, one side
of each race; and programs with the static runtime, which stop at a breakpoint without gpurace."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

GPURACE, NVCC, CPU_DEVICE = sys.argv[1:4]
PTXAS = GPURACE + "-ptxas"
DEVICE = os.environ.get("DEVICE", "cpu")
SEEDS = range(1, 2 if DEVICE == "cpu" else 6)
REAL = os.path.join(os.path.dirname(NVCC), "ptxas")

PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a)
{
    .reg .u64 %rd<2>;
    ld.param.u64 %rd1, [a];
    st.global.u32 [%rd1], 7;
    ret;
}
"""

# Lines 4 and 8 race; the twin has the barrier.
SUM = """__device__ int own(int);
__global__ void turn(int *a) {
    __shared__ int s[64];
    s[threadIdx.x] = OWN(threadIdx.x);
#ifdef REPAIRED
    __syncthreads();
#endif
    a[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
"""
# So many blocks race, each on its own, that one of them shows it.
MAIN = """#include <cstdio>
int main() {
    static int *a, h[BLOCKS * 64];
    cudaMalloc(&a, sizeof h);
    turn<<<BLOCKS, 64>>>(a);
    cudaError_t e = cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
#ifdef REPAIRED
    for (int t = 0; t < BLOCKS * 64; t++)
        if (h[t] != 63 - t % 64)
            return 9;
#endif
    printf("error %d\\n", (int)e);
    return e != 0;
}
"""
MAIN = MAIN.replace("BLOCKS", "2" if DEVICE == "cpu" else "512")
RUNTIME = "shared" if DEVICE == "cpu" else "static"
PART = "__device__ int own(int t) { return t; }\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpurace-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.tmp = self.folder / "tmp"
        self.tmp.mkdir()
        (self.folder / "k.ptx").write_text(PTX)
        (self.folder / "one.cu").write_text(SUM.replace("OWN", "") + MAIN)
        (self.folder / "main.cu").write_text(SUM.replace("OWN", "own") + MAIN)
        (self.folder / "part.cu").write_text(PART)

    def call(self, *command, env=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
        environment.update(GPURACE_NVCC=NVCC, GPURACE_PTXAS=REAL, TMPDIR=str(self.tmp))
        environment.update(env or {})
        done = subprocess.run([str(c) for c in command], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False)
        self.assertEqual(os.listdir(self.tmp), [], "what was made for a while is gone")
        return done.returncode, done.stdout

    def contents(self, file):
        """The lines of `gpurace fatbin` that name device code."""
        return [line.split() for line in self.call(GPURACE, "fatbin", file)[1].splitlines() if line[:4].strip().isdigit()]


class Ptxas(Case):
    def test_rewrites_and_keeps(self):
        size = {}
        for name, env in ("plain", {"GPURACE_RESULTS": "/nowhere"}), ("checked", {}), ("nothing", {"GPURACE_OPTIONS": "engine=none"}):
            status, text = self.call(PTXAS, "-arch=sm_90", "k.ptx", "-o", f"{name}.cubin", env=env)
            self.assertEqual((status, text), (0, ""))
            size[name] = (self.folder / f"{name}.cubin").stat().st_size
            self.assertIn("keeps PTX", " ".join(self.contents(f"{name}.cubin")[0]))
        self.assertGreater(size["checked"], size["plain"] + 3000, "the checks are in it")
        self.assertEqual((self.folder / "k.ptx").read_text(), PTX, "the input is left alone")

    def test_what_is_kept(self):
        self.assertEqual(self.call(PTXAS, "-arch=sm_90", "-lineinfo", "-c", "-maxrregcount=40", "-v", "k.ptx", "-o", "out.o")[0], 0)
        status, text = self.call(GPURACE, "fatbin", "--extract-ptx", "kept", "out.o")
        self.assertEqual((status, sorted(os.listdir(self.folder / "kept"))), (0, ["out.o.1.sm_80.kept1.ptx"]), text)
        self.assertEqual((self.folder / "kept/out.o.1.sm_80.kept1.ptx").read_text(), PTX + "// gpurace: taken from out.o\n")
        code = (self.folder / "out.o").read_bytes()
        self.assertIn(b"-lineinfo -c -maxrregcount=40 \0", code, "what the driver is told when it assembles the PTX")

    def test_ways_to_write_the_command_line(self):
        (self.folder / "words").write_text('--gpu-name sm_90 "k.ptx"\n')
        for words in (["-arch", "sm_90", "k.ptx"], ["k.ptx", "--gpu-name=sm_90", "-v"], ["-optf", "words"], ["--options-file=words"]):
            for output in ["-o", "out"], ["--output-file", "out"], ["--output-file=out"]:
                status, text = self.call(PTXAS, *words, *output, env={"GPURACE_OPTIONS": "verbose=yes"})
                self.assertEqual(status, 0, text)
                self.assertIn("1 memory access sites; 1 checked", text)
                self.assertIn("keeps PTX", " ".join(self.contents("out")[0]))
                os.remove(self.folder / "out")
        self.assertEqual(self.call(PTXAS, "-arch=sm_90", "k.ptx")[0], 0)
        self.assertIn("keeps PTX", " ".join(self.contents("elf.o")[0]))

    def test_as_ptxas(self):
        (self.folder / "bad.ptx").write_text(PTX.replace("st.global", "frob.global"))
        (self.folder / "text.ptx").write_text("no PTX\n")
        for words in (["--version"], ["k.ptx", "-arch=sm_1"], ["bad.ptx", "-arch=sm_90"], ["text.ptx"], ["missing.ptx"], ["--nonsense"], [],
                      ["k.ptx", "-arch=sm_90", "-o", "/nowhere/out"], ["k.ptx", "-arch=sm_90", "-o", "/dev/null"], ["-c", "k.ptx", "-arch=sm_90", "-w"]):
            ours, real = self.call(PTXAS, *words), self.call(REAL, *words)
            self.assertEqual(ours[0], real[0], words)
            self.assertIn(real[1], ours[1], words)

    def test_stands_in_for_what_a_program_calls(self):
        """However a program under `gpurace run` starts a ptxas, of whatever name: the PTX is kept, and that ptxas is the one that assembles."""
        mine = self.folder / "bin/ptxas"
        mine.parent.mkdir()
        mine.write_text(f'#!/bin/sh\necho called >>"{self.folder}/calls"\nexec {REAL} "$@"\n')
        mine.chmod(0o755)
        path = f"{mine.parent}:{os.environ['PATH']}"
        words = ["ptxas", "-arch=sm_90", "k.ptx", "-o", "out"]
        python = "import os, sys; f, *w = sys.argv[1:]; "
        for program, *rest in (["sh", "-c", 'shift; exec "$@"', "sh"], ["sh", "-c", '"$@"; exit $?'], ["sh", "-c", 'shift; cd "$PWD"; "$@" && exit 0; exit 3', "sh"],
                               [sys.executable, "-c", python + "os.execvp(w[0], w)"], [sys.executable, "-c", python + "os.execve(f, w, {})"],
                               [sys.executable, "-c", python + "sys.exit(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn(f, w, {}), 0)[1]))"],
                               [sys.executable, "-c", python + "sys.exit(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawnp(w[0], w, os.environ), 0)[1]))"],
                               [sys.executable, "-c", python + "import subprocess; sys.exit(subprocess.call(w))"]):
            for file, status in (words, 0), (["ptxas", "k.ptx", "-arch=sm_1"], None):
                (self.folder / "calls").unlink(missing_ok=True)
                got = self.call(GPURACE, "run", "--device", DEVICE, "--engine", "none", "--", program, *rest, mine, *file, env={"PATH": path})
                with self.subTest(program=rest, words=file):
                    self.assertEqual((self.folder / "calls").read_text(), "called\n", got)
                    if status == 0:
                        self.assertEqual(got[0], 0, got)
                        self.assertIn("keeps PTX", " ".join(self.contents("out")[0]))
                        os.remove(self.folder / "out")
                    else:
                        self.assertNotEqual(got[0], 0, got)
        got = self.call(GPURACE, "run", "--device", DEVICE, "--engine", "none", "--", "sh", "-c", "/nowhere/ptxas --version; echo $?")
        self.assertIn("127\n", got[1], "the shell's own error")

    def test_mistakes_of_ours(self):
        for env, status, says in (({"GPURACE_PTXAS": "/nowhere/ptxas"}, 127, "GPURACE_PTXAS=/nowhere/ptxas: No such file"),
                                  ({"GPURACE_PTXAS": PTXAS}, 127, "not a program, or gpurace itself"),
                                  ({"GPURACE_OPTIONS": "engine=nothing-such"}, 2, "no engine is called 'nothing-such'"),
                                  ({"GPURACE_OPTIONS": "sed=3"}, 2, "unknown option 'sed'"),
                                  ({"TMPDIR": "/nowhere"}, 1, "cannot make a folder /nowhere")):
            got = self.call(PTXAS, "-arch=sm_90", "k.ptx", "-o", "out", env=env)
            self.assertEqual(got[0], status, got)
            self.assertIn(says, got[1])
            self.assertFalse((self.folder / "out").exists())

    def test_what_cannot_be_rewritten_is_named(self):
        (self.folder / "old.ptx").write_text(PTX.replace("sm_80", "sm_50").replace("7.0", "6.0").replace(
            "ret;", ".reg .b32 %r<3>; mov.u32 %r1, 1; shfl.idx.b32 %r2, %r1, 0, 31; ret;"))
        status, text = self.call(PTXAS, "-arch=sm_90", "-ias", PTX, "-o", "out")
        self.assertIn("PTX on the command line of ptxas (-ias) is assembled as it is, without checks", text)
        self.assertEqual((status, "keeps PTX" in " ".join(self.contents("out")[0])), (0, False), text)
        status, text = self.call(PTXAS, "-arch=sm_90", "old.ptx", "-o", "out")
        self.assertIn("old.ptx is assembled as it is, without checks: ", text)
        self.assertEqual(status, self.call(REAL, "-arch=sm_90", "old.ptx", "-o", "out")[0])

    def test_found(self):
        env = {"GPURACE_PTXAS": "", "CUDA_HOME": os.path.dirname(os.path.dirname(NVCC))}
        self.assertEqual(self.call(PTXAS, "--version", env=env), self.call(REAL, "--version"))
        env = {"GPURACE_PTXAS": "", "CUDA_HOME": "", "PATH": os.path.dirname(NVCC) + ":/usr/bin:/bin"}
        self.assertEqual(self.call(PTXAS, "--version", env=env), self.call(REAL, "--version"))


class Nvcc(Case):
    def build(self, name, *words, sources=("one.cu",)):
        for twin in [], ["-DREPAIRED"]:
            status, text = self.call(GPURACE, "nvcc", "-lineinfo", "-cudart", RUNTIME, *words, *twin, "-o", name + "".join(twin), *sources)
            self.assertEqual((status, text), (0, ""))

    def judge(self, name, source="one.cu"):
        """Racy and repaired, under gpurace and without it."""
        for twin, status, verdict in ("", 66, "races"), ("-DREPAIRED", 0, "clean"):
            for engine in ("exact", "collider") if DEVICE == "cpu" else ("collider",):
                data, got = self.judged(f"./{name}{twin}", engine)
                self.assertEqual((got[0], data["verdict"], data["reasons"]), (status, verdict, []), got)
                self.assertTrue(got[1].startswith("error 0\n"), got)
                self.assertEqual([(k["name"], k["checked"]) for k in data["coverage"]["kernels"]], [("turn(int*)", True)])
                self.assertEqual(sum(data["coverage"]["accesses"].values()), 3, "what is built in is not checked again")
                self.assertEqual(len({(r["class"], a["line"]) for r in data["races"] for a in r["accesses"][:1]}), len(data["races"]), "each race is told once")
                found = {(os.path.basename(a["file"]), a["line"]) for r in data["races"] for a in r["accesses"]}
                sides = {(source, 4), (source, 8)} if not twin else set()
                self.assertTrue(found == sides if DEVICE == "cpu" else found <= sides, found)
            if DEVICE == "cpu":
                self.assertEqual(self.call(f"./{name}{twin}", env={"LD_LIBRARY_PATH": CPU_DEVICE}), (0, "error 0\n"))
            elif twin:
                self.assertEqual(self.call(f"./{name}{twin}"), (0, "error 0\n"))

    def judged(self, program, engine):
        report = self.folder / "report.json"
        for seed in SEEDS:
            poison = ["--poison-writes"] if DEVICE == "gpu" else []
            got = self.call(GPURACE, "run", "--device", DEVICE, "--engine", engine, "--seed", seed, *poison, "--format", "json", "--output", report, "--", program)
            data = json.loads(report.read_text())
            if data["verdict"] != "clean":
                break
        return data, got

    @unittest.skipIf(DEVICE == "cpu", "on the CPU device the PTX runs, which has no checks")
    def test_stops_by_itself(self):
        status, text = self.call(GPURACE, "nvcc", "-lineinfo", "-arch=sm_90", "-o", "program", "one.cu", env={"GPURACE_OPTIONS": "poison-writes=yes"})
        self.assertEqual((status, text), (0, ""))
        results = [self.call("./program") for _ in range(20)]
        self.assertTrue(any(status for status, _ in results), results)

    def test_one_file(self):
        self.build("program", "-arch=sm_90")
        self.assertEqual([e[1] for e in self.contents("program")][-2:], ["cubin", "PTX"])
        self.judge("program")

    def test_machine_code_only(self):
        self.build("program", "-gencode", "arch=compute_90,code=sm_90")
        self.assertNotIn("PTX", [e[1] for e in self.contents("program")])
        self.judge("program")

    def test_separable(self):
        self.build("program", "-rdc=true", "-gencode", "arch=compute_90,code=sm_90", sources=("main.cu", "part.cu"))
        self.judge("program", "main.cu")

    def test_as_nvcc(self):
        for words in ["--version"], ["missing.cu"], ["-nonsense"], []:
            ours, real = self.call(GPURACE, "nvcc", NVCC, *words), self.call(NVCC, *words)
            self.assertEqual(ours[0], real[0], ours)
        status, text = self.call(GPURACE, "nvcc", "-c", "-arch=sm_90", "-MD", "-MF", "deps", "-t", "2", "one.cu", "-o", "one.o")
        self.assertEqual((status, text), (0, ""))
        self.assertNotIn("gpurace-nvcc", (self.folder / "deps").read_text())

    def test_mistakes_of_ours(self):
        for env, status, says in (({"GPURACE_NVCC": "/nowhere/nvcc"}, 127, "GPURACE_NVCC=/nowhere/nvcc: No such file"),
                                  ({"TMPDIR": "/nowhere"}, 1, "cannot make a folder /nowhere")):
            got = self.call(GPURACE, "nvcc", "-c", "one.cu", env=env)
            self.assertEqual(got[0], status, got)
            self.assertIn(says, got[1])

    def test_link_time_optimization_is_named(self):
        status, text = self.call(GPURACE, "nvcc", "-dc", "-gencode", "arch=compute_90,code=lto_90", "part.cu", "-o", "part.o")
        self.assertEqual(status, 0, text)
        self.assertIn("arch=compute_90,code=lto_90: what is linked by link-time optimization has no checks", text)

    def test_cmake(self):
        (self.folder / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CUDA)
add_library(part STATIC part.cu)
foreach(name app app-DREPAIRED)
  add_executable(${name} main.cu)
  target_link_libraries(${name} part)
  target_compile_options(${name} PRIVATE -lineinfo)
endforeach()
target_compile_definitions(app-DREPAIRED PRIVATE REPAIRED)
set_target_properties(part app app-DREPAIRED PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_RUNTIME_LIBRARY RUNTIME)
""".replace("RUNTIME)", RUNTIME.capitalize() + ")"))
        status, text = self.call("cmake", "-G", "Ninja", "-S", ".", "-B", "b", f"-DCMAKE_CUDA_COMPILER={NVCC}", "-DCMAKE_CUDA_ARCHITECTURES=90-real",
                                 f"-DCMAKE_CUDA_COMPILER_LAUNCHER={GPURACE};nvcc")
        self.assertEqual(status, 0, text)
        status, text = self.call("cmake", "--build", "b")
        self.assertEqual(status, 0, text)
        self.assertIn("keeps PTX", " ".join(self.contents("b/app")[0]))
        self.judge("b/app", "main.cu")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
