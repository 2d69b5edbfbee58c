#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_facts.py GPURACE PROGRAMS [all]: what host code says of a launch decides. Programs of hosts.cu are changed by a few words, and what is said of
their kernels has to change as the table has it. Other names, lines, macros, helper functions, classes and templates must change nothing: each program wears
one of these disguises, with `all` each of them. figures.cu is the HGRD paper's figures 1 to 5. locks.cu: what is wrong with a lock is named."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAMS, ALL = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] == ["all"]

# What is changed; the program, its words, other words, and the verdict then.
EDITS = [
    ("assert", "square", "rows == cols", "rows >= cols", "races"),
    ("assert", "square", "assert(rows == cols);", "", "races"),
    ("assert", "rows", "cols <= pitch", "cols <= pitch + 1", "races"),
    ("assert", "rows", "cols <= pitch", "cols < pitch", "clean"),
    ("branch", "ring", "n < 64", "n < 63", "races"),
    ("branch", "ring", "n < 64", "n < 65", "clean"),
    ("grid", "total", "<<<1,", "<<<2,", "races"),
    ("grid", "total", "<<<1,", "<<<parts,", "races"),
    ("grid", "tone", "wide / 16, high", "wide / 8, high", "races"),
    ("grid", "tone", "high / 16", "high / 8", "clean"),
    ("grid", "halves", "<<<n / 2 / 128", "<<<n / 128", "races"),
    ("grid", "pitched", "width / 16", "width / 4", "races"),
    ("grid", "neighbours", "<<<2, 64>>>", "<<<1, 1>>>", "clean"),
    ("block", "tone", "block(16, 16)", "block(32, 16)", "races"),
    ("block", "halves", ", 128>>>", ", 256>>>", "races"),
    ("block", "warp", ", 32>>>", ", 64>>>", "races"),
    ("block", "rows", ", cols>>>", ", cols + 1>>>", "races"),
    ("block", "ring", "<<<1, 64>>>", "<<<1, 65>>>", "races"),
    ("block", "lud", "dim3(8, 8)>>>", "dim3(9, 8)>>>", "races"),
    ("argument", "tone", "(out, wide)", "(out, wide - 1)", "races"),
    ("argument", "halves", "(a, n / 2)", "(a, n / 2 - 1)", "races"),
    ("argument", "halves", "(a, n / 2)", "(a, n / 2 + 1)", "clean"),
    ("argument", "split", "all + n, n)", "all + n - 1, n)", "races"),
    ("argument", "split", "all + n, n)", "all + n, n - 1)", "clean"),
    ("loop", "lud", "offset = 0;", "offset = -64;", "races"),
    ("loop", "strides", "stride = 1;", "stride = 0;", "races"),
    ("loop", "strides", "stride <= most; stride++", "stride >= -most; stride -= 1", "races"),
    ("loop", "levels", "width = 1;", "width = 0;", "races"),
    ("allocation", "steps", "n * step * sizeof", "n * 64 * sizeof", "races"),
    ("allocation", "pitched", "width * sizeof(float)", "width", "races"),
    ("allocation", "strides", "n * most * sizeof", "n * 64 * sizeof", "clean"),  # the loop says enough
]

# Kernels of locks.cu, and what is said to be wrong with their locks and flags. Those without a text are proved.
SCOPE = "its scope or that of its fence does not include the other thread"
FENCE = "no fence between it and the access"
MISMATCHES = {
    "lock": None, "flag": None,
    "lock_of_block_scope": SCOPE, "lock_with_fences_of_block_scope": SCOPE, "flag_with_fence_of_block_scope": SCOPE,
    "lock_at_two_addresses": "the two threads may hold locks at different addresses",
    "flag_at_two_addresses": "the flag that is set and the flag that is waited for may be different ones",
    "lock_without_first_fence": FENCE, "lock_without_last_fence": FENCE, "flag_without_fence": FENCE,
    "flag_that_is_set": "the flag may be set when the kernel begins",
}

# Programs of hosts.cu that race as they are, one pair of accesses in each launch.
RACY = {"neighbours", "twice"}

# Words of C++ and CUDA, which keep their names; so do the macros and functions that disguises add.
KEPT = set("""__global__ __shared__ static const void int float size_t if for return sizeof namespace threadIdx blockIdx blockDim gridDim x y z dim3 assert
cudaMalloc cudaMallocPitch __syncthreads __syncwarp atomicAdd host""".split())


