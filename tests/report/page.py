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
        self.assertEqual(self.browser.problems, [])
        super().tearDown()

    def show(self, report, *options):
        self.save(report, "a.json")
        gpurace("report", "--format", "html", "--output", self.path("a.html"), *options, self.path("a.json"), status=None)
        self.browser.open(self.path("a.html"))

    def show_run(self, program, *options):
        self.run_program("a.json", program, options=options)
        report = self.load("a.json")
        self.show(report)
        return report

    def golden(self, name):
        with open(os.path.join(GOLDEN, name + ".json"), encoding="utf-8") as file:
            return json.load(file)

    def rows(self):
        """The ids of the rows that are shown, from top to bottom."""
        return self.browser.run("[...document.querySelectorAll('#races tbody tr')].filter(r => r.offsetHeight > 0).map(r => r.dataset.id)")

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
        ids = [r["id"] for r in report["races"] + report["misuses"]]
        self.assertEqual(self.rows(), ids)
        self.assertIn("6 races of 5 causes, 2 misuses of synchronization", self.text("header"))
        self.assertIn("8 rows", self.text())
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
        all_of = report["races"] + report["misuses"]
        self.click("input[data-class='read-write race']")
        self.assertEqual(self.rows(), [r["id"] for r in all_of if r["class"] != "read-write race"])
        self.assertIn("6 of 8 rows", self.text())
        self.click("input[data-class='read-write race']")
        self.assertEqual(len(self.rows()), 8)
        for words, wanted in (("sample.cu:9", lambda r: r.get("line", (r.get("accesses") or [r])[0]["line"]) == 9),
                              ("reduce SCOPE", lambda r: r["class"] == "insufficient scope"), ("no such", lambda r: False),
                              (all_of[3]["id"], lambda r: r is all_of[3])):
            self.browser.run(f"(() => {{ const w = document.querySelector('#words'); w.value = {json.dumps(words)}; w.dispatchEvent(new Event('input')); }})()")
            self.assertEqual(self.rows(), [r["id"] for r in all_of if wanted(r)], words)

    def test_sorting(self):
        report = self.golden("races")
        for k, race in enumerate(report["races"]):
            race["count"] = (7, 3, 30, 4)[k]
        self.show(report)
        races = report["races"]
        heads = self.browser.run("[...document.querySelectorAll('#races th')].map(h => h.innerText)")

        def press(head):
            self.click(f"#races th:nth-child({heads.index(head) + 1}) button")
            return self.rows()
        self.assertEqual(press("occurred"), [r["id"] for r in sorted(races, key=lambda r: -r["count"])])
        self.assertEqual(press("occurred"), [r["id"] for r in sorted(races, key=lambda r: r["count"])])
        self.assertEqual(self.browser.run("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"), "ascending")
        self.assertEqual(press("race"), [r["id"] for r in sorted(races, key=lambda r: r["class"])])
        self.assertEqual(press("place")[-1], next(r["id"] for r in races if r["accesses"][0]["line"] == 7))

    def test_baseline(self):
        report = self.golden("races")
        base = dict(report, races=report["races"][1:])
        self.save(base, "base.json")
        self.show(report, "--baseline", self.path("base.json"))
        self.assertIn("1 new, 3 known, 0 gone", self.text())
        self.click("#only-new")
        self.assertEqual(self.rows(), [report["races"][0]["id"]])

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


class Race(Page):
    def follow(self, race):
        self.click(f"a[href='#race-{race['id']}']")
        return self.text()

    def test_links(self):
        """Each row leads to its race, and from there to the next, the one before, and back; no link leads nowhere."""
        report = self.golden("pairs")
        self.show(report)
        ids = [r["id"] for r in report["races"] + report["misuses"]]
        self.click(f"a[href='#race-{ids[0]}']")
        for k, race in enumerate(ids):
            self.assertEqual(self.browser.run("location.hash"), "#race-" + race)
            self.assertIn(race, self.text())
            for link in self.browser.run("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))"):
                self.assertIn(link, {"#"} | {"#race-" + i for i in ids})
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
        text = self.follow(race)
        self.picture("race")
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
        text = self.follow(report["races"][0])
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
        self.assertIn(race["repair"]["what"] + " in " + race["repair"]["file"], self.follow(race))
        lines = self.browser.run("[...document.querySelectorAll('.diff span')].map(s => s.textContent)")
        self.assertEqual("".join(lines), race["repair"]["hunks"])
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.diff .new')].map(s => s.textContent.trim())"), ["+\t" + race["repair"]["what"].split()[1] + ";"])
        self.show(report)
        self.follow(next(r for r in report["races"] if "repair" not in r))
        self.assertEqual(self.browser.run("document.querySelectorAll('.diff').length"), 0)

    def test_rule_hides_the_race(self):
        """The line of the page hides that race, and the command repeats it."""
        report = self.show_run("two_occurrences", "--engine", "collider")
        self.assertGreater(len(report["races"]), 1)
        race = report["races"][0]
        text = self.follow(race)
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
                text = self.follow(race)
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
        self.assertEqual(len(self.rows()), 8)
        self.assertIn(HOSTILE[:40], self.follow(report["races"][0]))
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length + document.querySelectorAll('script').length"), 2)

    def test_merged(self):
        for seed in ("1", "2", "3"):
            self.run_program(f"{seed}.json", "two_occurrences", options=["--engine", "collider", "--seed", seed])
        gpurace("report", "--format", "json", "--output", self.path("m.json"), *[self.path(f"{s}.json") for s in "123"])
        report = self.load("m.json")
        self.show(report)
        self.assertIn("3 runs", self.text())
        text = self.follow(report["races"][0])
        self.assertIn("of 3 runs", text)
        self.assertIn("seeds 1", text)


if __name__ == "__main__":
    if not browser.find():
        print("there is no Chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
