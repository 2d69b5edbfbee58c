#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a headless Chromium: links, filters, sorting, both themes, and a silent console: page.py GPURACE FOLDER PICTURES [TEST ...]. Screenshots go
to the folder PICTURES."""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
from gpurace_reports import Reports, gpurace  # noqa: E402

PICTURES = sys.argv[3]
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;'\"`${x}\u2028"


class Page(Reports):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        super().setUp()
        self.browser.problems.clear()

    def tearDown(self):
        self.browser.size(1280, 900)
        self.assertEqual(self.browser.problems, [])
        super().tearDown()

    def show(self, report, *options):
        self.save(report, "a.json")
        gpurace("report", "--format", "html", "--output", self.path("a.html"), *options, self.path("a.json"), status=None)
        self.browser.open(self.path("a.html"))

    def show_run(self, program, *words):
        """Words from the first option on are gpurace's."""
        options = words[next(k for k, word in enumerate(words) if word.startswith("--")):]
        self.run_program("a.json", program, *words[:len(words) - len(options)], options=options)
        report = self.load("a.json")
        self.show(report)
        return report

    def golden(self, name):
        with open(os.path.join(GOLDEN, name + ".json"), encoding="utf-8") as file:
            return json.load(file)

    def rows(self):
        """The ids of the rows that are shown, from top to bottom."""
        return self.browser.run("[...document.querySelectorAll('#causes tbody tr')].filter(r => r.offsetHeight > 0).map(r => r.dataset.id)")

    def text(self, selector="main"):
        return self.browser.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector):
        self.browser.run(f"document.querySelector({json.dumps(selector)}).click()")
        self.browser.run("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def picture(self, name):
        os.makedirs(PICTURES, exist_ok=True)
        self.browser.screenshot(os.path.join(PICTURES, name + ".png"))


class Index(Page):
    def test_rows(self):
        report = self.golden("pairs")
        self.show(report)
        self.assertEqual(self.rows(), [r["id"] for r in report["causes"] + report["misuses"]])
        self.assertIn("6 races of 5 causes, 2 misuses of synchronization", self.text("header"))
        self.assertIn("7 rows", self.text())
        cells = self.browser.run("[...document.querySelectorAll('#causes tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
        heads = self.browser.run("[...document.querySelectorAll('#causes th')].map(h => h.innerText)")
        by_id = {race["id"]: race for race in report["races"]}
        for row, cause in zip(cells, report["causes"]):
            row, shown = dict(zip(heads, row)), by_id[cause["shown"]]
            sides = [f"{side['file']}:{side['line']}" if side["file"] else side["kind"] for side in shown["accesses"]]
            self.assertEqual([row[head] for head in ("cause", "place", "other side", "kernel", "races", "occurred")],
                             [cause["what"], *sides, "reduce", str(len(cause["races"])), str(cause["count"])])
            names = [side["variable"].split("::")[-1] for side in shown["accesses"] if "variable" in side]
            arguments = [f"argument {side['argument']}" for side in shown["accesses"] if "argument" in side]
            self.assertEqual(row["on"], (names + arguments + [""])[0])
        self.assertIn(report["reproduce"], self.text())
        self.picture("index")
        self.browser.dark(True)
        dark = self.browser.run("getComputedStyle(document.body).backgroundColor")
        self.picture("index-dark")
        self.browser.dark(False)
        self.assertNotEqual(self.browser.run("getComputedStyle(document.body).backgroundColor"), dark)
        self.click("#theme")  # the reader's choice comes before the system's
        self.assertEqual(self.browser.run("getComputedStyle(document.body).backgroundColor"), dark)
        self.click("#theme")

    def test_filters(self):
        report = self.golden("pairs")
        self.show(report)
        all_of, by_id = report["causes"] + report["misuses"], {race["id"]: race for race in report["races"]}

        def lines(entry):
            return {entry["line"]} if "line" in entry else {side["line"] for i in entry["races"] for side in by_id[i]["accesses"]}
        self.click("input[data-class='read-write race']")
        self.assertEqual(self.rows(), [r["id"] for r in all_of if r.get("what") != "read-write race"])
        self.assertIn("5 of 7 rows", self.text())
        self.click("input[data-class='read-write race']")
        self.assertEqual(len(self.rows()), 7)
        for words, wanted in (("sample.cu:9", lambda r: 9 in lines(r)), ("reduce SCOPE", lambda r: r.get("what") == "insufficient scope"), ("no such", lambda r: False),
                              (all_of[3]["id"], lambda r: r is all_of[3]), (all_of[1]["races"][1], lambda r: r is all_of[1])):
            self.browser.run(f"(() => {{ const w = document.querySelector('#words'); w.value = {json.dumps(words)}; w.dispatchEvent(new Event('input')); }})()")
            self.assertEqual(self.rows(), [r["id"] for r in all_of if wanted(r)], words)

    def test_sorting(self):
        report = self.golden("races")
        for k, race in enumerate(report["races"]):
            race["count"] = (7, 3, 30, 4)[k]
        self.show(report)
        races = report["races"]
        cause_of = {cause["races"][0]: cause["id"] for cause in report["causes"]}
        self.assertEqual(len(cause_of), 4)
        heads = self.browser.run("[...document.querySelectorAll('#causes th')].map(h => h.innerText)")

        def press(head):
            self.click(f"#causes th:nth-child({heads.index(head) + 1}) button")
            return self.rows()
        self.assertEqual(press("occurred"), [cause_of[r["id"]] for r in sorted(races, key=lambda r: -r["count"])])
        self.assertEqual(press("occurred"), [cause_of[r["id"]] for r in sorted(races, key=lambda r: r["count"])])
        self.assertEqual(self.browser.run("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), "ascending")
        self.assertEqual(press("cause"), [cause_of[r["id"]] for r in sorted(races, key=lambda r: r["class"])])
        self.assertEqual(press("place")[-1], next(cause_of[r["id"]] for r in races if r["accesses"][0]["line"] == 7))

    def test_baseline(self):
        report = self.golden("races")
        base = dict(report, races=report["races"][1:])
        self.save(base, "base.json")
        self.show(report, "--baseline", self.path("base.json"))
        self.assertIn("1 new, 3 known, 0 gone", self.text())
        self.click("#only-new")
        self.assertEqual(self.rows(), [cause["id"] for cause in report["causes"] if report["races"][0]["id"] in cause["races"]])

    def test_baseline_of_causes(self):
        report = self.golden("pairs")
        first = report["causes"][1]
        self.assertEqual(len(first["races"]), 2)
        self.save(dict(report, races=[race for race in report["races"] if race["id"] != first["races"][1]]), "base.json")
        self.show(report, "--baseline", self.path("base.json"))
        self.assertIn("1 new, 7 known (4 causes), 0 gone", self.text())
        self.click("#only-new")
        self.assertEqual(self.rows(), [first["id"]])

    def test_clean_and_inconclusive(self):
        self.show(self.golden("clean"))
        self.assertIn("No races are listed", self.text())
        report = self.golden("inconclusive")
        self.show(report)
        for reason in report["reasons"]:
            self.assertIn(reason, self.text())


class Hostile(Page):
    def test_hidden_characters_are_named(self):
        """What cannot be seen, or turns the direction of what follows, is named; what is copied is what was there."""
        hidden = "\x1b\x7f\x9b\u200b\u2028\u202e\u2066\ufeff</script><b>ä"
        shown = "\\x1b\\x7f\\x9b\\u200b\\u2028\\u202e\\u2066\\ufeff</script><b>ä"
        report = self.golden("pairs")
        report["reproduce"] += hidden
        for race in report["races"]:
            race["kernel"] += hidden
            for side in race["accesses"]:
                side["function"] = (side["function"] or "f") + hidden
        for lines in report["sources"].values():
            lines.update({k: v + hidden for k, v in lines.items()})
        self.show(report)
        body = self.browser.run("document.body.innerText")
        self.assertIn(shown, body)
        self.assertNotRegex(body, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
        self.browser.run(f"location.hash = '#race-{report['races'][0]['id']}'")
        self.browser.run("new Promise(done => setTimeout(done, 50))")
        body = self.browser.run("document.body.innerText")
        self.assertGreater(body.count(shown), 3)
        self.assertNotRegex(body, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


class Cause(Page):
    def follow(self, report, race):
        """The page of a misuse, or of the cause of a race."""
        cause = next((cause for cause in report["causes"] if race["id"] in cause["races"]), None)
        self.click(f"a[href='#cause-{cause['id']}']" if cause else f"a[href='#race-{race['id']}']")
        return self.text()

    def test_words(self):
        """What it is and of what, what to do, the two sides, why; all races, the rules that hide it."""
        report = self.show_run("mistakes", "count", "--engine", "exact")
        cause, = report["causes"]
        text = self.follow(report, report["races"][0])
        self.picture("cause")
        order = [f"Data race: {cause['what']} on bins in kernel count", cause["meaning"], f"Fix: {cause['fix']} in ", "one side", "other side",
                 f"Why: {cause['why']}.", f"It is seen as {len(cause['races'])} races", "Facts of the race that is shown", "id of the cause", cause["id"], "Again", "To suppress it"]
        places = [text.find(words) for words in order]
        self.assertNotIn(-1, places, (order, text))
        self.assertEqual(places, sorted(places))
        for race in report["races"]:
            self.assertIn(race["rule"], text)
        self.browser.dark(True)
        self.picture("cause-dark")
        self.browser.dark(False)

    def test_occurrences(self):
        """The races of a cause are folded; the address of one opens it."""
        report = self.show_run("mistakes", "count", "--engine", "exact")
        cause, = report["causes"]
        self.follow(report, report["races"][0])
        opened = "[...document.querySelectorAll('details.race')].map(d => [d.dataset.id, d.open])"
        self.assertEqual(self.browser.run(opened), [[i, False] for i in cause["races"]])
        self.assertEqual(self.browser.run("document.querySelectorAll('details.race .side').length"), 0)
        race = next(race for race in report["races"] if race["id"] != cause["shown"])
        self.browser.run(f"location.hash = '#race-{race['id']}'")
        self.browser.run("new Promise(done => setTimeout(done, 100))")
        self.assertEqual(self.browser.run(opened), [[i, i == race["id"]] for i in cause["races"]])
        text = self.text("details.race[open]")
        for words in (race["class"], race["meaning"], race["missing_order"], race["id"], race["accesses"][1]["address"], f"{race['count']} times"):
            self.assertIn(words, text)
        self.picture("occurrence")

    def test_host_stacks(self):
        self.show(self.golden("pairs"))
        with open(self.path("a.html"), encoding="utf-8") as file:
            page = file.read()
        head, data, rest = re.split(r'(?<=id="report">)(.*?)(?=</script>)', page, maxsplit=1, flags=re.DOTALL)
        report = json.loads(data)
        for access in report["races"][0]["accesses"]:
            access.update(called="cudaLaunchKernel", stack=[{"function": "pass(int*)", "file": "/x/app.cu", "line": 77}, {"function": "main", "file": None, "line": None}])
        with open(self.path("a.html"), "w", encoding="utf-8") as file:
            file.write(head + json.dumps(report).replace("<", "\\u003c") + rest)
        self.browser.open(self.path("a.html"))
        self.assertRegex(self.follow(report, report["races"][0]), r"launched from pass\(int\*\) at /x/app.cu:77\s+called by main\n")

    BROKEN = """(() => {
      const found = [], walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
      for (let node; (node = walk.nextNode());)
        for (const match of node.data.matchAll(/0x[0-9a-f]+|[0-9a-f]{16}|\\d+/g)) {
          const range = document.createRange();
          range.setStart(node, match.index);
          range.setEnd(node, match.index + match[0].length);
          if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(match[0]);
        }
      return found;
    })()"""

    def test_widths(self):
        """On a desk and on a phone no number is broken in two, and nothing but code is wider than the page."""
        report = self.golden("pairs")
        deep = "/home/someone/projects/a_long_name_of_a_project_2026/src/kernels/reductions_and_scans_64/"
        for race in report["races"]:
            race["kernel"] = "void project_2026::detail::reduce_by_key_64<128, 4096ul, thrust::tuple<float, double, unsigned long long>>(project_2026::view<float, 12345678>)"
            for side in race["accesses"]:
                side["file"] = side["file"] and deep + os.path.basename(side["file"])
                side["address"] = "0x7f1234567890abcd"
                for frame in side["frames"]:
                    frame["file"] = frame["file"] and deep + os.path.basename(frame["file"])
        report["reproduce"] = "gpurace run --engine exact --device cpu --seed 12345678901234567890 -- " + deep + "build_1234567890/application_1234567890"
        self.show(report)
        for width in (1280, 820, 375, 320):
            self.browser.size(width, 900)
            self.browser.run("location.hash = ''")
            for cause in [None, *report["causes"]]:
                self.browser.run(f"location.hash = '{'#cause-' + cause['id'] if cause else '#'}'")
                self.browser.run("new Promise(done => setTimeout(done, 50))")
                self.assertEqual(self.browser.run(self.BROKEN), [], (width, cause))
                self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width, cause)
                if cause in (None, report["causes"][1]) and width in (1280, 375):
                    self.picture(("cause" if cause else "index") + f"-long-{width}")

    def test_links(self):
        """Each row leads to its race, and from there to the next, the one before, and back; no link leads nowhere."""
        report = self.golden("pairs")
        self.show(report)
        ids = [c["id"] for c in report["causes"]] + [r["id"] for r in report["misuses"]]
        links = ["#cause-" + c["id"] for c in report["causes"]] + ["#race-" + r["id"] for r in report["misuses"]]
        self.click(f"a[href='{links[0]}']")
        for k, entry in enumerate(ids):
            self.assertEqual(self.browser.run("location.hash"), links[k])
            self.assertIn(entry, self.text())
            for link in self.browser.run("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))"):
                self.assertIn(link, {"#", *links})
            if k + 1 < len(ids):
                self.click("a[rel='next']")
        self.assertIsNone(self.browser.run("document.querySelector('a[rel=next]')"))
        self.click("nav a[href='#']")
        self.assertEqual(len(self.rows()), len(ids))
        self.browser.run("history.back()")
        self.browser.run("new Promise(done => setTimeout(done, 50))")
        self.assertIn(ids[-1], self.text())

    def test_both_sides(self):
        report = self.show_run("two_occurrences", "--engine", "exact")
        race = report["races"][0]
        text = self.follow(report, race)
        self.picture("sides")
        hits = self.browser.run("[...document.querySelectorAll('.side')].map(s => s.querySelector('.hit').innerText)")
        self.assertEqual(len(hits), 2)
        for hit, side in zip(hits, race["accesses"]):
            self.assertRegex(hit, rf"^\s*{side['line']}\b")
            self.assertIn(report["sources"][side["file"]][str(side["line"])].strip(), hit)
            self.assertIn("thread ({},{},{})".format(*side["thread"]), text)
            self.assertIn(side["address"], text)
        for part in (race["missing_order"], report["reproduce"], race["class"], race["meaning"], race["kernel"], f"{race['count']} times", race["evidence"]):
            self.assertIn(part, text)
        self.assertEqual(self.browser.run("document.querySelectorAll('svg rect.a').length > 0 && document.querySelectorAll('svg rect.b').length > 0"), True)
        self.assertNotIn("undefined", text)
        self.assertNotIn("[object", text)
        boxes = self.browser.run("[...document.querySelectorAll('.side')].map(s => s.getBoundingClientRect().top)")
        self.assertEqual(boxes[0], boxes[1])  # side by side

    def show_stacks(self, mode):
        for seed in range(1, 9):
            self.run_program("a.json", "stacks", mode, options=("--seed", str(seed)))
            report = self.load("a.json")
            if report["races"]:
                break
        self.show(report)
        text = self.follow(report, report["races"][0])
        self.picture("race-" + mode)
        self.assertNotIn("undefined", text)
        return text

    def test_launched_from(self):
        self.assertRegex(self.show_stacks("launch"), r"launched from pass\(.*\) at \S*stacks\.cu:\d+\s+called by .*Refine")

    def test_call_of_the_api(self):
        self.assertRegex(self.show_stacks("copy"), r"other side: cudaMemcpyAsync at \S*stacks\.cu:\d+")

    def test_repair(self):
        """The edit that is proposed, line by line; and none where there is none."""
        report = self.golden("pairs")
        self.show(report)
        race = next(r for r in report["races"] if "repair" in r)
        self.assertIn("Fix: " + race["repair"]["what"] + " in " + race["repair"]["file"], self.follow(report, race))
        lines = self.browser.run("[...document.querySelectorAll('.diff span')].map(s => s.textContent)")
        self.assertEqual("".join(lines), race["repair"]["hunks"])
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.diff .new')].map(s => s.textContent.trim())"), ["+\t" + race["repair"]["what"].split()[1] + ";"])
        self.show(report)
        self.follow(report, next(r for r in report["races"] if "repair" not in r))
        self.assertEqual(self.browser.run("document.querySelectorAll('.diff').length"), 0)

    def test_rule_hides_the_race(self):
        """The line of the page hides that race, and the command repeats it."""
        report = self.show_run("two_occurrences", "--engine", "collider")
        self.assertGreater(len(report["races"]), 1)
        race = report["races"][0]
        text = self.follow(report, race)
        rule = re.search(r"^(sides:.*)$", text, re.MULTILINE)[1]
        with open(self.path("rules"), "w", encoding="utf-8") as file:
            file.write(rule + "\n")
        self.run_program("b.json", "two_occurrences", options=["--engine", "collider", "--suppressions", self.path("rules")])
        self.assertNotIn(race["id"], [r["id"] for r in self.load("b.json")["races"]])
        self.assertEqual(self.load("b.json")["suppressions"][0]["rule"], rule)

    def test_all_kinds(self):
        """Whatever a race has or lacks, its page says nothing that is none."""
        reports = [self.golden(name) for name in ("races", "pairs", "proved")]
        for options in (("--engine", "collider"), ("--engine", "collider+exact"), ("--engine", "collider", "--watchpoints", "no", "--attribute")):
            self.run_program("r.json", "two_occurrences", options=options)
            reports.append(self.load("r.json"))
        for report in reports:
            self.show(report)
            for race in report["races"] + report["misuses"]:
                text = self.follow(report, race)
                self.assertIn(race["class"], text)
                for bad in ("undefined", "[object", "NaN", "null"):
                    self.assertNotIn(bad, text.replace("undefined behaviour", ""))
                self.click("nav a[href='#']")

    def test_hostile_names(self):
        report = self.golden("pairs")
        for race in report["races"]:
            race["kernel"] = race["missing_order"] = race["sentence"] = HOSTILE
            for side in race["accesses"]:
                side["function"] = HOSTILE
        report["reproduce"] = HOSTILE
        self.show(report)
        self.assertEqual(len(self.rows()), 7)
        self.assertIn(HOSTILE[:40], self.follow(report, report["races"][0]))
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length + document.querySelectorAll('script').length"), 2)

    def test_merged(self):
        for seed in ("1", "2", "3"):
            self.run_program(f"{seed}.json", "two_occurrences", options=["--engine", "collider", "--seed", seed])
        gpurace("report", "--format", "json", "--output", self.path("m.json"), *[self.path(f"{s}.json") for s in "123"])
        report = self.load("m.json")
        self.show(report)
        self.assertIn("3 runs", self.text())
        text = self.follow(report, report["races"][0])
        self.assertIn("of 3 runs", text)
        self.assertIn("seeds 1", text)


if __name__ == "__main__":
    if not browser.find():
        print("there is no Chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
