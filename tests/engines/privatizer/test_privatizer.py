#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The privatizer end to end on the CPU device: test_privatizer.py GPURACE FOLDER EXAMPLES. FOLDER has hard_kernels/ built, EXAMPLES the examples."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GPURACE, FOLDER, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

# Of each kernel of refused.cu: which levels are refused, and by which words.
REFUSED = {
    "by_address": "by its address",
    "allocates": "whose effects cannot be undone",
    "calls": "was not inlined",
    "result": "may order what",
    "takes_turns": "may order what",
    "wide": "that is not noted",
    "async": "asynchronous copies",
    "partial": "some threads of a block",
    "clustered": "cluster",
    "fetches": "not followed",
    "loops": "went round too often",
}

# Likewise of orders.cu: the words of each verdict's reason, by level.
PARTLY = {
    "clusters": {"threads": "cluster"},
    "locks": {"threads": "to its end, but until they may order", "blocks": "to its end, but until they may order"},
    "hands_over": {"threads": "to its end, but until they may order"},
    "of_block": {"threads": "to its end, but until they may order"},
    "last_block": {"blocks": "may order"},
    "counts": {"blocks": "may order"},
}


def run(program, *options, device="cpu", words=()):
    """(standard output, report)"""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "report")
        done = subprocess.run([GPURACE, "run", "--engine", "privatizer", "--device", device, *options, "--format", "json", "--output", out, "--", program, *words],
                              capture_output=True, text=True, timeout=120)
        return done.stdout, json.loads(out.read_text())


def notes(report):
    return [r for r in report["reasons"] + report["coverage"].get("besides", []) if r.startswith("engine privatizer")]


