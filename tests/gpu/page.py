# SPDX-License-Identifier: Apache-2.0
"""The part of docs/gpu.md that `make test-gpu` writes."""
import datetime
import json

BEGIN, END = "<!-- test-gpu: begin (written by make test-gpu) -->", "<!-- test-gpu: end -->"
MACHINE = "machine"  # the result that says what the others ran on


def load(folder):
    """All results of a folder, by name. Raises OSError or ValueError."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def of_call(machine):
    """How all parts ran, where one call ran them and came to its end."""
    return f"; in one call of {machine['seconds']} s, `{machine['call']}`" if machine.get("call") and machine.get("seconds") else ""


def table(results, order):
    machine = results[MACHINE]
    lines = [f"{machine['gpus']}, {machine['toolkit']}, {machine['processors']} processors; gpurace {machine['version']}; {machine['date']}{of_call(machine)}:", "",
             "| what runs | what happened |", "|---|---|"]
    for name in order:
        result = results.get(name)
        if result is None:
            continue
        if result["skipped"]:
            lines.append(f"| {name} | not run: {cell(result['skipped'])} |")
        lines += [f"| {cell(title)} | {cell(says)} |" for title, says in result["rows"]]
        if result["problems"]:
            lines.append(f"| {name} | **{len(result['problems'])} failures**; the first: {cell(result['problems'][0])[:300]} |")
    return "\n".join(lines)


def replaced(text, block):
    """The page with another block between the two marks. Raises ValueError where they are not there, once each and in order."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in after:
        raise ValueError(f"the page needs these two lines, once and in this order: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{block}\n{END}{after}"


def today():
    return datetime.date.today().isoformat()


def update(path, folder):
    import parts

    try:
        results = load(folder)
        if MACHINE not in results:
            raise ValueError(f"no results in {folder}: no part has run there")
        text = path.read_text(encoding="utf-8")
        path.write_text(replaced(text, table(results, parts.PARTS)), encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"{path} is left as it is: {error}")
        return 1
    return 0
