#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_schema.py SCHEMA REPORT... [--class NAME REPORT...]: validates reports; that the schema refuses what it should is checked too. Behind --class,
races of that class are valid as well."""
import copy
import json
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
words = iter(sys.argv[2:])
for path in words:
    if path == "--class":
        schema["$defs"]["race_class"]["enum"].append(next(words))
        continue
    validator = jsonschema.Draft202012Validator(schema)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    validator.validate(report)
    for spoil in (lambda r: r.pop("verdict"), lambda r: r.update(verdict="maybe"), lambda r: r.update(extra=1),
                  lambda r: r["races"].append({"class": "lost update"}), lambda r: r["coverage"].pop("launches")):
        broken = copy.deepcopy(report)
        spoil(broken)
        if validator.is_valid(broken):
            sys.exit(f"{path}: the schema accepts a broken report")
    print(f"{path}: valid")
