# SPDX-License-Identifier: Apache-2.0
"""call_graph.py: which file calls which, from what c_calls.py reads, and the circles of such a graph.

A table that names functions calls them, and a file that uses such a table of another file calls that file."""
import collections
import re

# Other names are the C library's: a file that interposes one of them is not called by the callers of the library.
OWN_NAME = re.compile(r"_*(gr|cu)")
# A use of a name: where, and the file that defines the name.
Call = collections.namedtuple("Call", "caller callee name line")


class Calls:
    def __init__(self, reader, folder_of):
        """folder_of(file): a name that several folders define is the one of the caller's own folder."""
        self.folder_of = folder_of
        self.contents = {file: reader.contents(file) for file in reader.texts if file.endswith((".c", ".h"))}
        self.own = {}
        self.inline, self.extern = collections.defaultdict(dict), collections.defaultdict(list)
        for file, contents in self.contents.items():
            self.own[file] = {d.name for d in contents.definitions}
            for d in contents.definitions:
                if d.is_static and d.is_function:
                    self.inline[d.name][file] = d
                elif not d.is_static and OWN_NAME.match(d.name):
                    self.extern[d.name].append(d)
        self.headers = collections.defaultdict(set)
        for file, contents in self.contents.items():
            for name in contents.declared if file.endswith(".h") else ():
                self.headers[name].add(file)
        for name, found in self.extern.items():
            self.extern[name] = [d for d in found if d.is_function or self.holds_functions(d)]

    def holds_functions(self, variable):
        file = variable.file
        return any(file in self.inline.get(name, ()) or any(d.is_function for d in self.extern.get(name, ())) for name in variable.uses)

    def targets(self, file, name):
        """The definitions of other files that a name in `file` may mean."""
        if name in self.own[file]:
            return []
        includes = self.contents[file].includes
        static = [d for h, d in self.inline.get(name, {}).items() if h in includes]
        if static or name not in self.extern:
            return static
        found, here = self.extern[name], self.folder_of(file)
        near = [d for d in found if self.folder_of(d.file) == here]
        if near or not name.startswith("gr_"):
            return near
        folders = {self.folder_of(h) for h in self.headers[name] & includes}
        return [d for d in found if self.folder_of(d.file) in folders] or found

    def in_place(self):
        """[Call] as the text has them, each caller and name once."""
        calls = {}
        for file, contents in self.contents.items():
            for definition in contents.definitions:
                for name, line in definition.uses.items():
                    for target in self.targets(file, name):
                        calls.setdefault((file, target.file, name), line)
        return [Call(*key, line) for key, line in calls.items()]

    def between_files(self):
        """[Call] between .c files: what an inline function of a header calls, each of its callers calls."""
        calls = {}
        for file, contents in self.contents.items():
            seen, left = set(), [(d, None) for d in contents.definitions if file.endswith(".c")]
            while left:
                definition, at = left.pop()
                for name, line in definition.uses.items():
                    for target in self.targets(definition.file, name):
                        if target.file.endswith(".c"):
                            if target.file != file:
                                calls.setdefault((file, target.file, name), at or line)
                        elif (target.file, name) not in seen:
                            seen.add((target.file, name))
                            left.append((target, at or line))
        return [Call(*key, line) for key, line in calls.items()]


def circles(edges):
    """The sets of nodes, of more than one, that reach each other: Tarjan's algorithm. edges: pairs."""
    after = collections.defaultdict(list)
    for a, b in sorted(edges):
        after[a].append(b)
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for there in after[node]:
            if there not in index:
                visit(there)
            if there in stack:
                low[node] = min(low[node], low[there])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(after):
        if node not in index:
            visit(node)
    return found


class Reach:
    """Which nodes a node reaches."""

    def __init__(self, edges):
        self.after, self.known = collections.defaultdict(list), {}
        for a, b in edges:
            self.after[a].append(b)

    def of(self, start):
        if start not in self.known:
            seen, left = {start}, [start]
            while left:
                new = [b for b in self.after.get(left.pop(), ()) if b not in seen]
                seen.update(new)
                left += new
            self.known[start] = seen
        return self.known[start]


def upward(nodes, weights):
    """The edges between `nodes` that go up in an order in which they weigh little: the nodes one by one move to their best place until none
    gains. Not always the least, always the same. weights: {(a, b): number of functions}."""
    order = sorted(nodes, key=lambda n: (sum(weights.get((n, m), 0) - weights.get((m, n), 0) for m in nodes), n))
    gains = True
    while gains:
        gains = False
        for node in sorted(nodes):
            rest = [n for n in order if n != node]
            # At place k, what is before is lower: node calls down to it, and those before call up to node.
            cost = sum(weights.get((node, n), 0) for n in rest)
            costs = [cost]
            for n in rest:
                cost += weights.get((n, node), 0) - weights.get((node, n), 0)
                costs.append(cost)
            best = min(range(len(costs)), key=costs.__getitem__)
            if costs[best] < costs[order.index(node)]:
                order = rest[:best] + [node] + rest[best:]
                gains = True
    place = {n: k for k, n in enumerate(order)}
    return sorted((a, b) for a, b in weights if a in place and b in place and place[a] < place[b])
