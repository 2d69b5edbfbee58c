# SPDX-License-Identifier: Apache-2.0
"""c_calls.py: what the C files of a folder define, and which functions each definition names, read from the text: no build is needed. A small
preprocessor expands macros, so rows of X-macro tables (.def files), pasted names and calls inside macros count. A function that a body or an
initialiser names is used, called or not: a table of functions uses all that stand in it. A name after `.` or `->` is a member."""
import collections
import os
import re

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
TOKEN = re.compile(r"[A-Za-z_]\w*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\.?\d[\w.]*|##|\.\.\.|->|\S")
DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)", re.S)
NAME = re.compile(r"[A-Za-z_]\w*$")
# Words before parentheses that declare no function.
NO_FUNCTION = {"__attribute__", "_Alignas", "alignas", "__asm__", "asm", "_Static_assert", "typeof", "__typeof__", "_Atomic"}
QUALIFIERS = {"const", "volatile", "restrict", "_Atomic"}
TYPES = {"struct", "union", "enum"}
# What stands before a name that is no function's: of a member, of a type.
NO_USE = {".", "->"} | TYPES

# params: None for a macro without parentheses.
Macro = collections.namedtuple("Macro", "params variadic body")
# uses: {name: the first line}, of a function or of a variable's initialiser.
Definition = collections.namedtuple("Definition", "name file line is_static is_function uses")
# What is in a file: the macros that it leaves defined, the files that it includes, its definitions, the functions that it declares.
Contents = collections.namedtuple("Contents", "macros includes definitions declared")


def logical_lines(text):
    """[(line number, text)] without comments, continued lines joined."""
    def blank(match):
        return match[0] if match[0][0] in "\"'" else " " + "\n" * match[0].count("\n")
    out, number, lines = [], 0, COMMENT.sub(blank, text).split("\n")
    while number < len(lines):
        first, line = number, lines[number]
        while line.endswith("\\") and number + 1 < len(lines):
            number += 1
            line = line[:-1] + " " + lines[number]
        out.append((first + 1, line))
        number += 1
    return out


def tree_of(lines, at=0):
    """(items, index behind them). An item is (line number, directive or None, text), or a list of the branches of an #if: (directive, text, items)."""
    items = []
    while at < len(lines):
        number, line = lines[at]
        found = DIRECTIVE.match(line) if "#" in line else None
        if not found:
            items.append((number, None, line))
        elif found[1] in ("if", "ifdef", "ifndef"):
            branches = []
            while found and found[1] != "endif":
                inner, at = tree_of(lines, at + 1)
                branches.append((found[1], found[2], inner))
                found = DIRECTIVE.match(lines[at][1]) if at < len(lines) else None
            items.append(branches)
        elif found[1] in ("else", "elif", "endif"):
            return items, at
        else:
            items.append((number, found[1], found[2]))
        at += 1
    return items, at


def balance(items):
    """How many more braces a branch opens than it closes."""
    texts = [item[2] for item in items if isinstance(item, tuple) and item[1] is None]
    return sum(text.count("{") - text.count("}") for text in texts)


def parse_macro(rest):
    found = re.match(r"(\w+)(\([^)]*\))?(.*)", rest, re.S)
    params = None if found[2] is None else [p.strip() for p in found[2][1:-1].split(",") if p.strip()]
    variadic = bool(params) and params[-1].endswith("...")
    if variadic:
        params[-1] = params[-1][:-3].strip() or "__VA_ARGS__"
    return found[1], Macro(params, variadic, TOKEN.findall(found[3]))


def arguments(tokens, at):
    """(the arguments of a macro whose parenthesis is at `at`, the index behind them), (None, at) if it is not closed."""
    depth, args = 0, [[]]
    for i in range(at, len(tokens)):
        token = tokens[i]
        depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
        if depth == 0:
            return args, i + 1
        if token == "," and depth == 1:
            args.append([])
        elif i > at:
            args[-1].append(token)
    return None, at


