# SPDX-License-Identifier: Apache-2.0
"""Random CUDA programs with host code, for test_random_programs.py. A program has several units: a kernel and the function of the host that launches it,
each with three numbers from the command line. Indices stay inside the memory, and a unit does nothing where the numbers do not fit."""
import random

ROOM = 1 << 19  # elements before and behind what kernels are given
HEAD = """#include <cassert>
#include <cstdlib>
#include <cuda_runtime.h>

static const int room = {room};
struct Both {{
    int *a, *b;
    int n, m;
}};
__device__ int twice(int x) {{ return 2 * x; }}
__device__ int place(int x, int y, int width) {{ return y * width + x; }}
"""


class Unit:
    def __init__(self, rng, number):
        self.r, self.number = rng, number
        self.type = rng.choice(["int"] * 5 + ["short", "char", "long long", "unsigned"])
        self.flat = rng.random() < 0.7  # blocks of one dimension
        self.depth = 0

    def chance(self, p):
        return self.r.random() < p

    # ---- Kernels

    def small(self):
        return self.r.choice(["t", "t", "b", "n", "m", "s", "1", "2", "3", "4"] + ([] if self.flat else ["ty", "x", "y"]))

    def index(self):
        """An expression of less than ROOM elements on either side."""
        r = self.r
        plain = ["g", "g", "g", "g", "t", "b", "t", "n - 1 - g", "g + 1", "g - 1", f"g + {r.randint(2, 9)}", "g * 2", "g * 2 + 1", "g / 2", "g % 8",
                 "g ^ 1", "(g << 1) | 1", "g >> 1", "twice(g)", "g * 3 - 1", "t + b", "t * gridDim.x + b", "g + n", "g + m", "g * m", "g * s", "g * m + s",
                 "(g + s) % (n + 1)", "g + n / 2", "0", "n", "s", "t + n * b", "t + m * b", "g & 7", "g + blockDim.x", "g - (int)blockDim.x", "g % m",
                 "g / m * m", "g / m * m + g % m", "n - t", "min(g, n)", "max(g, m)", "(t < s ? t : g)", "abs(g - m)"]
        flat = ["i", "i * 2", "i + 1", "t + i", "g + i", "g * 4 + i", "i * m + t"] * 2 if self.depth else []
        deep = [] if self.flat else ["place(x, y, n)", "place(x, y, m)", "y * n + x", "x * m + y", "place(t, ty, blockDim.x)", "y", "x", "x + y",
                                     "place(x, y, gridDim.x * blockDim.x)"] * 3
        return r.choice(plain + flat + deep)

    def condition(self):
        r = self.r
        plain = ["g < n", "g < n", "t < m", "t == 0", "b == 0", "g == 0", "g % 2 == 0", "g % 2", "t < blockDim.x - 1", "g + 1 < n", "g < m * 2", "t != s",
                 "g >= s && g < n", "t < 32", "b + 1 < gridDim.x", "n > m", "s == 0", "g == n - 1", "(g & 3) == 1", "t == b", "!(t < s)"]
        deep = [] if self.flat else ["x < n", "x < n && y < m", "x < y", "ty == 0", "x < m || y < n", "x == y"] * 4
        return r.choice(plain + deep)

    def buffer(self):
        return self.r.choice(["a", "a", "b_", "tile"] if self.shared else ["a", "a", "b_"])

    def cell(self):
        which = self.buffer()
        if which == "tile":
            return f"tile[({self.r.choice(['t', 't', 't', 't + 1', 't ^ 1', 'blockDim.x - 1 - t', 't + s', 't * 2', 'g', '0', 't / 2', 't + 32', 't % m'])}) & 255]"
        return f"{which}[{self.index()}]"

    def access(self):
        r = self.r
        kind = r.random()
        if kind < 0.45:
            return f"{self.cell()} = {r.choice(['t', '7', 'g', 's'])};"
        if kind < 0.75:
            return f"{self.cell()} = {self.cell()};"
        if kind < 0.80:
            return f"put{self.number}(a, {self.index()}, ({self.type})1);"
        if kind < 0.87:
            return f"{self.cell()} += 1;"
        which = r.choice(["counts", "shared_counts"]) if self.shared else "counts"
        at = r.choice(["0", "t % 4", "b % 4", "s & 3", "1"])
        call = r.choice(["atomicAdd(&{}, 1);", "atomicAdd(&{}, 1);", "atomicAdd_block(&{}, 1);", "atomicExch(&{}, 2);", "atomicMax(&{}, g);", "{} = 3;",
                         "a[g] = {};", "__threadfence(); atomicAdd(&{}, 1);"])
        return call.format(f"{which}[{at}]")

    def barrier(self):
        return self.r.choice(["__syncthreads();"] * 5 + ["__syncwarp();", "__threadfence();"])

    def body(self, n, uniform):
        """`n` statements; uniform: all threads of a block come here."""
        out = []
        for _ in range(n):
            kind = self.r.random()
            if kind < 0.2 and uniform:
                out.append(self.barrier())
            elif kind < 0.45 and self.depth < 2:
                out += self.nested(uniform)
            else:
                out.append(self.access())
        return out

    def nested(self, uniform):
        r = self.r
        kind = r.random()
        if kind < 0.55:
            condition = self.condition()
            same = uniform and condition in ("n > m", "s == 0", "b == 0", "b + 1 < gridDim.x")
            inner = self.body(r.randint(1, 2), same)
            other = ["} else {"] + self.body(1, same) if self.chance(0.25) else []
            return [f"if ({condition}) {{"] + inner + other + ["}"]
        if kind < 0.67 and self.shared and uniform:
            sync = [] if self.chance(0.25) else ["__syncthreads();"]
            before = [] if self.chance(0.2) else ["__syncthreads();"]
            guard = r.choice(["t < d", "t < d", "t <= d"])
            return ["tile[t & 255] = g;"] + before + ["for (int d = blockDim.x / 2; d > 0; d /= 2) {", f"if ({guard}) {{", "tile[t & 255] += tile[(t + d) & 255];",
                                                      "}"] + sync + ["}"]
        self.depth += 1
        head, same = r.choice([("for (int i = 0; i < 3; i++) {", True), ("for (int i = 0; i < m; i++) {", True), ("for (int i = t; i < n; i += blockDim.x) {", False),
                               ("for (int i = g; i < n; i += gridDim.x * blockDim.x) {", False), ("for (int i = n; i > 0; i -= 2) {", True),
                               ("for (int i = 1; i < 20; i *= 2) {", True), ("for (int i = s; i <= m; i++) {", True)])
        inner = self.body(r.randint(1, 3), uniform and same)
        self.depth -= 1
        return [head] + inner + ["}"]

    def lock(self):
        by = self.r.choice(["t == 0", "t == 0 && b < 2"])
        def fence():
            return "__threadfence();" if self.chance(0.75) else self.r.choice(["__threadfence_block();", ""])
        where = self.r.choice(["locks[0]"] * 3 + ["locks[b % 2]", "locks[s & 1]"])
        free = self.r.choice([f"atomicExch(&{where}, 0);"] * 3 + [f"*(volatile int *)&{where} = 0;"])
        return [line for line in [f"if ({by} && {'ty == 0' if not self.flat else 'true'}) {{", f"while (atomicCAS(&{where}, 0, 1) != 0) {{", "}", fence(),
                                  f"a[{self.r.choice(['0', 's', 'n', 'b % 2'])}] += 1;", fence(), free, "}"] if line]

    def flag(self):
        fence = "__threadfence();" if self.chance(0.75) else "__threadfence_block();"
        again = "__threadfence();" if self.chance(0.75) else ""
        at, seen = self.r.choice([("0", "0"), ("s", "s"), ("n", "n"), ("0", "s")])
        flag = self.r.choice(["locks[2]"] * 3 + ["locks[2 + (s & 1)]"])
        return [line for line in ["if (g == 0 && {}) {{".format("true" if self.flat else "y == 0"), f"a[{at}] = 5;", fence, f"atomicExch(&{flag}, 1);",
                                  "}} else if (t == 0 && {}) {{".format("b < 2" if self.flat else "ty == 0"), f"if (atomicAdd(&{flag}, 0) == 1) {{", again,
                                  f"b_[t] = a[{seen}];", "}", "}"] if line]

    def kernel(self):
        r = self.r
        self.shared = self.chance(0.45)
        number = self.number
        self.in_struct = self.type == "int" and self.chance(0.2)
        params = "Both p, int s, int *counts, int *locks" if self.in_struct else f"{self.type} *a, {self.type} *b_, int n, int m, int s, int *counts, int *locks"
        # One of its own, so that its line names the unit.
        lines = [f"template <typename T> __device__ void put{number}(T *to, int at, T value) {{", "to[at] = value;", "}"]
        lines += [f'extern "C" __global__ void k{number}({params}) {{']
        if self.in_struct:
            lines += ["int *a = p.a, *b_ = p.b, n = p.n, m = p.m;"]
        lines += ["int t = threadIdx.x, b = blockIdx.x, g = blockIdx.x * blockDim.x + threadIdx.x;"]
        if not self.flat:
            lines += ["int ty = threadIdx.y, x = g, y = blockIdx.y * blockDim.y + threadIdx.y;"]
        if self.shared:
            lines += [f"__shared__ {self.type} tile[256];", "__shared__ int shared_counts[4];"]
        kind = r.random()
        if kind < 0.10:
            lines += self.lock()
        elif kind < 0.18:
            lines += self.flag()
        else:
            if self.chance(0.3):
                lines += ["if (" + r.choice(["g >= n", "t >= n", "g >= n * 2"] + ([] if self.flat else ["x >= n || y >= m", "x >= n"])) + ") {", "return;", "}"]
                lines += self.body(r.randint(1, 4), False)
            else:
                lines += self.body(r.randint(1, 5), True)
        return lines + ["}"]

    # ---- Hosts

    def facts(self):
        """What is asserted or asked of the three numbers p, q and u."""
        r, out = self.r, []
        for _ in range(r.choice([0, 1, 1, 2])):
            fact = r.choice(["p == q", "p >= q", "p <= q", "q > 0", "u > 0", "u < q", "p % 4 == 0", "q <= 8", "p > 32", "u == 0", "u != 0", "p == 2 * q", "p < 64",
                             "q > 1 && u < 3"])
            out.append(f"if (!({fact})) {{\nreturn;\n}}" if self.chance(0.5) else ("assert", fact))
        return out

    def host(self):
        r, number = self.r, self.number
        facts = self.facts()
        # What is asserted holds where the function is called: main looks first.
        self.calls_if = " && ".join(f[1] for f in facts if isinstance(f, tuple)) or "true"
        lines = [f"static void host{number}(int p, int q, int u) {{"]
        for f in facts:
            lines += [f"assert({f[1]});"] if isinstance(f, tuple) else f.split("\n")
        value = lambda: r.choice(["p", "p", "q", "q", "u", "p / 2", "p * 2", "p + 1", "q + u", "32", "64", "p - q > 0 ? p - q : 1"])
        n, m, s = value(), r.choice(["q", "q", "p", "u + 1", "4", "1", "16"]), r.choice(["u", "u", "q", "0", "1", "3"])
        lines += [f"int n = {n}, m = {m}, s = {s};", f"{self.type} *all, *more;", "int *counts, *locks;"]
        lines += [f"cudaMalloc(&all, 2 * room * sizeof({self.type}));", f"cudaMemset(all, 0, 2 * room * sizeof({self.type}));",
                  f"cudaMalloc(&more, 2 * room * sizeof({self.type}));", f"cudaMemset(more, 0, 2 * room * sizeof({self.type}));", "cudaMalloc(&counts, 64);",
                  "cudaMemset(counts, 0, 64);", "cudaMalloc(&locks, 64);", "cudaMemset(locks, 0, 64);"]
        second = r.choice(["more + room"] * 4 + ["all + room", "all + room + n", "all + room + 1", "all + room + m * 32", "all"])
        if self.flat:
            block = r.choice(["8", "16", "32", "32", "33", "64", "n < 64 && n > 0 ? n : 64", "m"])
            grid = r.choice(["1", "1", "2", "2", "3", "(n + {0} - 1) / ({0})".format(block), "m", "n / ({}) + 1".format(block)])
        else:
            block = r.choice(["dim3(8, 4)", "dim3(4, 4)", "dim3(16, 2)", "dim3(2, 3)", "dim3(m, 2)"])
            grid = r.choice(["1", "2", "dim3(2, 2)", "dim3(1, 2)", "dim3(n / 8 + 1, 2)", "dim3(1, m)"])
        lines += [f"dim3 block({block});", f"dim3 grid({grid});"]
        first = "all + room"
        args = (f"Both{{{first}, {second}, n, m}}, {{s}}, counts, locks" if self.in_struct else f"{first}, {second}, n, m, {{s}}, counts, locks")
        args = args.replace("{s}", "SS")
        launch = f"k{number}<<<grid, block>>>({args});"
        loop = r.random()
        if loop < 0.12:
            lines += ["for (int r = 0; r < 3; r++) {", launch.replace("SS", "r"), "}"]
        elif loop < 0.2:
            lines += ["for (int r = m; r > 0; r /= 2) {", launch.replace("SS", "r"), "}"]
        elif loop < 0.3:
            lines += ["if (n > m) {", launch.replace("SS", "s"), "}"]
        else:
            lines += [launch.replace("SS", "s")]
        return lines + ["cudaDeviceSynchronize();", "cudaFree(all);", "cudaFree(more);", "cudaFree(counts);", "cudaFree(locks);", "}"]


def make(seed, units):
    """(text, the number of the unit of each line)"""
    lines, owners = HEAD.format(room=ROOM).split("\n"), {}
    calls = []
    for k in range(units):
        unit = Unit(random.Random(seed * 1000 + k), k)
        new = unit.kernel() + unit.host()
        for line in new:
            lines.append(line)
            owners[len(lines)] = k
        calls.append(f"if ({unit.calls_if}) {{\nhost{k}(p, q, u);\n}}")
    lines += ["int main(int argc, char **argv) {", "if (argc < 4) {", "return 2;", "}", "int p = atoi(argv[1]), q = atoi(argv[2]), u = atoi(argv[3]);"]
    lines += "\n".join(calls).split("\n") + ["return cudaDeviceSynchronize() != cudaSuccess;", "}"]
    return "\n".join(lines) + "\n", owners


def inputs(seed, n):
    rng = random.Random(seed * 7 + 1)
    return [(rng.choice([1, 4, 8, 20, 32, 40, 64, 66]), rng.choice([1, 2, 4, 8, 10, 20, 32]), rng.choice([0, 0, 1, 2, 3])) for _ in range(n)]
