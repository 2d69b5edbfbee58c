#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/run.py on one small kernel: test_bench.py RUN_PY BUILD

It measures, stores its figures, compares with them, names what got slower or larger, and writes its tables between the marks of a page. No time is held against anything
but figures that this test makes a thousand times as small or as large.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

run_py, build = sys.argv[1:]
COLUMNS = ["plain", "exact", "collider", "collider, GPU code", "run none", "run collider"]


def bench(tmp, *words):
    command = [sys.executable, run_py, build, tmp / "out.json", "--kernels", "hist", "--rounds", "1", "--threads", "", "--memory", "4,1", "--columns", ";".join(COLUMNS),
               "--figures", tmp / "figures.json", *words]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def scale(tmp, times, shadow):
    """The stored figures, so many times as large."""
    path = tmp / "figures.json"
    stored = json.loads(path.read_text())
    for figures in stored.values():
        figures["ms"] = {key: [ms * times, noise] for key, (ms, noise) in figures["ms"].items()}
        figures["shadow"] = {key: n * shadow for key, n in figures["shadow"].items()}
    path.write_text(json.dumps(stored))


with tempfile.TemporaryDirectory() as folder:
    tmp = pathlib.Path(folder)
    page = tmp / "page.md"
    page.write_text("before\n<!-- kernels: begin -->\nold\n<!-- kernels: end -->\nafter\n")
    out = bench(tmp, "--store", "--update-docs", page)
    assert "has no figures of" in out, out
    result = json.loads((tmp / "out.json").read_text())
    assert result["columns"] == COLUMNS, result["columns"]
    assert set(result["ratios"]) >= {"exact / plain", "collider / plain", "collider, a GPU's code / plain", "`gpurace run`: collider / none"}, result["ratios"].keys()
    assert 1 < result["exact_shadow"][0]["shadow"] < 1.2, result["exact_shadow"]  # bytes for each byte of 4-byte elements: the same in every run
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text and "| exact / plain |" in text and result["day"] in text, text
    scale(tmp, 1000, 10)
    out = bench(tmp)
    assert "nothing is slower" in out, out
    scale(tmp, 1e-6, 0.01)
    out = bench(tmp)
    for named in ("slower than on", "plain | hist: ", "run collider | hist: ", "shadow of touch4: "):
        assert named in out, (named, out)
print("PASS")