def source_of(name):
    """The text between a program's braces, and all in front of the first one."""
    text = (PROGRAMS / "hosts.cu").read_text()
    head = text[:text.index("\nnamespace ")]
    found = dict(re.findall(r"^namespace (\w+) \{\n(.*?)^\} // namespace", text, re.M | re.S))
    return head if name is None else found if name == "all" else found[name]


def renamed(text):
    names = {}
    return re.sub(r"[A-Za-z_]\w*", lambda m: m[0] if m[0] in KEPT else names.setdefault(m[0], f"name_{len(names)}"), text)


def on_few_lines(text):
    return re.sub(r"\s+", " ", re.sub(r"//.*", "", text)) + "\n"


def by_macros(text):
    text = re.sub(r"(\w+)<<<(.*)>>>\((.*)\);", r"LAUNCH((\2), \1, \3);", text)
    text = re.sub(r"cudaMalloc\(&(\w+), (.*)\);", r"ALLOCATE(\1, \2);", text)
    return "#undef LAUNCH\n#undef SHAPE\n#undef ALLOCATE\n" + """#define SHAPE(...) __VA_ARGS__
#define LAUNCH(shape, kernel, ...) kernel<<<SHAPE shape>>>(__VA_ARGS__)
#define ALLOCATE(to, ...) cudaMalloc(&(to), (__VA_ARGS__))
""" + text


def by_helpers(text):
    """Launches and allocations go through templates, and the host's numbers through a structure."""
    text = re.sub(r"(\w+)<<<(.*)>>>\((.*)\);", r"start<\1>(Shape{\2}, \3);", text)
    text = re.sub(r"cudaMalloc\(&(\w+), (.*) \* sizeof\((\w+)\)\);", r"\1 = allocated<\3>(\2);", text)
    return """struct Shape {
    dim3 grid, block;
};
template <auto KERNEL, typename... Args> static void start(const Shape &shape, Args... args) { KERNEL<<<shape.grid, shape.block>>>(args...); }
template <typename T> static T *allocated(int count) {
    T *memory;
    cudaMalloc(&memory, count * sizeof(T));
    return memory;
}
""" + text


def by_runtime(text):
    """Launches are calls of cudaLaunchKernel, with arguments in a tuple."""
    return """struct Shape {
    dim3 grid, block;
};
template <typename... Params, typename... Args> static void start(void (*kernel)(Params...), Shape shape, Args... args) {
    std::tuple<Params...> all(args...);
    std::apply([&](Params &...param) {
        void *list[] = {&param...};
        cudaLaunchKernel((const void *)kernel, shape.grid, shape.block, list, 0, nullptr);
    }, all);
}
""" + re.sub(r"(\w+)<<<(.*)>>>\((.*)\);", r"start(\1, Shape{\2}, \3);", text)


def by_class(text):
    """The host's numbers are members of an object, and its code is a virtual function of it."""
    begin, params, body = re.match(r"(.*)static void host\((.*?)\) \{\n(.*)\}\n$", text, re.S).groups()
    names = [(p.split() + [f"unused_{k}"])[1] for k, p in enumerate(params.split(", "))]
    return begin + f"""struct Work {{
    virtual void run() = 0;
}};
class Job : public Work {{
  public:
    Job(int a, int b, int c) : {names[0]}(a), {names[1]}(b), {names[2]}(c) {{}}
    void run() override {{
{body}    }}

  private:
    int {", ".join(names)};
}};
static void host(int a, int b, int c) {{
    Job job(a, b, c);
    Work *work = &job;
    work->run();
}}
"""


def as_templates(text):
    """Kernels and host code are templates over the type of the elements, which is int."""
    text = re.sub(r"(int|float) \*", "T *", text.replace("__global__ void", "template <typename T> __global__ void"))
    text = re.sub(r"sizeof\((int|float)\)", "sizeof(T)", re.sub(r"(\w+)<<<", r"\1<T><<<", text))
    return text.replace("static void host", "template <typename T> static void host_of") + "static void host(int a, int b, int c) { host_of<int>(a, b, c); }\n"


DISGUISES = {"renamed": renamed, "on few lines": on_few_lines, "by macros": by_macros, "by helpers": by_helpers, "by the runtime": by_runtime,
             "by a class": by_class, "as templates": as_templates}


def check(path, *words):
    done = subprocess.run([GPURACE, "check", "--format", "json", "--max-reports", "0", str(path), "--", *words], capture_output=True, text=True, timeout=300)
    begin = re.search(r"^\{", done.stderr, re.M)  # nvcc may have said something before
    return json.loads(done.stderr[begin.start():]), done.stderr


