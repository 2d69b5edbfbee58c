#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace fatbin` on what nvcc makes: the PTX it extracts is what `nvcc -ptx` says, in every way of embedding it;
and on what is no such file: the message says what is wrong.

usage: test_fatbin.py GPURACE MAKE_FATBIN [NVCC] [unittest options]; without NVCC the tests that compile are skipped.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

GPURACE = MAKE_FATBIN = NVCC = None

KERNEL = """
__device__ int total;
static __global__ void add(const int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; // a comment
    if (i < n)
        atomicAdd(&total, p[i]);
}
int NAME() {
    int *p;
    cudaMalloc(&p, 4);
    add<<<1, 32>>>(p, 1);
    return cudaDeviceSynchronize();
}
"""
MAIN = KERNEL.replace("NAME", "main")
OTHER = KERNEL.replace("NAME", "other").replace("total", "total2").replace("add(", "add2(").replace("add<", "add2<")

# (name, nvcc options, {target: packing} of the PTX that must be there)
MODES = [
    ("plain", [], {"sm_75": "zstd"}),
    ("default", ["-arch=sm_90", "-compress-mode=default"], {"sm_90": "zstd"}),
    ("balance", ["-arch=sm_90", "-compress-mode=balance"], {"sm_90": "zstd"}),
    ("size", ["-arch=sm_90", "-compress-mode=size"], {"sm_90": "zstd"}),
    ("speed", ["-arch=sm_90", "-compress-mode=speed"], {"sm_90": "LZ4"}),
    ("none", ["-arch=sm_90", "-compress-mode=none"], {"sm_90": "stored"}),
    ("no-compress", ["-arch=sm_90", "-no-compress"], {"sm_90": "stored"}),
    ("ptx only", ["-arch=compute_90"], {"sm_90": "zstd"}),
    ("lineinfo", ["-arch=sm_90", "-lineinfo"], {"sm_90": "zstd"}),
    ("debug", ["-arch=sm_90", "-G"], {"sm_90": "zstd"}),
    ("relocatable", ["-arch=sm_90", "-rdc=true"], {"sm_90": "zstd"}),
    ("several", [f"-gencode=arch=compute_{a},code=[sm_{a},compute_{a}]" for a in ("75", "90a", "100")]
     + ["-gencode=arch=compute_100f,code=compute_100f"],
     {"sm_75": "zstd", "sm_90a": "zstd", "sm_100": "zstd", "sm_100f": "zstd"}),
]


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace")


def fatbin(*args):
    return run(GPURACE, "fatbin", *args)


def compile_cuda(*args):
    done = run(NVCC, "-std=c++14", *args) # nvcc is a third faster than with its default
    if done.returncode:
        raise RuntimeError(f"nvcc {' '.join(map(str, args))}: {done.stderr}")


def normalised(text):
    """The embedded PTX has its comments blanked and its blanks squeezed; nothing else differs from nvcc -ptx."""
    lines = (re.sub(r"\s+", " ", line.split("//")[0]).strip() for line in text.splitlines())
    return [line for line in lines if line]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.dir, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def assert_fails(self, path, message, *options):
        done = fatbin(*options, path)
        self.assertEqual((done.returncode, done.stderr.strip()), (1, f"gpurace fatbin: {path}: {message}"))


