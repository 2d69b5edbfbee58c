#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace repair` as a user runs it, on the CPU device: test_command.py GPURACE NVCC [TESTS of unittest]"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "race"
GPURACE, NVCC = os.path.abspath(sys.argv[1]), sys.argv[2]
HEAD = "#include <cstdio>\n#include <cuda_runtime.h>\n"
MAIN = """int main() {
    int *out;
    cudaMalloc(&out, 4096);
    kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize();
}
"""


class Repair(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="test-repair-")))
        self.temporary = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="test-repair-")))

    def repair(self, *options, source="app.cu", build=None, program="./app"):
        build = build or f"{NVCC} -nodlink -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o app {source}"
        return subprocess.run([GPURACE, "repair", "--runs", "3", *options, "--build", build, "--", program], cwd=self.folder, capture_output=True, text=True, timeout=250,
                              env={**os.environ, "TMPDIR": str(self.temporary)})

    def from_corpus(self, name, *headers):
        """A program of the corpus as app.cu and corpus.h, with all that these include."""
        check = (CORPUS.parent / "check.h").read_text()
        for path, to in [(name + ".cu", "app.cu")] + [(header, pathlib.Path(header).name) for header in ("corpus.h", *headers)]:
            text = (CORPUS / path).read_text().replace('"../corpus.h"', '"corpus.h"').replace('#include "../check.h"\n', check)
            (self.folder / to).write_text(text)
        return (self.folder / "app.cu").read_text()

    def program(self, kernel):
        (self.folder / "app.cu").write_text(HEAD + kernel + MAIN)

    def test_warp(self):
        before = self.from_corpus("table3/subwarp_smem_rw")
        done = self.repair()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("+    __syncwarp();\n", done.stdout)
        self.assertIn("this removes the race in 3 seeds", done.stdout)
        self.assertEqual((self.folder / "app.cu").read_text(), before)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["app.cu", "corpus.h"], "all that is made is in the copy")
        self.assertEqual(list(self.temporary.iterdir()), [], "the copy is removed")

    def test_linked_sources(self):
        """What links lead to is copied, each file once. A link that the build makes to the user's file is no way to it, and a second name (hard link)
        that it makes of the user's file gets the edit alone."""
        before = self.from_corpus("table3/subwarp_smem_rw")
        other = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="test-repair-")))
        for name in ("app.cu", "corpus.h"):
            (self.folder / name).rename(other / name)
        (other / "loop").symlink_to(self.folder)  # back into what is copied
        (other / "nothing").symlink_to(other / "made")
        (self.folder / "src").symlink_to(other)
        (self.folder / "also.cu").symlink_to(os.path.relpath(other / "app.cu", self.folder))
        nvcc = f"{NVCC} -Isrc -nodlink -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o app"
        build = f"cmp src/app.cu src/loop/also.cu && : > src/made && {{ test -e two.cu || ln {other}/app.cu two.cu; }} && {nvcc} two.cu"
        stamp = (other / "app.cu").stat()
        done = self.repair(build=build)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("this removes the race in 3 seeds", done.stdout)
        done = self.repair("--runs", "1", build=f"ln -sf {other}/app.cu three.cu && {nvcc} three.cu")
        self.assertEqual(done.returncode, 66, done.stderr)
        self.assertRegex(done.stdout, "is not in the folder that was copied")
        now = (other / "app.cu").stat()
        self.assertEqual(((other / "app.cu").read_text(), now.st_ino, now.st_mtime_ns), (before, stamp.st_ino, stamp.st_mtime_ns))
        self.assertEqual(sorted(os.listdir(other)), ["app.cu", "corpus.h", "loop", "nothing"])
        self.assertEqual((sorted(os.listdir(self.folder)), list(self.temporary.iterdir())), (["also.cu", "src"], []))

    def test_killed(self):
        """kill -9 while an edit is tried: the user's file, behind a linked folder, has none of it."""
        before = self.from_corpus("table3/subwarp_smem_rw")
        (self.folder / "orig").mkdir()
        for name in ("app.cu", "corpus.h"):
            (self.folder / name).rename(self.folder / "orig" / name)
        (self.folder / "proj").mkdir()
        (self.folder / "proj/src").symlink_to(self.folder / "orig")
        build = f"{NVCC} -nodlink -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o app src/app.cu && ! grep -q '^ *__syncwarp();$' src/app.cu || exec sleep 30"
        with subprocess.Popen([GPURACE, "repair", "--runs", "2", "--build", build, "--", "./app"], cwd=self.folder / "proj", stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(self.temporary)}) as process:
            for line in process.stderr:
                if "trying" in line:
                    break
            edited = False
            while not edited and process.poll() is None:
                edited = any(path.read_text() != before for path in self.temporary.glob("*/copy/src/app.cu"))
            process.kill()
        while self.kill_build():
            pass
        self.assertTrue(edited)
        self.assertEqual((self.folder / "orig/app.cu").read_text(), before)
        self.assertEqual(len(list(self.temporary.glob("gpurace-repair-*/.gpurace"))), 1, "what is left says whose it is")

    def kill_build(self):
        """The build goes on. Its processes may start others meanwhile: whether there were any."""
        any_there = False
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"TMPDIR={self.temporary}\0".encode() in (path / "environ").read_bytes():
                    os.kill(int(path.name), signal.SIGKILL)
                    any_there = True
        return any_there

    def test_temporary_folder_in_the_folder(self):
        self.from_corpus("table3/subwarp_smem_rw")
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.assertIn("the folder for temporary files is in", self.repair().stderr)
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_loop_as_json(self):
        self.from_corpus("graph/pagerank_pull")
        done = self.repair("--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        race, = json.loads(done.stdout)["races"]
        self.assertTrue(race["repaired"])
        self.assertEqual(race["edits"][-1]["result"], "removes")
        self.assertIn("+        __syncthreads();\n", race["edits"][-1]["hunks"] + "\n")

    def test_streams(self):
        self.from_corpus("host/copy_on_device", "host/host.h")
        done = self.repair()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("+    cudaDeviceSynchronize();\n", done.stdout)

    HISTOGRAM = """__global__ void kernel(int *out) {
    out[threadIdx.x % 7]++;
    int at = threadIdx.x % 5;
    if (out[at + 16] < at)
        out[at + 16] = at;
}
"""

    def test_one_edit_for_several(self):
        """Races of one update have one edit, which is tried and said once."""
        self.program("__global__ void kernel(int *out) {\n    out[threadIdx.x % 7]++;\n}\n")
        done = self.repair()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(done.stdout.count(", id "), 1, done.stdout)
        self.assertEqual(done.stdout.count("+    atomicAdd(&out[threadIdx.x % 7], 1);\n"), 1, done.stdout)
        self.assertIn("the edit above (use atomicAdd(), app.cu:4) removes the race, too, in 3 seeds", done.stdout)
        self.assertEqual(done.stderr.count("trying to"), 1, done.stderr)

    def test_apply(self):
        """As a patch, and in the user's own files only if that is asked for."""
        self.program(self.HISTOGRAM)
        before = (self.folder / "app.cu").read_text()
        done = self.repair("--runs", "1", "--apply", "edits.patch")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 edits: edits.patch", done.stdout)
        self.assertEqual((self.folder / "app.cu").read_text(), before)
        done = self.repair("--runs", "1", "--apply", "in-place")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        after = (self.folder / "app.cu").read_text()
        self.assertIn("    atomicAdd(&out[threadIdx.x % 7], 1);\n", after)
        self.assertIn("    atomicMax(&out[at + 16], at);\n}\n", after)
        (self.folder / "app.cu").write_text(before)
        subprocess.run(["patch", "-p0", "-s", "-i", "edits.patch"], cwd=self.folder, check=True)
        self.assertEqual((self.folder / "app.cu").read_text(), after, "the patch does the same")
        self.assertIn("gpurace: 0 races", self.repair("--runs", "1").stdout)

    def test_apply_stays_in_the_folder(self):
        """Not through a link that leads out of the folder, and not where the file has changed meanwhile."""
        other = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="test-repair-")))
        self.program("__global__ void kernel(int *out) {\n    out[threadIdx.x % 7]++;\n}\n")
        (self.folder / "app.cu").rename(other / "app.cu")
        (self.folder / "app.cu").symlink_to(other / "app.cu")
        before = (other / "app.cu").read_text()
        done = self.repair("--runs", "1", "--apply", "in-place")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("app.cu leads out of the folder, so it is not edited", done.stderr)
        self.assertEqual((other / "app.cu").read_text(), before)
        (self.folder / "app.cu").unlink()
        self.program("__global__ void kernel(int *out) {\n    out[threadIdx.x % 7]++;\n}\n")
        nvcc = f"{NVCC} -nodlink -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o app app.cu"
        done = self.repair("--runs", "1", "--apply", "in-place", build=f"{nvcc} && echo >> {self.folder}/app.cu")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("has changed since it was copied", done.stderr)
        self.assertNotIn("atomicAdd", (self.folder / "app.cu").read_text())

    def test_rare(self):
        """A race that not all of the seeds show is looked for with more; edits are run with as many seeds as were needed."""
        self.from_corpus("scopes/its_spin_in_warp")
        found = json.loads(self.repair("--format", "json", "--runs", "2", "--most-runs", "12").stdout)
        self.assertTrue(found["races"])
        for race in found["races"]:
            self.assertTrue(race["seen_with"] >= 2 or found["seeds"] == 12, race)
            self.assertTrue(all(edit["seeds"] >= 2 or edit["result"] == "fails" for edit in race["edits"]))

    def test_no_edit_is_known(self):
        self.program("__global__ void kernel(int *out) {\n    out[threadIdx.x / 2] = threadIdx.x;\n}\n")
        done = self.repair()
        self.assertEqual(done.returncode, 66, done.stderr)
        self.assertIn("no edit is known for this race", done.stdout)

    def test_does_not(self):
        self.program("__global__ void kernel(int *out) {\n    __shared__ int s[64];\n    s[threadIdx.x] = 1;\n    out[threadIdx.x] = s[63 - threadIdx.x];\n}\n")
        command = f"{NVCC} -nodlink -lineinfo -cudart shared -gencode arch=compute_90,code=compute_90 -o app"
        done = self.repair(build=f"test -e app || {command} app.cu")
        self.assertEqual(done.returncode, 66, done.stderr)
        self.assertIn("the build command did not make the program anew", done.stdout)
        done = self.repair(build=f"! grep -q __sync app.cu || {{ echo error: no barriers here; exit 1; }}; {command} app.cu")
        self.assertEqual(done.returncode, 66, done.stderr)
        self.assertIn("it does not compile: error: no barriers here", done.stdout)

    def test_bad_commands(self):
        self.program("__global__ void kernel(int *out) {\n}\n")
        for options, status, words in ((["--build", "", "--", "./app"], 2, "a build command and a program are needed"),
                                       (["--build", "true"], 2, "a build command and a program are needed"),
                                       (["--build", "echo error: wrong; false", "--", "./app"], 1, "as the program is, it does not compile: error: wrong"),
                                       (["--build", "true", "--", "./app"], 1, "the program does not run in the copy"),
                                       (["--folder", "nowhere", "--build", "true", "--", "./app"], 1, "nowhere: No such file"),
                                       (["--folder", str(self.temporary), "--build", "true", "--", "./app"], 1, "is not in")):
            done = subprocess.run([GPURACE, "repair", *options], cwd=self.folder, capture_output=True, text=True, timeout=60, env={**os.environ, "TMPDIR": str(self.temporary)})
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
