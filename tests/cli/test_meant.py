#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gpurace says where a word is misspelled, or a source file stands in place of a program. Usage: test_meant.py GPURACE PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM = sys.argv[1:3]


def call(*words, options="", cwd=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
    environment["GPURACE_OPTIONS"] = options
    return subprocess.run([GPURACE, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=100, check=False, cwd=cwd)


class Words(unittest.TestCase):
    def refused(self, message, *words, **more):
        done = call(*words, **more)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(message, done.stderr)

    def test_options(self):
        self.refused("unknown option '--sede'; did you mean --seed?", "run", "--sede", "3", "--", PROGRAM)
        self.refused("unknown option '--formt=json'; did you mean --format?", "report", "--formt=json")
        self.refused("unknown option 'sede'; did you mean seed?", "run", PROGRAM, options="sede=3")
        self.refused("unknown option '--read-dealy'; did you mean --read-delay?", "run", "--read-dealy", "3", "--", PROGRAM)
        self.refused("unknown option '--stop-aftr'; did you mean --stop-after?", "campaign", "--stop-aftr", "3", "--", PROGRAM)
        self.refused("unknown option '--nothing-like-it'\n", "run", "--nothing-like-it", "--", PROGRAM)

    def test_engines(self):
        self.refused("there is no engine 'exat'; did you mean exact?", "run", "--engine", "exat", "--", PROGRAM)
        self.refused("there is no engine 'collider+exat'; did you mean collider+exact?", "run", "--engine", "collider+exat", "--", PROGRAM)
        self.refused("there is no engine 'trakcer'; did you mean tracker?", "campaign", "--engines", "exact,trakcer", "--", PROGRAM)
        self.refused("there is no engine 'zzz'; `gpurace run --help`", "run", "--engine", "zzz", "--", PROGRAM)

    def test_commands(self):
        self.refused("unknown command 'rnu'; did you mean run?", "rnu", "--", PROGRAM)
        self.refused("unknown command 'enginse'; did you mean engines?", "help", "enginse")
        self.refused("unknown command 'zzz'; `gpurace help` lists them", "zzz")

    def test_kernels(self):
        for word in ("ads", "^ads$", "in_haeder"):
            done = call("run", "--device", "cpu", "--format", "json", "--kernel", word, "--", PROGRAM, "adds", "in_header")
            report = json.loads(done.stderr)
            name = "in_header" if "h" in word else "adds"
            self.assertIn(f"--kernel {word} matches no kernel that was launched; did you mean {name}?", report["reasons"])
        done = call("run", "--device", "cpu", "--format", "json", "--not-kernel", "in_haeder", "--", PROGRAM, "adds", "in_header")
        self.assertIn("--not-kernel in_haeder matches no kernel that was launched; did you mean in_header?", done.stderr)
        done = call("run", "--device", "cpu", "--format", "json", "--kernel", "adds", "--", PROGRAM, "adds", "in_header")
        self.assertNotIn("did you mean", done.stderr)


class Sources(unittest.TestCase):
    def test_source_in_place_of_a_program(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            for name, build in (("hist.cu", "nvcc -lineinfo -cudart shared -o hist hist.cu"), ("k.ptx", None)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write("int main() {}\n")
                for word in (name, "./" + name):
                    done = call("run", word, cwd=folder)
                    self.assertEqual(done.returncode, 126, done)
                    self.assertIn(f"{word} is no program: `gpurace check {word}` looks for races in it without running it", done.stderr)
                    if build:
                        self.assertIn(build.replace("hist", word[:-3]), done.stderr)
                        self.assertIn("gpurace run -- ./hist", done.stderr)
            self.assertEqual(call("run", "./no.cu", cwd=folder).returncode, 127)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