class Privatizer(unittest.TestCase):
    def test_race_free_kernels_are_clean(self):
        out, report = run(FOLDER / "regions")
        self.assertIn("PASS", out)
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []))

    def test_results_of_atomic_operations_and_strong_loads(self):
        """Without fences they order nothing, so kernels that use them are checked."""
        for seed in range(1, 6):
            out, report = run(FOLDER / "results", "--seed", str(seed), "--schedule", "random")
            self.assertEqual((out, report["verdict"], report["reasons"]), ("PASS\n", "clean", []))
        source = (pathlib.Path(__file__).parent / "hard_kernels/results.cu").read_text(encoding="utf-8").splitlines()
        lines = {k for k, text in enumerate(source, 1) if text.endswith("// RACE")}
        for seed in range(1, 6):
            report = run(FOLDER / "results", "--seed", str(seed), "--schedule", "random", words=["racy"])[1]
            self.assertEqual({min({a["line"] for a in r["accesses"]} & lines, default=0) for r in report["races"]}, lines, seed)

    def lines_found(self, program, word, seeds):
        """Of each seed: one of the lines with RACE for each report, and the lines that are due."""
        source = (pathlib.Path(__file__).parent / f"hard_kernels/{program}.cu").read_text(encoding="utf-8").splitlines()
        lines = {k for k, text in enumerate(source, 1) if text.rstrip().endswith("// RACE")}
        for seed in seeds:
            report = run(FOLDER / program, "--seed", str(seed), "--schedule", "random", words=[word])[1]
            places = [{f["line"] for a in r["accesses"] for f in a["frames"]} for r in report["races"]]
            yield seed, [min(p & lines, default=0) for p in places], lines, notes(report)

    def test_matrices_and_asynchronous_copies(self):
        for options in ([], ["--units", "warps"], ["--seed", "2", "--schedule", "random"]):
            out, report = run(FOLDER / "pieces", *options)
            self.assertEqual((out, report["verdict"], report["reasons"]), ("PASS\n", "clean", []))
        for mode in ("race-free", "deterministic"):
            self.assertEqual(run(FOLDER / "pieces", "--privatize", mode)[0], "PASS\n")
        for seed, found, lines, said in self.lines_found("pieces", "racy", range(1, 4)):
            self.assertEqual((sorted(found), said), (sorted(lines), []), seed)

    def test_what_is_ordered_by_more_than_barriers(self):
        """Nothing is reported that strong accesses and fences may order; what is in front of it is checked, and what they do not order."""
        for seed in range(1, 4):
            out, report = run(FOLDER / "orders", "--seed", str(seed), "--schedule", "random")
            self.assertEqual((out, report["races"]), ("once\nPASS\n", []), seed)
            said = {}
            for note in notes(report):
                kernel, level = re.search(r"kernel (\w+)\(.* between (\w+)", note).groups()
                said.setdefault(kernel, {})[level] = note
            self.assertEqual({k: set(v) for k, v in said.items()}, {k: set(v) for k, v in PARTLY.items()})
            for kernel, levels in PARTLY.items():
                self.assertTrue(all(words in said[kernel][level] for level, words in levels.items()), said[kernel])
        due = set()
        for word, races, refused in (("racy", 3, {"two_clusters"}), ("partly", 4, {"then_locks", "then_last"})):
            for seed, found, lines, said in self.lines_found("orders", word, range(1, 3)):
                self.assertEqual((0 in found, len(found)), (False, races), seed)
                self.assertEqual({re.search(r"kernel (\w+)", note)[1] for note in said}, refused, seed)
                due |= set(found)
        self.assertEqual(due, lines)

    def test_from_barrier_to_barrier_of_the_grid(self):
        """What blocks do in each region is compared. They go on with what all have done, and so do threads where blocks do not take turns at atomic operations."""
        for options, units in ([], "threads"), (["--copies", "2"], "threads"), (["--units", "warps"], "warps"):
            out, report = run(FOLDER / "meetings", "--seed", "2", "--schedule", "random", *options)
            said, = notes(report)
            self.assertEqual((out, report["races"]), ("PASS\n", []), options)
            self.assertIn(f"kernel adds(int*) was not checked between {units} to its end", said)
        for seed, found, lines, said in self.lines_found("meetings", "racy", range(1, 3)):
            self.assertEqual((sorted(found), said), (sorted(lines), []), seed)
        (one,), (other,) = (run(FOLDER / "meetings", "--kernel", "too_early", "--seed", seed, words=["racy"])[1]["races"] for seed in "12")
        self.assertEqual({k: one["differs"][k] for k in ("units", "copies", "regions")}, {"units": "blocks", "copies": 4, "regions": [2]})
        self.assertRegex(one["outcome"], r"^\d+ bytes came out otherwise behind barrier 2 of the grid, in 4 private copies$")
        self.assertEqual(one["outcome"], other["outcome"])  # the bytes of all blocks

    def test_lanes_from_barrier_to_barrier_of_their_warp(self):
        for options in ([], ["--copies", "2"], ["--units", "warps"]):
            out, report = run(FOLDER / "lanes", "--seed", "2", "--schedule", "random", *options)
            self.assertEqual((out, report["verdict"], report["reasons"]), ("PASS\n", "clean", []), options)
        for seed, found, lines, said in self.lines_found("lanes", "racy", range(1, 3)):
            self.assertEqual((sorted(found), said), (sorted(lines), []), seed)

    def test_threads_that_arrive_and_wait_at_mbarriers(self):
        for options in ([], ["--copies", "2"], ["--units", "warps"]):
            out, report = run(FOLDER / "mbarriers", "--seed", "2", "--schedule", "random", *options)
            self.assertEqual((out, report["verdict"], report["reasons"]), ("PASS\n", "clean", []), options)
        for seed, found, lines, said in self.lines_found("mbarriers", "racy", (1,)):
            note, = said
            self.assertEqual(sorted(found), sorted(lines), seed)
            self.assertIn("kernel waits(int*, int*) was not checked between threads to its end, but until one waits", note)

    def test_what_is_pretended_does_not_stand_for_the_launch(self):
        """Where private copies are the launch's own, kernels that print or read a clock run as they are."""
        for mode in ("race-free", "deterministic"):
            out, report = run(FOLDER / "orders", "--privatize", mode)
            self.assertEqual(out, "once\nPASS\n", mode)
            self.assertTrue([n for n in notes(report) if "speaks" in n and "prints" in n])

    def test_code_for_warps_does_what_the_kernels_do(self):
        """In both modes the program's results are those of the private copies."""
        for mode in ("race-free", "deterministic"):
            out, report = run(FOLDER / "regions", "--privatize", mode)
            self.assertIn("PASS", out)
            self.assertEqual(notes(report), ["engine privatizer: nothing was checked, because of --privatize"], mode)

    def test_few_copies_find_the_same(self):
        """Reshuffling: with M copies in rounds, the races of --copies 0 are found, and nothing else."""
        races = lambda *options: {(r["class"], *sorted(a["line"] for a in r["accesses"])) for r in run(EXAMPLES / "reduction_race", *options)[1]["races"]}
        every = races()
        self.assertTrue(every)
        for copies in (2, 3, 7, 64):
            self.assertEqual(races("--copies", str(copies)), every, copies)
        self.assertEqual(run(FOLDER / "regions", "--copies", "2")[1]["verdict"], "clean")

    def test_warps_as_units(self):
        """Between warps the same races are found; those of lanes only in one store."""
        lines = lambda *words, **more: {a["line"] for r in run(*words, "--units", "warps", **more)[1]["races"] for a in r["accesses"]}
        self.assertEqual(lines(EXAMPLES / "reduction_race"), {17})
        self.assertEqual(lines(FOLDER / "late", words=["40", "1"]), {13})
        self.assertEqual(run(FOLDER / "regions", "--units", "warps")[1]["verdict"], "clean")
        self.assertEqual(run(FOLDER / "results", "--units", "warps")[1]["verdict"], "clean")

    def test_rounds_are_those_of_the_paper(self):
        """Table I: 960 units with M copies take ceil(log_M 960) rounds, which find any pair; memory grows as M and two more."""
        bytes_of_a_copy = set()
        for copies, rounds in ((2, 10), (4, 5), (6, 4), (10, 3), (31, 2)):
            for pair in ((0, 1), (0, 959), (479, 480), (17, 18), (123, 777)):
                report = run(FOLDER / "pair", "--copies", str(copies), words=map(str, pair))[1]
                self.assertEqual([r["class"] for r in report["races"]], ["write-write race"], (copies, pair))
                self.assertEqual(sorted(a["block"][0] for a in report["races"][0]["accesses"]), sorted(pair))
                kib, took = re.search(r"at most (\d+) KiB, and (\d+) rounds", " ".join(report["coverage"]["remarks"])).groups()
                self.assertEqual(int(took), rounds, copies)
            bytes_of_a_copy.add(round(int(kib) / (copies + 3)))
        self.assertLessEqual(max(bytes_of_a_copy) - min(bytes_of_a_copy), 1, bytes_of_a_copy)

    def test_blocks_that_take_turns_at_copies(self):
        """More blocks than have copies at a time, with even and odd numbers of regions: the race of each is found, and there is no other."""
        for block in (0, 1, 7, 8, 9, 16, 31, 40, 62, 63):
            for region in range(2 if block % 2 else 3):
                report = run(FOLDER / "late", words=[str(block), str(region)])[1]
                self.assertEqual({a["block"][0] for r in report["races"] for a in r["accesses"]}, {block}, (block, region))
                self.assertEqual({a["line"] for r in report["races"] if r["class"] == "write-write race" for a in r["accesses"]}, {13} if region else {10, 13}, (block, region))
                self.assertEqual(notes(report), [], (block, region))
        self.assertEqual(run(FOLDER / "late", words=["99", "0"])[1]["verdict"], "clean")

    def test_a_race_behind_a_reset_of_the_device_is_found(self):
        out, report = run(FOLDER / "reset")
        self.assertEqual((out, notes(report)), ("PASS\n", []))
        self.assertEqual({(r["class"], a["line"]) for r in report["races"] for a in r["accesses"]}, {("read-write race", 6)})

    def test_a_racy_program_is_made_deterministic(self):
        for program in ("reduction_race", "scan_race", "histogram_race"):
            seeds = [["--seed", str(seed), "--shuffle-blocks"] for seed in range(1, 9)]
            plain = {run(EXAMPLES / program, *words)[0] for words in seeds}
            made = {run(EXAMPLES / program, "--privatize", "deterministic", *words)[0] for words in seeds}
            self.assertGreater(len(plain), 1, program)
            self.assertEqual(len(made), 1, program)

    def test_what_is_refused_is_named_and_runs_as_it_would(self):
        out, report = run(FOLDER / "refused")
        self.assertEqual(out.splitlines(), ["PASS"])
        self.assertEqual((report["verdict"], report["races"]), ("inconclusive", []))
        said = {}
        for note in notes(report):
            kernel = re.search(r"kernel (\w+)\(", note)[1]
            said.setdefault(kernel, []).append(note)
        self.assertEqual(set(said), set(REFUSED), notes(report))
        for kernel, words in REFUSED.items():
            self.assertTrue(all(words in note for note in said[kernel]), said[kernel])

    def test_a_race_names_both_sides_what_is_missing_and_the_outcome(self):
        race, = run(EXAMPLES / "reduction_race")[1]["races"]
        self.assertEqual((race["class"], race["evidence"]), ("read-write race", "outcome depends on order"))
        self.assertIn("__syncthreads()", race["missing_order"])
        self.assertRegex(race["outcome"], r"^\d+ bytes came out otherwise behind barrier 1 of the kernel, in \d+ private copies$")
        sides = sorted((a["kind"], a["line"]) for a in race["accesses"])
        self.assertEqual(sides, [("load", 17), ("store", 17)])
        self.assertTrue(all(a["thread"] and a["block"] for a in race["accesses"]))

    def test_a_report_has_the_outcome_in_numbers(self):
        """Regions, private copies and bytes, as table VI of the paper has them; `gpurace report` keeps them."""
        # 64 threads store 1 to 64 to one word, so one byte changes
        race, = run(FOLDER / "room")[1]["races"]
        self.assertEqual(race["differs"], {"units": "threads", "copies": 64, "bytes": 1, "regions": [1], "round": 1})
        race, = run(FOLDER / "pair", "--copies", "2", words=["17", "18"])[1]["races"]
        self.assertEqual((race["differs"]["units"], race["differs"]["bytes"], race["differs"]["regions"]), ("blocks", 1, [0]))
        # blocks 16 to 19, 18 and 19 and so on are one group; 17 and 18 part in round 9 of 10
        self.assertEqual(race["differs"]["round"], 9)
        with tempfile.TemporaryDirectory() as folder:
            report = run(EXAMPLES / "reduction_race")[1]
            before, after = pathlib.Path(folder, "before.json"), pathlib.Path(folder, "after.json")
            before.write_text(json.dumps(report))
            subprocess.run([GPURACE, "report", "--format", "json", "--output", after, before], check=True, capture_output=True)
            self.assertEqual([r["differs"] for r in json.loads(after.read_text())["races"]], [r["differs"] for r in report["races"]])
            root = pathlib.Path(__file__).resolve().parents[3]
            checked = subprocess.run([sys.executable, root / "tests/report/check_schema.py", root / "docs/report.schema.json", before, after], capture_output=True, text=True)
            self.assertIn(checked.returncode, (0, 77), checked.stdout)  # 77: python3-jsonschema is missing

    def test_a_run_that_looks_for_accesses_gets_more_room(self):
        """In which atomic operations come in another order, so that it writes more."""
        for seed in range(1, 9):
            report = run(FOLDER / "room", "--seed", str(seed), "--schedule", "random")[1]
            self.assertEqual(([r["class"] for r in report["races"]], notes(report)), (["write-write race"], []), seed)

    def test_stop_ends_the_program_with_an_error(self):
        out, report = run(EXAMPLES / "reduction_race", "--stop")
        self.assertEqual(report["verdict"], "races")
        self.assertNotIn("PASS", out)

    def test_options_name_kernels_files_and_variables(self):
        """What is named is checked, and of the rest no race is told: not even of neighbours in shared memory."""
        source = (pathlib.Path(__file__).parent / "hard_kernels/variables.cu").read_text(encoding="utf-8").splitlines()
        lines = {k for k, text in enumerate(source, 1) if "// RACE" in text}
        of = {name: {k for k, text in enumerate(source, 1) if text.endswith(f"// RACE {name}")} for name in ("first", "second", "total")}
        another = {max(lines)}
        for words, expected in (([], lines), (["--kernel", "four"], lines - another), (["--not-kernel", "four"], another), (["--file", "variables.cu"], lines), (["--file", "other.cu"], set()),
                                (["--variable", "first"], of["first"]), (["--variable", "^four.*::second$"], of["second"]), (["--variable", "^total$"], of["total"]),
                                (["--variable", "first|total"], of["first"] | of["total"]), (["--variable", "nothing"], set())):
            found = {a["line"] for r in run(FOLDER / "variables", *words)[1]["races"] for a in r["accesses"]}
            self.assertEqual(found, expected, words)

    def test_launches_whose_accesses_cannot_meet_need_no_private_run(self):
        """By the text alone they are clean; with --prove no, too, and then they are run. Kernels that look alike and race are found either way."""
        source = (pathlib.Path(__file__).parent / "hard_kernels/places.cu").read_text(encoding="utf-8").splitlines()
        lines = {k for k, text in enumerate(source, 1) if text.endswith("// RACE")}
        for proves in ("yes", "no"):
            out, report = run(FOLDER / "places", "--prove", proves, words=["clean"])
            remarks = " ".join(report["coverage"].get("remarks", []))
            self.assertEqual((out, report["verdict"], report["reasons"]), ("cudaSuccess\n", "clean", []))
            self.assertEqual(("9 launches, or their blocks or threads, needed no private copies" in remarks, "rounds of two passes" in remarks), (proves == "yes", proves == "no"), remarks)
            report = run(FOLDER / "places", "--prove", proves, words=["racy"])[1]
            found = [{a["line"] for a in r["accesses"]} for r in report["races"]]
            self.assertEqual({min(sides & lines, default=0) for sides in found}, lines, proves)
            self.assertEqual(report["reasons"], [])

    def test_loads_of_memory_that_is_only_read(self):
        """They go there at once, if nothing writes there and the address is in there."""
        source = (pathlib.Path(__file__).parent / "hard_kernels/only_read.cu").read_text(encoding="utf-8").splitlines()
        for proves in ("yes", "no"):
            for word, line in (("other", 0), ("same", 1), ("wide", 1), ("wild", 0)):
                out, report = run(FOLDER / "only_read", "--prove", proves, words=[word])
                lines = {k for k, text in enumerate(source, 1) if text.endswith(f'// RACE of "{word}"')}
                self.assertEqual((out, len(lines), len(report["races"])), ("cudaSuccess\n", line, line), (word, proves))
                self.assertTrue(all({a["line"] for a in race["accesses"]} & lines for race in report["races"]), (word, proves))
                said = ["it accesses memory that has no private copy" in r for r in report["reasons"]]
                self.assertEqual((bool(said), all(said)), (word == "wild", True), (word, proves, report["reasons"]))

    def test_stores_to_memory_that_is_only_written(self):
        """They are left out where no two units come to the same bytes, and what they would store tells of races elsewhere all the same."""
        source = (pathlib.Path(__file__).parent / "hard_kernels/only_written.cu").read_text(encoding="utf-8").splitlines()
        for word in ("read", "twice", "alias", "clean"):
            lines = {k for k, text in enumerate(source, 1) if text.endswith(f'// RACE of "{word}"')}
            for proves in ("yes", "no"):
                out, report = run(FOLDER / "only_written", "--prove", proves, words=[word])
                self.assertEqual((out, report["reasons"]), ("cudaSuccess PASS\n", []), (word, proves))
                self.assertEqual(bool(report["races"]), word != "clean", (word, proves))
                self.assertTrue(all({a["line"] for a in race["accesses"]} & lines for race in report["races"]), (word, proves))
                if word == "read":  # no copy has what was stored
                    self.assertEqual(any(race["differs"].get("bytes") for race in report["races"]), proves == "no")
        out, report = run(FOLDER / "only_written", "--privatize", "deterministic", words=["clean"])
        self.assertEqual(out, "cudaSuccess PASS\n")

    def test_what_shared_memory_needs_is_in_shared_memory(self):
        """Where that does not do, the launch is run again without. The program is not told that it had more."""
        for units in ("threads", "warps"):
            out, report = run(FOLDER / "near", "--prove", "no", "--units", units, words=["clean"])
            self.assertEqual((out, report["verdict"], report["reasons"]), ("cudaSuccess PASS\n", "clean", []), units)
        out, report = run(FOLDER / "near", "--prove", "no", words=["racy"])
        self.assertEqual((out, report["reasons"]), ("cudaSuccess PASS\n", []))
        self.assertEqual({r["kernel"].split("(")[0] for r in report["races"]}, {"bytes", "turns", "wide"})

    def test_units_have_copies_of_all_that_may_be_written(self):
        """Warps of the whole grid, and blocks; where a launch goes elsewhere it is run again without. Of one warp nothing is compared."""
        source = (pathlib.Path(__file__).parent / "hard_kernels/windows.cu").read_text(encoding="utf-8").splitlines()
        for units, words in (("warps", "clean blocks warps lanes alone reads elsewhere far"), ("threads", "clean alone elsewhere far")):
            for word in words.split():
                lines = {k for k, text in enumerate(source, 1) if "// RACE of " in text and f'"{word}"' in text}
                out, report = run(FOLDER / "windows", "--units", units, words=[word])
                self.assertEqual((out, report["reasons"]), ("cudaSuccess PASS\n", []), (units, word))
                self.assertEqual(bool(report["races"]), bool(lines) and (units, word) != ("warps", "alone"), (units, word))
                self.assertTrue(all({a["line"] for a in race["accesses"]} <= lines for race in report["races"]), (units, word))
                if (units, word) == ("warps", "blocks"):  # two warps of the grid, and no level of blocks
                    self.assertEqual({(r["differs"]["units"], r["differs"]["copies"]) for r in report["races"]}, {("warps", 2)})
                    took = re.search(r"and (\d+) rounds", " ".join(" ".join(report["coverage"]["remarks"]).split()))
                    self.assertEqual(int(took[1]), 3)

    def test_loads_by_one_register_are_looked_at_once(self):
        """Where all of them lead to where they may, the launch is run once; else again, by code that has other ways."""
        for word, rounds in (("clean", 1), ("elsewhere", 2), ("racy", None)):
            for units in ("threads", "warps"):
                out, report = run(FOLDER / "bases", "--units", units, words=[word])
                self.assertEqual((out, report["reasons"], bool(report["races"])), ("cudaSuccess PASS\n", [], word == "racy"), (word, units))
                took = re.search(r"and (\d+) rounds", " ".join(" ".join(report["coverage"]["remarks"]).split()))
                self.assertTrue(rounds is None or int(took[1]) == rounds, (word, units, took[1]))

    def test_kernels_of_very_many_accesses_are_brief(self):
        """Their accesses are calls, so that the driver compiles them in time; what is found is the same."""
        source = (pathlib.Path(__file__).parent / "hard_kernels/many.cu").read_text(encoding="utf-8").splitlines()
        for units in ("threads", "warps"):
            for word in ("clean", "shared", "blocks", "lanes", "counted"):
                lines = {k for k, text in enumerate(source, 1) if f'// RACE of "{word}"' in text}
                out, report = run(FOLDER / "many", "--units", units, words=[word])
                self.assertEqual((out, report["reasons"], bool(report["races"])), ("cudaSuccess PASS\n", [], bool(lines)), (units, word))
                self.assertTrue(all({a["line"] for a in race["accesses"]} <= lines for race in report["races"]), (units, word, report["races"]))
        said = subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", "privatizer", "--verbose", "--output", "/dev/null", "--", FOLDER / "many"],
                              capture_output=True, text=True, check=True).stderr
        accesses, had, made = map(int, re.search(r"(\d+) memory accesses, (\d+) bytes of PTX rewritten to (\d+)", said).groups())
        self.assertGreater(accesses, 5 * 144)
        self.assertLess(made, 2500 * accesses)  # 11 000 without

    def test_an_index_that_never_was_stays_within_its_array(self):
        source = (pathlib.Path(__file__).parent / "hard_kernels/inside.cu").read_text(encoding="utf-8").splitlines()
        lines = {k for k, text in enumerate(source, 1) if text.endswith("// RACE")}
        for options in ((), ("--units", "warps"), ("--prove", "no")):
            out, report = run(FOLDER / "inside", *options)
            self.assertEqual((out, report["reasons"]), ("cudaSuccess\n", []), options)
            self.assertEqual({r["kernel"].split("(")[0] for r in report["races"]}, {"of_block", "of_thread", "of_two", "of_constants", "of_copy", "of_matrix"}, options)
            self.assertTrue(all({a["line"] for a in race["accesses"]} <= lines for race in report["races"]), (options, report["races"]))

    def test_a_run_behind_one_that_was_cut_short_finds_no_rows_of_it(self):
        """Lanes as units leave their rows in the tables; warps as units, whose rows have another size, come next."""
        source = (pathlib.Path(__file__).parent / "hard_kernels/cut_short.cu").read_text(encoding="utf-8").splitlines()
        lines = {k for k, text in enumerate(source, 1) if text.endswith("// RACE")}
        for options in ((), ("--prove", "no"), ("--copies", "2")):
            out, report = run(FOLDER / "cut_short", *options)
            self.assertEqual(out, "cudaSuccess, 0 wrong\n", options)
            self.assertEqual([{a["line"] for a in race["accesses"]} for race in report["races"]], [lines], options)
            self.assertEqual(len(report["reasons"]), 1, options)
            self.assertIn("not checked between threads: its threads did not all come to the end of a region", report["reasons"][0])

    def test_what_registers_hold_goes_on_from_region_to_region(self):
        """In registers of all sizes; what a thread holds in one of them alone is compared."""
        for options in ((), ("--units", "warps"), ("--prove", "no"), ("--copies", "2"), ("--privatize", "race-free"), ("--privatize", "deterministic")):
            out, report = run(FOLDER / "registers", *options)
            self.assertEqual(out, "PASS\n", options)
            if "--privatize" in options:
                self.assertEqual(report["races"], [], options)
                continue
            kernels = sorted(n.split("(")[0] for race in report["races"] for n in race.get("kernels", {"names": [race["kernel"]]})["names"])
            self.assertEqual(kernels, ["decides", *(f"void keeps<{of}>" for of in ("double", "float", "int", "long long", "short"))], options)
            self.assertEqual(({r["class"] for r in report["races"]}, report["reasons"]), ({"read-write race"}, []), options)

    def test_functions_that_were_not_inlined(self):
        """They are put into code for private copies: with parameters and results of all kinds, barriers, and variables of the block and of the thread."""
        source = (pathlib.Path(__file__).parent / "hard_kernels/functions.cu").read_text(encoding="utf-8").splitlines()
        for program in ("functions", "functions_debug"):
            for options in ((), ("--units", "warps"), ("--prove", "no"), ("--copies", "2"), ("--seed", "3", "--schedule", "random")):
                out, report = run(FOLDER / program, *options)
                self.assertEqual((out, report["verdict"], notes(report)), ("PASS\n", "clean", []), (program, options))
            for mode in ("race-free", "deterministic"):
                self.assertEqual(run(FOLDER / program, "--privatize", mode)[0], "PASS\n", (program, mode))
            for word in ("puts", "reads", "counts", "twice"):
                report = run(FOLDER / program, words=[word])[1]
                lines = {k for k, text in enumerate(source, 1) if text.rstrip().endswith(f"// RACE {word}")}
                self.assertEqual((report["verdict"], notes(report)), ("races", []), (program, word))
                for race in report["races"]:
                    found = {f["line"] for a in race["accesses"] for f in a["frames"]}
                    self.assertTrue(found & lines, (program, word, found))
            refused = notes(run(FOLDER / program, words=["calls_itself"])[1])
            self.assertTrue(refused and all("was not inlined" in n for n in refused), (program, refused))

    def test_what_launches_find_again_is_counted(self):
        """It is looked for in the launches 1, 2, 4 and 8 only."""
        one, nine = (run(FOLDER / "only_read", words=["same", n])[1]["races"] for n in "19")
        self.assertEqual([r["id"] for r in one], [r["id"] for r in nine])
        self.assertGreaterEqual(nine[0]["count"], 4 * one[0]["count"] + 5)
        self.assertLess(nine[0]["count"], 9 * one[0]["count"])

    def test_launches_in_new_memory_are_not_searched_for_ever(self):
        """16 of them are, and then those of others that are 1, 2, 4, 8 and 16 of these: the program has 40."""
        one, forty = (run(FOLDER / "only_read", words=["fresh", n])[1]["races"] for n in ("1", "40"))
        self.assertEqual([r["id"] for r in one], [r["id"] for r in forty])
        self.assertGreaterEqual(forty[0]["count"], 21 * one[0]["count"] + 19)
        self.assertLess(forty[0]["count"], 38 * one[0]["count"])

    def test_options_leave_out_kernels_files_and_same_values(self):
        for words in (["--not-kernel", "block_sum"], ["--not-file", "reduction_race"], ["--file", "nothing"]):
            self.assertEqual(run(EXAMPLES / "reduction_race", *words)[1]["races"], [], words)
        self.assertEqual({r["class"] for r in run(EXAMPLES / "histogram_race", "--same-value", "no")[1]["races"]} & {"same-value write"}, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
