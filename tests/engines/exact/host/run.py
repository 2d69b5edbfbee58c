#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py GPURACE FOLDER: the programs of this folder under the engine exact."""
import json
import subprocess
import sys

# What the two sides of the race are, and whether the other one is a copy of the API's.
CASES = {
    "read_managed": ("host read", "store", "add"),
    "write_managed": ("host write", "load", "copy"),
    "read_variable": ("host read", "store", "add"),
    "read_mapped": ("host read", "store", "add"),
    "write_after_submission": ("host write", "load", "copy"),
    "copy_to_pinned": ("host read", "copy", None),
    "copy_from_pinned": ("host write", "copy", None),
    "sleep_and_read": ("host read", "store", "add"),
    "event": ("host read", "store", "add"),
    "system_call": ("host read", "store", "add"),
    "other_buffer": ("host read", "store", "add"),
    "mailbox": ("host read", "store", "produce"),
    "narrow_scope": ("host read", "atomic", "raise"),
}
gpurace, folder = sys.argv[1:3]
failures = 0


def fail(what, why, output=""):
    global failures
    failures += 1
    print(f"FAILED {what}: {why}\n{output}")


def run(args, seed, expect=(0, 66)):
    p = subprocess.run([gpurace, "run", "--engine", "exact", "--format", "json", "--seed", str(seed), "--", *args],
                       capture_output=True, text=True, timeout=120, check=False)
    if p.returncode not in expect:
        fail(args, f"exit status {p.returncode}", p.stdout + p.stderr)
    at = p.stderr.find("{\n")
    return p, json.loads(p.stderr[at:]) if at >= 0 else None


def check_case(name, sides, seed):
    host, other, kernel = sides
    p, report = run([f"{folder}/accesses", name, "race"], seed)
    if not report or report["verdict"] != "races" or p.returncode != 66:
        fail(name, "not found", p.stdout + p.stderr)
        return
    for race in report["races"]:
        kinds = [a["kind"] for a in race["accesses"]]
        if host not in kinds or other not in kinds or not (race["kernel"] or "").startswith(kernel or ""):
            fail(name, f"its sides are {kinds} of {race['kernel']}")
        side = race["accesses"][kinds.index(host)]
        if not side["file"] or not side["file"].endswith("accesses.cu") or name not in side["function"] or not side["line"]:
            fail(name, f"the host's side is at {side}")
        if "the host" not in race["missing_order"]:
            fail(name, race["missing_order"])
    p, report = run([f"{folder}/accesses", name, "fixed"], seed)
    if not report or report["verdict"] != "clean":
        fail(name + " fixed", "not clean", p.stdout + p.stderr)


for seed in (1, 2):
    for name, sides in CASES.items():
        check_case(name, sides, seed)
for seed in range(1, 6):
    p, report = run([f"{folder}/signals"], seed)
    if not report or report["verdict"] != "clean" or "PASS" not in p.stdout:
        fail("signals", "not clean", p.stdout + p.stderr)
p, report = run([f"{folder}/signals", "die"], 1, (0, 139, 1, 66, 128 + 11, -11))
if not report or not any("signal 11" in r for r in report["reasons"]):
    fail("signals die", "did not die of its own fault", p.stdout + p.stderr)
sys.exit(failures != 0)
