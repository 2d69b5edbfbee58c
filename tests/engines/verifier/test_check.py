#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace check` end to end: test_check.py GPURACE PROGRAMS [nvcc]. Without the last word only PTX is checked."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from checked import pairs_of, words_of

GPURACE, PROGRAMS, HAS_NVCC, ALL = sys.argv[1], pathlib.Path(sys.argv[2]), "nvcc" in sys.argv[3:], "all" in sys.argv[3:]

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry {name}(.param .u64 {name}_p)
.reqntid 64, 1, 1
{{
.reg .b32 %r<8>; .reg .b64 %rd<8>;
.shared .align 4 .b8 values[256];
mov.u32 %r1, %tid.x;
mov.u64 %rd1, values;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
st.shared.u32 [%rd3], %r1;
{barrier}
xor.b32 %r2, %r1, 63;
mul.wide.u32 %rd4, %r2, 4;
add.s64 %rd5, %rd1, %rd4;
ld.shared.u32 %r3, [%rd5];
ret;
}}
"""

# Kernels that are not understood, each with the words that say why.
UNKNOWN = """
__device__ __noinline__ int down(int *p, int n) { p[n] = n; return n ? down(p, n - 1) + n : 0; }
__device__ void one(int *p) { p[0] = 1; }
__device__ void two(int *p) { p[1] = 2; }
__device__ void (*table[2])(int *) = {one, two};
__device__ void elsewhere(int *p, int at);
__global__ void recursive(int *p, int n) { p[threadIdx.x] = down(p, n); }
__global__ void indirect(int *p, int n) { table[n](p); }
__global__ void textured(cudaTextureObject_t t, int *p) { p[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); }
__global__ void surfaced(cudaSurfaceObject_t t) { surf1Dwrite(threadIdx.x, t, 0); }
__global__ void foreign(int *p) { elsewhere(p, threadIdx.x); }
int main(int argc, char **) {
    int *p;
    cudaMalloc(&p, 4096);
    recursive<<<1, 32>>>(p, argc);
    indirect<<<1, 32>>>(p, argc & 1);
    textured<<<1, 32>>>(0, p);
    surfaced<<<1, 32>>>(0);
    foreign<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    cudaFree(p);
}
"""
# Every thread reads a variable and writes its own place behind a pointer.
BESIDE_A_VARIABLE = """.version 8.0
.target sm_80
.address_size 64
.global .align 1 .b8 {name}[{size}];
.visible .entry k(.param .u64 p) {{
.reg .b32 %r<3>; .reg .b64 %rd<5>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
ld.global.u8 %r1, [{name}];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd2, %rd3;
st.global.u32 [%rd4], %r1;
ret;
}}
"""
# Launches whose two pointers may be, are, and are not one memory.
MAY_BE_ONE = """
__global__ void k(int *a, const int *b) {
    if (b[0] > 0)
        a[threadIdx.x] = 1;
}
__global__ void stores_addresses(int **a) {
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    a[threadIdx.x] = &s[threadIdx.x];
}
void launch(int *a, int *b) {
    k<<<1, 64>>>(a, b);
    k<<<1, 32>>>(a, b);
}
int main() {
    int *p, *q;
    cudaMalloc(&p, 4096);
    cudaMalloc(&q, 4096);
    k<<<1, 64>>>(p, p);
    k<<<1, 64>>>(p, q);
    stores_addresses<<<1, 64>>>((int **)p);
}
"""
# A barrier of the grid that the launch must be cooperative for. {order}: what is between a store and another block's load; {launch}: of kernel k.
GRID = """
#include <cooperative_groups.h>
__global__ void k(int *a, int *b) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    cooperative_groups::this_grid().sync();
    a[i] = i;
    {order}
    b[i] = a[all - 1 - i];
}}
int main() {{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    {launch}
    return cudaDeviceSynchronize() != cudaSuccess;
}}
"""
# Counters of the C++ library of the block's scope, and how they go into those of the device.
ATOMICS = """
__global__ void {name}(int *bins, const unsigned char *text, int n) {{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> own[26];
    if (threadIdx.x < 26)
        own[threadIdx.x].store(0, cuda::memory_order_relaxed);
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own[text[i] % 26].fetch_add(1, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x < 26)
        cuda::atomic_ref<int, cuda::thread_scope_{scope}>(bins[threadIdx.x]).fetch_add(own[threadIdx.x].load(cuda::memory_order_relaxed));
}}
"""
# Threads that wait for the others at a barrier of the library. {count}: how many it waits for; {made}: behind its making; {between}: a store and another
# thread's load.
BARRIER = """
__global__ void {name}(int *data, int rounds) {{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier, other;
    __shared__ int s[64];
    if (threadIdx.x == 0) {{
        init(&barrier, {count});
        init(&other, blockDim.x);
    }}
    {made}
    for (int i = 0; i < rounds; i++) {{
        s[threadIdx.x] = data[threadIdx.x] + i;
        {between}
        data[threadIdx.x] = s[63 - threadIdx.x];
        other.arrive_and_wait();
    }}
}}
"""
MADE, WAITS, FEWER = "__syncthreads();", "barrier.arrive_and_wait();", "may be for fewer threads"
# What is between, and what is said: "race", a reason, or None, which is nothing.
BARRIERS = {"all": ("blockDim.x", MADE, WAITS, None), "told": ("64", MADE, WAITS, None), "none": ("blockDim.x", MADE, "", "race"),
            "few": ("32", MADE, WAITS, FEWER), "rounds": ("rounds", MADE, WAITS, FEWER),
            "data": ("data[0]", MADE, WAITS, "it is not known for how many threads it is"),
            "unmade": ("blockDim.x", "", WAITS, "it is not known for how many threads it is"),
            "twice": ("blockDim.x", "if (threadIdx.x == 0 && rounds > 5) init(&barrier, 32);" + MADE, WAITS, "it is not known for how many threads it is"),
            "split": ("blockDim.x", MADE, "barrier.wait(barrier.arrive());", "mbarrier: not understood"),
            "arrives": ("blockDim.x", MADE, "(void)barrier.arrive();", "mbarrier: not understood")}
COOPERATIVE = "void *args[] = {&a, &b}; cudaLaunchCooperativeKernel((const void *)k, 4, 64, args, 0, 0);"
WHY = {"recursive": "recursion", "indirect": "indirect call", "textured": "a texture", "surfaced": "sust", "foreign": "give the file that defines it"}


def check(*words, status=0):
    done = subprocess.run([GPURACE, "check", "--format", "json", *map(str, words)], capture_output=True, text=True, timeout=300)
    if done.returncode != status:
        raise AssertionError(f"exit status {done.returncode}:\n{done.stderr}")
    return json.loads(done.stderr[done.stderr.index("{"):])


def labelled(path, word):
    return {n for n, line in enumerate(path.read_text().splitlines(), 1) if line.endswith(f"// {word}")}


class Ptx(unittest.TestCase):
    def file(self, name, barrier):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, name + ".ptx")
        path.write_text(KERNEL.format(name=name, barrier=barrier))
        return path

    def test_a_barrier_proves(self):
        report = check(self.file("clean", "bar.sync 0;"))
        self.assertEqual((report["verdict"], report["reasons"], report["races"]), ("clean", [], []))

    def test_without_it_there_is_a_witness(self):
        path = self.file("racy", "")
        race, = check(path, status=66)["races"]
        self.assertEqual((race["class"], race["kernel"], race["space"]), ("read-write race", "racy", "shared"))
        self.assertEqual({a["ptx_line"] for a in race["accesses"]}, {13, 18})
        store, load = sorted(race["accesses"], key=lambda a: a["ptx_line"])
        self.assertEqual(store["thread"][0] ^ 63, load["thread"][0])
        self.assertRegex(race["witness"], r"block \(64,1,1\)")
        # Without a replay it is not called a race.
        report = check(path, "--replay", "no")
        self.assertEqual((report["verdict"], len(report["races"]), len(report["reasons"])), ("inconclusive", 0, 1))
        self.assertTrue(report["reasons"][0].startswith("possible: "), report["reasons"])
        check(path, "--replay", "no", "--strict", status=67)

    def test_possible_races_have_places(self):
        """In JSON both places, in SARIF a result to be reviewed; a report that is read has them, too."""
        path = self.file("k", ".loc 1 9 5")
        path.write_text(path.read_text().replace("st.shared", ".loc 1 7 3\nst.shared").replace(".visible", '.file 1 "/src/a.cu"\n.visible'))
        report = check(path, "--replay", "no")
        possible, = report["possible"]
        self.assertIn(possible["text"], report["reasons"])
        self.assertEqual((possible["kernel"], {(side["file"], side["line"]) for side in possible["sides"]}), ("k", {("/src/a.cu", 7), ("/src/a.cu", 9)}))
        saved = path.with_suffix(".json")
        saved.write_text(json.dumps(report))

        def convert(form, *options):
            return subprocess.run([GPURACE, "report", "--format", form, *options, saved], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(json.loads(convert("json")), report)
        log = json.loads(convert("sarif"))["runs"][0]
        result, = log["results"]
        self.assertEqual((result["kind"], result["level"], result["message"]["text"]), ("review", "none", possible["text"]))
        self.assertEqual(log["tool"]["driver"]["rules"][result["ruleIndex"]]["name"], "possible race")
        places = [place["physicalLocation"] for place in result["locations"] + result["relatedLocations"]]
        self.assertEqual([(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places],
                         [("file://" + side["file"], side["line"]) for side in possible["sides"]])
        other = path.with_suffix(".other.json")  # merged with another run that has the same and one more
        more = dict(possible, text=possible["text"] + " more")
        other.write_text(json.dumps(dict(report, seed=report["seed"] + 1, possible=[possible, more], reasons=[*report["reasons"], more["text"]])))
        self.assertEqual(json.loads(convert("json", other))["possible"], [possible, more])
        self.assertEqual(subprocess.run([GPURACE, "report", "--format", "json", other, saved], stdout=subprocess.PIPE, text=True, check=True).stdout, convert("json", other))
        log = json.loads(convert("sarif", "--baseline", saved))["runs"][0]
        self.assertEqual(log["results"][0]["baselineState"], "unchanged")
        self.assertIn(f"::warning file=/src/a.cu,line={possible['sides'][0]['line']},title=possible race::", convert("github"))

    def test_what_is_not_looked_for_is_said(self):
        for barrier, said in ("bar.sync 0;", False), ("{ .reg .pred %p1; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0; }", True):
            done = subprocess.run([GPURACE, "check", "--replay", "no", "--format", "json", self.file("clean", barrier)], capture_output=True, text=True, timeout=300)
            blind = json.loads(done.stderr)["coverage"]["blind_to"]
            self.assertIn("what a launch does at the same time as other launches, copies or the host (verifier)", blind)
            self.assertEqual("barriers of a block that some of its threads do not come to (verifier)" in blind, said)

    def test_the_last_line_says_what_was_not_looked_for(self):
        done = subprocess.run([GPURACE, "check", self.file("clean", "bar.sync 0;")], capture_output=True, text=True, timeout=300)
        self.assertRegex(done.stderr, r"\ngpurace: no races, but not looked for: what a launch does at the same time as other launches, copies or the host\n$")
        self.assertIn("\n  kernels   1 decided\n", done.stderr)

    def test_kernels_that_are_not_decided_are_not_counted(self):
        path = self.file("clean", "bar.sync 0;")
        path.write_text(path.read_text() + KERNEL.format(name="open", barrier="").split(".address_size 64\n")[1])
        done = subprocess.run([GPURACE, "check", "--replay", "no", path], capture_output=True, text=True, timeout=300)
        self.assertIn("\n  kernels   1 decided\n", done.stderr)
        self.assertRegex(done.stderr, r"\ngpurace: no races, but not everything was checked\n$")
        self.assertEqual([k["name"] for k in check(path, "--replay", "no")["coverage"]["kernels"]], ["clean"])

    def test_a_mask_that_lacks_lanes_orders_nothing(self):
        self.assertEqual(check(self.file("half", "bar.warp.sync 0xffff;"), status=66)["verdict"], "races")

    def test_what_the_compiler_makes_for_an_empty_object_is_no_memory_of_the_host(self):
        path = self.file("empty", "")
        for name, size, alone in (("_Z3addIiEvT_$12", 1, True), ("_Z3addIiEvT_$12", 4, False), ("_ZL3add$12", 1, False), ("add$12", 1, False),
                                  ("k$12", 1, True), ("_Z3addIiEvT_$x", 1, False), ("_Z3addIiEvT_", 1, False)):
            path.write_text(BESIDE_A_VARIABLE.format(name=name, size=size))
            reasons = check(path, "--replay", "no")["reasons"]
            self.assertEqual(any("may be the same memory" in r for r in reasons), not alone, (name, reasons))

    def test_processes(self):
        """However many kernels are looked at side by side, all is said, in the same order."""
        path = self.file("clean", "bar.sync 0;")
        for k in range(3):
            path.write_text(path.read_text() + KERNEL.format(name=f"racy{k}", barrier="").split(".address_size 64\n")[1])
        one, many = (subprocess.run([GPURACE, "check", "--format", "json", "--no-cache", "--processes", n, path], capture_output=True, text=True) for n in "14")
        self.assertEqual((one.returncode, many.returncode), (66, 66), many.stderr)
        self.assertEqual(re.sub(r'"seconds": [\d.]+', "", one.stderr), re.sub(r'"seconds": [\d.]+', "", many.stderr))
        self.assertEqual([r["kernel"] for r in json.loads(one.stderr)["races"]], ["racy0", "racy1", "racy2"])

    def test_answers_are_kept(self):
        path, folder = self.file("clean", "bar.sync 0;"), tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)

        def counts(*words, status=0):
            done = subprocess.run([GPURACE, "check", "--format", "json", "--verbose", *words, path], capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            found = re.search(r"the solver was asked (\d+) times, (\d+) answers", done.stderr)
            return int(found[1]), int(found[2]), json.loads(done.stderr[re.search(r"^\{", done.stderr, re.M).start():])
        kept = "--cache", str(pathlib.Path(folder.name, "new", "folder"))
        asked, none, first = counts(*kept)
        self.assertTrue(asked and not none, (asked, none))
        again = counts(*kept)
        self.assertEqual(again[:2], (0, asked))
        self.assertEqual([again[2][k] for k in ("verdict", "races", "reasons", "coverage")], [first[k] for k in ("verdict", "races", "reasons", "coverage")])
        self.assertEqual(counts(*kept, "--no-cache")[:2], (asked, 0))
        self.assertEqual(counts(*kept, "--wrap")[:2], (asked, 0))
        # A second kernel is asked for, the first one is not.
        path.write_text(path.read_text() + KERNEL.format(name="racy", barrier="").split(".address_size 64\n")[1])
        more = counts(*kept, status=66)
        self.assertTrue(more[0] and more[1] >= asked, more[:2])
        self.assertEqual(counts(*kept, status=66)[0], 0)
        done = subprocess.run([GPURACE, "check", "--cache", "/dev/null/x", path], capture_output=True, text=True)
        self.assertIn("/dev/null/x", done.stderr)
        self.assertNotIn(done.returncode, (0, 66, 67), done.stderr)

    def test_files_that_are_not_there_do_not_pass(self):
        clean = self.file("clean", "bar.sync 0;")
        for name in "gone.ptx", "gone.cu", "gone.json":
            for strict in [], ["--strict", "no"]:
                report = check(clean, pathlib.Path(clean).with_name(name), *strict, status=2)
                self.assertEqual((report["verdict"], len(report["coverage"]["kernels"])), ("inconclusive", 1))
                self.assertIn(name, report["reasons"][0])
                self.assertIn("nothing of it was checked", report["reasons"][0])

    def test_command_line(self):
        done = subprocess.run([GPURACE, "check", self.file("clean", "bar.sync 0;"), "--facts", "1,9"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--facts 1,9", done.stderr)


@unittest.skipUnless(HAS_NVCC, "there is no nvcc")
class Sources(unittest.TestCase):
    def test_each_kind(self):
        path = PROGRAMS / "kinds.cu"
        report = check(path, status=66)
        race, = report["races"]
        self.assertEqual({a["line"] for a in race["accesses"]}, labelled(path, "SHOWN"))
        self.assertRegex(race["witness"], r"grid \(1,1,1\), block \(64,1,1\)")
        self.assertEqual({r.split(":")[0] for r in report["reasons"]}, {"possible", "unknown"})
        place = labelled(path, "POSSIBLE").pop()
        for reason in report["reasons"]:
            kernel = re.search(r"kernel (\w+)", reason)[1]
            self.assertEqual(reason.split(":")[0], kernel, reason)
            if kernel == "possible":
                self.assertIn(f"kinds.cu:{place}", reason)
        self.assertEqual(sorted(k["name"].split("(")[0] for k in report["coverage"]["kernels"]), ["proved", "shown"])

    def test_pointers_that_are_one_of_several(self):
        path = PROGRAMS / "pointers.cu"
        report = check(path, status=66)
        race, = report["races"]
        self.assertEqual({a["line"] for a in race["accesses"]}, labelled(path, "SHOWN"))
        self.assertEqual({re.search(r"kernel (\w+)", r)[1] for r in report["reasons"]}, {"together", "scaled"})
        pairs = [re.search(r"kernel (\w+)\(.* (\d+ proved, \d+ shown, \d+ possible, \d+ unknown)", r) for r in report["coverage"]["remarks"]]
        self.assertEqual(sorted(f"{p[1]}: {p[2]}" for p in pairs if p),
                         6 * ["apart: 2 proved, 0 shown, 0 possible, 0 unknown"] + ["scaled: 0 proved, 0 shown, 1 possible, 0 unknown"] +
                         ["together: 1 proved, 0 shown, 1 possible, 0 unknown", "together: 1 proved, 1 shown, 0 possible, 0 unknown"])

    def source(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "program.cu")
        path.write_text(text)
        return path

    def test_what_orders_nothing_proves_nothing(self):
        names = ("wrong_locks.cu", "wrong_flags.cu", "wrong_begin.cu", "wrong_generations.cu", "wrong_leaders.cu", "wrong_barriers.cu", "wrong_grids.cu", "wrong_pointers.cu",
                 "kernel_pointers.cu")
        for name in names if ALL else names[::6]:
            kernels = set(re.findall(r"__global__ void (\w+)", (PROGRAMS / name).read_text()))
            report = check("--no-cache", "--replay", "no", PROGRAMS / name)
            clean = {k["name"].split("(")[0] for k in report["coverage"]["kernels"]}
            open_ = {k for text in report["reasons"] for k in re.findall(r"kernel (\w+)", text)}
            self.assertEqual(clean, {k for k in kernels if k.startswith("c_")})
            self.assertEqual(open_, kernels - clean)

    def test_what_is_read_may_be_written_by_another_name(self):
        """The guard may be anything then: the two stores are proved all the same, and what keeps the load and the store apart is named. So for each launch.
        An address that is stored is no load of what is there."""
        report = check("--replay", "no", self.source(MAY_BE_ONE))
        self.assertEqual([pairs_of(r) for r in report["coverage"]["remarks"] if pairs_of(r)], [[1, 0, 1, 0]] * 3 + [[2, 0, 0, 0]] + [[3, 0, 0, 0]])
        self.assertEqual(["may be the same memory" in r for r in report["reasons"]], [True, True, False])
        self.assertIn("it hangs on a load at line 3", report["reasons"][2])

    def test_races_that_no_barrier_of_the_grid_orders_are_shown(self):
        path = PROGRAMS / "wrong_grids.cu"
        races = check(path, status=66)["races"]
        self.assertEqual({race["kernel"].split("(")[0] for race in races}, set(words_of(path, "shows")))

    def test_asynchronous_copies_and_their_waits(self):
        path = PROGRAMS / "wrong_copies.cu"
        kernels = set(re.findall(r"__global__ void (\w+)", path.read_text()))
        report = check(path, status=66)
        self.assertEqual({race["kernel"].split("(")[0] for race in report["races"]}, {k for k in kernels if k.startswith("r_")})
        self.assertEqual(report["reasons"], [])
        waits = [race["missing_order"] for race in report["races"] if race["kernel"].startswith(("r_own(", "r_no_wait("))]
        self.assertTrue(all("wait" in missing for missing in waits), waits)

    def test_a_barrier_of_the_grid_needs_a_cooperative_launch(self):
        for launch in ("k<<<4, 64>>>(a, b);", COOPERATIVE) if ALL else (COOPERATIVE,):
            done = check("--explain", self.source(GRID.format(order="cooperative_groups::this_grid().sync();", launch=launch)))
            self.assertEqual((done["verdict"], done["reasons"]), ("clean", []))
            self.assertTrue(any("the store at program.cu:6 and the load at program.cu:8 cannot race, by barriers at program.cu:5, at program.cu:7" in r
                                for r in done["coverage"]["remarks"]), done["coverage"]["remarks"])
        race, = check(self.source(GRID.format(order="", launch=COOPERATIVE)), status=66)["races"]
        self.assertEqual({a["line"] for a in race["accesses"]}, {6, 8})
        reason, = check(self.source(GRID.format(order="", launch="k<<<4, 64>>>(a, b);")))["reasons"]
        self.assertRegex(reason, r"^possible: .*: trap: thread")

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not on the path")
    def test_of_ptx_alone_a_barrier_of_the_grid_is_taken_for_one_of_a_cooperative_launch(self):
        path = self.source(GRID.format(order="", launch=COOPERATIVE))
        subprocess.run(["nvcc", "-lineinfo", "-ptx", "-o", path.with_suffix(".ptx"), path], check=True)
        races = check(path.with_suffix(".ptx"), status=66)["races"]
        self.assertIn({6, 8}, [{a["line"] for a in race["accesses"]} for race in races])

    def test_a_launch_through_a_pointer_shows_no_race(self):
        report = check(PROGRAMS / "kernel_pointers.cu")
        self.assertEqual((report["verdict"], report["races"]), ("inconclusive", []))

    def test_a_value_of_the_host_that_is_not_followed_shows_no_race(self):
        report = check(PROGRAMS / "host_values.cu", status=66)
        self.assertEqual({race["kernel"].split("(")[0] for race in report["races"]}, {"from_outside"})
        kernels = set(re.findall(r"^WRAPS\((\w+)", (PROGRAMS / "host_values.cu").read_text(), re.M))
        possible = {k for text in report["reasons"] + report["coverage"].get("besides", []) for k in re.findall(r"^possible: kernel (\w+)", text)}
        self.assertEqual(possible, kernels - {"from_outside"})

    def test_what_is_not_understood_is_named_and_never_clean(self):
        report = check("--strict", self.source(UNKNOWN), "--", "-rdc=true", status=67)
        self.assertEqual((report["verdict"], report["races"], report["coverage"]["kernels"]), ("inconclusive", [], []))
        said = {re.search(r"^unknown: kernel (\w+)", r)[1]: r for r in report["reasons"]}
        self.assertEqual(sorted(said), sorted(WHY))
        for kernel, word in WHY.items():
            self.assertRegex(said[kernel], rf"\.(cu|h):\d+: .*{word}.*(: not understood|, too)")

    def test_atomics_and_barriers_of_the_library(self):
        """Each atomic asks whether it is of local memory, where it would call a function by its address; nvcc says that it never is."""
        text, launches = "#include <cuda/atomic>\n#include <cuda/barrier>\n", ""
        expected = {"device": None, "block": "race", **{name: row[3] for name, row in BARRIERS.items()}}
        for scope in ("device", "block"):
            text += ATOMICS.format(name=f"k_{scope}", scope=scope)
            launches += f"k_{scope}<<<4, 64>>>(bins, text, 1000);\n"
        for name, (count, made, between, _) in BARRIERS.items():
            text += BARRIER.format(name=f"k_{name}", count=count, made=made, between=between)
            launches += f"k_{name}<<<1, 64>>>(bins, 3);\n"
        text += f"int main() {{ int *bins; unsigned char *text; cudaMalloc(&bins, 4000); cudaMalloc(&text, 1000);\n{launches} return 0; }}\n"
        report = check(self.source(text), "--", "-std=c++17", "-arch=sm_90", status=66)
        for name, said in expected.items():
            races = [r for r in report["races"] if r["kernel"].startswith(f"k_{name}(")]
            reasons = [r for r in report["reasons"] + report["coverage"].get("besides", []) if f"kernel k_{name}(" in r]
            self.assertEqual(bool(races), said == "race", (name, races, reasons))
            self.assertEqual(bool(reasons), said not in (None, "race"), (name, reasons))
            self.assertTrue(not reasons or any(said in r for r in reasons), (name, reasons))

    def test_what_does_not_compile_does_not_pass(self):
        """And the other file is looked at."""
        path = self.source("__global__ void k(int *p) { p[threadIdx.x] = nothing; }")
        other = pathlib.Path(path).with_name("other.cu")
        other.write_text("__global__ void good(int *p) { p[threadIdx.x] = 1; }\nint main() { int *p; cudaMalloc(&p, 256); good<<<1, 32>>>(p); }\n")
        done = subprocess.run([GPURACE, "check", path, other], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('identifier "nothing" is undefined', done.stderr)
        self.assertIn(f"because   {path}: nvcc does not compile it (status ", done.stderr)
        self.assertIn("kernel good(int*) of ", done.stderr)

    def test_entries_without_their_files_do_not_pass(self):
        folder = pathlib.Path(self.source("__global__ void good(int *p) { p[threadIdx.x] = 1; }\nint main() { int *p; cudaMalloc(&p, 256); good<<<1, 32>>>(p); }\n")).parent
        good = next(folder.glob("*.cu")).name
        entries = [{"directory": str(folder), "file": name, "command": f"{compiler} -c {name}"}
                   for name, compiler in ((good, "nvcc"), ("gone.cu", "nvcc"), ("gone.cpp", "g++"))] + [{"file": good}]
        database = folder / "compile_commands.json"
        database.write_text(json.dumps(entries))
        report = check(database, status=2)
        self.assertEqual([k["name"] for k in report["coverage"]["kernels"]], ["good(int*)"])
        self.assertEqual(len(report["reasons"]), 3)
        for nth, words in enumerate(("entry 2: ", "entry 3: ", "entry 4 lacks")):
            self.assertIn(f"{database}: {words}", report["reasons"][nth])
        database.write_text("[]")
        self.assertIn("no entry compiles", check(database, status=2)["reasons"][0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