def substitute(macro, args, macros, hidden):
    """A macro's body with its arguments in it: beside ## as they are, else expanded."""
    count = len(macro.params)
    if macro.variadic:
        rest = [token for arg in args[count - 1:] for token in [","] + arg][1:]
        args = args[:count - 1] + [rest]
    given = dict(zip(macro.params, args))
    out, body, pastes = [], macro.body, False
    for i, token in enumerate(body):
        if token == "##":
            pastes = True
            continue
        if token == "#" and body[i + 1:i + 2] and body[i + 1] in given:
            continue
        piece = [token]
        if token in given:
            beside = pastes or body[i + 1:i + 2] == ["##"]
            piece = ['"' + "".join(given[token]) + '"'] if i and body[i - 1] == "#" else given[token] if beside else expand(given[token], macros, hidden)
        if pastes and out and piece:
            out[-1] += piece[0]
            piece = piece[1:]
        out += piece
        pastes = False
    return out


def expand_one(tokens, i, macros, hidden):
    """(what the macro at i becomes, the index behind it), (None, i) if it is none there."""
    name = tokens[i]
    macro, behind = macros[name], i + 1
    body = macro.body
    if macro.params is not None:
        args, behind = arguments(tokens, behind) if tokens[behind:behind + 1] == ["("] else (None, behind)
        if args is None:
            return None, i
        body = substitute(macro, args, macros, hidden)
    out = expand(body, macros, hidden | {name})
    # The name of a macro at the end takes its arguments from what follows.
    last = macros.get(out[-1]) if out else None
    if last and last.params is not None and out[-1] not in hidden and out[-1] != name and tokens[behind:behind + 1] == ["("]:
        args, after = arguments(tokens, behind)
        if args is not None:
            tail, _ = expand_one([out[-1]] + tokens[behind:after], 0, macros, hidden | {name})
            return out[:-1] + (tail or []), after
    return out, behind


def expand(tokens, macros, hidden=frozenset()):
    if macros.keys().isdisjoint(tokens):
        return tokens
    out, i = [], 0
    while i < len(tokens):
        body = None
        if tokens[i] in macros and tokens[i] not in hidden:
            body, behind = expand_one(tokens, i, macros, hidden)
        if body is None:
            out.append(tokens[i])
            i += 1
        else:
            out += body
            i = behind
    return out


def name_of(head):
    """(the name that a declaration declares, whether it is a function), (None, False) if it is not understood."""
    i, depth = 0, 0
    while i < len(head):
        token = head[i]
        if token == "(" and depth == 0 and i and NAME.match(head[i - 1]):
            if head[i + 1:i + 2] == ["*"] or head[i - 1] in NO_FUNCTION:
                if head[i - 1] not in NO_FUNCTION:
                    names = [t for t in head[i + 1:] if NAME.match(t) and t not in QUALIFIERS]
                    return (names[0] if names else None), False
            else:
                return head[i - 1], True
        if depth == 0 and token in ("=", "["):
            break
        depth += (token in "([") - (token in ")]") if len(token) == 1 else 0
        i += 1
    names = [t for t in head[:i] if NAME.match(t)]
    return (names[-1] if names else None), False


class Parser:
    """Finds the definitions in the tokens of one file."""

    def __init__(self, file):
        self.file, self.definitions, self.declared = file, [], set()
        self.symbols = {}  # of functions that are declared under another name: int entry(void) __asm__("gr_function")

    def parse(self, tokens, lines):
        head, i, end = [], 0, len(tokens)
        while i < end:
            token = tokens[i]
            if token == "{":
                behind = self.closed(tokens, i)
                if self.is_type(head):
                    head.append("{}")
                else:
                    self.define(head, tokens, lines, i, behind)
                    if "=" not in head:
                        head = []
                i = behind
                continue
            if token == ";":
                self.declare(head, lines[i])
                head = []
            else:
                head.append(token)
            i += 1
        for definition in self.definitions:
            uses = definition.uses
            uses.update({self.symbols[name]: uses[name] for name in self.symbols.keys() & uses.keys()})

    @staticmethod
    def closed(tokens, at):
        depth = 0
        for i in range(at, len(tokens)):
            if tokens[i] == "{":
                depth += 1
            elif tokens[i] == "}":
                depth -= 1
                if depth == 0:
                    return i + 1
        return len(tokens)

    @staticmethod
    def is_type(head):
        if "=" in head or ")" in head[-1:]:
            return False
        return any(word in TYPES for word in head)

    def define(self, head, tokens, lines, i, behind):
        name, is_function = name_of(head)
        if name is None or ("=" in head) == is_function:
            return
        uses = {}
        for k in range(i, behind):
            token = tokens[k]
            if token not in uses and (token[0].isalpha() or token[0] == "_") and tokens[k - 1] not in NO_USE:
                uses[token] = lines[k]
        self.definitions.append(Definition(name, self.file, lines[i], "static" in head, is_function, uses))

    def declare(self, head, line):
        if not head or head[0] == "typedef" or "static" in head and "=" not in head:
            return
        name, is_function = name_of(head)
        if is_function and "=" not in head:
            self.declared.add(name)
            if head[-4:-2] == ["__asm__", "("]:
                self.symbols[name] = head[-2][1:-1]
        elif name and "=" in head:
            at = head.index("=")
            uses = {t: line for k, t in enumerate(head[at:], at) if NAME.match(t) and head[k - 1] not in NO_USE}
            self.definitions.append(Definition(name, self.file, line, "static" in head, False, uses))