class BadInput(Files):
    def test_missing(self):
        self.assert_fails(self.path("nothing"), "No such file or directory")

    def test_folder(self):
        self.assert_fails(self.dir, "is a directory")

    def test_no_container(self):
        what = "neither an ELF file, an archive, a fatbin, a cubin nor PTX"
        self.assert_fails(self.path("a.txt", "hello\n"), what)
        self.assert_fails(self.path("empty", ""), what)

    def test_no_device_code(self):
        self.assert_fails("/bin/true", "no CUDA device code in it")

    def test_truncated_elf(self):
        program = self.read("/bin/true")
        for keep in (20, len(program) // 2):
            done = fatbin(self.path("cut", program[:keep]))
            self.assertEqual(done.returncode, 1)
            self.assertIn("truncated ELF file", done.stderr)

    def test_usage(self):
        for args in ([], ["a", "b"], ["--no-such-option", "a"]):
            done = fatbin(*args)
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: gpurace fatbin", done.stderr)


class Containers(Files):
    answers = {}  # what nvcc said: several tests ask the same

    def setUp(self):
        super().setUp()
        if not NVCC:
            self.skipTest("no nvcc")
        self.source = self.path("main.cu", MAIN)

    def listed(self, path):
        """The rows of the table: [number, kind, target, version, packing, ...]."""
        done = fatbin(path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.split() for line in done.stdout.splitlines() if re.match(r" +\d+ ", line)], done.stdout

    def extracted(self, path):
        """{file name: text} of the PTX in it."""
        folder = self.path("out")
        done = fatbin("--extract-ptx", folder, path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {name: self.read(os.path.join(folder, name)).decode() for name in sorted(os.listdir(folder))}

    def expected(self, source, options, target):
        """What nvcc says the PTX is for one target."""
        keep = [o for o in options if not o.startswith(("-arch", "-gencode", "-compress", "-no-compress"))]
        # Of relocatable code nvcc makes the path a part of names.
        asked = (source if "-rdc=true" in keep else self.read(source), target, *keep)
        if asked not in self.answers:
            out = self.path("expected.ptx")
            compile_cuda("-ptx", "-arch=compute_" + target[3:], *keep, "-o", out, source)
            self.answers[asked] = normalised(self.read(out).decode())
        return self.answers[asked]

    def test_cubin_only(self):
        program = self.path("program")
        compile_cuda("-gencode=arch=compute_90,code=sm_90", "-cudart", "shared", "-o", program, self.source)
        rows, text = self.listed(program)
        self.assertNotIn("PTX", [row[1] for row in rows])
        self.assertIn("No PTX: gpurace cannot check this device code", text)
        self.assert_fails(program, "no PTX to extract, only compiled code (cubin)", "--extract-ptx", self.path("out"))

    def test_two_units_relocatable(self):
        program, other = self.path("program"), self.path("other.cu", OTHER)
        options = ["-arch=sm_90", "-rdc=true"]
        compile_cuda(*options, "-cudart", "shared", "-o", program, self.source, other)
        texts = [normalised(t) for t in self.extracted(program).values()]
        self.assertEqual(texts, [self.expected(s, options, "sm_90") for s in (self.source, other)])

    def test_every_kind_of_file(self):
        for name, options in (("a.o", ["-c"]), ("a.fatbin", ["-fatbin"]), ("a.so", ["-shared", "-Xcompiler=-fPIC"]),
                              ("a.a", ["-lib"]), ("a.ptx", ["-ptx"]), ("a.cubin", ["-cubin"])):
            with self.subTest(name):
                out = self.path(name)
                compile_cuda("-arch=sm_90", *options, "-o", out, self.source)
                kinds = {(row[1], row[2]) for row in self.listed(out)[0]}
                wanted = {".ptx": {("PTX", "sm_90")}, ".cubin": {("cubin", "sm_90")}}
                self.assertEqual(kinds, wanted.get(name[1:], {("PTX", "sm_90"), ("cubin", "sm_90")}))

    def test_truncated_and_corrupt(self):
        blob = self.path("a.fatbin")
        compile_cuda("-arch=sm_90", "-fatbin", "-o", blob, self.source)
        data = self.read(blob)
        done = fatbin(self.path("cut.fatbin", data[:-40]))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"cut.fatbin: truncated fatbin: it says \d+ bytes, there are \d+")
        broken = self.path("broken.fatbin", data.replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"))
        done = fatbin("--extract-ptx", self.path("out"), broken)
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken.fatbin: entry 2: corrupt fatbin: the payload is not a zstd frame", done.stderr)

    def test_nvidias_linker_reads_what_we_build(self):
        """nvlink makes the same code from PTX in a container of ours as from nvcc's."""
        ptx, theirs, ours = self.path("a.ptx"), self.path("theirs.fatbin"), self.path("ours.fatbin")
        compile_cuda("-ptx", "-rdc=true", "-arch=compute_90", "-o", ptx, self.source)
        compile_cuda("-fatbin", "-rdc=true", "-arch=compute_90", "-o", theirs, self.source)
        self.assertEqual(run(MAKE_FATBIN, ptx, ours, 90, "--compile-only ").returncode, 0)
        nvlink = os.path.join(os.path.dirname(os.path.realpath(NVCC)), "nvlink")
        for blob in (theirs, ours):
            done = run(nvlink, "-arch=sm_90", blob, "-o", blob + ".cubin")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.read(theirs + ".cubin"), self.read(ours + ".cubin"))

    def test_how_programs_use_cuda(self):
        host = self.path("host.cc", "int other(); int main() { return other(); }\n")
        library = self.path("libother.so")
        compile_cuda("-arch=sm_90", "-cudart", "shared", "-shared", "-Xcompiler=-fPIC", "-o", library,
                     self.path("other.cu", OTHER))
        stripped = self.path("stripped")
        compile_cuda("-arch=sm_90", "-Xlinker=-s", "-o", stripped, self.source)
        static, shared, through = self.path("static"), self.path("shared"), self.path("through")
        compile_cuda("-arch=sm_90", "-o", static, self.source)
        compile_cuda("-arch=sm_90", "-cudart", "shared", "-o", shared, self.source)
        compile_cuda("-cudart", "none", "-o", through, host, library, "-Xlinker=-rpath", "-Xlinker=$ORIGIN")
        for program, head in ((static, "static CUDA runtime"), (stripped, "static CUDA runtime"),
                              (shared, "shared CUDA runtime (libcudart.so.13)")):
            self.assertEqual(self.listed(program)[1].splitlines()[0], f"{program}: {head}")
        self.assert_fails(through, "no CUDA device code in it, but in libraries that it needs, such as " + library)


def add_mode(name, options, targets):
    def test(self):
        program = self.path("program")
        compile_cuda(*options, "-cudart", "shared", "-o", program, self.source)
        rows = [row for row in self.listed(program)[0] if row[1] == "PTX"]
        self.assertEqual({row[2]: row[4] for row in rows}, targets)
        texts = self.extracted(program)
        self.assertEqual(list(texts), sorted(f"program.{row[0]}.{row[2]}.ptx" for row in rows))
        for file, text in texts.items():
            target = file.split(".")[2]
            self.assertEqual(normalised(text), self.expected(self.source, options, target))

    setattr(Containers, "test_mode_" + re.sub(r"\W", "_", name), test)


for mode in MODES:
    add_mode(*mode)

if __name__ == "__main__":
    GPURACE, MAKE_FATBIN = sys.argv[1:3]
    NVCC = sys.argv[3] if len(sys.argv) > 3 and not sys.argv[3].startswith("-") else None
    unittest.main(argv=sys.argv[:1] + sys.argv[4 if NVCC else 3:])
