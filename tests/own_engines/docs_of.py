# SPDX-License-Identifier: Apache-2.0
"""What a build with other engines writes of itself: the schema of its reports, and its page of classes."""
import json
import pathlib

try:
    import jsonschema
except ImportError:  # python3-jsonschema: the other checks still hold
    jsonschema = None


def check(folder, report, name):
    """The report is as that build's schema says, and the page lists the class."""
    schema = json.loads(pathlib.Path(folder, "report.schema.json").read_text())
    assert name in json.dumps(schema), name
    assert name in pathlib.Path(folder, "classes.md").read_text(), name
    if jsonschema:
        jsonschema.validate(report, schema)