def verdicts(report):
    """Of each namespace: what was said of its launches; and how many pairs were proved, shown, possible, unknown, of each launch that differs in that."""
    counts = {}
    for text in report["coverage"]["remarks"]:
        m = re.match(r"kernel (?:void )?(\w+)::.* accesses (\d+) proved, (\d+) shown, (\d+) possible, (\d+) unknown", text)
        if m:
            counts.setdefault(m[1], set()).add(tuple(map(int, m.groups()[1:])))
    return {name: ("races" if any(c[1] for c in of) else "open" if any(c[2] + c[3] for c in of) else "clean", sorted(of)) for name, of in counts.items()}


class Facts(unittest.TestCase):
    def check_programs(self, programs):
        """One program of several, by name: a namespace for each."""
        text = source_of(None) + "\n#include <tuple>\n" + "".join(f"\nnamespace {name} {{\n{body}}}\n" for name, body in programs.items())
        calls = "".join(f"    {name}::host(atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));\n" for name in programs)
        text += f"\nint main(int argc, char **argv) {{\n    if (argc < 4) return 1;\n{calls}}}\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "programs.cu")
            path.write_text(text)
            report, said = check(path)
        found = verdicts(report)
        self.assertEqual(sorted(found), sorted(programs), said)
        return found, report

    def test_words_of_the_host_decide(self):
        programs = dict(source_of("all"))
        for k, (what, name, old, new, _) in enumerate(EDITS):
            self.assertEqual(programs[name].count(old), 1, f"{name} has {old!r} not once")
            programs[f"edit_{k}"] = programs[name].replace(old, new)
        found, report = self.check_programs(programs)
        for name in source_of("all"):
            (proved, *others), = found[name][1]
            self.assertEqual((proved > 0, others), (True, [name in RACY, 0, 0]), name)
        wrong = [f"{what} of {name}: {new!r} for {old!r}: {found[f'edit_{k}']}, not {verdict}"
                 for k, (what, name, old, new, verdict) in enumerate(EDITS) if found[f"edit_{k}"][0] != verdict]
        self.assertEqual(wrong, [], "\n".join(report["reasons"]))

    def test_disguises_change_nothing(self):
        plain = source_of("all")
        programs = dict(plain)
        worn = {f"{name}_{k}": (name, how) for j, name in enumerate(plain) for k, how in enumerate(DISGUISES) if ALL or (j + k) % len(DISGUISES) == 0}
        programs.update({dressed: DISGUISES[how](plain[name]) for dressed, (name, how) in worn.items()})
        found, report = self.check_programs(programs)
        wrong = [f"{name} {how}: {found[dressed]}, not {found[name]}" for dressed, (name, how) in worn.items() if found[dressed] != found[name]]
        self.assertEqual(wrong, [], "\n".join(report["reasons"]))

    def test_a_replay_that_faults_is_no_race(self):
        text = source_of("neighbours")
        old = "a[i] = a[i + 1];"
        self.assertEqual(text.count(old), 1)
        found, report = self.check_programs({"neighbours": text.replace(old, "a[i + (1 << 28)] = 1; " + old)})
        self.assertEqual(found["neighbours"][0], "open")
        self.assertRegex(report["reasons"][0], r"the witness grid .* was not confirmed: kernel neighbours::shift.*illegal address")

    def test_figures(self):
        kernels = ["copy_upper", "lud_internal", "reduce_final", "shift", "tone_mapping"]
        path = PROGRAMS / "figures.cu"
        report, said = check(path)
        self.assertEqual((report["verdict"], report["reasons"]), ("clean", []), said)
        self.assertEqual(sorted(k["name"].split("(")[0] for k in report["coverage"]["kernels"]), kernels)
        report, said = check(path, "-DNO_FACTS")
        self.assertEqual((report["verdict"], report["reasons"]), ("races", []), said)
        self.assertEqual(sorted(r["kernel"].split("(")[0] for r in report["races"]), kernels)
        for race in report["races"]:
            self.assertRegex(race["witness"], r"^grid \(.*launched at figures\.cu:\d+$")

    def test_what_is_wrong_with_a_lock_is_said(self):
        report, said = check(PROGRAMS / "locks.cu")
        for kernel, text in MISMATCHES.items():
            told = [r for r in report["reasons"] if f"kernel {kernel}(" in r] + [r["missing_order"] for r in report["races"] if r["kernel"].startswith(kernel + "(")]
            texts = {t for t in MISMATCHES.values() if t and any(t in line for line in told)}
            self.assertEqual(texts, {text} if text else set(), f"{kernel}: {told}")
            self.assertEqual(bool(told), bool(text), kernel)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