class Reader:
    """Reads the files below a folder, src: contents(file)."""

    def __init__(self, src):
        files = [p for p in src.rglob("*") if p.suffix in (".c", ".h", ".def")]
        self.texts = {p.relative_to(src).as_posix(): p.read_text(encoding="utf-8") for p in sorted(files)}
        self.trees, self.known = {}, {}
        # Of other names, which the compiler or the build defines, both ways of an #ifdef count.
        self.names = {name for text in self.texts.values() for name in re.findall(r"#\s*define\s+(\w+)", text)}

    def included(self, file, rest):
        """The file below src that an #include names, None if it is not there."""
        found = re.match(r'"([^"]+)"', rest)
        places = (os.path.join(os.path.dirname(file), found[1]), found[1]) if found else ()
        return next((p for p in map(os.path.normpath, places) if p in self.texts), None)

    def contents(self, file):
        if file not in self.known:
            self.known[file] = Contents({}, set(), [], set())
            macros, includes, tokens, lines = {}, set(), [], []
            self.walk(file, self.tree(file), (macros, includes, tokens, lines), None)
            parser = Parser(file)
            parser.parse(tokens, lines)
            self.known[file] = Contents(macros, includes, parser.definitions, parser.declared)
        return self.known[file]

    def tree(self, file):
        if file not in self.trees:
            self.trees[file] = tree_of(logical_lines(self.texts[file]))[0]
        return self.trees[file]

    def walk(self, file, items, state, at_line):
        """at_line: the line that includes this file in place, None if it is read by itself."""
        macros, includes, tokens, lines = state
        pending, places = [], []

        def flush():
            done = 0
            for i in [i for i, token in enumerate(pending) if token in macros]:
                body = None
                if i >= done:
                    body, behind = expand_one(pending, i, macros, frozenset())
                if body is not None:
                    tokens.extend(pending[done:i] + body)
                    lines.extend(places[done:i] + [places[i]] * len(body))
                    done = behind
            tokens.extend(pending[done:])
            lines.extend(places[done:])
            pending.clear()
            places.clear()

        for item in items:
            if isinstance(item, list):
                flush()
                for branch in self.taken(item, macros):
                    self.walk(file, branch, state, at_line)
                continue
            number, word, rest = item
            if word is None:
                found = TOKEN.findall(rest)
                pending += found
                places += [at_line or number] * len(found)
                continue
            if word in ("define", "undef", "include"):
                flush()
            if word == "define":
                name, macro = parse_macro(rest)
                macros[name] = macro
            elif word == "undef":
                macros.pop(rest.split()[0], None)
            elif word == "include":
                self.include(file, rest, state, at_line or number)
        flush()

    def include(self, file, rest, state, line):
        there = self.included(file, rest)
        if there and there.endswith(".def"):
            self.walk(there, self.tree(there), state, line)
        elif there:
            contents = self.contents(there)
            state[0].update(contents.macros)
            state[1].add(there)
            state[1].update(contents.includes)

    def taken(self, branches, macros):
        """The items of the branches that count: the one that is taken for certain, else all if they leave the braces as they are, else the first."""
        left = []
        for word, rest, items in branches:
            name = rest.split()[0] if rest.split() else ""
            if word in ("ifdef", "ifndef") and (name in macros or name in self.names):
                if (name in macros) == (word == "ifdef"):
                    return [items]
                continue
            left.append(items)
        return left if all(balance(items) == 0 for items in left) else left[:1]
