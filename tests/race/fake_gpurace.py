#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for gpurace in test_run_examples.py and test_corpus.py: reports what the file PROGRAM.answer (JSON) says, by seed;
of a twin what its member "twin" says, and of the Nth run with the same --coverage file what "Nth with file" says, if there."""
import json
import os
import sys

args = sys.argv[1:]
program = args[args.index("--") + 1]
seed = args[args.index("--seed") + 1]
with open(program + ".answer", encoding="utf-8") as file:
    answer = json.load(file)
if "fixed" in args:
    answer = answer.get("twin", {"races": []})
if "--coverage" in args:
    with open(args[args.index("--coverage") + 1], "a", encoding="utf-8") as file:
        file.write(".")
        answer = answer.get(f"{file.tell()} with file", answer)
answer = answer.get(seed, answer.get("default", answer))
if answer.get("random"):
    answer["coverage"] = {"noise": os.urandom(8).hex()}
if answer["races"] and isinstance(answer["races"][0], dict):  # records as they are
    races = answer["races"]
else:
    races = [{"class": c, "engine": "collider", "evidence": "value changed", "kernel": "k", "launch": 1, "space": "global",
              "count": 1, "accesses": [{"kind": "load", "file": f, "line": n}]} for f, n, c in answer["races"]]
if races is not answer["races"] and args[args.index("--engine") + 1] == "exact":  # [file, one line, the other]
    for race, (f, n, m) in zip(races, answer["races"]):
        race["missing_order"] = "no barrier between them"
        race["accesses"] = [{"kind": "load", "file": f, "line": k, "inlined_at": []} for k in (n, m)]
report = {"verdict": answer.get("verdict", "races" if races or answer.get("misuses") else "clean"), "coverage": answer.get("coverage", {}),
          "reasons": answer.get("reasons", []), "races": races, "misuses": answer.get("misuses", [])}
with open(args[args.index("--output") + 1], "w", encoding="utf-8") as out:
    json.dump(report, out)
print(answer.get("prints", "fake: PASS (0 wrong)"))
sys.exit(answer.get("status", 66 if races or answer.get("misuses") else 0))
