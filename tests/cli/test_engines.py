#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace engines` says what docs/engines.md says: test_engines.py GPURACE ROOT"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

GPURACE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def call(*words):
    return subprocess.run([GPURACE, "engines", *words], capture_output=True, text=True, timeout=60)


class Engines(unittest.TestCase):
    def test_as_the_page_says(self):
        texts = {text: word.lower() for word, text in re.findall(r'^CAP\((\w+), "(.*)"\)', (ROOT / "src/options/caps.def").read_text(), re.M)}
        engines = {e["name"]: e for e in json.loads(call("--format", "json").stdout)["engines"]}
        first, second = re.split(r"^\| \|", (ROOT / "docs/engines.md").read_text(), flags=re.M)
        rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in first.splitlines() if line.startswith("| `")]
        self.assertEqual([[f"`{e['name']}`", e["summary"], e["evidence"]] for e in engines.values()], rows)
        second, third = second.split("\n\n", 1)
        head, _, *lines = second.splitlines()
        names = [cell.strip(" `") for cell in head.split("|") if cell.strip()]
        told = {name: {"can": [], "options": []} for name in names}
        for line in lines:
            what, *cells = [cell.strip(" `") for cell in line.split("|")[1:-1]]
            for name, cell in zip(names, cells):
                if cell:
                    told[name]["options" if what.startswith("--") else "can"].append(texts.get(what, what))
        self.assertEqual({name: {key: e[key] for key in ("can", "options")} for name, e in engines.items()},
                         {name: what for name, what in told.items() if "+" not in name})

        uses = dict(re.findall(r'^USE\((\w+), "(.*)"\)', (ROOT / "src/engines/core/uses.def").read_text(), re.M))
        devices = {"cpu": "CPU device", "gpu": "GPU", "any": "each"}
        blind = {(uses[b["use"].upper()], f"`{name}`", devices[b["device"]], b["what"]) for name, e in engines.items() for b in e["blind_to"]}
        self.assertEqual({tuple(cell.strip() for cell in line.strip("| ").split(" | ")) for line in third.splitlines() if " | `" in line}, blind)

    def test_classes(self):
        classes = {e["name"]: e["classes"] for e in json.loads(call("--format", "json").stdout)["engines"]}
        page = (ROOT / "docs/classes.md").read_text()
        self.assertTrue(all(name in page for names in classes.values() for name in names))
        self.assertIn("clobbered read", classes["collider"])
        self.assertEqual([], classes["none"])

    def test_for_people(self):
        printed = call().stdout
        self.assertIn("exact: follows causality", printed)
        self.assertIn("\n    follows what orders accesses\n", printed)
        self.assertEqual(printed, call("--format", "text").stdout)

    def test_command_line(self):
        self.assertEqual((0, ""), (call("--help").returncode, call("--help").stderr))
        for words in (["--format", "xml"], ["collider"], ["--no-such-option"]):
            done = call(*words)
            self.assertEqual(2, done.returncode, words)
            self.assertIn("usage: gpurace engines", done.stderr)


unittest.main(argv=sys.argv[:1])
