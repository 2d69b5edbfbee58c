#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpu_rates.py and waits_model.py: what they count, and that docs/detection-gpu.md has what they derive. Needs no GPU and no built program."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import gpu_rates  # noqa: E402
import waits_model  # noqa: E402

PAGE = HERE.parents[2] / "docs/detection-gpu.md"

# A gpurace whose program hangs.
HANGS = """#!/usr/bin/env python3
import sys
told = dict(zip(sys.argv, sys.argv[1:]))
if "--timeout" in told:
    open(told["--output"], "w").write('{"races": [], "coverage": {"kernels": []}}')
    sys.exit("ended after " + told["--timeout"] + " s")
"""


def printed(function, *args):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        function(*args)
    return out.getvalue()


class Derived(unittest.TestCase):
    def test_the_page_has_it(self):
        self.assertIn(printed(gpu_rates.derive, None), PAGE.read_text(encoding="utf-8"), "run gpu_rates.py derive and put what it prints there")

    def test_every_race_of_the_table_exists(self):
        known = {(p.key, race) for p in gpu_rates.programs() for race in (0, *p.races)}
        self.assertEqual(set(gpu_rates.findable.load_closed(gpu_rates.RACE)) - known, set())

    def test_a_race_that_is_closed_or_not(self):
        programs = {p.key: p for p in gpu_rates.programs()}
        for key, race, plain, poisoned in (("scopes/its_exchange", 1, False, False), ("graph/visited_bits", 1, True, True),
                                           ("graph/bfs_bytes", 1, False, True), ("examples/warp_reduce_race", 16, True, True), ("scopes/atomic_plain_reset", 1, False, False)):
            self.assertEqual([gpu_rates.can_show(programs[key], race, poison) for poison in (False, True)], [plain, poisoned], key)


class Counted(unittest.TestCase):
    def table(self, rows, **options):
        with tempfile.TemporaryDirectory() as folder:
            raw = pathlib.Path(folder, "raw")
            raw.write_text("".join(json.dumps({"set": "x", "seed": 1, "false": [], "kinds": {}, **row}) + "\n" for row in rows), encoding="utf-8")
            defaults = {"raw_files": [raw], "by": "family", "poisons": True, "ends": False, "missed": None}
            return printed(gpu_rates.table, types.SimpleNamespace(**{**defaults, **options}))

    def test_shares(self):
        rows = [{"program": "graph/visited_bits", "twin": False, "runs": 5, "first": {"1": 2}, "kinds": {"1": ["CR", "LU"]}},
                {"program": "graph/visited_bits", "twin": False, "seed": 2, "runs": 5, "first": {"1": 5}, "kinds": {"1": ["LU"]}}]
        races = len(next(p for p in gpu_rates.programs() if p.key == "graph/visited_bits").races)
        line = next(text for text in self.table(rows).splitlines() if text.startswith("| x | graph"))
        share = lambda found: f"{100 * found / races:.1f} %"
        self.assertEqual(line, f"| x | graph | {races} | 0.0 % | {share(0.5)} | {share(1)} | {share(1)} | {share(1)} | 33.3 % | 66.7 % | 0.0 % |")

    def test_processes(self):
        """Race 1 in both, the others in none."""
        rows = [{"program": "graph/visited_bits", "twin": False, "seed": seed, "runs": 1, "first": {"1": 1}, "kinds": {"1": ["LU"]}} for seed in (1, 2)]
        races = len(next(p for p in gpu_rates.programs() if p.key == "graph/visited_bits").races)
        self.assertIn(f"| x | {races} | 0 | 1 | {races - 1} | {100 / races:.1f} % | 0.0 % | 100.0 % | 0.0 % |", self.table(rows, by="processes"))

    def test_run_of(self):
        ends = [(4, 0), (5, 0), (10, 1)]
        for launch, owners, expected in ((1, {0}, (0, 0)), (5, {0}, (1, 0)), (6, {1}, (2, 1)), (6, {0}, (1, 0)), (6, set(), (2, 1)), (6, {0, 1}, (2, 1)), (11, {1}, (None, None))):
            self.assertEqual(gpu_rates.run_of(launch, ends, owners.__contains__), expected)

    def test_a_program_that_hangs(self):
        """gpurace is told when to end it, and so has a report."""
        with tempfile.TemporaryDirectory() as folder:
            gpurace, program = pathlib.Path(folder, "gpurace"), pathlib.Path(folder, "program")
            gpurace.write_text(HANGS, encoding="utf-8")
            gpurace.chmod(0o755)
            commands = [gpu_rates.Command(next(p for p in gpu_rates.programs() if p.key == "graph/visited_bits"), False, 1)]
            options = types.SimpleNamespace(gpurace=str(gpurace), device="gpu", repeat="none", timeout=3.5)
            row, = gpu_rates.process(options, str(program), commands, "", 1, None)
        self.assertNotIn("error", row)
        self.assertIn("ended after 4 s", row["ended"])

    def test_ends(self):
        rows = [{"program": "graph/visited_bits", "twin": True, "runs": 3, "first": {}, "statuses": [0, 1, 0], "false": ["lost update at x"]},
                {"program": "graph/visited_bits", "twin": False, "runs": 1, "first": {}, "ended": "status 139: died"}]
        text = self.table(rows, ends=True)
        self.assertIn("x: 1 racy runs, 3 of twins; false reports: 1; processes that ended early: 1; twins that do not pass: 1", text)
        self.assertIn("status 139: died", text)

    def test_missed(self):
        self.assertIn("x: not in 2 runs: graph/visited_bits 1", self.table([{"program": "graph/visited_bits", "twin": False, "runs": 5, "first": {"1": 3}}], missed=2))


class Model(unittest.TestCase):
    def five(self, name):
        waits_model.random.seed(3)
        shares = [waits_model.in_five(waits_model.WAYS[name], race, 200) for race in waits_model.RACES.values()]
        return sum(shares) / len(shares)

    def test_the_waits_that_were_chosen(self):
        self.assertGreater(self.five(waits_model.CHOSEN), 0.8)
        self.assertLess(self.five(waits_model.PAPER), 0.5)


if __name__ == "__main__":
    unittest.main()
