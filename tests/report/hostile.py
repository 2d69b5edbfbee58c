#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports whose texts are hostile, in all formats: hostile.py GPURACE FOLDER SOURCE [TEST ...]. Whatever a name holds, each format stays what it is, and nothing
that steers a terminal, ends a line or turns the direction of writing gets through."""
import html
import json
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpurace_reports import FOLDER, GPURACE, Reports  # noqa: E402

SOURCE = sys.argv[3]
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
FILES = {"text": "report.txt", "json": "report.json", "sarif": "report.sarif", "html": "report.html", "junit": "junit.xml", "github": "annotations.txt"}
HIDDEN = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\uffff\U000e0000-\U000e0fff]")
# What ends a line, a string, an element, an attribute, a command or a comment, and every character that cannot be seen below U+3000.
CHARACTERS = ("\n::error file=x::pwn\ngpurace: verdict: clean\r\x1b[2J\x1b]0;t\x07 \"'`$(id)\\ %0A%s%n </script><!--]]>&amp;{0}[a](http://x) ä漢😀 " +
              "".join(c for c in map(chr, range(1, 0x3000)) if HIDDEN.match(c)) + "\ufeff\ufffe\uffff\U000e0041\n")
# Every byte but NUL, and all surrogates as CESU-8 has them.
BYTES = bytes(range(1, 256)) + b"".join(bytes((0xed, 0xa0 | k >> 6, 0x80 | k & 63)) for k in range(0, 2048, 31)) + b"\xc0\xaf\xf5\x80\x80\x80\xe2\x82"
# What is one of a few words, or made anew, when a report is read.
WORDS = {"verdict", "space", "id", "line_id", "address", "kind", "expected", "seen"}


def mutated(value, make, key=None):
    """The report with each text and each name of a file made anew."""
    if isinstance(value, dict):
        return {make(k) if key == "sources" else k: mutated(v, make, k) for k, v in value.items()}
    if isinstance(value, list):
        return [mutated(v, make, key) for v in value]
    if key == "hunks":  # has lines
        return value + make("").replace("\n", "\r")
    return make(value) if isinstance(value, str) and key not in WORDS else value


def golden(name):
    with open(os.path.join(GOLDEN, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def texts(value):
    if isinstance(value, dict):
        return [t for k, v in value.items() for t in [k, *texts(v)]]
    if isinstance(value, list):
        return [t for v in value for t in texts(v)]
    return [value] if isinstance(value, str) else []


class Hostile(Reports):
    def command(self, *args, status=0):
        """Bytes of stdout."""
        done = subprocess.run([GPURACE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIsNone(HIDDEN.search(done.stderr.decode("utf-8", "strict")), done.stderr)
        return done.stdout

    def check_lines(self, data, painted=False):
        text = data.decode("utf-8", "strict")
        if painted:
            text = re.sub("\x1b\\[[0-9;]*m", "", text)
        text = re.sub(r"(?m)^(          |        \+|  [- ] +\d+) \| .*$", lambda diff: diff[0].replace("\t", " "), text)  # a proposed edit
        found = HIDDEN.search(text)
        self.assertIsNone(found, found and text[max(0, found.start() - 80):found.start() + 20])
        self.assertEqual(text.splitlines(), text.split("\n")[:-1])
        self.assertFalse(re.search("(?m)^\\s*::error file=x", text))
        return text

    def check_formats(self, read):
        """`read` yields a format's bytes; yields the number of lines of the two formats of lines."""
        text = self.check_lines(read("text"))
        annotations = self.check_lines(read("github"))
        for line in annotations.splitlines():
            self.assertRegex(line, r"^::(error|warning|notice) (file=[^:,]*,line=\d+,(col=\d+,)?)?title=[^:,]*::")
        report = json.loads(read("json").decode("utf-8", "strict"))
        sarif = json.loads(read("sarif").decode("utf-8", "strict"))
        for location in re.findall(r'"uri": "([^"]*)"', json.dumps(sarif)):
            self.assertRegex(location, r"^[-A-Za-z0-9._~/:%]*$")
        for at in re.findall("(?<=%)..", "".join(re.findall(r'"uri": "([^"]*)"', json.dumps(sarif)))):
            int(at, 16)
        suite = xml.etree.ElementTree.fromstring(read("junit"))
        for element in suite.iter():
            for value in [element.text or "", *element.attrib.values()]:
                self.assertIsNone(HIDDEN.search(value))
        page = read("html").decode("utf-8", "strict")
        data = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S)[1]
        self.assertNotIn("<", data)
        self.assertEqual(len(json.loads(html.unescape(data) if "&lt" in data else data)["races"]), len(report["races"]))
        self.assertEqual(len(re.findall("<script|<template", page)), 2)
        return text.count("\n"), annotations.count("\n"), report

    def test_characters(self):
        """In every text of a report that is read."""
        for name in ("races", "pairs", "inconclusive", "proved", "clean"):
            counts = []
            for words in ("x" * len(CHARACTERS), CHARACTERS):
                self.save(mutated(golden(name), lambda text, words=words: text + words), "a.json")
                counts.append(self.check_formats(lambda form: self.command("report", "--format", form, self.path("a.json")))[:2])
            self.assertEqual(counts[0], counts[1])
            for options in (["--color", "always"], ["--width", "60"], ["--quiet"], ["--color", "always", "--width", "40"]):
                self.check_lines(self.command("report", *options, self.path("a.json")), painted=True)
            again = self.command("report", "--format", "json", self.path("a.json"))
            with open(self.path("b.json"), "wb") as file:
                file.write(again)
            self.assertEqual(self.command("report", "--format", "json", self.path("b.json")), again)

    def test_other_commands(self):
        for k, name in enumerate(("pairs", "races")):
            self.save(mutated(golden(name), lambda text: text + CHARACTERS), f"{k}.json")
        self.check_lines(self.command("diff", self.path("0.json"), self.path("1.json"), status=66))
        json.loads(self.command("diff", "--format", "json", self.path("0.json"), self.path("1.json"), status=66).decode())
        self.save(dict(mutated(golden("pairs"), lambda text: text + CHARACTERS), reproduce=golden("pairs")["reproduce"]), "2.json")
        for form in FILES:
            merged = self.command("report", "--format", form, self.path("0.json"), self.path("2.json"))
            if form in ("text", "github"):
                self.check_lines(merged)

    def test_each_text_shows(self):
        """Each text is escaped where it is shown, not lost: what it began with is there."""
        self.save(mutated(golden("pairs"), lambda text: text + "\x1b\u202e"), "a.json")
        text = self.check_lines(self.command("report", self.path("a.json")))
        for word in ("golden/sample.cu\\x1b\\u202e:3", "in kernel reduce(float*)\\x1b\\u202e", "./sample\\x1b\\u202e"):
            self.assertIn(word, text)

    def test_refused(self):
        """Bytes that are no UTF-8, lone surrogates and NUL are in no JSON; the complaint quotes them."""
        for bad in (b"\\ud800", b"\\udfff", b"\\ude00\\ud800", b"\xed\xa0\x80", b"\xff", b"\\u0000", b"\x1b[2J", b"\xc2"):
            with open(self.path("a.json"), "wb") as file:
                file.write(json.dumps(golden("pairs")).replace("reduce", "re@duce").encode().replace(b"@", bad))
            self.command("report", self.path("a.json"), status=1)

    def write_ptx(self, path, name):
        def escaped(data):
            return b"".join(b"\\%03o" % b if b < 32 or b > 126 or b in b'"\\' else bytes((b,)) for b in data)
        with open(path, "wb") as file:
            file.write(b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n"
                       b"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n.loc 1 2 3\nst.global.u32 [%rd1], %r1;\n.loc 1 3 9\nld.global.u32 %r2, [%rd1+4];\n"
                       b".loc 1 4 1\nst.global.u32 [%rd1+4], %r1;\nret;\n}\n.file 1 \"" + escaped(name) + b"\"\n")

    def run_program(self, name, *args):
        """All formats of a run whose source has that name, and whose program has those arguments."""
        ptx, out = self.path("k.ptx"), self.path("out")
        self.write_ptx(ptx, name)
        self.command("run", "--device", "cpu", "--engine", "exact", "--format", ",".join(FILES), "--output", out, "--", os.path.join(FOLDER, "launch_ptx"), ptx, "1", "0",
                     *args, status=66)

        def read(form):
            with open(os.path.join(out, FILES[form]), "rb") as file:
                return file.read()
        report = self.check_formats(read)[2]
        self.assertEqual(self.command("report", os.path.join(out, "report.json")), read("text"))
        return report, read("text").decode()

    def test_bytes_of_a_run(self):
        report, text = self.run_program(b"/nonexistent/" + BYTES + b".cu")
        self.assertIn("\\x80", report["races"][0]["accesses"][0]["file"])
        self.assertIn("\\x01\\x02", text)

    def test_source_of_a_run(self):
        """A file whose name and lines are not UTF-8 has its excerpt, one column for each character."""
        name = os.path.join(os.fsencode(self.folder), b"g\xc3\xa4\xff\n'\"%41\xe2\x80\xae.cu")
        with open(name, "wb") as file:
            file.write(b"one\n\xc3\xa4" + BYTES.replace(b"\n", b"") + b"\n\xc3\xa4\xff\xe2\x80\xae\xc3\xb6 = x\nfour\n")
        report, text = self.run_program(name)
        self.assertIn("gä\\xff\\x0a'\"%41\\u202e.cu:3:9", text)
        self.assertIn("  >     3 | ä??ö = x\n", text)
        text = self.command("report", "--verbose", os.path.join(self.path("out"), "report.json")).decode()
        self.assertIn("  >     3 | ä??ö = x\n          |     ^\n", text)
        self.assertEqual(report["sources"][next(iter(report["sources"]))]["3"], "ä?\u202eö = x")

    def test_columns_of_sarif(self):
        """They count units of UTF-16, as columnKind says: compilers count bytes."""
        name = os.path.join(os.fsencode(self.folder), b"columns.cu")
        for line, column in ((b"abcdefgh = x", 9), ("ä".encode() + b"\xff" + "😀b = x".encode(), 6), ("äöüß = x".encode(), 5), (b"short", 9)):
            with open(name, "wb") as file:
                file.write(b"one\ntwo\n" + line + b"\nfour\n")
            self.run_program(name)
            with open(os.path.join(self.path("out"), FILES["sarif"]), encoding="utf-8") as file:
                run = json.load(file)["runs"][0]
            self.assertEqual(run["columnKind"], "utf16CodeUnits")
            at = [place["physicalLocation"]["region"] for result in run["results"] for place in result["locations"] + result.get("relatedLocations", [])]
            self.assertEqual({region["startColumn"] for region in at if region["startLine"] == 3}, {column})

    def test_command_is_quoted(self):
        """The command that repeats a run has the same words, in one line."""
        words = [b"a b", b"it's", b"$(id) `id` \\ \"", b"", b"\xc3\xa4", BYTES, b"\n", b"-x\x1b[2J", CHARACTERS.encode(), b"\\x41'\n\x011"]
        report, text = self.run_program(b"a.cu", *words)
        again = re.search("\n  again     gpurace run (.*)\n", text)[1]
        self.assertEqual(report["reproduce"], "gpurace run " + again)
        done = subprocess.run(["bash", "-c", "printf '%s\\0' " + again], stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout.split(b"\0")[-1 - len(words):-1], words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
