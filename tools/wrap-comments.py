#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wraps comments that are wider than 120 columns: wrap-comments.py [--check] [FILE...]

Without files: all C files, headers and tables that git knows and does not ignore. A paragraph with a line
that is too wide is wrapped anew; lines that end early on purpose stay as they are. Items of lists go on below their
text. A wide comment behind code goes above the code. Tables with | or arrows, and code, stay as they are. Rulers are
cut.

--check changes nothing, names the lines that are too wide, and fails if there are any: comments of more than 120
columns, and in C files code of more than 110. What the tool cannot wrap has to be shortened by hand. Else it prints
which C files it has changed: clang-format aligns what stays behind code."""
import pathlib
import re
import subprocess
import sys

WIDTH, CODE, FULL = 120, 110, 100

PLAIN = re.compile(r"( *// )(\S.*)$")
ITEM = re.compile(r"( *// *(?:[-*]|\d+\.) +)(\S.*)$")
ROW = re.compile(r"( *// {2,}(?:\S(?: ?\S)* {2,})?)(\S.*)$")  # indented; perhaps with a first column
TABLE = re.compile(r"//.*(\||-->|[{}])")  # or code
NO_CONTINUATION = re.compile(r"[-*] |\d+\. |\||----")
LABEL = re.compile(r"[A-Za-z_.`]+:( |$)")
RULER = re.compile(r"( *// ---- .*? )-+$")
PART = re.compile(r" +(?=\S)(?!else\b)[\w *\[\]=]*[\w*=]$")  # a declaration that goes on in the next line


def split(line):
    """The code and the comment of a line; strings may hold slashes."""
    quote, k = "", 0
    while k < len(line):
        if quote:
            k += line[k] == "\\"
            quote = "" if line[k : k + 1] == quote else quote
        elif line[k] in "\"'":
            quote = line[k]
        elif line.startswith("//", k):
            return line[:k].rstrip(), line[k:]
        k += 1
    return line.rstrip(), ""


def fill(first, later, text):
    """The lines of a text, with what stands before the first and the later ones."""
    lines, line, empty = [], first, True
    for word in text.split(" "):
        if not empty and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line, empty = later, True
        line += word if empty else " " + word
        empty = False
    return lines + [line]


def sentence(comment):
    """A comment that stood behind code, as one that stands above it."""
    text = comment.removeprefix("//").strip()
    word = re.match(r"[a-z]+[ ,:]", text)
    return (text[0].upper() + text[1:] if word else text) + ("" if text[-1] in ".:" else ".")


def goes_on(before, text):
    """Whether a line with this text continues the line before it."""
    full = len(before) + 1 + len(text.split(" ")[0]) > FULL
    return full and not NO_CONTINUATION.match(text) and not (LABEL.match(text) and before[-1] in ".;:,)")


def block(lines, k):
    """Of the comment that begins at line k: what its first and its later lines begin with, its text, and where it ends.
    None: it is no text."""
    line = lines[k]
    item, row, plain = ITEM.match(line), ROW.match(line), PLAIN.match(line)
    if TABLE.search(line) and not plain:
        return None
    found = item or row or plain
    if not found:
        return None
    first, text = found.groups()
    margin = line[: line.index("//") + 2]
    later = first if found is plain else margin.ljust(len(first))
    if found is row and not first.strip().removeprefix("//"):  # no first column: the next line may be another row
        above = lines[k - 1] if k else ""
        nested = above.startswith(margin) and not above.startswith(first) and len(above) > len(margin)
        later = first if nested else first + "    "
    last = k + 1
    while last < len(lines) and lines[last].startswith(later) and lines[last][len(later) : len(later) + 1].strip():
        rest = lines[last][len(later) :]
        if not goes_on(lines[last - 1], rest) or TABLE.search(lines[last]) and found is not plain:
            break
        text += " " + rest
        last += 1
    return first, later, text, last


def wrapped(lines):
    out, k = [], 0
    while k < len(lines):
        line, last = lines[k], k + 1
        code, comment = split(line)
        found = block(lines, k) if comment and not code else None
        ruler = RULER.match(line)
        if ruler:
            out.append(line if len(line) <= WIDTH else ruler[1].ljust(WIDTH, "-"))
        elif found:
            first, later, text, last = found
            wide = any(len(each) > WIDTH for each in lines[k:last])
            out += fill(first, later, text) if wide else lines[k:last]
        elif comment and code and code[-1] in ";," and code.lstrip()[0] != "}" and out and PART.match(out[-1]):
            start = out.pop()  # the comment has cut the declaration in two
            joined = start + ("" if start[-1] in "*" or code.lstrip()[0] == "[" else " ") + code.lstrip()
            margin = re.match(" *", start)[0] + "// "
            out += fill(margin, margin, sentence(comment))
            out += [joined] if len(joined) <= CODE else [start, code]
        elif comment and code and len(line) > WIDTH and code.lstrip()[0] not in "})" and not code.endswith("\\"):
            margin = re.match(" *", line)[0] + "// "
            out += fill(margin, margin, sentence(comment)) + [code]
        else:
            out.append(line)
        k = last
    return out


def complaint(path, line):
    code, comment = split(line)
    if len(line) > WIDTH and comment and " " in comment.removeprefix("//").strip():
        return f"a comment of {len(line)} columns: make format wraps it, but for tables and code"
    if len(code.rstrip("\\ ")) > CODE and path.suffix in (".c", ".h") and '"' not in code:
        return f"code of {len(code)} columns"
    return None


def main():
    check = "--check" in sys.argv[1:]
    names = [word for word in sys.argv[1:] if word != "--check"]
    root = pathlib.Path(__file__).resolve().parent.parent
    if not names:
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.c", "*.h", "*.def"],
            capture_output=True, text=True, check=False)  # fails where this is not a git checkout: nothing is looked at
        names = [root / name for name in listed.stdout.split("\n") if name]
    wide = 0
    for path in (pathlib.Path(name) for name in names):
        before = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
        if check:
            for number, line in enumerate(before, 1):
                said = complaint(path, line)
                if said:
                    print(f"{path}:{number}: {said}")
                    wide += 1
        elif wrapped(before) != before:
            path.write_text("\n".join(wrapped(before)), encoding="utf-8")
            if path.suffix != ".def":
                print(path)
    return wide > 0


if __name__ == "__main__":
    sys.exit(main())
