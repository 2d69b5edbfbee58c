#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_cases.py TABLE HEADER: the array `cases` of meetings/meet.h for the kernels that TABLE, expected.tsv or others.tsv, judges.

The column launch has how a kernel is launched: `2,1`, the grid and the block; `own`: by a function of the program, run_KERNEL. A kernel NAME_N that the
source does not have by this name is the instance NAME<N> of a template."""
import csv
import re
import sys
from pathlib import Path


def case_of(row, source):
    """The line of the array for one row of the table."""
    name, launch = row["kernel"], row["launch"]
    if launch == "own":
        return f'    {{"{name}", run_{name}}},'
    kernel = name if re.search(rf"\b{name}\(", source) else re.sub(r"_(\d+)$", r"<\1>", name)
    grid, block = map(int, launch.split(","))
    return f'    {{"{name}", [](Memory *m) {{ {kernel}<<<{grid}, {block}>>>(m); }}}},'


def main():
    table, header = map(Path, sys.argv[1:3])
    source = (table.parent / "meetings" / f"{'pairs' if table.stem == 'expected' else table.stem}.cu").read_text(encoding="utf-8")
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    header.write_text("\n".join(["static const Case cases[] = {", *(case_of(row, source) for row in rows), "};", ""]), encoding="utf-8")


main()
