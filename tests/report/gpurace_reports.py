# SPDX-License-Identifier: Apache-2.0
"""What tests of reports share: the words of the command line are GPURACE FOLDER ..., FOLDER holds the programs."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, FOLDER = sys.argv[1:3]
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "report.schema.json")


def check_schema(report):
    try:
        import jsonschema
    except ImportError:
        return
    with open(SCHEMA, encoding="utf-8") as file:
        jsonschema.validate(report, json.load(file))


def gpurace(*args, status=0):
    done = subprocess.run([GPURACE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert status is None or done.returncode == status, (args, done.returncode, done.stderr)
    return done


def read_terminal(ours):
    """All that comes until the other end is closed."""
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            part = b""
        if not part:
            os.close(ours)
            return said
        said += part


class Reports(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name

    def tearDown(self):
        self.temporary.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def load(self, name):
        report = json.loads(self.read(name))
        check_schema(report)
        return report

    def save(self, report, name):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(report, file)

    def run_program(self, name, program, *args, options=()):
        """The report of a run, as a JSON file; yields its text as well."""
        command = ["run", "--device", "cpu", *options]
        words = ["--", os.path.join(FOLDER, program), *args]
        gpurace(*command, "--format", "json", "--output", self.path(name), *words, status=None)
        return gpurace(*command, *words, status=None).stderr
